package sqlite

import (
	"context"
	"errors"
	"slices"

	"github.com/uptrace/bun"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Ready implements sqlstore.Engine. After a unit has failed because the file could not be written to, each call writes a
// probe, until one succeeds.
func (e *Engine) Ready(ctx context.Context) error {
	if !e.writer.unwritable.Load() {
		return nil
	}
	err := e.writer.update(ctx, probe)
	if err == nil {
		e.writer.unwritable.Store(false)
	}
	return err
}

// probe writes as much as a large unit and leaves nothing but free pages. A page or two would not do: what a failed commit
// has written of the log is overwritten by the next one, so that a small commit succeeds on a full disk. Pages that are freed in their own
// transaction are written because of noTraces alone.
func probe(ctx context.Context, conn bun.IConn) error {
	_, err := conn.ExecContext(ctx, `
		CREATE TABLE IF NOT EXISTS readiness_probe (filler BLOB);
		INSERT INTO readiness_probe VALUES (randomblob(262144));
		DROP TABLE readiness_probe;`)
	return err
}

// isUnwritable reports whether a unit has failed because of the file or its disk.
func isUnwritable(err error) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && slices.Contains([]int{
		sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB,
	}, failed.Code()&primary)
}
