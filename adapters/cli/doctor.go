package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"holdco/domain/doctor"
	"holdco/ports/inbound"
)

// DoctorCommand is the command that runs checks, which are all that there are.
func DoctorCommand(open Opener[inbound.Doctor], checks []doctor.Check) Command {
	return func(a *app) *cobra.Command {
		wanted := inbound.Examination{}
		var asJSON, isStrict bool
		command := &cobra.Command{
			Use:   "doctor",
			Short: "Check the store and what is beside it, and repair what can be repaired",
			Long: "Check the settings, the store, and what is beside it. It works directly on the store, so it needs no token;\n" +
				"servers may be running, and give no false alarm.\n\n" +
				"It prints a line for each check: ok, note, warning, error or skipped, what is wrong, and what to do. A check that\n" +
				"takes longer than --timeout, or loses the store, is skipped; one that fails is an error. The exit code is 1 if there\n" +
				"is an error, or with --strict if there is a warning or a check is skipped. Nothing is changed without --fix. Cost\n" +
				"entries, runs, leases of agents and states of issues never are. Each repair is an entry in the activity log,\n" +
				"store.repaired.\n\n" + listed(checks),
			Example: "  holdco doctor\n  holdco doctor --fix --only budgets,issues\n  holdco doctor --json --strict",
			Args:    noArgs,
			PreRunE: func(command *cobra.Command, _ []string) error {
				wanted.Only = trimmed(wanted.Only)
				switch {
				case wanted.Timeout <= 0:
					return fmt.Errorf("--timeout must be more than 0")
				case command.Flags().Changed("only") && len(wanted.Only) == 0: // an empty variable of a script
					return fmt.Errorf("--only must name a check")
				}
				return nil
			},
			RunE: on(a, open, func(command *cobra.Command, port inbound.Doctor, _ []string) error {
				report, err := port.Examine(command.Context(), a.caller, wanted)
				if err != nil {
					return err
				}
				if asJSON {
					err = printJSON(command.OutOrStdout(), report.Fields(a.program.Version.Number))
				} else {
					var rows [][]string
					for _, one := range report.Checks {
						rows = append(rows, []string{one.Name, string(one.Severity()), one.Message()})
					}
					err = printTable(command.OutOrStdout(), rows)
				}
				if failed := report.Failed(isStrict); err == nil && len(failed) > 0 {
					err = fmt.Errorf("not all is well: %s", strings.Join(failed, ", "))
				}
				return err
			}),
		}
		flags := command.Flags()
		flags.StringSliceVar(&wanted.Only, "only", nil, "run these checks alone, separated by commas")
		flags.BoolVar(&wanted.Fix, "fix", false, "repair what can be repaired")
		flags.BoolVar(&isStrict, "strict", false, "exit with 1 for a warning too, or when a check is skipped")
		flags.BoolVar(&wanted.Full, "full", false, "look at all leads, not at 10,000, and verify the chains of the activity log")
		flags.DurationVar(&wanted.Timeout, "timeout", time.Minute, "for how long a check may run")
		jsonFlag(flags, &asJSON)
		a.program.StoreFlags(flags)
		return command
	}
}

// listed says what checks compare, and what --fix does.
func listed(checks []doctor.Check) string {
	var text strings.Builder
	text.WriteString("The checks:\n")
	for _, one := range checks {
		says := one.Compares
		if one.Fixes != "" {
			says += "; --fix " + one.Fixes
		}
		wrapped := wrap(strings.ReplaceAll(says, "`", ""), helpWidth-len(indent))
		text.WriteString("\n  " + one.Name + "\n" + indent + strings.Join(wrapped, "\n"+indent) + "\n")
	}
	return strings.TrimRight(text.String(), "\n")
}

const (
	helpWidth = 118
	indent    = "      "
)

// wrap breaks a text into lines of a width at most, between words.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+len(" ")+len(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
