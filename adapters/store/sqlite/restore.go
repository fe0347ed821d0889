package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system/partial"
	"holdco/domain/backup"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Target implements store.Target for a file.
type Target struct {
	path   string
	clock  outbound.Clock
	ids    outbound.IDs
	newest int64
}

var _ store.Target = (*Target)(nil)

// NewTarget returns where a file is restored.
func NewTarget(path string, clock outbound.Clock, ids outbound.IDs) (*Target, error) {
	newest, err := newestSchema()
	return &Target{path: path, clock: clock, ids: ids, newest: newest}, err
}

// Schema implements store.Target.
func (t *Target) Schema() int64 { return t.newest }

// restoration is a file that is being restored, in a folder of its own beside the store.
type restoration struct {
	*Target
	of      backup.Manifest
	store   string // its path
	isThere bool   // there is a former one
	lock    *flock.Flock
	folder  *partial.Folder
	engine  *Engine
	last    int64 // the sequence number of the last entry of the activity log that was restored
}

const storeFile = "holdco.db" // in the folder

// Begin implements store.Target.
func (t *Target) Begin(ctx context.Context, of backup.Manifest, replaces bool) (_ store.Restoration, err error) {
	r := &restoration{Target: t, of: of}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.store, err = filepath.Abs(t.path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(r.store), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the store: %w", err)
	}
	if err := refuseFolder(r.store); err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(r.store); err == nil {
		r.store, r.isThere = resolved, true
	}
	lock := flock.New(r.store + ".lock")
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock the store: %w", err)
	case !locked:
		return nil, fmt.Errorf("a server, a move or another restoration has %s open; stop it first", r.store)
	}
	r.lock = lock
	if err := r.dropLinks(); err != nil {
		return nil, err
	}
	if r.isThere && !replaces {
		if err := isEmpty(ctx, r.store); err != nil {
			return nil, err
		}
	}
	if r.folder, err = partial.CreateFolder(r.store); err != nil {
		return nil, err
	}
	return r, nil
}

// dropLinks removes further names of the store. A restoration leaves one that is killed after it kept the store and before it has put
// another in its place: whoever took that for a former store would open the present one, with another log.
func (r *restoration) dropLinks() error {
	present, err := os.Stat(r.store)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	folder, base := filepath.Split(r.store)
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if at, found := strings.CutPrefix(entry.Name(), base+"."); !found || !backup.IsAside(at) {
			continue
		}
		if kept, err := os.Lstat(filepath.Join(folder, entry.Name())); err != nil || !os.SameFile(present, kept) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	return err
}

// Try implements store.Target. It works among the temporary files.
func (t *Target) Try(_ context.Context, of backup.Manifest) (store.Restoration, error) {
	folder, err := partial.CreateFolder(filepath.Join(os.TempDir(), "holdco"))
	if err != nil {
		return nil, err
	}
	return &restoration{Target: t, of: of, folder: folder}, nil
}

// isEmpty fails unless a file holds no more rows than migrations leave.
func isEmpty(ctx context.Context, path string) error {
	db, err := openFile(path, "rw", busyTimeout(waitTimeout))
	if err != nil {
		return err
	}
	defer db.Close()
	holds, err := countRows(ctx, db)
	if err != nil {
		return fmt.Errorf("%w; say --replace to keep that file aside", explain(path, err))
	}
	fresh, err := freshRows(ctx)
	if err != nil {
		return err
	}
	return sqlstore.RefuseRows(filepath.Base(path), holds, fresh, sqlstore.ToRestore)
}

// freshRows are the rows of a store that was just migrated.
func freshRows(ctx context.Context) (_ map[string]int64, err error) {
	engine, err := Open(ctx, Options{Path: Memory})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if _, err := engine.Migrator().Up(ctx); err != nil {
		return nil, err
	}
	return countRows(ctx, engine.pool)
}

func (r *restoration) path() string { return filepath.Join(r.folder.Path, storeFile) }

// Free implements store.Restoration.
func (r *restoration) Free() (bytes int64, isKnown bool, err error) {
	return partial.Free(r.folder.Path)
}

// Take implements store.Restoration.
func (r *restoration) Take(ctx context.Context, part string, from io.Reader) (err error) {
	if part != backup.StoreName {
		return backup.Broken("it has the entry %q, which is none of a store on SQLite", part)
	}
	root, err := os.OpenRoot(r.folder.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	file, err := root.OpenFile(storeFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, interruptible{ctx, from})
	return errors.Join(err, file.Close())
}

// Open implements store.Restoration.
func (r *restoration) Open(ctx context.Context, rows map[string]int64) (restored store.Restored, err error) {
	if err := r.open(ctx, rows); err != nil {
		return restored, err
	}
	migrator := r.engine.Migrator()
	if _, err := migrator.Up(ctx); err != nil {
		return restored, err
	}
	if err := r.unmark(ctx); err != nil {
		return restored, err
	}
	return store.Restored{Store: sqlstore.New(r.engine, r.clock, r.ids, migrator), Inspector: r.engine, Migrator: migrator}, nil
}

// Leave implements store.Restoration.
func (r *restoration) Leave(ctx context.Context, rows map[string]int64, as backup.Unsettled) error {
	if err := r.open(ctx, rows); err != nil {
		return err
	}
	if err := r.unmark(ctx); err != nil {
		return err
	}
	return sqlstore.LeaveUnsettled(ctx, bun.NewDB(r.engine.writer.on.pool, sqlitedialect.New()), migrations, "migrations", as)
}

// open checks the file and opens it.
func (r *restoration) open(ctx context.Context, rows map[string]int64) (err error) {
	if _, err := os.Stat(r.path()); err != nil {
		return backup.Broken("the store is not in it")
	}
	if err := r.check(ctx, rows); err != nil {
		return err
	}
	// What is written until Switch is made durable there, at once.
	r.engine, err = Open(ctx, Options{Path: r.path(), MustExist: true, Exclusive: true, Synchronous: Normal, Moves: true})
	if err != nil {
		return err
	}
	r.last, err = sqlstore.LastEntry(ctx, r.engine.DB(), r.of.Schema)
	return err
}

// unmark removes the marks that the store had when it was backed up: what is restored is not being moved, and is settled anew.
func (r *restoration) unmark(ctx context.Context) error {
	tables, err := tableNames(ctx, r.engine.DB())
	for _, table := range []string{sqlstore.MarkTable, sqlstore.RestorationTable} {
		if err == nil && slices.Contains(tables, table) {
			_, err = r.engine.writer.on.pool.ExecContext(ctx, "DELETE FROM "+table)
		}
	}
	return err
}

// check reads all of the file before anything writes to it.
func (r *restoration) check(ctx context.Context, rows map[string]int64) error {
	db, err := openFile(r.path(), "ro", "query_only(1)", "trusted_schema(0)")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := checkFile(ctx, db); err != nil {
		return asBroken(ctx, err)
	}
	holds, err := countRows(ctx, db)
	if err == nil && !maps.Equal(holds, rows) {
		return backup.Broken("its store has other rows than its sums say")
	}
	if err != nil {
		return asBroken(ctx, err)
	}
	switch schema, err := sqlstore.SchemaVersion(ctx, db); {
	case err != nil:
		return asBroken(ctx, err)
	case schema != r.of.Schema:
		return backup.Broken("its store has version %d of the schema, and its manifest says %d", schema, r.of.Schema)
	}
	return onlyTables(ctx, db)
}

// onlyTables fails if a file has what no migration makes, and what would run when it is used: triggers, views and virtual tables.
func onlyTables(ctx context.Context, db *sql.DB) error {
	found, err := texts(ctx, db, "SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'index') "+
		"OR sql LIKE 'CREATE VIRTUAL %'")
	if err == nil && len(found) > 0 {
		err = backup.Broken("its store has %q, which is neither a table nor an index", found[0])
	}
	return err
}

func asBroken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return backup.Broken("%s", err.Error())
}

// Switch implements store.Restoration. The former file is kept under another name by a link, so that there is a store at any instant, and
// which one it is changes by one rename.
func (r *restoration) Switch(ctx context.Context) (former store.Former, err error) {
	if err := r.closeEngine(); err != nil {
		return former, err
	}
	if _, err := os.Stat(r.path() + "-wal"); err == nil {
		return former, errors.New("the log of the restored store could not be taken in")
	}
	owned := filepath.Dir(r.store)
	if r.isThere {
		owned = r.store
	}
	for _, made := range []string{r.path(), r.lock.Path()} {
		if err := partial.Own(made, owned); err != nil {
			return former, err
		}
	}
	if r.isThere {
		if former, err = r.keepFormer(ctx); err != nil {
			return store.Former{}, err
		}
	}
	if err := syncFile(r.path()); err != nil {
		return store.Former{}, err
	}
	if err := os.Rename(r.path(), r.store); err != nil {
		return store.Former{}, err
	}
	return former, partial.SyncFolder(filepath.Dir(r.store))
}

// keepFormer takes in the log of the former store, and gives its file another name too. One that is damaged is kept with its log.
func (r *restoration) keepFormer(ctx context.Context) (former store.Former, err error) {
	logs := []string{"-wal", "-shm"}
	newer, takingIn := takeInLog(ctx, r.store, r.last)
	isDamaged := takingIn != nil && isDamage(takingIn)
	if takingIn != nil && !isDamaged {
		return former, cmp.Or(ctx.Err(), takingIn)
	}
	isOpen := func(log string) bool {
		_, err := os.Stat(r.store + log)
		return err == nil
	}
	if slices.ContainsFunc(logs, isOpen) && !isDamaged {
		return former, fmt.Errorf("another program has %s open; stop it first", r.store)
	}
	kept := r.store + "." + backup.Aside(r.clock.Now())
	if err := os.Link(r.store, kept); err != nil {
		return former, fmt.Errorf("keep the former store as %s, which takes a file system with hard links; else move it away yourself: %w",
			kept, err)
	}
	for _, log := range logs {
		if err := os.Rename(r.store+log, kept+log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return former, err
		}
	}
	return store.Former{Kept: kept, Newer: newer}, partial.SyncFolder(filepath.Dir(r.store))
}

// takeInLog copies the log of a file into it, and counts the entries of the activity log after one, if they can be read.
func takeInLog(ctx context.Context, path string, last int64) (newer int64, err error) {
	db, err := openFile(path, "rw", busyTimeout(waitTimeout))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	isBusy, err := truncateLog(ctx, db)
	if isBusy {
		err = fmt.Errorf("another program uses %s; stop it first", path)
	}
	if err == nil { // a file that was never migrated has no such table, and one that is damaged is kept all the same
		_ = db.QueryRowContext(ctx, "SELECT count(*) FROM activity WHERE seq > ?", last).Scan(&newer)
	}
	return newer, err
}

// isDamage reports whether an error is due to what is in a file.
func isDamage(err error) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) &&
		slices.Contains([]int{sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}, failed.Code()&primary)
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func (r *restoration) closeEngine() error {
	if r.engine == nil {
		return nil
	}
	engine := r.engine
	r.engine = nil
	return engine.Close()
}

// Close implements store.Restoration.
func (r *restoration) Close() error {
	err := r.closeEngine()
	if r.folder != nil {
		err = errors.Join(err, r.folder.Drop())
	}
	if r.lock != nil {
		err = errors.Join(err, r.lock.Unlock())
	}
	return err
}
