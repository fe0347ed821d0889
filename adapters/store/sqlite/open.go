package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"holdco/adapters/store/sqlstore"
)

// Options say which database to open, and how.
type Options struct {
	// Path names the file. Open creates it, with its folder, if it is missing. Memory needs no file.
	Path string

	// MustExist makes Open fail if the file is missing, or empty.
	MustExist bool

	// Image is the content of a database file, for Memory alone: the new database starts as its copy. Nil: empty.
	Image []byte

	// Synchronous says what a commit survives; empty: Full.
	Synchronous Synchronous

	// Exclusive makes Open fail if another engine has the file open with Exclusive: there is one server per file. Engines
	// without it may read and write beside a server.
	Exclusive bool

	// Moves is for a move: without it Open fails if the store is being moved, or was.
	Moves bool

	// UnitTimeout is how long one run of a unit may take, as long as all others wait; zero: 5 seconds.
	UnitTimeout time.Duration
}

// Synchronous says what a commit survives.
type Synchronous string

// What a commit can survive.
const (
	Full   Synchronous = "full"   // the loss of power
	Normal Synchronous = "normal" // the end of the process, however it comes
	off    Synchronous = "off"    // nothing: what is in memory needs no more
)

const (
	waitTimeout = 5 * time.Second // for the writer, a connection, or the lock of another process
	unitTimeout = 5 * time.Second // for one run of a unit, unless Options says otherwise
)

// pageCache is the size of the page cache of one connection, in KiB. The allocator of the driver rounds a page of 4 KiB with
// its header up to 8 KiB, so a full cache takes twice its size in memory.
type pageCache int

// SQLite fills a cache before it reuses a page, and never gives one back. There are many readers, and what they miss is in
// the page cache of the system. An import of leads, which only commands do, writes to random pages of its indexes: they
// should stay cached from one batch to the next.
const (
	readerCache  pageCache = 512
	serverCache  pageCache = 8 << 10
	commandCache pageCache = 64 << 10
)

func (c pageCache) pragma() string { return fmt.Sprintf("cache_size(%d)", -c) }

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens a database. It does not migrate the schema: see Engine.Migrator. Errors say what an operator can do.
func Open(ctx context.Context, options Options) (_ *Engine, err error) {
	e := &Engine{longestLog: longestLog}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()

	if options.Path == Memory {
		if options, err = e.openMemory(options.Image); err != nil {
			return nil, err
		}
	}
	options.Synchronous = cmp.Or(options.Synchronous, Full)
	if options.MustExist {
		switch found, err := os.Stat(options.Path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no store at %s; restore a backup, or run \"holdco migrate up\" for a new one",
				options.Path)
		case err == nil && found.Mode().IsRegular() && found.Size() == 0: // SQLite would make a database of it
			return nil, fmt.Errorf("%s is empty, as a loss of power may leave a file; restore a backup, or run \"holdco migrate up\" for "+
				"a new store", options.Path)
		}
	}
	path, err := makeFile(options.Path)
	if err != nil {
		return nil, err
	}
	e.path = path
	if options.Exclusive {
		if err := e.lockFile(ctx, options, path); err != nil {
			return nil, cmp.Or(e.refuseMarked(ctx, options), err) // what has the lock moves the store
		}
	}
	if err := e.refuseMarked(ctx, options); err != nil {
		return nil, err
	}

	writes, err := e.openWrites(ctx, path, options)
	if err != nil {
		return nil, err
	}
	if err := e.openReads(path); err != nil {
		return nil, err
	}
	if err := e.openMigrations(path, options.Synchronous); err != nil {
		return nil, err
	}
	var t fileLocks
	if options.Synchronous != off { // otherwise the file belongs to this engine alone
		if t, err = openFileLocks(path); err != nil {
			return nil, err
		}
		e.onClose(t.close)
	}
	writing := &connection{pool: writes, unitTimeout: cmp.Or(options.UnitTimeout, unitTimeout)}
	writing.isShared = !options.Exclusive && options.Synchronous != off
	e.writer = startWriter(writing, t, !options.Exclusive)
	e.onClose(e.writer.close)
	return e, nil
}

// openWrites opens the connection of the writer, and with it the file.
func (e *Engine) openWrites(ctx context.Context, path string, options Options) (*sql.DB, error) {
	cache := serverCache
	if !options.Exclusive && options.Synchronous != off {
		cache = commandCache
	}
	// The first pragma says how a new file is laid out, and does nothing to one that has a page.
	pragmas := []string{
		"auto_vacuum(incremental)", cache.pragma(), "foreign_keys(1)", "journal_mode(wal)",
		"synchronous(" + string(options.Synchronous) + ")", noTraces,
	}
	if !options.Exclusive {
		pragmas = append(pragmas, "wal_autocheckpoint(0)") // see writer.checkpoint
	}
	writes, err := e.openPool(path, 1, pragmas...)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, writes, options.Synchronous); err != nil {
		return nil, explain(path, err)
	}
	if options.Exclusive {
		e.onClose(func() error { return checkpoint(context.Background(), writes) }) // after the readers are closed
	}
	return writes, nil
}

// noTraces is for connections that write to a store in use: what is deleted or replaced is overwritten with zeros, so that nothing of a
// person who was forgotten stays in the file.
const noTraces = "secure_delete(on)"

// openReads opens the pool of readers that may take long, and that of lookups.
func (e *Engine) openReads(path string) error {
	reads, err := e.openPool(path, max(8, 2*runtime.GOMAXPROCS(0)), "query_only(1)", readerCache.pragma())
	if err != nil {
		return err
	}
	lookups, err := e.openPool(path, lookupsAtOnce(), "query_only(1)", readerCache.pragma())
	if err != nil {
		return err
	}
	e.db = bun.NewDB(reads, sqlitedialect.New())
	e.pool, e.statements, e.lookups = reads, &statementCache{on: reads}, newLookups(lookups)
	return nil
}

// openMigrations opens a connection for the migrator, because the writer keeps its own.
func (e *Engine) openMigrations(path string, synchronous Synchronous) error {
	migrations, err := e.openPool(path, 1, "foreign_keys(1)", "synchronous("+string(synchronous)+")", noTraces)
	if err != nil {
		return err
	}
	e.migrator, err = newMigrator(migrations, path)
	return err
}

// openPool opens a pool, each connection with the given pragmas. Connections stay open: a new one costs more than a query.
func (e *Engine) openPool(path string, size int, pragmas ...string) (*sql.DB, error) {
	query := url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": append(pragmas, busyTimeout(waitTimeout)),
	}
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}
	pool, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	e.onClose(pool.Close)
	return pool, nil
}

// makeFile creates the file if it is missing, readable by its owner alone, and returns its path without symbolic links.
func makeFile(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the store: %w", err)
	}
	if err := refuseFolder(path); err != nil {
		return "", err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("the store and its folder must be writable for the user that runs holdco: %w", err)
	}
	if err != nil {
		return "", fmt.Errorf("open the store for writing: %w", err)
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// refuseFolder fails if a path is that of a folder.
func refuseFolder(path string) error {
	if found, err := os.Stat(path); err == nil && found.IsDir() {
		return fmt.Errorf("%s is a folder; the store needs the name of a file, such as %s", path, filepath.Join(path, "holdco.db"))
	}
	return nil
}

// A server that starts waits for the lock of its store: one that was killed while it started a program holds it until that has
// begun, because the new process has all that is open in the other one for a moment.
const (
	serverWait  = 3 * time.Second
	serverPause = 10 * time.Millisecond
)

// lockFile keeps other servers from opening the file. The system releases the lock when the process ends.
func (e *Engine) lockFile(ctx context.Context, options Options, path string) error {
	lock := flock.New(path + ".lock")
	waiting, cancel := context.WithTimeout(ctx, serverWait)
	defer cancel()
	locked, err := lock.TryLockContext(waiting, serverPause)
	switch {
	case locked:
		e.onClose(lock.Unlock)
		return nil
	case err != nil && waiting.Err() == nil || ctx.Err() != nil:
		return fmt.Errorf("lock the store: %w", err)
	}
	if options.Moves {
		return fmt.Errorf("a server has %s open; stop it first", path)
	}
	return fmt.Errorf("another server has %s open; stop it first, or give this server a store of its own", path)
}

// check opens the first connection and verifies that its pragmas took effect.
func check(ctx context.Context, writes *sql.DB, synchronous Synchronous) error {
	var journal string
	if err := writes.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return err
	}
	var level int
	if err := writes.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level); err != nil {
		return err
	}
	if journal != "wal" {
		return fmt.Errorf("its file system does not support the write-ahead log (journal mode %q); use a local disk", journal)
	}
	if levels := []Synchronous{off, Normal, Full}; level != slices.Index(levels, synchronous) { // in SQLite's order
		return fmt.Errorf("synchronous is %d, not %q", level, synchronous)
	}
	return nil
}

// checkpointWait is how long a checkpoint may wait for the transactions of others: nobody can write meanwhile. What they read or write
// stays in the log.
const checkpointWait = 100 * time.Millisecond

// checkpoint copies the write-ahead log into the file and empties it, so that the file alone is complete. SQLite does so itself when the
// last connection closes, but a command may still have the file open.
func checkpoint(ctx context.Context, writes *sql.DB) error {
	conn, err := writes.Conn(ctx)
	if err != nil {
		return fmt.Errorf("checkpoint the store: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "PRAGMA "+busyTimeout(checkpointWait)); err != nil {
		return fmt.Errorf("checkpoint the store: %w", err)
	}
	if _, err := truncateLog(ctx, conn); err != nil {
		return fmt.Errorf("checkpoint the store: %w", err)
	}
	return nil
}

// truncateLog copies the write-ahead log into the file and empties it. It reports whether others, who read or write, have kept it from
// that.
func truncateLog(ctx context.Context, on rowQueryer) (isBusy bool, err error) {
	var busy, logged, copied int
	err = on.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &copied)
	return busy != 0, err
}

// rowQueryer is a pool, or one of its connections.
type rowQueryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// busyTimeout is how long a connection waits for a lock of SQLite, as a pragma.
func busyTimeout(wait time.Duration) string {
	return fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds())
}

// explain says what an operator can do about a database that does not open, or that cannot be read or written.
func explain(path string, err error) error {
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		switch failed.Code() & primary {
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			return fmt.Errorf("%s is not a SQLite database, or is damaged; name another file, or restore a backup: %w", path, err)
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			return fmt.Errorf("%s and its folder must be writable, because SQLite keeps a log beside it: %w", path, err)
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
			return fmt.Errorf("%s cannot be written to; see whether its disk is full: %w", path, err)
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fmt.Errorf("%s is locked by another program for longer than this one waits; try again, or stop it first: %w", path, err)
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

const hasTable = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = "

func newMigrator(writes *sql.DB, path string) (*sqlstore.Migrator, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	lock := migrationLock{flock.New(path + ".migrating")}
	return sqlstore.NewMigrator(writes, goose.DialectSQLite3, hasTable, files, goose.WithSessionLocker(lock))
}

// migrationLock lets one process at a time migrate a file. Within a process the one connection that writes does.
type migrationLock struct{ file *flock.Flock }

func (l migrationLock) SessionLock(ctx context.Context, _ *sql.Conn) error {
	_, err := l.file.TryLockContext(ctx, 20*time.Millisecond)
	return err
}

func (l migrationLock) SessionUnlock(context.Context, *sql.Conn) error { return l.file.Unlock() }
