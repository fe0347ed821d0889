package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/outbound"
)

// How the streams begin.
const (
	ageMagic  = "age-encryption.org/v1\n"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// Bounds of what a stream can ask for: memory for its compression, a head of its encryption, zeros after the end of the tar.
const (
	mostWindow = 64 << 20
	mostHead   = 1 << 20
	mostZeros  = 1 << 20
)

// reader is a backup that is being read.
type reader struct {
	from         *stream
	decompressed *zstd.Decoder
	tar          *tar.Reader
	summed       summed
}

// Read implements outbound.Archives.
func (Archives) Read(from io.Reader, identities string) (outbound.ArchiveReader, error) {
	r := &reader{from: &stream{Reader: from}}
	buffered := bufio.NewReaderSize(r.from, 1<<16)
	var plain io.Reader = buffered
	begins, _ := buffered.Peek(len(ageMagic)) // too short a stream is no backup either
	if r.from.failure != nil {
		return nil, r.from.failure
	}
	switch isEncrypted := string(begins) == ageMagic; {
	case isEncrypted && identities == "":
		return nil, locked(buffered)
	case isEncrypted:
		decrypted, err := decrypt(buffered, identities)
		if err != nil {
			return nil, err
		}
		plain = decrypted
	case !bytes.HasPrefix(begins, []byte(zstdMagic)):
		return nil, backup.Broken("it does not begin as one")
	}
	decompressed, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return nil, damaged(r.from, err)
	}
	r.decompressed = decompressed
	r.tar = tar.NewReader(r.decompressed)
	return r, nil
}

// locked is the fault of an encrypted backup without an identity. Its head does not name the recipients, but counts them.
func locked(from *bufio.Reader) error {
	recipients := 0
	head := bufio.NewReader(io.LimitReader(from, mostHead))
	for {
		line, err := head.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "---") {
			break
		}
		if strings.HasPrefix(line, "-> ") {
			recipients++
		}
	}
	return fault.New(fault.InvalidParameter, "The backup is encrypted.").Because(encrypted(recipients))
}

// encrypted is for how many recipients a backup is encrypted.
type encrypted int

func (e encrypted) Error() string {
	return fmt.Sprintf("it is for %d of age's recipients; name a file with the identity of one by --identity", int(e))
}

// Is reports whether it is an error of a kind, for package errors.
func (e encrypted) Is(target error) bool { return target == outbound.ErrEncrypted }

func decrypt(from io.Reader, identities string) (io.Reader, error) {
	file, err := os.Open(identities)
	if err != nil {
		return nil, fault.New(fault.InvalidParameter, "The file of identities cannot be read.").Because(err)
	}
	defer file.Close()
	parsed, err := age.ParseIdentities(file)
	if err != nil {
		return nil, fault.New(fault.InvalidParameter, "%s has no identities of age: lines that begin with AGE-SECRET-KEY-.", identities)
	}
	plain, err := age.Decrypt(from, parsed...)
	var unfit *age.NoIdentityMatchError
	if errors.As(err, &unfit) {
		return nil, fault.New(fault.InvalidParameter, "The backup is encrypted for others than the identities in %s, or its head "+
			"is damaged.", identities)
	}
	if err != nil {
		return nil, backup.Broken("its encryption cannot be read")
	}
	return plain, nil
}

// Next implements outbound.ArchiveReader.
func (r *reader) Next() (backup.Entry, error) {
	head, err := r.tar.Next()
	if errors.Is(err, io.EOF) {
		// The end of the stream is read too: there are checksums of the compression, and of the encryption. Up to there a tar may have
		// zeros.
		rest, err := io.ReadAll(io.LimitReader(r.decompressed, mostZeros))
		if err == nil && (len(rest) == mostZeros || len(bytes.Trim(rest, "\x00")) > 0) {
			err = errors.New("something comes after its end")
		}
		if err != nil {
			return backup.Entry{}, damaged(r.from, err)
		}
		return backup.Entry{}, io.EOF
	}
	if err != nil {
		return backup.Entry{}, damaged(r.from, err)
	}
	entry := backup.Entry{Name: head.Name, Kind: backup.Other, Bytes: head.Size, Target: head.Linkname, IsExecutable: head.Mode&0o100 != 0}
	for kind, flag := range kinds {
		if head.Typeflag == flag {
			entry.Kind = kind
		}
	}
	if entry.Kind == backup.Folder {
		entry.Name, entry.IsExecutable = strings.TrimSuffix(entry.Name, "/"), false
	}
	r.summed.begin(entry)
	return entry, nil
}

// Read implements outbound.ArchiveReader.
func (r *reader) Read(into []byte) (int, error) {
	n, err := r.tar.Read(into)
	_, _ = r.summed.Write(into[:n]) // a hash never fails
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(r.from, err)
	}
	return n, err
}

// Sum implements outbound.ArchiveReader.
func (r *reader) Sum() backup.Sum { return r.summed.end() }

// Close implements outbound.ArchiveReader.
func (r *reader) Close() { r.decompressed.Close() }
