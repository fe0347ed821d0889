package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"holdco/ports/inbound"
)

// KeyCommand is the command on the key of the instance, with those below it.
func KeyCommand(open Opener[inbound.Keys]) Command {
	return func(a *app) *cobra.Command {
		group := &cobra.Command{
			Use:   "key",
			Short: "Rotate the key that encrypts secrets",
			Long:  "Rotate the key of the instance, which encrypts the values of secrets and of webhooks' secrets in the store.",
		}
		rotate := &cobra.Command{
			Use:   "rotate",
			Short: "Give the store another key, and encrypt all secrets with it",
			Long: "Give the store another key: the new one takes the place of the key file, and the former is kept beside it, as .old,\n" +
				"until everything is encrypted with the new one; then it is removed. Servers may be running, and notice.\n\n" +
				"An interrupted rotation goes on when this is run again, and by itself where a server runs.",
			Example: "  holdco key rotate",
			Args:    noArgs,
			RunE: on(a, open, func(command *cobra.Command, port inbound.Keys, _ []string) error {
				done, err := port.Rotate(command.Context(), a.caller)
				if err != nil {
					return err
				}
				words := "The key is rotated"
				if done.IsContinued {
					words = "The rotation of the key that had been interrupted is finished"
				}
				_, err = fmt.Fprintf(command.OutOrStdout(),
					"%s: %d encrypted texts are sealed anew; the fingerprint of the new key is %s.\n", words, done.Sealed, done.Fingerprint)
				return err
			}),
		}
		group.AddCommand(rotate)
		a.program.StoreFlags(group.PersistentFlags())
		return group
	}
}
