package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// leadFlags are the filters of leads, as flags.
type leadFlags struct {
	set                                      *pflag.FlagSet
	campaigns, industries, verticals, levels []string
	domain, email                            string
}

func (f *leadFlags) add(flags *pflag.FlagSet) {
	f.set = flags
	flags.StringSliceVar(&f.campaigns, "campaign", nil, "only leads of these campaigns, by their `IDS`")
	flags.StringSliceVar(&f.industries, "industry", nil, "only leads of these industries, by their `IDS`")
	flags.StringSliceVar(&f.verticals, "vertical", nil, "only leads of these verticals, by their `IDS`")
	flags.StringSliceVar(&f.levels, "enrichment-level", nil, "only leads of these `LEVELS`: none, basic, standard, deep")
	flags.StringVar(&f.domain, "domain", "", "only leads whose website has this `DOMAIN`")
	flags.StringVar(&f.email, "email", "", "only leads with this e-mail `ADDRESS` of their own")
}

// filter returns the filter. What is wrong with a flag is wrong usage, and so is one without a value: a script whose variable is not set
// must not get all leads.
func (f *leadFlags) filter() (lead.Filter, error) {
	var filter lead.Filter
	var wrong [6]error
	filter.Campaigns, wrong[0] = filterList(f.set, "campaign", f.campaigns, mustBeIDs[id.Campaign](), id.ParseForeign[id.Campaign])
	filter.Industries, wrong[1] = filterList(f.set, "industry", f.industries, mustBeIDs[id.Industry](), id.ParseForeign[id.Industry])
	filter.Verticals, wrong[2] = filterList(f.set, "vertical", f.verticals, mustBeIDs[id.Vertical](), id.ParseForeign[id.Vertical])
	filter.Enrichments, wrong[3] = filterList(f.set, "enrichment-level", f.levels, lead.MustBeEnrichments, lead.ParseEnrichment)
	filter.Domain, wrong[4] = filterValue(f.set, "domain", f.domain, lead.MustBeDomain, lead.ParseDomain)
	filter.Email, wrong[5] = filterValue(f.set, "email", f.email, lead.MustBeEmail, lead.ParseEmail)
	if err := errors.Join(wrong[:]...); err != nil {
		return lead.Filter{}, err
	}
	return filter, nil
}

// filterValue parses the value of a flag that was given.
func filterValue[T any](flags *pflag.FlagSet, flag, sent, must string, parse func(string) (T, bool)) (value T, err error) {
	if !flags.Changed(flag) {
		return value, nil
	}
	value, ok := parse(sent)
	if !ok {
		err = fmt.Errorf("--%s %s; it is %q", flag, must, sent)
	}
	return value, err
}

// filterList parses the values of a flag that was given.
func filterList[T any](flags *pflag.FlagSet, flag string, sent []string, must string, parse func(string) (T, bool)) (all []T, err error) {
	if !flags.Changed(flag) {
		return nil, nil
	}
	if wrong := lead.WrongList(sent); wrong != "" {
		return nil, fmt.Errorf("--%s %s", flag, wrong)
	}
	for _, text := range sent {
		one, err := filterValue(flags, flag, text, must, parse)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func mustBeIDs[T id.ID]() string { return "must be ids that begin with " + id.Prefix[T]() }

// mostListed is how many leads a list has at most: more are for an export.
const mostListed = 1000

func (a leadCommands) listLeads() *cobra.Command {
	var by leadFlags
	var filter lead.Filter
	var limit int
	var asJSON bool
	command := &cobra.Command{
		Use:     "list",
		Short:   "List leads, those that changed first before the others",
		Long:    "List leads, in the order in which partners read them: those that changed first come first.",
		Example: "  holdco leads list --industry ind_food --limit 20\n  holdco leads list --domain acme.example --json",
		Args:    noArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if limit < 1 || limit > mostListed {
				return fmt.Errorf("--limit must be from 1 to %d; for more there is \"holdco leads export\"", mostListed)
			}
			filter, err = by.filter()
			return err
		},
		RunE: on(a.app, a.Export, func(command *cobra.Command, port inbound.Export, _ []string) error {
			page, err := port.Leads(command.Context(), lead.Query{Filter: filter, Size: limit})
			if err != nil {
				return err
			}
			lines, rows := []json.RawMessage{}, [][]string{{"ID", "NAME", "WEBSITE", "EMAIL", "UPDATED"}}
			for _, one := range page.Leads {
				line := a.Spell(nil, one, page.Names)
				var shown struct {
					ID, Name       string
					Website, Email *string
					UpdatedAt      string `json:"updated_at"`
				}
				if err := json.Unmarshal(line, &shown); err != nil {
					return err
				}
				lines = append(lines, line)
				rows = append(rows, []string{shown.ID, shown.Name, orNone(shown.Website), orNone(shown.Email), shown.UpdatedAt})
			}
			if asJSON {
				return printJSON(command.OutOrStdout(), lines)
			}
			if err := printTable(command.OutOrStdout(), rows); err != nil {
				return err
			}
			if left := page.Total - int64(len(page.Leads)); left > 0 {
				_, err = fmt.Fprintf(command.ErrOrStderr(), "%d more; --limit shows more, and \"holdco leads export\" all of them\n", left)
			}
			return err
		}),
	}
	by.add(command.Flags())
	const usual = 50
	command.Flags().IntVar(&limit, "limit", usual, "how many are listed at most")
	jsonFlag(command.Flags(), &asJSON)
	a.program.StoreFlags(command.Flags())
	return command
}

func orNone(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

func (a leadCommands) showLead() *cobra.Command {
	command := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a lead, as partners read it",
		Long:    "Show a lead in JSON, as partners read it, with its contacts and campaigns.",
		Example: "  holdco leads show cmp_01jqvb2k3e8m0t9c5x7a4n6p1r",
		Args:    cobra.ExactArgs(1),
		RunE: on(a.app, a.Export, func(command *cobra.Command, port inbound.Export, args []string) error {
			which, ok := id.ParseForeign[id.Lead](args[0])
			if !ok {
				return WrongUsage(fmt.Errorf("%q is no id of a lead, which begins with %s", args[0], id.Prefix[id.Lead]()))
			}
			found, err := port.Lead(command.Context(), lead.View{}, which)
			if fault.CodeOf(err) == fault.NotFound {
				return fmt.Errorf("there is no lead %s", which)
			}
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), json.RawMessage(a.Spell(nil, found.Exported, found.Names)))
		}),
	}
	a.program.StoreFlags(command.Flags())
	return command
}

func (a leadCommands) exportLeads() *cobra.Command {
	var by leadFlags
	var filter lead.Filter
	var format string
	command := &cobra.Command{
		Use:   "export",
		Short: "Write leads to standard output, as \"holdco leads import\" reads them",
		Long: "Write leads to standard output, one JSON object on each line, or in CSV, in the order in which partners read them. It\n" +
			"is what \"holdco leads import\" reads: to import it into the same store changes nothing, and into another one, which has\n" +
			"the taxonomy and the campaigns, it makes the same leads; with --keep-timestamps they keep the instants that they have\n" +
			"here. What changes meanwhile comes again at the end.\n\n" +
			"In CSV the name of a column is the path to its value in the JSON of a lead. The first three contacts have columns, and\n" +
			"those after them are a JSON list in the column contacts.more. So that spreadsheets take no text for a formula, one that\n" +
			"begins with =, +, - or @, as phones do, has an apostrophe before it, and so has one that begins with apostrophes and\n" +
			"then one of these; an import takes it off again.",
		Example: "  holdco leads export | gzip > leads.ndjson.gz\n  holdco leads export --campaign cam_spring --format csv > spring.csv",
		Args:    noArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if !slices.Contains(exportFormats(), format) {
				return fmt.Errorf("--format must be %s; it is %q", strings.Join(exportFormats(), " or "), format)
			}
			filter, err = by.filter()
			return err
		},
		RunE: on(a.app, a.Export, func(command *cobra.Command, port inbound.Export, _ []string) error {
			out := bufio.NewWriter(command.OutOrStdout())
			var line []byte
			spell := func(to []byte, one lead.Exported, names lead.Names) []byte {
				return append(a.Spell(to, one, names), '\n')
			}
			if format == lead.CSV {
				table := a.Table()
				line, spell = table.AppendHeader(line), table.Append
			}
			_, err := out.Write(line)
			if err == nil {
				err = port.Stream(command.Context(), filter, lead.Place{}, func(leads []lead.Exported, names lead.Names) error {
					for _, one := range leads {
						line = spell(line[:0], one, names)
						if _, err := out.Write(line); err != nil {
							return err
						}
					}
					return nil
				})
			}
			flushed := out.Flush() // also after an error, which it has too if it is of the output
			return cmp.Or(err, flushed)
		}),
	}
	by.add(command.Flags())
	command.Flags().StringVar(&format, "format", lead.NDJSON, "the `FORMAT`: "+strings.Join(exportFormats(), " or "))
	_ = command.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(exportFormats(), cobra.ShellCompDirectiveNoFileComp))
	a.program.StoreFlags(command.Flags())
	return command
}

// exportFormats are the formats in which leads are exported.
func exportFormats() []string { return []string{lead.NDJSON, lead.CSV} }
