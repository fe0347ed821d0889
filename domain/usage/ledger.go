package usage

import (
	"fmt"
	"slices"

	"holdco/domain/cost"
	"holdco/domain/money"
	"holdco/domain/text"
)

// shown is what a program has used so far.
type shown struct {
	tallies []tally      // by models, in the order in which they appeared; they only grow
	settled *settlement  // the last one; nil: none
	charges []cost.Draft // that it made itself, each with a key; there are only more of them

	// settles says that a program of this form reports dollars for all that it used, when it ends.
	settles bool
}

// tally is what was used of one model.
type tally struct {
	model   string
	session string // of the program, whose usage is counted from its beginning on; empty: there is no such count
	tokens  cost.Tokens
	calls   int64
	usd     money.USD // that the program says it cost, of models whose dollars it knows; their tokens are not charged
	hasUSD  bool
}

// settlement is a report of dollars for all that a program had used at that point.
type settlement struct {
	number  int64 // of the settlement in the run, from 1
	usd     money.USD
	model   string // empty: not known
	tokens  cost.Tokens
	calls   int64
	tallies []tally // at that point: it covers them
}

// ledger knows what of the usage of a run was charged.
type ledger struct {
	hasEnded   bool // the program
	made       int  // charges of the ledger, each with the next key
	own        int  // charges that the program made itself, that were taken
	pending    []cost.Draft
	taken      map[tallyKey]tally
	tokens     cost.Tokens // of all charges
	calls      int64
	sum        money.USD // of all charges, as they came out
	settled    int64     // number of the settlement that was taken
	isUnpriced bool      // one charge, since the last settlement
}

// tallyKey tells tallies apart.
type tallyKey struct {
	model, session string
	hasUSD         bool
}

func (t tally) key() tallyKey { return tallyKey{t.model, t.session, t.hasUSD} }

// due returns the next charges.
func (l *ledger) due(s shown, limit int) []cost.Draft {
	if len(l.pending) == 0 {
		l.own = l.takeOwn(s.charges, limit)
	}
	if len(l.pending) == 0 && s.settled != nil && s.settled.number > l.settled {
		l.settle(*s.settled)
	}
	if len(l.pending) == 0 && (l.hasEnded || !s.settles || !l.isUnpriced) {
		for _, t := range s.tallies {
			l.take(t)
		}
	}
	return slices.Clone(l.pending[:min(len(l.pending), limit)])
}

func (l *ledger) takeOwn(charges []cost.Draft, limit int) int {
	next := min(len(charges), l.own+limit)
	l.pending = slices.Clone(charges[l.own:next])
	return next
}

// take makes a charge of what is new in a tally. What is more than one charge can hold comes later.
func (l *ledger) take(t tally) {
	before := l.taken[t.key()]
	news := tally{model: t.model, session: t.session, hasUSD: t.hasUSD, tokens: boundedTokens(less(t.tokens, before.tokens))}
	news.calls = min(max(t.calls-before.calls, 0), cost.MostTokens)
	news.usd = min(max(t.usd-before.usd, 0), cost.Most)
	if news.tokens == (cost.Tokens{}) && news.usd == 0 && (news.calls == 0 || !t.hasUSD && before.calls > 0) {
		return
	}
	draft := cost.Draft{Kind: new(string(cost.LLM)), Tokens: draftOf(news.tokens), Calls: new(max(news.calls, 1))}
	if t.model != "" {
		draft.Model = &t.model
	}
	if _, wrong := text.Name("session", t.session, cost.SessionLength); wrong == nil {
		draft.Session = &t.session
	}
	if t.hasUSD {
		draft.USD = new(money.Number(news.usd.String()))
	}
	l.put(draft)
	l.took(t.key(), tally{
		tokens: before.tokens.Plus(news.tokens), calls: before.calls + news.calls, usd: before.usd + news.usd,
	})
	l.tokens, l.calls = l.tokens.Plus(news.tokens), l.calls+news.calls
}

func (l *ledger) took(key tallyKey, t tally) {
	if l.taken == nil {
		l.taken = map[tallyKey]tally{}
	}
	l.taken[key] = t
}

// settle makes a charge of what the dollars that a program reports for all that it used are more than what was charged.
func (l *ledger) settle(s settlement) {
	isFirst := l.made == 0
	l.settled, l.isUnpriced = s.number, false
	for _, t := range s.tallies {
		l.took(t.key(), t)
	}
	rest := boundedTokens(less(s.tokens, l.tokens))
	usd := max(s.usd-l.sum, 0)
	if !isFirst && usd == 0 && rest == (cost.Tokens{}) {
		return
	}
	calls := min(max(s.calls-l.calls, 1), cost.MostTokens)
	draft := cost.Draft{Kind: new(string(cost.LLM)), USD: new(money.Number(usd.String())), Calls: &calls}
	if s.model != "" {
		draft.Model = &s.model
	}
	if rest != (cost.Tokens{}) {
		draft.Tokens = draftOf(rest)
	}
	l.put(draft)
	l.tokens, l.calls = l.tokens.Plus(rest), l.calls+calls
}

func (l *ledger) put(draft cost.Draft) {
	l.made++
	draft.Key = new(fmt.Sprintf("%s-%d", usageKey, l.made))
	l.pending = append(l.pending, draft)
}

// charged takes what a pending charge came to.
func (l *ledger) charged(entry cost.Entry) {
	n := slices.IndexFunc(l.pending, func(d cost.Draft) bool { return *d.Key == entry.Key })
	if n < 0 {
		return
	}
	l.pending = slices.Delete(l.pending, n, n+1)
	l.sum += entry.USD
	l.isUnpriced = l.isUnpriced || entry.Unpriced
}

// usageKey begins the keys of charges.
const usageKey = "usage"

// less returns what is more in each class, at least 0.
func less(all, part cost.Tokens) cost.Tokens {
	return cost.Tokens{
		Input: max(all.Input-part.Input, 0), Output: max(all.Output-part.Output, 0),
		CacheRead: max(all.CacheRead-part.CacheRead, 0), CacheWrite: max(all.CacheWrite-part.CacheWrite, 0),
	}
}

// boundedTokens are at most those that one charge can have.
func boundedTokens(t cost.Tokens) cost.Tokens {
	return cost.Tokens{
		Input: min(t.Input, cost.MostTokens), Output: min(t.Output, cost.MostTokens),
		CacheRead: min(t.CacheRead, cost.MostTokens), CacheWrite: min(t.CacheWrite, cost.MostTokens),
	}
}

func draftOf(t cost.Tokens) *cost.TokensDraft {
	return &cost.TokensDraft{Input: &t.Input, Output: &t.Output, CacheRead: &t.CacheRead, CacheWrite: &t.CacheWrite}
}

// meter adds up what was used of each model.
type meter struct{ tallies []tally }

// mostModels bounds how many models a meter tells apart.
const mostModels = 50

// add adds what was used, and reports whether it could.
func (m *meter) add(more tally) bool {
	n := slices.IndexFunc(m.tallies, func(t tally) bool { return t.key() == more.key() })
	switch {
	case n < 0 && len(m.tallies) >= mostModels:
		return false
	case n < 0:
		m.tallies = append(m.tallies, more)
		return true
	}
	t := &m.tallies[n]
	t.tokens, t.calls, t.usd = t.tokens.Plus(more.tokens), t.calls+more.calls, t.usd+more.usd
	return true
}

// raise takes what was used of a model from the beginning on, and reports whether it could.
func (m *meter) raise(total tally) bool {
	n := slices.IndexFunc(m.tallies, func(t tally) bool { return t.key() == total.key() })
	if n < 0 {
		return m.add(total)
	}
	t := &m.tallies[n]
	t.tokens, t.calls = t.tokens.Plus(less(total.tokens, t.tokens)), max(t.calls, total.calls)
	return true
}

// total is the sum of all tallies.
func (m *meter) total() (tokens cost.Tokens, calls int64) {
	for _, t := range m.tallies {
		tokens, calls = tokens.Plus(t.tokens), calls+t.calls
	}
	return tokens, calls
}
