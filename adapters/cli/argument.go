package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"holdco/domain/id"
)

// oneID requires one argument, the id of a resource. The group of commands is called like the resource.
func oneID[I id.ID](resource string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%q needs one argument, the id of a %s; \"holdco %[2]s list\" shows them", command.CommandPath(), resource)
		}
		if _, ok := id.Parse[I](args[0]); !ok {
			return fmt.Errorf("%q is not the id of a %s; \"holdco %[2]s list\" shows them", args[0], resource)
		}
		return nil
	}
}

func noArgs(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q takes no argument, and got %q", command.CommandPath(), args[0])
	}
	return nil
}
