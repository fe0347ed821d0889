package price

import (
	"strings"

	"holdco/domain/cost"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Index finds the prices of a table by the names of models. It does not change, and is safe for concurrent use.
type Index struct {
	revision int64
	fallback Model
	ids      map[string]*Model // by ids, folded
	others   map[string]*Model // by other names; nil: several models have the name, at different prices
}

var _ cost.Prices = (*Index)(nil)

// Index indexes a table.
func (t Table) Index() *Index {
	index := &Index{
		revision: t.Revision, fallback: Model{Input: flat(t.Fallback.Input), Output: flat(t.Fallback.Output)},
		ids: make(map[string]*Model, len(t.Models)), others: make(map[string]*Model, len(t.Models)),
	}
	for n := range t.Models {
		index.ids[text.Fold(t.Models[n].ID)] = &t.Models[n]
	}
	for n := range t.Models {
		m := &t.Models[n]
		if m.Provider == "" {
			continue
		}
		prefix, id := text.Fold(m.Provider)+"/", text.Fold(m.ID)
		name, isLong := strings.CutPrefix(id, prefix)
		if !isLong {
			name = prefix + id
		}
		if known, isTaken := index.others[name]; isTaken && (known == nil || !known.costsAs(*m)) {
			m = nil
		}
		index.others[name] = m
	}
	return index
}

// Revision is that of the table.
func (i *Index) Revision() int64 { return i.revision }

// Price returns what tokens of a model cost that were used in so many calls. If the model has no price, this is the fallback, and it
// is not known.
func (i *Index) Price(model string, tokens cost.Tokens, calls int64) (amount money.USD, isKnown bool) {
	m := i.find(model)
	if m == nil {
		return i.fallback.amount(tokens, calls), false
	}
	return m.amount(tokens, calls), true
}

// find looks for a model by its id, then with the name of its provider in front of its id or taken from there, then without what
// stands in front of it, as a proxy may have put it there. A name of several models with different prices has none.
func (i *Index) find(name string) *Model {
	for name, more := text.Fold(name), true; more; _, name, more = strings.Cut(name, "/") {
		if m := i.ids[name]; m != nil {
			return m
		}
		if m, isTaken := i.others[name]; isTaken {
			return m
		}
	}
	return nil
}
