package usage

import (
	"fmt"
	"strconv"
	"strings"

	"holdco/domain/cost"
)

// Keys are the keys of charges of a run that parsers made, from the first, which is 1, on.
func Keys(first, count int) []string {
	keys := make([]string, count)
	for n := range keys {
		keys[n] = fmt.Sprintf("%s-%d", usageKey, first+n)
	}
	return keys
}

// Restore takes charges of the run that a parser made in a process that has ended, those of Keys: what they cover is not due again once
// the output has been written to this parser from its beginning. It is called before the first Due.
func (p *Parser) Restore(entries []cost.Entry) {
	for _, entry := range entries {
		p.ledger.restore(entry)
	}
}

func (l *ledger) restore(entry cost.Entry) {
	number, err := strconv.Atoi(strings.TrimPrefix(entry.Key, usageKey+"-"))
	if err != nil {
		return
	}
	key := tallyKey{entry.Model, entry.Session, !entry.IsOfTokens()}
	before := l.taken[key]
	l.took(key, tally{
		tokens: before.tokens.Plus(entry.Tokens), calls: before.calls + entry.Calls, usd: before.usd + entry.USD,
	})
	l.made = max(l.made, number)
	l.tokens, l.calls, l.sum = l.tokens.Plus(entry.Tokens), l.calls+entry.Calls, l.sum+entry.USD
	l.isUnpriced = l.isUnpriced || entry.Unpriced
}
