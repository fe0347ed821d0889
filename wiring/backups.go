package wiring

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/spf13/pflag"

	"holdco/adapters/archive"
	"holdco/adapters/cli"
	"holdco/adapters/store/postgres"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/system"
	"holdco/adapters/system/vault"
	"holdco/adapters/system/workspaces"
	"holdco/adapters/telemetry/metrics"
	"holdco/app/backups"
	"holdco/app/doctor"
	"holdco/domain/backup"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// openBackups opens the store for the command backup.
func openBackups(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Backups, func(), error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return nil, nil, err
	}
	return openCopies(ctx, config, log, false)
}

// openRestore opens what there is of the store for the command restore.
func openRestore(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Backups, func(), error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return nil, nil, err
	}
	return openCopies(ctx, config, log, true)
}

// openCopies opens the store for what copies it as a whole, whatever its schema is. One on SQLite may be missing.
func openCopies(ctx context.Context, config Config, log *slog.Logger, restores bool) (inbound.Backups, func(), error) {
	if config.Database.SQLite == Memory {
		return nil, nil, errInMemory
	}
	clock, ids := system.Clock{}, system.IDs{}
	parts := newCopies(config, clock)
	if config.Database.Postgres == "" {
		target, err := sqlite.NewTarget(config.Database.SQLite, clock, ids)
		parts.Target = target
		return backups.New(parts), func() {}, err
	}
	options := postgresOptions(ctx, config, log)
	if restores {
		if err := config.needsSession("to restore"); err != nil {
			return nil, nil, err
		}
		options.Restores = true
		if options.Pooled {
			options.URL, options.Pooled, options.DirectURL = options.DirectURL, false, ""
		}
	}
	engine, err := postgres.Open(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	parts.Source = engine.Source()
	parts.Target, err = engine.Target(options, clock, ids)
	return backups.New(parts), closing(engine, log), err
}

// newServerBackups are the use cases of a server: it restores nothing.
func newServerBackups(config Config, source store.Source, clock outbound.Clock) *backups.Service {
	parts := newCopies(config, clock)
	parts.Source = source
	return backups.New(parts)
}

func newSchedule(
	of services, s store.Store, config Config, version cli.Version, tel telemetry, log outbound.Log,
) *backups.Schedule {
	made := backups.NewSchedule(of.Backups, s, backups.Settings{
		Folder: config.BackupDir, Every: config.BackupEvery, Keep: config.BackupKeep, Recipients: config.BackupRecipients,
		Version: version.Number,
	}, log)
	period := config.BackupEvery
	if config.BackupDir == "" {
		period = 0
	}
	tel.metrics.Add(metrics.Backups(made.State, made.Failures, period))
	return made
}

// backedUp has a store backed up before it is migrated. One in memory ends with its process, and so is never behind.
func backedUp(
	migrator outbound.Migrator, of *backups.Service, on store.Store, config Config, version cli.Version, whether backup.BeforeMigration,
	log *slog.Logger,
) *backups.Migrator {
	before := backups.Before{
		Whether: whether, Folder: config.BackupDir, Recipients: config.BackupRecipients, Version: version.Number,
	}
	if before.Folder == "" && config.Database.Postgres == "" {
		before.Folder = filepath.Dir(config.Database.SQLite)
	}
	return backups.NewMigrator(migrator, of, on, before, backups.Report{
		Written: func(ctx context.Context, written backup.Written) {
			log.InfoContext(ctx, "backed up before the migration", "file", written.File, "bytes", written.Size)
		},
		None: func(ctx context.Context) {
			log.WarnContext(ctx, "the store is migrated without a backup of it, because HOLDCO_BACKUP_DIR is not set")
		},
		Settled: func(ctx context.Context, after backup.Aftermath) {
			log.InfoContext(ctx, "made ready for work after a restoration", "leasesEnded", after.Leases, "webhooksHeld", after.Webhooks)
		},
	})
}

// newCopies are the parts of what copies the store, with the source of one on SQLite.
func newCopies(config Config, clock outbound.Clock) backups.Parts {
	parts := backups.Parts{
		Engine: backup.Postgres, Archives: archive.Archives{}, Spaces: workspaces.NewCopies(config.DataDir),
		Vault: vault.New(config.KeyFile),
		IDs:   system.IDs{}, Clock: clock,
		Doctor: func(of store.Restored) inbound.Doctor {
			return doctor.New(doctor.Patient{Clock: clock, Store: of.Store, Inspector: of.Inspector, Migrator: of.Migrator})
		},
		Checks: doctor.OfStore(),
	}
	if config.Database.Postgres == "" {
		parts.Engine, parts.Source = backup.SQLite, sqlite.NewSource(config.Database.SQLite)
	}
	return parts
}

// errInMemory refuses commands on a store that they cannot share.
var errInMemory = cli.WrongUsage(errors.New("HOLDCO_DATABASE_URL is sqlite::memory:, which ends with its process; " +
	"name a store that a command can share with the server"))
