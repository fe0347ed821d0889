package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/redact"
	"holdco/domain/secret"
	"holdco/ports/inbound"
)

// SecretCommand is the command on secrets, with those below it.
func SecretCommand(open Opener[inbound.Secrets]) Command {
	return func(a *app) *cobra.Command { return (&secrets{app: a, open: open}).group() }
}

func (s *secrets) group() *cobra.Command {
	command := &cobra.Command{
		Use:   "secret",
		Short: "Set, list, rotate and remove secrets of companies",
		Long: "Set, list, rotate and remove secrets of companies: values that programs of agents need, such as keys of APIs. They are\n" +
			"kept encrypted, and nothing shows one. A program gets a secret as a variable of its environment when the configuration\n" +
			"of its agent says so: \"env\": {\"API_KEY\": {\"secret\": \"NAME\"}}.\n\n" +
			"These commands work directly on the store, so they need no token; the server may be running. Runs that begin later\n" +
			"get what was set. COMPANY is an id or a slug.",
	}
	command.AddCommand(s.set(), s.rotate(), s.update(), s.list(), s.rm())
	jsonFlag(command.PersistentFlags(), &s.asJSON)
	s.program.StoreFlags(command.PersistentFlags())
	return command
}

// secrets are the commands below "secret".
type secrets struct {
	*app
	open   Opener[inbound.Secrets]
	asJSON bool
}

const valueHelp = "The value is read from standard input, of which one line break at the end is left out; on a terminal it is asked\n" +
	"for, and not shown. It has 1 byte to 64 KiB, any but the byte 0."

func (s *secrets) set() *cobra.Command {
	var sent secretFlags
	command := &cobra.Command{
		Use:   "set COMPANY NAME",
		Short: "Make a secret, or give it another value",
		Long: "Make a secret, or give it another value, and what the flags say.\n\n" + valueHelp + "\n\n" +
			"NAME has 1 to 100 of the characters A-Z a-z 0-9 . _ -, first a letter.",
		Example: "  holdco secret set acme anthropic --category api_key <anthropic.key\n" +
			"  pass show anthropic | holdco secret set acme anthropic",
		Args: companyAndName,
		RunE: s.changing(func(command *cobra.Command, port inbound.Secrets, of id.Company, name string) (secret.Secret, error) {
			value, err := readValue(command, name)
			if err != nil {
				return secret.Secret{}, err
			}
			return port.Set(command.Context(), s.caller, of, name, sent.draft(command.Flags()), value)
		}, secretTable),
	}
	sent.add(command)
	return command
}

func (s *secrets) rotate() *cobra.Command {
	return &cobra.Command{
		Use:     "rotate COMPANY NAME",
		Short:   "Give a secret another value",
		Long:    "Give a secret, which there must be, another value.\n\n" + valueHelp,
		Example: "  holdco secret rotate acme anthropic <anthropic.key",
		Args:    companyAndName,
		RunE: s.changing(func(command *cobra.Command, port inbound.Secrets, of id.Company, name string) (secret.Secret, error) {
			if _, err := port.Get(command.Context(), s.caller, of, name); err != nil { // before a value is asked for
				return secret.Secret{}, err
			}
			value, err := readValue(command, name)
			if err != nil {
				return secret.Secret{}, err
			}
			return port.Rotate(command.Context(), s.caller, of, name, value)
		}, secretTable),
	}
}

func (s *secrets) update() *cobra.Command {
	var sent secretFlags
	command := &cobra.Command{
		Use:     "update COMPANY NAME",
		Short:   "Change the category or the description of a secret",
		Long:    "Change the category or the description of a secret. Its value stays.",
		Example: "  holdco secret update acme anthropic --description 'For the writers'",
		Args:    companyAndName,
		RunE: s.changing(func(command *cobra.Command, port inbound.Secrets, of id.Company, name string) (secret.Secret, error) {
			return port.Update(command.Context(), s.caller, of, name, sent.draft(command.Flags()))
		}, secretTable),
	}
	sent.add(command)
	command.MarkFlagsOneRequired("category", "description")
	return command
}

func (s *secrets) list() *cobra.Command {
	return &cobra.Command{
		Use:     "list COMPANY",
		Short:   "List the secrets of a company, newest first, without their values",
		Example: "  holdco secret list acme\n  holdco secret list acme --json",
		Args: func(command *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%q needs one argument, the id or the slug of a company", command.CommandPath())
			}
			return nil
		},
		RunE: on(s.app, s.open, func(command *cobra.Command, port inbound.Secrets, args []string) error {
			of, err := port.Company(command.Context(), s.caller, args[0])
			if err != nil {
				return err
			}
			found, err := gather(1<<31, func(after page.Position, size int) (page.Page[secret.Secret], error) {
				return port.List(command.Context(), s.caller, of, after, size)
			})
			if err != nil {
				return err
			}
			head := []string{"NAME", "CATEGORY", "VERSION", "CREATED", "ROTATED", "LAST USED", "DESCRIPTION"}
			return printList(command.OutOrStdout(), s.asJSON, found, head, secretRow)
		}),
	}
}

func (s *secrets) rm() *cobra.Command {
	return &cobra.Command{
		Use:   "rm COMPANY NAME",
		Short: "Remove a secret with its value",
		Long: "Remove a secret with its value. Runs that have it keep it; the adapters of agents whose configuration refers to it fail\n" +
			"from then on.",
		Example: "  holdco secret rm acme anthropic",
		Args:    companyAndName,
		RunE: s.changing(func(command *cobra.Command, port inbound.Secrets, of id.Company, name string) (secret.Secret, error) {
			return port.Remove(command.Context(), s.caller, of, name)
		}, nil),
	}
}

// changing makes the action of a command on one secret, which is printed as a table; nil: it is gone.
func (s *secrets) changing(
	change func(command *cobra.Command, port inbound.Secrets, of id.Company, name string) (secret.Secret, error),
	table func(of secret.Secret) [][]string,
) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		return onResource(s.app, s.open, &s.asJSON,
			func(ctx context.Context, port inbound.Secrets, args []string) (secret.Secret, error) {
				of, err := port.Company(ctx, s.caller, args[0])
				if err != nil {
					return secret.Secret{}, err
				}
				return change(command, port, of, args[1])
			}, func(out io.Writer, changed secret.Secret) error {
				if table != nil {
					return printTable(out, table(changed))
				}
				_, err := fmt.Fprintf(out, "The secret %s is removed.\n", changed.Name)
				return err
			})(command, args)
	}
}

func companyAndName(command *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%q needs two arguments, the id or the slug of a company and the name of a secret; values are read from "+
			"standard input", command.CommandPath())
	}
	return nil
}

// secretFlags are the flags that set and update have in common.
type secretFlags struct{ category, description string }

func (f *secretFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.category, "category", "",
		"what it is: api_key, oauth_token, mtls_cert, webhook_secret or other (a new secret is other)")
	flags.StringVar(&f.description, "description", "", "what the secret is for")
	var names []string
	for _, one := range secret.Categories() {
		names = append(names, string(one))
	}
	_ = command.RegisterFlagCompletionFunc("category", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// draft is what the flags say, where they say anything.
func (f *secretFlags) draft(flags *pflag.FlagSet) (sent secret.Draft) {
	if flags.Changed("category") {
		sent.Category = &f.category
	}
	if flags.Changed("description") {
		sent.Description = &f.description
	}
	return sent
}

// mostTyped is where a terminal of Linux cuts a line off without a word.
const mostTyped = 4095

// readValue reads the value of a secret, and warns of one that cannot be hidden. One byte more than allowed suffices to refuse it.
func readValue(command *cobra.Command, name string) (value []byte, err error) {
	in := command.InOrStdin()
	if file, isFile := in.(*os.File); isFile && term.IsTerminal(int(file.Fd())) {
		fmt.Fprintf(command.ErrOrStderr(), "The value of %s, which is not shown: ", name)
		value, err = term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(command.ErrOrStderr())
		isMore := false
		for err == nil && hasMore(file) { // the shell must not get it
			isMore = true
			_, err = term.ReadPassword(int(file.Fd()))
		}
		if isMore {
			return nil, errors.New("the value has more than one line; give it on standard input: < FILE")
		}
		if len(value) >= mostTyped {
			return nil, fmt.Errorf("the value is longer than a line of a terminal, %d bytes; give it on standard input: < FILE",
				mostTyped-1)
		}
	} else {
		value, err = io.ReadAll(io.LimitReader(in, secret.MostValue+int64(len("x\r\n"))))
		if line, ended := bytes.CutSuffix(value, []byte("\n")); ended {
			value = bytes.TrimSuffix(line, []byte("\r"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the value: %w", err)
	}
	if len(value) > 0 && len(value) < redact.Least && !bytes.Contains(value, []byte{0}) { // that is refused
		fmt.Fprintf(command.ErrOrStderr(), "holdco: the value has fewer than %d bytes; it is not hidden in what runs write\n", redact.Least)
	}
	return value, nil
}

func secretTable(s secret.Secret) [][]string {
	return [][]string{
		{"name", s.Name},
		{"company", string(s.Company)},
		{"category", string(s.Category)},
		{"version", fmt.Sprint(s.Version)},
		{"rotated", shown(s.RotatedAt, "-")},
	}
}

func secretRow(s secret.Secret) []string {
	return []string{
		s.Name, string(s.Category), fmt.Sprint(s.Version), shown(s.CreatedAt, "-"), shown(s.RotatedAt, "-"),
		shown(s.LastUsedAt, "never"), strings.Join(strings.Fields(s.Description), " "),
	}
}
