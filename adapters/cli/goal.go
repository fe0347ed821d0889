package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/id"
)

// GoalCommand is the command on goals, with those below it.
func GoalCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "goal",
		Short: "Set, list, change and close the goals of a company",
		Long:  "Set, list, change and close the goals of a company: what its work is for. Projects and issues pursue them.",
	}
	g := kind[client.Goal]{
		remote: a.remoteGroup(group), name: "goal", args: oneID[id.Goal]("goal"), names: completeGoals, print: printGoal,
		flags: goalFlags,
	}
	list := g.list(client.ListGoals, []string{"ID", "STATUS", "TITLE", "TARGET", "ISSUES", "DONE", "SPENT", "BUDGET", "CREATED"},
		func(one client.Goal) []string { return purposeRow(one.Purpose, orDash(one.TargetDate)) })
	list.Flags().String("status", "", "only those that are active, achieved or abandoned; several are separated by commas")
	group.AddCommand(
		g.create(client.CreateGoal, &cobra.Command{
			Short:   "Set a goal",
			Example: "  holdco goal create --title 'Be known in every canyon' --target-date 2026-12-31 --budget 500",
		}, "title"),
		list,
		g.show(client.GetGoal, "gl_01jqvb2k3e8m0t9c5x7a4n6p1r"),
		g.update(client.UpdateGoal, underway, &cobra.Command{
			Short:   "Change a goal",
			Long:    "Change a goal that is not closed. What is not named stays as it is.",
			Example: "  holdco goal update gl_01jqvb2k3e8m0t9c5x7a4n6p1r --target-date none --budget 750",
		}),
		closeGoal(g),
	)
	return group
}

// underway is the state in which goals and projects are changed, as the API takes it.
const underway = "active"

func closeGoal(g kind[client.Goal]) *cobra.Command {
	command := g.end(client.CloseGoal, "close", underway, func(last client.Goal) string { return purposeEnded("goal", last.Purpose) },
		&cobra.Command{
			Short:   "Close a goal permanently",
			Long:    "Close a goal permanently. What is done for it goes on, and nothing new can be for it.",
			Example: "  holdco goal close gl_01jqvb2k3e8m0t9c5x7a4n6p1r --outcome achieved",
		})
	command.Flags().String("outcome", "", "achieved or abandoned")
	_ = command.MarkFlagRequired("outcome")
	_ = command.RegisterFlagCompletionFunc("outcome",
		cobra.FixedCompletions([]string{"achieved", "abandoned"}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func goalFlags(command *cobra.Command) bodyOf {
	purposeFlags(command)
	command.Flags().Var(&optional{}, "target-date", "the day by which it should be reached, such as 2026-12-31, or none")
	setsField(command.Flags(), "target-date", "targetDate")
	return asGiven
}

// purposeEnded says what has become of a goal or a project.
func purposeEnded(kind string, last client.Purpose) string {
	return fmt.Sprintf("The %s %s (%s) is %s.", kind, last.ID, shortened(last.Title), last.Status)
}

func printGoal(out io.Writer, g client.Goal) error {
	return printPurpose(out, g.Purpose, [][]string{
		{"target date", orDash(g.TargetDate)},
		{"projects", orDash(strings.Join(g.ProjectIDs, ", "))},
	})
}

// completeGoals completes the ids of goals in a state; empty: in any.
func completeGoals(state string) completer {
	return completePurposes(client.ListGoals, state)
}

// purposeFlags are the flags that goals and projects have in common.
func purposeFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.String("title", "", "what it is, in a line")
	flags.String("description", "", "more about it, in Markdown")
	flags.Var(&amount{}, "budget", "what its work may cost, in its lifetime, or none for no limit")
	setsField(flags, "budget", "budget.usd")
}

// purposeRow is a goal or a project in a list, with what it belongs to.
func purposeRow(p client.Purpose, belongs string) []string {
	return []string{
		p.ID, p.Status, shortened(p.Title), belongs, fmt.Sprint(p.Progress.Total), fmt.Sprint(p.Progress.Done),
		dollars(p.Budget.SpentUSD), dollars(p.Budget.USD), p.CreatedAt,
	}
}

// printPurpose prints a goal or a project, of which own are the rows that only it has.
func printPurpose(out io.Writer, p client.Purpose, own [][]string) error {
	rows := append([][]string{{"id", p.ID}, {"title", p.Title}, {"status", p.Status}}, own...)
	rows = append(rows, [][]string{
		{"issues", fmt.Sprint(p.Progress.Total)},
		{"done", fmt.Sprint(p.Progress.Done)},
		{"in flight", fmt.Sprint(p.Progress.InFlight)},
		{"queued", fmt.Sprint(p.Progress.Queued)},
		{"budget", dollars(p.Budget.USD)},
		{"spent", dollars(p.Budget.SpentUSD)},
		{"created", p.CreatedAt},
		{"updated", p.UpdatedAt},
	}...)
	if err := printTable(out, rows); err != nil || p.Description == "" {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", p.Description)
	return err
}

// completePurposes completes the ids of goals or projects in a state; empty: in any.
func completePurposes(list client.Operation, state string) completer {
	return func(ctx context.Context, s *server) ([]cobra.Completion, error) {
		call := list.In(s.company)
		if state != "" {
			call = call.With("status", state)
		}
		return completions(ctx, s, call, func(p client.Purpose) cobra.Completion {
			return cobra.CompletionWithDesc(p.ID, p.Title)
		})
	}
}

// optional is a flag of a text, or of none.
type optional struct{ text string }

func (o *optional) String() string { return o.text }
func (o *optional) Type() string   { return "string" }

func (o *optional) Set(text string) error {
	o.text = text
	return nil
}

// MarshalJSON spells the text as the API wants it.
func (o *optional) MarshalJSON() ([]byte, error) {
	if o.text == none {
		return []byte("null"), nil
	}
	return json.Marshal(o.text)
}
