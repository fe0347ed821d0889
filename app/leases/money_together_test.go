package leases_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/domain/team"
	"holdco/ports/inbound"
	"holdco/ports/storetest"
)

// enough steps of each reach a limit.
const enough = 40

func TestMoneyOfManyAtOnceIsWhatTheyWereTold(t *testing.T) {
	t.Parallel()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	s, end := onSQLite(t, clock, ids)
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	must[*world](t)(newWorld(t.Context(), s, clock, ids)).history(t, 1).together(max(stepsOf(100), enough))
}

func TestMoneyOfManyAtOnceIsWhatTheyWereToldOnPostgres(t *testing.T) {
	t.Parallel()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	must[*world](t)(newWorld(t.Context(), onPostgres(t, clock, ids), clock, ids)).history(t, 1).together(max(stepsOf(50), enough))
}

// crowd is who spends the money of a company at once, with what they were told.
type crowd struct {
	*history

	mutex   sync.Mutex
	granted map[id.Run]*stint
	reserve map[id.Run]money.USD // what it reserved when it was granted
	entries map[id.Cost]cost.Entry
	topups  map[id.Team][]money.USD
}

// member is one of them.
type member struct {
	*crowd

	pick *rand.Rand
}

// together lets many act at once, while the limits stay as they are. In the end nothing is held, and all figures are those that follow
// from what was acknowledged.
func (h *history) together(steps int) {
	h.Helper()
	c := &crowd{
		history: h, granted: map[id.Run]*stint{}, reserve: map[id.Run]money.USD{}, entries: map[id.Cost]cost.Entry{},
		topups: map[id.Team][]money.USD{},
	}
	c.limit()
	const members = 32
	errs := make(chan error, members)
	for n := range members {
		go func() {
			m := member{c, rand.New(rand.NewPCG(uint64(n), 1))}
			for range steps {
				if err := m.act(); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range members {
		if err := <-errs; err != nil {
			h.Error(err)
		}
	}
	if h.Failed() {
		return
	}
	c.finish()
	c.compare()
	c.w.audit(h)
}

// limit sets limits of every scope, which are reached on the way.
func (c *crowd) limit() {
	c.Helper()
	w, of := c.w, c.o.id
	c.usd, c.percent = 120*money.Dollar, 20_00
	must[company.Company](c)(w.companies.Update(w.ctx, caller, of, company.Patch{Settings: company.Settings{Budget: &budget.Change{
		USD: number(c.usd), ReservePercent: new(money.Number("20")),
	}}}, precondition.Any()))
	for n, which := range c.o.teams {
		limit := money.USD(30+15*n) * money.Dollar
		c.limits[string(which)] = budget.Of(limit)
		must[team.Team](c)(w.teams.Update(w.ctx, caller, of, string(which), team.Patch{Settings: team.Settings{
			Budget: new(&budget.LimitDraft{USD: number(limit)}),
		}}, precondition.Any()))
	}
	first := c.o.agents[0]
	c.perTask[first] = budget.Of(300_001)
	must[agent.Agent](c)(w.agents.Update(w.ctx, caller, of, first, agent.Patch{Settings: agent.Settings{
		Budget: &agent.BudgetChange{PerTask: new(number(300_001))},
	}}, precondition.Any()))
	c.limits[string(c.projects[0])] = budget.Of(7 * money.Dollar)
	must[goal.ShownProject](c)(w.projects.Update(w.ctx, caller, of, c.projects[0], goal.ProjectDraft{PurposeDraft: goal.PurposeDraft{
		Budget: new(number(7 * money.Dollar)),
	}}, precondition.Any()))
}

// act does something that may be refused.
func (m member) act() error {
	acts := []func() error{
		m.claim, m.claim, m.claim, m.charge, m.charge, m.charge, m.charge, m.end, m.end, m.file, m.adjust, m.topup, m.read,
	}
	err := acts[m.pick.IntN(len(acts))]()
	if m.pick.IntN(50) == 0 {
		m.w.clock.Advance(time.Duration(m.pick.IntN(20)) * time.Second)
		if err := all(m.w, m.w.work.Sweep); err != nil {
			return err
		}
	}
	if isRefusal(err) || fault.CodeOf(err) == fault.ReserveExhausted {
		return nil
	}
	return err
}

func (m member) file() error {
	draft := issue.Draft{Title: new("Task"), Settings: issue.Settings{MaxAttempts: new(int64(20)), RequiresReview: new(false)}}
	if m.pick.IntN(2) == 0 {
		draft.PerTask = new(number(money.USD(m.pick.Int64N(1_500_000))))
	}
	switch m.pick.IntN(4) {
	case 0:
		draft.Project = new(new(string(m.projects[m.pick.IntN(2)])))
	case 1:
		draft.Goal = new(new(string(m.goals[m.pick.IntN(2)])))
	}
	made, err := m.w.issues.Create(m.w.ctx, caller, m.o.id, draft, idempotency.Request{})
	if err == nil && made.PerTask.IsSet {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.limits[string(made.ID)] = made.PerTask
	}
	return err
}

func (m member) claim() error {
	by := m.o.caller(m.pick.IntN(len(m.o.agents)))
	granted, err := m.w.leases.Claim(m.w.ctx, by, inbound.Claim{LeaseSeconds: new(int64(300))})
	if err != nil || granted == nil {
		return err
	}
	its := mayHave(by, granted.Issue.ID, granted.Run.Goal, granted.Run.Project)
	its.run, its.lease, its.token = granted.Run.ID, granted.Run.Lease.ID, granted.Run.Lease.Token
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.granted[its.run] != nil {
		return fmt.Errorf("%s was granted twice", its.run)
	}
	m.granted[its.run], m.reserve[its.run] = its, granted.Run.Held
	m.runs = append(m.runs, its)
	return nil
}

// some is one of the leases that were granted last, whoever got it.
func (m member) some() *stint {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if len(m.runs) == 0 {
		return nil
	}
	last := m.runs[max(0, len(m.runs)-30):]
	return last[m.pick.IntN(len(last))]
}

// charges are up to three. A key always means one amount, and several send it.
func (m member) charges() (drafts []cost.Draft) {
	for range 1 + m.pick.IntN(3) {
		n := m.pick.IntN(40)
		draft := cost.Draft{Key: new(fmt.Sprint("key-", n)), Kind: new("tools"), USD: number(money.USD(n*n*100 + 1))}
		if n%4 == 0 {
			draft.Kind, draft.USD, draft.Model = new("llm"), nil, new("odd")
			draft.Tokens = &cost.TokensDraft{Input: new(int64(n * 1000)), CacheWrite: new(int64(n))}
		}
		drafts = append(drafts, draft)
	}
	return drafts
}

func (m member) charge() error {
	of := m.some()
	if of == nil {
		return nil
	}
	_, outcomes, err := m.w.leases.Charge(m.w.ctx, of.by, of.call(), m.charges())
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, one := range outcomes {
		m.entries[one.Entry.ID] = one.Entry
	}
	return nil
}

func (m member) end() error {
	of := m.some()
	if of == nil {
		return nil
	}
	end := inbound.LeaseEnd{Action: []issue.Action{issue.Complete, issue.Release, issue.Fail}[m.pick.IntN(3)]}
	if end.Action == issue.Fail {
		end.Failure = run.FailureDraft{Code: new("broken"), Message: new("No.")}
	}
	if m.pick.IntN(2) == 0 {
		end.Charges = m.charges()
	}
	if _, err := m.w.leases.End(m.w.ctx, of.by, of.call(), end); err != nil {
		return err
	}
	return m.note(of, end.Charges)
}

// note keeps charges that were taken with the end of a lease.
func (m member) note(of *stint, charges []cost.Draft) error {
	found, err := m.w.store.Runs().Charges(m.w.ctx, of.run, keysOf(charges))
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, one := range found {
		m.entries[one.ID] = one
	}
	for _, draft := range charges {
		if !slices.ContainsFunc(found, func(one cost.Entry) bool { return one.Key == *draft.Key }) {
			return fmt.Errorf("the charge %s of %s was taken, and is lost", *draft.Key, of.run)
		}
	}
	return err
}

func (m member) adjust() error {
	m.mutex.Lock()
	which := slices.Sorted(maps.Keys(m.entries))
	m.mutex.Unlock()
	if len(which) == 0 {
		return nil
	}
	last := which[max(0, len(which)-5):] // which others correct too
	made, err := m.w.costs.Adjust(m.w.ctx, caller, m.o.id, cost.AdjustmentDraft{
		Entry: new(string(last[m.pick.IntN(len(last))])), USD: number(money.USD(m.pick.Int64N(150_000) - 100_000)), Reason: new("Wrong."),
	}, idempotency.Request{})
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.entries[made.ID] = made
	return nil
}

func (m member) topup() error {
	which, amount := m.o.teams[m.pick.IntN(len(m.o.teams))], money.USD(1+m.pick.Int64N(int64(2*money.Dollar)))
	_, err := m.w.budgets.Topup(m.w.ctx, caller, m.o.id, inbound.TopupDraft{Team: new(string(which)), USD: number(amount)},
		idempotency.Request{})
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.topups[which] = append(m.topups[which], amount)
	return nil
}

// read looks at what is shown meanwhile: the parts of a report add up at any instant.
func (m member) read() error {
	report, err := m.w.costs.Report(m.w.ctx, caller, inbound.CostsOf{Company: m.o.id, Scope: budget.OfCompany})
	if err != nil {
		return err
	}
	if parts := cost.Total(report.Members); parts != report.Total || cost.Total(report.PerDay) != report.Total ||
		report.Use.Spent != report.Total.USD() {
		return fmt.Errorf("the parts of a report do not add up: %+v", report)
	}
	return nil
}

// finish ends all leases.
func (c *crowd) finish() {
	c.Helper()
	for _, of := range c.runs {
		_, err := c.w.leases.End(c.w.ctx, of.by, of.call(), inbound.LeaseEnd{Action: issue.Release})
		if err != nil && fault.CodeOf(err) != fault.StaleLease {
			c.Error(err)
		}
		of.isOpen = false
	}
	c.w.clock.Advance(time.Minute)
	for range 2 {
		if err := all(c.w, c.w.work.Sweep); err != nil {
			c.Error(err)
		}
		c.w.clock.Advance(61 * time.Second)
	}
}

// compare makes the ledger of what was acknowledged, and compares it with all that is shown.
func (c *crowd) compare() {
	c.Helper()
	bills := map[id.Cost]*bill{}
	for which, e := range c.entries {
		bills[which] = &bill{
			id: which, of: c.granted[e.Run], at: e.At, usd: e.USD, kind: e.Kind, model: e.Model, tokens: e.Tokens, calls: e.Calls,
		}
		c.bills = append(c.bills, bills[which])
	}
	for which, e := range c.entries {
		if e.Adjusts != "" {
			bills[which].adjusts = bills[e.Adjusts]
		}
	}
	raised := map[string]int{} // how often a level may have been reached anew
	for which, amounts := range c.topups {
		for _, p := range []pot{c.whole(), {scope: budget.OfTeam, id: string(which)}} {
			mark := c.mark(p, c.now())
			for _, amount := range amounts {
				mark.topups += amount
			}
			c.marks[p.id] = mark
			raised[p.id] += len(amounts)
		}
	}
	for _, one := range c.bills {
		if one.adjusts == nil && c.net(one) < 0 {
			c.Errorf("%s costs %s", one.id, c.net(one))
		}
		if one.adjusts != nil && one.usd < 0 { // below a level that was reached
			for _, p := range c.pots(one.of) {
				raised[p.id]++
			}
		}
	}
	c.checkEnvelopes(true)
	c.checkEntries(true)
	for range 50 {
		c.checkReport()
	}
	for _, of := range c.runs {
		got := must[run.Run](c)(c.w.store.Runs().Get(c.w.ctx, of.run))
		if got.IsOpen() || got.Held != 0 {
			c.Errorf("%s holds %s: %+v", of.run, got.Held, got.Lease)
		}
		raised[string(got.Issue)]++ // an issue without a budget has the limit of who works on it
	}
	reports := map[[2]string]int{}
	for _, one := range c.reported() {
		key := [2]string{one.of, one.level}
		if reports[key]++; reports[key] > 1+raised[one.of] {
			c.Errorf("the level %s of %s was reported %d times", one.level, one.of, reports[key])
		}
	}
	c.checkLimits()
	if len(reports) == 0 || len(c.topups) == 0 || len(c.bills) < 20 {
		c.Errorf("too little happened: %v, %v, %d entries", reports, c.topups, len(c.bills))
	}
}

// checkLimits: no limit was passed but by charges beyond what was reserved for them, and corrections.
func (c *crowd) checkLimits() {
	c.Helper()
	beyond := func(p pot) (sum money.USD) {
		inTime := map[id.Run]money.USD{}
		for _, e := range c.entries {
			switch of := c.granted[e.Run]; {
			case !p.isIn(of):
			case e.Adjusts != "":
				sum += max(0, e.USD)
			case e.Late:
				sum += e.USD
			default:
				inTime[e.Run] += e.USD
			}
		}
		for which, spent := range inTime {
			sum += max(0, spent-c.reserve[which])
		}
		return sum
	}
	all := []pot{c.whole(), {scope: budget.OfProject, id: string(c.projects[0])}}
	for _, which := range c.o.teams {
		all = append(all, pot{scope: budget.OfTeam, id: string(which)})
	}
	for _, of := range c.runs {
		all = append(all, pot{budget.OfIssue, string(of.issue), ""})
	}
	for _, p := range all {
		limit, spent := c.ledger.limit(p, c.now()), c.spent(p, c.now())
		if limit.IsSet && spent > limit.USD+beyond(p) {
			c.Errorf("%s has spent %s of %s, %s of it beyond what was reserved", p.id, spent, limit.USD, beyond(p))
		}
	}
}
