package budget_test

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/money"
)

var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

// counted is an envelope that counts, with a limit and what was spent.
func counted(scope budget.Scope, limit, spent money.USD) budget.Envelope {
	e := budget.Envelope{Scope: scope, Set: budget.Of(limit), Period: budget.Monthly, Account: budget.Account{ID: "x", Company: "cmp_1"}}
	return e.Recount(spent, noon)
}

func TestThePeriodsBeginInUTC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		period     budget.Period
		at         string
		start, end string
		days       int64
	}{
		{budget.Daily, "2024-02-29T23:59:59.999Z", "2024-02-29", "2024-03-01", 1},
		{budget.Daily, "2026-01-01T00:30:00+01:00", "2025-12-31", "2026-01-01", 1},
		{budget.Weekly, "2027-01-03T23:59:59Z", "2026-12-28", "2027-01-04", 7}, // week 53, a Sunday
		{budget.Weekly, "2027-01-04T00:00:00Z", "2027-01-04", "2027-01-11", 7},
		{budget.Monthly, "2024-02-10T12:00:00Z", "2024-02-01", "2024-03-01", 29},
		{budget.Monthly, "2026-12-31T23:59:59Z", "2026-12-01", "2027-01-01", 31},
		{budget.Quarterly, "2026-03-31T00:00:00Z", "2026-01-01", "2026-04-01", 90},
		{budget.Quarterly, "2026-11-23T00:00:00Z", "2026-10-01", "2027-01-01", 92},
	} {
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		start := c.period.Start(at)
		got := []string{start.Format(time.DateOnly), c.period.End(start).Format(time.DateOnly)}
		if want := []string{c.start, c.end}; !slices.Equal(got, want) || start.Location() != time.UTC || c.period.Days(at) != c.days {
			t.Errorf("%s at %s: %v, %d days", c.period, c.at, got, c.period.Days(at))
		}
	}
	if start := budget.Always.Start(noon); !start.IsZero() || !budget.Always.End(start).IsZero() || budget.Always.Days(noon) != 0 {
		t.Errorf("%s", start)
	}
}

func TestSharesAreRoundedUpExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, int64(budget.Most))).Draw(t, "amount")
		percent := rapid.Int64Range(0, 100_00).Draw(t, "percent")
		want := new(big.Int).Mul(big.NewInt(amount), big.NewInt(percent))
		want.Add(want, big.NewInt(9999)).Div(want, big.NewInt(10_000))
		if got := budget.Share(money.USD(amount), money.Percent(percent)); want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("%d, want %s", got, want)
		}
	})
}

func TestTheLimitOfACompanyIsWithoutItsReserve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ usd, topups, want money.USD }{
		{100, 0, 87}, // 12.5 % of 100 are 13, rounded up
		{100, 5, 92},
		{100, 13, 100},
		{40, 13, 40}, // the budget was lowered after that
		{0, 0, 0},
	} {
		e := counted(budget.OfCompany, c.usd, 0)
		e.Reserve, e.Account.Topups = 12_50, c.topups
		if got := e.Limit(); got != budget.Of(c.want) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	team := counted(budget.OfTeam, 100, 0)
	team.Account.Topups = 5
	if got := team.Limit(); got != budget.Of(105) {
		t.Errorf("%+v", got)
	}
	team.Set = budget.Limit{}
	if got := team.Limit(); got.IsSet || team.Available().IsSet || team.Level() != budget.None {
		t.Errorf("%+v", got)
	}
}

func TestTheLevelsOfAnEnvelope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope               budget.Scope
		usd, spent          money.USD
		reserve             money.Percent
		want                budget.Level
		available, finishes bool
	}{
		{budget.OfTeam, 10, 7, 0, budget.None, true, false},
		{budget.OfTeam, 10, 8, 0, budget.Soft, true, false},
		{budget.OfTeam, 10, 10, 0, budget.Hard, false, true},
		{budget.OfTeam, 10, 1 << 62, 0, budget.Hard, false, true},
		{budget.OfTeam, 0, 0, 0, budget.None, false, false},
		{budget.OfTeam, 0, 1, 0, budget.Hard, false, true},
		{budget.OfTeam, budget.Most, budget.Most/5*4 - 1, 0, budget.None, true, false},
		{budget.OfTeam, budget.Most, budget.Most / 5 * 4, 0, budget.Soft, true, false},
		{budget.OfCompany, 10, 7, 20_00, budget.Soft, true, false},
		{budget.OfCompany, 10, 8, 20_00, budget.Hard, false, true},
		{budget.OfCompany, 10, 10, 20_00, budget.Catastrophic, false, true},
		{budget.OfCompany, 10, 10, 0, budget.Catastrophic, false, true},
		{budget.OfCompany, 10, 0, 100_00, budget.None, false, false},
		{budget.OfCompany, 10, 1, 100_00, budget.Hard, false, true},
		{budget.OfCompany, 0, 0, 0, budget.None, false, false},
		{budget.OfCompany, 0, 1, 0, budget.Catastrophic, false, true},
	} {
		e := counted(c.scope, c.usd, c.spent)
		e.Reserve = c.reserve
		e, passed := e.Reported(noon)
		wantPassed := budget.Levels[1 : slices.Index(budget.Levels, c.want)+1]
		if e.Level() != c.want || !slices.Equal(passed, wantPassed) || (e.Available().USD > 0) != c.available {
			t.Errorf("%+v: %s, passed %v, available %s", c, e.Level(), passed, e.Available().USD)
		}
		if by := e.FinishBy(); by.Equal(noon.Add(budget.TimeToFinish)) != c.finishes || by.IsZero() == c.finishes {
			t.Errorf("%+v: finish by %s", c, by)
		}
	}
}

func TestWhatAnEnvelopeLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit             budget.Limit
		spent, held, tops money.USD
		want              budget.Lack
	}{
		"no limit":                          {budget.Limit{}, 9, 9, 0, budget.NoLack},
		"some is left":                      {budget.Of(10), 5, 4, 0, budget.NoLack},
		"a limit of nothing":                {budget.Of(0), 0, 0, 0, budget.NoBudget},
		"a limit of nothing, and a topup":   {budget.Of(0), 0, 0, 3, budget.NoLack},
		"a limit of nothing, and a charge":  {budget.Of(0), 2, 0, 0, budget.NoBudget},
		"leases hold the rest":              {budget.Of(10), 6, 4, 0, budget.AllHeld},
		"leases hold more than there is":    {budget.Of(10), 9, 4, 0, budget.AllHeld},
		"all is spent":                      {budget.Of(10), 10, 0, 0, budget.AllSpent},
		"more is spent than there is":       {budget.Of(10), 12, 0, 0, budget.AllSpent},
		"all is spent, and of a topup less": {budget.Of(10), 10, 0, 1, budget.NoLack},
	} {
		e := counted(budget.OfTeam, 0, c.spent)
		e.Set, e.Account.Held, e.Account.Topups = c.limit, c.held, c.tops
		if got := e.Lack(); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
		all := budget.Envelopes{counted(budget.OfCompany, 1, 0), e}
		scope, lack := all.Lack()
		if lacks := lack != budget.NoLack; lack != c.want || lacks != (scope == budget.OfTeam) || lacks != all.IsFull() {
			t.Errorf("%s, of several: %q of %q", name, lack, scope)
		}
	}
}

func TestALevelIsReportedOnceInAPeriod(t *testing.T) {
	t.Parallel()
	e := counted(budget.OfTeam, 100, 0)
	step := func(what string, change func(), want ...budget.Level) {
		t.Helper()
		change()
		var passed []budget.Level
		if e, passed = e.Reported(noon); !slices.Equal(passed, want) {
			t.Errorf("%s: %v, want %v", what, passed, want)
		}
	}
	step("less", func() { e.Account.Spent = 79 })
	step("soft", func() { e.Account.Spent = 80 }, budget.Soft)
	step("again", func() { e.Account.Spent = 85 })
	step("an adjustment", func() { e.Account.Spent = 10 })
	step("soft after an adjustment", func() { e.Account.Spent = 90 })
	step("hard", func() { e.Account.Spent = 100 }, budget.Hard)
	step("raised, but above the mark of soft", func() { e.Set = budget.Of(110); e = e.Raised() })
	step("hard again", func() { e.Account.Spent = 110 }, budget.Hard)
	step("raised above all marks", func() { e.Set = budget.Of(1000); e = e.Raised() })
	step("both again", func() { e.Account.Spent = 1000 }, budget.Soft, budget.Hard)
	step("the next period", func() { e = e.At(noon.AddDate(0, 1, 0)) })
	step("soft in the next period", func() { e.Account.Spent = 800 }, budget.Soft)
	step("lowered", func() { e.Set = budget.Of(800) }, budget.Hard)
}

func TestAPeriodTakesItsFiguresWithIt(t *testing.T) {
	t.Parallel()
	e := counted(budget.OfTeam, 100, 100)
	e.Account.Held, e.Account.Topups = 7, 20
	e, _ = e.Reported(noon)
	if same := e.At(noon.Add(19 * 24 * time.Hour)); same != e {
		t.Errorf("%+v", same)
	}
	next := e.At(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	want := budget.Account{
		ID: "x", Company: "cmp_1", Period: budget.Monthly, Start: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Held: 7, Fired: budget.None,
	}
	if diff := cmp.Diff(want, next.Account); diff != "" {
		t.Error(diff)
	}
	if back := next.At(noon); back != next {
		t.Errorf("a clock that went back: %+v", back)
	}
	next.Period = budget.Daily
	if next.IsCounted() || next.At(noon) != next {
		t.Error("another kind of period is counted")
	}
	if got := next.Recount(5, noon); got.Account.Spent != 5 || !got.IsCounted() || got.Account.Start != budget.Daily.Start(noon) {
		t.Errorf("%+v", got.Account)
	}
}

func TestWhatALeaseReserves(t *testing.T) {
	t.Parallel()
	none := func(scope budget.Scope) budget.Envelope {
		e := counted(scope, 0, 0)
		e.Set = budget.Limit{}
		return e
	}
	for _, c := range []struct {
		name      string
		all       budget.Envelopes
		need      money.USD
		isGranted bool
	}{
		{"no limits", budget.Envelopes{none(budget.OfCompany), none(budget.OfIssue)}, 10, true},
		{"much is left", budget.Envelopes{counted(budget.OfCompany, 100, 0), none(budget.OfIssue)}, 10, true},
		{"little is left", budget.Envelopes{counted(budget.OfCompany, 100, 97), counted(budget.OfTeam, 50, 1)}, 3, true},
		{"nothing is left", budget.Envelopes{counted(budget.OfCompany, 100, 0), counted(budget.OfTeam, 50, 50)}, 0, false},
		{"a budget of nothing", budget.Envelopes{counted(budget.OfCompany, 0, 0), none(budget.OfIssue)}, 0, false},
		{"the issue has a limit", budget.Envelopes{counted(budget.OfCompany, 100, 0), counted(budget.OfIssue, 50, 20)}, 30, true},
		{"that is just there", budget.Envelopes{counted(budget.OfCompany, 100, 70), counted(budget.OfIssue, 50, 20)}, 30, true},
		{"that is not there", budget.Envelopes{counted(budget.OfCompany, 100, 71), counted(budget.OfIssue, 50, 20)}, 30, false},
		{"the issue has cost it all", budget.Envelopes{counted(budget.OfCompany, 100, 0), counted(budget.OfIssue, 50, 50)}, 0, false},
	} {
		if need, isGranted := c.all.Need(10); need != c.need && isGranted || isGranted != c.isGranted {
			t.Errorf("%s: %s, %t", c.name, need, isGranted)
		}
	}
}

// No order of grants, charges and ends lets what is spent and held pass a limit, but by what charges take beyond their reservation.
func TestNoOrderOfLeasesPassesALimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 2000))
		draw := func(name string) money.USD { return money.USD(amount.Draw(t, name)) }
		shared := budget.Envelopes{}
		for _, scope := range []budget.Scope{budget.OfCompany, budget.OfTeam, budget.OfAgent} {
			e := counted(scope, draw("limit"), 0)
			e.Set.IsSet = scope == budget.OfCompany || rapid.Bool().Draw(t, "is limited")
			if scope == budget.OfCompany {
				e.Reserve = money.Percent(rapid.Int64Range(0, 100_00).Draw(t, "reserve"))
			}
			shared = append(shared, e)
		}
		var held []money.USD
		var beyond money.USD
		t.Repeat(map[string]func(*rapid.T){
			"grant": func(t *rapid.T) {
				its := counted(budget.OfIssue, draw("of the issue"), 0)
				its.Set.IsSet = rapid.Bool().Draw(t, "is limited")
				if need, isGranted := append(slices.Clone(shared), its).Need(10); isGranted {
					shared.Hold(need)
					held = append(held, need)
				}
			},
			"charge": func(t *rapid.T) {
				if len(held) == 0 {
					return // nothing to do it with
				}
				which, sum := rapid.IntRange(0, len(held)-1).Draw(t, "lease"), draw("sum")
				reserved := min(sum, held[which])
				shared.Charge(sum, reserved)
				held[which] -= reserved
				beyond += sum - reserved
			},
			"end": func(t *rapid.T) {
				if len(held) == 0 {
					return // nothing to do it with
				}
				which := rapid.IntRange(0, len(held)-1).Draw(t, "lease")
				shared.Hold(-held[which])
				held = slices.Delete(held, which, which+1)
			},
			"": func(t *rapid.T) {
				var sum money.USD
				for _, one := range held {
					sum += one
				}
				for _, e := range shared {
					if limit := e.Limit(); e.Account.Held != sum || limit.IsSet && e.Account.Spent+e.Account.Held > limit.USD+beyond {
						t.Fatalf("%+v: %d are held, %d beyond", e, sum, beyond)
					}
				}
			},
		})
	})
}

func TestTheReserveCanBeGivenAway(t *testing.T) {
	t.Parallel()
	company, team := counted(budget.OfCompany, 100, 80), counted(budget.OfTeam, 50, 50)
	company.Reserve = 20_00
	company, _ = company.Reported(noon)
	team, _ = team.Reported(noon)
	if _, _, err := budget.Topup(company, team, 21); fault.CodeOf(err) != fault.ReserveExhausted {
		t.Error(err)
	}
	company, team, err := budget.Topup(company, team, 15)
	if err != nil || company.Limit() != budget.Of(95) || team.Limit() != budget.Of(65) || company.ReserveLeft() != 5 {
		t.Errorf("%+v, %+v, %v", company, team, err)
	}
	if company.Account.Fired != budget.Soft || team.Account.Fired != budget.None {
		t.Errorf("%s, %s", company.Account.Fired, team.Account.Fired)
	}
	if _, _, err := budget.Topup(company, team, 6); fault.CodeOf(err) != fault.ReserveExhausted {
		t.Error(err)
	}
}

func TestBudgetsHoldWhatIsGivenOfThem(t *testing.T) {
	t.Parallel()
	of := budget.Budget{USD: 100, ReservePercent: 12_50}
	if err := of.Holds(87); err != nil {
		t.Error(err)
	}
	if err := of.Holds(88); fault.CodeOf(err) != fault.BudgetInvalid || fault.Of(err).Details["teamsUsd"] != money.USD(88) {
		t.Error(err)
	}
	if err := budget.Of(310).HoldsDaily(10, 31); err != nil {
		t.Error(err)
	}
	if err := budget.Of(309).HoldsDaily(10, 31); fault.CodeOf(err) != fault.TeamBudgetExceeded {
		t.Error(err)
	}
	const billion = 1_000_000_000 * money.Dollar
	for _, agents := range []money.USD{101 * billion, 1000 * billion, 9000 * billion} { // their product with 92 has up to 70 bits
		if err := budget.Of(billion).HoldsDaily(agents, 92); fault.CodeOf(err) != fault.TeamBudgetExceeded {
			t.Errorf("%s a day for 92 days: %v", agents, err)
		}
	}
	if err := (budget.Limit{}).HoldsDaily(10, 31); err != nil {
		t.Error(err)
	}
}

func TestABreachSaysWhatWasReached(t *testing.T) {
	t.Parallel()
	for _, scope := range budget.Scopes {
		e := counted(scope, 2_500_000, 2_000_000)
		got := e.Breach(budget.Soft)
		want := `{"level":"soft","scope":"` + string(scope) + `","scopeId":"x","period":"monthly","budgetUsd":2.5,"spentUsd":2}`
		subject := event.Subject{Type: string(scope), ID: "x"}
		if shown := string(got.Data.Append(nil)); got.Type != event.Type(scope+".budget.breach") || got.Subject != subject ||
			got.Company != "cmp_1" || shown != want {
			t.Errorf("%s: %+v, %s; want %s", scope, got, shown, want)
		}
	}
}

func TestAnEnvelopeIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	e := counted(budget.OfCompany, 1500*money.Dollar, 1)
	e.Reserve, e.Account.Held = 20_00, 100_000
	always := counted(budget.OfIssue, 0, 0)
	always.Period = budget.Always
	always = always.Recount(0, noon)
	for want, e := range map[string]budget.Envelope{
		`{"scope":"company","scopeId":"x","period":"monthly","periodStart":"2026-04-01T00:00:00.000Z",` +
			`"periodEnd":"2026-05-01T00:00:00.000Z","usd":1500,"limitUsd":1200,"spentUsd":0.000001,"heldUsd":0.1,` +
			`"remainingUsd":1199.899999,"percentUsed":0,"level":"none"}`: e,
		`{"scope":"issue","scopeId":"x","period":null,"periodStart":null,"periodEnd":null,"usd":0,"limitUsd":0,"spentUsd":0,"heldUsd":0,` +
			`"remainingUsd":0,"percentUsed":null,"level":"none"}`: always,
	} {
		if diff := cmp.Diff(want, string(e.Fields().Append(nil))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestALeaseHasLessThanItReservedUnderALimitThatWasLowered(t *testing.T) {
	t.Parallel()
	lowered := budget.Envelope{
		Scope: budget.OfAgent, Set: budget.Of(50), Period: budget.Always, Account: budget.Account{Spent: 30, Held: 40},
	}
	for reserved, want := range map[money.USD]money.USD{0: 0, 10: 0, 20: 0, 25: 5, 40: 20} {
		if got := (budget.Envelopes{lowered, {Scope: budget.OfGoal}}).Left(reserved); got != budget.Of(want) {
			t.Errorf("of %d reserved %d are left, want %d", reserved, got.USD, want)
		}
	}
	if got := (budget.Envelopes{{Scope: budget.OfGoal}}).Left(10); got.IsSet {
		t.Errorf("without a limit %d are left", got.USD)
	}
}
