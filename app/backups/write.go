package backups

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Write writes a backup to a file.
func (s *Service) Write(ctx context.Context, caller access.Caller, wanted inbound.BackupWanted) (written backup.Written, err error) {
	if err := s.admit(caller, wanted); err != nil {
		return written, err
	}
	began := s.Clock.Now()
	file, err := s.Archives.Create(wanted.File, wanted.Replaces)
	if err != nil {
		return written, err
	}
	defer func() {
		closing := file.Close()
		if err != nil && ctx.Err() != nil { // what else went wrong followed from that
			err = interrupted{"the backup was interrupted: nothing of it is kept; run it again", ctx.Err()}
			return
		}
		if _, looking := s.Archives.List(s.Archives.Folder(wanted.File)); err != nil && looking != nil {
			err = fmt.Errorf("the folder of the backup went away while it was written; see whether its disk is there: %w", looking)
			return
		}
		err = errors.Join(err, closing)
	}()
	if err := s.hasRoom(ctx, file); err != nil {
		return written, err
	}
	total := &counted{to: file, hash: sha256.New()}
	sums, written, err := s.write(ctx, total, s.Archives.Folder(wanted.File), wanted, !wanted.Unverified)
	if err != nil {
		return written, err
	}
	if !wanted.Unverified {
		if err := file.Reread(func(from io.Reader) error { return s.verify(ctx, from, sums, total.hash.Sum(nil), wanted) }); err != nil {
			return written, fmt.Errorf("the backup was written, but cannot be read back; it is dropped: %w", err)
		}
		written.Verified = true
	}
	if err := file.Keep(); err != nil {
		return written, err
	}
	written.File, written.Size, written.Took = wanted.File, file.Size(), s.Clock.Now().Sub(began)
	return written, nil
}

// Stream writes a backup to a stream.
func (s *Service) Stream(
	ctx context.Context, caller access.Caller, to io.Writer, wanted inbound.BackupWanted,
) (written backup.Written, err error) {
	if err := s.admit(caller, wanted); err != nil {
		return written, err
	}
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = interrupted{"the backup was interrupted: what was written of it is none; run it again", ctx.Err()}
		}
	}()
	began := s.Clock.Now()
	// Whatever can be wrong with the store is found before the first byte: after it, a stream can only break off.
	bytes, err := s.Source.Bytes(ctx)
	if err != nil {
		return written, err
	}
	free, isKnown, err := s.Source.Free()
	if err != nil {
		return written, err
	}
	if err := enough(backup.Room(bytes), free, isKnown); err != nil {
		return written, fault.New(fault.Unavailable, "A copy of the store cannot be made beside it: %s.", err.Error())
	}
	total := &counted{to: to, hash: sha256.New()}
	_, written, err = s.write(ctx, total, "", wanted, !wanted.Unverified)
	written.Size, written.Took = total.bytes, s.Clock.Now().Sub(began)
	return written, err
}

func (s *Service) admit(caller access.Caller, wanted inbound.BackupWanted) error {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return err
	}
	return s.Archives.Recipients(wanted.Recipients)
}

// hasRoom fails if there is too little room for a backup of the store.
func (s *Service) hasRoom(ctx context.Context, file outbound.ArchiveFile) error {
	bytes, err := s.Source.Bytes(ctx)
	if err != nil {
		return err
	}
	free, isKnown, err := file.Free()
	if err != nil {
		return err
	}
	wants := backup.Room(bytes)
	if _, isCopied, err := s.Source.Free(); err != nil {
		return err
	} else if isCopied { // the copy lies beside the archive, until that is written
		wants = backup.RoomForBoth(bytes)
	}
	return enough(wants, free, isKnown)
}

func enough(wants, free int64, isKnown bool) error {
	if isKnown && free < wants {
		return fmt.Errorf("there is too little room: it wants %s, and %s are missing", backup.Size(wants), backup.Size(wants-free))
	}
	return nil
}

// write writes all entries. The copy is opened and read before it is written, if it is to be checked: an encrypted backup cannot be
// opened afterwards.
func (s *Service) write(
	ctx context.Context, to io.Writer, folder string, wanted inbound.BackupWanted, checks bool,
) (sums backup.Sums, written backup.Written, err error) {
	at := s.Clock.Now()
	made, err := s.Source.Copy(ctx, folder)
	if err != nil {
		return sums, written, err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if checks {
		if err := made.Check(ctx); err != nil {
			return sums, written, err
		}
	}
	manifest := made.Manifest()
	manifest.Format, manifest.Version, manifest.At, manifest.HasSpaces = backup.Format, wanted.Version, at, wanted.Workspaces
	written = backup.Written{Manifest: manifest, Rows: made.Rows()}
	sums.Rows = made.Rows()

	archive, err := s.Archives.Write(to, wanted.Recipients)
	if err != nil {
		return sums, written, err
	}
	// An archive that is not closed is incomplete, which is right after a failure.
	entries := &entries{archive: archive}
	if err := entries.addJSON(backup.ManifestName, manifest); err != nil {
		return sums, written, err
	}
	if err := s.addStore(ctx, entries, made); err != nil {
		return sums, written, err
	}
	if wanted.Workspaces {
		err := s.Spaces.Copy(func(entry backup.Entry, content func(to io.Writer) error) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			entry.Name = backup.Workspaces + entry.Name
			return entries.add(entry, 0, func(to io.Writer) error { return content(interruptible{ctx, to}) })
		})
		if err != nil {
			return sums, written, err
		}
	}
	sums.Entries = entries.sums
	if err := entries.addJSON(backup.SumsName, sums); err != nil {
		return sums, written, err
	}
	return sums, written, archive.Close()
}

func (s *Service) addStore(ctx context.Context, entries *entries, made store.Copy) error {
	for _, part := range made.Parts() {
		head := backup.Entry{Name: part.Name, Kind: backup.File, Bytes: part.Bytes}
		err := entries.add(head, part.Rows, func(to io.Writer) error { return made.Write(ctx, part, to) })
		if err != nil {
			return err
		}
	}
	return nil
}

// entries are those that were written.
type entries struct {
	archive outbound.ArchiveWriter
	sums    []backup.Sum
}

func (e *entries) add(head backup.Entry, rows int64, content func(to io.Writer) error) error {
	sum, err := e.archive.Add(head, content)
	sum.Rows = rows
	e.sums = append(e.sums, sum)
	return err
}

func (e *entries) addJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return e.add(backup.Entry{Name: name, Kind: backup.File, Bytes: int64(len(text))}, 0, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
}

// verify reads back what was written. What is encrypted can only be compared with what was written: its content was checked before.
func (s *Service) verify(ctx context.Context, from io.Reader, sums backup.Sums, total []byte, wanted inbound.BackupWanted) error {
	if len(wanted.Recipients) > 0 {
		again := sha256.New()
		if _, err := io.Copy(interruptible{ctx, again}, from); err != nil {
			return err
		}
		if string(again.Sum(nil)) != string(total) {
			return errors.New("the file has other bytes than were written")
		}
		return nil
	}
	archive, err := s.Archives.Read(from, "")
	if err != nil {
		return err
	}
	defer archive.Close()
	_, err = read(ctx, archive, func(backup.Manifest) error { return nil }, skip(ctx), func(found backup.Sums) error {
		if len(found.Entries) != len(sums.Entries) {
			return errors.New("the file has other entries than were written")
		}
		return nil
	})
	return err
}

// interruptible fails when ctx ends.
type interruptible struct {
	ctx context.Context
	to  io.Writer
}

func (i interruptible) Write(some []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.to.Write(some)
}

// counted counts and sums what goes through it.
type counted struct {
	to    io.Writer
	hash  hash.Hash
	bytes int64
}

func (c *counted) Write(some []byte) (int, error) {
	n, err := c.to.Write(some)
	_, _ = c.hash.Write(some[:n]) // it never fails
	c.bytes += int64(n)
	return n, err
}
