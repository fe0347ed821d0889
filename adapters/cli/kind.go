package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/adapters/client"
)

// kind is what the commands on one kind of resource have in common, which ask a running server. T is what is read of a resource. Its
// methods make the commands that every kind has: they complete one that has its helps and the flags of its own.
type kind[T any] struct {
	*remote

	name  string                              // as the group of commands is called
	args  cobra.PositionalArgs                // of commands on one resource
	names func(state string) completer        // of resources in a state; empty: in any
	flags func(command *cobra.Command) bodyOf // those that create and update have in common
	print func(out io.Writer, item T) error
}

// completer completes the names of resources that a running server has.
type completer = func(ctx context.Context, s *server) ([]cobra.Completion, error)

// bodyOf makes the body that the flags of a command send.
type bodyOf = func(command *cobra.Command, s *server, o client.Operation) (map[string]any, error)

// asGiven is the bodyOf of flags whose values are sent as they are given.
func asGiven(command *cobra.Command, _ *server, o client.Operation) (map[string]any, error) {
	return sent(command, o), nil
}

// anyState is the names of resources that have no states.
func anyState(complete completer) func(string) completer {
	return func(string) completer { return complete }
}

// create makes the command that creates a resource, which needs some of its flags.
func (k kind[T]) create(o client.Operation, command *cobra.Command, required ...string) *cobra.Command {
	command.Use, command.Args = "create", noArgs
	body := k.flags(command)
	command.RunE = doing(k.remote, func(command *cobra.Command, s *server, _ []string) (client.Call, error) {
		fields, err := body(command, s, o)
		return o.In(s.company).Sending(fields), err
	}, k.print)
	for _, name := range required {
		_ = command.MarkFlagRequired(name)
	}
	return command
}

// list makes the command that lists the resources, as a table under a head.
func (k kind[T]) list(o client.Operation, head []string, row func(item T) []string) *cobra.Command {
	return listing(k.remote, k.name, o, head, row)
}

// show makes the command that shows one resource. Examples are how it can be named.
func (k kind[T]) show(o client.Operation, examples ...string) *cobra.Command {
	for n, example := range examples {
		examples[n] = fmt.Sprintf("  holdco %s show %s", k.name, example)
	}
	command := &cobra.Command{Short: fmt.Sprintf("Show a%s %s", article(k.name), k.name), Example: strings.Join(examples, "\n")}
	command.RunE = doing(k.remote, named(o), k.print)
	return k.one("show", "", command)
}

// update makes the command that changes one resource in a state; empty: in any. It needs one of the flags.
func (k kind[T]) update(o client.Operation, state string, command *cobra.Command) *cobra.Command {
	body := k.flags(command)
	command.RunE = doing(k.remote, func(command *cobra.Command, s *server, args []string) (client.Call, error) {
		fields, err := body(command, s, o)
		return o.In(s.company, args[0]).Sending(fields), err
	}, k.print)
	var names []string
	command.Flags().SortFlags = false // the error names them as they were added
	command.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	command.Flags().SortFlags = true
	command.MarkFlagsOneRequired(names...)
	return k.one("update", state, command)
}

// end makes the command that ends one resource in a state; empty: in any. Said says what has become of it.
func (k kind[T]) end(o client.Operation, verb, state string, said func(last T) string, command *cobra.Command) *cobra.Command {
	command.RunE = doing(k.remote, named(o), func(out io.Writer, last T) error {
		_, err := fmt.Fprintln(out, said(last))
		return err
	})
	return k.one(verb, state, command)
}

// one completes a command on one resource in a state; empty: in any.
func (k kind[T]) one(verb, state string, command *cobra.Command) *cobra.Command {
	command.Use, command.Args = verb+" "+strings.ToUpper(k.name), k.args
	command.ValidArgsFunction = k.completeOne(k.names(state))
	return command
}

// named is a call of an operation on what the only argument names, with what flags say.
func named(o client.Operation) func(*cobra.Command, *server, []string) (client.Call, error) {
	return func(command *cobra.Command, s *server, args []string) (client.Call, error) {
		call := o.In(s.company, args[0])
		if o.Fields == nil {
			return call, nil
		}
		return call.Sending(sent(command, o)), nil
	}
}
