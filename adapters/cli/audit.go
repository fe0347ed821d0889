package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"holdco/domain/id"
	"holdco/ports/inbound"
)

// AuditCommand is the command that checks the chain of the activity log.
func AuditCommand(open Opener[inbound.Activity]) Command {
	return func(a *app) *cobra.Command {
		verify := &cobra.Command{
			Use:   "verify COMPANY|instance",
			Short: "Find the first entry of the activity log that was tampered with",
			Long: "Follow the chain of the activity of a company, by its id, or of the entries that belong to no company, and name the\n" +
				"first entry that was changed, removed or inserted; the exit code is then 1. It works directly on the store, so it\n" +
				"needs no token; servers may be running. The last 2 seconds are not chained yet, and not looked at.",
			Example: "  holdco audit verify cmp_01jz...\n  holdco audit verify instance",
			Args:    cobra.ExactArgs(1),
			RunE: on(a, open, func(command *cobra.Command, port inbound.Activity, args []string) error {
				var of id.Company
				if args[0] != "instance" {
					found, ok := id.Parse[id.Company](args[0])
					if !ok {
						return errors.New("COMPANY must be the id of a company, or the word instance")
					}
					of = found
				}
				count, err := port.Verify(command.Context(), a.caller, of)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(command.OutOrStdout(), "%d entries, none changed, removed or inserted\n", count)
				return err
			}),
		}
		a.program.StoreFlags(verify.Flags())
		command := &cobra.Command{Use: "audit", Short: "Check the activity log"}
		command.AddCommand(verify)
		return command
	}
}
