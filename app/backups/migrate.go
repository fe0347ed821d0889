package backups

import (
	"context"
	"errors"
	"fmt"

	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Migrator migrates a store that it has backed up, and settles one that was restored without being migrated.
type Migrator struct {
	outbound.Migrator
	backups *Service
	on      store.Store
	before  Before
	report  Report
}

// Before says how a store is backed up before it is migrated.
type Before struct {
	Whether    backup.BeforeMigration
	Folder     string   // where the backup goes; empty: nowhere
	Recipients []string // it is encrypted for them; none: it is not encrypted
	Version    string   // of the program
}

// Report is told what became of a backup.
type Report struct {
	Written func(ctx context.Context, written backup.Written)
	None    func(ctx context.Context) // there is none, because no folder is set
	Settled func(ctx context.Context, after backup.Aftermath)
}

// NewMigrator returns a migrator that makes a backup before it calls another, which migrates the store.
func NewMigrator(migrator outbound.Migrator, of *Service, on store.Store, before Before, report Report) *Migrator {
	return &Migrator{Migrator: migrator, backups: of, on: on, before: before, report: report}
}

// upgrade is who makes these backups.
var upgrade = access.System("upgrade")

// Up implements outbound.Migrator. A store without a schema holds nothing to lose, and one that is not behind stays as it is.
func (m *Migrator) Up(ctx context.Context) ([]outbound.Migration, error) {
	schema, err := m.Migrator.Status(ctx)
	if err != nil {
		return nil, err
	}
	if schema.Version > 0 && len(schema.Pending()) > 0 && m.before.Whether != backup.Never {
		if err := m.backUp(ctx, schema.Version); err != nil {
			return nil, err
		}
	}
	applied, err := m.Migrator.Up(ctx)
	if err != nil {
		return applied, err
	}
	return applied, m.settle(ctx)
}

// settle does what is still to be done after a restoration.
func (m *Migrator) settle(ctx context.Context) error {
	of, isThere, err := m.on.Backups().Unsettled(ctx)
	if err != nil || !isThere {
		return err
	}
	after, err := settling{Service: m.backups, on: m.on, of: of, isMarked: true}.run(ctx)
	switch {
	case errors.Is(err, errSettled):
		return nil
	case err != nil:
		return fmt.Errorf("make the restored store ready for work: %w", err)
	}
	m.report.Settled(ctx, after)
	return nil
}

// Status implements outbound.Migrator. It says how large a backup would be too.
func (m *Migrator) Status(ctx context.Context) (outbound.Schema, error) {
	schema, err := m.Migrator.Status(ctx)
	if err == nil && schema.Version > 0 {
		schema.CopyBytes, err = m.backups.Source.Bytes(ctx)
	}
	return schema, err
}

var errNoFolder = errors.New("there is no folder for the backup before the migration; set HOLDCO_BACKUP_DIR, or leave out --backup-first")

// backUp makes a backup of a store whose schema has a version.
func (m *Migrator) backUp(ctx context.Context, version int64) error {
	if m.before.Folder == "" {
		if m.before.Whether == backup.Required {
			return errNoFolder
		}
		m.report.None(ctx)
		return nil
	}
	file := m.backups.Archives.Join(m.before.Folder, backup.NameBefore(m.before.Version, m.backups.Clock.Now()))
	written, err := m.backups.Write(ctx, upgrade, inbound.BackupWanted{
		Version: m.before.Version, File: file, Recipients: m.before.Recipients,
	})
	// Another process that migrates meanwhile has made its own backup before. PostgreSQL shows a table that was written anew as empty to
	// who began to read before, so this one may have failed, or may not be what it seems.
	if now, looking := m.Migrator.Status(ctx); looking == nil && now.Version != version {
		if err != nil {
			return nil //nolint:nilerr // nothing was kept
		}
		return m.backups.Archives.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("the store was not migrated, because it could not be backed up before: %w; "+
			"--no-backup migrates it without", err)
	}
	m.report.Written(ctx, written)
	return nil
}
