package price

import (
	"math/bits"
	"reflect"
	"slices"

	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/money"
)

// Model is what the tokens of a model cost.
type Model struct {
	ID       string // 1 to cost.ModelLength characters
	Provider string // as LiteLLM names it, such as anthropic; empty: none was named
	Input    Steps  // begins with the price in any call, as does Output
	Output   Steps

	CacheRead, CacheWrite Steps // what is empty, or begins above some tokens, costs as Input up to there
}

// Steps are prices that depend on how many tokens a call reads, cached ones too. They ascend by Above.
type Steps []Step

// Step is a price in calls that read more tokens than Above; 0: in any call.
type Step struct {
	Above int64
	Price Price
}

// at returns the price in a call that reads so many tokens, and whether there is one.
func (s Steps) at(read int64) (Price, bool) {
	for _, step := range slices.Backward(s) {
		if step.Above == 0 || read > step.Above {
			return step.Price, true
		}
	}
	return 0, false
}

// flat is a price that depends on nothing.
func flat(p Price) Steps { return Steps{{Price: p}} }

// amount returns what tokens cost that were used in so many calls. Of more than one call it is not known how many tokens each has
// read: they cost as in a short one.
func (m Model) amount(t cost.Tokens, calls int64) money.USD {
	var read int64
	if calls == 1 {
		read = t.Input + t.CacheRead + t.CacheWrite
	}
	input, _ := m.Input.at(read)
	output, _ := m.Output.at(read)
	cacheRead, found := m.CacheRead.at(read)
	if !found {
		cacheRead = input
	}
	cacheWrite, found := m.CacheWrite.at(read)
	if !found {
		cacheWrite = input
	}
	var sum picodollars
	sum.add(t.Input, input)
	sum.add(t.Output, output)
	sum.add(t.CacheRead, cacheRead)
	sum.add(t.CacheWrite, cacheWrite)
	return sum.roundedUp()
}

// picodollars are an amount of 128 bits: one kind of tokens can cost 70.
type picodollars struct{ high, low uint64 }

func (p *picodollars) add(tokens int64, each Price) {
	high, low := bits.Mul64(uint64(tokens), uint64(each))
	var carry uint64
	p.low, carry = bits.Add64(p.low, low, 0)
	p.high += high + carry
}

// roundedUp is the amount in millionths of a dollar.
func (p *picodollars) roundedUp() money.USD {
	quotient, rest := bits.Div64(p.high, p.low, 1_000_000) // four kinds of tokens cost less than 2^73, so that it fits
	if rest > 0 {
		quotient++
	}
	return money.USD(quotient)
}

// costsAs reports whether two models have the same prices.
func (m Model) costsAs(other Model) bool {
	other.ID, other.Provider = m.ID, m.Provider
	return reflect.DeepEqual(m, other)
}

// kinds are the prices of a model by the names of the kinds of tokens, as charges have them.
func (m *Model) kinds() [4]kind {
	return [4]kind{
		{"input", "input_cost_per_token", &m.Input}, {"output", "output_cost_per_token", &m.Output},
		{"cacheRead", "cache_read_input_token_cost", &m.CacheRead}, {"cacheWrite", "cache_creation_input_token_cost", &m.CacheWrite},
	}
}

// kind is a kind of tokens: its names in charges and in files, and the prices of a model.
type kind struct {
	name, field string
	steps       *Steps
}

// Fields returns the model as events and the command line show it: in dollars per million tokens.
func (m Model) Fields() event.Fields {
	above := []event.Fields{}
	for _, bound := range m.Bounds() {
		above = append(above, append(event.Fields{event.F("tokens", bound)}, m.At(bound)...))
	}
	var provider any
	if m.Provider != "" {
		provider = m.Provider
	}
	fields := append(event.Fields{event.F("model", m.ID), event.F("provider", provider)}, m.At(0)...)
	return append(fields, event.F("above", above))
}

// Bounds are the numbers of tokens above which there are other prices.
func (m Model) Bounds() []int64 {
	var bounds []int64
	for _, k := range m.kinds() {
		for _, step := range *k.steps {
			if step.Above > 0 {
				bounds = append(bounds, step.Above)
			}
		}
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}

// At are the prices of a million tokens of each kind above one of Bounds, or 0. One that is not there is nil.
func (m Model) At(above int64) (fields event.Fields) {
	for _, k := range m.kinds() {
		var shown any
		if n := slices.IndexFunc(*k.steps, func(s Step) bool { return s.Above == above }); n >= 0 {
			shown = (*k.steps)[n].Price.PerMillion()
		}
		fields = append(fields, event.F(k.name, shown))
	}
	return fields
}
