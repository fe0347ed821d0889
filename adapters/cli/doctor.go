package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"holdco/ports/inbound"
)

// DoctorCommand is the command that checks the store.
func DoctorCommand(open Opener[inbound.Doctor]) Command {
	return func(a *app) *cobra.Command {
		wanted := inbound.Examination{}
		var asJSON, isStrict bool
		command := &cobra.Command{
			Use:   "doctor",
			Short: "Check the store, and repair what can be derived anew",
			Long: "Check whether what the store keeps of companies agrees: sums of costs, what budgets have spent and hold, and counts\n" +
				"(budgets); issues with their leases, steps and blockers, and what is counted of them (issues). It works directly on\n" +
				"the store, so it needs no token; servers may be running, and give no false alarm.\n\n" +
				"It prints a line for each check: ok, note, error or skipped, what is wrong, and what to do. A check that takes longer\n" +
				"than --timeout, or loses the store, is skipped; one that fails is an error. The exit code is 1 if there is an error,\n" +
				"or with --strict if a check is skipped. With --fix what follows from other rows is derived from these anew. Cost\n" +
				"entries, runs, leases and states of issues are never changed. Each repair is an entry in the activity log,\n" +
				"store.repaired.",
			Example: "  holdco doctor\n  holdco doctor --fix --only budgets\n  holdco doctor --json --strict",
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
		flags.BoolVar(&wanted.Fix, "fix", false, "repair what can be derived anew")
		flags.BoolVar(&isStrict, "strict", false, "exit with 1 when a check is skipped too")
		flags.DurationVar(&wanted.Timeout, "timeout", time.Minute, "for how long a check may run")
		jsonFlag(flags, &asJSON)
		a.program.StoreFlags(flags)
		return command
	}
}
