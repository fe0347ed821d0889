package cli

import "github.com/spf13/cobra"

func (a *app) serve() *cobra.Command {
	var noMigrate bool
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server until it gets SIGTERM or SIGINT. It migrates its store first, and makes a backup before that. The\n" +
			"first start of a new store prints an admin token, once.\n\n" +
			"Each setting is a flag, a variable of the environment, or a key of the file that --config names, in this order;\n" +
			"the key is the variable's name without HOLDCO_, in lower case.",
		Example: "  holdco serve\n" +
			"  holdco serve --api-addr :3100 --data-dir /var/lib/holdco\n" +
			"  HOLDCO_DATABASE_URL=postgres://holdco:secret@localhost/holdco holdco serve\n" +
			"  holdco serve --config /etc/holdco.yaml",
		Args: noArgs,
		RunE: a.run(func(command *cobra.Command, _ []string) error {
			return a.program.Serve(command.Context(), command.Flags(), command.OutOrStdout(), command.ErrOrStderr(), !noMigrate)
		}),
	}
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&noMigrate, noMigration, false, "refuse a store that needs migrations, instead of migrating it")
	backupFirstFlags(command)
	command.MarkFlagsMutuallyExclusive(noMigration, noBackup)
	command.MarkFlagsMutuallyExclusive(noMigration, backupFirst)
	a.program.Flags(command.Flags())
	return command
}
