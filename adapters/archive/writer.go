package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/outbound"
)

// Archives implements outbound.Archives.
type Archives struct{}

var _ outbound.Archives = Archives{}

// Recipients implements outbound.Archives.
func (Archives) Recipients(all []string) error {
	_, err := parse(all)
	return err
}

func parse(recipients []string) ([]age.Recipient, error) {
	parsed := make([]age.Recipient, len(recipients))
	for n, text := range recipients {
		one, err := age.ParseX25519Recipient(text)
		switch {
		case err != nil && strings.HasPrefix(strings.ToUpper(text), "AGE-SECRET-KEY-"):
			return nil, fault.New(fault.InvalidParameter, "What was given as a recipient is an identity of age, which is secret; "+
				"name the public key that belongs to it, which begins with age1.")
		case err != nil:
			return nil, fault.New(fault.InvalidParameter,
				"%q is no recipient: it has to be a public key of age, which begins with age1.", text)
		}
		parsed[n] = one
	}
	return parsed, nil
}

// writer is a backup that is being written.
type writer struct {
	tar     *tar.Writer
	closers []io.Closer // from the inside to the outside
}

// Write implements outbound.Archives.
func (Archives) Write(to io.Writer, recipients []string) (outbound.ArchiveWriter, error) {
	w := &writer{}
	if len(recipients) > 0 {
		parsed, err := parse(recipients)
		if err != nil {
			return nil, err
		}
		encrypted, err := age.Encrypt(to, parsed...)
		if err != nil {
			return nil, err
		}
		to, w.closers = encrypted, []io.Closer{encrypted}
	}
	// One goroutine: a backup is no reason to take all processors from a server.
	compressed, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	w.tar = tar.NewWriter(compressed)
	w.closers = append([]io.Closer{w.tar, compressed}, w.closers...)
	return w, nil
}

// Close implements outbound.ArchiveWriter.
func (w *writer) Close() error {
	for _, closer := range w.closers {
		if err := closer.Close(); err != nil {
			return err
		}
	}
	return nil
}

// kinds are the kinds of entries in tar.
var kinds = map[backup.Kind]byte{backup.File: tar.TypeReg, backup.Folder: tar.TypeDir, backup.Link: tar.TypeSymlink}

// Add implements outbound.ArchiveWriter.
func (w *writer) Add(entry backup.Entry, content func(to io.Writer) error) (backup.Sum, error) {
	const forOwner, executable = 0o600, 0o700
	head := &tar.Header{Name: entry.Name, Typeflag: kinds[entry.Kind], Size: entry.Bytes, Linkname: entry.Target, Mode: forOwner}
	if entry.IsExecutable || entry.Kind == backup.Folder {
		head.Mode = executable
	}
	if entry.Kind == backup.Folder {
		head.Name += "/"
	}
	if err := w.tar.WriteHeader(head); err != nil {
		return backup.Sum{}, err
	}
	summed := &summed{to: w.tar}
	summed.begin(entry)
	if entry.Kind == backup.File {
		if err := content(summed); err != nil {
			return backup.Sum{}, err
		}
		if summed.bytes != entry.Bytes {
			return backup.Sum{}, fmt.Errorf("the entry %s has %d bytes and not %d", entry.Name, summed.bytes, entry.Bytes)
		}
	}
	return summed.end(), nil
}

// summed adds up an entry.
type summed struct {
	to    io.Writer // may be nil
	entry backup.Entry
	hash  interface {
		io.Writer
		Sum(b []byte) []byte
	}
	bytes int64
}

func (s *summed) begin(entry backup.Entry) {
	s.entry, s.hash, s.bytes = entry, sha256.New(), 0
	if entry.Kind == backup.Link {
		_, _ = io.WriteString(s.hash, entry.Target) // a hash never fails
	}
}

func (s *summed) Write(some []byte) (n int, err error) {
	n = len(some)
	if s.to != nil {
		n, err = s.to.Write(some)
	}
	_, _ = s.hash.Write(some[:n])
	s.bytes += int64(n)
	return n, err
}

func (s *summed) end() backup.Sum {
	return backup.Sum{Name: s.entry.Name, Bytes: s.bytes, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}

// damaged is the fault of a backup that cannot be read on. What the stream itself fails with is no fault of the backup.
func damaged(stream *stream, err error) error {
	switch {
	case stream.failure != nil:
		return stream.failure
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return backup.Broken("it was cut off")
	}
	return backup.Broken("%s", strings.TrimSuffix(err.Error(), "."))
}

// stream notes why a stream cannot be read, unless it has ended.
type stream struct {
	io.Reader
	failure error
}

func (s *stream) Read(into []byte) (int, error) {
	n, err := s.Reader.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failure = err
	}
	return n, err
}
