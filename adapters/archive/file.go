package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"holdco/adapters/system/partial"
	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/outbound"
)

// file is a backup in a folder that has no name yet.
type file struct {
	partial  *partial.File
	name     string
	replaces bool
	buffered *bufio.Writer
	size     int64
	settled  func() // ends the writeback
}

// Create implements outbound.Archives.
func (Archives) Create(name string, replaces bool) (outbound.ArchiveFile, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	found, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("%s cannot be written: %w", name, err)
	case found.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", name)
	case !found.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file; name another", name)
	case !replaces:
		return nil, exists(name)
	}
	made, err := partial.Create(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no folder %s; make it first", filepath.Dir(name))
	case err != nil:
		return nil, fmt.Errorf("%s cannot be written: %w", name, err)
	}
	return &file{
		partial: made, name: name, replaces: replaces, buffered: bufio.NewWriterSize(made, 1<<18), settled: partial.Writeback(made.Name()),
	}, nil
}

func exists(name string) error {
	return fmt.Errorf("%s is there already; name another file, or say --force", name)
}

func (f *file) Write(some []byte) (int, error) {
	n, err := f.buffered.Write(some)
	f.size += int64(n)
	return n, err
}

func (f *file) Free() (bytes int64, isKnown bool, err error) {
	return partial.Free(filepath.Dir(f.name))
}

func (f *file) Size() int64 { return f.size }

// Reread implements outbound.ArchiveFile.
func (f *file) Reread(read func(from io.Reader) error) error {
	if err := f.buffered.Flush(); err != nil {
		return err
	}
	if err := f.partial.Sync(); err != nil {
		return err
	}
	return read(io.NewSectionReader(f.partial, 0, f.size))
}

// Keep implements outbound.ArchiveFile.
func (f *file) Keep() error {
	if err := f.buffered.Flush(); err != nil {
		return err
	}
	err := f.partial.Keep(f.name, f.replaces)
	if errors.Is(err, fs.ErrExist) {
		return exists(f.name)
	}
	return err
}

func (f *file) Close() error {
	f.settled()
	return f.partial.Drop()
}

// Open implements outbound.Archives.
func (Archives) Open(name string) (io.ReadCloser, error) {
	opened, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "There is no such file.")
	}
	if err != nil {
		return nil, err
	}
	found, err := opened.Stat()
	if err == nil && found.IsDir() {
		err = fault.New(fault.InvalidParameter, "%s is a folder; name the file of a backup.", name)
	}
	if err != nil {
		_ = opened.Close() // it was only opened
		return nil, err
	}
	return opened, nil
}

// List implements outbound.Archives.
func (Archives) List(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// Size returns how many bytes the backups have that servers made in a folder.
func (a Archives) Size(folder string) (bytes int64, err error) {
	names, err := a.List(folder)
	for _, name := range names {
		if !backup.IsName(name) {
			continue
		}
		if found, err := os.Stat(filepath.Join(folder, name)); err == nil { // else it was removed meanwhile
			bytes += found.Size()
		}
	}
	return bytes, err
}

// Join implements outbound.Archives.
func (Archives) Join(folder, name string) string { return filepath.Join(folder, name) }

// Folder implements outbound.Archives.
func (Archives) Folder(name string) string { return filepath.Dir(name) }

// Remove implements outbound.Archives.
func (Archives) Remove(name string) error { return os.Remove(name) }
