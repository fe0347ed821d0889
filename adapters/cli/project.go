package cli

import (
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
	p := kind[client.Project]{
		remote: a.remoteGroup(group), name: "project", args: oneID[id.Project]("project"), names: completeProjects, print: printProject,
	}
	p.flags = func(command *cobra.Command) bodyOf { return addProjectFlags(p.remote, command).body }
	list := p.list(client.ListProjects, []string{"ID", "STATUS", "TITLE", "GOAL", "ISSUES", "DONE", "SPENT", "BUDGET", "CREATED"},
		func(one client.Project) []string { return purposeRow(one.Purpose, orDash(one.GoalID)) })
	list.Flags().String("status", "", "only those that are active or archived")
	list.Flags().String("goal", "", "only those of a goal: id")
	_ = list.RegisterFlagCompletionFunc("goal", p.complete(true, completeGoals("")))
	archive := p.end(client.ArchiveProject, "archive", underway,
		func(last client.Project) string { return purposeEnded("project", last.Purpose) }, &cobra.Command{
			Short: "Archive a project permanently",
			Long: "Archive a project permanently. Its open issues have to be ended before, unless --cancel-open-issues cancels them\n" +
				"with all that is below them.",
			Example: "  holdco project archive prj_01jqvb2k3e8m0t9c5x7a4n6p1r --cancel-open-issues",
		})
	archive.Flags().Bool("cancel-open-issues", false, "whether its open issues are cancelled")
	setsField(archive.Flags(), "cancel-open-issues", "cancelOpenIssues")
	group.AddCommand(
		p.create(client.CreateProject, &cobra.Command{
			Short: "Create a project",
			Example: "  holdco project create --title 'Spring campaign' --owner research --budget 120.50\n" +
				"  holdco project create --title 'Spring campaign' --goal gl_01jqvb2k3e8m0t9c5x7a4n6p1r --json",
		}, "title"),
		list,
		p.show(client.GetProject, "prj_01jqvb2k3e8m0t9c5x7a4n6p1r"),
		p.update(client.UpdateProject, underway, &cobra.Command{
			Short: "Change a project",
			Long: "Change a project that is not archived. What is not named stays as it is, and the issues keep the goal that they\n" +
				"have.",
			Example: "  holdco project update prj_01jqvb2k3e8m0t9c5x7a4n6p1r --goal none --budget none",
		}),
		archive,
	)
	return group
}

// owner is the team that answers for a project, as a flag names it.
type owner struct{ optional }

func addProjectFlags(r *remote, command *cobra.Command) *owner {
	purposeFlags(command)
	o, flags := &owner{}, command.Flags()
	flags.Var(&optional{}, "goal", "the goal that it pursues: id, or none")
	flags.Var(o, "owner", "the team that answers for it: id, slug, or none")
	setsField(flags, "goal", "goalId")
	setsField(flags, "owner", "ownerTeamId")
	_ = command.RegisterFlagCompletionFunc("goal", r.complete(true, completeGoals(underway)))
	_ = command.RegisterFlagCompletionFunc("owner", r.complete(true, completeTeams))
	return o
}

// body is what the flags say, with the id of the owner.
func (o *owner) body(command *cobra.Command, s *server, operation client.Operation) (body map[string]any, err error) {
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
func completeProjects(state string) completer {
	return completePurposes(client.ListProjects, state)
}
