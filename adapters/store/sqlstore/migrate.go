package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"holdco/ports/outbound"
)

// Migrator implements outbound.Migrator: it applies an engine's migrations with goose.
type Migrator struct {
	// open makes a provider for one call. A provider that once failed to create its table of versions does not retry.
	open     func() (*goose.Provider, error)
	db       *sql.DB
	versions database.Store     // reads the table of versions; a provider would make it if it is missing, also when it only looks
	rewrites map[int64][]string // by version
	hasTable string             // see NewMigrator
	refuses  error              // to migrate; nil: it does not
}

var _ outbound.Migrator = (*Migrator)(nil)

// NewMigrator makes a migrator of the *.sql files at the root of files, for a database that can be written to. HasTable begins a query that
// counts the tables of a name, which follows as a literal.
func NewMigrator(
	db *sql.DB, dialect goose.Dialect, hasTable string, files fs.FS, options ...goose.ProviderOption,
) (*Migrator, error) {
	options = append(options, goose.WithDisableGlobalRegistry(true))
	open := func() (*goose.Provider, error) { return goose.NewProvider(dialect, db, files, options...) }
	if _, err := open(); err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	rewrites, err := rewritesOf(files)
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	versions, err := database.NewStore(dialect, SchemaVersions)
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return &Migrator{open: open, db: db, versions: versions, rewrites: rewrites, hasTable: hasTable}, nil
}

// A table whose rows a migration may all change: it is copied into one that takes its place, its rows are updated, or a column gets
// another type.
var rewriting = regexp.MustCompile(`(?m)^(?:ALTER TABLE \w+ RENAME TO (\w+)|UPDATE (\w+)|ALTER TABLE (\w+) ALTER COLUMN \w+ TYPE)`)

func rewritesOf(files fs.FS) (map[int64][]string, error) {
	names, err := fs.Glob(files, "*.sql")
	rewrites := map[int64][]string{}
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		rewrites[version] = []string{}
		for _, found := range rewriting.FindAllStringSubmatch(string(text), -1) {
			if table := cmp.Or(found[1], found[2], found[3]); table != "schema_compatibility" { // it has one row
				rewrites[version] = append(rewrites[version], table)
			}
		}
		slices.Sort(rewrites[version])
		rewrites[version] = slices.Compact(rewrites[version])
	}
	return rewrites, err
}

// Refusing returns a migrator that only looks: Up fails with an error.
func (m *Migrator) Refusing(err error) *Migrator {
	refusing := *m
	refusing.refuses = err
	return &refusing
}

// Up implements outbound.Migrator.
func (m *Migrator) Up(ctx context.Context) ([]outbound.Migration, error) {
	if m.refuses != nil {
		return nil, m.refuses
	}
	provider, looked, err := m.look(ctx)
	if err != nil {
		return nil, err
	}
	applied, err := provider.Up(ctx)
	var refused answer
	if looked.version == 0 && errors.As(err, &refused) && refused.SQLState() == noTable {
		err = withoutSchema(refused) // where there is none, goose looks for the table of versions in those that others use
	}
	if err != nil {
		return nil, fmt.Errorf("migrate the schema: %w", ExplainRights(err))
	}
	now, err := m.Status(ctx)
	return slices.DeleteFunc(now.Migrations, func(one outbound.Migration) bool {
		return !slices.ContainsFunc(applied, func(now *goose.MigrationResult) bool { return now.Source.Version == one.Version })
	}), err
}

// Status implements outbound.Migrator.
func (m *Migrator) Status(ctx context.Context) (found outbound.Schema, err error) {
	provider, looked, err := m.look(ctx)
	if err != nil {
		return found, err
	}
	found.Version = looked.version
	if found.CompatibleFrom, err = m.compatibleFrom(ctx, looked.version); err != nil {
		return found, err
	}
	err = m.settled(ctx, looked.version)
	if found.Unsettled = errors.Is(err, errUnsettled); err != nil && !found.Unsettled {
		return found, fmt.Errorf("read whether the store was restored: %w", err)
	}
	for _, source := range provider.ListSources() {
		one := outbound.Migration{Version: source.Version, Name: path.Base(source.Path), Rewrites: m.rewrites[source.Version]}
		if looked.version > 0 {
			applied, err := m.versions.GetMigration(ctx, m.db, source.Version)
			switch {
			case err == nil:
				one.AppliedAt = applied.Timestamp.UTC()
			case !errors.Is(err, database.ErrVersionNotFound):
				return found, fmt.Errorf("read the state of the schema: %w", ExplainRights(err))
			}
		}
		found.Migrations = append(found.Migrations, one)
	}
	return found, nil
}

var errPending = errors.New("the schema of the store is older than this program needs; run \"holdco migrate up\"")

var errUnsettled = errors.New("the store was restored, and is not ready for work yet; run \"holdco migrate up\"")

// current fails unless this program can work with the schema, and the store is ready for work.
func (m *Migrator) current(ctx context.Context) error {
	_, looked, err := m.look(ctx)
	if err == nil && looked.version < looked.latest {
		return errPending
	}
	if err != nil {
		return err
	}
	return m.settled(ctx, looked.version)
}

// saysUnsettled is the version of the migration that makes RestorationTable, which a restoration can have made before.
const saysUnsettled = 48

// settled fails while the store was restored and not settled.
func (m *Migrator) settled(ctx context.Context, version int64) error {
	if version < saysUnsettled {
		if count, err := ReadNumber(ctx, m.db, m.hasTable+"'"+RestorationTable+"'"); err != nil || count == 0 {
			return err
		}
	}
	unsettled, err := ReadNumber(ctx, m.db, "SELECT count(*) FROM "+RestorationTable)
	if err == nil && unsettled > 0 {
		return errUnsettled
	}
	return err
}

// versions are that of a schema, and the latest that this program knows.
type versions struct{ version, latest int64 }

// look opens a provider. It fails if the schema is newer than this program can work with.
func (m *Migrator) look(ctx context.Context) (provider *goose.Provider, looked versions, err error) {
	if provider, err = m.open(); err != nil {
		return nil, looked, fmt.Errorf("read the migrations: %w", err)
	}
	sources := provider.ListSources()
	looked.latest = sources[len(sources)-1].Version
	if looked.version, err = m.version(ctx); err != nil {
		return nil, looked, fmt.Errorf("read the version of the schema: %w", ExplainRights(err))
	}
	if looked.version > looked.latest {
		from, err := m.compatibleFrom(ctx, looked.version)
		if err != nil {
			return nil, looked, err
		}
		if from == 0 || from > looked.latest {
			return nil, looked, ErrNewer(looked.version, looked.latest)
		}
	}
	return provider, looked, nil
}

// version returns the version of the schema, and changes nothing; 0: there is none yet.
func (m *Migrator) version(ctx context.Context) (int64, error) {
	if count, err := ReadNumber(ctx, m.db, m.hasTable+"'"+SchemaVersions+"'"); err != nil || count == 0 {
		return 0, err
	}
	version, err := m.versions.GetLatestVersion(ctx, m.db)
	if errors.Is(err, database.ErrVersionNotFound) {
		return 0, nil
	}
	return version, err
}

// saysCompatible is the version of the migration from which on a schema says with which programs it works.
const saysCompatible = 39

// Exact fails unless the schema is that of this program: with a newer one, too, which it can work with but does not know all of.
func (m *Migrator) Exact(ctx context.Context) error {
	_, looked, err := m.look(ctx)
	switch {
	case err != nil:
		return err
	case looked.version < looked.latest:
		return errPending
	case looked.version > looked.latest:
		return ErrNewer(looked.version, looked.latest)
	}
	return m.settled(ctx, looked.version)
}

// compatibleFrom returns the version that a program has to know to work with a schema of another; 0: it does not say.
func (m *Migrator) compatibleFrom(ctx context.Context, version int64) (from int64, err error) {
	if version < saysCompatible {
		return 0, nil
	}
	err = m.db.QueryRowContext(ctx, "SELECT compatible_from FROM schema_compatibility").Scan(&from)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read with which programs the schema works: %w", err)
	}
	return from, nil
}
