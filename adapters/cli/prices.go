package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/money"
	"holdco/domain/price"
	"holdco/ports/inbound"
)

// PricesCommand is the command on the price table, with those below it.
func PricesCommand(open Opener[inbound.Prices]) Command {
	return func(a *app) *cobra.Command { return (&prices{app: a, open: open}).group() }
}

// prices are the commands below "prices".
type prices struct {
	*app
	open   Opener[inbound.Prices]
	asJSON bool
}

func (p *prices) group() *cobra.Command {
	command := &cobra.Command{
		Use:   "prices",
		Short: "Import, list and set what tokens of models cost",
		Long: "Import, list and set what tokens of models cost. Agents that report tokens are charged by this table; what was\n" +
			"charged before a change stays as it is. Until prices are imported or set they are those of a snapshot of public list\n" +
			"prices in this program. These commands work directly on the store, so they need no token; servers may be running,\n" +
			"and charge by the new prices within a few seconds.",
	}
	command.AddCommand(p.importFile(), p.list(), p.set(), p.remove(), p.fallback(), p.export())
	p.program.StoreFlags(command.PersistentFlags())
	return command
}

func (p *prices) importFile() *cobra.Command {
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Replace all models by those of a file, or of standard input when FILE is -",
		Long: "Replace all models by those of a file, or of standard input when FILE is \"-\", in the form of LiteLLM's\n" +
			"model_prices_and_context_window.json: an object of models, with US dollars per token. Entries without prices of\n" +
			"input and output tokens are skipped. All of the file is imported, or nothing; the fallback stays.",
		Example: "  holdco prices import model_prices_and_context_window.json\n  holdco prices export | holdco prices import -",
		Args:    oneFile,
		PreRunE: func(_ *cobra.Command, args []string) error { return p.mustExist(args[0]) },
		RunE: on(p.app, p.open, func(command *cobra.Command, port inbound.Prices, args []string) error {
			file, err := openInput(args[0], command.InOrStdin())
			if err != nil {
				return err
			}
			defer file.close()
			read, err := price.Read(file)
			if refused := fault.Of(err); refused != nil {
				return faulty(args[0], refused.Fields)
			}
			if err != nil {
				return fmt.Errorf("%s: %w; nothing was imported", args[0], err)
			}
			table, changes, err := port.Import(command.Context(), p.caller, read)
			if err != nil {
				return err
			}
			fields := append(changes.Fields(), event.F("models", len(table.Models)), event.F("revision", table.Revision))
			if p.asJSON {
				return printJSON(command.OutOrStdout(), fields)
			}
			return printFields(command.OutOrStdout(), fields)
		}),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	jsonFlag(command.Flags(), &p.asJSON)
	return command
}

func (p *prices) list() *cobra.Command {
	var filter string
	command := &cobra.Command{
		Use:   "list",
		Short: "List the prices, in US dollars per million tokens",
		Long: "List the prices, in US dollars per million tokens. A price that is not there is that of input tokens. A row with\n" +
			"ABOVE has the prices of calls that read more tokens than that.",
		Example: "  holdco prices list --filter claude\n  holdco prices list --json",
		Args:    noArgs,
		RunE: on(p.app, p.open, func(command *cobra.Command, port inbound.Prices, _ []string) error {
			table, err := port.Get(command.Context(), p.caller)
			if err != nil {
				return err
			}
			found := table.Filter(filter)
			if p.asJSON {
				models := make([]event.Fields, len(found))
				for n, m := range found {
					models[n] = m.Fields()
				}
				return printJSON(command.OutOrStdout(), append(table.Fields(), event.F("models", models)))
			}
			if _, err := fmt.Fprintln(command.OutOrStdout(), origin(table)); err != nil {
				return err
			}
			return printTable(command.OutOrStdout(), priceRows(table, found))
		}),
	}
	command.Flags().StringVar(&filter, "filter", "", "only models whose name or provider contains this")
	jsonFlag(command.Flags(), &p.asJSON)
	return command
}

// origin says in one line which prices these are.
func origin(table price.Table) string {
	words := fmt.Sprintf("Revision %d", table.Revision)
	if !table.ChangedAt.IsZero() {
		words += ", changed " + shown(table.ChangedAt, "")
	}
	if table.Snapshot != "" {
		words += ", on the snapshot of " + table.Snapshot
	}
	return words
}

// priceRows are the rows of models, and one of the fallback.
func priceRows(table price.Table, models []price.Model) [][]string {
	rows := [][]string{{"MODEL", "PROVIDER", "ABOVE", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"}}
	row := func(model, provider, above string, prices event.Fields) {
		cells := []string{model, provider, above}
		for _, field := range prices {
			cell := "-"
			if field.Value != nil {
				cell = fmt.Sprint(field.Value)
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	for _, m := range models {
		provider := m.Provider
		if provider == "" {
			provider = "-"
		}
		row(m.ID, provider, "-", m.At(0))
		for _, above := range m.Bounds() {
			row("", "", fmt.Sprint(above), m.At(above))
		}
	}
	return append(rows, []string{
		"(any other)", "-", "-", table.Fallback.Input.PerMillion().String(), table.Fallback.Output.PerMillion().String(), "-", "-",
	})
}

// perMillion is a flag of US dollars per million tokens. It keeps the text, so that prices are exact.
type perMillion struct{ number *money.Number }

func (p *perMillion) Type() string { return "USD" }

func (p *perMillion) String() string {
	if p.number == nil {
		return ""
	}
	return string(*p.number)
}

func (p *perMillion) Set(text string) error {
	p.number = new(money.Number(text))
	_, err := price.ParsePerMillion(*p.number)
	return err
}

// priceFlags are the flags of prices.
type priceFlags struct{ input, output, cacheRead, cacheWrite perMillion }

func (f *priceFlags) add(flags *pflag.FlagSet) {
	flags.Var(&f.input, "input", "a million tokens of input")
	flags.Var(&f.output, "output", "a million tokens of output")
}

func (f *priceFlags) draft() price.Draft {
	return price.Draft{
		Input: f.input.number, Output: f.output.number, CacheRead: f.cacheRead.number, CacheWrite: f.cacheWrite.number,
	}
}

func (p *prices) set() *cobra.Command {
	var sent priceFlags
	command := &cobra.Command{
		Use:   "set MODEL",
		Short: "Set the prices of a model, in US dollars per million tokens",
		Long: "Set the prices of a model, in US dollars per million tokens. They replace all prices that it had, those of long calls\n" +
			"too. Without --cache-read or --cache-write cached tokens cost what others do.",
		Example: "  holdco prices set claude-opus-4-5 --input 5 --output 25 --cache-read 0.5 --cache-write 6.25",
		Args:    oneModel,
		RunE: onResource(p.app, p.open, &p.asJSON,
			func(ctx context.Context, port inbound.Prices, args []string) (price.Model, error) {
				return port.Set(ctx, p.caller, args[0], sent.draft())
			}, func(out io.Writer, m price.Model) error { return printFields(out, m.Fields()[:6]) }),
	}
	flags := command.Flags()
	sent.add(flags)
	flags.Var(&sent.cacheRead, "cache-read", "a million tokens that are read from a cache")
	flags.Var(&sent.cacheWrite, "cache-write", "a million tokens that are written to a cache")
	setsField(flags, "cache-read", "cacheRead")
	setsField(flags, "cache-write", "cacheWrite")
	_ = command.MarkFlagRequired("input")
	_ = command.MarkFlagRequired("output")
	jsonFlag(flags, &p.asJSON)
	return command
}

func (p *prices) remove() *cobra.Command {
	command := &cobra.Command{
		Use:     "rm MODEL",
		Short:   "Remove a model from the price table",
		Example: "  holdco prices rm gpt-4o",
		Args:    oneModel,
		RunE: onResource(p.app, p.open, &p.asJSON,
			func(ctx context.Context, port inbound.Prices, args []string) (price.Model, error) {
				return port.Remove(ctx, p.caller, args[0])
			}, func(out io.Writer, m price.Model) error {
				_, err := fmt.Fprintf(out, "The prices of %s are removed.\n", m.ID)
				return err
			}),
	}
	jsonFlag(command.Flags(), &p.asJSON)
	return command
}

func (p *prices) fallback() *cobra.Command {
	var sent priceFlags
	command := &cobra.Command{
		Use:   "fallback",
		Short: "Set what tokens of models without a price cost, in US dollars per million",
		Long: "Set what tokens of models without a price cost, in US dollars per million. Cached tokens cost what others do. Such\n" +
			"charges are marked unpriced, and never cost nothing unless the fallback is 0.",
		Example: "  holdco prices fallback --input 15 --output 75",
		Args:    noArgs,
		RunE: onResource(p.app, p.open, &p.asJSON,
			func(ctx context.Context, port inbound.Prices, _ []string) (price.Fallback, error) {
				return port.SetFallback(ctx, p.caller, sent.draft())
			}, func(out io.Writer, f price.Fallback) error { return printFields(out, f.Fields()) }),
	}
	sent.add(command.Flags())
	_ = command.MarkFlagRequired("input")
	_ = command.MarkFlagRequired("output")
	jsonFlag(command.Flags(), &p.asJSON)
	return command
}

func (p *prices) export() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print all models as a file that can be imported",
		Long: "Print all models as a file that can be imported, here or wherever LiteLLM's model_prices_and_context_window.json can.\n" +
			"Which prices these are is said on standard error. The fallback is not in the file.",
		Example: "  holdco prices export > prices.json",
		Args:    noArgs,
		RunE: on(p.app, p.open, func(command *cobra.Command, port inbound.Prices, _ []string) error {
			table, err := port.Get(command.Context(), p.caller)
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := json.Indent(&text, price.Format(table.Models), "", "  "); err != nil {
				return err
			}
			text.WriteByte('\n')
			if _, err := text.WriteTo(command.OutOrStdout()); err != nil {
				return err
			}
			_, err = fmt.Fprintln(command.ErrOrStderr(), "holdco: "+origin(table))
			return err
		}),
	}
}

// oneModel requires one argument, the name of a model.
func oneModel(command *cobra.Command, args []string) error {
	if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
		return fmt.Errorf("%q needs one argument, the name of a model", command.CommandPath())
	}
	return nil
}

// printFields prints fields in a table, one in a row.
func printFields(out io.Writer, fields event.Fields) error {
	var rows [][]string
	for _, field := range fields {
		cell := "-"
		if field.Value != nil && field.Value != "" {
			cell = fmt.Sprint(field.Value)
		}
		rows = append(rows, []string{field.Name, cell})
	}
	return printTable(out, rows)
}
