package cost

import (
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/money"
)

// Report is what something costs in a range.
type Report struct {
	Scope   budget.Scope
	ID      string
	Range   Range
	Total   Sum
	Use     Use
	Members map[string]Sum // by the ids of teams or agents; nil: it is not summed by these
	Models  map[string]Sum // by name
	PerDay  map[string]Sum
	IsTrend bool // whether PerDay is known, of the days of Range.Trend; those that are missing cost nothing
}

// Use is how much of a limit is used up in its current period.
type Use struct {
	Set   budget.Limit // as it was set
	Limit budget.Limit // what of it may be spent
	Spent money.USD
	Left  money.USD // what leases may still reserve
}

// UseOf is the use of an envelope.
func UseOf(e budget.Envelope) Use { return Use{e.Set, e.Limit(), e.Account.Spent, e.Available().USD} }

func (u Use) fields() any {
	if !u.Limit.IsSet {
		return nil
	}
	return event.Fields{
		event.F("usd", u.Set.USD), event.F("remaining", u.Left), event.F("percentUsed", budget.Used(u.Spent, u.Limit)),
	}
}

// members are the names of what sums are divided into, by their scope.
var members = map[budget.Scope]struct{ list, id string }{
	budget.OfCompany: {"byTeam", "teamId"}, budget.OfTeam: {"byAgent", "agentId"},
}

// Fields returns the report as the API shows it.
func (r Report) Fields() event.Fields {
	shown := event.Fields{
		event.F("scope", string(r.Scope)),
		event.F("scopeId", r.ID),
		event.F("period", r.Range.fields()),
		event.F("total", r.Total.total()),
		event.F("budget", r.Use.fields()),
		event.F("breakdown", r.Total.breakdown()),
	}
	if of, ok := members[r.Scope]; ok {
		shown = append(shown, event.F(of.list, Rank(r.Members).fields(of.id)))
	}
	shown = append(shown, event.F("byModel", Rank(r.Models).fields("model")))
	if r.IsTrend {
		shown = append(shown, event.F("trend", event.Fields{event.F("perDay", r.perDay())}))
	}
	return shown
}

func (r Report) perDay() []event.Fields {
	days := r.Range.Trend().days()
	shown := make([]event.Fields, len(days))
	for n, at := range days {
		shown[n] = event.Fields{event.F("date", at.Format(time.DateOnly)), event.F("usd", r.PerDay[at.Format(time.DateOnly)].USD())}
	}
	return shown
}
