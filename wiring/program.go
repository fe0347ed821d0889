package wiring

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"holdco/adapters/archive"
	"holdco/adapters/cli"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/backups"
	"holdco/app/doctor"
	"holdco/app/export"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// Program is what the command line runs on.
func Program(version cli.Version) cli.Program {
	var commands []cli.Command
	for _, r := range resources {
		commands = append(commands, r.commands...)
	}
	return cli.Program{
		Version:    version,
		Clock:      system.Clock{},
		Flags:      Flags,
		StoreFlags: StoreFlags,
		Serve: func(ctx context.Context, flags *pflag.FlagSet, stdout, stderr io.Writer, migrate bool) error {
			return serve(ctx, flags, version, stdout, stderr, migrate)
		},
		Ready: askReady,
		Migrator: func(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (outbound.Migrator, func(), error) {
			return openMigrator(ctx, flags, version, stderr)
		},
		Commands:  commands,
		Variables: variables,
	}
}

// variables are those that are meant for Holdco, for commands which need no configuration.
func variables(stderr io.Writer) map[string]string {
	all := holdcoVariables(os.Environ())
	log := newLogger(stderr, slog.LevelInfo, "")
	for _, warning := range unknown(all) {
		log.Warn(warning)
	}
	return all
}

func serve(ctx context.Context, flags *pflag.FlagSet, version cli.Version, stdout, stderr io.Writer, migrate bool) error {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return err
	}
	if err := config.hasDataDir(); err != nil {
		return err
	}
	if err := config.hasBackupDir(); err != nil {
		return err
	}
	if migrate {
		if err := config.needsSession("to migrate at the start, unless --no-migrate is given,"); err != nil {
			return err
		}
	}
	server, done, err := NewServer(ctx, config, Clocks{Process: system.Clock{}}, log, version)
	if err != nil {
		return err
	}
	defer done()
	server.Migrator = backedUp(server.Migrator, server.Backups, server.Store, config, version, cli.BackupFirst(flags), log)
	return server.Run(ctx, stdout, migrate)
}

// opener makes an opener of a command that works with one service.
func opener[P any](needsKey func(config Config) bool, service func(s services) P) cli.Opener[P] {
	return func(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (port P, done func(), err error) {
		opened, done, err := openCommand(ctx, flags, stderr, needsKey)
		if err != nil {
			return port, nil, err
		}
		return service(opened.services), done, nil
	}
}

// openExport opens the store for commands that read leads: by its tables, because it would take longer to build an index.
func openExport(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Export, func(), error) {
	opened, done, err := openCommand(ctx, flags, stderr, withKeyIfAny)
	if err != nil {
		return nil, nil, err
	}
	return export.New(opened.Store, opened.Store.Leads(), system.Clock{}), done, nil
}

// openLogin opens the store for the command login.
func openLogin(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (cli.LoginTools, func(), error) {
	config, _, err := LoadConfig(flags, os.Environ())
	if err != nil {
		return cli.LoginTools{}, nil, cli.WrongUsage(err)
	}
	sessions, done, err := opener(withKeyIfAny, func(s services) inbound.Sessions { return s.Sessions })(ctx, flags, stderr)
	if err != nil {
		return cli.LoginTools{}, nil, err
	}
	return cli.LoginTools{Sessions: sessions, URL: reachingAddr(config.DashboardAddr)}, done, nil
}

// withKey is for commands that work with secrets.
func withKey(Config) bool { return true }

// withKeyIfAny is for commands that need no key, and so run without one. With another key than the store's it may be the
// wrong store.
func withKeyIfAny(config Config) bool {
	_, err := os.Stat(config.KeyFile)
	return err == nil
}

// openCommand opens the store for a command, and the vault when it needs that.
func openCommand(
	ctx context.Context, flags *pflag.FlagSet, stderr io.Writer, needsKey func(config Config) bool,
) (opened command, done func(), err error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return command{}, nil, err
	}
	if opened, done, err = newCommand(ctx, config, system.Clock{}, log); err != nil {
		return command{}, nil, err
	}
	err = opened.Store.Ready(ctx)
	if err == nil && needsKey(config) {
		err = unlock(ctx, opened.Store, opened.Vault)
	}
	if err != nil {
		done()
		return command{}, nil, err
	}
	return opened, done, nil
}

// openDoctor opens the store to be checked. That the settings are wrong, or the store does not open, is for a check to say.
func openDoctor(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Doctor, func(), error) {
	patient := doctor.Patient{Clock: system.Clock{}}
	config, unknown, err := LoadConfig(flags, os.Environ())
	patient.Settings = doctor.Settings{
		Unknown: unknown, DataDir: config.DataDir, BackupDir: config.BackupDir, BackupEvery: config.BackupEvery,
		Keep: config.Keep,
	}
	if err != nil {
		patient.Settings.Wrong = strings.Split(err.Error(), "\n")
		return doctor.New(patient), func() {}, nil
	}
	config.Unhurried = true
	opened, done, err := newCommand(ctx, config, system.Clock{}, newLogger(stderr, config.LogLevel, config.LogFormat))
	if ctx.Err() != nil || config.Database.SQLite == Memory {
		return nil, nil, err
	}
	if err != nil {
		patient.Closed = err
		return doctor.New(patient), func() {}, nil //nolint:nilerr // a check says it
	}
	settings := patient.Settings
	patient = opened.Patient
	patient.Settings, patient.Retention = settings, opened.Retention
	patient.Backups = backups.New(backups.Parts{Archives: archive.Archives{}})
	return doctor.New(patient), done, nil
}

func openMigrator(
	ctx context.Context, flags *pflag.FlagSet, version cli.Version, stderr io.Writer,
) (outbound.Migrator, func(), error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return nil, nil, err
	}
	db, done, err := openToMigrate(ctx, config, log)
	if err != nil {
		return nil, nil, err
	}
	clock, ids := system.Clock{}, system.IDs{}
	backups := newServerBackups(config, db.Source, clock)
	on := sqlstore.New(db.Engine, clock, ids, db.Migrator)
	return backedUp(db.Migrator, backups, on, config, version, cli.BackupFirst(flags), log), done, nil
}

// configure reads the configuration and opens the log. What is wrong with the configuration is wrong usage.
func configure(flags *pflag.FlagSet, stderr io.Writer) (Config, *slog.Logger, error) {
	config, warnings, err := LoadConfig(flags, os.Environ())
	if err != nil {
		return Config{}, nil, cli.WrongUsage(err)
	}
	log := newLogger(stderr, config.LogLevel, config.LogFormat)
	for _, warning := range warnings {
		log.Warn(warning)
	}
	return config, log, nil
}
