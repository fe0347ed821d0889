package budget

import (
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/money"
)

// Limit is the most that may be spent. The zero Limit is none: any amount may be spent.
type Limit struct {
	IsSet bool
	USD   money.USD // 0 to Most; 0 unless IsSet
}

// Of returns a limit of an amount.
func Of(amount money.USD) Limit { return Limit{IsSet: true, USD: amount} }

// LimitDraft is what was sent of a limit, such as {"usd": 500}; nil fields were absent.
type LimitDraft struct{ USD *money.Number }

// ParseLimit parses a limit. Paths of faults start with path.
func ParseLimit(path string, sent LimitDraft) (Limit, []fault.Field) {
	path += ".usd"
	if sent.USD == nil {
		return Limit{}, []fault.Field{fault.Fieldf(path, fault.Required, "%s is required", path)}
	}
	return ParseAmount(path, *sent.USD)
}

// ParseAmount parses the amount of a limit. The paths of faults are path.
func ParseAmount(path string, sent money.Number) (Limit, []fault.Field) {
	amount, wrong := money.ParseBetween(path, sent, 0, Most)
	if wrong != nil {
		return Limit{}, wrong
	}
	return Of(amount), nil
}

// SetLimit sets a limit to what was sent, as ParseLimit parses it; nil: nothing was sent, and the limit stays. A pointer to nil is null:
// none. It adds what is wrong to problems.
func SetLimit(limit *Limit, path string, sent **LimitDraft, problems *fault.Problems) {
	set(limit, path, sent, problems, ParseLimit)
}

// SetAmount is SetLimit for what ParseAmount parses.
func SetAmount(limit *Limit, path string, sent **money.Number, problems *fault.Problems) {
	set(limit, path, sent, problems, ParseAmount)
}

func set[D any](limit *Limit, path string, sent **D, problems *fault.Problems, parse func(string, D) (Limit, []fault.Field)) {
	switch {
	case sent == nil:
	case *sent == nil:
		*limit = Limit{}
	default:
		parsed, wrong := parse(path, **sent)
		problems.Add(wrong...)
		*limit = parsed
	}
}

// Field returns the limit as a field of the API: an amount in dollars, or null.
func (l Limit) Field(name string) event.Field {
	if !l.IsSet {
		return event.F(name, nil)
	}
	return event.F(name, l.USD)
}
