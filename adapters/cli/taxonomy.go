package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

func (a leadCommands) taxonomy() *cobra.Command {
	command := &cobra.Command{
		Use:   "taxonomy",
		Short: "Import and list industries, verticals and geographies",
		Long: "Import the taxonomy: industries, verticals, geographies and what is known of verticals. These commands work directly\n" +
			"on the store, so they need no token; the server may be running, and shows what is imported at once.",
	}
	command.AddCommand(a.listTaxonomy(), a.importTaxonomy())
	return command
}

func (a leadCommands) listTaxonomy() *cobra.Command {
	command := &cobra.Command{
		Use:     "list",
		Short:   "List the industries and verticals that are active",
		Long:    "List the industries and verticals that are active, as partners see them, each vertical under its industry.",
		Example: "  holdco taxonomy list",
		Args:    noArgs,
		RunE: on(a.app, a.Export, func(command *cobra.Command, port inbound.Export, _ []string) error {
			taxonomy, err := port.Taxonomy(command.Context(), lead.View{})
			if err != nil {
				return err
			}
			rows := [][]string{{"ID", "NAME", "SLUG"}}
			for _, industry := range taxonomy.Industries {
				rows = append(rows, []string{string(industry.ID), industry.Name, industry.Slug})
				for _, vertical := range taxonomy.Verticals {
					if vertical.Industry == industry.ID {
						rows = append(rows, []string{"  " + string(vertical.ID), vertical.Name, vertical.Slug})
					}
				}
			}
			return printTable(command.OutOrStdout(), rows)
		}),
	}
	a.program.StoreFlags(command.Flags())
	return command
}

func (a leadCommands) importTaxonomy() *cobra.Command {
	var dryRun, asJSON bool
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Import the taxonomy from a file, or from standard input when FILE is -",
		Long: "Import the taxonomy from a file, or from standard input when FILE is \"-\": one JSON object with the lists industries,\n" +
			"verticals, geographies and vertical_intelligence. What has an id that is there already is replaced if it differs,\n" +
			"and nothing is removed: what is not used any more gets \"active\": false. All of the file is imported, or nothing.",
		Example: "  holdco taxonomy import taxonomy.json\n  holdco taxonomy import taxonomy.json --dry-run --json",
		Args:    oneFile,
		PreRunE: func(_ *cobra.Command, args []string) error { return a.mustExist(args[0]) },
		RunE: on(a.app, a.Imports, func(command *cobra.Command, port inbound.Imports, args []string) error {
			file, err := openInput(args[0], command.InOrStdin())
			if err != nil {
				return err
			}
			defer file.close()
			draft, err := a.Files("").Taxonomy(file)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			change, err := port.Taxonomy(command.Context(), a.caller, draft, dryRun)
			switch refused := fault.Of(err); {
			case refused != nil && refused.Code == fault.ValidationFailed:
				return faulty(args[0], refused.Fields)
			case err != nil:
				return err
			}
			if asJSON {
				return printJSON(command.OutOrStdout(), event.Fields{
					event.F("inserted", change.Inserted), event.F("updated", change.Updated), event.F("unchanged", change.Unchanged),
					event.F("dryRun", dryRun),
				})
			}
			return printTable(command.OutOrStdout(), [][]string{
				{"inserted", fmt.Sprint(change.Inserted)},
				{"updated", fmt.Sprint(change.Updated)},
				{"unchanged", fmt.Sprint(change.Unchanged)},
			})
		}),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	command.Flags().BoolVar(&dryRun, "dry-run", false, "only check: nothing is kept")
	jsonFlag(command.Flags(), &asJSON)
	a.program.StoreFlags(command.Flags())
	return command
}

// faulty reports what is wrong with a file. It is no wrong usage of the command.
func faulty(path string, fields []fault.Field) error {
	const most = 20
	lines := []string{path + " is invalid; nothing was imported"}
	for _, field := range fields[:min(len(fields), most)] {
		lines = append(lines, printable(field.Message))
	}
	return errors.New(strings.Join(lines, "\n"))
}
