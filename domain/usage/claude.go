package usage

import (
	"strings"

	"holdco/domain/anyjson"
	"holdco/domain/cost"
	"holdco/domain/money"
	"holdco/domain/text"
)

// claudeForm reads the objects of the type result that Claude Code prints. There is one at the end of a run; if there are more,
// each has the costs from the beginning on, so the last one counts.
type claudeForm struct {
	model   string
	charge  *cost.Draft
	isError bool
	message string
}

func (*claudeForm) marks() (object, charge string) { return `"result"`, `"total_cost_usd"` }

func (c *claudeForm) read(fields objectFields) bool {
	if fields.text("type") != "result" {
		return true
	}
	subtype := fields.text("subtype")
	c.isError = fields.get("is_error").Kind() == 't' || strings.HasPrefix(subtype, "error") // such as error_max_turns
	c.message = ""
	if c.isError {
		c.message = claudeMessage(fields, subtype)
	}
	sent := fields.get("total_cost_usd")
	if sent == nil || sent.Kind() == 'n' {
		return true
	}
	amount, err := money.RoundUSD(money.Number(sent))
	if sent.Kind() != '0' || err != nil {
		return false
	}
	charge := cost.Draft{Key: new(usageKey), Kind: new(string(cost.LLM)), USD: new(money.Number(amount.String()))}
	dearest, tokens, ok := claudeTokens(fields)
	for _, model := range []string{dearest, c.model} {
		if _, wrong := text.Name("model", model, cost.ModelLength); wrong == nil {
			charge.Model = &model
			break
		}
	}
	if ok && tokens != (cost.Tokens{}) {
		charge.Tokens = draftOf(tokens)
	}
	if !isCharge(charge) {
		return false
	}
	c.charge = &charge
	return ok
}

func (c *claudeForm) report() Report {
	report := Report{IsError: c.isError, Message: c.message}
	if c.charge != nil {
		report.Charges = []cost.Draft{*c.charge}
	}
	return report
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
	most := money.USD(-1)
	for _, one := range models {
		usage, isObject := models.object(one.Name)
		tokens, isCount := usage.tokens("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
		all = all.Plus(tokens)
		ok = ok && isObject && isCount
		if amount, err := money.RoundUSD(money.Number(usage.get("costUSD"))); err == nil && amount > most {
			model, most = one.Name, amount
		}
	}
	return model, all, ok && areInBounds(all)
}

func areInBounds(t cost.Tokens) bool {
	return max(t.Input, t.Output, t.CacheRead, t.CacheWrite) <= cost.MostTokens
}

// claudeMessage is why a run failed: its result, the errors that it lists, or else its subtype.
func claudeMessage(fields objectFields, subtype string) string {
	if message := cleaned(fields.text("result")); message != "" {
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
	if message := cleaned(strings.Join(errors, "\n")); message != "" {
		return message
	}
	return cleaned(subtype)
}
