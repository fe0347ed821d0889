package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
)

// ActivityCommand is the command that shows what happened, and follows what happens.
func ActivityCommand(a *app) *cobra.Command {
	c := &activityCommand{remote: &remote{app: a}, listed: map[string]bool{}}
	command := &cobra.Command{
		Use:   "activity",
		Short: "Show what happened in a company, and follow what happens",
		Long: "Show what happened in a company, oldest first: when, what, to what, who did it, and a few words about it. With --follow\n" +
			"it goes on with what happens, until SIGINT or SIGTERM. When the server is away it waits, and goes on where it was.",
		Example: "  holdco activity --category task,approval --since 2026-04-11T00:00:00Z\n" +
			"  holdco activity --follow --action issue.completed",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		PreRunE:           func(*cobra.Command, []string) error { return c.check() },
	}
	command.RunE = c.asking(c.run)
	c.flags(command)
	c.remoteFlags(command, "This command asks")
	return command
}

// activityCommand is the command "activity".
type activityCommand struct {
	*remote

	isFollowed    bool
	most          int
	category      string // one or several
	action, actor string
	agent, issue  string // as they are named, and then their ids

	listed map[string]bool // the ids of the entries that were listed, which the stream may have too
}

const usualMost = 50

func (c *activityCommand) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVarP(&c.isFollowed, "follow", "f", false, "go on with what happens")
	flags.IntVar(&c.most, "limit", usualMost, "how many entries of the past at most: the newest")
	flags.StringVar(&c.category, "category", "", "only those of a category, such as task, run, agent, approval or budget; several\n"+
		"are separated by commas")
	flags.StringVar(&c.action, "action", "", "only those with an action, such as issue.completed")
	flags.StringVar(&c.actor, "actor", "", "only what somebody did: token:<id>, agent:<id>, system:<part>, or all of a kind,\n"+
		"such as agent:")
	flags.StringVar(&c.agent, "agent", "", "only what is about an agent: id or name")
	flags.StringVar(&c.issue, "issue", "", "only what is about an issue: id or number")
	flags.String("q", "", "only those with all of these words")
	flags.String("since", "", "only what happened from an instant on")
	flags.String("until", "", "only what happened before an instant")
	command.MarkFlagsMutuallyExclusive("follow", "q")
	command.MarkFlagsMutuallyExclusive("follow", "until")
	_ = command.RegisterFlagCompletionFunc("agent", c.complete(true, completeAgents("")))
	_ = command.RegisterFlagCompletionFunc("issue", c.complete(true, completeIssues))
}

func (c *activityCommand) check() error {
	if c.most < 0 {
		return errors.New("--limit must not be negative")
	}
	return nil
}

func (c *activityCommand) run(command *cobra.Command, s *server, _ []string) error {
	past, err := c.past(command, s)
	if err != nil {
		return err
	}
	if !c.isFollowed {
		return c.list(command, s, past)
	}
	isListed := false
	return s.Follow(command.Context(), client.StreamActivity.In(s.company), func(e client.Event) error {
		if !isListed { // what happens from now on is in the stream
			isListed = true
			if err := c.list(command, s, past); err != nil {
				return err
			}
		}
		if len(e.Data) == 0 {
			return nil
		}
		found, err := client.Read[client.Entry](e.Data)
		if err != nil || c.listed[found.ID] || !c.wants(found) {
			return err
		}
		return c.show(command.OutOrStdout(), e.Data, found)
	})
}

// past is the call that lists what happened.
func (c *activityCommand) past(command *cobra.Command, s *server) (call client.Call, err error) {
	call = client.ListActivity.In(s.company)
	for _, name := range client.ListActivity.Query {
		if flag := flagOf(command.Flags(), name); flag != nil && flag.Changed {
			call = call.With(name, flag.Value.String())
		}
	}
	if c.agent != "" {
		if c.agent, err = s.agentID(command.Context(), c.agent); err != nil {
			return call, err
		}
		call = call.With("related.agentId", c.agent)
	}
	if c.issue != "" {
		if c.issue, err = s.issueID(command.Context(), c.issue); err != nil {
			return call, err
		}
		call = call.With("related.issueId", c.issue)
	}
	return call, nil
}

// list shows what happened. It asks the server even if nothing is to be shown, which then checks what is wanted.
func (c *activityCommand) list(command *cobra.Command, s *server, past client.Call) error {
	found, err := s.ListSome(command.Context(), past, max(c.most, 1))
	if err != nil {
		return err
	}
	for _, data := range slices.Backward(found[:min(len(found), c.most)]) {
		e, err := client.Read[client.Entry](data)
		if err != nil {
			return err
		}
		c.listed[e.ID] = true
		if err := c.show(command.OutOrStdout(), data, e); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether an entry of the stream is one of those that the flags ask for.
func (c *activityCommand) wants(e client.Entry) bool {
	is := func(wanted, found string) bool { return wanted == "" || wanted == found }
	isBy := is(c.actor, e.Actor) || strings.HasSuffix(c.actor, ":") && strings.HasPrefix(e.Actor, c.actor)
	return isBy && is(c.action, e.Action) && is(c.agent, e.Related.AgentID) && is(c.issue, e.Related.IssueID) &&
		(c.category == "" || slices.Contains(strings.Split(c.category, ","), e.Category))
}

// show shows an entry in a line of its own.
func (c *activityCommand) show(out io.Writer, data json.RawMessage, e client.Entry) error {
	if c.asJSON {
		_, err := fmt.Fprintf(out, "%s\n", data)
		return err
	}
	line := fmt.Sprintf("%s  %-22s  %-13s  %s  %s", e.At, e.Action, subjectOf(e), e.Actor, wordsOf(e))
	_, err := fmt.Fprintln(out, strings.TrimRight(plain(line), " "))
	return err
}

// subjectOf names what something was done to: an issue by its number.
func subjectOf(e client.Entry) string {
	if number, isOne := e.Payload["number"].(json.Number); isOne && e.Subject.Type == "issue" {
		return "issue #" + number.String()
	}
	return e.Subject.Type + " " + e.Subject.ID
}

// wordsOf is what an entry is about, in a few words: how it is called, what changed, and what was said.
func wordsOf(e client.Entry) string {
	var words []string
	for _, name := range []string{"title", "name", "actionName"} {
		if text, _ := e.Payload[name].(string); text != "" {
			words = append(words, text)
			break
		}
	}
	previous, _ := e.Payload["previous"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(previous)) {
		words = append(words, changeOf(name, previous[name], e.Payload[name]))
	}
	for _, name := range []string{"note", "reason", "summary"} {
		if text, _ := e.Payload[name].(string); text != "" {
			words = append(words, text)
		}
	}
	return shortened(strings.Join(words, "; "))
}

// changeOf says how a field changed: its values, if these are short.
func changeOf(name string, from, to any) string {
	const short = 20
	spelled := func(value any) (text string, isShort bool) {
		switch value.(type) {
		case nil:
			return "none", true
		case map[string]any, []any:
			return "", false
		}
		text = fmt.Sprint(value)
		return text, len(text) <= short
	}
	was, wasShort := spelled(from)
	is, isShort := spelled(to)
	if !wasShort || !isShort {
		return name + " changed"
	}
	return fmt.Sprintf("%s %s → %s", name, was, is)
}

// plain is text that does nothing to a terminal: agents write some of it.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
