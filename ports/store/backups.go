package store

import (
	"context"
	"io"

	"holdco/domain/backup"
	"holdco/ports/outbound"
)

// BackupReader reads what the store keeps of the backups that servers make.
type BackupReader interface {
	// Schedule returns the schedule. That of a new store is the zero value.
	Schedule(ctx context.Context) (backup.Schedule, error)

	// Unsettled returns the restoration that is still to be settled, and reports whether there is one. While there is, Ready fails.
	Unsettled(ctx context.Context) (of backup.Unsettled, isThere bool, err error)
}

// Backups changes the schedule, and ends restorations. Its writes need no event.
type Backups interface {
	BackupReader

	// Lock is Schedule, and keeps every other unit from changing it until this one ends.
	Lock(ctx context.Context) (backup.Schedule, error)

	// Save replaces the schedule.
	Save(ctx context.Context, saved backup.Schedule) error

	// Settle notes that no restoration is to be settled any more.
	Settle(ctx context.Context) error
}

// Source is a store as backups copy it, in whatever version of the schema that this program knows. It works beside running servers.
type Source interface {
	// Bytes returns about how many bytes a copy has.
	Bytes(ctx context.Context) (int64, error)

	// Free returns how many bytes Copy can write beside the store, and reports whether that is known; it is not if Copy writes none.
	Free() (bytes int64, isKnown bool, err error)

	// Copy copies the store at one instant: all that was acknowledged before the call is in it. What an engine has to write to a file
	// meanwhile goes into the folder; empty: beside the store.
	Copy(ctx context.Context, folder string) (Copy, error)
}

// Copy is a store at one instant.
type Copy interface {
	// Manifest returns what the copy is: Engine, Schema, Key, FormerKey, Tables, Sequences and Bytes.
	Manifest() backup.Manifest

	// Rows returns how many rows each table has.
	Rows() map[string]int64

	// Parts returns the entries in which the copy is kept, in their order, with Name, Bytes and Rows.
	Parts() []backup.Sum

	// Write writes the content of a part, which has exactly its Bytes.
	Write(ctx context.Context, part backup.Sum, to io.Writer) error

	// Check opens the copy and reads all of it: it fails with what is wrong with it.
	Check(ctx context.Context) error

	// Close drops the copy.
	Close() error
}

// Target is where a store is restored.
type Target interface {
	// Schema returns the newest version of the schema that this program knows.
	Schema() int64

	// Begin begins to restore a backup whose manifest was checked, and keeps servers from the store until that ends. It fails if a
	// server is running on it, and, unless it replaces it, if the store holds anything.
	Begin(ctx context.Context, of backup.Manifest, replaces bool) (Restoration, error)

	// Try is Begin beside the store, which nothing touches: Switch must not be called.
	Try(ctx context.Context, of backup.Manifest) (Restoration, error)
}

// Restored is a store that was restored, with what checks it.
type Restored struct {
	Store
	Inspector Inspector
	Migrator  outbound.Migrator
}

// Former is the store that another took the place of.
type Former struct {
	Kept  string // where it is; empty: there was none
	Newer int64  // entries of its activity log that are younger than the backup; 0 if they cannot be read
}

// Restoration is a store that is being restored. Until Switch nothing sees it.
type Restoration interface {
	// Free returns how many bytes can be written where it is, and reports whether that is known.
	Free() (bytes int64, isKnown bool, err error)

	// Take restores a part.
	Take(ctx context.Context, part string, from io.Reader) error

	// Open checks what was taken, which must have so many rows by table, migrates it, and opens it, until Switch or Close.
	Open(ctx context.Context, rows map[string]int64) (Restored, error)

	// Leave is Open without a migration, and without opening it. The store says that the restoration is unsettled.
	Leave(ctx context.Context, rows map[string]int64, as backup.Unsettled) error

	// Switch puts it in the place of the store, at once or not at all, and says where the former one is.
	Switch(ctx context.Context) (Former, error)

	// Close drops what was not switched, and lets servers have the store again.
	Close() error
}
