package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// Files reads files of what is to be imported. Their formats are those of Formats.
type Files interface {
	Leads(from io.Reader, format string) iter.Seq2[inbound.LeadLine, error]
	Suppressed(from io.Reader, format string) iter.Seq2[inbound.LeadLine, error] // leads that need no name
	Campaigns(from io.Reader, format string) iter.Seq2[inbound.CampaignLine, error]
	Taxonomy(from io.Reader) (lead.TaxonomyDraft, error)
}

// Table spells leads in CSV.
type Table interface {
	AppendHeader(to []byte) []byte
	Append(to []byte, of lead.Exported, names lead.Names) []byte // on one line, with its end
}

// LeadTools are what the commands on leads, campaigns and the taxonomy work with.
type LeadTools struct {
	Imports Opener[inbound.Imports]
	Keyed   Opener[inbound.Imports] // with the key of the instance, or not at all
	Export  Opener[inbound.Export]
	Spell   func(to []byte, of lead.Exported, names lead.Names) []byte // a lead as partners read it, in JSON, on one line
	Table   func() Table                                               // one that is new
	Files   func(encoding string) Files                                // of files with an encoding; empty: UTF-8
	Samples func(leads int, seed uint64) Samples
}

// LeadCommands are the commands on leads, campaigns and the taxonomy, with those below them.
func LeadCommands(tools LeadTools) []Command {
	return []Command{
		func(a *app) *cobra.Command { return leadCommands{a, tools}.taxonomy() },
		func(a *app) *cobra.Command { return leadCommands{a, tools}.campaigns() },
		func(a *app) *cobra.Command { return leadCommands{a, tools}.leads() },
	}
}

type leadCommands struct {
	*app
	LeadTools
}

func (a leadCommands) leads() *cobra.Command {
	command := &cobra.Command{
		Use:   "leads",
		Short: "Import, show, export and remove leads, and make sample data",
		Long: "Import, show, export and remove leads: companies outside, which partners read through the export API. These\n" +
			"commands work directly on the store, so they need no token; the server may be running, and shows what is imported\n" +
			"at once.",
	}
	command.AddCommand(a.importing("leads",
		"only the name is required. industry_id, vertical_id and campaign_ids name what is in the store, so the taxonomy and\n"+
			"campaigns are imported first. A lead without an id gets one that is derived from its website and name, else its email\n"+
			"and name, else its phone and name; --key names other columns. Of a lead that is there already, a column or field that\n"+
			"is left out keeps what stands, and an empty cell or null clears it; with --replace what is left out is cleared too.\n"+
			"In CSV, of a cell that begins with an apostrophe and then with =, +, - or @ the apostrophe is not taken for a part.\n"+
			"A website is kept as its domain, and a phone in the international format.", a.importLeads),
		a.listLeads(), a.showLead(), a.exportLeads(), a.removeLeads(), a.suppress(), a.suppressed(), a.generate())
	return command
}

// importer imports what a file holds.
type importer func(
	ctx context.Context, port inbound.Imports, from *input, files Files, format string, options inbound.ImportOptions,
) (lead.ImportCount, error)

func (a leadCommands) importLeads(
	ctx context.Context, port inbound.Imports, from *input, files Files, format string, options inbound.ImportOptions,
) (lead.ImportCount, error) {
	return port.Leads(ctx, a.caller, rewound(from, files.Leads(from, format)), options)
}

// rewound reads lines from the beginning of their file, each time that they are iterated.
func rewound[L any](from *input, lines iter.Seq2[L, error]) iter.Seq2[L, error] {
	return func(yield func(L, error) bool) {
		if err := from.rewind(); err != nil {
			var none L
			yield(none, err)
			return
		}
		for line, err := range lines {
			if err != nil {
				err = fmt.Errorf("%s: %w", from.name, err)
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// importing is the command that imports one kind of things.
func (a leadCommands) importing(what, fields string, do importer) *cobra.Command {
	i := imports{app: a.app, what: what, do: do, files: a.Files}
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Import " + what + " from a file, or from standard input when FILE is -",
		Long: "Import " + what + " from a file, or from standard input when FILE is \"-\": one JSON object per line as the export API\n" +
			"shows them (.ndjson, .jsonl), a JSON list of them (.json), or CSV with a header (.csv), each also packed with gzip\n" +
			"(.gz). In each, " + fields + "\n\n" +
			"What has an id that is there already is updated if it differs. Of several lines with one id the last counts, and those\n" +
			"that differ from it are counted as merged, so importing a file twice changes nothing. The file is read twice; standard\n" +
			"input is copied to a temporary file first. Invalid lines are skipped, and the exit code is then 1. They are listed in\n" +
			"FILE.errors.ndjson, and merged ones too. Each batch is committed on its own: after an interruption the same command\n" +
			"continues where it stopped.",
		Example: "  holdco " + what + " import " + what + ".ndjson\n" +
			"  holdco " + what + " import " + what + ".csv --strict\n" +
			"  zcat " + what + ".ndjson.gz | holdco " + what + " import - --dry-run --json",
		Args:              oneFile,
		PreRunE:           func(command *cobra.Command, args []string) error { return i.settle(command.Flags(), args[0]) },
		RunE:              on(a.app, a.Imports, i.run),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault), // names of files
	}
	flags := command.Flags()
	flags.BoolVar(&i.dryRun, "dry-run", false, "only check: nothing is kept")
	flags.BoolVar(&i.strict, "strict", false, "import nothing unless every line is fine, and none is merged")
	flags.BoolVar(&i.keepTimestamps, "keep-timestamps", false, "take created_at and updated_at from the file, for a first load or a move")
	flags.StringVar(&i.format, "format", "", "ndjson, csv or json (default by the name of FILE; of standard input ndjson)")
	encodingFlag(flags, &i.encoding)
	flags.StringVar(&i.errorsPath, "errors", "", "the file that lists invalid and merged lines (default FILE.errors.ndjson)")
	if what == "leads" {
		flags.StringVar(&i.key, "key", "", "the columns that tell leads without an id apart: of "+lead.KeyFields())
		flags.StringVar(&i.region, "region", "", "the country, such as DE, of telephone numbers without a country code")
		flags.BoolVar(&i.rules.Replace, "replace", false, "clear what a line leaves out")
		flags.BoolVar(&i.rules.Lenient, "lenient", false,
			"import lines without the values that are invalid: websites, phones, e-mails, ratings, pages")
	}
	jsonFlag(flags, &i.asJSON)
	_ = command.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(Formats(), cobra.ShellCompDirectiveNoFileComp))
	a.program.StoreFlags(flags)
	return command
}

// imports is an import of leads or campaigns.
type imports struct {
	*app
	what  string
	do    importer
	files func(encoding string) Files

	dryRun, strict, keepTimestamps, asJSON bool
	format, errorsPath, encoding           string

	key, region string
	rules       lead.Rules
}

// settle finds out what the flags leave open.
func (i *imports) settle(flags *pflag.FlagSet, path string) (err error) {
	if err := checkFormat(i.format); err != nil {
		return err
	}
	if err := i.readRules(flags); err != nil {
		return err
	}
	if err := i.mustExist(path); err != nil {
		return err
	}
	if i.format == "" {
		if i.format, err = formatOf(path); err != nil {
			return err
		}
	}
	if i.errorsPath == "" {
		i.errorsPath = "stdin.errors.ndjson"
		if path != standardInput {
			i.errorsPath = path + ".errors.ndjson"
		}
	}
	return nil
}

// readRules parses what flags say of how lines are read.
func (i *imports) readRules(flags *pflag.FlagSet) error {
	for _, name := range []string{"key", "region", "encoding"} { // of a script whose variable is not set
		if flag := flags.Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
			return fmt.Errorf("--%s has no value; without it the file is read in the usual way", name)
		}
	}
	var isKey, isRegion bool
	i.rules.Key, isKey = lead.ParseKey(i.key)
	i.rules.Region, isRegion = lead.ParseRegion(i.region)
	switch {
	case !isKey:
		return fmt.Errorf("--key must be names of columns, separated by commas, of %s; it is %q", lead.KeyFields(), i.key)
	case !isRegion:
		return fmt.Errorf("--region must be a country by its two letters, such as DE; it is %q", i.region)
	}
	return checkEncoding(i.encoding)
}

func encodingFlag(flags *pflag.FlagSet, encoding *string) {
	flags.StringVar(encoding, "encoding", "", "the encoding of a text that is not UTF-8: "+strings.Join(lead.Encodings()[1:], " or "))
}

func checkEncoding(encoding string) error {
	if encoding != "" && !slices.Contains(lead.Encodings(), encoding) {
		return fmt.Errorf("--encoding must be one of %s; it is %q", strings.Join(lead.Encodings(), ", "), encoding)
	}
	return nil
}

func (i *imports) run(command *cobra.Command, port inbound.Imports, args []string) error {
	ctx := command.Context()
	file, err := openInput(args[0], command.InOrStdin())
	if err != nil {
		return err
	}
	defer file.close()
	if err := file.makeSeekable(ctx); err != nil {
		return err
	}
	rejects, err := newRejects(i.errorsPath, file)
	if err != nil {
		return err
	}
	begun := i.program.Clock.Now()
	summary, err := i.read(ctx, port, file, rejects, command.ErrOrStderr())
	err = errors.Join(err, rejects.close())
	if err == nil || summary.Read > 0 {
		if err := i.print(command, summary, i.program.Clock.Now().Sub(begun)); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; what the summary counts was committed, and the same command continues after it")
	case fault.CodeOf(err) == fault.Unavailable:
		return fmt.Errorf("%w The same command can be repeated: what was imported stays as it is, and the rest follows", err)
	case err != nil:
		return err
	}
	return rejects.verdict(command.ErrOrStderr(), summary, i.strict)
}

// read lets the port read the file, and shows how far it is.
func (i *imports) read(
	ctx context.Context, port inbound.Imports, file *input, rejects *rejects, stderr io.Writer,
) (lead.ImportCount, error) {
	shown := i.newProgress(stderr, "checking "+i.what, file.size)
	defer func() { shown.end() }()
	checking := true
	return i.do(ctx, port, file, i.files(i.encoding), i.format, inbound.ImportOptions{
		DryRun: i.dryRun, Strict: i.strict && !i.dryRun, KeepTimestamps: i.keepTimestamps, Rules: i.rules,
		Report: rejects.add,
		Progress: func(now lead.ImportProgress) {
			if checking && !now.Checking && !i.dryRun {
				shown.end()
				shown = i.newProgress(stderr, "importing "+i.what, file.size)
			}
			checking = now.Checking
			shown.show(now)
		},
	})
}

func (i *imports) print(command *cobra.Command, s lead.ImportCount, took time.Duration) error {
	rate := int64(float64(s.Read) / max(took.Seconds(), 0.001))
	if i.asJSON {
		return printJSON(command.OutOrStdout(), event.Fields{
			event.F("read", s.Read), event.F("inserted", s.Inserted), event.F("updated", s.Updated), event.F("unchanged", s.Unchanged),
			event.F("rejected", s.Rejected), event.F("merged", s.Merged), event.F("suppressed", s.Suppressed),
			event.F("dropped", s.Dropped),
			event.F("dryRun", i.dryRun), event.F("seconds", took.Seconds()), event.F("perSecond", rate),
		})
	}
	lines := [][]string{
		{"read", fmt.Sprint(s.Read)},
		{"inserted", fmt.Sprint(s.Inserted)},
		{"updated", fmt.Sprint(s.Updated)},
		{"unchanged", fmt.Sprint(s.Unchanged)},
		{"rejected", fmt.Sprint(s.Rejected)},
	}
	for _, rare := range []struct {
		what  string
		count int64
	}{{"merged", s.Merged}, {"suppressed", s.Suppressed}, {"dropped", s.Dropped}} {
		if rare.count > 0 {
			lines = append(lines, []string{rare.what, fmt.Sprint(rare.count)})
		}
	}
	lines = append(lines, []string{"took", fmt.Sprintf("%s, %d lines a second", took.Round(time.Millisecond), rate)})
	if err := printTable(command.OutOrStdout(), lines); err != nil || !i.dryRun {
		return err
	}
	_, err := fmt.Fprintln(command.OutOrStdout(), "This was a dry run: nothing was written. The counts say what an import would do.")
	return err
}
