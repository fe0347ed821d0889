package inbound

import (
	"context"
	"io"
	"time"

	"holdco/domain/access"
	"holdco/domain/backup"
)

// Backups are the use cases that copy the store and bring it back. All of them need Admin. They work in whatever version of the schema
// that this program knows.
type Backups interface {
	// Write writes a backup to a file, which gets its name when it is complete and, unless that is not wanted, verified. It fails with
	// fault.InvalidParameter if a recipient is none.
	Write(ctx context.Context, caller access.Caller, wanted BackupWanted) (backup.Written, error)

	// Stream writes a backup to a stream. The copy is checked before its first byte, unless that is not wanted; what was written is not
	// read back, so it is not verified. It fails with fault.Unavailable if there is no room for a copy, or none can be made of the store.
	Stream(ctx context.Context, caller access.Caller, to io.Writer, wanted BackupWanted) (backup.Written, error)

	// Restore puts a backup in the place of the store, at once or not at all, and does what an older state needs before it may go on:
	// leases are ended, webhooks that have something to send are held, and receipts are dropped. The event is store.restored. It fails
	// with fault.InvalidFile if the file is no backup, a damaged one, or one that this program cannot restore here, and with
	// fault.InvalidParameter if it is encrypted and no identity fits.
	Restore(ctx context.Context, caller access.Caller, wanted RestoreWanted) (backup.Restored, error)
}

// BackupWanted says how a backup is to be made.
type BackupWanted struct {
	Version    string   // of the program
	File       string   // of Write
	Replaces   bool     // a file of that name
	Recipients []string // the backup is encrypted for them; none: it is not encrypted
	Workspaces bool     // with the workspaces of companies
	Unverified bool     // it is not read back
}

// RestoreWanted says which backup is to be restored, and how.
type RestoreWanted struct {
	File       string        // empty: From is read
	From       io.Reader     // likewise
	Identities string        // a file with identities of age; empty: none
	Replaces   bool          // what the store holds is kept elsewhere
	TriesOnly  bool          // it is restored beside the store, examined and dropped
	Timeout    time.Duration // of each check of that
	AsItIs     bool          // its schema is not migrated, and what an older state needs is done when that is
}
