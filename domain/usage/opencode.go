package usage

import (
	"cmp"

	"holdco/domain/cost"
)

// opencodeForm reads the events of opencode run --format json. Each step of its work says what it used, and what it cost if opencode
// knows a price: where that is 0, it may not, so the tokens are charged. It names no model.
type opencodeForm struct {
	outcome

	model string // of the agent, else that of the command
	meter meter
}

// unnamedOpencode is the model of charges when nothing names one.
const unnamedOpencode = "opencode"

func newOpencodeForm(options Options) *opencodeForm {
	return &opencodeForm{model: firstModel(options.Model, ModelInCommand(options.Command), unnamedOpencode)}
}

func (*opencodeForm) marks() (object, charge string) { return `"type"`, `"step_finish"` }

func (o *opencodeForm) read(fields objectFields) bool {
	part := fields.within("part")
	switch fields.text("type") {
	case "step_start", "tool_use", "reasoning":
		o.isDone, o.isError, o.message, o.trouble = false, false, "", trouble{}
	case "text":
		o.isDone, o.trouble = false, trouble{}
		o.result = bounded(part.text("text"))
	case "step_finish":
		if part.text("reason") == "stop" {
			o.succeed(o.result)
		}
		return o.step(part)
	case "error":
		o.failBy(fields.within("error"))
	}
	return true
}

func (o *opencodeForm) failBy(err objectFields) {
	data := err.within("data")
	message := cmp.Or(data.text("message"), err.text("message"), err.text("name"), "opencode reported an error.")
	status, _ := data.count("statusCode")
	known := ofStatus(status)
	switch {
	case known.kind != NoSetback:
	case err.text("name") == "ProviderAuthError":
		known = trouble{kind: AuthenticationFailed}
	default:
		known = ofWords(message)
	}
	o.fail(message, known)
}

// step takes what a step used. Reasoning is not a part of its output.
func (o *opencodeForm) step(part objectFields) bool {
	sent, isObject := part.object("tokens")
	tokens, ok := sent.tokens("input", "output", "", "")
	reasoning, isCount := sent.count("reasoning")
	cached, isCached := sent.cached("cache")
	tokens.Output += reasoning
	t := tally{model: o.model, tokens: tokens.Plus(cached), calls: 1}
	if usd := part.get("cost"); usd != nil && usd.Kind() != 'n' {
		amount, isAmount := dollars(usd)
		t.usd, t.hasUSD, ok = amount, amount > 0, ok && isAmount
	}
	if !isObject || !isCount || !isCached || !ok {
		if !t.hasUSD {
			return false
		}
		t.tokens = cost.Tokens{}
		o.meter.add(t)
		return false
	}
	return t.tokens == (cost.Tokens{}) && !t.hasUSD || o.meter.add(t)
}

func (o *opencodeForm) shown() shown { return shown{tallies: o.meter.tallies} }
