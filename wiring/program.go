package wiring

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"holdco/adapters/cli"
	"holdco/adapters/system"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Program is what the command line runs on.
func Program(version cli.Version) cli.Program {
	return cli.Program{
		Version:    version,
		Clock:      system.Clock{},
		Flags:      Flags,
		StoreFlags: StoreFlags,
		Serve: func(ctx context.Context, flags *pflag.FlagSet, stdout, stderr io.Writer, migrate bool) error {
			return serve(ctx, flags, version, stdout, stderr, migrate)
		},
		Tokens:   openTokens,
		Migrator: openMigrator,
	}
}

func serve(ctx context.Context, flags *pflag.FlagSet, version cli.Version, stdout, stderr io.Writer, migrate bool) error {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return err
	}
	server, done, err := NewServer(ctx, config, system.Clock{}, log, version)
	if err != nil {
		return err
	}
	defer done()
	return server.Run(ctx, stdout, migrate)
}

func openTokens(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Tokens, func(), error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return nil, nil, err
	}
	command, done, err := newCommand(ctx, config, system.Clock{}, log)
	if err != nil {
		return nil, nil, err
	}
	if err := command.Store.Ready(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return command.Tokens, done, nil
}

func openMigrator(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (store.Migrator, func(), error) {
	config, log, err := configure(flags, stderr)
	if err != nil {
		return nil, nil, err
	}
	db, done, err := openForCommand(ctx, config, log)
	if err != nil {
		return nil, nil, err
	}
	return db.Migrator, done, nil
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
