package usage

import (
	"cmp"
	"slices"

	"holdco/domain/cost"
)

// codexForm reads the events of Codex. Each turn that completes reports the usage of its whole thread, so of each thread the last
// report counts. A thread that a former run began counts from its beginning: nothing tells what it had used before.
type codexForm struct {
	model    string
	thread   string                 // that the next events are of
	used     map[string]cost.Tokens // by threads, mostThreads at most
	calls    int64                  // of the model, as far as the events tell
	isFailed bool                   // the last turn
	message  string                 // of the last error since a turn began
}

// unnamedModel is the model of charges when the agent has none: Codex does not name the one that it used.
const unnamedModel = "codex"

// Bounds of what is kept.
const (
	mostThreads   = 1000
	longestThread = 200 // bytes of an id
)

// codexCalls are the items after which the model is called again.
var codexCalls = []string{"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}

func (*codexForm) marks() (object, charge string) { return `"type"`, `"turn.completed"` }

func (c *codexForm) read(fields objectFields) bool {
	switch fields.text("type") {
	case "thread.started":
		c.thread = fields.text("thread_id")
		c.thread = c.thread[:min(len(c.thread), longestThread)]
	case "turn.started":
		c.isFailed, c.message = false, ""
	case "item.completed":
		if item, _ := fields.object("item"); slices.Contains(codexCalls, item.text("type")) {
			c.calls++
		}
	case "turn.completed":
		c.isFailed, c.message = false, ""
		usage, _ := fields.object("usage")
		return c.complete(usage)
	case "turn.failed":
		c.isFailed = true
		failure, _ := fields.object("error")
		c.message = cmp.Or(cleaned(failure.text("message")), c.message)
	case "error": // which may be followed by a new attempt
		c.message = cleaned(fields.text("message"))
	}
	return true
}

// complete takes the usage of a thread. Cached input is a part of its input.
func (c *codexForm) complete(usage objectFields) bool {
	tokens, ok := usage.tokens("input_tokens", "output_tokens", "cached_input_tokens", "")
	tokens.Input -= tokens.CacheRead
	_, known := c.used[c.thread]
	if !ok || len(usage) == 0 || tokens.Input < 0 || !known && len(c.used) >= mostThreads {
		return false
	}
	if c.used == nil {
		c.used = map[string]cost.Tokens{}
	}
	c.used[c.thread] = tokens
	c.calls++
	return true
}

func (c *codexForm) report() Report {
	report := Report{IsError: c.isFailed, Message: c.message}
	if len(c.used) == 0 {
		return report
	}
	var all cost.Tokens
	for _, tokens := range c.used {
		all = all.Plus(tokens)
	}
	charge := cost.Draft{
		Key: new(usageKey), Kind: new(string(cost.LLM)), Model: new(cmp.Or(c.model, unnamedModel)),
		Tokens: draftOf(all), Calls: new(c.calls),
	}
	if isCharge(charge) {
		report.Charges = []cost.Draft{charge}
	} else {
		report.Dropped = 1
	}
	return report
}
