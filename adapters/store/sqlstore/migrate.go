package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/pressly/goose/v3"

	"holdco/ports/outbound"
)

// Migrator implements outbound.Migrator: it applies an engine's migrations with goose.
type Migrator struct {
	// open makes a provider for one call. A provider that once failed to create its table of versions does not retry.
	open func() (*goose.Provider, error)

	refuses error // to migrate; nil: it does not
}

var _ outbound.Migrator = (*Migrator)(nil)

// NewMigrator makes a migrator of the *.sql files at the root of files, for a database that can be written to.
func NewMigrator(db *sql.DB, dialect goose.Dialect, files fs.FS, options ...goose.ProviderOption) (*Migrator, error) {
	options = append(options, goose.WithDisableGlobalRegistry(true))
	open := func() (*goose.Provider, error) { return goose.NewProvider(dialect, db, files, options...) }
	if _, err := open(); err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return &Migrator{open: open}, nil
}

// Refusing returns a migrator that only looks: Up fails with an error.
func (m *Migrator) Refusing(err error) *Migrator { return &Migrator{open: m.open, refuses: err} }

// Up implements outbound.Migrator.
func (m *Migrator) Up(ctx context.Context) ([]outbound.Migration, error) {
	if m.refuses != nil {
		return nil, m.refuses
	}
	provider, _, err := m.look(ctx)
	if err != nil {
		return nil, err
	}
	applied, err := provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate the schema: %w", err)
	}
	all, err := m.Status(ctx)
	return slices.DeleteFunc(all, func(one outbound.Migration) bool {
		return !slices.ContainsFunc(applied, func(now *goose.MigrationResult) bool { return now.Source.Version == one.Version })
	}), err
}

// Status implements outbound.Migrator.
func (m *Migrator) Status(ctx context.Context) ([]outbound.Migration, error) {
	provider, _, err := m.look(ctx)
	if err != nil {
		return nil, err
	}
	statuses, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state of the schema: %w", err)
	}
	migrations := make([]outbound.Migration, len(statuses))
	for i, status := range statuses {
		migrations[i] = outbound.Migration{Version: status.Source.Version, Name: path.Base(status.Source.Path)}
		if status.State == goose.StateApplied {
			migrations[i].AppliedAt = status.AppliedAt.UTC()
		}
	}
	return migrations, nil
}

var errPending = errors.New("the schema of the store is older than this program needs; run \"holdco migrate up\"")

// current fails unless the schema is exactly the one that this program needs.
func (m *Migrator) current(ctx context.Context) error {
	_, pending, err := m.look(ctx)
	if err == nil && pending {
		return errPending
	}
	return err
}

// look opens a provider and reports whether migrations are pending. It fails if the schema is newer than this program.
func (m *Migrator) look(ctx context.Context) (provider *goose.Provider, pending bool, err error) {
	if provider, err = m.open(); err != nil {
		return nil, false, fmt.Errorf("read the migrations: %w", err)
	}
	version, latest, err := provider.GetVersions(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read the version of the schema: %w", err)
	}
	if version > latest {
		return nil, false, ErrNewer(version, latest)
	}
	return provider, version < latest, nil
}
