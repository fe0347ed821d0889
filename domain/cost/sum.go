package cost

import (
	"cmp"
	"maps"
	"slices"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/money"
)

// Key is what sums are divided by.
type Key int

// The keys.
const (
	ByModel Key = iota // by the name of the model; empty: none
	ByDay              // by the UTC day, as time.DateOnly
	ByID               // by the id of the team, the agent ...
)

// Units are those by which sums of a scope can be read. For others the entries have to be read, which are few: those of one issue or
// run, or of one agent in two days.
func (k Key) Units(of budget.Scope) []Unit {
	switch {
	case of == budget.OfIssue || of == budget.OfRun:
		return nil
	case of == budget.OfAgent && k == ByModel:
		return []Unit{Days, Months}
	case k == ByDay:
		return []Unit{Hours, Days}
	}
	return Units
}

// Sum is what some entries cost together. With corrections among them an amount can be less than those of the others.
type Sum struct {
	LLM, Tools, RuntimeServices money.USD
	Tokens                      Tokens
	Calls                       int64
}

// Sum is the sum of one entry.
func (e Entry) Sum() Sum {
	s := Sum{Tokens: e.Tokens, Calls: e.Calls}
	switch e.Kind {
	case Tools:
		s.Tools = e.USD
	case RuntimeServices:
		s.RuntimeServices = e.USD
	default:
		s.LLM = e.USD
	}
	return s
}

// Plus returns the sum of both.
func (s Sum) Plus(more Sum) Sum {
	return Sum{
		LLM: s.LLM + more.LLM, Tools: s.Tools + more.Tools, RuntimeServices: s.RuntimeServices + more.RuntimeServices,
		Tokens: s.Tokens.Plus(more.Tokens), Calls: s.Calls + more.Calls,
	}
}

// USD is the amount of all kinds.
func (s Sum) USD() money.USD { return s.LLM + s.Tools + s.RuntimeServices }

// Total returns the sum of all parts.
func Total[K comparable](parts map[K]Sum) (total Sum) {
	for _, part := range parts {
		total = total.Plus(part)
	}
	return total
}

func (s Sum) total() event.Fields {
	return event.Fields{event.F("usd", s.USD()), event.F("tokens", s.Tokens.Fields()), event.F("calls", s.Calls)}
}

func (s Sum) breakdown() event.Fields {
	return event.Fields{
		event.F(string(LLM), s.LLM), event.F(string(Tools), s.Tools), event.F(string(RuntimeServices), s.RuntimeServices),
	}
}

// MostRanked is how many parts a ranking has, beside the others.
const MostRanked = 100

// Ranking are the parts of a sum, dearest first: MostRanked at most, and the sum of all others.
type Ranking struct {
	Parts  []Part
	Others int // how many others there are
	Rest   Sum // of them
}

// Part is what one team, agent or model costs.
type Part struct {
	Key string // its id or name
	Sum
}

// Rank ranks parts by their keys.
func Rank(parts map[string]Sum) (r Ranking) {
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		r.Parts = append(r.Parts, Part{key, parts[key]})
	}
	slices.SortStableFunc(r.Parts, func(a, b Part) int { return cmp.Compare(b.USD(), a.USD()) })
	if len(r.Parts) > MostRanked {
		r.Others = len(r.Parts) - MostRanked
		for _, part := range r.Parts[MostRanked:] {
			r.Rest = r.Rest.Plus(part.Sum)
		}
		r.Parts = r.Parts[:MostRanked]
	}
	return r
}

// fields shows the keys under a name.
func (r Ranking) fields(name string) []event.Fields {
	shown := make([]event.Fields, 0, len(r.Parts)+1)
	for _, part := range r.Parts {
		shown = append(shown, append(event.Fields{event.F(name, part.Key)}, part.total()...))
	}
	if r.Others > 0 {
		shown = append(shown, append(event.Fields{event.F(name, nil), event.F("others", r.Others)}, r.Rest.total()...))
	}
	return shown
}
