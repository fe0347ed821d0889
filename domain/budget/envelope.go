package budget

import (
	"math"
	"math/bits"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
)

// Scope is what an envelope is about, or what costs are summed of.
type Scope string

// The scopes.
const (
	OfCompany  Scope = "company"
	OfTeam     Scope = "team"
	OfAgent    Scope = "agent"
	OfGoal     Scope = "goal"
	OfProject  Scope = "project"
	OfWorkflow Scope = "workflow"
	OfIssue    Scope = "issue"
	OfRun      Scope = "run" // has costs, and no envelope of its own
)

// Scopes are the scopes of envelopes, in the order in which envelopes are listed.
var Scopes = []Scope{OfCompany, OfTeam, OfAgent, OfGoal, OfProject, OfWorkflow, OfIssue}

// Level is how far the spending under an envelope has come.
type Level string

// The levels, in the order in which they are reached.
const (
	None         Level = "none"
	Soft         Level = "soft"         // 80 % of the limit is spent
	Hard         Level = "hard"         // all of it: there are no new leases, and those that are live have to finish
	Catastrophic Level = "catastrophic" // of a company: the reserve too. All leases end.
)

// Levels are all levels, in that order.
var Levels = []Level{None, Soft, Hard, Catastrophic}

func (l Level) rank() int {
	for n, level := range Levels {
		if level == l {
			return n
		}
	}
	return 0
}

// IsAtLeast reports whether a level is reached with this one.
func (l Level) IsAtLeast(other Level) bool { return l.rank() >= other.rank() }

// TimeToFinish is for how long leases stay live after the limit of one of their envelopes was reached.
const TimeToFinish = 10 * time.Minute

// Account is what is kept of an envelope. Stores make it.
type Account struct {
	ID      string // of the company, the team, the agent ...
	Company id.Company
	Limit   Limit     // as it was set for a team, a goal, a project or a workflow; others have it elsewhere
	Period  Period    // of Spent; empty: nothing has been counted yet
	Start   time.Time // of that period; zero: Always
	Spent   money.USD // in that period
	Held    money.USD // reserved by live leases and not spent yet
	Topups  money.USD // in that period: what the reserve of the company gave
	Fired   Level     // the highest level that has been reported in that period; empty: None
	HardAt  time.Time // when the limit was reached; zero: it is not
}

// Envelope is a limit of what may be spent on something in each period, or for ever, with what has been spent of it.
type Envelope struct {
	Scope   Scope
	Set     Limit         // as it was set; none: any amount may be spent
	Reserve money.Percent // the share of Set that a company keeps back
	Period  Period
	Account Account
}

// At returns the envelope as it is at an instant: a period that is over has taken its figures with it. What is held is held in the
// next one too. Periods never go back, whatever the clock does.
func (e Envelope) At(now time.Time) Envelope {
	if start := e.Period.Start(now); e.Account.Period == e.Period && start.After(e.Account.Start) {
		e.Account = e.Account.begin(e.Period, start, 0)
	}
	return e
}

// IsCounted reports whether Account.Spent is of the envelope's kind of period. Otherwise Recount has to be told.
func (e Envelope) IsCounted() bool { return e.Account.Period == e.Period }

// Recount begins to count, with what has been spent since the start of the period.
func (e Envelope) Recount(spent money.USD, now time.Time) Envelope {
	e.Account = e.Account.begin(e.Period, e.Period.Start(now), spent)
	return e
}

func (a Account) begin(period Period, start time.Time, spent money.USD) Account {
	a.Period, a.Start, a.Spent = period, start, spent
	a.Topups, a.Fired, a.HardAt = 0, None, time.Time{}
	return a
}

// Holds refuses budgets of teams that add up to more than the company may spend: fault.BudgetInvalid.
func (b Budget) Holds(teams money.USD) error {
	if spendable := b.Spendable(); teams > spendable {
		return fault.New(fault.BudgetInvalid, "The budgets of the teams add up to %s dollars; the company may spend %s, "+
			"without its reserve.", teams, spendable).With("teamsUsd", teams)
	}
	return nil
}

// HoldsDaily refuses daily budgets of agents that add up to more than their team has for the days of a period:
// fault.TeamBudgetExceeded. It is asked about the budget of an agent. A team may be given less afterwards, and a period may become
// longer: the limit of the team holds all the same.
func (l Limit) HoldsDaily(agents money.USD, days int64) error {
	if l.IsSet && agents > l.USD/money.USD(days) {
		projected := money.USD(math.MaxInt64) // 1,000 agents of a billion dollars for 92 days need 67 bits
		if high, low := bits.Mul64(uint64(agents), uint64(days)); high == 0 && low <= math.MaxInt64 {
			projected = money.USD(low)
		}
		return fault.New(fault.TeamBudgetExceeded, "The daily budgets of the agents of the team come to %s dollars in the %d days of "+
			"the current period; the team has %s.", projected, days, l.USD).With("projectedUsd", projected).With("budgetUsd", l.USD)
	}
	return nil
}

// Topup gives an amount of the reserve of a company to a team in the current period. It raises the limits of both. It fails with
// fault.ReserveExhausted if less is left.
func Topup(company, team Envelope, amount money.USD) (Envelope, Envelope, error) {
	if left := company.ReserveLeft(); amount > left {
		return company, team, fault.New(fault.ReserveExhausted, "The reserve has %s dollars left in this period.", left).
			With("reserveUsd", left)
	}
	company.Account.Topups += amount
	team.Account.Topups += amount
	return company.Raised(), team.Raised(), nil
}

// ReserveLeft is what the company still keeps back.
func (e Envelope) ReserveLeft() money.USD {
	return max(0, Share(e.Set.USD, e.Reserve)-e.Account.Topups)
}

// Limit is the most that may be spent in the period.
func (e Envelope) Limit() Limit {
	switch {
	case !e.Set.IsSet:
		return Limit{}
	case e.Scope == OfCompany:
		return Of(e.Set.USD - e.ReserveLeft())
	}
	return Of(e.Set.USD + e.Account.Topups)
}

// Available is what leases may still reserve.
func (e Envelope) Available() Limit { return e.Left(0) }

// Left is what a lease that has reserved an amount may still spend: that, and what is available. It is less than was reserved if the
// limit was lowered.
func (e Envelope) Left(reserved money.USD) Limit {
	limit := e.Limit()
	if !limit.IsSet {
		return limit
	}
	return Of(max(0, limit.USD-e.Account.Spent-e.Account.Held+reserved))
}

// Lack is why an envelope allows no lease at all.
type Lack string

// The lacks.
const (
	NoLack   Lack = ""
	NoBudget Lack = "none"  // the limit is nothing
	AllHeld  Lack = "held"  // what is not spent is reserved by leases, which may give some of it back
	AllSpent Lack = "spent" // until the limit is raised or the next period begins
)

// Lack returns why the envelope allows no lease at all.
func (e Envelope) Lack() Lack {
	limit, available := e.Limit(), e.Available()
	switch {
	case !available.IsSet || available.USD > 0:
		return NoLack
	case limit.USD == 0:
		return NoBudget
	case e.Account.Held > 0:
		return AllHeld
	}
	return AllSpent
}

// Level is the highest level that is reached. A limit of nothing is not reached before something is spent.
func (e Envelope) Level() Level {
	limit, spent := e.Limit(), e.Account.Spent
	switch {
	case !limit.IsSet || limit.USD == 0 && spent == 0:
		return None
	case e.Scope == OfCompany && spent >= e.Set.USD:
		return Catastrophic
	case spent >= limit.USD:
		return Hard
	case isSoft(spent, limit.USD):
		return Soft
	}
	return None
}

// isSoft reports whether 5 * spent >= 4 * limit.
func isSoft(spent, limit money.USD) bool {
	spentHigh, spentLow := bits.Mul64(uint64(spent), 5)
	limitHigh, limitLow := bits.Mul64(uint64(limit), 4)
	return spentHigh > limitHigh || spentHigh == limitHigh && spentLow >= limitLow
}

// Reported notes at an instant what level is reached. It returns those that it has passed and that were not reported in this period, in
// their order.
func (e Envelope) Reported(at time.Time) (Envelope, []Level) {
	reached := e.Level()
	switch {
	case !reached.IsAtLeast(Hard):
		e.Account.HardAt = time.Time{}
	case e.Account.HardAt.IsZero():
		e.Account.HardAt = at
	}
	if e.Account.Fired.IsAtLeast(reached) {
		return e, nil
	}
	passed := Levels[e.Account.Fired.rank()+1 : reached.rank()+1]
	e.Account.Fired = reached
	return e, passed
}

// Raised lets levels be reported again that are not reached any more, because the limit was raised or what was spent was corrected.
func (e Envelope) Raised() Envelope {
	if reached := e.Level(); !reached.IsAtLeast(e.Account.Fired) {
		e.Account.Fired = reached
	}
	return e
}

// FinishBy is when the leases under the envelope end, because its limit is reached; zero: it is not.
func (e Envelope) FinishBy() time.Time {
	if e.Account.HardAt.IsZero() || !e.Level().IsAtLeast(Hard) {
		return time.Time{}
	}
	return e.Account.HardAt.Add(TimeToFinish)
}

// breaches are the events of levels that are reached.
var breaches = map[Scope]event.Type{
	OfCompany: event.CompanyBudgetBreach, OfTeam: event.TeamBudgetBreach, OfAgent: event.AgentBudgetBreach, OfGoal: event.GoalBudgetBreach,
	OfProject: event.ProjectBudgetBreach, OfWorkflow: event.WorkflowBudgetBreach, OfIssue: event.IssueBudgetBreach,
}

// Breach is the event of a level that was reached.
func (e Envelope) Breach(level Level) event.Event {
	return event.Of(breaches[e.Scope], e.Account.Company, e.Account.ID, event.Fields{
		event.F("level", string(level)),
		event.F("scope", string(e.Scope)),
		event.F("scopeId", e.Account.ID),
		event.F("period", e.shownPeriod()),
		event.F("budgetUsd", e.Set.USD),
		event.F("spentUsd", e.Account.Spent),
	})
}

func (e Envelope) shownPeriod() any {
	if e.Period == Always {
		return nil
	}
	return string(e.Period)
}

// Fields returns the envelope as the API shows it.
func (e Envelope) Fields() event.Fields {
	var end time.Time
	if e.Period != Always {
		end = e.Period.End(e.Account.Start)
	}
	limit := e.Limit()
	return event.Fields{
		event.F("scope", string(e.Scope)),
		event.F("scopeId", e.Account.ID),
		event.F("period", e.shownPeriod()),
		event.F("periodStart", instant.Optional(e.Account.Start)),
		event.F("periodEnd", instant.Optional(end)),
		e.Set.Field("usd"),
		limit.Field("limitUsd"),
		event.F("spentUsd", e.Account.Spent),
		event.F("heldUsd", e.Account.Held),
		e.Available().Field("remainingUsd"),
		event.F("percentUsed", Used(e.Account.Spent, limit)),
		event.F("level", string(e.Level())),
	}
}
