package cost

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/money"
)

// Glance is what a company costs, as its dashboard shows it.
type Glance struct {
	Today    money.USD // since midnight in UTC
	Forecast Forecast  // of the current period of its budget
	Left     money.USD // what of the limit leases may still reserve
	Teams    Ranking   // of the current period
	Agents   Ranking   // of the current period
}

// GlanceAt makes a glance from a forecast, what was spent on each day of its period, the use of the limit, and what each team and
// agent cost in the period.
func GlanceAt(now time.Time, forecast Forecast, use Use, perDay, teams, agents map[string]Sum) Glance {
	return Glance{
		Today: perDay[now.Format(time.DateOnly)].USD(), Forecast: forecast, Left: use.Left, Teams: Rank(teams), Agents: Rank(agents),
	}
}

// Totals returns the glance as the API shows it, without the teams and agents.
func (g Glance) Totals() event.Fields {
	return event.Fields{
		event.F("today", g.Today),
		event.F("thisPeriod", g.Forecast.Spent),
		event.F("budget", g.Forecast.Limit.USD),
		event.F("remaining", g.Left),
		event.F("forecastEndOfPeriod", g.Forecast.Expected),
	}
}

// Fields returns the glance as the API shows it.
func (g Glance) Fields() event.Fields {
	return append(g.Totals(), event.F("byTeam", g.Teams.fields("teamId")), event.F("byAgent", g.Agents.fields("agentId")))
}
