package leases_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// check compares all that is shown of the money with the ledger.
func (h *history) check(isWhole bool) {
	h.Helper()
	h.checkRuns()
	h.checkEnvelopes(isWhole)
	h.checkReported()
	h.checkReport()
	h.checkEntries(isWhole)
	got := must[cost.Forecast](h)(h.w.costs.Forecast(h.w.ctx, caller, h.o.id))
	if diff := gocmp.Diff(h.forecast(h.now()), got); diff != "" {
		h.Errorf("the forecast\n-want +got:\n%s", diff)
	}
}

// checkRuns: what has ended holds nothing, and nothing else has ended.
func (h *history) checkRuns() {
	h.Helper()
	for _, one := range h.ended {
		if one.isOpen || one.endedAt.IsZero() {
			got := must[run.Run](h)(h.w.store.Runs().Get(h.w.ctx, one.run))
			if got.IsOpen() || got.Held != 0 {
				h.Errorf("%s is open, and holds %s", one.run, got.Held)
			}
			one.held, one.isOpen, one.endedAt = 0, false, got.Lease.EndedAt
		}
	}
	for _, one := range h.open() {
		got := must[run.Run](h)(h.w.store.Runs().Get(h.w.ctx, one.run))
		if !got.IsOpen() || got.Held != one.held {
			h.Errorf("%s holds %s, want %s: %+v", one.run, got.Held, one.held, got.Lease)
		}
	}
	for _, one := range slices.Concat(h.open(), h.ended) {
		got := must[issue.Issue](h)(h.w.store.Issues().Get(h.w.ctx, one.issue))
		if want := h.spent(pot{budget.OfIssue, string(one.issue), ""}, h.now()); got.Spent != want {
			h.Errorf("%s has spent %s, want %s", one.issue, got.Spent, want)
		}
	}
}

// shownEnvelope is one as it is shown.
type shownEnvelope struct {
	Period                budget.Period
	Start                 time.Time
	Set, Limit, Available budget.Limit
	Spent, Held           money.USD
	Level                 budget.Level
}

// checkEnvelopes reads them page by page, in small pages if it is asked to.
func (h *history) checkEnvelopes(inSmallPages bool) {
	h.Helper()
	size := page.MaxSize
	if inSmallPages {
		size = 3
	}
	want, got := map[string]shownEnvelope{}, map[string]shownEnvelope{}
	all := []pot{h.whole()}
	for _, which := range h.o.teams {
		all = append(all, pot{scope: budget.OfTeam, id: string(which)})
	}
	for _, which := range h.o.agents {
		all = append(all, pot{scope: budget.OfAgent, id: string(which)})
	}
	for _, which := range h.goals {
		all = append(all, pot{scope: budget.OfGoal, id: string(which)})
	}
	for _, which := range h.projects {
		all = append(all, pot{scope: budget.OfProject, id: string(which)})
	}
	var found []budget.Envelope
	for _, scope := range []budget.Scope{"", budget.OfIssue} {
		found = append(found, everything(h, func(after page.Position) (page.Page[budget.Envelope], error) {
			return h.w.budgets.List(h.w.ctx, caller, h.o.id, scope, after, size)
		})...)
	}
	for _, e := range found {
		if e.Scope == budget.OfIssue { // which of them are open is not about money
			all = append(all, pot{scope: budget.OfIssue, id: e.Account.ID})
		}
		got[e.Account.ID] = shownEnvelope{
			e.Period, e.Account.Start, e.Set, e.Limit(), e.Available(), e.Account.Spent, e.Account.Held, e.Level(),
		}
	}
	for _, p := range all {
		if set := h.set(p); set.IsSet {
			want[p.id] = shownEnvelope{
				h.periodOf(p), startOf(h.periodOf(p), h.now()), set, h.limit(p, h.now()), h.available(p, h.now()), h.spent(p, h.now()),
				h.held(p), budget.Levels[h.level(p, h.now())],
			}
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		h.Errorf("the envelopes\n-want +got:\n%s", diff)
	}
}

// reported are the breaches that were recorded since it was last asked.
func (h *history) reported() (found []breach) {
	h.Helper()
	last := h.lastEvent
	for after := (page.Position{}); ; {
		got := must[page.Page[event.Event]](h)(h.w.store.Activity().List(h.w.ctx, store.ActivityFilter{Company: &h.o.id}, after, 10))
		for n, e := range got.Items {
			if e.ID == last {
				return found
			}
			if n == 0 && after.IsStart() {
				h.lastEvent = e.ID
			}
			data := decoded(e.Data)
			if level, isBreach := data["level"].(string); isBreach {
				amount := func(name string) money.USD {
					return must[money.USD](h)(money.ParseUSD(money.Number(fmt.Sprint(data[name]))))
				}
				found = append(found, breach{
					e.Subject.ID, level, amount("budgetUsd"), amount("spentUsd"), budget.Scope(e.Subject.Type),
				})
			}
		}
		if after = got.Next; after.IsStart() {
			return found
		}
	}
}

// checkReported: what was reported is what had to be, whatever the order.
func (h *history) checkReported() {
	h.Helper()
	inOrder := func(all []breach) []breach {
		return slices.SortedFunc(slices.Values(all), func(a, b breach) int {
			return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.level, b.level))
		})
	}
	if diff := gocmp.Diff(inOrder(h.passed), inOrder(h.reported()), gocmp.AllowUnexported(breach{})); diff != "" {
		h.Errorf("the levels that were reported\n-want +got:\n%s", diff)
	}
}

// checkReport compares a report about something in some range.
func (h *history) checkReport() {
	h.Helper()
	of := inbound.CostsOf{Company: h.o.id}
	var p pot
	var is func(one *stint) bool
	var use cost.Use
	scope := h.pick.IntN(5)
	if len(h.runs) == 0 {
		scope = 0
	}
	isLifetime := false
	var created time.Time
	switch scope {
	case 0:
		of.Scope, p = budget.OfCompany, h.whole()
	case 1:
		of.Scope, p = budget.OfTeam, pot{scope: budget.OfTeam, id: string(any1(h, h.o.teams))}
	case 2:
		of.Scope, p = budget.OfAgent, pot{scope: budget.OfAgent, id: string(any1(h, h.o.agents))}
	case 3:
		which := any1(h, h.runs).issue
		i := must[issue.Issue](h)(h.w.store.Issues().Get(h.w.ctx, which))
		of.Scope, p, created = budget.OfIssue, pot{budget.OfIssue, string(which), i.Agent}, i.CreatedAt
	case 4:
		one := any1(h, h.runs)
		of.Scope, p.id = budget.OfRun, string(one.run)
		created = must[run.Run](h)(h.w.store.Runs().Get(h.w.ctx, one.run)).StartedAt
		is = func(other *stint) bool { return other == one }
	}
	if is == nil {
		is = p.isIn
	}
	of.ID = p.id
	if of.Scope != budget.OfRun {
		if set := h.set(p); set.IsSet {
			use = cost.Use{Set: set, Limit: h.limit(p, h.now()), Spent: h.spent(p, h.now()), Left: h.available(p, h.now()).USD}
		} else {
			use.Spent = h.spent(p, h.now())
		}
	}
	start, end := h.someRange(&of)
	if of.Since == "" && of.Until == "" && !created.IsZero() {
		isLifetime, start, end = true, created, h.now().Add(time.Millisecond)
	}
	got := must[cost.Report](h)(h.w.costs.Report(h.w.ctx, caller, of))
	if !got.Range.Start.Equal(start) || !got.Range.End.Equal(end) {
		h.Errorf("%+v: the range is %+v, want %v to %v", of, got.Range, start, end)
	}
	from := start
	if isLifetime {
		from = time.Time{} // all that it cost
	}
	bills := h.within(from, end, is)
	models := sumsBy(bills, func(one *bill) string { return one.model })
	total := sumsBy(bills, func(*bill) string { return "" })[""]
	delete(models, "")
	want := cost.Report{Scope: of.Scope, ID: p.id, Range: got.Range, Total: total, Use: use, Models: models, IsTrend: !isLifetime}
	switch of.Scope {
	case budget.OfCompany:
		want.Members = sumsBy(bills, func(one *bill) string { return string(one.of.by.Team) })
	case budget.OfTeam:
		want.Members = sumsBy(bills, func(one *bill) string { return string(one.of.by.ID) })
	}
	if want.IsTrend {
		first := startOf(budget.Daily, end.Add(-time.Millisecond)).AddDate(0, 0, -399)
		want.PerDay = sumsBy(slices.DeleteFunc(slices.Clone(bills), func(one *bill) bool { return one.at.Before(first) }),
			func(one *bill) string { return one.at.Format(time.DateOnly) })
	}
	for _, sums := range []*map[string]cost.Sum{&got.Models, &got.Members, &got.PerDay, &want.Models, &want.Members, &want.PerDay} {
		*sums = something(*sums)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		h.Errorf("%+v\n-want +got:\n%s", of, diff)
	}
}

// someRange asks for a range, and returns it.
func (h *history) someRange(of *inbound.CostsOf) (start, end time.Time) {
	now := h.now()
	soon := now.Add(time.Millisecond)
	calendar := []budget.Period{budget.Daily, budget.Weekly, budget.Monthly, budget.Quarterly}
	n := h.pick.IntN(4)
	switch h.pick.IntN(6) {
	case 0:
		return startOf(h.period, now), soon
	case 1:
		of.Since = []string{"1h", "24h", "7d", "30d"}[n]
		return now.Add(-[]time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}[n]), soon
	case 2:
		of.Since = []string{"today", "this_week", "this_month", "this_quarter"}[n]
		return startOf(calendar[n], now), soon
	case 3:
		of.Since = []string{"yesterday", "last_week", "last_month", "last_quarter"}[n]
		end = startOf(calendar[n], now)
		return startOf(calendar[n], end.Add(-time.Hour)), end
	default:
		ago := func(most time.Duration) time.Time { return now.Add(-time.Duration(h.pick.Int64N(int64(most)))) }
		instants := []time.Time{
			now, soon, startOf(budget.Daily, now), now.Truncate(time.Hour), ago(100 * 24 * time.Hour), ago(24 * time.Hour),
			now.AddDate(-2, 0, 0),
		}
		if len(h.bills) > 0 {
			instants = append(instants, any1(h, h.bills).at, any1(h, h.bills).at.Add(time.Millisecond))
		}
		start, end = any1(h, instants), any1(h, instants)
		if !start.Before(end) {
			start, end = end.Add(-time.Millisecond), start
		}
		start, end = start.Truncate(time.Millisecond), end.Truncate(time.Millisecond)
		if !start.Before(end) {
			end = start.Add(time.Millisecond)
		}
		of.Since, of.Until = start.Format(time.RFC3339Nano), end.Format(time.RFC3339Nano)
		return start, end
	}
}

// checkEntries compares the newest entries, or all.
func (h *history) checkEntries(isAll bool) {
	h.Helper()
	type entry struct {
		ID, Adjusts id.Cost
		At          time.Time
		USD         money.USD
		Run         id.Run
	}
	var want, got []entry
	for _, one := range h.newest() {
		next := entry{ID: one.id, At: one.at, USD: one.usd, Run: one.of.run}
		if one.adjusts != nil {
			next.Adjusts = one.adjusts.id
		}
		want = append(want, next)
	}
	for after := (page.Position{}); ; {
		found := must[page.Page[cost.Entry]](h)(h.w.costs.Entries(h.w.ctx, caller, inbound.CostList{Company: h.o.id}, after, 20))
		for _, one := range found.Items {
			got = append(got, entry{one.ID, one.Adjusts, one.At, one.USD, one.Run})
		}
		if after = found.Next; after.IsStart() || !isAll {
			break
		}
	}
	if !isAll {
		want = want[:min(len(want), 20)]
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		h.Errorf("the entries\n-want +got:\n%s", diff)
	}
}
