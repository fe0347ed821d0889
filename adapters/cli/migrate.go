package cli

import (
	"fmt"

	"github.com/spf13/cobra"

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
	command.AddCommand(
		&cobra.Command{
			Use:     "up",
			Short:   "Apply the migrations that are pending",
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
		},
		&cobra.Command{
			Use:     "status",
			Short:   "List all migrations and when they were applied",
			Example: "  holdco migrate status\n  holdco migrate status --json",
			Args:    noArgs,
			RunE: on(a, a.program.Migrator, func(command *cobra.Command, migrator outbound.Migrator, _ []string) error {
				all, err := migrator.Status(command.Context())
				if err != nil {
					return err
				}
				return printMigrations(command, all, asJSON)
			}),
		},
	)
	jsonFlag(command.PersistentFlags(), &asJSON)
	a.program.StoreFlags(command.PersistentFlags())
	return command
}

func printMigrations(command *cobra.Command, migrations []outbound.Migration, asJSON bool) error {
	if asJSON {
		objects := make([]event.Fields, len(migrations))
		for i, m := range migrations {
			objects[i] = event.Fields{
				event.F("version", m.Version), event.F("name", m.Name), event.F("appliedAt", instant.Optional(m.AppliedAt)),
			}
		}
		return printJSON(command.OutOrStdout(), objects)
	}
	rows := [][]string{{"MIGRATION", "APPLIED"}}
	for _, m := range migrations {
		rows = append(rows, []string{m.Name, shown(m.AppliedAt, "pending")})
	}
	return printTable(command.OutOrStdout(), rows)
}
