package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// suppress is the command that keeps imports from bringing back what a file describes.
func (a leadCommands) suppress() *cobra.Command {
	var format, region, encoding string
	var asJSON bool
	command := &cobra.Command{
		Use:   "suppress FILE",
		Short: "Keep imports from bringing back the leads of a file",
		Long: "Keep imports from bringing back the leads of a file, in the form of \"holdco leads import\"; - is standard input. A line\n" +
			"needs an id, or a website, an email or a phone; with a name these suppress only leads of that name, and without one a\n" +
			"website with a path suppresses only that page. A name alone is refused. However these are spelled, they suppress the same:\n" +
			"LEADS.md says what makes no difference. Keyed hashes of them are kept, and nothing else. Unless\n" +
			"all lines are valid nothing is done. Leads that are there stay until \"holdco leads rm\".",
		Example: "  holdco leads suppress objections.csv --region DE",
		Args:    oneFile,
		RunE: on(a.app, a.Keyed, func(command *cobra.Command, port inbound.Imports, args []string) error {
			rules := lead.Rules{}
			var isRegion bool
			if rules.Region, isRegion = lead.ParseRegion(region); !isRegion {
				return WrongUsage(fmt.Errorf("--region must be a country by its two letters, such as DE; it is %q", region))
			}
			if err := errors.Join(checkFormat(format), checkEncoding(encoding)); err != nil {
				return WrongUsage(err)
			}
			if format == "" {
				var err error
				if format, err = formatOf(args[0]); err != nil {
					return WrongUsage(err)
				}
			}
			file, err := openInput(args[0], command.InOrStdin())
			if err != nil {
				return err
			}
			defer file.close()
			if err := file.makeSeekable(command.Context()); err != nil {
				return err
			}
			var wrong []string
			lines := rewound(file, a.Files(encoding).Suppressed(file, format))
			count, err := port.Suppress(command.Context(), a.caller, lines, inbound.ImportOptions{
				Rules: rules,
				Report: func(line lead.ReportedLine) error {
					const shown = 5
					if len(wrong) < shown {
						wrong = append(wrong, line.Place()+": "+printable(line.Problems[0].Message))
					}
					return nil
				},
			})
			switch {
			case command.Context().Err() != nil:
				return fmt.Errorf("interrupted; %s, and the same command continues after that",
					counted(count.Suppressed, "suppression was added", "suppressions were added"))
			case err != nil:
				return err
			case count.Rejected > 0:
				invalid := fmt.Sprintf("%d of %s invalid; nothing was suppressed", count.Rejected,
					counted(count.Read, "line is", "lines are"))
				return errors.New(strings.Join(append([]string{invalid}, wrong...), "\n"))
			case asJSON:
				return printJSON(command.OutOrStdout(), event.Fields{
					event.F("suppressed", count.Suppressed), event.F("unchanged", count.Unchanged),
				})
			}
			said := fmt.Sprintf("Imports will not bring back the leads that %s.",
				counted(count.Suppressed, "line describes", "lines describe"))
			if same := int64(count.Unchanged); same > 0 {
				said += fmt.Sprintf(" What %s was suppressed already.", counted(same, "other line describes", "other lines describe"))
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), said)
			return err
		}),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	command.Flags().StringVar(&format, "format", "", "ndjson, csv or json (default by the name of FILE; of standard input ndjson)")
	encodingFlag(command.Flags(), &encoding)
	command.Flags().StringVar(&region, "region", "", "the country, such as DE, of telephone numbers without a country code")
	jsonFlag(command.Flags(), &asJSON)
	a.program.StoreFlags(command.Flags())
	return command
}

// suppressed are the commands on what keeps imports from bringing back leads.
func (a leadCommands) suppressed() *cobra.Command {
	group := &cobra.Command{
		Use:   "suppressed",
		Short: "List and release leads that imports must not bring back",
		Long:  "List and release leads that imports must not bring back. Of these nothing is kept but keyed hashes.",
	}
	var asJSON bool
	list := &cobra.Command{
		Use:     "list",
		Short:   "List what keeps imports from bringing back leads",
		Long:    "List what keeps imports from bringing back leads: when it was made, and how many hashes it has.",
		Example: "  holdco leads suppressed list",
		Args:    noArgs,
		RunE: on(a.app, a.Imports, func(command *cobra.Command, port inbound.Imports, _ []string) error {
			all, err := port.Suppressed(command.Context(), a.caller)
			if err != nil {
				return err
			}
			shown, table := make([]event.Fields, len(all)), make([][]string, len(all))
			for i, one := range all {
				shown[i] = one.Fields()
				table[i] = []string{string(one.ID), fmt.Sprint(shown[i][2].Value), counted(int64(len(one.Digests)), "hash", "hashes")}
			}
			if asJSON {
				return printJSON(command.OutOrStdout(), shown)
			}
			return printTable(command.OutOrStdout(), table)
		}),
	}
	jsonFlag(list.Flags(), &asJSON)
	remove := &cobra.Command{
		Use:     "rm ID...",
		Short:   "Let imports bring back leads again",
		Long:    "Let imports bring back leads again, by the ids of \"holdco leads suppressed list\" or by those of the leads.",
		Example: "  holdco leads suppressed rm cmp_01jqvb2k3e8m0t9c5x7a4n6p1r",
		Args:    cobra.MinimumNArgs(1),
		RunE: on(a.app, a.Keyed, func(command *cobra.Command, port inbound.Imports, args []string) error {
			var which []id.Suppression
			var of []id.Lead
			for _, arg := range args {
				one, isSuppression := id.Parse[id.Suppression](arg)
				known, isLead := id.ParseForeign[id.Lead](arg)
				switch {
				case isSuppression:
					which = append(which, one)
				case isLead:
					of = append(of, known)
				default:
					return WrongUsage(fmt.Errorf("%q is neither the id of a suppression (sup_...) nor that of a lead (cmp_...)", arg))
				}
			}
			released, err := port.Release(command.Context(), a.caller, which, of)
			if err != nil {
				return err
			}
			if released == 0 {
				return errors.New("none of these is suppressed")
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "%s; imports may bring them back.\n",
				counted(int64(released), "suppression is gone", "suppressions are gone"))
			return err
		}),
	}
	group.AddCommand(list, remove)
	a.program.StoreFlags(group.PersistentFlags())
	return group
}
