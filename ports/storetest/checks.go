package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/ports/store"
)

// What a change beside the store breaks is tested where companies are at work: with app/doctor.
var checkRules = []rule{
	{"what agrees is no difference, in whatever company", checksOfWhatAgrees},
	{"what differs is found, and agrees once it is mended", auditsMend},
	{"what was seen of another version of a company is not mended, nor what is being deleted", auditsOfAnother},
	{"what has no mend of the store is refused, with all beside it", auditsOfNoMend},
	{"differences are added up when they are mended, whatever others add meanwhile", mendedBesideOthers},
}

// differences are what an audit finds, by its rule and what it is about.
func (f *fixture) differences(of id.Company) map[string]store.Difference {
	f.Helper()
	found := map[string]store.Difference{}
	add := func(one store.Difference) { found[one.Rule+" "+one.About] = one }
	f.ok(f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
		return errors.Join(
			r.Checks().Budgets(ctx, of, add), r.Checks().Issues(ctx, of, add), r.Checks().Staff(ctx, of, add),
			r.Checks().Companies(ctx, f.clock.Now(), add), r.Checks().Outbox(ctx, f.clock.Now(), add),
		)
	}))
	return found
}

// workshop is a company in which everything agrees: an agent works on one issue, which another waits for.
type workshop struct {
	*fixture
	of      id.Company
	agent   agent.Agent
	running issue.Issue
	waiting issue.Issue
}

func (f *fixture) newWorkshop(slug string) workshop {
	f.Helper()
	w := workshop{fixture: f, of: f.found(slug, func(c *company.Company) { c.TeamCount, c.AgentCount = 1, 1 }).ID}
	teams, slots := f.newTeams(w.of, 1)
	teams[0].AgentCount = 1
	w.agent = f.newAgent(w.of, teams[0].ID)
	w.agent.Slot, slots[0].Agent = slots[0].ID, w.agent.ID
	f.update(staffing(teams, slots))
	f.update(hiring(w.agent))
	w.running = f.files(w.of, 1, func(_ int, i *issue.Issue) {
		i.Status, i.Agent, i.AgentTeam, i.FencingToken, i.Spent = issue.Running, w.agent.ID, w.agent.Team, 1, 5
		i.Labels = []string{"b", "a"}
	})[0]
	w.waiting = f.files(w.of, 1, func(_ int, i *issue.Issue) { i.BlockedBy, i.OpenBlockers = []id.Issue{w.running.ID}, 1 })[0]
	r := f.newRun(w.of, w.running.ID)
	r.Agent, r.Team, r.Held, r.Spent, r.Charges = w.agent.ID, w.agent.Team, 7, 5, 1
	f.update(starting(r))
	charge := f.newCharge(r, "key")
	charge.Team = r.Team
	f.update(charging(charge))
	for _, which := range r.Envelopes() {
		account := f.newAccount(w.of, which)
		account.Spent, account.Held = 5, 7
		f.update(accounting(account))
	}
	return w
}

// mending mends what was seen of a company.
func (f *fixture) mending(of id.Company, version int64, some map[string]store.Difference, isDone *bool) unit {
	return func(ctx context.Context, tx store.Tx) (err error) {
		if err := tx.Turn(ctx, of); err != nil {
			return err
		}
		tx.Unrecorded()
		*isDone, err = tx.Checks().Mend(ctx, of, version, slices.Collect(maps.Values(some)))
		return err
	}
}

func (f *fixture) versionOf(of id.Company) int64 {
	f.Helper()
	found, err := f.store.Companies().Get(f.ctx, of)
	f.ok(err)
	return found.Version
}

func checksOfWhatAgrees(f *fixture) {
	f.same(f.differences(f.found("empty").ID), map[string]store.Difference{})
	w := f.newWorkshop("workshop")
	f.same(f.differences(w.of), map[string]store.Difference{})
	f.same(f.differences("cmp_none"), map[string]store.Difference{})
}

// breakUp makes something of each kind differ.
func (w workshop) breakUp() (rules []string) {
	w.Helper()
	account := w.newAccount(w.of, string(w.agent.ID))
	account.Spent, account.Held = 6, 8
	w.update(accounting(account))
	anyIssue.edited(w.fixture, w.waiting, func(i *issue.Issue) { i.OpenBlockers, i.Spent = 2, 3 })
	w.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		c, err := tx.Companies().Lock(ctx, w.of)
		if err != nil {
			return err
		}
		c.AgentCount, c.Version = 4, c.Version+1
		return tx.Companies().Save(ctx, c)
	})
	return []string{
		"account.held " + string(w.agent.ID), "account.spent " + string(w.agent.ID),
		"company.agents " + string(w.of), "issue.open_blockers " + string(w.waiting.ID), "issue.spent " + string(w.waiting.ID),
	}
}

func auditsMend(f *fixture) {
	w, other := f.newWorkshop("workshop"), f.newWorkshop("other")
	other.breakUp()
	before := f.differences(other.of)
	rules := w.breakUp()
	found := f.differences(w.of)
	f.same(slices.Sorted(maps.Keys(found)), rules)
	f.same(found["account.held "+string(w.agent.ID)].Should, "0.000007")
	version := f.versionOf(w.of)
	var isDone bool
	f.update(f.mending(w.of, version, found, &isDone))
	f.same(isDone, true)
	f.same(f.versionOf(w.of) > version, true)
	f.same(f.differences(w.of), map[string]store.Difference{})
	waiting, err := f.store.Issues().Get(f.ctx, w.waiting.ID)
	f.ok(err)
	f.same(waiting.OpenBlockers, 1)
	f.same(waiting.Spent, money.USD(0))
	f.same(slices.Sorted(maps.Keys(f.differences(other.of))), slices.Sorted(maps.Keys(before)))
}

func auditsOfAnother(f *fixture) {
	w := f.newWorkshop("workshop")
	w.breakUp()
	found, rows := f.differences(w.of), f.dump()
	isDone := true
	f.update(f.mending(w.of, f.versionOf(w.of)-1, found, &isDone))
	f.same(isDone, false)
	f.update(f.mending("cmp_none", 1, found, &isDone))
	f.same(isDone, false)
	f.sameDump("a mend of another version", f.dump(), rows)
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		c, err := tx.Companies().Lock(ctx, w.of)
		if err != nil {
			return err
		}
		c.Status, c.Version = company.Deleting, c.Version+1
		return tx.Companies().Save(ctx, c)
	})
	rows = f.dump()
	f.update(f.mending(w.of, f.versionOf(w.of), found, &isDone))
	f.same(isDone, false)
	f.sameDump("a mend of what is being deleted", f.dump(), rows)
}

func auditsOfNoMend(f *fixture) {
	w := f.newWorkshop("workshop")
	w.breakUp()
	found, rows, version := f.differences(w.of), f.dump(), f.versionOf(w.of)
	for _, mend := range []any{nil, 7} {
		found["issue.runs iss_a"] = store.Difference{Rule: "issue.runs", About: "iss_a", Mend: mend}
		var isDone bool
		if err := f.store.Update(f.ctx, f.mending(w.of, version, found, &isDone)); err == nil || isDone {
			f.Errorf("a mend that is %v: %t, %v", mend, isDone, err)
		}
	}
	f.sameDump("what cannot be mended", f.dump(), rows)
}

func mendedBesideOthers(f *fixture) {
	w := f.newWorkshop("workshop")
	w.breakUp()
	found, version := f.differences(w.of), f.versionOf(w.of)
	r, err := f.store.Runs().OpenOfAgent(f.ctx, w.agent.ID)
	f.ok(err)
	charge := f.newCharge(r[0], "another")
	charge.Team, charge.Project, charge.Model, charge.Kind = w.agent.Team, "", "m", cost.LLM
	var isDone bool
	f.update(func(ctx context.Context, tx store.Tx) error { // as a charge does
		tx.Unrecorded()
		if err := tx.Runs().AddCharges(ctx, []cost.Entry{charge}); err != nil {
			return err
		}
		one, err := tx.Runs().Lock(ctx, r[0].ID)
		if err != nil {
			return err
		}
		if err := tx.Runs().Save(ctx, one.Charge(charge)); err != nil {
			return err
		}
		accounts, err := tx.Envelopes().Accounts(ctx, w.of, one.Envelopes()...)
		if err != nil {
			return err
		}
		var next []budget.Account
		for _, account := range accounts {
			account.Spent, account.Held = account.Spent+5, account.Held-5
			next = append(next, account)
		}
		return tx.Envelopes().Save(ctx, next)
	})
	f.update(f.mending(w.of, version, found, &isDone))
	f.same(isDone, true)
	f.same(f.differences(w.of), map[string]store.Difference{})
}

func (f *fixture) checkWrites() map[string]writeCase {
	acme := f.found("with-checks")
	miscounted := f.found("miscounted", func(c *company.Company) { c.TeamCount = 7 })
	found := slices.Collect(maps.Values(f.differences(miscounted.ID)))
	return map[string]writeCase{
		"Checks.MendAny": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Checks().MendAny(ctx, found) }},
		"Checks.Mend": {changes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Checks().Mend(ctx, acme.ID, acme.Version, nil)
			return err
		}},
	}
}
