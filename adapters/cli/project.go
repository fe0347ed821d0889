package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/id"
)

// ProjectCommand is the command on projects, with those below it.
func ProjectCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "project",
		Short: "Create, list, change and archive the projects of a company",
		Long:  "Create, list, change and archive the projects of a company: issues that belong together, which may pursue a goal.",
	}
	p := projects{a.remoteGroup(group)}
	group.AddCommand(p.create(), p.list(), p.show(), p.update(), p.archive())
	return group
}

// projects are the commands below "project".
type projects struct{ *remote }

func (p projects) create() *cobra.Command {
	command := &cobra.Command{
		Use:   "create",
		Short: "Create a project",
		Example: "  holdco project create --title 'Spring campaign' --owner research --budget 120.50\n" +
			"  holdco project create --title 'Spring campaign' --goal gl_01jqvb2k3e8m0t9c5x7a4n6p1r --json",
		Args: noArgs,
	}
	owner := p.flags(command)
	command.RunE = doing(p.remote, func(command *cobra.Command, s *server, _ []string) (client.Call, error) {
		body, err := owner.in(command, s, client.CreateProject)
		return client.CreateProject.In(s.company).Sending(body), err
	}, printProject)
	_ = command.MarkFlagRequired("title")
	return command
}

func (p projects) list() *cobra.Command {
	head := []string{"ID", "STATUS", "TITLE", "GOAL", "ISSUES", "DONE", "SPENT", "BUDGET", "CREATED"}
	command := listing(p.remote, "project", client.ListProjects, head, func(one client.Project) []string {
		return purposeRow(one.Purpose, orDash(one.GoalID))
	})
	command.Flags().String("status", "", "only those that are active or archived")
	command.Flags().String("goal", "", "only those of a goal: id")
	_ = command.RegisterFlagCompletionFunc("goal", p.complete(true, completeGoals("")))
	return command
}

func (p projects) show() *cobra.Command {
	return p.one("show", "", &cobra.Command{
		Short:   "Show a project",
		Example: "  holdco project show prj_01jqvb2k3e8m0t9c5x7a4n6p1r",
		RunE:    doing(p.remote, named(client.GetProject), printProject),
	})
}

func (p projects) update() *cobra.Command {
	command := p.one("update", underway, &cobra.Command{
		Short:   "Change a project",
		Long:    "Change a project that is not archived. What is not named stays as it is, and the issues keep the goal that they have.",
		Example: "  holdco project update prj_01jqvb2k3e8m0t9c5x7a4n6p1r --goal none --budget none",
	})
	owner := p.flags(command)
	command.RunE = doing(p.remote, func(command *cobra.Command, s *server, args []string) (client.Call, error) {
		body, err := owner.in(command, s, client.UpdateProject)
		return client.UpdateProject.In(s.company, args[0]).Sending(body), err
	}, printProject)
	command.MarkFlagsOneRequired("title", "description", "goal", "owner", "budget")
	return command
}

func (p projects) archive() *cobra.Command {
	command := p.one("archive", underway, &cobra.Command{
		Short: "Archive a project permanently",
		Long: "Archive a project permanently. Its open issues have to be ended before, unless --cancel-open-issues cancels them with\n" +
			"all that is below them.",
		Example: "  holdco project archive prj_01jqvb2k3e8m0t9c5x7a4n6p1r --cancel-open-issues",
		RunE: doing(p.remote, named(client.ArchiveProject), func(out io.Writer, last client.Project) error {
			_, err := fmt.Fprintf(out, "The project %s (%s) is %s.\n", last.ID, shortened(last.Title), last.Status)
			return err
		}),
	})
	command.Flags().Bool("cancel-open-issues", false, "whether its open issues are cancelled")
	setsField(command.Flags(), "cancel-open-issues", "cancelOpenIssues")
	return command
}

// one completes a command on one project, which is in a state; empty: in any.
func (p projects) one(verb, state string, command *cobra.Command) *cobra.Command {
	command.Use, command.Args = verb+" PROJECT", oneID[id.Project]("project")
	command.ValidArgsFunction = p.completeOne(completeProjects(state))
	return command
}

// owner is the team that answers for a project, as a flag names it.
type owner struct{ optional }

func (p projects) flags(command *cobra.Command) *owner {
	purposeFlags(command)
	o, flags := &owner{}, command.Flags()
	flags.Var(&optional{}, "goal", "the goal that it pursues: id, or none")
	flags.Var(o, "owner", "the team that answers for it: id, slug, or none")
	setsField(flags, "goal", "goalId")
	setsField(flags, "owner", "ownerTeamId")
	_ = command.RegisterFlagCompletionFunc("goal", p.complete(true, completeGoals(underway)))
	_ = command.RegisterFlagCompletionFunc("owner", p.complete(true, completeTeams))
	return o
}

// in is what the flags say, with the id of the owner.
func (o *owner) in(command *cobra.Command, s *server, operation client.Operation) (body map[string]any, err error) {
	body = sent(command, operation)
	if o.text != "" && o.text != none {
		body["ownerTeamId"], err = s.teamID(command.Context(), o.text)
	}
	return body, err
}

func printProject(out io.Writer, p client.Project) error {
	return printPurpose(out, p.Purpose, [][]string{{"goal", orDash(p.GoalID)}, {"owner", orDash(p.OwnerTeamID)}})
}

// completeProjects completes the ids of projects in a state; empty: in any.
func completeProjects(state string) func(ctx context.Context, s *server) ([]cobra.Completion, error) {
	return completePurposes(client.ListProjects, state)
}
