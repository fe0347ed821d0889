package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"holdco/domain/event"
	"holdco/domain/instant"
)

func jsonFlag(flags *pflag.FlagSet, asJSON *bool) {
	flags.BoolVar(asJSON, "json", false, "print JSON, and nothing else, to standard output")
}

// printJSON prints a value for programs, indented for people.
func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// printIssued prints a resource, as JSON or as a table, with the secret that it was given.
func printIssued(
	out io.Writer, asJSON bool, resource interface{ Fields() event.Fields }, table [][]string, name, secret string,
) error {
	if asJSON {
		return printJSON(out, append(resource.Fields(), event.F(name, secret)))
	}
	return printTable(out, append(table, []string{name, secret + "  (shown only this once)"}))
}

// printTable prints rows of cells in columns.
func printTable(out io.Writer, rows [][]string) error {
	var text bytes.Buffer
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, err := io.WriteString(columns, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	_, err := out.Write(text.Bytes())
	return err
}

// shown spells an instant, or the word for none.
func shown(at time.Time, none string) string {
	if at.IsZero() {
		return none
	}
	return instant.Format(at)
}
