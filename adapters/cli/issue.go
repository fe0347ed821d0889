package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/id"
)

// IssueCommand is the command on issues, with those below it.
func IssueCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "issue",
		Short: "File, list, assign, cancel and comment on the issues of a company",
		Long: "File, list, assign, cancel and comment on the issues of a company: what its agents are to do. An issue is found by its\n" +
			"id or by its number.",
	}
	c := issues{a.remoteGroup(group)}
	group.AddCommand(c.create(), c.list(), c.show(), c.assign(), c.cancel(), c.comment())
	return group
}

// issues are the commands below "issue".
type issues struct{ *remote }

var oneIssue = oneNamed("issue", "id or number", func(arg string) bool {
	_, isID := id.Parse[id.Issue](arg)
	return isID || issueNumber(arg) > 0
})

// issueNumber is the number that text spells, such as 42 or #42; 0: none.
func issueNumber(text string) int {
	number, err := strconv.Atoi(strings.TrimPrefix(text, "#"))
	if err != nil || number < 1 {
		return 0
	}
	return number
}

func (c issues) create() *cobra.Command {
	var to assignee
	var parent string
	var blockers []string
	var perTask amount
	command := &cobra.Command{
		Use:   "create",
		Short: "File an issue",
		Long: "File an issue. With --agent it is kept for that agent, with --team any agent of the team may take it, and with neither\n" +
			"any agent of the company. With --workflow it goes through the steps of that.",
		Example: "  holdco issue create --title 'Write the newsletter' --team research\n" +
			"  holdco issue create --title 'Fix the login' --agent Ada --priority urgent --labels bug,web --parent 41",
		Args: noArgs,
	}
	command.RunE = doing(c.remote, func(command *cobra.Command, s *server, _ []string) (client.Call, error) {
		body := sent(command, client.CreateIssue)
		err := to.in(command.Context(), s, body, "assignedAgentId", "assignedTeamId")
		if err == nil && parent != "" {
			body["parentId"], err = s.issueID(command.Context(), parent)
		}
		if err == nil && blockers != nil {
			body["blockedBy"], err = s.issueIDs(command.Context(), blockers)
		}
		return client.CreateIssue.In(s.company).Sending(body), err
	}, printIssue)
	flags := command.Flags()
	flags.String("title", "", "what is to be done")
	flags.String("description", "", "more about it, in Markdown")
	flags.String("priority", "", "low, normal, high or urgent (default normal)")
	to.flags(c, command)
	flags.String("workflow", "", "the workflow that it is to go through: id or slug")
	flags.String("project", "", "the project that it belongs to: id")
	flags.String("goal", "", "the goal that it pursues: id (default that of the project)")
	flags.StringVar(&parent, "parent", "", "the issue that it is a part of: id or number")
	flags.StringSliceVar(&blockers, "blocked-by", nil, "issues that have to be done before: ids or numbers, separated by commas")
	flags.StringSlice("labels", nil, "labels, separated by commas")
	flags.Var(&perTask, "per-task-budget", "what it may cost, or none for no limit")
	flags.Int("max-attempts", 0, "how many attempts it has (default 3)")
	flags.Bool("requires-review", true, "whether a person accepts what came of it")
	flags.String("due-at", "", "when it is due, such as 2026-05-01T12:00:00Z")
	flags.String("not-before", "", "when it may be begun, such as 2026-05-01T12:00:00Z")
	for flag, field := range map[string]string{
		"per-task-budget": "budget.perTaskUsd", "max-attempts": "maxAttempts", "requires-review": "requiresReview", "due-at": "dueAt",
		"not-before": "notBefore", "workflow": "workflowId", "project": "projectId", "goal": "goalId",
	} {
		setsField(flags, flag, field)
	}
	_ = command.MarkFlagRequired("title")
	_ = command.RegisterFlagCompletionFunc("workflow", c.complete(true, completeWorkflows))
	_ = command.RegisterFlagCompletionFunc("priority",
		cobra.FixedCompletions([]string{"low", "normal", "high", "urgent"}, cobra.ShellCompDirectiveNoFileComp))
	_ = command.RegisterFlagCompletionFunc("project", c.complete(true, completeProjects(underway)))
	_ = command.RegisterFlagCompletionFunc("goal", c.complete(true, completeGoals(underway)))
	_ = command.RegisterFlagCompletionFunc("parent", c.complete(true, completeIssues))
	_ = command.RegisterFlagCompletionFunc("blocked-by", c.complete(true, completeIssues))
	return command
}

// assignee is who is to work on an issue, as flags name it.
type assignee struct{ agent, team string }

func (a *assignee) flags(c issues, command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&a.agent, "agent", "", "the agent who is to do it: id or name")
	flags.StringVar(&a.team, "team", "", "the team that is to do it: id or slug")
	command.MarkFlagsMutuallyExclusive("agent", "team")
	_ = command.RegisterFlagCompletionFunc("agent", c.complete(true, completeAgents(employed)))
	_ = command.RegisterFlagCompletionFunc("team", c.complete(true, completeTeams))
}

// in puts the assignee into a body, under one of two fields.
func (a *assignee) in(ctx context.Context, s *server, body map[string]any, agentField, teamField string) (err error) {
	if a.agent != "" {
		body[agentField], err = s.agentID(ctx, a.agent)
	}
	if err == nil && a.team != "" {
		body[teamField], err = s.teamID(ctx, a.team)
	}
	return err
}

func (c issues) list() *cobra.Command {
	head := []string{"NUMBER", "ID", "STATUS", "PRIORITY", "TITLE", "AGENT", "TEAM", "CREATED"}
	command := listing(c.remote, "issue", client.ListIssues, head, func(i client.Issue) []string {
		return []string{
			strconv.Itoa(i.Number), i.ID, i.Status, i.Priority, shortened(i.Title), orDash(i.AssignedAgentID),
			orDash(i.AssignedTeamID), i.CreatedAt,
		}
	})
	command.Example += "\n  holdco issue list --status queued,assigned --team research --sort priority"
	flags := command.Flags()
	flags.String("status", "", "only those that are queued, assigned, running, review, handoff, done, failed or\n"+
		"cancelled; several are separated by commas")
	flags.String("agent", "", "only those of an agent: id")
	flags.String("team", "", "only those of a team: id or slug")
	flags.String("workflow", "", "only those with a workflow, without their steps: id or slug")
	flags.String("project", "", "only those of a project: id")
	flags.String("goal", "", "only those of a goal: id")
	flags.String("parent", "", "only those below an issue: id, or null for those below none")
	flags.String("label", "", "only those with a label")
	flags.String("priority", "", "only those that are low, normal, high or urgent")
	flags.String("q", "", "only those with all of these words in title or description")
	flags.String("since", "", "only those created from an instant on")
	flags.String("until", "", "only those created before an instant")
	flags.String("sort", "", "created, updated, priority or due (default created)")
	_ = command.RegisterFlagCompletionFunc("team", c.complete(true, completeTeams))
	_ = command.RegisterFlagCompletionFunc("workflow", c.complete(true, completeWorkflows))
	_ = command.RegisterFlagCompletionFunc("agent", c.complete(true, completeAgents(employed)))
	_ = command.RegisterFlagCompletionFunc("project", c.complete(true, completeProjects("")))
	_ = command.RegisterFlagCompletionFunc("goal", c.complete(true, completeGoals("")))
	_ = command.RegisterFlagCompletionFunc("sort",
		cobra.FixedCompletions([]string{"created", "updated", "priority", "due"}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// shortened is a title that fits into a table.
func shortened(title string) string {
	const most = 60
	if runes := []rune(title); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return title
}

func (c issues) show() *cobra.Command {
	return c.one("show", &cobra.Command{
		Short:   "Show an issue",
		Example: "  holdco issue show 42\n  holdco issue show iss_01jqvb2k3e8m0t9c5x7a4n6p1r --json",
		RunE:    doing(c.remote, ofIssue(client.GetIssue, nil), printIssue),
	})
}

func (c issues) assign() *cobra.Command {
	var to assignee
	command := c.one("assign", &cobra.Command{
		Short: "Give an issue to an agent or a team",
		Long: "Give an issue to an agent, for whom it is kept, or to a team, any of whose agents may take it. What runs, is in review\n" +
			"or has ended cannot be assigned.",
		Example: "  holdco issue assign 42 --agent Ada\n  holdco issue assign 42 --team research",
	})
	command.RunE = doing(c.remote, ofIssue(client.AssignIssue, func(command *cobra.Command, s *server) (map[string]any, error) {
		body := map[string]any{}
		return body, to.in(command.Context(), s, body, "agentId", "teamId")
	}), moved)
	to.flags(c, command)
	command.MarkFlagsOneRequired("agent", "team")
	return command
}

func (c issues) cancel() *cobra.Command {
	command := c.one("cancel", &cobra.Command{
		Short:   "Cancel an issue",
		Long:    "Cancel an issue, and all below it. The agent that works on it learns that with its next call.",
		Example: "  holdco issue cancel 42 --reason 'The fair was called off.'",
		RunE: doing(c.remote, ofIssue(client.CancelIssue, func(command *cobra.Command, _ *server) (map[string]any, error) {
			return sent(command, client.CancelIssue), nil
		}), moved),
	})
	command.Flags().String("reason", "", "why; it becomes a comment")
	return command
}

func (c issues) comment() *cobra.Command {
	var file string
	command := c.one("comment", &cobra.Command{
		Short:   "Say something about an issue",
		Example: "  holdco issue comment 42 --body 'Mention the rockets.'\n  holdco issue comment 42 --file notes.md",
		RunE: doing(c.remote, ofIssue(client.CommentOnIssue, func(command *cobra.Command, _ *server) (map[string]any, error) {
			body := sent(command, client.CommentOnIssue)
			if file != "" {
				text, err := readText(file, command.InOrStdin())
				if err != nil {
					return nil, err
				}
				body["body"] = text
			}
			return body, nil
		}), func(out io.Writer, made client.Comment) error {
			_, err := fmt.Fprintf(out, "The comment %s is made.\n", made.ID)
			return err
		}),
	})
	flags := command.Flags()
	flags.String("body", "", "what to say, in Markdown")
	flags.StringVar(&file, "file", "", "a file that holds what to say; - is standard input")
	command.MarkFlagsMutuallyExclusive("body", "file")
	command.MarkFlagsOneRequired("body", "file")
	return command
}

// one completes a command on one issue.
func (c issues) one(verb string, command *cobra.Command) *cobra.Command {
	command.Use, command.Args, command.ValidArgsFunction = verb+" ISSUE", oneIssue, c.completeOne(completeIssues)
	return command
}

// ofIssue is a call of an operation on the issue that the only argument names. Body makes what it sends; nil: nothing.
func ofIssue(
	o client.Operation, body func(command *cobra.Command, s *server) (map[string]any, error),
) func(*cobra.Command, *server, []string) (client.Call, error) {
	return func(command *cobra.Command, s *server, args []string) (client.Call, error) {
		which, err := s.issueID(command.Context(), args[0])
		if err != nil {
			return client.Call{}, err
		}
		call := o.In(s.company, which)
		if body == nil {
			return call, nil
		}
		sent, err := body(command, s)
		return call.Sending(sent), err
	}
}

// moved says in which state an issue is now.
func moved(out io.Writer, next client.Issue) error {
	_, err := fmt.Fprintf(out, "The issue #%d (%s) is %s.\n", next.Number, shortened(next.Title), next.Status)
	return err
}

func printIssue(out io.Writer, i client.Issue) error {
	step := "-"
	if i.Step != nil {
		step = fmt.Sprintf("%d, %s (gate %s)", i.Step.Number, i.Step.Key, i.Step.Gate)
	}
	rows := [][]string{
		{"id", i.ID},
		{"number", strconv.Itoa(i.Number)},
		{"title", i.Title},
		{"status", i.Status},
		{"priority", i.Priority},
		{"agent", orDash(i.AssignedAgentID)},
		{"team", orDash(i.AssignedTeamID)},
		{"project", orDash(i.ProjectID)},
		{"goal", orDash(i.GoalID)},
		{"parent", orDash(i.ParentID)},
		{"workflow", orDash(i.WorkflowID)},
		{"step", step},
		{"open blockers", strconv.Itoa(i.OpenBlockers)},
		{"labels", orDash(strings.Join(i.Labels, ", "))},
		{"attempt", fmt.Sprintf("%d of %d", i.Attempt, i.MaxAttempts)},
		{"budget", dollars(i.Budget.PerTaskUSD)},
		{"spent", dollars(i.Budget.SpentUSD)},
		{"due", orDash(i.DueAt)},
		{"created", i.CreatedAt},
		{"updated", i.UpdatedAt},
	}
	text := ""
	if i.Description != "" {
		text = "\n" + i.Description + "\n"
	}
	for _, outcome := range []struct {
		name  string
		value any
	}{{"result", i.Result}, {"error", i.Error}} {
		if outcome.value != nil {
			shown, err := json.Marshal(outcome.value)
			if err != nil {
				return err
			}
			text += fmt.Sprintf("\n%s: %s\n", outcome.name, shown)
		}
	}
	if err := printTable(out, rows); err != nil {
		return err
	}
	_, err := io.WriteString(out, text)
	return err
}

// issueID finds an issue by its id or its number.
func (s *server) issueID(ctx context.Context, named string) (string, error) {
	number := issueNumber(named)
	if number == 0 {
		return named, nil
	}
	data, err := s.Do(ctx, client.ListIssues.In(s.company).With("number", strconv.Itoa(number)))
	if err != nil {
		return "", err
	}
	found, err := client.Read[[]client.Issue](data)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", errors.New("there is no issue #" + strconv.Itoa(number))
	}
	return found[0].ID, nil
}

func (s *server) issueIDs(ctx context.Context, named []string) (ids []string, err error) {
	ids = make([]string, len(named))
	for n, one := range named {
		if ids[n], err = s.issueID(ctx, strings.TrimSpace(one)); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func completeIssues(ctx context.Context, s *server) ([]cobra.Completion, error) {
	return completions(ctx, s, client.ListIssues.In(s.company), func(i client.Issue) cobra.Completion {
		return cobra.CompletionWithDesc(strconv.Itoa(i.Number), i.Title)
	})
}
