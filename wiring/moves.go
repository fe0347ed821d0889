package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"holdco/adapters/cli"
	"holdco/adapters/store/postgres"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/system"
	"holdco/app/moves"
	"holdco/ports/store"
)

// openMoves makes what moves the store. It opens nothing yet.
func openMoves(_ context.Context, flags *pflag.FlagSet, stderr io.Writer) (cli.MoveTools, func(), error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return cli.MoveTools{}, nil, err
	}
	m := mover{config: config, log: log}
	tools := cli.MoveTools{
		Moves: moves.New(moves.Parts{Clock: system.Clock{}, IDs: system.IDs{}, Check: checkMove, Source: m.source, Target: m.target}),
		From:  config.Database.url(), Setting: withoutPassword,
	}
	return tools, func() {}, nil
}

// url is how the database is configured.
func (d Database) url() string {
	switch d.SQLite {
	case "":
		return d.Postgres
	case Memory:
		return "sqlite:" + Memory
	}
	return "sqlite://" + d.SQLite
}

type mover struct {
	config Config
	log    *slog.Logger
}

func (m mover) source(ctx context.Context, url string) (store.Moving, error) {
	return openMoved(ctx, m, url, sqlite.OpenMoving, postgres.OpenMoving)
}

func (m mover) target(ctx context.Context, url string) (store.MovingTo, error) {
	return openMoved(ctx, m, url, sqlite.OpenMovingTo, postgres.OpenMovingTo)
}

func openMoved[M store.Moving](
	ctx context.Context, m mover, url string, onSQLite func(ctx context.Context, path string) (M, error),
	onPostgres func(ctx context.Context, options postgres.Options) (M, error),
) (none M, err error) {
	database, err := movedDatabase(url)
	if err != nil {
		return none, err
	}
	if database.SQLite != "" {
		return onSQLite(ctx, database.SQLite)
	}
	config := m.config
	config.Database = database
	options := postgresOptions(ctx, config, m.log)
	if options.Pooled && database == m.config.Database {
		if err := config.needsSession("to move"); err != nil {
			return none, err
		}
		options.URL = options.DirectURL
	}
	options.Pooled, options.DirectURL = false, "" // another URL than the configured one leads straight to its server
	return onPostgres(ctx, options)
}

// movedDatabase reads the URL of a store that can be moved.
func movedDatabase(url string) (Database, error) {
	database, ok := parseDatabase(url)
	switch {
	case !ok:
		return database, cli.WrongUsage(errors.New("the URL must be of the form sqlite:///var/lib/holdco/holdco.db or " +
			"postgres://user:password@host:5432/database"))
	case database.SQLite == Memory:
		return database, cli.WrongUsage(errors.New("a store in memory ends with its process; it cannot be moved"))
	}
	return database, nil
}

// checkMove refuses what can be told to be wrong of two URLs before a store is opened.
func checkMove(from, to string) error {
	source, err := movedDatabase(from)
	if err != nil {
		return cli.WrongUsage(fmt.Errorf("--from: %w", err))
	}
	target, err := movedDatabase(to)
	if err != nil {
		return cli.WrongUsage(fmt.Errorf("--to: %w", err))
	}
	if source == target || isSameFile(source.SQLite, target.SQLite) {
		return cli.WrongUsage(errors.New("--from and --to are the same store"))
	}
	return nil
}

func isSameFile(one, other string) bool {
	if one == "" || other == "" {
		return false
	}
	found, err := os.Stat(one)
	if err != nil {
		return false // to open it says so
	}
	also, err := os.Stat(other)
	return err == nil && os.SameFile(found, also)
}

// withoutPassword is the URL of a database as it may be shown. What follows sqlite:// is a path as it is, not encoded: it stays.
func withoutPassword(of string) string {
	if strings.HasPrefix(of, "sqlite:") {
		return of
	}
	read, err := url.Parse(of)
	if err != nil {
		return "its URL"
	}
	if read.User != nil {
		read.User = url.User(read.User.Username())
	}
	query := read.Query()
	query.Del("password")
	query.Del("sslpassword")
	if len(query) < len(read.Query()) {
		read.RawQuery = query.Encode()
	}
	return read.String()
}
