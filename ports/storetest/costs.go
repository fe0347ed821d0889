package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

var costRules = []rule{
	{"an entry is found by its id", costEntry},
	{"sums of any range are those of its entries, by model, day and id", costSums},
	{"sums leave out what is of another company", costsOfOthers},
	{"a list of entries and an export have all that a filter matches, page by page", costLists},
	{"an export is as of an instant, corrections too", costExport},
	{"what is taken back leaves no sum behind", costsRolledBack},
}

// ledger is a company with what it has paid.
type ledger struct {
	*fixture
	of      id.Company
	agents  []id.Agent
	teams   map[id.Agent]id.Team
	entries []cost.Entry
}

// newLedger makes a company with two teams of two agents each.
func (f *fixture) newLedger(slug string) *ledger {
	f.Helper()
	l := &ledger{fixture: f, of: f.found(slug).ID, teams: map[id.Agent]id.Team{}}
	for n := range 4 {
		a := f.newAgent(l.of, id.Team([]string{"tm_x", "tm_y"}[n/2]+slug))
		f.update(hiring(a))
		l.agents = append(l.agents, a.ID)
		l.teams[a.ID] = a.Team
	}
	return l
}

// entry makes an entry of an agent, of which what it is for may be altered.
func (l *ledger) entry(by int, at time.Time, alter func(e *cost.Entry)) cost.Entry {
	newID := id.New[id.Cost](l.ids.UUIDv7())
	agent := l.agents[by]
	e := cost.Entry{
		ID: newID, Company: l.of, Issue: id.Issue("iss_a" + l.of), Run: id.Run("run_a" + l.of), Agent: agent, Team: l.teams[agent],
		Key: string(newID), Kind: cost.Tools, USD: 5, Calls: 1, At: at,
	}
	if alter != nil {
		alter(&e)
	}
	return e
}

// correction corrects an entry.
func (l *ledger) correction(of cost.Entry, usd money.USD, made time.Time) cost.Entry {
	newID := id.New[id.Cost](l.ids.UUIDv7())
	of.Adjusts, of.Reason, of.AdjustedAt = of.ID, "Wrong", made
	of.ID, of.Key, of.USD, of.Tokens, of.Calls = newID, string(newID), usd, cost.Tokens{}, 0
	return of
}

// pay adds entries in one unit.
func (l *ledger) pay(added ...cost.Entry) {
	l.Helper()
	l.update(charging(added...))
	l.entries = append(l.entries, added...)
}

func costEntry(f *fixture) {
	l := f.newLedger("acme")
	_, err := f.store.Costs().Get(f.ctx, "cst_none")
	f.code(err, fault.NotFound)
	paid := l.entry(0, f.clock.Now(), func(e *cost.Entry) {
		e.Kind, e.Model, e.Billing, e.Late, e.Unpriced = cost.LLM, "claude", "subscription", true, true
		e.Tokens = cost.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 1<<53 + 1}
		e.Project, e.Revision, e.Session = "prj_a", 7, "th_1"
		e.IsReported, e.ReportedUSD = true, 3
	})
	first := l.correction(paid, -2, paid.At.Add(time.Hour))
	first.Reason = "It was less: 'ß'"
	second := l.correction(paid, 1, paid.At.Add(2*time.Hour))
	l.pay(paid)
	l.pay(first)
	l.pay(second)
	for _, want := range l.entries {
		got, err := f.store.Costs().Get(f.ctx, want.ID)
		f.ok(err)
		f.same(got, want)
	}
	for which, want := range map[id.Cost]money.USD{paid.ID: -1, first.ID: 0, "": 0} {
		got, err := f.store.Costs().Corrections(f.ctx, which)
		f.ok(err)
		f.same(got, want)
	}
}

// turnOfYear is where units of all kinds begin.
var turnOfYear = time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)

// drawInstant prefers what is close to where units begin.
func drawInstant(t *rapid.T) time.Time {
	at := rapid.SampledFrom([]time.Time{
		turnOfYear, turnOfYear.AddDate(0, 0, -1), turnOfYear.AddDate(0, 1, 28), turnOfYear.AddDate(0, 2, 0), turnOfYear.Add(5 * time.Hour),
	}).Draw(t, "around")
	return at.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Minute, time.Hour, 24 * time.Hour}).Draw(t, "unit") *
		time.Duration(rapid.IntRange(-40, 40).Draw(t, "units")))
}

// costSums compares random histories with sums of their entries.
func costSums(f *fixture) {
	var number atomic.Int64
	rapid.Check(f.t, func(t *rapid.T) {
		own := *f
		own.reporter = t
		l := own.newLedger(fmt.Sprint("acme-", number.Add(1)))
		for range rapid.IntRange(1, 6).Draw(t, "units") {
			l.pay(drawEntries(t, l)...)
		}
		for range 2 {
			from, until := drawInstant(t), drawInstant(t)
			if until.Before(from) {
				from, until = until, from
			}
			l.sumsAre(cost.Range{Start: from, End: until.Add(time.Millisecond)})
		}
		for _, issue := range []string{"iss_a" + string(l.of), "iss_b" + string(l.of)} {
			got, err := f.store.Costs().Lifetime(f.ctx, store.CostsOf{Company: l.of, Scope: budget.OfIssue, ID: issue})
			own.ok(err)
			own.same(got, l.sum(func(e cost.Entry) bool { return string(e.Issue) == issue }, modelOf))
		}
	})
}

// drawEntries draws what one unit adds: one charge, a hundred, or a correction.
func drawEntries(t *rapid.T, l *ledger) (added []cost.Entry) {
	if len(l.entries) > 0 && rapid.IntRange(0, 3).Draw(t, "correct") == 0 {
		of := rapid.SampledFrom(l.entries).Draw(t, "entry")
		return []cost.Entry{l.correction(of, -min(of.USD, 3), turnOfYear)}
	}
	count := rapid.SampledFrom([]int{1, 2, cost.MostInCall}).Draw(t, "count")
	for range count {
		added = append(added, l.entry(rapid.IntRange(0, 3).Draw(t, "agent"), drawInstant(t), func(e *cost.Entry) {
			e.Kind = rapid.SampledFrom([]cost.Kind{cost.LLM, cost.Tools, cost.RuntimeServices}).Draw(t, "kind")
			e.USD = rapid.SampledFrom([]money.USD{0, 1, 7, cost.Most}).Draw(t, "usd")
			if e.Kind == cost.LLM {
				e.Model = rapid.SampledFrom([]string{"", "claude", "gpt"}).Draw(t, "model")
				e.Tokens = cost.Tokens{Input: 1, Output: 10, CacheRead: 100, CacheWrite: cost.MostTokens}
			}
			e.Project = rapid.SampledFrom([]id.Project{"", "prj_a" + id.Project(l.of), "prj_b" + id.Project(l.of)}).Draw(t, "project")
			if rapid.Bool().Draw(t, "other") {
				e.Issue, e.Run = id.Issue("iss_b"+l.of), id.Run("run_b"+l.of)
			}
		}))
	}
	return added
}

func modelOf(e cost.Entry) string { return e.Model }

// sum sums the entries that are wanted by a key.
func (l *ledger) sum(wanted func(e cost.Entry) bool, key func(e cost.Entry) string) map[string]cost.Sum {
	sums := map[string]cost.Sum{}
	for _, e := range l.entries {
		if wanted(e) {
			sums[key(e)] = sums[key(e)].Plus(e.Sum())
		}
	}
	return sums
}

// sumsAre fails the test unless the sums of a range are those of its entries, of whatever is asked for.
func (l *ledger) sumsAre(of cost.Range) {
	l.Helper()
	isIn := func(e cost.Entry) bool { return !e.At.Before(of.Start) && e.At.Before(of.End) }
	for scope, idOf := range map[budget.Scope]func(e cost.Entry) string{
		budget.OfCompany: func(e cost.Entry) string { return string(e.Company) },
		budget.OfTeam:    func(e cost.Entry) string { return string(e.Team) },
		budget.OfAgent:   func(e cost.Entry) string { return string(e.Agent) },
		budget.OfProject: func(e cost.Entry) string { return string(e.Project) },
		budget.OfIssue:   func(e cost.Entry) string { return string(e.Issue) },
		budget.OfRun:     func(e cost.Entry) string { return string(e.Run) },
	} {
		which := "none"
		for _, e := range l.entries {
			if of := idOf(e); of != "" {
				which = of
				break
			}
		}
		isOf := func(e cost.Entry) bool { return isIn(e) && idOf(e) == which }
		one := store.CostsOf{Company: l.of, Scope: scope, ID: which}
		l.sumsOf(of, one, cost.ByModel, l.sum(isOf, modelOf))
		l.sumsOf(of, one, cost.ByDay, l.sum(isOf, func(e cost.Entry) string { return e.At.Format(time.DateOnly) }))
		all := store.CostsOf{Company: l.of, Scope: scope}
		l.sumsOf(of, all, cost.ByID, l.sum(func(e cost.Entry) bool { return isIn(e) && idOf(e) != "" }, idOf))
	}
	team := l.entries[0].Team
	l.sumsOf(of, store.CostsOf{Company: l.of, Scope: budget.OfAgent, Team: team}, cost.ByID,
		l.sum(func(e cost.Entry) bool { return isIn(e) && e.Team == team }, func(e cost.Entry) string { return string(e.Agent) }))
}

func (l *ledger) sumsOf(in cost.Range, of store.CostsOf, by cost.Key, want map[string]cost.Sum) {
	l.Helper()
	got, err := l.store.Costs().Sums(l.ctx, of, in.Split(by.Units(of.Scope)...), by)
	l.ok(err)
	l.same(got, want)
}

func costsOfOthers(f *fixture) {
	acme, other := f.newLedger("acme"), f.newLedger("other")
	at := f.clock.Now()
	acme.pay(acme.entry(0, at, nil))
	other.pay(other.entry(0, at, nil), other.entry(3, at, nil))
	for _, l := range []*ledger{acme, other} {
		l.sumsAre(cost.Range{Start: at.AddDate(-1, 0, 0), End: at.AddDate(1, 0, 0)})
		l.sumsAre(cost.Range{Start: at, End: at.Add(time.Millisecond)})
		l.sumsAre(cost.Range{Start: at.Add(time.Millisecond), End: at.AddDate(1, 0, 0)})
	}
	got, err := f.store.Costs().Sums(f.ctx, store.CostsOf{Company: acme.of, Scope: budget.OfCompany, ID: string(acme.of)}, nil,
		cost.ByModel)
	f.ok(err)
	f.same(len(got), 0)
}

func costLists(f *fixture) {
	l, other := f.newLedger("acme"), f.newLedger("other")
	other.pay(other.entry(0, f.clock.Now(), nil))
	for n := range 40 {
		l.pay(l.entry(n%4, turnOfYear.Add(time.Duration(n/5)*time.Second), func(e *cost.Entry) {
			e.Kind = []cost.Kind{cost.LLM, cost.Tools, cost.RuntimeServices}[n%3]
			e.Project = []id.Project{"", "prj_a", "prj_b"}[n%7%3]
			if n%2 == 0 {
				e.Issue, e.Run = "iss_even", "run_even"
			}
		}))
	}
	for _, c := range []struct {
		filter store.CostFilter
		is     func(e cost.Entry) bool
	}{
		{store.CostFilter{}, func(cost.Entry) bool { return true }},
		{store.CostFilter{Team: "tm_xacme"}, func(e cost.Entry) bool { return e.Team == "tm_xacme" }},
		{store.CostFilter{Agent: l.agents[1]}, func(e cost.Entry) bool { return e.Agent == l.agents[1] }},
		{store.CostFilter{Project: "prj_a"}, func(e cost.Entry) bool { return e.Project == "prj_a" }},
		{store.CostFilter{Issue: "iss_even"}, func(e cost.Entry) bool { return e.Issue == "iss_even" }},
		{store.CostFilter{Run: "run_even"}, func(e cost.Entry) bool { return e.Run == "run_even" }},
		{store.CostFilter{Kind: cost.Tools}, func(e cost.Entry) bool { return e.Kind == cost.Tools }},
		{
			store.CostFilter{Since: turnOfYear.Add(time.Second), Until: turnOfYear.Add(3 * time.Second), Run: "run_even"},
			func(e cost.Entry) bool {
				return e.Run == "run_even" && !e.At.Before(turnOfYear.Add(time.Second)) && e.At.Before(turnOfYear.Add(3*time.Second))
			},
		},
		{store.CostFilter{Issue: "iss_none"}, func(cost.Entry) bool { return false }},
	} {
		c.filter.Company = l.of
		want := slices.DeleteFunc(slices.Clone(l.entries), func(e cost.Entry) bool { return !c.is(e) })
		slices.SortFunc(want, func(a, b cost.Entry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
		for _, size := range []int{3, 100} {
			f.same(l.exported(c.filter, turnOfYear.AddDate(1, 0, 0), size), want)
			var listed []cost.Entry
			for after := (page.Position{}); ; {
				found, err := f.store.Costs().List(f.ctx, c.filter, after, size)
				f.ok(err)
				listed = append(listed, found.Items...)
				if after = found.Next; after.IsStart() {
					break
				}
			}
			slices.Reverse(listed)
			f.same(listed, want)
		}
	}
	_, err := f.store.Costs().List(f.ctx, store.CostFilter{Company: l.of}, page.Position{Values: []string{"x"}, ID: "cst_a"}, 1)
	f.code(err, fault.InvalidCursor)
}

// exported is all of an export, in portions of a size.
func (l *ledger) exported(filter store.CostFilter, asOf time.Time, size int) (all []cost.Entry) {
	l.Helper()
	var after *cost.Entry
	for {
		found, err := l.store.Costs().Export(l.ctx, filter, after, asOf, size)
		l.ok(err)
		if all = append(all, found...); len(found) < size {
			return all
		}
		after = &found[size-1]
	}
}

func costExport(f *fixture) {
	l := f.newLedger("acme")
	at := f.clock.Now()
	paid := l.entry(0, at, nil)
	early, late := l.correction(paid, -1, at.Add(time.Hour)), l.correction(paid, -1, at.Add(2*time.Hour))
	after := l.entry(1, at.Add(90*time.Minute), nil)
	l.pay(paid, after)
	l.pay(early)
	l.pay(late)
	for asOf, want := range map[time.Duration][]cost.Entry{
		-time.Millisecond: nil, 0: {paid}, time.Hour: {paid, early}, 90 * time.Minute: {paid, early, after},
		2 * time.Hour: {paid, early, late, after},
	} {
		for range 2 { // an export is the same again
			f.same(l.exported(store.CostFilter{Company: l.of}, at.Add(asOf), 2), want)
		}
	}
}

func costsRolledBack(f *fixture) {
	l := f.newLedger("acme")
	at := f.clock.Now()
	l.pay(l.entry(0, at, nil))
	f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
		if err := charging(l.entry(0, at, nil))(ctx, tx); err != nil {
			return err
		}
		return fault.New(fault.NotFound, "Given up.")
	})
	twice := l.entries[0]
	f.refused(fault.Internal, charging(l.entry(1, at, nil), twice))
	l.sumsAre(cost.Range{Start: at.Add(-time.Hour), End: at.AddDate(0, 3, 0)})
}
