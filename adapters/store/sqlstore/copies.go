package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

// This file is what engines share when a store is backed up and restored, in whatever version its schema is.

// Queryer is a database, or a transaction.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// complete is the version of the schema from which on a store has the table with the fingerprint of its key, and numbers the entries of its
// activity log. One before that is of a program whose first start was cut short: it holds nothing.
const complete = 2

// KeysOf returns the fingerprints of the keys that secrets in a store, whose schema has a version, are sealed with: the present one and,
// while it is being rotated, the former one, which older schemas do not have. Empty: there is none.
func KeysOf(ctx context.Context, db Queryer, version int64) (key, former string, err error) {
	if version < complete {
		return "", "", nil
	}
	rows, err := db.QueryContext(ctx, "SELECT * FROM instance_key")
	if err != nil {
		return "", "", err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return "", "", errors.Join(err, rows.Err())
	}
	into := make([]any, len(names))
	for n, name := range names {
		switch name {
		case "fingerprint":
			into[n] = &key
		case "former":
			into[n] = &former
		default:
			into[n] = new(any)
		}
	}
	return key, former, rows.Scan(into...)
}

// LastEntry returns the sequence number of the last entry of the activity log of a store whose schema has a version; 0: there is none.
func LastEntry(ctx context.Context, db Queryer, version int64) (last int64, err error) {
	if version < complete {
		return 0, nil
	}
	return ReadNumber(ctx, db, "SELECT coalesce(max(seq), 0) FROM activity")
}

// SchemaVersions is where the migrator keeps which versions of the schema a store has had.
const SchemaVersions = "goose_db_version"

// SchemaVersion returns the version of the schema of a store; 0: it has none.
func SchemaVersion(ctx context.Context, db Queryer) (version int64, err error) {
	return ReadNumber(ctx, db, "SELECT coalesce(max(version_id), 0) FROM "+SchemaVersions+" WHERE is_applied")
}

// ReadNumber returns the number that a query selects.
func ReadNumber(ctx context.Context, db Queryer, query string) (number int64, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return 0, rows.Err()
	}
	err = rows.Scan(&number)
	return number, err
}

// NewestOf returns the highest version of the migrations in a folder.
func NewestOf(files fs.FS, folder string) (newest int64, err error) {
	entries, err := fs.ReadDir(files, folder)
	for _, entry := range entries {
		version, err := goose.NumericComponent(entry.Name())
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, err
}

// ErrNewer is that of a store whose schema is newer than this program.
func ErrNewer(version, newest int64) error {
	return fmt.Errorf("the schema of the store has version %d, but this program knows versions up to %d only; run a newer holdco",
		version, newest)
}

var made = regexp.MustCompile(`(?:CREATE TABLE(?: IF NOT EXISTS)?|RENAME TO) (\w+)`)

// TablesOf returns the names of all tables that the migrations in a folder make, those that they drop or rename too.
func TablesOf(files fs.FS, folder string) (names []string, err error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		text, err := fs.ReadFile(files, folder+"/"+entry.Name())
		if err != nil {
			return nil, err
		}
		for _, found := range made.FindAllStringSubmatch(string(text), -1) {
			names = append(names, strings.ToLower(found[1]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// OwnTables returns the names of TablesOf, and that of the table of the migrator, as SQL lists them after IN. Others may have tables beside
// these, which they need not let the user of the store read.
func OwnTables(files fs.FS, folder string) (list string, err error) {
	names, err := TablesOf(files, folder)
	return "'" + strings.Join(append(names, SchemaVersions), "', '") + "'", err
}

// UpTo applies the migrations up to a version.
func (m *Migrator) UpTo(ctx context.Context, version int64) error {
	provider, _, err := m.look(ctx)
	if err != nil {
		return err
	}
	if _, err := provider.UpTo(ctx, version); err != nil {
		return fmt.Errorf("migrate the schema: %w", err)
	}
	return nil
}

// What to do instead, for RefuseRows.
const (
	ToRestore = "restore into an empty store, or say --replace"
	ToMove    = "move into a store that is empty or new"
)

// RefuseRows fails if a store, or rather its tables, hold more rows than those of one that was just migrated, and says what to do instead.
func RefuseRows(name string, holds, fresh map[string]int64, instead string) error {
	for _, table := range slices.Concat([]string{"companies"}, slices.Sorted(maps.Keys(holds))) {
		if table != SchemaVersions && holds[table] > fresh[table] {
			one, many := "row of "+table, "rows of "+table
			if table == "companies" {
				one, many = "company", table
			}
			if holds[table] == 1 {
				many = one
			}
			return fmt.Errorf("%s holds %d %s; %s", name, holds[table], many, instead)
		}
	}
	return nil
}
