package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
)

// InboxCommand is the command that lists what waits for a person.
func InboxCommand(a *app) *cobra.Command {
	most := 0
	command := &cobra.Command{
		Use:   "inbox",
		Short: "List what waits for a person",
		Long: "List what waits for a person, in all companies that the token can see or in one: approvals, questions, hand-offs,\n" +
			"reviews, issues whose blockers have failed, and issues for agents that stay away. What has waited longest comes first.",
		Example:           "  holdco inbox\n  holdco inbox --company acme --json",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		PreRunE: func(*cobra.Command, []string) error {
			if most < 1 {
				return errors.New("--limit must be 1 or more")
			}
			return nil
		},
	}
	r := &remote{app: a}
	command.RunE = r.askingAll(func(command *cobra.Command, s *server) error {
		call := client.ListInbox.In()
		if s.company != "" {
			call = call.With("company", s.company)
		}
		found, err := s.ListSome(command.Context(), call, most)
		switch {
		case err != nil:
			return err
		case r.asJSON:
			return printJSON(command.OutOrStdout(), found)
		case len(found) == 0:
			_, err := fmt.Fprintln(command.OutOrStdout(), "Nothing waits for a person.")
			return err
		}
		rows := [][]string{{"KIND", "COMPANY", "ISSUE", "AGENT", "SINCE", "DEADLINE", "ID", "WHAT"}}
		for _, data := range found {
			item, err := client.Read[client.InboxItem](data)
			if err != nil {
				return err
			}
			rows = append(rows, itemRow(item))
		}
		return printTable(command.OutOrStdout(), rows)
	})
	command.Flags().IntVar(&most, "limit", 100, "how many at most")
	r.remoteFlags(command, "This command asks")
	r.ofAll(command)
	return command
}

func itemRow(item client.InboxItem) []string {
	agent, what := "", item.Issue.Title
	if item.Agent != nil {
		agent = item.Agent.Name
	}
	if item.Action != "" {
		what = item.Action
	}
	return []string{
		item.Kind, item.Company.Slug, fmt.Sprintf("#%d", item.Issue.Number), orDash(plain(agent)), item.Since, orDash(item.Deadline),
		item.Subject.ID, plain(shortened(what)),
	}
}

// StatusCommand is the command that shows a server with its companies on a screen.
func StatusCommand(a *app) *cobra.Command {
	command := &cobra.Command{
		Use:   "status",
		Short: "Show a server and its companies at a glance",
		Long: "Show a running server at a glance: its version and store, and of each active company that the token can see the\n" +
			"agents, those at work, those to look at (they fail, are silent or stay away), the open issues, what was spent today\n" +
			"and in the period of the budget, and how much waits for a person.",
		Example:           "  holdco status\n  holdco status --company acme --json",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	r := &remote{app: a}
	command.RunE = r.askingAll(func(command *cobra.Command, s *server) error {
		instance, err := s.Do(command.Context(), client.GetInstance.In())
		if err != nil {
			return err
		}
		overviews, err := s.overviews(command)
		if err != nil {
			return err
		}
		if r.asJSON {
			return printJSON(command.OutOrStdout(), map[string]any{"instance": instance, "companies": overviews})
		}
		return printStatus(command, s.URL, instance, overviews)
	})
	r.remoteFlags(command, "This command asks")
	r.ofAll(command)
	return command
}

// overviews are the companies at a glance: the one that is named, or all active ones.
func (s *server) overviews(command *cobra.Command) ([]json.RawMessage, error) {
	of := []string{s.company}
	if s.company == "" {
		found, err := s.List(command.Context(), client.ListCompanies.In())
		if err != nil {
			return nil, err
		}
		of = of[:0]
		for _, data := range found {
			one, err := client.Read[client.Company](data)
			if err != nil {
				return nil, err
			}
			if one.Status == "active" {
				of = append(of, one.ID)
			}
		}
	}
	overviews := []json.RawMessage{}
	for _, id := range of {
		data, err := s.Do(command.Context(), client.GetOverview.In(id))
		if err != nil {
			return nil, err
		}
		overviews = append(overviews, data)
	}
	return overviews, nil
}

func printStatus(command *cobra.Command, url string, instance json.RawMessage, overviews []json.RawMessage) error {
	server, err := client.Read[client.Instance](instance)
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	if _, err := fmt.Fprintf(out, "Holdco %s at %s, store %s with schema %d, %s\n\n",
		plain(server.Version), url, server.Store.Kind, server.Store.Schema, server.Time); err != nil {
		return err
	}
	if len(overviews) == 0 {
		_, err := fmt.Fprintln(out, "There is no active company that the token can see.")
		return err
	}
	head := []string{"COMPANY", "AGENTS", "AT WORK", "TROUBLE", "OPEN ISSUES", "TODAY", "PERIOD", "BUDGET", "WAITING", ""}
	rows := [][]string{head}
	for _, data := range overviews {
		one, err := client.Read[client.Overview](data)
		if err != nil {
			return err
		}
		rows = append(rows, statusRow(one))
	}
	return printTable(out, rows)
}

func statusRow(of client.Overview) []string {
	t, h := of.Tasks, of.Health
	note := ""
	switch {
	case of.Company.Status != "active":
		note = of.Company.Status
	case of.Company.WorkPaused:
		note = "all work is paused"
	}
	return []string{
		of.Company.Slug, fmt.Sprint(h.ActiveAgents), fmt.Sprint(h.RunningLeases),
		troubles(h.FailingAgents, h.SilentAgents, h.AbsentAgents, h.HeldAgents),
		fmt.Sprint(t.Queued + t.Assigned + t.Running + t.Review + t.Handoff),
		dollars(of.Cost.Today), dollars(of.Cost.ThisPeriod), dollars(of.Cost.Budget),
		fmt.Sprint(of.Inbox.Total), note,
	}
}

// troubles say how many agents are to be looked at, and why. One may have several reasons.
func troubles(failing, silent, absent, held int64) string {
	var said []string
	for _, one := range []struct {
		count int64
		what  string
	}{{failing, "failing"}, {silent, "silent"}, {absent, "absent"}, {held, "held"}} {
		if one.count > 0 {
			said = append(said, fmt.Sprintf("%d %s", one.count, one.what))
		}
	}
	return orDash(strings.Join(said, ", "))
}
