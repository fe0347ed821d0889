package usage

import (
	"maps"
	"slices"

	"holdco/domain/cost"
)

// codexForm reads the events of Codex. Each turn that completes reports the usage of its whole thread, from its beginning on, so what is
// new is charged: of a thread that a former run began, what is more than what that had reported.
type codexForm struct {
	outcome

	model   string                 // of the agent, else that of the command
	thread  string                 // that the next events are of
	threads map[string]cost.Tokens // the last totals, mostThreads at most
	calls   int64                  // since a turn completed, as far as the events tell
	meter   meter
	problem string // the last error since a turn began
}

// unnamedModel is the model of charges when nothing names one.
const unnamedModel = "codex"

// mostThreads bounds how many threads are told apart.
const mostThreads = 1000

// codexCalls are the items after which the model is called again.
var codexCalls = []string{"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}

func newCodexForm(options Options) *codexForm {
	threads := maps.Clone(options.Threads)
	if threads == nil {
		threads = map[string]cost.Tokens{}
	}
	return &codexForm{model: firstModel(options.Model, ModelInCommand(options.Command), unnamedModel), threads: threads}
}

func (*codexForm) marks() (object, charge string) { return `"type"`, `"turn.completed"` }

func (c *codexForm) read(fields objectFields) bool {
	switch fields.text("type") {
	case "thread.started":
		c.thread = fields.text("thread_id")
		c.thread = c.thread[:min(len(c.thread), longestID)]
		c.name(fields)
	case "turn.started":
		c.outcome, c.problem = outcome{trouble: c.trouble}, ""
		c.name(fields)
	case "item.started", "item.updated", "item.completed":
		c.item(fields.text("type"), fields.within("item"))
	case "turn.completed":
		c.succeed(c.result)
		c.problem = ""
		usage, _ := fields.object("usage")
		return c.complete(usage)
	case "turn.failed":
		message := fields.within("error").text("message")
		if cleaned(message) == "" {
			message = c.problem
		}
		c.fail(message, trouble{})
	case "error": // which may be followed by a new attempt
		c.isDone = false
		c.problem = cleaned(fields.text("message"))
		c.message, c.trouble = c.problem, ofWords(c.problem)
	}
	return true
}

// name takes the model, if an event names it. It is only for want of that of the agent.
func (c *codexForm) name(fields objectFields) {
	if c.model == unnamedModel {
		c.model = firstModel(fields.text("model"), c.model)
	}
}

// item takes a step of a turn.
func (c *codexForm) item(event string, item objectFields) {
	kind := item.text("type")
	if kind == "error" { // a warning
		return
	}
	c.isDone = false
	if event != "item.completed" {
		return
	}
	c.trouble = trouble{} // the model answered
	switch {
	case kind == "agent_message":
		c.result = bounded(item.text("text"))
	case slices.Contains(codexCalls, kind):
		c.calls++
	}
}

// complete takes the usage of a thread. Cached input, read and written, is a part of its input.
func (c *codexForm) complete(usage objectFields) bool {
	total, ok := usage.tokens("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
	total.Input -= total.CacheRead + total.CacheWrite
	former, known := c.threads[c.thread]
	if !ok || len(usage) == 0 || total.Input < 0 || !known && len(c.threads) >= mostThreads {
		return false
	}
	used := less(total, former)
	if former.Plus(used) != total { // it counts from its beginning again
		used = total
	}
	if !c.meter.add(tally{model: c.model, session: c.thread, tokens: used, calls: c.calls + 1}) {
		return false
	}
	c.threads[c.thread], c.calls = total, 0
	return true
}

func (c *codexForm) shown() shown { return shown{tallies: c.meter.tallies} }
