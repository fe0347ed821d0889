package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/backup"
	"holdco/domain/event"
	"holdco/domain/instant"
	"holdco/ports/outbound"
)

func (a *app) migrate() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store's schema up to date, or look at it",
		Long: "Bring the schema of the store to what this program needs, or look at it. \"holdco serve\" does the same when it\n" +
			"starts. Migrations go forward only; each runs in a transaction of its own.",
	}
	up := &cobra.Command{
		Use:   "up",
		Short: "Apply the migrations that are pending",
		Long: "Apply the migrations that are pending. A store that is not new is backed up before, into HOLDCO_BACKUP_DIR or beside\n" +
			"the file of SQLite.",
		Example: "  holdco migrate up --database-url postgres://holdco:secret@localhost/holdco",
		Args:    noArgs,
		RunE: on(a, a.program.Migrator, func(command *cobra.Command, migrator outbound.Migrator, _ []string) error {
			applied, err := migrator.Up(command.Context())
			if err != nil {
				return err
			}
			if len(applied) == 0 && !asJSON {
				_, err = fmt.Fprintln(command.OutOrStdout(), "The schema is up to date.")
				return err
			}
			return printMigrations(command, applied, asJSON)
		}),
	}
	backupFirstFlags(up)
	command.AddCommand(
		up,
		&cobra.Command{
			Use:   "status",
			Short: "List all migrations and when they were applied",
			Long: "List all migrations and when they were applied. With --json: the version of the schema, from which one on programs\n" +
				"can work with it, how many migrations are pending, about how large a backup would be before it is compressed, and of\n" +
				"each migration which tables it may write anew, which takes long where they are large.",
			Example: "  holdco migrate status\n  holdco migrate status --json",
			Args:    noArgs,
			RunE: on(a, a.program.Migrator, func(command *cobra.Command, migrator outbound.Migrator, _ []string) error {
				schema, err := migrator.Status(command.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(command.OutOrStdout(), event.Fields{
						event.F("version", schema.Version), event.F("compatibleFrom", schema.CompatibleFrom),
						event.F("newestKnown", schema.Newest()), event.F("unsettled", schema.Unsettled),
						event.F("pending", len(schema.Pending())), event.F("copyBytes", schema.CopyBytes),
						event.F("migrations", migrationFields(schema.Migrations)),
					})
				}
				if err := printMigrations(command, schema.Migrations, false); err != nil {
					return err
				}
				return sayState(command.OutOrStdout(), schema)
			}),
		},
	)
	jsonFlag(command.PersistentFlags(), &asJSON)
	a.program.StoreFlags(command.PersistentFlags())
	return command
}

// sayState says what the list of migrations does not.
func sayState(out io.Writer, schema outbound.Schema) (err error) {
	if newest := schema.Newest(); schema.Version > newest {
		_, err = fmt.Fprintf(out, "The schema has version %d, which is newer than this program, which knows versions up to %d; it can "+
			"work with the schema, as all programs from version %d on.\n", schema.Version, newest, schema.CompatibleFrom)
	}
	if schema.Unsettled && err == nil {
		_, err = fmt.Fprintln(out, `The store was restored, and is not ready for work yet; run "holdco migrate up".`)
	}
	return err
}

const noMigration, noBackup, backupFirst = "no-migrate", "no-backup", "backup-first"

// backupFirstFlags adds the flags that BackupFirst reads.
func backupFirstFlags(command *cobra.Command) {
	command.Flags().Bool(noBackup, false, "migrate a store without a backup of it")
	command.Flags().Bool(backupFirst, false, "refuse to migrate a store that cannot be backed up because no folder is set")
	command.MarkFlagsMutuallyExclusive(noBackup, backupFirst)
}

// BackupFirst says whether a store is backed up before it is migrated, by the flags of the command that does.
func BackupFirst(flags *pflag.FlagSet) backup.BeforeMigration {
	if is, err := flags.GetBool(noBackup); err == nil && is {
		return backup.Never
	}
	if is, err := flags.GetBool(backupFirst); err == nil && is {
		return backup.Required
	}
	return backup.IfPossible
}

func printMigrations(command *cobra.Command, migrations []outbound.Migration, asJSON bool) error {
	if asJSON {
		return printJSON(command.OutOrStdout(), migrationFields(migrations))
	}
	rows := [][]string{{"MIGRATION", "APPLIED"}}
	for _, m := range migrations {
		rows = append(rows, []string{m.Name, shown(m.AppliedAt, "pending")})
	}
	return printTable(command.OutOrStdout(), rows)
}

func migrationFields(migrations []outbound.Migration) []event.Fields {
	objects := make([]event.Fields, len(migrations))
	for i, m := range migrations {
		objects[i] = event.Fields{
			event.F("version", m.Version), event.F("name", m.Name), event.F("appliedAt", instant.Optional(m.AppliedAt)),
			event.F("rewrites", m.Rewrites),
		}
	}
	return objects
}
