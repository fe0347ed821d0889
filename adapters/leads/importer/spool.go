package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"syscall"

	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// Spool receives files that are sent.
type Spool struct {
	Dir          string // where they are kept, without a name; made when missing
	MostUnpacked int64  // how large a packed file may be when it is unpacked, in bytes
}

// Receive reads a file to its end, and keeps it until Close, or until the process ends. It fails with
// fault.InvalidFile when the file is empty, when it is packed and cut off or broken, or when its beginning shows that it is none
// of its format. A fault of from comes out as it is.
func (s Spool) Receive(from io.Reader, draft lead.ImportDraft) (inbound.ImportFile, error) {
	kept, err := s.keep(from)
	if err != nil {
		return nil, err
	}
	if err := kept.begins(draft); err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	return kept, nil
}

func (s Spool) keep(from io.Reader) (*received, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(s.Dir, "holdco-import-*")
	if err != nil {
		return nil, err
	}
	kept := &received{file: file}
	err = os.Remove(file.Name()) // it ends with the process, whatever becomes of that
	if err == nil {
		kept.size, err = spool(file, bufio.NewReader(from), s.MostUnpacked)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fault.New(fault.Unavailable, "The server has no room on its disk for the file.").Because(err)
	}
	if err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	return kept, nil
}

// spool copies a file. A packed one is unpacked meanwhile, so that it is known to be whole when it has arrived.
func spool(to io.Writer, from *bufio.Reader, mostUnpacked int64) (int64, error) {
	magic, err := from.Peek(2)
	switch {
	case len(magic) == 0 && errors.Is(err, io.EOF):
		return 0, fault.EmptyFile()
	case len(magic) == 0 && err != nil:
		return 0, err
	case !bytes.Equal(magic, gzipMagic):
		return io.Copy(to, from)
	}
	packed, feed := io.Pipe()
	checked := make(chan error, 1)
	go func() {
		err := fault.Contain(func() error { return unpacks(packed, mostUnpacked) })
		_ = packed.CloseWithError(err) // ends the copy, unless it has ended
		checked <- err
	}()
	size, err := io.Copy(io.MultiWriter(to, feed), from)
	_ = feed.CloseWithError(err) // the end of the file, if there is no error
	// What is wrong with the file is known before the copy fails for it.
	if wrong := <-checked; wrong != nil && (err == nil || errors.Is(err, wrong)) {
		err = wrong
	}
	return size, err
}

// unpacks fails unless all of a packed file can be unpacked.
func unpacks(packed io.Reader, most int64) error {
	unpacked, err := unpack(bufio.NewReader(packed))
	if err != nil {
		return broken(err)
	}
	size, err := io.Copy(io.Discard, io.LimitReader(unpacked, most+1))
	switch {
	case err != nil:
		return broken(err)
	case size > most:
		return fault.New(fault.InvalidFile, "The file has more than %d bytes when it is unpacked.", most)
	}
	return nil
}

// broken is the fault of a file that cannot be read.
func broken(err error) error {
	var ofDisk *fs.PathError
	switch {
	case fault.Of(err) != nil, errors.As(err, &ofDisk):
		return err
	case errors.Is(err, errBehind):
		return fault.New(fault.InvalidFile, "The file is broken: something follows the end of what gzip packed.").Because(err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.InvalidFile, "The file is cut off: it ends in the middle of what gzip packed.").Because(err)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return fault.New(fault.InvalidFile, "The file is broken: it begins like one that gzip packed, but cannot be unpacked.").Because(err)
	}
	return fault.New(fault.InvalidFile, "The file cannot be read: %s.", err)
}

// received is a file that has arrived.
type received struct {
	file   *os.File
	size   int64
	format string
	files  Files
}

// begins reads the beginning of a file: in most files of a wrong format that is enough to tell.
func (f *received) begins(draft lead.ImportDraft) error {
	f.format, f.files = draft.Format, Files{Encoding: draft.Encoding}
	switch draft.Kind {
	case lead.ImportLeads:
		return firstOf(f.Leads())
	case lead.ImportCampaigns:
		return firstOf(f.Campaigns())
	}
	return nil
}

func firstOf[L any](lines iter.Seq2[L, error]) error {
	for _, err := range lines {
		return err
	}
	return nil
}

// Size implements inbound.ImportFile, as do the others.
func (f *received) Size() int64 { return f.size }

func (f *received) Leads() iter.Seq2[inbound.LeadLine, error] {
	return rewound(f, f.files.Leads(f.file, f.format))
}

func (f *received) Campaigns() iter.Seq2[inbound.CampaignLine, error] {
	return rewound(f, f.files.Campaigns(f.file, f.format))
}

func (f *received) Taxonomy() (lead.TaxonomyDraft, error) {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return lead.TaxonomyDraft{}, err
	}
	draft, err := f.files.Taxonomy(f.file)
	if err != nil {
		err = broken(err)
	}
	return draft, err
}

func (f *received) Close() error { return f.file.Close() }

// rewound reads lines from the beginning of their file, each time that they are iterated.
func rewound[L any](of *received, lines iter.Seq2[L, error]) iter.Seq2[L, error] {
	return func(yield func(L, error) bool) {
		var none L
		if _, err := of.file.Seek(0, io.SeekStart); err != nil {
			yield(none, fmt.Errorf("read the file again: %w", err))
			return
		}
		for line, err := range lines {
			if err != nil {
				yield(none, broken(err))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}
