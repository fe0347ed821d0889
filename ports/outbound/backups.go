package outbound

import (
	"errors"
	"io"

	"holdco/domain/backup"
)

// Archives are the files and streams of backups.
type Archives interface {
	// Recipients fails with fault.InvalidParameter unless each text is a recipient of encrypted backups.
	Recipients(all []string) error

	// Write begins a backup in a stream, encrypted for the recipients, if there are any. It is buffered until Close, which does not
	// close the stream.
	Write(to io.Writer, recipients []string) (ArchiveWriter, error)

	// Read begins to read a backup from a stream. An encrypted one needs a file of identities: without, it fails with
	// fault.InvalidParameter. It fails with fault.InvalidFile if the stream is no backup.
	Read(from io.Reader, identities string) (ArchiveReader, error)

	// Create begins a file, which gets its name at the end. It fails if its folder is missing, cannot be written to, or, unless it
	// replaces it, if there is such a file.
	Create(name string, replaces bool) (ArchiveFile, error)

	// Open opens a file. It fails with fault.NotFound if there is none.
	Open(name string) (io.ReadCloser, error)

	// List returns the names of the files in a folder.
	List(folder string) ([]string, error)

	// Join is the name of a file in a folder, and Folder the folder of a file.
	Join(folder, name string) string
	Folder(name string) string

	// Remove removes a file.
	Remove(name string) error
}

// ArchiveWriter writes the entries of a backup.
type ArchiveWriter interface {
	// Add writes an entry. Of a file, content writes exactly its Bytes. It returns what the entry comes to, without Rows.
	Add(entry backup.Entry, content func(to io.Writer) error) (backup.Sum, error)

	// Close ends the backup.
	Close() error
}

// ArchiveReader reads the entries of a backup.
type ArchiveReader interface {
	// Next returns the head of the next entry, or io.EOF. It fails with fault.InvalidFile if the backup is damaged.
	Next() (backup.Entry, error)

	// Read reads the content of a file, and fails likewise.
	io.Reader

	// Sum returns what the entry comes to that was read to its end, without Rows.
	Sum() backup.Sum

	// Close drops what is left.
	Close()
}

// ArchiveFile is a file that is being written.
type ArchiveFile interface {
	io.Writer

	// Free returns how many bytes can be written in its folder, and reports whether that is known.
	Free() (bytes int64, isKnown bool, err error)

	// Reread calls read with all that was written, from its start.
	Reread(read func(from io.Reader) error) error

	// Size returns how many bytes were written.
	Size() int64

	// Keep makes the file durable and gives it its name.
	Keep() error

	// Close drops a file that was not kept.
	Close() error
}

// ErrEncrypted is wrapped by the fault of a backup that is encrypted, and for which no identity was named.
var ErrEncrypted = errors.New("the backup is encrypted")

// WorkspaceCopies copies the directories of companies into backups, and back.
type WorkspaceCopies interface {
	// Copy calls add for each folder, file and link below the directories, with names relative to these. Links are not followed; what
	// is none of the three is left out, and so is what goes away meanwhile.
	Copy(add func(entry backup.Entry, content func(to io.Writer) error) error) error

	// Restore begins to restore them. It fails if there are any, unless it replaces them.
	Restore(replaces bool) (WorkspaceRestoration, error)
}

// WorkspaceRestoration is a set of directories that is being restored. Until Switch nothing sees it.
type WorkspaceRestoration interface {
	// Free is as in ArchiveFile.
	Free() (bytes int64, isKnown bool, err error)

	// Take restores an entry, whose name is as Copy gave it.
	Take(entry backup.Entry, content io.Reader) error

	// Switch puts them in their place, and says where the former ones are, whose name ends with aside; empty: there were none.
	Switch(aside string) (kept string, err error)

	// Close drops what was not switched.
	Close() error
}
