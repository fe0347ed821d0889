package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
)

// TokenCommand is the command on API tokens, with those below it.
func TokenCommand(open Opener[inbound.Tokens]) Command {
	return func(a *app) *cobra.Command { return (&tokens{app: a, open: open}).group() }
}

func (t *tokens) group() *cobra.Command {
	command := &cobra.Command{
		Use:   "token",
		Short: "Issue, list, rotate and revoke API tokens",
		Long: "Issue, list, rotate and revoke API tokens. These commands work directly on the store, so they need no token;\n" +
			"the server may be running, and obeys within a second.",
	}
	command.AddCommand(t.create(), t.list(), t.rotate(), t.revoke())
	jsonFlag(command.PersistentFlags(), &t.asJSON)
	t.program.StoreFlags(command.PersistentFlags())
	return command
}

// tokens are the commands below "token".
type tokens struct {
	*app
	open   Opener[inbound.Tokens]
	asJSON bool
}

func (t *tokens) create() *cobra.Command {
	var draft access.TokenDraft
	var name, expires string
	command := &cobra.Command{
		Use:   "create",
		Short: "Issue a token and print its value, which is shown this once",
		Long: "Issue a token and print its value, which is shown this once: only a hash of it is kept.\n\n" +
			"Scopes are read, write and admin, and company:ID:read and company:ID:write for one company only (a slug will do\n" +
			"for ID). Neither of read and write includes the other; admin includes both.",
		Example: "  holdco token create --name deploy --scopes read,write\n" +
			"  holdco token create --name report --scopes company:acme:read --expires 720h\n" +
			"  holdco token create --name ci --scopes write --expires 2027-04-11 --json",
		Args: noArgs,
		RunE: on(t.app, t.open, func(command *cobra.Command, port inbound.Tokens, _ []string) error {
			issued, err := port.Create(command.Context(), t.caller, draft, idempotency.Request{})
			if err != nil {
				return err
			}
			return t.printIssued(command, issued)
		}),
	}
	command.PreRunE = func(command *cobra.Command, _ []string) (err error) {
		draft.Name = &name
		draft.Scopes = trimmed(draft.Scopes)
		if command.Flags().Changed("expires") {
			draft.ExpiresAt, err = t.expiry(expires)
		}
		return err
	}
	flags := command.Flags()
	flags.StringVar(&name, "name", "", "what the token is for")
	flags.StringSliceVar(&draft.Scopes, "scopes", nil, "what it allows, separated by commas")
	flags.StringVar(&expires, "expires", "", expiryHelp+" (default never)")
	setsField(flags, "expires", "expiresAt")
	_ = command.MarkFlagRequired("name")
	_ = command.MarkFlagRequired("scopes")
	_ = command.RegisterFlagCompletionFunc("scopes",
		cobra.FixedCompletions([]string{"read", "write", "admin"}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func (t *tokens) list() *cobra.Command {
	head := []string{"ID", "NAME", "SCOPES", "HINT", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}
	return listAll(t.app, t.open, &t.asJSON, "token", inbound.Tokens.List, head, tokenRow)
}

func (t *tokens) rotate() *cobra.Command {
	var rotation *access.Rotation
	command := &cobra.Command{
		Use:   "rotate ID",
		Short: "Give a token a new value and print it, which is shown this once",
		Long: "Give a token a new value and print it, which is shown this once. The id, name, scopes and end stay as they are.\n" +
			"The old value ends at once, or after --grace.",
		Example: "  holdco token rotate tok_01jqvb2k3e8m0t9c5x7a4n6p1r --grace 1h",
		Args:    oneID[id.Token]("token"),
		RunE: on(t.app, t.open, func(command *cobra.Command, port inbound.Tokens, args []string) error {
			issued, err := port.Rotate(command.Context(), t.caller, id.Token(args[0]), *rotation,
				precondition.Any(), idempotency.Request{})
			if err != nil {
				return err
			}
			return t.printIssued(command, issued)
		}),
	}
	rotation = rotationFlags(command.Flags(), "value", 0)
	return command
}

func (t *tokens) revoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a token permanently",
		Example: "  holdco token revoke tok_01jqvb2k3e8m0t9c5x7a4n6p1r",
		Args:    oneID[id.Token]("token"),
		RunE: onResource(t.app, t.open, &t.asJSON, func(ctx context.Context, port inbound.Tokens, args []string) (access.Token, error) {
			return port.Revoke(ctx, t.caller, id.Token(args[0]), precondition.Any())
		}, func(out io.Writer, token access.Token) error {
			_, err := fmt.Fprintf(out, "The token %s (%s) is revoked.\n", token.ID, token.Name)
			return err
		}),
	}
}

func (t *tokens) printIssued(command *cobra.Command, issued inbound.IssuedToken) error {
	return printIssued(command.OutOrStdout(), t.asJSON, issued.Token, tokenTable(issued.Token), "token", string(issued.Value))
}

func tokenTable(token access.Token) [][]string {
	return [][]string{
		{"id", string(token.ID)},
		{"name", token.Name},
		{"scopes", strings.Join(token.Scopes.Strings(), ",")},
		{"expires", shown(token.ExpiresAt, "never")},
	}
}

func tokenRow(token access.Token) []string {
	return []string{
		string(token.ID), token.Name, strings.Join(token.Scopes.Strings(), ","), token.Hint, shown(token.CreatedAt, "-"),
		shown(token.ExpiresAt, "never"), shown(token.LastUsedAt, "never"), shown(token.RevokedAt, "-"),
	}
}
