package storetest

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/team"
	"holdco/ports/store"
)

var envelopeRules = []rule{
	{"an account reads back, alone and with a lease and a claim", accountReadsBack},
	{"what has no account begins with nothing", noAccount},
	{"the limit of a team is kept in its account, whoever saves that", limitOfTeam},
	{"charges are summed by what they count under", spentOf},
	{"the budgets of teams and agents add up, but one", budgetSums},
	{"what has a limit is listed by scope, in portions", limitedScopes},
	{"topups of a company end, and nothing else does", topupsEnd},
	{"freed budgets raise the work revision", freed},
	{"issues are claimable by their budgets, the first of each", claimableByBudget},
}

// newAccount makes an account that is in no store yet.
func (f *fixture) newAccount(of id.Company, which string) budget.Account {
	return budget.Account{ID: which, Company: of, Period: budget.Monthly, Start: budget.Monthly.Start(f.clock.Now())}
}

func accounting(saved ...budget.Account) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Envelopes().Save(ctx, saved)
	}
}

// someEnvelope adds an account.
func someEnvelope(f *fixture, of id.Company) unit {
	return accounting(f.newAccount(of, string(id.New[id.Team](f.ids.UUIDv7()))))
}

func accountReadsBack(f *fixture) {
	acme := f.found("acme")
	a, i, r := f.employs(acme.ID)
	first := f.files(acme.ID, 1, func(int, *issue.Issue) {})[0]
	full := f.newAccount(acme.ID, string(acme.ID))
	full.Spent, full.Held, full.Topups = 1<<53+1, 7, 1<<53+3
	full.Fired, full.HardAt = budget.Hard, f.clock.Now()
	bare := budget.Account{ID: string(r.Team), Company: acme.ID, Period: budget.Always}
	accounts := map[string]budget.Account{full.ID: full, bare.ID: bare}
	for _, which := range []string{string(a.ID), string(i.ID), string(first.ID), "tm_other"} {
		accounts[which] = f.newAccount(acme.ID, which)
	}
	is := func() {
		f.Helper()
		for which, want := range accounts {
			got, err := f.store.Envelopes().Accounts(f.ctx, acme.ID, which)
			f.ok(err)
			f.same(got, map[string]budget.Account{which: want})
		}
		var call, end store.LockedLease
		f.update(locking(r.Lease.ID, "", &call))
		f.update(func(ctx context.Context, tx store.Tx) (err error) {
			end, err = tx.Runs().LockForEnd(ctx, r.Lease.ID, "")
			return err
		})
		ofLease := map[string]budget.Account{}
		for _, which := range append(r.Envelopes(), string(i.ID)) {
			ofLease[which] = accounts[which]
		}
		f.same(call.Accounts, ofLease)
		f.same(end.Accounts, ofLease)
		found, err := f.store.Agents().AtWork(f.ctx, a.ID, acme.ID, []string{"c"})
		f.ok(err)
		delete(ofLease, string(i.ID))
		ofLease[string(first.ID)] = accounts[string(first.ID)]
		f.same(found.Accounts, ofLease)
	}
	for _, one := range accounts {
		f.update(accounting(one))
	}
	is()
	full.Period, full.Start, full.Spent, full.Held = budget.Daily, budget.Daily.Start(f.clock.Now()), 1, 0
	full.Topups, full.Fired, full.HardAt = 0, budget.None, time.Time{}
	accounts[full.ID] = full
	f.update(accounting(full, bare))
	is()
}

// newTeam makes a team without slots that is in no store yet.
func (f *fixture) newTeam(of id.Company, limit budget.Limit) team.Team {
	f.Helper()
	made, _ := f.newTeams(of, 0)
	made[0].Budget = limit
	return made[0]
}

func noAccount(f *fixture) {
	acme := f.found("acme").ID
	got, err := f.store.Envelopes().Accounts(f.ctx, acme, "tm_a", "", "agt_a")
	f.ok(err)
	f.same(got, map[string]budget.Account{"tm_a": {ID: "tm_a", Company: acme}, "agt_a": {ID: "agt_a", Company: acme}})
	got, err = f.store.Envelopes().Accounts(f.ctx, acme)
	f.ok(err)
	f.same(got, map[string]budget.Account{})
}

func limitOfTeam(f *fixture) {
	acme := f.found("acme").ID
	made := f.newTeam(acme, budget.Of(5))
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Teams().Add(ctx, made)
	})
	want := budget.Account{ID: string(made.ID), Company: acme, Limit: budget.Of(5)}
	is := func() {
		f.Helper()
		got, err := f.store.Envelopes().Accounts(f.ctx, acme, want.ID)
		f.ok(err)
		f.same(got, map[string]budget.Account{want.ID: want})
	}
	is()
	many, slots := f.newTeams(acme, 0)
	many[0].Budget = budget.Of(6)
	f.update(staffing(many, slots))
	got, err := f.store.Envelopes().Accounts(f.ctx, acme, string(many[0].ID))
	f.ok(err)
	f.same(got[string(many[0].ID)].Limit, budget.Of(6))
	changed := want
	changed.Spent, changed.Period, changed.Limit = 3, budget.Daily, budget.Of(99) // the last is not its to change
	f.update(accounting(changed))
	want.Spent, want.Period = 3, budget.Daily
	is()
	for _, limit := range []budget.Limit{budget.Of(0), {}, budget.Of(7)} {
		made = anyTeam.edited(f, made, func(t *team.Team) { t.Budget = limit })
		want.Limit = limit
		is()
	}
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Teams().Remove(ctx, made.ID)
	})
	want = budget.Account{ID: want.ID, Company: acme}
	is()
}

func spentOf(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	day := f.clock.Now().Truncate(24 * time.Hour)
	var all []cost.Entry
	for n := range 12 {
		of := []id.Company{acme, acme, other}[n%3]
		charge := f.newCharge(f.newRun(of, id.Issue(fmt.Sprint("iss_", n%2))), fmt.Sprint(n))
		charge.Team, charge.Agent = id.Team(fmt.Sprint("tm_", n%4, of)), id.Agent(fmt.Sprint("agt_", n%5, of))
		charge.USD, charge.At = 1<<uint(n), day.Add(time.Duration(n-6)*12*time.Hour)
		all = append(all, charge)
	}
	f.update(charging(all...))
	for _, since := range []time.Time{{}, day.AddDate(0, 0, -1), day, day.AddDate(0, 1, 0)} {
		want := map[[2]string]money.USD{{"team", "tm_none"}: 0}
		for _, charge := range all {
			if charge.Company != acme {
				continue
			}
			for _, key := range [][2]string{{"company", string(acme)}, {"team", string(charge.Team)}, {"agent", string(charge.Agent)}} {
				if want[key] += 0; !charge.At.Before(since) {
					want[key] += charge.USD
				}
			}
		}
		for key, sum := range want {
			got, err := f.store.Envelopes().Spent(f.ctx, acme, budget.Scope(key[0]), key[1], since)
			f.ok(err)
			f.same(got, sum)
		}
	}
}

func budgetSums(f *fixture) {
	acme := f.found("acme").ID
	var teams []team.Team
	for _, limit := range []budget.Limit{budget.Of(1), {}, budget.Of(4)} {
		teams = append(teams, f.newTeam(acme, limit))
	}
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for _, one := range teams {
			if err := tx.Teams().Add(ctx, one); err != nil {
				return err
			}
		}
		return nil
	})
	for but, want := range map[id.Team]money.USD{"": 5, teams[0].ID: 4, teams[1].ID: 5} {
		got, err := f.store.Envelopes().TeamBudgets(f.ctx, acme, but)
		f.ok(err)
		f.same(got, want)
	}
	got, err := f.store.Envelopes().TeamBudgets(f.ctx, "cmp_none", "")
	f.ok(err)
	f.same(got, money.USD(0))
	var first id.Agent
	for n, limit := range []budget.Limit{budget.Of(1), {}, budget.Of(4), budget.Of(8), budget.Of(16)} {
		a := f.newAgent(acme, teams[n/4].ID)
		a.Budget.Daily = limit
		if n == 2 {
			a.Status, a.Slot = agent.Retired, ""
		}
		if n == 0 {
			first = a.ID
		}
		f.update(hiring(a))
	}
	for but, want := range map[id.Agent]money.USD{"": 9, first: 8} {
		got, err := f.store.Envelopes().DailyBudgets(f.ctx, teams[0].ID, but)
		f.ok(err)
		f.same(got, want)
	}
}

func limitedScopes(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	var want []budget.Envelope
	for n := range 5 {
		of := []id.Company{acme, acme, other}[n%3]
		a := f.newAgent(of, "tm_some")
		if n != 1 {
			a.Budget.Daily = budget.Of(money.USD(n))
		}
		f.update(hiring(a))
		if of == acme && n != 1 {
			want = append(want, budget.Envelope{
				Scope: budget.OfAgent, Set: a.Budget.Daily, Period: budget.Daily, Account: budget.Account{ID: string(a.ID), Company: acme},
			})
		}
	}
	kept := f.newAccount(acme, want[1].Account.ID)
	kept.Spent = 3
	f.update(accounting(kept))
	want[1].Account = kept
	retired := f.newAgent(acme, "tm_some")
	retired.Budget.Daily, retired.Status, retired.Slot = budget.Of(1), agent.Retired, ""
	f.update(hiring(retired))
	is := func(scope budget.Scope, after string, size int, want []budget.Envelope) {
		f.Helper()
		got, err := f.store.Envelopes().Limited(f.ctx, acme, scope, after, size)
		f.ok(err)
		f.same(got, want)
	}
	is(budget.OfAgent, "", 10, want)
	is(budget.OfAgent, "", 2, want[:2])
	is(budget.OfAgent, want[0].Account.ID, 10, want[1:])
	is(budget.OfTeam, "", 10, nil)
	is(budget.OfCompany, "", 10, nil)
	issues := f.files(acme, 3, func(n int, i *issue.Issue) {
		i.PerTask, i.Spent = []budget.Limit{budget.Of(2), {}, budget.Of(3)}[n], 1
		if n == 2 {
			i.Status, i.FinishedAt = issue.Done, f.clock.Now()
		}
	})
	working := f.newRun(acme, issues[0].ID)
	working.Held = 7
	f.update(starting(working))
	is(budget.OfIssue, "", 10, []budget.Envelope{{
		Scope: budget.OfIssue, Set: budget.Of(2), Period: budget.Always, Account: budget.Account{
			ID: string(issues[0].ID), Company: acme, Period: budget.Always, Spent: 1, Held: 7,
		},
	}})
}

func topupsEnd(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	var all []budget.Account
	for _, of := range []id.Company{acme, other} {
		for n, which := range []string{string(of), "tm_" + string(of)} {
			a := f.newAccount(of, which)
			a.Spent, a.Held, a.Topups, a.Fired = 5, 3, money.USD(n+1), budget.Soft
			all = append(all, a)
		}
	}
	f.update(accounting(all...))
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Envelopes().EndTopups(ctx, acme)
	})
	for _, want := range all {
		if want.Company == acme {
			want.Topups = 0
		}
		found, err := f.store.Envelopes().Accounts(f.ctx, want.Company, want.ID)
		f.ok(err)
		f.same(found[want.ID], want)
	}
}

func freed(f *fixture) {
	acme := f.found("acme").ID
	revision := func() int64 {
		f.Helper()
		found, err := f.store.Issues().Revisions(f.ctx, []id.Company{acme})
		f.ok(err)
		return found[acme]
	}
	before := revision()
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Envelopes().Freed(ctx, acme)
	})
	f.same(revision(), before+1)
}

func claimableByBudget(f *fixture) {
	acme := f.found("acme").ID
	all := f.files(acme, 30, func(n int, i *issue.Issue) {
		i.Priority = []issue.Priority{issue.Low, issue.High, issue.Normal}[n%3]
		i.PerTask = []budget.Limit{{}, budget.Of(2), budget.Of(10), budget.Of(3)}[n%4]
		if n%5 == 0 {
			i.Team = "tm_a"
		}
		if n%7 == 0 {
			i.Status = issue.Review
		}
	})
	for _, c := range []struct {
		keys         []string
		groups, most int
	}{{[]string{"c"}, 1000, 8}, {[]string{"c", "t:tm_a"}, 1000, 2}, {[]string{"c", "t:tm_a"}, 2, 1}, {[]string{"t:tm_b"}, 9, 9}} {
		var want []issue.Issue
		for _, key := range c.keys {
			for n, group := range []string{"", "10", "2", "3"} {
				firsts, err := f.store.Issues().Claimable(f.ctx, acme, []string{key}, len(all))
				f.ok(err)
				left := c.most
				for _, one := range firsts {
					if one.BudgetGroup() == group && left > 0 && n < c.groups {
						want, left = append(want, partOf(one)), left-1
					}
				}
			}
		}
		got, err := f.store.Issues().ClaimableByBudget(f.ctx, acme, c.keys, c.groups, c.most)
		f.ok(err)
		for n := 1; n < len(got); n++ {
			if a, b := got[n-1], got[n]; a.Priority.Rank() < b.Priority.Rank() || a.Priority == b.Priority && a.Number > b.Number {
				f.Fatalf("%d before %d", a.Number, b.Number)
			}
		}
		f.same(byNumber(got), byNumber(want))
	}
}

// partOf is what ClaimableByBudget returns of an issue.
func partOf(one issue.Issue) issue.Issue {
	return issue.Issue{
		ID: one.ID, Company: one.Company, Priority: one.Priority, Number: one.Number, Parent: one.Parent, Project: one.Project,
		Goal: one.Goal, PerTask: one.PerTask, Spent: one.Spent,
	}
}

func byNumber(issues []issue.Issue) map[int64]issue.Issue {
	found := map[int64]issue.Issue{}
	for _, one := range issues {
		found[one.Number] = one
	}
	return found
}

func (f *fixture) envelopeWrites() map[string]writeCase {
	acme := f.found("with-envelopes").ID
	given := f.newAccount(acme, string(acme))
	given.Topups = 1
	f.update(accounting(given))
	return map[string]writeCase{
		"Envelopes.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.Envelopes().Save(ctx, []budget.Account{f.newAccount(acme, "tm_saved")})
		}},
		"Envelopes.EndTopups": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Envelopes().EndTopups(ctx, acme) }},
		"Envelopes.Freed":     {notes, func(ctx context.Context, tx store.Tx) error { return tx.Envelopes().Freed(ctx, acme) }},
	}
}
