package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/adapters/client"
	"holdco/domain/id"
)

// AgentCommand is the command on agents, with those below it.
func AgentCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "agent",
		Short: "Hire, list, change, check, pause and retire the agents of a company",
		Long: "Hire, list, change, check, pause and retire the agents of a company. An agent is found by its id or by its name, which\n" +
			"must be of one agent alone; those who have retired are looked at last.",
	}
	c := agents{a.remoteGroup(group)}
	group.AddCommand(
		c.hire(), c.list(), c.show(), c.update(), c.check(), c.rotateToken(),
		c.move("pause", client.PauseAgent, "active", "is paused", &cobra.Command{
			Short: "Pause an agent",
			Long:  "Pause an agent: it is offered no new work until \"holdco agent resume\". What runs finishes.",
		}),
		c.move("resume", client.ResumeAgent, "paused", "is active", &cobra.Command{Short: "Resume a paused agent"}),
		c.move("release-hold", client.ReleaseAgentHold, employed, "gets work again", &cobra.Command{
			Short: "Release the hold of an agent",
			Long: "Release the hold of an agent whose runs failed: it gets work again at once. \"holdco agent show\" says why it is\n" +
				"held, and until when.",
		}),
		c.move("retire", client.RetireAgent, employed, "is retired", &cobra.Command{
			Short: "Retire an agent permanently",
			Long:  "Retire an agent permanently: its token ends, and its slot is free for another one.",
		}),
	)
	return group
}

// agents are the commands below "agent".
type agents struct{ *remote }

// The states of agents, as the API takes them.
const employed, retired = "active,paused", "retired"

var oneAgent = oneNamed("agent", "id or name", func(arg string) bool { return strings.TrimSpace(arg) != "" })

func (c agents) hire() *cobra.Command {
	var team string
	command := &cobra.Command{
		Use:   "hire",
		Short: "Hire an agent into a team and print its token, which is shown this once",
		Long: "Hire an agent into the oldest empty slot of a team. Its token is shown this once: it alone goes to standard output, and\n" +
			"what else there is to say to standard error. With --json the agent goes to standard output, with its token.\n\n" +
			"Programs that an agent of the adapter process is to run, in --adapter-config, need a token with the scope admin.",
		Example: "  TOKEN=$(holdco agent hire --team research --name Ada --role Engineer)\n" +
			"  holdco agent hire --team research --name Ada --role Engineer --adapter http --per-task-budget 2.50 --json",
		Args: noArgs,
	}
	flags := command.Flags()
	flags.StringVar(&team, "team", "", "the team: id or slug")
	settings := addAgentFlags(command, "what runs it (default that of the company)")
	command.RunE = c.asking(func(command *cobra.Command, s *server, _ []string) error {
		body, err := settings.body(command, client.HireAgent)
		if err != nil {
			return err
		}
		if body["teamId"], err = s.teamID(command.Context(), team); err != nil {
			return err
		}
		return c.withToken(command, s, client.HireAgent.In(s.company).Sending(body))
	})
	setsField(flags, "team", "teamId")
	for _, flag := range []string{"team", "name", "role"} {
		_ = command.MarkFlagRequired(flag)
	}
	_ = command.RegisterFlagCompletionFunc("team", c.complete(true, completeTeams))
	return command
}

// agentFlags are the flags that hire and update have in common.
type agentFlags struct {
	config, instructions string // files
	perTask, daily       amount
}

func addAgentFlags(command *cobra.Command, adapter string) *agentFlags {
	f, flags := &agentFlags{}, command.Flags()
	flags.String("name", "", "what the agent is called")
	flags.String("role", "", "what it does")
	flags.String("adapter", "", adapter)
	flags.StringVar(&f.config, "adapter-config", "", "a file that holds the settings of the adapter, a JSON object; - is standard input")
	flags.String("model", "", "the model that it works with")
	flags.StringVar(&f.instructions, "instructions-file", "",
		"a file that says how it is to work, in Markdown; - is standard input, and an empty file is for no instructions")
	flags.StringSlice("memory-scopes", nil, "what it may remember, separated by commas: agent, project, client, company")
	flags.Var(&f.perTask, "per-task-budget", "what one issue may cost, or none for no limit")
	flags.Var(&f.daily, "daily-budget", "what it may spend in a UTC calendar day, or none for no limit")
	flags.StringSlice("requires", nil, "names of actions, separated by commas, that need an approval")
	for flag, field := range map[string]string{
		"adapter-config": "adapterConfig", "memory-scopes": "memoryScopes", "per-task-budget": "budget.perTaskUsd",
		"daily-budget": "budget.dailyUsd", "requires": "approvalPolicy.requires", "instructions-file": "instructions",
	} {
		setsField(flags, flag, field)
	}
	_ = command.RegisterFlagCompletionFunc("memory-scopes",
		cobra.FixedCompletions([]string{"agent", "project", "client", "company"}, cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"adapter-config", "instructions-file"} {
		_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault))
	}
	return f
}

// body is what the flags say, with what is in the files that they name.
func (f *agentFlags) body(command *cobra.Command, o client.Operation) (map[string]any, error) {
	body, flags := sent(command, o), command.Flags()
	if flags.Changed("adapter-config") && flags.Changed("instructions-file") && f.config == "-" && f.instructions == "-" {
		return nil, WrongUsage(errors.New("--adapter-config and --instructions-file cannot both be standard input"))
	}
	if flags.Changed("adapter-config") {
		object, err := readObject("--adapter-config", f.config, command.InOrStdin())
		if err != nil {
			return nil, err
		}
		body["adapterConfig"] = object
	}
	if flags.Changed("instructions-file") {
		instructions, err := readText(f.instructions, command.InOrStdin())
		if err != nil {
			return nil, err
		}
		body["instructions"] = instructions
	}
	return body, nil
}

func (c agents) update() *cobra.Command {
	command := &cobra.Command{
		Short: "Change an agent",
		Long: "Change what the flags name of an agent. Members of --adapter-config are merged into what is there: null removes one.\n\n" +
			"Programs that an agent of the adapter process is to run need a token with the scope admin.",
		Example: "  holdco agent update Ada --instructions-file ada.md\n  holdco agent update Ada --role 'Lead engineer' --daily-budget 20",
	}
	settings := addAgentFlags(command, "what runs it")
	command.RunE = doing(c.remote, func(command *cobra.Command, s *server, args []string) (client.Call, error) {
		body, err := settings.body(command, client.UpdateAgent)
		if err != nil {
			return client.Call{}, err
		}
		which, err := s.agentID(command.Context(), args[0])
		return client.UpdateAgent.In(s.company, which).Sending(body), err
	}, func(out io.Writer, agent client.Agent) error { return printTable(out, agentTable(agent)) })
	var names []string
	command.Flags().SortFlags = false // the error names them as they were added
	command.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	command.Flags().SortFlags = true
	command.MarkFlagsOneRequired(names...)
	return c.one("update", employed, command)
}

func (c agents) list() *cobra.Command {
	head := []string{"ID", "NAME", "ROLE", "TEAM", "ADAPTER", "MODEL", "STATUS", "CREATED"}
	command := listing(c.remote, "agent", client.ListAgents, head, func(a client.Agent) []string {
		return []string{a.ID, a.Name, a.Role, a.TeamID, a.Adapter, orDash(a.Model), a.Status, a.CreatedAt}
	})
	command.Example += "\n  holdco agent list --team research --status active,paused"
	flags := command.Flags()
	flags.String("team", "", "only those of a team: id or slug")
	flags.String("status", "", "only those that are active, paused or retired; several are separated by commas")
	flags.String("adapter", "", "only those that it runs")
	_ = command.RegisterFlagCompletionFunc("team", c.complete(true, completeTeams))
	_ = command.RegisterFlagCompletionFunc("status",
		cobra.FixedCompletions([]string{"active", "paused", retired, employed}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func (c agents) show() *cobra.Command {
	return c.one("show", employed+","+retired, &cobra.Command{
		Short:   "Show an agent",
		Example: "  holdco agent show Ada\n  holdco agent show agt_01jqvb2k3e8m0t9c5x7a4n6p1r --json",
		RunE: doing(c.remote, ofAgent(client.GetAgent), func(out io.Writer, agent client.Agent) error {
			return printTable(out, agentTable(agent))
		}),
	})
}

// errNotReady is the failure of a check that found something missing. It has been said what.
var errNotReady = errors.New("the agent is not ready to work")

func (c agents) check() *cobra.Command {
	return c.one("check", employed, &cobra.Command{
		Short: "Check whether an agent has what it needs to work",
		Long: "Check whether an agent has what it needs to work, and say what to do if it has not. The server looks: at the program on\n" +
			"its host, its version and the secrets and permissions that it needs, at how its costs are read, at the URL of an agent\n" +
			"behind one, or whether an agent that works by itself has ever called the gateway. No model is called.\n\n" +
			"The exit code is 1 if something is missing. It needs a token with the scope admin.",
		Example: "  holdco agent check Ada",
		RunE: c.asking(func(command *cobra.Command, s *server, args []string) error {
			call, err := ofAgent(client.CheckAgent)(command, s, args)
			if err != nil {
				return err
			}
			data, err := s.Do(command.Context(), call)
			if err != nil {
				return err
			}
			found, err := client.Read[client.AgentCheck](data)
			if err != nil {
				return err
			}
			if c.asJSON {
				err = printJSON(command.OutOrStdout(), data)
			} else {
				err = printFindings(command.OutOrStdout(), found.Findings)
			}
			if err == nil && !found.OK {
				err = errNotReady
			}
			return err
		}),
	})
}

// printFindings prints a line for each finding, and below it what to do.
func printFindings(out io.Writer, findings []client.AgentFinding) error {
	var text strings.Builder
	for _, finding := range findings {
		mark := "ok"
		if !finding.OK {
			mark = "MISSING"
		}
		fmt.Fprintf(&text, "%-8s %-12s %s\n", mark, finding.Check, finding.Message)
		if finding.Fix != "" {
			fmt.Fprintf(&text, "%22s%s\n", "", finding.Fix)
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// move completes a command that changes the state of an agent which is in one of some states before.
func (c agents) move(verb string, o client.Operation, from, done string, command *cobra.Command) *cobra.Command {
	command.Example = "  holdco agent " + verb + " Ada"
	command.RunE = doing(c.remote, ofAgent(o), func(out io.Writer, next client.Agent) error {
		_, err := fmt.Fprintf(out, "The agent %s (%s) %s.\n", next.ID, next.Name, done)
		return err
	})
	return c.one(verb, from, command)
}

func (c agents) rotateToken() *cobra.Command {
	return c.one("rotate-token", employed, &cobra.Command{
		Short: "Give an agent a new token and print it, which is shown this once",
		Long: "Give an agent a new token. It is shown this once: it alone goes to standard output, and what else there is to say to\n" +
			"standard error. The old one ends at once.",
		Example: "  TOKEN=$(holdco agent rotate-token Ada)",
		RunE: c.asking(func(command *cobra.Command, s *server, args []string) error {
			call, err := ofAgent(client.RotateAgentToken)(command, s, args)
			if err != nil {
				return err
			}
			return c.withToken(command, s, call)
		}),
	})
}

// one completes a command on one agent, which is in one of some states.
func (c agents) one(verb, states string, command *cobra.Command) *cobra.Command {
	command.Use, command.Args, command.ValidArgsFunction = verb+" AGENT", oneAgent, c.completeOne(completeAgents(states))
	return command
}

// ofAgent is a call of an operation on the agent that the only argument names.
func ofAgent(o client.Operation) func(*cobra.Command, *server, []string) (client.Call, error) {
	return func(command *cobra.Command, s *server, args []string) (client.Call, error) {
		which, err := s.agentID(command.Context(), args[0])
		return o.In(s.company, which), err
	}
}

// withToken makes a call whose answer shows the token of an agent, and prints it. Where that answer was lost, the server
// repeats it without the token, which nobody has seen then: the agent gets another one.
func (c agents) withToken(command *cobra.Command, s *server, call client.Call) error {
	const most = 3
	lost := ""
	for attempt := 1; ; attempt++ {
		data, err := s.Do(command.Context(), call)
		if err != nil && attempt > 1 {
			err = fmt.Errorf("%s: %w", lost, err)
		}
		if err != nil {
			return err
		}
		agent, err := client.Read[client.Agent](data)
		switch {
		case err != nil:
			return err
		case agent.Token != "":
			return c.printWithToken(command, agent, data)
		}
		lost = fmt.Sprintf("the token of the agent %s was lost on the way; \"holdco agent rotate-token %[1]s\" makes another one", agent.ID)
		if attempt == most {
			return errors.New(lost)
		}
		call = client.RotateAgentToken.In(s.company, agent.ID)
	}
}

func (c agents) printWithToken(command *cobra.Command, agent client.Agent, data json.RawMessage) error {
	if c.asJSON {
		return printJSON(command.OutOrStdout(), data)
	}
	if err := printTable(command.ErrOrStderr(), append(agentTable(agent), []string{"token", "(shown only this once)"})); err != nil {
		return err
	}
	_, err := fmt.Fprintln(command.OutOrStdout(), agent.Token)
	return err
}

func agentTable(a client.Agent) [][]string {
	return [][]string{
		{"id", a.ID},
		{"name", a.Name},
		{"role", a.Role},
		{"team", a.TeamID},
		{"adapter", a.Adapter},
		{"model", orDash(a.Model)},
		{"status", a.Status},
		{"hold", holdText(a.Hold)},
		{"per-task budget", dollars(a.Budget.PerTaskUSD)},
		{"daily budget", dollars(a.Budget.DailyUSD)},
		{"instructions", shownLength(a.Instructions)},
		{"created", a.CreatedAt},
		{"updated", a.UpdatedAt},
	}
}

// holdText is why an agent gets no work, and until when.
func holdText(hold *client.Hold) string {
	if hold == nil {
		return "-"
	}
	text := hold.Reason + " until " + hold.Until
	if hold.Trial {
		text += ", then one run on trial"
	}
	if message, _, _ := strings.Cut(hold.Error.Message, "\n"); message != "" {
		text += ": " + message
	}
	return text
}

// shownLength stands for a text that is too long for a table.
func shownLength(text string) string {
	if text == "" {
		return "-"
	}
	return fmt.Sprintf("%d characters; --json shows them", utf8.RuneCountInString(text))
}

// agentID finds an agent by its id, or by its name. Of several who are called the same, those who have retired do not count.
func (s *server) agentID(ctx context.Context, named string) (string, error) {
	if _, ok := id.Parse[id.Agent](named); ok {
		return named, nil
	}
	for _, states := range []string{employed, retired} {
		all, err := s.List(ctx, client.ListAgents.In(s.company).With("status", states))
		if err != nil {
			return "", err
		}
		var found []client.Agent
		for _, data := range all {
			agent, err := client.Read[client.Agent](data)
			if err != nil {
				return "", err
			}
			if agent.Name == named {
				found = append(found, agent)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0].ID, nil
		}
		lines := []string{fmt.Sprintf("several agents are called %q; take one by its id:", named)}
		for _, agent := range found[:min(len(found), mostNamed)] {
			lines = append(lines, fmt.Sprintf("  %s  %s, %s", agent.ID, agent.Role, agent.Status))
		}
		if len(found) > mostNamed {
			lines = append(lines, "  ...")
		}
		return "", errors.New(strings.Join(lines, "\n"))
	}
	return "", fmt.Errorf("no agent has the id or name %q; \"holdco agent list\" shows them", named)
}

func completeAgents(states string) completer {
	return func(ctx context.Context, s *server) ([]cobra.Completion, error) {
		list := client.ListAgents.In(s.company).With("status", states)
		return completions(ctx, s, list, func(a client.Agent) cobra.Completion {
			return cobra.CompletionWithDesc(a.ID, a.Name+", "+a.Role)
		})
	}
}
