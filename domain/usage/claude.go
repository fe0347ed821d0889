package usage

import (
	"cmp"
	"slices"
	"strings"

	"holdco/domain/anyjson"
	"holdco/domain/cost"
	"holdco/domain/money"
)

// claudeForm reads the objects that Claude Code prints. While it works there is one for each part of a message of the model, with what
// the message has used so far. At the end of a run there is one of the type result, with dollars for all calls, also for those that the
// stream does not show; if there are more, each has the costs from the beginning on, so the last one counts.
type claudeForm struct {
	outcome

	model    string // of the agent
	meter    meter
	messages map[string]claudeMessage // the last ones, by their ids
	recent   []string                 // these ids, the oldest first
	streams  map[string]string        // the ids of messages that come in parts, by the tool calls that they belong to
	settled  *settlement
}

// claudeMessage is what a message of the model was seen to use: of its parts, each class of tokens counts at its highest.
type claudeMessage struct {
	model  string
	tokens cost.Tokens
}

// Bounds of what is kept of messages.
const (
	mostMessages = 100 // that are under way at once, of Claude and its subagents
	longestID    = 200 // bytes
)

// synthetic is the model of messages that Claude Code writes itself, such as those about errors.
const synthetic = "<synthetic>"

func (*claudeForm) marks() (object, charge string) { return `"type"`, `"total_cost_usd"` }

func (c *claudeForm) read(fields objectFields) bool {
	switch fields.text("type") {
	case "assistant":
		return c.say(fields)
	case "user":
		c.isDone = false
	case "stream_event":
		return c.stream(fields)
	case "system":
		if fields.text("subtype") == "api_retry" {
			c.isDone = false
			c.meet(claudeTrouble(fields.get("error_status"), fields.text("error")))
		}
	case "rate_limit_event":
		if info := fields.within("rate_limit_info"); info.text("status") == "rejected" {
			c.trouble = trouble{kind: RateLimited, resetsAt: instantOf(info.get("resetsAt"))}
		}
	case "result":
		return c.end(fields)
	}
	return true
}

// say takes a message, of the model or of Claude Code itself.
func (c *claudeForm) say(fields objectFields) bool {
	c.isDone = false
	message := fields.within("message")
	model, problem := message.text("model"), cmp.Or(fields.text("error"), fields.text("errorKind"))
	if model == synthetic || problem != "" {
		c.meet(claudeTrouble(nil, problem))
		return true
	}
	c.outcome = outcome{} // the model answered
	return c.use(message.text("id"), model, message)
}

// stream takes a part of a message, as it comes with --include-partial-messages.
func (c *claudeForm) stream(fields objectFields) bool {
	event, parent := fields.within("event"), fields.text("parent_tool_use_id")
	switch event.text("type") {
	case "message_start":
		c.outcome = outcome{}
		message := event.within("message")
		if len(c.streams) >= mostMessages {
			clear(c.streams)
		}
		if c.streams == nil {
			c.streams = map[string]string{}
		}
		if id := message.text("id"); max(len(parent), len(id)) <= longestID {
			c.streams[parent] = id
		}
		return c.use(message.text("id"), message.text("model"), message)
	case "message_delta":
		if id := c.streams[parent]; id != "" {
			return c.use(id, c.messages[id].model, event)
		}
	}
	return true
}

// use takes what a message has used so far, from the member usage of fields.
func (c *claudeForm) use(id, model string, fields objectFields) bool {
	usage, isObject := fields.object("usage")
	tokens, ok := usage.tokens("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
	if !ok || !isObject || len(usage) == 0 || id == "" || len(id) > longestID {
		return true // the result has it all, if the program gets there
	}
	known, found := c.messages[id]
	more := tally{model: firstModel(model, c.model, unnamedClaude), tokens: less(tokens, known.tokens)}
	if found {
		more.model = known.model
	} else {
		more.calls = 1
	}
	if !c.meter.add(more) {
		return false
	}
	c.keep(id, claudeMessage{more.model, known.tokens.Plus(more.tokens)})
	return true
}

// unnamedClaude is the model of messages that name none.
const unnamedClaude = "claude"

func (c *claudeForm) keep(id string, message claudeMessage) {
	if c.messages == nil {
		c.messages = map[string]claudeMessage{}
	}
	if _, found := c.messages[id]; !found {
		if len(c.recent) >= mostMessages {
			delete(c.messages, c.recent[0])
			c.recent = slices.Delete(c.recent, 0, 1)
		}
		id = strings.Clone(id)
		c.recent = append(c.recent, id)
	}
	c.messages[id] = message
}

// end takes a result.
func (c *claudeForm) end(fields objectFields) bool {
	subtype := fields.text("subtype")
	if fields.isTrue("is_error") || strings.HasPrefix(subtype, "error") { // such as error_max_turns
		kind := cmp.Or(fields.text("error"), fields.text("errorKind"))
		c.fail(claudeError(fields, subtype), claudeTrouble(fields.get("api_error_status"), kind))
	} else {
		c.succeed(fields.text("result"))
	}
	sent := fields.get("total_cost_usd")
	if sent == nil || sent.Kind() == 'n' {
		return true
	}
	amount, isAmount := dollars(sent)
	if !isAmount {
		return false
	}
	dearest, tokens, ok := claudeTokens(fields)
	if tokens != boundedTokens(tokens) {
		tokens, ok = cost.Tokens{}, false
	}
	_, calls := c.meter.total()
	number := int64(1)
	if c.settled != nil {
		number += c.settled.number
	}
	c.settled = &settlement{
		number: number, usd: amount, model: firstModel(dearest, c.model), tokens: tokens, calls: calls,
		tallies: slices.Clone(c.meter.tallies),
	}
	return ok
}

func (c *claudeForm) shown() shown {
	return shown{tallies: c.meter.tallies, settled: c.settled, settles: true}
}

// claudeTrouble is the trouble of a status of HTTP, which may be absent, and a kind of error.
func claudeTrouble(status []byte, kind string) trouble {
	if number, err := money.Number(status).Scaled(0); err == nil {
		if t := ofStatus(number); t.kind != NoSetback {
			return t
		}
	}
	switch kind {
	case "rate_limit", "billing_error":
		return trouble{kind: RateLimited}
	case "overloaded":
		return trouble{kind: RateLimited, isOverload: true}
	case "authentication_failed", "oauth_org_not_allowed":
		return trouble{kind: AuthenticationFailed}
	}
	return trouble{}
}

// claudeTokens returns the tokens of all models together, and of these the dearest. It reports whether they could be read. The
// member usage has those of the main model alone, so it stands in only where modelUsage, which came later, is not.
func claudeTokens(fields objectFields) (model string, all cost.Tokens, ok bool) {
	models, ok := fields.object("modelUsage")
	if len(models) == 0 {
		usage, isObject := fields.object("usage")
		all, isCount := usage.tokens("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
		return "", all, ok && isObject && isCount
	}
	highest := money.USD(-1)
	for _, one := range models {
		usage, isObject := models.object(one.Name)
		tokens, isCount := usage.tokens("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
		all = all.Plus(tokens)
		ok = ok && isObject && isCount
		if amount, isAmount := dollars(usage.get("costUSD")); isAmount && amount > highest {
			model, highest = one.Name, amount
		}
	}
	return model, all, ok
}

// claudeError is why a run failed: its result, the errors that it lists, or else its subtype.
func claudeError(fields objectFields, subtype string) string {
	if message := fields.text("result"); cleaned(message) != "" {
		return message
	}
	var errors []string
	if listed := fields.get("errors"); listed.Kind() == '[' {
		items, _ := anyjson.Items(listed)
		for _, item := range items {
			if item.Kind() == '"' {
				errors = append(errors, anyjson.Text(item))
			}
		}
	}
	if message := strings.Join(errors, "\n"); cleaned(message) != "" {
		return message
	}
	return subtype
}
