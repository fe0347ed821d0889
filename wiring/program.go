package wiring

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"holdco/adapters/cli"
	"holdco/adapters/leads/importer"
	"holdco/adapters/leads/samples"
	"holdco/adapters/system"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
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
		Webhooks: openWebhooks,
		Partners: openPartners,
		Imports:  openImports,
		Migrator: openMigrator,
		Files:    importer.Files{},
		Samples:  func(leads int, seed uint64) cli.Samples { return samples.New(leads, seed) },
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
	opened, done, err := openCommand(ctx, flags, stderr, hasKey)
	return opened.Tokens, done, err
}

func openPartners(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Partners, func(), error) {
	opened, done, err := openCommand(ctx, flags, stderr, hasKey)
	return opened.Partners, done, err
}

func openImports(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Imports, func(), error) {
	opened, done, err := openCommand(ctx, flags, stderr, hasKey)
	return opened.Imports, done, err
}

// hasKey is for commands that need no key, and so go without one. With another key than the store's it may be the wrong
// store.
func hasKey(config Config) bool {
	_, err := os.Stat(config.KeyFile)
	return err == nil
}

func openWebhooks(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (inbound.Webhooks, func(), error) {
	opened, done, err := openCommand(ctx, flags, stderr, func(Config) bool { return true })
	return opened.Webhooks, done, err
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

func openMigrator(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (outbound.Migrator, func(), error) {
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
