package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) healthcheck() *cobra.Command {
	command := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the server on this machine whether it is ready",
		Long: "Ask the server on this machine whether it is ready, for those that watch it from outside, such as a container's\n" +
			"health check: GET /readyz of the first listener that is configured, of the API, the dashboard, the gateway, the\n" +
			"export API and the metrics. Give it the same flags and variables as the server. The exit code is 0 if the server\n" +
			"is ready within 5 seconds, else 1.",
		Example: "  holdco healthcheck\n  holdco healthcheck --api-addr 127.0.0.1:4100",
		Args:    noArgs,
		RunE: a.run(func(command *cobra.Command, _ []string) error {
			if err := a.program.Ready(command.Context(), command.Flags(), command.ErrOrStderr()); err != nil {
				return err
			}
			_, err := fmt.Fprintln(command.OutOrStdout(), "The server is ready.")
			return err
		}),
	}
	command.Flags().SortFlags = false
	a.program.Flags(command.Flags())
	return command
}
