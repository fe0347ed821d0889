package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"golang.org/x/sync/semaphore"

	"holdco/adapters/store/sqlstore"
)

// Options say which database to open, and how.
type Options struct {
	URL      string        // postgres://user:password@host:port/database, with the parameters that pgx knows
	Wait     time.Duration // how long a server may take to accept connections
	MaxConns int           // connections of this process; 0: 20, and up to 4 more for migrations, backups and the lock of a server

	// Pooled says that the URL is that of a pooler which gives each transaction another session. What needs a session of its own has it by
	// DirectURL, which leads straight to the same database; if that is empty, the schema cannot be migrated. A restoration has no pooler.
	Pooled    bool
	DirectURL string

	// Server keeps the store from being restored until the engine is closed, also while no connection is needed.
	Server bool

	// Restores is for a restoration: without it Open fails while the store is being restored, and it cannot be while there are connections.
	Restores bool

	// Unhurried is for a check of all of a store: statements that read, and View, end when their context does.
	Unhurried bool

	// Schema is where the tables are; empty: where the URL says, or else in public.
	Schema string

	// OnWait is called once, with the reason, if the server does not accept connections at once. It may be nil.
	OnWait func(err error)
}

// The timeouts. With them every call ends, also when the server has stopped answering.
const (
	waitTimeout      = 5 * time.Second  // for a connection, for a lock, or for the turn in this process
	retryTimeout     = 5 * time.Second  // a unit that conflicts with others is retried for so long
	statementTimeout = 30 * time.Second // for one statement
	unitTimeout      = time.Minute      // for one run of a unit, once it has its turn and a connection
)

const (
	defaultConns  = 20
	oldestVersion = 15
)

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens a database, and waits until its server accepts connections. It does not migrate the schema: see
// Engine.Migrator. Errors say what an operator can do, and never contain a password.
func Open(ctx context.Context, options Options) (_ *Engine, err error) {
	config, err := parse(options.URL)
	if err != nil {
		return nil, err
	}
	if options.Schema != "" {
		config.RuntimeParams["search_path"] = quoted(options.Schema)
	}

	e := &Engine{
		lastLoss: &losses{}, isPooled: options.Pooled, isUnhurried: options.Unhurried, limits: limitsOf(options),
	}
	if !options.Restores {
		e.fence = newFence()
	}
	for i := range e.turns {
		e.turns[i] = &turn{first: semaphore.NewWeighted(1)}
	}
	apart := config // for migrations and the like
	switch {
	case options.Pooled && options.DirectURL != "":
		if apart, err = parse(options.DirectURL); err != nil {
			return nil, err
		}
		e.hasSessions = true
	case options.Pooled:
		withoutSession(apart)
	default:
		e.hasSessions = true
	}
	// Two migrate, one says that this is a server, one reads for a backup.
	e.migrating = e.openPool(apart, 4, e.hasSessions, endless)
	if options.Pooled {
		withoutSession(config)
	} else {
		withDefaults(config, e.limits)
	}
	var without []string
	if options.Unhurried {
		without = unhurried
	}
	e.pool = e.openPool(config, cmp.Or(options.MaxConns, defaultConns), !options.Pooled, without)
	if options.Restores {
		e.pool.SetMaxIdleConns(0) // little goes by it, and a restoration has connections of its own
	}
	e.db = bun.NewDB(e.pool, pgdialect.New())
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()

	if e.migrator, err = newMigrator(e.migrating, e.hasSessions); err != nil {
		return nil, err
	}
	err = e.await(ctx, options)
	if err == nil && options.Server {
		err = e.present(ctx)
	}
	switch {
	case err == nil:
		return e, nil
	case isFenced(err):
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		return nil, explain(config, err, options)
	}
}

// parse reads a URL of a database.
func parse(address string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		// The parser's message can contain part of a password that is not encoded correctly.
		return nil, errors.New("the database URL cannot be read; it has the form postgres://user:password@host:5432/database, " +
			"with special characters of the password percent-encoded")
	}
	withDefaults(config, map[string]string{ // which poolers keep for each client
		"application_name":            "holdco",
		"client_encoding":             "UTF8",
		"standard_conforming_strings": "on", // what bun's quoting relies on
	})
	return config, nil
}

// limits are parameters of sessions, or with a pooler of transactions.
type limits map[string]string

func limitsOf(options Options) limits {
	of := limits{
		"lock_timeout":                        milliseconds(waitTimeout),
		"statement_timeout":                   milliseconds(statementTimeout),
		"idle_in_transaction_session_timeout": milliseconds(unitTimeout),
		"plan_cache_mode":                     "force_generic_plan", // every prepared statement can use an index
		"enable_seqscan":                      "off",                // even if it was planned when there were few rows
		"jit":                                 "off",                // no query runs long enough for it to pay off
	}
	if options.Unhurried {
		of["statement_timeout"], of["idle_in_transaction_session_timeout"] = "0", "0"
	}
	return of
}

// Timeouts that sessions may get from their role, their database, or a pooler that keeps none of the parameters of a client. Servers have
// them against clients that hang. Not every version of the server has each.
var (
	unhurried = []string{"statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout", "idle_session_timeout"}
	endless   = append([]string{"lock_timeout"}, unhurried...)
)

// withoutTimeouts is a statement that takes timeouts from a session, or from a transaction alone.
func withoutTimeouts(names []string, forTransaction bool) string {
	return "SELECT set_config(name, '0', " + strconv.FormatBool(forTransaction) + ") FROM pg_settings WHERE name IN ('" +
		strings.Join(names, "', '") + "')"
}

// withDefaults sets parameters of the session that the URL does not set.
func withDefaults(config *pgx.ConnConfig, defaults map[string]string) {
	given := config.RuntimeParams
	config.RuntimeParams = maps.Clone(defaults)
	maps.Copy(config.RuntimeParams, given)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// openPool makes a pool that connects on demand. Connections stay open: a new one costs more than a query. Those that are sessions have
// none of some timeouts, and share the lock of the store.
func (e *Engine) openPool(config *pgx.ConnConfig, size int, areSessions bool, without []string) *sql.DB {
	options := []stdlib.OptionOpenDB{stdlib.OptionShouldPing(e.lastLoss.mustPing)}
	if areSessions {
		options = append(options, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
			if len(without) > 0 {
				if err := conn.PgConn().Exec(ctx, withoutTimeouts(without, false)).Close(); err != nil {
					_ = conn.Close(ctx) // database/sql never saw it
					return err
				}
			}
			if e.fence == nil {
				return nil
			}
			return e.fence.enter(ctx, conn)
		}))
	}
	pool := stdlib.OpenDB(*config.Copy(), options...)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	pool.SetConnMaxLifetime(time.Hour) // so that connections spread over a cluster whose servers change
	return pool
}

const hasTable = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = "

// newMigrator makes a migrator on a pool without timeouts: migrations may take long. One process migrates; others
// wait for it, which takes a session.
func newMigrator(pool *sql.DB, hasSessions bool) (*sqlstore.Migrator, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if !hasSessions {
		migrator, err := sqlstore.NewMigrator(pool, goose.DialectPostgres, hasTable, files)
		return migrator.Refusing(errNoSession), err
	}
	const everySecond, forFiveMinutes = 1, 300
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(everySecond, forFiveMinutes))
	if err != nil {
		return nil, err
	}
	return sqlstore.NewMigrator(pool, goose.DialectPostgres, hasTable, files, goose.WithSessionLocker(locker))
}
