package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/id"
	"holdco/domain/text"
)

// WorkflowCommand is the command on workflows, with those below it.
func WorkflowCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "workflow",
		Short: "Create, list, change and delete the workflows of a company",
		Long: "Create, list, change and delete the workflows of a company. A workflow is a list of steps; \"holdco issue create\n" +
			"--workflow\" files an issue that goes through them.",
	}
	w := kind[client.Workflow]{
		remote: a.remoteGroup(group), name: "workflow", args: oneWorkflow, names: anyState(completeWorkflows), print: printWorkflow,
		flags: func(command *cobra.Command) bodyOf { return addWorkflowFlags(command).body },
	}
	group.AddCommand(
		w.create(client.CreateWorkflow, &cobra.Command{
			Short: "Create a workflow",
			Long: "Create a workflow. Its steps are in a JSON file, as a list of objects with key, title, instructions, team (id or\n" +
				"slug) and gate (none, review or approval), of which key and title are needed.",
			Example: "  holdco workflow create --name Newsletter --steps steps.json\n" +
				"  echo '[{\"key\":\"write\",\"title\":\"Write it\",\"gate\":\"review\"}]' | holdco workflow create --name Post --steps -",
		}, "name", "steps"),
		w.list(client.ListWorkflows, []string{"ID", "SLUG", "NAME", "VERSION", "STEPS", "BUDGET", "CREATED"},
			func(one client.Workflow) []string {
				return []string{
					one.ID, one.Slug, one.Name, strconv.Itoa(one.Version), strconv.Itoa(len(one.Steps)), dollars(one.Budget.USD),
					one.CreatedAt,
				}
			}),
		w.show(client.GetWorkflow, "newsletter", "newsletter --json"),
		w.update(client.UpdateWorkflow, "", &cobra.Command{
			Short:   "Change a workflow",
			Long:    "Change a workflow. What is not named stays as it is. Issues keep the steps that they were filed with.",
			Example: "  holdco workflow update newsletter --steps steps.json\n  holdco workflow update newsletter --budget none",
		}),
		w.end(client.DeleteWorkflow, "delete", "", func(last client.Workflow) string {
			return fmt.Sprintf("The workflow %s (%s) is deleted.", last.Slug, last.Name)
		}, &cobra.Command{
			Short:   "Delete a workflow that has no open issues",
			Long:    "Delete a workflow. One that has open issues cannot be deleted: finish or cancel them first.",
			Example: "  holdco workflow delete newsletter",
		}),
	)
	return group
}

var oneWorkflow = oneNamed("workflow", "id or slug", func(arg string) bool {
	_, isID := id.Parse[id.Workflow](arg)
	return isID || text.IsSlug(arg)
})

// workflowFlags are the flags that create and update have in common.
type workflowFlags struct {
	budget amount
	steps  string
}

func addWorkflowFlags(command *cobra.Command) *workflowFlags {
	f, flags := &workflowFlags{}, command.Flags()
	flags.String("name", "", "what the workflow is called")
	flags.String("slug", "", "its short name (default from its name)")
	flags.String("description", "", "what it is for, in Markdown")
	flags.Var(&f.budget, "budget", "what all of its issues may cost, or none for no limit")
	flags.StringVar(&f.steps, "steps", "", "the JSON file with its steps; - is standard input")
	setsField(flags, "budget", "budget.usd")
	return f
}

// body is what the flags say, with the steps of the file.
func (f *workflowFlags) body(command *cobra.Command, _ *server, o client.Operation) (map[string]any, error) {
	body := sent(command, o)
	if f.budget.text == none {
		body["budget"] = nil
	}
	if f.steps == "" {
		return body, nil
	}
	list, err := readText(f.steps, command.InOrStdin())
	if err == nil && (!json.Valid([]byte(list)) || !strings.HasPrefix(strings.TrimSpace(list), "[")) {
		err = WrongUsage(fmt.Errorf("--steps must name a file that holds a JSON list; it is %q", f.steps))
	}
	body["steps"] = json.RawMessage(list)
	return body, err
}

func printWorkflow(out io.Writer, w client.Workflow) error {
	rows := [][]string{
		{"id", w.ID},
		{"slug", w.Slug},
		{"name", w.Name},
		{"description", orDash(strings.Join(strings.Fields(w.Description), " "))},
		{"version", strconv.Itoa(w.Version)},
		{"budget", dollars(w.Budget.USD)},
	}
	for n, step := range w.Steps {
		rows = append(rows, []string{fmt.Sprintf("step %d", n+1), fmt.Sprintf("%s: %s (gate %s, team %s)",
			step.Key, step.Title, step.Gate, orDash(step.Team))})
	}
	return printTable(out, append(rows, []string{"created", w.CreatedAt}, []string{"updated", w.UpdatedAt}))
}

func completeWorkflows(ctx context.Context, s *server) ([]cobra.Completion, error) {
	return completions(ctx, s, client.ListWorkflows.In(s.company), func(w client.Workflow) cobra.Completion {
		return cobra.CompletionWithDesc(w.Slug, w.Name)
	})
}
