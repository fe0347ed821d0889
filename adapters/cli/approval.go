package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/id"
)

// ApprovalCommand is the command on approvals, with those below it.
func ApprovalCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "approval",
		Short: "List, approve, deny and ask about what agents ask for",
		Long:  "List, approve, deny and ask about what agents ask for before they act.",
	}
	c := approvals{a.remoteGroup(group)}
	group.AddCommand(c.list(), c.show(), c.approve(), c.deny(), c.comment())
	return group
}

// approvals are the commands below "approval".
type approvals struct{ *remote }

var oneApproval = oneNamed("approval", "id", func(arg string) bool {
	_, isID := id.Parse[id.Approval](arg)
	return isID
})

func (c approvals) list() *cobra.Command {
	head := []string{"ID", "STATUS", "ACTION", "COST", "AGENT", "ISSUE", "REQUESTED", "EXPIRES"}
	command := listing(c.remote, "approval", client.ListApprovals, head, func(a client.Approval) []string {
		return []string{
			a.ID, a.Status, a.ActionName, costOf(a), a.AgentID, a.IssueID, a.RequestedAt, a.ExpiresAt,
		}
	})
	command.Example += "\n  holdco approval list --status pending,asked_question --team research"
	flags := command.Flags()
	flags.String("status", "", "only those that are pending, asked_question, approved, approved_with_edits, denied or\n"+
		"expired; several are separated by commas")
	flags.String("agent", "", "only those of an agent: id")
	flags.String("team", "", "only those of a team: id or slug")
	flags.String("issue", "", "only those on an issue: id")
	flags.String("since", "", "only those asked for from an instant on")
	flags.String("until", "", "only those asked for before an instant")
	_ = command.RegisterFlagCompletionFunc("team", c.complete(true, completeTeams))
	_ = command.RegisterFlagCompletionFunc("agent", c.complete(true, completeAgents(employed)))
	return command
}

// costOf is what an action is expected to cost.
func costOf(a client.Approval) string {
	if a.Cost.USD == "" {
		return "-"
	}
	return dollars(a.Cost.USD)
}

func (c approvals) show() *cobra.Command {
	return c.one("show", &cobra.Command{
		Short:   "Show an approval",
		Example: "  holdco approval show apr_01jqvb2k3e8m0t9c5x7a4n6p1r",
		RunE:    doing(c.remote, named(client.GetApproval), printApproval),
	})
}

func (c approvals) approve() *cobra.Command {
	var edits string
	command := c.one("approve", &cobra.Command{
		Short: "Approve what an agent asked for",
		Long:  "Approve what an agent asked for, or with --edits something else.",
		Example: "  holdco approval approve apr_01jqvb2k3e8m0t9c5x7a4n6p1r\n" +
			"  holdco approval approve apr_01jqvb2k3e8m0t9c5x7a4n6p1r --edits '{\"when\": \"at night\"}' --note 'Not before ten.'",
	})
	command.RunE = doing(c.remote, func(command *cobra.Command, s *server, args []string) (client.Call, error) {
		if !command.Flags().Changed("edits") {
			return named(client.Approve)(command, s, args)
		}
		if !json.Valid([]byte(edits)) {
			return client.Call{}, WrongUsage(errors.New("--edits must be JSON, such as '{\"when\": \"at night\"}' or '\"at night\"'"))
		}
		body := sent(command, client.ApproveWithEdits)
		body["edits"] = json.RawMessage(edits)
		return client.ApproveWithEdits.In(s.company, args[0]).Sending(body), nil
	}, decided)
	command.Flags().String("note", "", "what the agent should know")
	command.Flags().StringVar(&edits, "edits", "", "how the agent may do it instead: any JSON")
	return command
}

func (c approvals) deny() *cobra.Command {
	command := c.one("deny", &cobra.Command{
		Short:   "Deny what an agent asked for",
		Example: "  holdco approval deny apr_01jqvb2k3e8m0t9c5x7a4n6p1r --note \"The prices are last year's.\"",
		RunE:    doing(c.remote, named(client.Deny), decided),
	})
	command.Flags().String("note", "", "why; the agent reads it")
	_ = command.MarkFlagRequired("note")
	return command
}

func (c approvals) comment() *cobra.Command {
	command := c.one("comment", &cobra.Command{
		Short:   "Ask an agent about what it asked for",
		Example: "  holdco approval comment apr_01jqvb2k3e8m0t9c5x7a4n6p1r --body 'Since when are these the prices?'",
		RunE:    doing(c.remote, named(client.CommentOnApproval), decided),
	})
	command.Flags().String("body", "", "what to say, in Markdown")
	_ = command.MarkFlagRequired("body")
	return command
}

// one completes a command on one approval.
func (c approvals) one(verb string, command *cobra.Command) *cobra.Command {
	command.Use, command.Args, command.ValidArgsFunction = verb+" APPROVAL", oneApproval, c.completeOne(completeApprovals)
	return command
}

// decided says in which state an approval is now.
func decided(out io.Writer, next client.Approval) error {
	_, err := fmt.Fprintf(out, "The approval %s (%s) is %s.\n", next.ID, next.ActionName, next.Status)
	return err
}

func printApproval(out io.Writer, a client.Approval) error {
	rows := [][]string{
		{"id", a.ID},
		{"status", a.Status},
		{"action", a.ActionName},
		{"agent", a.AgentID},
		{"issue", a.IssueID},
		{"cost", costOf(a)},
		{"side effects", orDash(strings.Join(a.SideEffects, "; "))},
		{"requested", a.RequestedAt},
		{"expires", a.ExpiresAt},
		{"decided by", orDash(a.DecidedBy)},
	}
	if err := printTable(out, rows); err != nil {
		return err
	}
	text := "\n" + a.Action + "\n"
	for _, part := range []struct{ name, value string }{{"why", a.Reasoning}, {"if denied", a.IfDenied}, {"note", a.Note}} {
		if part.value != "" {
			text += "\n" + part.name + ": " + part.value + "\n"
		}
	}
	if a.Edits != nil {
		shown, err := json.Marshal(a.Edits)
		if err != nil {
			return err
		}
		text += fmt.Sprintf("\nedits: %s\n", shown)
	}
	for _, said := range a.Comments {
		text += fmt.Sprintf("\n%s, %s: %s\n", said.CreatedAt, said.Author, said.Body)
	}
	_, err := io.WriteString(out, text)
	return err
}

func completeApprovals(ctx context.Context, s *server) ([]cobra.Completion, error) {
	call := client.ListApprovals.In(s.company).With("status", "pending,asked_question")
	return completions(ctx, s, call, func(a client.Approval) cobra.Completion {
		return cobra.CompletionWithDesc(a.ID, a.ActionName)
	})
}
