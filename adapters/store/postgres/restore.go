package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/backup"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Target implements store.Target for a database. A backup is restored into a schema of its own, whose tables take the place of the former
// ones in one transaction.
type Target struct {
	engine  *Engine
	options Options
	clock   outbound.Clock
	ids     outbound.IDs
	newest  int64
}

var _ store.Target = (*Target)(nil)

// Target returns where the database is restored. Options are those that it was opened with.
func (e *Engine) Target(options Options, clock outbound.Clock, ids outbound.IDs) (*Target, error) {
	newest, err := newestSchema()
	return &Target{engine: e, options: options, clock: clock, ids: ids, newest: newest}, err
}

// Schema implements store.Target.
func (t *Target) Schema() int64 { return t.newest }

// restoration is a schema in which a backup is restored.
type restoration struct {
	*Target
	of       backup.Manifest
	schema   string
	conn     *sql.Conn        // has the locks, and switches
	replaces bool             // it may take the place of a store that holds something
	fresh    map[string]int64 // rows that migrations leave, by table, up to the schema of the backup
	empty    map[string]int64 // likewise, up to the newest: what an empty store holds
	inside   *Engine          // on the schema
	later    postponed        // inside
	last     int64            // the sequence number of the last entry of the activity log that was restored
}

// restoring begins the names of schemas in which backups are restored. Each is locked under its name.
const restoring = "holdco_restoring_"

// schemaLock is the key of the lock of the schema that an expression names.
func schemaLock(name string) string { return "hashtextextended('holdco schema ' || " + name + ", 0)" }

// Begin implements store.Target.
func (t *Target) Begin(ctx context.Context, of backup.Manifest, replaces bool) (store.Restoration, error) {
	return t.begin(ctx, of, func(r *restoration) error {
		r.replaces = replaces
		if err := r.onlyOne(ctx); err != nil || replaces {
			return err
		}
		holds, err := rowsIn(ctx, r.conn, "current_schema()")
		if err != nil {
			return err
		}
		return sqlstore.RefuseRows(r.databaseName(), holds, r.empty, sqlstore.ToRestore)
	})
}

// Try implements store.Target.
func (t *Target) Try(ctx context.Context, of backup.Manifest) (store.Restoration, error) {
	return t.begin(ctx, of, func(*restoration) error { return nil })
}

func (t *Target) begin(ctx context.Context, of backup.Manifest, check func(r *restoration) error) (_ store.Restoration, err error) {
	r := &restoration{Target: t, of: of}
	if r.conn, err = t.engine.migrating.Conn(ctx); err != nil {
		return nil, explainRestoring(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(explainRestoring(err), r.Close())
		}
	}()
	var isReadOnly bool
	if err := r.conn.QueryRowContext(ctx, "SELECT current_setting('transaction_read_only')::bool").Scan(&isReadOnly); err != nil {
		return nil, err
	}
	if isReadOnly {
		return nil, errReadOnly
	}
	if err := r.clean(ctx); err != nil {
		return nil, err
	}
	if err := r.make(ctx); err != nil {
		return nil, err
	}
	if err := check(r); err != nil {
		return nil, err
	}
	return r, nil
}

// explainRestoring says what an operator can do about a server that does not let a backup be restored, or has broken that off.
func explainRestoring(err error) error {
	return explainBroken(explainServer(err), "the store is as it was")
}

// onlyOne takes the lock of the store alone.
func (r *restoration) onlyOne(ctx context.Context) error {
	var locked bool
	err := r.conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock("+storeLock+")").Scan(&locked)
	if err == nil && !locked {
		err = r.errInUse()
	}
	return err
}

func (r *restoration) errInUse() error {
	return fmt.Errorf("a server, a command or another restoration has %s open; stop it first", r.databaseName())
}

func (r *restoration) databaseName() string {
	config, err := pgx.ParseConfig(r.options.URL)
	if err != nil {
		return "the database"
	}
	return config.Database
}

// clean drops the schemas that processes have left which are gone.
func (r *restoration) clean(ctx context.Context) error {
	names, err := leftovers(ctx, r.conn)
	for _, name := range names {
		err = errors.Join(err, dropLeftover(ctx, r.conn, name))
	}
	return err
}

// leftovers are the schemas of restorations that nobody works on. To see that, it takes the lock of each until the statement ends.
func leftovers(ctx context.Context, on queryer) (names []string, err error) {
	pairs, err := pairsOf(ctx, on, "SELECT nspname, '' FROM pg_namespace WHERE CASE WHEN starts_with(nspname, '"+restoring+"') "+
		"THEN pg_try_advisory_xact_lock("+schemaLock("nspname")+") ELSE false END ORDER BY 1")
	for _, pair := range pairs {
		names = append(names, pair[0])
	}
	return names, err
}

// dropLeftover drops a schema of leftovers, unless somebody works on it by now.
func dropLeftover(ctx context.Context, on interface {
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}, name string,
) error {
	tx, err := on.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var locked bool
	if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock("+schemaLock("$1")+")", name).Scan(&locked); err != nil || !locked {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DROP SCHEMA IF EXISTS "+quoted(name)+" CASCADE"); err != nil {
		return err
	}
	return tx.Commit()
}

// make makes the schema with the tables of the backup, which are empty.
func (r *restoration) make(ctx context.Context) (err error) {
	r.schema = restoring + strings.ToLower(rand.Text())
	if _, err := r.conn.ExecContext(ctx, "SELECT pg_advisory_lock("+schemaLock("$1")+")", r.schema); err != nil {
		return err
	}
	if r.empty, err = r.makeUpTo(ctx, r.newest); err != nil {
		return err
	}
	r.fresh = r.empty
	if r.of.Schema < r.newest { // to begin anew is simpler than to go back
		if err := r.closeInside(); err != nil {
			return err
		}
		if _, err := r.conn.ExecContext(ctx, "DROP SCHEMA "+quoted(r.schema)+" CASCADE"); err != nil {
			return err
		}
		if r.fresh, err = r.makeUpTo(ctx, r.of.Schema); err != nil {
			return err
		}
	}
	if err := r.dropReferences(ctx); err != nil {
		return err
	}
	for table, count := range r.fresh {
		if count > 0 && err == nil {
			_, err = r.inside.migrating.ExecContext(ctx, "TRUNCATE "+quoted(table))
		}
	}
	return err
}

// makeUpTo makes the schema with the tables of a version, opens it, and returns the rows that it has.
func (r *restoration) makeUpTo(ctx context.Context, version int64) (rows map[string]int64, err error) {
	if _, err := r.conn.ExecContext(ctx, "CREATE SCHEMA "+quoted(r.schema)); err != nil {
		return nil, explainRights(err)
	}
	options := r.options
	options.Schema, options.Server, options.Restores, options.Unhurried = r.schema, false, true, true
	if r.inside, err = Open(ctx, options); err != nil {
		return nil, err
	}
	if err := r.inside.migrator.UpTo(ctx, version); err != nil {
		return nil, err
	}
	return rowsIn(ctx, r.inside.migrating, "current_schema()")
}

// explainRights says what an operator can do about rights that are missing.
func explainRights(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == notPermitted {
		return fmt.Errorf("to restore, the user of the database URL needs the right to make schemas (GRANT CREATE ON DATABASE ...), and "+
			"has to own the tables: %w", err)
	}
	return err
}

// rowsIn returns how many rows the tables of a schema have, those with the versions of the schema and those for locks aside.
func rowsIn(ctx context.Context, on queryer, schema string) (map[string]int64, error) {
	tables, err := tablesIn(ctx, on, schema)
	if err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, table := range tables {
		if table == sqlstore.SchemaVersions || isTurn(table) {
			continue
		}
		var count int64
		if err := on.QueryRowContext(ctx, "SELECT count(*) FROM "+quoted(table)).Scan(&count); err != nil {
			return nil, err
		}
		rows[table] = count
	}
	return rows, nil
}

// Free implements store.Restoration. The server does not tell.
func (r *restoration) Free() (bytes int64, isKnown bool, err error) { return 0, false, nil }

// Take implements store.Restoration.
func (r *restoration) Take(ctx context.Context, part string, from io.Reader) error {
	table := backup.TableOf(part)
	if _, isThere := r.fresh[table]; !isThere {
		return backup.Broken("version %d of the schema has no table %q", r.of.Schema, table)
	}
	source := &noting{Reader: from}
	err := r.load(ctx, table, source)
	if source.failure != nil { // the server was sent less than there is
		return source.failure
	}
	return explainRestoring(err)
}

// noting is a reader that notes why it cannot be read, unless it has ended.
type noting struct {
	io.Reader
	failure error
}

func (r *noting) Read(into []byte) (int, error) {
	n, err := r.Reader.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failure = err
	}
	return n, err
}

// Open implements store.Restoration.
func (r *restoration) Open(ctx context.Context, rows map[string]int64) (restored store.Restored, err error) {
	if err := r.open(ctx, rows); err != nil {
		return restored, explainRestoring(err)
	}
	if _, err := r.inside.migrator.Up(ctx); err != nil {
		return restored, explainRestoring(err)
	}
	return store.Restored{
		Store: sqlstore.New(r.inside, r.clock, r.ids, r.inside.migrator), Inspector: r.inside, Migrator: r.inside.migrator,
	}, nil
}

// Leave implements store.Restoration.
func (r *restoration) Leave(ctx context.Context, rows map[string]int64, as backup.Unsettled) error {
	if err := r.open(ctx, rows); err != nil {
		return explainRestoring(err)
	}
	return explainRestoring(sqlstore.LeaveUnsettled(ctx, bun.NewDB(r.inside.migrating, pgdialect.New()), migrations, "migrations", as))
}

// open checks what was taken, and makes it a store, in the version of the schema that it has.
func (r *restoration) open(ctx context.Context, rows map[string]int64) error {
	holds, err := rowsIn(ctx, r.inside.migrating, "current_schema()")
	if err != nil {
		return err
	}
	for table, count := range holds {
		if count != rows[table] {
			return backup.Broken("%s has %d rows, and its sums say %d", table, count, rows[table])
		}
	}
	if err := r.makePostponed(ctx); err != nil {
		return err
	}
	if err := setSequences(ctx, r.inside.migrating, r.of.Sequences); err != nil {
		return err
	}
	if err := r.analyze(ctx, slices.Sorted(maps.Keys(holds))); err != nil {
		return err
	}
	// From here on it is migrated, by two connections, and worked on by one.
	r.inside.migrating.SetMaxIdleConns(2)
	r.inside.pool.SetMaxIdleConns(1)
	if r.last, err = sqlstore.LastEntry(ctx, r.inside.migrating, r.of.Schema); err != nil {
		return err
	}
	if _, hasMark := holds[sqlstore.MarkTable]; hasMark {
		// If the store was being moved when it was backed up, what is restored is not.
		_, err = r.inside.migrating.ExecContext(ctx, "DELETE FROM "+sqlstore.MarkTable)
	}
	return err
}

// setSequences lets columns go on numbering where they did: no number is given twice, also if its row is gone.
func setSequences(ctx context.Context, on queryer, last map[string]int64) error {
	pairs, err := pairsOf(ctx, on, identities)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		table, column, _ := strings.Cut(pair[0], ".")
		var set int64
		query := "SELECT setval($1::regclass, greatest((SELECT max(" + quoted(column) + ") FROM " + quoted(table) + "), $2, 1))"
		if err := on.QueryRowContext(ctx, query, pair[1], last[pair[0]]).Scan(&set); err != nil {
			return err
		}
	}
	return nil
}

// Switch implements store.Restoration. It is not interrupted any more: who interrupts it would not know whether it has happened.
func (r *restoration) Switch(ctx context.Context) (former store.Former, err error) {
	if err := cmp.Or(ctx.Err(), cleaned(r.closeInside())); err != nil {
		return former, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), switchTimeout)
	defer cancel()
	var current string
	if err := r.conn.QueryRowContext(ctx, "SELECT coalesce(current_schema(), '')").Scan(&current); err != nil {
		return former, explainRestoring(err)
	}
	if current == "" {
		return former, errors.New("the schema that the database URL names does not exist")
	}
	isWhole := false // but for COMMIT
	err = onConn(r.conn, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '10s'"); err != nil {
				return err
			}
			// The session has it, unless something between here and the server gives each transaction another one.
			var locked bool
			if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock("+storeLock+")").Scan(&locked); err != nil {
				return err
			}
			if !locked {
				return r.errInUse()
			}
			if former, err = r.keepFormer(ctx, tx, current); err != nil {
				return err
			}
			if err := r.move(ctx, tx, r.schema, current); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, "DROP SCHEMA "+quoted(r.schema))
			isWhole = err == nil
			return err
		})
	})
	switch {
	case err != nil && isWhole && isBroken(err):
		return store.Former{}, fmt.Errorf("the connection to PostgreSQL was lost in the last moment: if the schema %s is still there, the "+
			"store is as it was, so run the command again, and else it is restored: %s", r.schema, lastAttempt(err))
	case err != nil:
		return store.Former{}, explainRestoring(explainRights(err))
	}
	r.schema = ""
	return former, nil
}

// keepFormer moves the former tables into a schema of their own, and drops them if they are empty.
func (r *restoration) keepFormer(ctx context.Context, tx pgx.Tx, current string) (former store.Former, err error) {
	tables, err := r.tablesOf(ctx, tx, current)
	if err != nil || len(tables) == 0 {
		return former, err
	}
	kept := backup.Aside(r.clock.Now())
	if _, err := tx.Exec(ctx, "CREATE SCHEMA "+quoted(kept)); err != nil {
		return former, err
	}
	if err := r.move(ctx, tx, current, kept); err != nil {
		return former, err
	}
	if r.replaces {
		former.Kept = kept
		if slices.Contains(tables, "activity") {
			newer := "SELECT count(*) FROM " + quoted(kept) + ".activity WHERE seq > $1"
			err = tx.QueryRow(ctx, newer, r.last).Scan(&former.Newer)
		}
		return former, err
	}
	// Nobody else can have written to them since they were moved.
	holds := map[string]int64{}
	for _, table := range tables {
		if table == sqlstore.SchemaVersions || isTurn(table) {
			continue
		}
		var count int64
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+quoted(kept)+"."+quoted(table)).Scan(&count); err != nil {
			return former, err
		}
		holds[table] = count
	}
	if err := sqlstore.RefuseRows(r.databaseName(), holds, r.empty, sqlstore.ToRestore); err != nil {
		return former, err
	}
	_, err = tx.Exec(ctx, "DROP SCHEMA "+quoted(kept)+" CASCADE")
	return former, err
}

// tablesOf returns those tables of a schema that are ours.
func (r *restoration) tablesOf(ctx context.Context, tx pgx.Tx, schema string) ([]string, error) {
	known, err := sqlstore.TablesOf(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "+
		"WHERE relkind = 'r' AND nspname = $1 ORDER BY relname", schema)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return slices.DeleteFunc(all, func(name string) bool {
		return !slices.Contains(known, name) && name != sqlstore.SchemaVersions && !isTurn(name)
	}), err
}

func (r *restoration) move(ctx context.Context, tx pgx.Tx, from, to string) error {
	tables, err := r.tablesOf(ctx, tx, from)
	for _, table := range tables {
		if err == nil {
			_, err = tx.Exec(ctx, "ALTER TABLE "+quoted(from)+"."+quoted(table)+" SET SCHEMA "+quoted(to))
		}
	}
	return err
}

func (r *restoration) closeInside() error {
	if r.inside == nil {
		return nil
	}
	inside := r.inside
	r.inside = nil
	return inside.Close()
}

// switchTimeout bounds the transaction that switches. It counts what was done after the backup.
const switchTimeout = 5 * time.Minute

// Close implements store.Restoration. The locks are given back, because the connection stays in its pool.
func (r *restoration) Close() error {
	err := cleaned(r.closeInside())
	if r.schema != "" {
		ctx, cancel := context.WithTimeout(context.Background(), unitTimeout)
		defer cancel()
		_, dropping := r.conn.ExecContext(ctx, "DROP SCHEMA IF EXISTS "+quoted(r.schema)+" CASCADE")
		err = errors.Join(err, cleaned(dropping))
	}
	_, unlocking := r.conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock_all()")
	return errors.Join(err, cleaned(cmp.Or(unlocking, r.conn.Close())))
}
