package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/store"
)

var claimRules = []rule{
	{"what may be leased comes by descending rank, then by number, some of each key", claimable},
	{"what may be leased is counted by key", claimableKeys},
	{"work revisions are read for many companies at once", revisions},
	{"whoever raises a work revision is noticed once the unit is committed", raised},
	{"what may be leased can be saved in the turn of the company", claimedSaved},
	{"an agent at work has its company, its open runs, and what it may take first", atWork},
	{"a lease is locked with all that it depends on", lockedForCall},
	{"a lease is locked with its whole issue, and whether others wait for that", lockedForEnd},
}

// random is the same in every run.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

var claimKeys = []string{"a:agt_a", "a:agt_b", "t:tm_a", "t:tm_b", "c"}

// work adds random issues of a company, of which about half may be leased, and returns them.
func (f *fixture) work(of id.Company, count int, r *rand.Rand) []issue.Issue {
	f.Helper()
	numbers := r.Perm(count)
	return f.files(of, count, func(n int, i *issue.Issue) {
		i.Number, i.CreatedAt = int64(numbers[n]+1), i.CreatedAt.Add(time.Duration(r.IntN(5))*time.Millisecond)
		i.Priority = []issue.Priority{issue.Low, issue.Normal, issue.High, issue.Urgent}[r.IntN(4)]
		i.Status = append(slices.Repeat([]issue.Status{issue.Queued, issue.Assigned}, 4), issue.Statuses[2:]...)[r.IntN(14)]
		i.Agent = []id.Agent{"agt_a", "agt_b"}[r.IntN(2)]
		i.Binding = []issue.Binding{issue.Loose, issue.Loose, issue.Named, issue.Kept}[r.IntN(4)]
		i.Team = []id.Team{"tm_a", "tm_b", ""}[r.IntN(3)]
		i.Waiting, i.OpenBlockers = r.IntN(8) == 0, max(0, r.IntN(8)-6)
	})
}

// mayLease are those of some issues that may be leased under a key, in the order in which they are taken.
func mayLease(all []issue.Issue, key string) (found []issue.Issue) {
	for _, i := range all {
		isOpen := (i.Status == issue.Queued || i.Status == issue.Assigned) && i.OpenBlockers == 0 && !i.Waiting
		of := "c"
		switch {
		case i.Binding != issue.Loose:
			of = "a:" + string(i.Agent)
		case i.Team != "":
			of = "t:" + string(i.Team)
		}
		if isOpen && of == key {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, byTurn)
	return found
}

func byTurn(a, b issue.Issue) int {
	order := []issue.Priority{issue.Urgent, issue.High, issue.Normal, issue.Low}
	return cmp.Or(cmp.Compare(slices.Index(order, a.Priority), slices.Index(order, b.Priority)), cmp.Compare(a.Number, b.Number))
}

func claimable(f *fixture) {
	r := random()
	acme, other := f.found("acme").ID, f.found("other").ID
	all := f.work(acme, 150, r)
	f.work(other, 30, r)
	is := func() {
		f.Helper()
		for _, keys := range [][]string{claimKeys, claimKeys[:1], claimKeys[1:3], {"a:agt_a", "t:tm_b", "c"}, {"t:none", "c"}, {"none"}} {
			for _, most := range []int{1, 2, 32} {
				var want []issue.Issue
				for _, key := range keys {
					firsts := mayLease(all, key)
					want = append(want, firsts[:min(most, len(firsts))]...)
				}
				slices.SortFunc(want, byTurn)
				got, err := f.store.Issues().Claimable(f.ctx, acme, keys, most)
				f.ok(err)
				f.same(got, want)
			}
		}
	}
	is()
	for range 40 { // in the order in which they are taken, and with what changes them
		firsts, err := f.store.Issues().Claimable(f.ctx, acme, claimKeys, 1)
		f.ok(err)
		n := slices.IndexFunc(all, func(i issue.Issue) bool { return i.ID == firsts[0].ID })
		all[n] = anyIssue.edited(f, all[n], func(i *issue.Issue) {
			switch r.IntN(5) {
			case 0:
				i.Priority = issue.Low
			case 1:
				i.Binding, i.Team = issue.Loose, ""
				i.Status = issue.Running
			case 2:
				i.Waiting = true
			case 3:
				i.OpenBlockers++
			default:
				i.Status = issue.Cancelled
			}
		})
	}
	is()
	f.update(func(ctx context.Context, tx store.Tx) error { // as a unit sees it
		tx.Unrecorded()
		first := f.newIssue(acme)
		first.Priority, first.Number = issue.Urgent, 0
		if err := tx.Issues().Add(ctx, first); err != nil {
			return err
		}
		got, err := tx.Issues().Claimable(ctx, acme, claimKeys, 1)
		if err == nil {
			f.same(got[0], first)
		}
		return err
	})
}

func claimableKeys(f *fixture) {
	r := random()
	acme := f.found("acme").ID
	all := f.work(acme, 100, r)
	f.work(f.found("other").ID, 30, r)
	count := func(keys ...string) {
		f.Helper()
		want := map[string]int{}
		for _, key := range keys {
			if n := min(len(mayLease(all, key)), store.Portion); n > 0 {
				want[key] = n
			}
		}
		got, err := f.store.Issues().ClaimableKeys(f.ctx, acme, keys)
		f.ok(err)
		f.same(got, want)
	}
	count(claimKeys...)
	count("c", "none")
	count()
	var many []string // more than one statement asks for
	for n := range 2*store.Portion + 5 {
		many = append(many, fmt.Sprint("a:agt_", n))
	}
	count(append(many, claimKeys...)...)

	all = append(all, f.files(acme, store.Portion, func(n int, i *issue.Issue) { i.Number = int64(len(all) + n + 1) })...)
	count(claimKeys...)
}

func revisions(f *fixture) {
	acme, other, idle := f.found("acme").ID, f.found("other").ID, f.found("idle").ID
	for n, of := range []id.Company{acme, other, acme, acme} {
		f.files(of, n+1, func(int, *issue.Issue) {})
	}
	for _, c := range []struct {
		of   []id.Company
		want map[id.Company]int64
	}{
		{nil, map[id.Company]int64{}},
		{[]id.Company{idle, "cmp_none"}, map[id.Company]int64{}},
		{[]id.Company{other}, map[id.Company]int64{other: 2}},
		{[]id.Company{acme, idle, other}, map[id.Company]int64{acme: 8, other: 2}},
	} {
		got, err := f.store.Issues().Revisions(f.ctx, c.of)
		f.ok(err)
		f.same(got, c.want)
	}
	rows := f.dump()
	for _, of := range []id.Company{acme, other, idle} {
		got, err := f.store.Issues().Revisions(f.ctx, []id.Company{of})
		f.ok(err)
		f.same(got[of], workRevisionOf(rows, of))
	}
}

func raised(f *fixture) {
	acme := f.found("acme").ID
	first, second := make(chan struct{}, 1), make(chan struct{}, 1)
	f.store.Raised(first)
	f.store.Raised(second)
	is := func(what string, want bool) {
		f.Helper()
		for _, listener := range []chan struct{}{first, second} {
			if isNoticed := len(listener) == 1; isNoticed != want {
				f.Fatalf("%s: is noticed: %t", what, isNoticed)
			}
			if want {
				<-listener
			}
		}
	}
	is("nothing", false)
	i := anyIssue.add(f, func(i *issue.Issue) { i.Company = acme })
	is("an issue that may be leased", true)
	is("the same again", false)
	i = anyIssue.edited(f, i, func(i *issue.Issue) { i.Title = "New" })
	is("another title", false)
	i = anyIssue.edited(f, i, func(i *issue.Issue) { i.Status = issue.Running })
	is("the lease of an issue", false)
	queued := anyIssue.next(i)
	queued.Status = issue.Queued
	err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
		if err := anyIssue.saving(queued)(ctx, tx); err != nil {
			return err
		}
		is("what is not committed", false)
		return errGivenUp
	})
	if err == nil {
		f.Error("the unit succeeded")
	}
	is("what was given up", false)
	for range 3 {
		i = anyIssue.edited(f, i, func(i *issue.Issue) { i.Status = issue.Queued })
		i = anyIssue.edited(f, i, func(i *issue.Issue) { i.Status = issue.Running })
	}
	is("several at once", true)
	is("several at once, a second time", false)
}

// employs adds an agent with an issue that it works on.
func (f *fixture) employs(of id.Company) (agent.Agent, issue.Issue, run.Run) {
	f.Helper()
	a := f.newAgent(of, "tm_some")
	a.Requires = []string{"issue.create"}
	i := f.files(of, 1, func(_ int, i *issue.Issue) {
		i.Status, i.Agent, i.Parent = issue.Running, a.ID, "iss_parent"
		i.Project, i.Goal = id.New[id.Project](f.ids.UUIDv7()), "gl_some"
	})[0]
	r := f.newRun(of, i.ID)
	r.Agent, r.Team = a.ID, a.Team
	f.update(hiring(a))
	f.update(starting(r))
	return a, i, r
}

// working is what AtWork and LockForCall read of an agent and its company.
func working(a agent.Agent, of company.Company) (agent.Agent, company.Company) {
	return agent.Agent{ID: a.ID, Company: a.Company, Team: a.Team, Status: a.Status, Hash: a.Hash, Requires: a.Requires, Budget: a.Budget,
			Stats: agent.Stats{AdapterFailures: a.Stats.AdapterFailures, RetryAt: a.Stats.RetryAt}, Guard: a.Guard},
		company.Company{ID: of.ID, Status: of.Status, LeaseEpoch: of.LeaseEpoch, WorkPaused: of.WorkPaused, Budget: of.Budget}
}

func locking(which id.Lease, but event.Actor, found *store.LockedLease) unit {
	return func(ctx context.Context, tx store.Tx) (err error) {
		*found, err = tx.Runs().LockForCall(ctx, which, but)
		return err
	}
}

func lockedForCall(f *fixture) {
	acme := f.found("acme", func(c *company.Company) { c.LeaseEpoch, c.WorkPaused = 7, true })
	a, i, r := f.employs(acme.ID)
	_, other, _ := f.employs(acme.ID)
	var got store.LockedLease
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if err := locking(r.Lease.ID, "token:tok_a", &got)(ctx, tx); err != nil {
			return err
		}
		now, err := tx.StoreNow(ctx)
		if err != nil || now.IsZero() {
			return errors.Join(errGivenUp, err)
		}
		return tx.Runs().Save(ctx, got.Run)
	})
	a, acme = working(a, acme)
	f.same(got, store.LockedLease{Run: r, Agent: a, Company: acme, Issue: issue.Issue{
		ID: i.ID, Status: i.Status, Parent: i.Parent, Project: i.Project, Goal: i.Goal, PerTask: i.PerTask, Spent: i.Spent,
	}})
	launch := anyProject.add(f, func(p *goal.Project) { p.ID = i.Project })
	f.update(locking(r.Lease.ID, "", &got))
	f.same(got.IsEnding, false)
	anyProject.edited(f, launch, func(p *goal.Project) { p.Status = goal.Archived })
	f.update(locking(r.Lease.ID, "", &got))
	f.same(got.IsEnding, true)
	for n := range 6 {
		said := f.newComment([]issue.Issue{i, other}[n/4])
		said.Author = []event.Actor{"agent:agt_a", "token:tok_a"}[n%2]
		said.CreatedAt = r.ContextAt.Add(time.Duration(n-1) * time.Millisecond)
		f.update(commenting(said))
	}
	for but, want := range map[event.Actor]int{"agent:agt_a": 1, "token:tok_a": 1, "token:tok_b": 2} {
		f.update(locking(r.Lease.ID, but, &got))
		f.same(got.Pending, want)
	}
	for _, which := range []id.Lease{"", "lse_none", anyRun.add(f).Lease.ID} { // the last has no agent
		f.refused(fault.NotFound, locking(which, "", &got))
	}
}

func atWork(f *fixture) {
	acme := f.found("acme", func(c *company.Company) { c.LeaseEpoch, c.WorkPaused = 7, true })
	a, i, r := f.employs(acme.ID)
	f.employs(acme.ID)
	more := []run.Run{f.newRun(acme.ID, "iss_a"), f.newRun(acme.ID, "iss_b")}
	for n := range more {
		more[n].Agent = a.ID
	}
	ran(&more[1])
	f.update(starting(more...))
	want := store.AtWork{OpenRuns: 2}
	want.Agent, want.Company = working(a, acme)
	is := func(keys ...string) {
		f.Helper()
		got, err := f.store.Agents().AtWork(f.ctx, a.ID, acme.ID, keys)
		f.ok(err)
		f.same(got, want)
	}
	is("a:agt_a", "c")
	last := f.files(acme.ID, 3, func(n int, i *issue.Issue) {
		i.Priority = []issue.Priority{issue.Low, issue.Normal, issue.High}[n]
	})[2]
	want.First = &store.FirstIssue{Issue: last}
	is("a:agt_a", "c")
	f.update(commenting(f.newComment(last)))
	want.First.HasComments = true
	is("a:agt_a", "c")
	f.files(acme.ID, 1, func(_ int, i *issue.Issue) { i.Parent, i.Status = last.ID, issue.Done })
	want.First.HasChildren = true
	is("a:agt_a", "c")
	launch := anyProject.add(f)
	want.First.Issue = anyIssue.edited(f, last, func(i *issue.Issue) { i.Project = launch.ID })
	is("a:agt_a", "c")
	anyProject.edited(f, launch, func(p *goal.Project) { p.Status = goal.Archived })
	want.First.IsEnding = true
	is("a:agt_a", "c")
	want.First = nil
	is("a:agt_a")
	for _, which := range []id.Agent{"", "agt_none", id.Agent(i.ID), id.Agent(r.ID)} {
		_, err := f.store.Agents().AtWork(f.ctx, which, acme.ID, []string{"c"})
		f.code(err, fault.NotFound)
	}
}

func lockedForEnd(f *fixture) {
	acme := f.found("acme")
	a, i, r := f.employs(acme.ID)
	want := store.LockedLease{Run: r, Issue: i}
	want.Agent, want.Company = working(a, acme)
	is := func(blocks bool) {
		f.Helper()
		var got store.LockedLease
		f.update(func(ctx context.Context, tx store.Tx) (err error) {
			got, err = tx.Runs().LockForEnd(ctx, r.Lease.ID, "")
			return err
		})
		want.Blocks = blocks
		f.same(got, want)
	}
	is(false)
	anyProject.add(f, func(p *goal.Project) { p.ID, p.Status = i.Project, goal.Archived })
	want.IsEnding = true
	is(false)
	waits := f.files(acme.ID, 1, func(_ int, w *issue.Issue) { w.BlockedBy, w.OpenBlockers = []id.Issue{i.ID}, 1 })[0]
	is(true)
	anyIssue.edited(f, waits, func(w *issue.Issue) { w.BlockedBy, w.OpenBlockers = nil, 0 })
	is(false)
	f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Runs().LockForEnd(ctx, "lse_none", "")
		return err
	})
}

func claimedSaved(f *fixture) {
	acme := f.found("acme").ID
	a, working, r := f.employs(acme)
	made := f.files(acme, 2, func(int, *issue.Issue) {})
	for _, c := range []struct {
		of   issue.Issue
		read func(ctx context.Context, tx store.Tx) (issue.Issue, error)
	}{
		{made[0], func(ctx context.Context, tx store.Tx) (issue.Issue, error) {
			found, err := tx.Issues().Claimable(ctx, acme, []string{"c"}, 1)
			if err != nil || len(found) != 1 {
				return issue.Issue{}, errors.Join(errGivenUp, err)
			}
			return found[0], nil
		}},
		{made[1], func(ctx context.Context, tx store.Tx) (issue.Issue, error) {
			found, err := tx.Agents().AtWork(ctx, a.ID, acme, []string{"c"})
			if err != nil || found.First == nil {
				return issue.Issue{}, errors.Join(errGivenUp, err)
			}
			return found.First.Issue, nil
		}},
		{working, func(ctx context.Context, tx store.Tx) (issue.Issue, error) {
			found, err := tx.Runs().LockForEnd(ctx, r.Lease.ID, "")
			return found.Issue, err
		}},
	} {
		want := c.of
		f.ok(f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			if err := tx.Turn(ctx, acme); err != nil {
				return err
			}
			found, err := c.read(ctx, tx)
			if err != nil {
				return err
			}
			found.Version++
			found.Status = issue.Review
			want = found
			return tx.Issues().Save(ctx, found)
		}))
		anyIssue.is(f, want)
		f.same(want.ID, c.of.ID)
	}
	counts, err := f.store.Issues().Tally(f.ctx, store.Tally{Company: acme})
	f.ok(err)
	f.same(counts.Of[issue.Review], int64(3))
}
