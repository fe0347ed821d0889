package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/id"
	"holdco/domain/text"
)

// TeamCommand is the command on teams, with those below it.
func TeamCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "team",
		Short: "Create, list, change and delete the teams of a company",
		Long: "Create, list, change and delete the teams of a company. A team has as many slots as its headcount says, and a hire\n" +
			"fills one.",
	}
	t := kind[client.Team]{
		remote: a.remoteGroup(group), name: "team", args: oneTeam, names: anyState(completeTeams), print: printTeam,
	}
	t.flags = func(command *cobra.Command) bodyOf { return addTeamFlags(t.remote, command).body }
	group.AddCommand(
		t.create(client.CreateTeam, &cobra.Command{
			Short: "Create a team with a headcount of empty slots",
			Long:  "Create a team with a headcount of empty slots. Its slug comes from its name.",
			Example: "  holdco team create --name Research --headcount 3\n" +
				"  holdco team create --name Sales --headcount 1 --manager Ada --budget 500 --json",
		}, "name", "headcount"),
		t.list(client.ListTeams, []string{"ID", "SLUG", "NAME", "HEADCOUNT", "AGENTS", "MANAGER", "BUDGET", "CREATED"},
			func(team client.Team) []string {
				return []string{
					team.ID, team.Slug, team.Name, strconv.Itoa(team.Headcount), strconv.Itoa(team.AgentCount),
					orDash(team.ManagerAgentID), dollars(team.Budget.USD), team.CreatedAt,
				}
			}),
		t.show(client.GetTeam, "research"),
		t.update(client.UpdateTeam, "", &cobra.Command{
			Short: "Change a team",
			Long: "Change a team. What is not named stays as it is, and the slug always does. A higher headcount adds empty slots, a\n" +
				"lower one removes empty ones.",
			Example: "  holdco team update research --headcount 5\n" +
				"  holdco team update research --manager none --budget none",
		}),
		t.end(client.DeleteTeam, "delete", "", func(last client.Team) string {
			return fmt.Sprintf("The team %s (%s) is deleted.", last.Slug, last.Name)
		}, &cobra.Command{
			Short:   "Delete a team that has no agents",
			Long:    "Delete a team with its slots. A team that has agents cannot be deleted: retire them first.",
			Example: "  holdco team delete research",
		}),
	)
	return group
}

var oneTeam = oneNamed("team", "id or slug", func(arg string) bool {
	_, isID := id.Parse[id.Team](arg)
	return isID || text.IsSlug(arg)
})

// teamFlags are the flags that create and update have in common.
type teamFlags struct {
	manager string
	budget  amount
}

func addTeamFlags(r *remote, command *cobra.Command) *teamFlags {
	f, flags := &teamFlags{}, command.Flags()
	flags.String("name", "", "what the team is called")
	flags.Int("headcount", 0, "how many slots it has")
	flags.String("description", "", "what it does")
	flags.StringVar(&f.manager, "manager", "", "the agent who manages it: id, name, or none")
	flags.Var(&f.budget, "budget", "its share of the company's budget, per period of that, or none for no limit")
	setsField(flags, "manager", "managerAgentId")
	setsField(flags, "budget", "budget.usd")
	_ = command.RegisterFlagCompletionFunc("manager", r.complete(true, completeAgents("active,paused")))
	return f
}

// body is what the flags say, with the id of the manager.
func (f *teamFlags) body(command *cobra.Command, s *server, o client.Operation) (body map[string]any, err error) {
	body = sent(command, o)
	if f.budget.text == none {
		body["budget"] = nil
	}
	switch f.manager {
	case "":
	case none:
		body["managerAgentId"] = nil
	default:
		body["managerAgentId"], err = s.agentID(command.Context(), f.manager)
	}
	return body, err
}

func printTeam(out io.Writer, t client.Team) error {
	return printTable(out, [][]string{
		{"id", t.ID},
		{"slug", t.Slug},
		{"name", t.Name},
		{"description", orDash(strings.Join(strings.Fields(t.Description), " "))},
		{"headcount", strconv.Itoa(t.Headcount)},
		{"agents", strconv.Itoa(t.AgentCount)},
		{"manager", orDash(t.ManagerAgentID)},
		{"budget", dollars(t.Budget.USD)},
		{"created", t.CreatedAt},
		{"updated", t.UpdatedAt},
	})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// teamID finds a team by its id or slug.
func (s *server) teamID(ctx context.Context, named string) (string, error) {
	if _, ok := id.Parse[id.Team](named); ok {
		return named, nil
	}
	if !text.IsSlug(named) {
		return "", WrongUsage(fmt.Errorf("%q is not the id or slug of a team; \"holdco team list\" shows them", named))
	}
	data, err := s.Do(ctx, client.GetTeam.In(s.company, named))
	if err != nil {
		return "", err
	}
	team, err := client.Read[client.Team](data)
	return team.ID, err
}

func completeTeams(ctx context.Context, s *server) ([]cobra.Completion, error) {
	return completions(ctx, s, client.ListTeams.In(s.company), func(t client.Team) cobra.Completion {
		return cobra.CompletionWithDesc(t.Slug, t.Name)
	})
}
