package backups

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"holdco/domain/backup"
	"holdco/ports/outbound"
)

// errEnough ends the reading of a backup of which only the manifest is looked at.
var errEnough = errors.New("the manifest was read")

// Check fails unless a scheduled backup, by when it began, can be opened in a folder; or, if it is wanted, read to its end. Of an encrypted
// one only that it is one can be told. It fails with fault.NotFound if there is no such file.
func (s *Service) Check(ctx context.Context, folder string, begun time.Time, isFull bool) (err error) {
	opened, err := s.Archives.Open(s.Archives.Join(folder, backup.Name(begun)))
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // it was only read
	archive, err := s.Archives.Read(opened, "")
	if errors.Is(err, outbound.ErrEncrypted) {
		return nil
	}
	if err != nil {
		return err
	}
	defer archive.Close()
	begin := func(backup.Manifest) error { return errEnough }
	if isFull {
		begin = func(backup.Manifest) error { return nil }
	}
	_, err = read(ctx, archive, begin, skip(ctx), func(backup.Sums) error { return nil })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// skip reads what an entry has.
func skip(ctx context.Context) func(entry backup.Entry, content io.Reader) error {
	return func(_ backup.Entry, content io.Reader) error {
		_, err := io.Copy(interruptible{ctx, io.Discard}, content)
		return err
	}
}

// read reads a backup from its start to its end. Begin gets the manifest, take each entry after it, which it has to read to its end, and
// end the sums, with which everything agrees.
func read(
	ctx context.Context, archive outbound.ArchiveReader, begin func(m backup.Manifest) error,
	take func(entry backup.Entry, content io.Reader) error, end func(sums backup.Sums) error,
) (manifest backup.Manifest, err error) {
	var reading backup.Reading
	var sums backup.Sums
	for isFirst := true; ; isFirst = false {
		if err := ctx.Err(); err != nil {
			return manifest, err
		}
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = reading.Admit(entry)
		}
		if err != nil {
			return manifest, err
		}
		lines := &lines{Reader: archive}
		switch {
		case isFirst:
			if err = readJSON(archive, entry, &manifest); err == nil {
				if err = begin(manifest); err == nil {
					reading.Begin(manifest)
				}
			}
		case entry.Name == backup.SumsName:
			err = readJSON(archive, entry, &sums)
		default:
			err = take(entry, lines)
		}
		if err != nil {
			return manifest, err
		}
		if entry.Name != backup.SumsName {
			sum := archive.Sum()
			if backup.TableOf(entry.Name) != "" {
				sum.Rows = lines.count
			}
			reading.Note(sum)
		}
	}
	if err := reading.End(sums); err != nil {
		return manifest, err
	}
	return manifest, end(sums)
}

func readJSON(from io.Reader, entry backup.Entry, into any) error {
	text, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return backup.Broken("its entry %q is no JSON as it has to be", entry.Name)
	}
	return nil
}

// lines counts the lines that are read.
type lines struct {
	io.Reader
	count int64
}

func (l *lines) Read(into []byte) (int, error) {
	n, err := l.Reader.Read(into)
	l.count += int64(bytes.Count(into[:n], []byte{'\n'}))
	return n, err
}
