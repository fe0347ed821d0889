package usage

import (
	"cmp"

	"holdco/domain/cost"
)

// geminiForm reads what Gemini CLI prints: the one object of --output-format json, or the events of stream-json. What its run used it
// says at the end alone. Both count cached tokens as a part of the input, and thoughts apart from the output.
type geminiForm struct {
	outcome

	model  string // of the agent, else that of the command
	meter  meter
	last   []byte // message of the model
	isOpen bool   // more of the message may follow
	calls  int64  // of the model, as far as the events tell
	isCall bool   // the events come from one
}

// unnamedGemini is the model of charges when nothing names one.
const unnamedGemini = "gemini"

func newGeminiForm(options Options) *geminiForm {
	return &geminiForm{model: firstModel(options.Model, ModelInCommand(options.Command), unnamedGemini)}
}

func (*geminiForm) marks() (object, charge string) { return `"`, `"stats"` }

func (g *geminiForm) read(fields objectFields) bool {
	switch fields.text("type") {
	case "":
		return g.whole(fields)
	case "init":
		g.isDone = false
	case "message":
		g.say(fields)
	case "tool_use":
		g.called()
		g.isOpen = false
	case "tool_result":
		g.isDone, g.isOpen, g.isCall = false, false, false
	case "error":
		if fields.text("severity") != "warning" {
			g.isDone = false
			g.message = cleaned(fields.text("message"))
		}
	case "result":
		g.isOpen = false
		if fields.text("status") == "success" {
			g.succeed(string(g.last))
		} else {
			g.failBy(fields.within("error"))
		}
		return g.total(fields)
	}
	return true
}

// whole takes the object of a whole run.
func (g *geminiForm) whole(fields objectFields) bool {
	switch {
	case fields.get("stats") == nil && fields.get("error") == nil:
		return true
	case fields.get("error").Kind() == '{':
		g.failBy(fields.within("error"))
	case fields.get("response") != nil:
		g.succeed(fields.text("response"))
	}
	return g.total(fields)
}

// say takes a message, or a part of one.
func (g *geminiForm) say(fields objectFields) {
	if fields.text("role") != "assistant" {
		g.isDone, g.isOpen, g.isCall = false, false, false
		return
	}
	g.called()
	if !g.isOpen {
		g.last = g.last[:0]
	}
	g.isOpen = fields.isTrue("delta")
	g.last = appendBounded(g.last, fields.text("content"))
}

// called takes an event that comes from a call of the model.
func (g *geminiForm) called() {
	if !g.isCall {
		g.calls++
	}
	g.isDone, g.isCall, g.trouble = false, true, trouble{}
}

func (g *geminiForm) failBy(err objectFields) {
	message := cmp.Or(err.text("message"), err.text("type"), "Gemini CLI reported an error.")
	code, _ := err.count("code")
	known := ofWords(message)
	if known.kind == NoSetback {
		known = ofStatus(code)
	}
	g.fail(message, known)
}

// total takes what the run used: of --output-format json by calls and classes of tokens, of stream-json in sums.
func (g *geminiForm) total(fields objectFields) bool {
	stats, ok := fields.object("stats")
	models, isObject := stats.object("models")
	if !ok || !isObject {
		return false
	}
	if len(models) == 0 {
		return g.count(g.model, stats, g.calls)
	}
	main, highest := "", int64(-1)
	for _, model := range models {
		if all, _ := models.within(model.Name).count("total_tokens"); all > highest {
			main, highest = model.Name, all
		}
	}
	for _, model := range models {
		one, isObject := models.object(model.Name)
		calls := int64(1) // of a small model, which routes or summarizes: stream-json does not say
		if model.Name == main {
			calls = g.calls
		}
		ok = isObject && g.count(firstModel(model.Name, g.model), one, calls) && ok
	}
	return ok
}

// count takes what was used of a model, in so many calls if it does not say so itself. The totals are those of the run, so of more reports
// what is more counts.
func (g *geminiForm) count(model string, fields objectFields, calls int64) bool {
	t := tally{model: model, calls: calls}
	var prompt, output, more, all int64
	ok := true
	read := func(from objectFields, name string) int64 {
		n, isCount := from.count(name)
		ok = ok && isCount
		return n
	}
	if tokens := fields.within("tokens"); len(tokens) > 0 {
		prompt, output, more = read(tokens, "prompt")+read(tokens, "tool"), read(tokens, "candidates"), read(tokens, "thoughts")
		t.tokens.CacheRead = read(tokens, "cached")
		t.calls = read(fields.within("api"), "totalRequests") - read(fields.within("api"), "totalErrors")
	} else {
		prompt, output, all = read(fields, "input_tokens"), read(fields, "output_tokens"), read(fields, "total_tokens")
		t.tokens.CacheRead = read(fields, "cached")
		more = max(all-prompt-output, 0)
	}
	t.tokens.Input, t.tokens.Output, t.calls = prompt-t.tokens.CacheRead, output+more, max(t.calls, 1)
	switch {
	case !ok || t.tokens.Input < 0:
		return false
	case t.tokens == (cost.Tokens{}):
		return true
	}
	return g.meter.raise(t)
}

func (g *geminiForm) said() *outcome {
	if !g.isDone && !g.isError {
		g.result = string(g.last)
	}
	return &g.outcome
}

func (g *geminiForm) shown() shown { return shown{tallies: g.meter.tallies} }
