package price_test

import (
	"testing"

	"holdco/domain/cost"
	"holdco/domain/money"
	"holdco/domain/price"
)

func TestAModelIsFoundByItsNames(t *testing.T) {
	t.Parallel()
	costing := func(id, provider string, each price.Price) price.Model {
		steps := price.Steps{{Price: each * 1_000_000}}
		return price.Model{ID: id, Provider: provider, Input: steps, Output: steps}
	}
	table := price.Initial()
	table.Models = []price.Model{
		costing("Claude-X", "anthropic", 1),
		costing("xai/grok-9", "xai", 2),
		costing("a/shared", "a", 3), costing("b/shared", "b", 4),
		costing("a/equal", "a", 5), costing("b/equal", "b", 5), costing("c/equal", "C", 5),
		costing("openrouter/claude-x", "openrouter", 6),
		costing("lonely", "", 7),
		costing("vertex/own/deep", "vertex", 8),
		costing("plain", "", 9), costing("one/maker/plain", "one", 10), costing("two/maker/plain", "two", 11),
	}
	index := table.Index()
	for name, want := range map[string]money.USD{
		"claude-x":                      1,
		"CLAUDE-X":                      1,
		"anthropic/claude-x":            1,
		"Anthropic/Claude-X":            1,
		"bedrock/anthropic/claude-x":    1,
		"elsewhere/claude-x":            1,
		"openrouter/claude-x":           6,
		"openrouter/anthropic/claude-x": 1,
		"xai/grok-9":                    2,
		"XAI/grok-9":                    2,
		"grok-9":                        2,
		"x-ai/grok-9":                   2,
		"a/shared":                      3,
		"B/Shared":                      4,
		"shared":                        -1,
		"c/shared":                      -1,
		"equal":                         5,
		"lonely":                        7,
		"any/lonely":                    7,
		"own/deep":                      8,
		"deep":                          -1,
		"plain":                         9,
		"other/plain":                   9,
		"maker/plain":                   -1, // it has two prices, and a third without what is in front
		"any/maker/plain":               -1,
		"claude":                        -1,
		"claude-x/":                     -1,
		"/claude-x":                     1,
		"":                              -1,
		"/":                             -1,
	} {
		amount, isKnown := index.Price(name, cost.Tokens{Input: 1}, 1)
		if isKnown != (want >= 0) || isKnown && amount != want || !isKnown && amount != 15 {
			t.Errorf("%q: %d, %t; want %d", name, int64(amount), isKnown, int64(want))
		}
	}
}
