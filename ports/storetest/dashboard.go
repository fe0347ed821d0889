package storetest

import (
	"slices"
	"time"

	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/company"
	"holdco/domain/dashboard"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/store"
)

var dashboardRules = []rule{
	{"an inbox has what waits for a person in one company, or in all active ones, in pages", inboxPaged},
	{"the items of an inbox are counted", inboxCounted},
	{"agents that fail, are silent or stay away are named", agentsNamed},
	{"agents that are held or whose runs had a model without a price are named", agentsHeldAndUnpriced},
	{"issues are counted by team and by day", tasksCounted},
}

// leavesWaiting adds items of all kinds to a company, a minute apart, and returns their ids in the order in which they began to wait. The
// agent of the last stays away.
func (f *fixture) leavesWaiting(of id.Company, rounds int) (ids []string) {
	f.Helper()
	away := f.newAgent(of, "tm_some")
	away.Stats.LastActiveAt = time.Time{}
	f.update(hiring(away))
	kept := f.files(of, rounds, func(_ int, i *issue.Issue) {
		i.Status, i.Agent, i.AgentTeam, i.Binding = issue.Assigned, away.ID, away.Team, issue.Named
	})
	for _, i := range kept {
		ids = append(ids, string(i.ID))
	}
	slices.Sort(ids)
	f.files(of, 1, func(_ int, i *issue.Issue) { // any agent of the team may take it
		i.Status, i.Agent, i.AgentTeam = issue.Assigned, away.ID, away.Team
	})
	for range rounds {
		for _, alter := range []func(i *issue.Issue){
			func(i *issue.Issue) { i.Status = issue.Handoff },
			func(i *issue.Issue) { i.Status = issue.Review },
			func(i *issue.Issue) { i.OpenBlockers, i.FailedBlockers = 1, 1 },
		} {
			f.clock.Advance(time.Minute)
			made := f.files(of, 1, func(_ int, i *issue.Issue) { alter(i) })[0]
			ids = append(ids, string(made.ID))
		}
		f.files(of, 3, func(n int, i *issue.Issue) {
			switch n {
			case 0:
				i.Status, i.WaitingFor = issue.Handoff, "apr_some"
			case 1:
				i.Status, i.IsContainer, i.Workflow, i.WorkflowVersion = issue.Review, true, "wfl_some", 1
			}
		})
		for _, status := range []approval.Status{approval.Pending, approval.AskedQuestion, approval.Denied} {
			f.clock.Advance(time.Minute)
			on := f.files(of, 1, func(_ int, i *issue.Issue) { i.Status = issue.Running })[0]
			asked := f.asks(of, 1, func(_ int, a *approval.Approval) { a.Status, a.Issue = status, on.ID })[0]
			if status.IsOpen() {
				ids = append(ids, string(asked.ID))
			}
		}
	}
	return ids
}

func subjects(items []dashboard.Item) (ids []string) {
	for _, one := range items {
		which := string(one.Issue.ID)
		if one.Approval != "" {
			which = string(one.Approval)
		}
		ids = append(ids, which)
	}
	return ids
}

func inboxPaged(f *fixture) {
	acme, other := f.found("acme"), f.found("other")
	gone := f.found("gone", func(c *company.Company) { c.Status = company.Archived })
	f.leavesWaiting(gone.ID, 1)
	first := f.leavesWaiting(acme.ID, 3)
	second := f.leavesWaiting(other.ID, 1)
	f.clock.Advance(dashboard.AbsentAfter + time.Hour)
	now := f.clock.Now()
	all := func(of *id.Company, size int) (items []dashboard.Item) {
		for after := (page.Position{}); ; {
			found, err := f.store.Dashboards().Inbox(f.ctx, of, now, after, size)
			f.ok(err)
			if len(found.Items) > size {
				f.Errorf("%d items, want %d at most", len(found.Items), size)
			}
			items = append(items, found.Items...)
			if after = found.Next; after.IsStart() {
				return items
			}
		}
	}
	for _, size := range []int{1, 2, 5, 200} {
		f.same(subjects(all(&acme.ID, size)), first)
		f.same(subjects(all(&other.ID, size)), second)
		f.same(subjects(all(nil, size)), slices.Concat(first, second))
	}
	for _, one := range all(&acme.ID, 200) {
		f.same(one.Company, dashboard.Name{ID: string(acme.ID), Slug: "acme", Name: acme.Name})
		f.same(one.Approval != "", one.Asked == "Deploy")
		f.same(one.Approval != "", !one.Deadline.IsZero())
		f.same(one.Issue.Title, "Call")
	}
	found, err := f.store.Dashboards().Inbox(f.ctx, &acme.ID, f.clock.Now().Add(-2*time.Hour), page.Position{}, 200)
	f.ok(err)
	f.same(subjects(found.Items), first[3:]) // nobody has stayed away for long then
	_, err = f.store.Dashboards().Inbox(f.ctx, nil, now, page.Position{Values: []string{"x"}, ID: "iss_a"}, 1)
	f.code(err, fault.InvalidCursor)
}

func inboxCounted(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	f.leavesWaiting(other, 1)
	counts, err := f.store.Dashboards().InboxCounts(f.ctx, acme, f.clock.Now())
	f.ok(err)
	f.same(counts.Total(), int64(0))
	f.leavesWaiting(acme, 2)
	f.clock.Advance(dashboard.AbsentAfter + time.Hour)
	counts, err = f.store.Dashboards().InboxCounts(f.ctx, acme, f.clock.Now())
	f.ok(err)
	f.same(counts, dashboard.InboxCounts{
		dashboard.Approval: 2, dashboard.Question: 2, dashboard.Handoff: 2, dashboard.Review: 2, dashboard.Blocked: 2, dashboard.Waiting: 2,
	})
}

func agentsNamed(f *fixture) {
	acme := f.found("acme")
	other := f.found("other").ID
	f.leavesWaiting(acme.ID, 1) // by somebody who will stay away
	f.employs(other)
	running, _, r := f.employs(acme.ID)
	paused := f.newAgent(acme.ID, "tm_some")
	paused.Status = agent.Paused
	f.update(hiring(paused))
	failing, fine := f.newAgent(acme.ID, "tm_some"), f.newAgent(acme.ID, "tm_some")
	f.update(hiring(failing))
	f.update(hiring(fine))
	var latest run.Run
	ended := func(by agent.Agent, why run.Reason, charges int) {
		f.clock.Advance(time.Second)
		one := f.newRun(acme.ID, id.New[id.Issue](f.ids.UUIDv7()))
		one.Agent, one.Charges = by.ID, charges
		latest = one.End(why, "", f.clock.Now())
		f.update(starting(latest))
	}
	ended(fine, run.Completed, 0)
	anyRun.edited(f, latest, func(late *run.Run) { late.Charges = 1 })
	for _, why := range []run.Reason{run.Completed, run.GaveUp, run.RanOut, run.GaveUp} {
		ended(failing, why, 1)
		ended(fine, why, 0)
	}
	ended(fine, run.Released, 1)
	half := r.Lease.ExpiresAt.Add(-r.Lease.Time / 2)
	for at, want := range map[time.Time]dashboard.Health{
		half.Add(-time.Millisecond): {Active: 4, Paused: 1, Leases: 1, Uncosted: 4, Troubled: []dashboard.Troubled{
			{ID: string(failing.ID), Name: "Ada", Reason: dashboard.Failing},
		}},
		half: {Active: 4, Paused: 1, Leases: 1, Uncosted: 4, Troubled: []dashboard.Troubled{
			{ID: string(failing.ID), Name: "Ada", Reason: dashboard.Failing},
			{ID: string(running.ID), Name: "Ada", Reason: dashboard.Silent},
		}},
		r.Lease.ExpiresAt: {Active: 4, Paused: 1, Uncosted: 4, Troubled: []dashboard.Troubled{
			{ID: string(failing.ID), Name: "Ada", Reason: dashboard.Failing},
		}},
	} {
		got, err := f.store.Dashboards().Health(f.ctx, acme.ID, at)
		f.ok(err)
		f.same(got, want)
	}
	got, err := f.store.Dashboards().Health(f.ctx, acme.ID, f.clock.Now().Add(24*time.Hour))
	f.ok(err)
	f.same(got.Uncosted, int64(0))
	f.same(got.Troubled[len(got.Troubled)-1].Reason, dashboard.Absent)
}

func agentsHeldAndUnpriced(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	at := f.clock.Now()
	until := at.Add(time.Minute)
	employ := func(company id.Company, guard agent.Guard) agent.Agent {
		a := f.newAgent(company, "tm_some")
		a.Guard = guard
		f.update(hiring(a))
		return a
	}
	limited := employ(acme, agent.Guard{Reason: string(agent.RateLimited), Until: until})
	tried := employ(acme, agent.Guard{Reason: agent.QuickFailure, Until: until})
	failed := employ(acme, agent.Guard{Failures: 2})
	employ(other, agent.Guard{Reason: agent.QuickFailure, Until: until})
	retired := f.newAgent(acme, "tm_some")
	retired.Status, retired.Guard = agent.Retired, tried.Guard
	f.update(hiring(retired))
	for range 2 {
		one := f.newRun(acme, id.New[id.Issue](f.ids.UUIDv7()))
		one.Agent = failed.ID
		f.update(starting(one))
		anyRun.edited(f, one, func(r *run.Run) { r.Unpriced = "unknown" })
	}
	one := f.newRun(acme, id.New[id.Issue](f.ids.UUIDv7()))
	one.Agent = limited.ID
	f.update(starting(one))

	named := func(a agent.Agent, why dashboard.Trouble) dashboard.Troubled {
		return dashboard.Troubled{ID: string(a.ID), Name: a.Name, Reason: why}
	}
	for at, want := range map[time.Time][]dashboard.Troubled{
		at:                  {named(limited, dashboard.Held), named(tried, dashboard.Held), named(failed, dashboard.Unpriced)},
		until:               {named(tried, dashboard.Held), named(failed, dashboard.Unpriced)},
		at.AddDate(0, 0, 1): {named(tried, dashboard.Held)},
	} {
		got, err := f.store.Dashboards().Health(f.ctx, acme, at)
		f.ok(err)
		var found []dashboard.Troubled
		for _, one := range got.Troubled {
			if one.Reason == dashboard.Held || one.Reason == dashboard.Unpriced {
				found = append(found, one)
			}
		}
		f.same(found, want)
	}
}

func tasksCounted(f *fixture) {
	acme := f.found("acme").ID
	f.files(f.found("other").ID, 1, func(_ int, i *issue.Issue) { i.Status, i.Team, i.FinishedAt = issue.Done, "tm_a", f.clock.Now() })
	day := f.clock.Now().Truncate(24 * time.Hour)
	f.files(acme, 6, func(n int, i *issue.Issue) {
		i.Status, i.Team = []issue.Status{issue.Done, issue.Failed}[n%2], "tm_a"
		i.FinishedAt = day.AddDate(0, 0, n/2)
	})
	got, err := f.store.Dashboards().Tasks(f.ctx, acme, day.AddDate(0, 0, 1))
	f.ok(err)
	each := map[issue.Status]int64{issue.Done: 1, issue.Failed: 1}
	f.same(got, store.Tasks{
		OfTeams: map[id.Team]map[issue.Status]int64{"tm_a": {issue.Done: 3, issue.Failed: 3}},
		OfDays: map[string]map[issue.Status]int64{
			day.AddDate(0, 0, 1).Format(time.DateOnly): each, day.AddDate(0, 0, 2).Format(time.DateOnly): each,
		},
	})
}
