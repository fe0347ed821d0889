package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/adapters/client"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/ports/outbound"
)

// The exit codes.
const (
	Done   = 0
	Failed = 1
	Misuse = 2 // unknown commands and flags, bad values, bad configuration
)

// Program is what the commands run on. The functions that take flags read the configuration from them.
type Program struct {
	Version Version
	Clock   outbound.Clock

	// Flags adds the flags of all settings to a command, StoreFlags those that say where the store is.
	Flags, StoreFlags func(flags *pflag.FlagSet)

	// Serve runs the server until ctx ends. It migrates the store first, as BackupFirst says, or refuses one that needs it.
	Serve func(ctx context.Context, flags *pflag.FlagSet, stdout, stderr io.Writer, migrate bool) error

	// Ready asks the server that runs on this machine with such flags whether it is ready.
	Ready func(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) error

	Migrator Opener[outbound.Migrator]
	Commands []Command // of the resources

	// Variables returns the variables of the environment that are meant for Holdco. It warns of those that nothing knows.
	Variables func(stderr io.Writer) map[string]string
}

// Command makes a command, with those below it.
type Command func(a *app) *cobra.Command

// Opener opens the store, which a server may be using, and returns the port that a command works with. The returned
// function closes the store.
type Opener[P any] func(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) (P, func(), error)

// WrongUsage marks an error in the command line or in the configuration: the exit code is Misuse.
func WrongUsage(err error) error { return misuse{err} }

type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// Run runs one command and returns its exit code. Results go to stdout, errors to stderr.
func Run(ctx context.Context, program Program, args []string, stdout, stderr io.Writer) int {
	a := &app{program: program, caller: access.System("cli")}
	root := a.root(args, stdout, stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = a.unknown
	}
	if err == nil {
		return Done
	}
	if !a.started {
		err = misuse{fmt.Errorf("%w; see \"%s --help\"", err, command.CommandPath())}
	}
	for line := range strings.Lines(explain(command, err)) {
		fmt.Fprintln(stderr, "holdco: "+strings.TrimRight(line, "\n"))
	}
	switch code := fault.CodeOf(err); {
	case errors.As(err, new(misuse)), code == fault.ValidationFailed, code == fault.InvalidParameter:
		return Misuse
	}
	return Failed
}

// app is one run of the program.
type app struct {
	program Program
	caller  access.Caller
	started bool  // arguments and flags were in order, and a command took over
	unknown error // help was asked for of a command that does not exist
}

func (a *app) root(args []string, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "holdco",
		Short: "The control plane for companies of agents",
		Long: "Holdco is the control plane for companies of agents.\n\n" +
			"\"holdco serve\" runs it. Without any configuration it keeps everything in ./data.",
		Example:       "  holdco serve\n  holdco token create --name deploy --scopes read,write",
		Version:       a.program.Version.Number,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetVersionTemplate("holdco {{.Version}}\n")
	root.AddCommand(a.serve(), a.healthcheck(), a.migrate(), a.man(), a.version())
	for _, command := range a.program.Commands {
		root.AddCommand(command(a))
	}
	root.SetHelpCommand(help())
	show := root.HelpFunc()
	root.SetHelpFunc(func(command *cobra.Command, args []string) {
		if command.HasSubCommands() {
			a.unknown = refuseUnknownCommand(command, command.Flags().Args())
		}
		if a.unknown == nil {
			show(command, args)
		}
	})
	root.InitDefaultCompletionCmd()

	for _, command := range root.Commands() {
		if command.HasSubCommands() {
			command.Args, command.RunE = refuseUnknownCommand, needsCommand
		}
		for _, leaf := range command.Commands() {
			if leaf.ValidArgsFunction == nil {
				leaf.ValidArgsFunction = cobra.NoFileCompletions
			}
		}
	}
	root.Args = refuseUnknownCommand
	root.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		// A mistyped command is the first thing wrong with its flags.
		_, rest, _ := root.Find(args)
		if command.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			return refuseUnknownCommand(command, rest)
		}
		return err
	})
	return root
}

// run makes a function the action of a command: from there on a failure is no fault of the arguments.
func (a *app) run(action func(command *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		a.started = true
		return action(command, args)
	}
}

// on makes an action of one that needs a port.
func on[P any](
	a *app, open Opener[P], action func(command *cobra.Command, port P, args []string) error,
) func(*cobra.Command, []string) error {
	return a.run(func(command *cobra.Command, args []string) error {
		port, done, err := open(command.Context(), command.Flags(), command.ErrOrStderr())
		if err != nil {
			return err
		}
		defer done()
		return action(command, port, args)
	})
}

// onResource makes an action that prints the resource which the port returns: as JSON, or by show.
func onResource[P any, R interface{ Fields() event.Fields }](
	a *app, open Opener[P], asJSON *bool,
	call func(ctx context.Context, port P, args []string) (R, error), show func(out io.Writer, resource R) error,
) func(*cobra.Command, []string) error {
	return on(a, open, func(command *cobra.Command, port P, args []string) error {
		resource, err := call(command.Context(), port, args)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printJSON(command.OutOrStdout(), resource.Fields())
		}
		return show(command.OutOrStdout(), resource)
	})
}

func help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command",
		RunE: func(command *cobra.Command, args []string) error {
			about, rest, err := command.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return refuseUnknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// refuseUnknownCommand refuses an argument where the name of a command is wanted.
func refuseUnknownCommand(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	var similar []string
	for command.SuggestionsMinimumDistance = 1; len(similar) == 0 && command.SuggestionsMinimumDistance <= 2; {
		similar = command.SuggestionsFor(args[0])
		command.SuggestionsMinimumDistance++
	}
	if len(similar) > 0 && args[0] != "" && similar[0] != args[0] {
		hint = fmt.Sprintf(", did you mean %q?", similar[0])
	}
	return fmt.Errorf("%q has no command %q%s", command.CommandPath(), args[0], hint)
}

func needsCommand(command *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range command.Commands() {
		names = append(names, sub.Name())
	}
	return fmt.Errorf("%q needs a command: %s", command.CommandPath(), strings.Join(names, ", "))
}

// trimmed drops the spaces around what was separated by commas.
func trimmed(items []string) []string {
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
	}
	return items
}

// exclusive is what cobra says of flags that do not go together.
var exclusive = regexp.MustCompile(`if any flags in the group \[[^]]*\] are set none of the others can be; \[([^]]*)\] were all set`)

// explain words an error for an operator: of a fault the message, then the cause. The message about an unknown resource comes
// without its id: that is an argument of the command. What a server answered keeps its code.
func explain(command *cobra.Command, err error) string {
	refused := fault.Of(err)
	if refused == nil {
		return exclusive.ReplaceAllStringFunc(err.Error(), func(said string) string {
			return "--" + strings.Join(strings.Fields(exclusive.FindStringSubmatch(said)[1]), " does not go with --")
		})
	}
	words := strings.TrimSuffix(refused.Message, ".")
	answered, isAnswer := errors.AsType[*client.Refusal](err)
	if args := command.Flags().Args(); !isAnswer && refused.Code == fault.NotFound && len(args) > 0 {
		words += ": " + strings.Join(args, " ")
	}
	if len(refused.Fields) > 0 {
		messages := make([]string, len(refused.Fields))
		for i, field := range refused.Fields {
			messages[i] = flagMessage(command, field)
		}
		words = strings.Join(messages, "; ")
	}
	switch {
	case isAnswer && refused.Code == fault.Internal: // the server's log says more under the id
		words += fmt.Sprintf(" (%s, %s)", refused.Code, answered.RequestID)
	case isAnswer:
		words += fmt.Sprintf(" (%s)", refused.Code)
	}
	if cause := refused.Unwrap(); cause != nil {
		words += ": " + cause.Error()
	}
	return strings.Replace(err.Error(), refused.Error(), words, 1)
}
