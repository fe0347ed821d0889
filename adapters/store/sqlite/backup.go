package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system/partial"
	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/store"
)

// Source implements store.Source for a file.
type Source struct{ path string }

var _ store.Source = Source{}

// NewSource returns the source of backups of a file.
func NewSource(path string) Source { return Source{path: path} }

// Bytes implements store.Source. What is in the log is in the copy too.
func (s Source) Bytes(context.Context) (int64, error) {
	if s.path == Memory {
		return 0, fault.New(fault.Unavailable, "The store is in memory, and ends with its process; it cannot be copied.")
	}
	found, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("there is no store at %s", s.path)
	}
	if err != nil {
		return 0, err
	}
	if err := refuseFolder(s.path); err != nil {
		return 0, err
	}
	bytes := found.Size()
	if log, err := os.Stat(s.path + "-wal"); err == nil {
		bytes += log.Size()
	}
	return bytes, nil
}

// Free implements store.Source.
func (s Source) Free() (bytes int64, isKnown bool, err error) {
	return partial.Free(filepath.Dir(s.path))
}

// fileCopy is a copy of a file, in a folder of its own, where SQLite may have more files.
type fileCopy struct {
	folder   *partial.Folder
	file     *os.File
	db       *sql.DB
	manifest backup.Manifest
	rows     map[string]int64
}

// Copy implements store.Source. VACUUM INTO reads the file in one transaction, beside those that write. The online backup begins anew at
// every commit of another process, and so may never end.
func (s Source) Copy(ctx context.Context, folder string) (_ store.Copy, err error) {
	if _, err := s.Bytes(ctx); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(s.path)
	if err != nil {
		return nil, err
	}
	into := path
	if folder != "" {
		into = filepath.Join(folder, filepath.Base(path))
	}
	c := &fileCopy{}
	if c.folder, err = partial.CreateFolder(into); err != nil {
		return nil, fmt.Errorf("make a copy of the store: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	made := filepath.Join(c.folder.Path, storeFile)
	if err := vacuumInto(ctx, path, made); err != nil {
		return nil, err
	}
	if c.file, err = os.Open(made); err != nil {
		return nil, err
	}
	if c.db, err = openFile(made, "ro", "query_only(1)"); err != nil {
		return nil, err
	}
	return c, c.look(ctx)
}

// vacuumInto makes the copy. It ends with the command, so it need not survive a loss of power: to sync all of it at once would hold up
// the commits of others. What is closed last copies the log into the store and has to sync that, so it is another connection.
func vacuumInto(ctx context.Context, path, into string) error {
	wait := busyTimeout(waitTimeout)
	db, err := openFile(path, "rw", wait)
	if err != nil {
		return err
	}
	defer db.Close()
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil { // it has the log from here on
		return cmp.Or(ctx.Err(), explain(path, err))
	}
	if err := copyUnsynced(ctx, path, into, wait); err != nil {
		return err
	}
	// The log has grown, because nothing that the copy had to read was taken out of it meanwhile. If this cannot truncate it now,
	// because others read or write, the writer overwrites it from its start.
	_ = checkpoint(ctx, db)
	return nil
}

func copyUnsynced(ctx context.Context, path, into, wait string) error {
	db, err := openFile(path, "rw", wait, "synchronous(off)")
	if err != nil {
		return err
	}
	defer db.Close()
	defer partial.Writeback(into)()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", into); err != nil {
		return cmp.Or(ctx.Err(), explainCopy(path, into, err))
	}
	return nil
}

// explainCopy says what an operator can do about a copy that cannot be made. What is full is most likely the disk of the copy.
func explainCopy(path, into string, err error) error {
	var failed *sqlite.Error
	if errors.As(err, &failed) && slices.Contains([]int{sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}, failed.Code()&primary) {
		beside := filepath.Dir(filepath.Dir(into))
		return fmt.Errorf("the copy of the store cannot be written to %s; see whether its disk is full: %w", beside, err)
	}
	return explain(path, err)
}

// openFile opens a database with one connection.
func openFile(path, mode string, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", file.String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// look reads what is in the copy.
func (c *fileCopy) look(ctx context.Context) (err error) {
	c.manifest.Engine = backup.SQLite
	found, err := c.file.Stat()
	if err != nil {
		return err
	}
	c.manifest.Bytes = found.Size()
	if c.rows, err = countRows(ctx, c.db); err != nil {
		return err
	}
	for table := range c.rows {
		c.manifest.Tables = append(c.manifest.Tables, table)
	}
	slices.Sort(c.manifest.Tables)
	if !slices.Contains(c.manifest.Tables, sqlstore.SchemaVersions) {
		return errors.New("the store has no schema yet; there is nothing to back up")
	}
	if c.manifest.Schema, err = sqlstore.SchemaVersion(ctx, c.db); err != nil {
		return err
	}
	if newest, err := newestSchema(); err != nil || c.manifest.Schema > newest {
		return cmp.Or(err, sqlstore.ErrNewer(c.manifest.Schema, newest))
	}
	c.manifest.Key, c.manifest.FormerKey, err = sqlstore.KeysOf(ctx, c.db, c.manifest.Schema)
	return err
}

func newestSchema() (int64, error) { return sqlstore.NewestOf(migrations, "migrations") }

// countRows returns how many rows each table has.
func countRows(ctx context.Context, on sqlstore.Queryer) (map[string]int64, error) {
	tables, err := tableNames(ctx, on)
	if err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, table := range tables {
		quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"` // a file can have any
		if rows[table], err = sqlstore.ReadNumber(ctx, on, "SELECT count(*) FROM "+quoted); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func tableNames(ctx context.Context, on sqlstore.Queryer) ([]string, error) {
	return texts(ctx, on, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'")
}

// texts returns the rows of a query of one column.
func texts(ctx context.Context, on sqlstore.Queryer, query string, args ...any) (found []string, err error) {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}

func (c *fileCopy) Manifest() backup.Manifest { return c.manifest }
func (c *fileCopy) Rows() map[string]int64    { return c.rows }

func (c *fileCopy) Parts() []backup.Sum {
	total := int64(0)
	for _, count := range c.rows {
		total += count
	}
	return []backup.Sum{{Name: backup.StoreName, Bytes: c.manifest.Bytes, Rows: total}}
}

func (c *fileCopy) Write(ctx context.Context, part backup.Sum, to io.Writer) error {
	_, err := io.Copy(to, interruptible{ctx, io.NewSectionReader(c.file, 0, part.Bytes)})
	return err
}

// interruptible is a reader that ends with a context.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(into)
}

// Check implements store.Copy.
func (c *fileCopy) Check(ctx context.Context) error { return checkFile(ctx, c.db) }

// checkFile reads all of a database, and fails with what is wrong with it.
func checkFile(ctx context.Context, db *sql.DB) error {
	wrong, err := texts(ctx, db, "PRAGMA integrity_check(3)")
	if err != nil {
		return fmt.Errorf("the store is damaged: %w", err)
	}
	if !slices.Equal(wrong, []string{"ok"}) {
		return fmt.Errorf("the store is damaged: %s", strings.Join(wrong, "; "))
	}
	return checkReferences(ctx, db)
}

// checkReferences fails if a row refers to one that is not there. A file can have a table that is called like the function of this pragma.
func checkReferences(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return rows.Err()
	}
	var table string
	var row, parent, key any
	if err := rows.Scan(&table, &row, &parent, &key); err != nil {
		return err
	}
	return fmt.Errorf("the store is damaged: a row of %s refers to one that is not there", table)
}

func (c *fileCopy) Close() error {
	var failures []error
	if c.db != nil {
		failures = append(failures, c.db.Close())
	}
	if c.file != nil {
		failures = append(failures, c.file.Close())
	}
	return errors.Join(append(failures, c.folder.Drop())...)
}
