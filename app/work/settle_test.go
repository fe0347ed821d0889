package work_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/work"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/store"
)

// What is too much for one unit of work is tested here, with units that fail; the moves themselves are tested through the API, on
// both stores. Large tests run one after the other: beside others their units could take longer than a store lets them.

func TestATreeIsCancelledInPortions(t *testing.T) {
	for name, crashes := range map[string]bool{"undisturbed": false, "with crashes": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			root := f.file(t, 1, nil)[0]
			below := func(parent issue.Issue, count int, status issue.Status) []issue.Issue {
				return f.file(t, count, func(_ int, i *issue.Issue) {
					if i.Parent, i.Status = parent.ID, status; status.IsFinal() {
						i.FinishedAt = f.now()
					}
				})
			}
			open := below(root, 195, issue.Queued)
			final := below(root, 5, issue.Done) // of which one has open children
			open = append(open, below(final[4], 50, issue.Review)...)
			level := open[7]
			for range 5 {
				next := below(level, 5, issue.Handoff)
				open, level = append(open, next...), next[2]
			}
			open = append(open, below(open[190], 450, issue.Assigned)...)
			open = append(open, below(level, 279, issue.Queued)...)
			other := f.file(t, 3, nil)

			f.move(t, root.ID, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Cancel(f.now()) })
			if most := f.events(t, event.IssueCancelled); len(most) != 1+store.Portion-len(final) {
				t.Errorf("the first unit cancelled %d issues", len(most))
			}
			f.settle(t, event.IssueCancelled, crashes)

			want := map[id.Issue]int{root.ID: 1}
			for _, i := range open {
				want[i.ID] = 1
				if got := f.get(t, i.ID); got.Status != issue.Cancelled || got.FinishedAt.IsZero() || got.Version != 2 {
					t.Fatalf("%+v", got)
				}
			}
			if len(open) != 999 {
				t.Errorf("the tree has %d open issues", len(open))
			}
			f.happened(t, event.IssueCancelled, want)
			for _, i := range append(final, other...) {
				if got := f.get(t, i.ID); got.Version != 1 || got.Status != i.Status {
					t.Errorf("%+v", got)
				}
			}
			f.tallyIs(t, map[issue.Status]int64{issue.Cancelled: 1000, issue.Done: 5, issue.Queued: 3})
		})
	}
}

func TestWhatWaitsForManyBlockersIsCountedDownInPortions(t *testing.T) {
	for name, crashes := range map[string]bool{"undisturbed": false, "with crashes": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			blockers := f.file(t, 3, func(_ int, i *issue.Issue) { i.Status = issue.Review })
			dependents := f.file(t, 450, func(n int, i *issue.Issue) {
				i.BlockedBy, i.OpenBlockers = []id.Issue{blockers[0].ID}, 1
				if n%3 == 0 {
					i.BlockedBy, i.OpenBlockers = append(i.BlockedBy, blockers[1].ID), 2
				}
				if n%5 == 0 {
					i.BlockedBy, i.OpenBlockers = append(i.BlockedBy, blockers[2].ID), i.OpenBlockers+1
				}
			})
			for _, done := range blockers[:2] { // the second before the first is settled
				f.move(t, done.ID, func(i issue.Issue) (issue.Issue, event.Event, error) { return i.Accept(f.now()) })
			}
			f.settle(t, event.IssueUpdated, crashes)
			for n, i := range dependents {
				got, open := f.get(t, i.ID), 0
				if n%5 == 0 {
					open = 1
				}
				if got.OpenBlockers != open || got.IsClaimable() != (open == 0) || !got.UpdatedAt.Equal(i.UpdatedAt) {
					t.Fatalf("%d: %+v", n, got)
				}
			}
			f.happened(t, event.IssueCompleted, map[id.Issue]int{blockers[0].ID: 1, blockers[1].ID: 1})
			f.happened(t, event.IssueUpdated, map[id.Issue]int{})
		})
	}
}

func TestARetryTakesThePlaceOfItsIssueInPortions(t *testing.T) {
	f := newFixture(t)
	old := f.file(t, 1, func(_ int, i *issue.Issue) { i.Status, i.FinishedAt = issue.Failed, f.now() })[0]
	dependents := f.file(t, 450, func(_ int, i *issue.Issue) { i.BlockedBy, i.OpenBlockers = []id.Issue{old.ID}, 1 })
	again := id.New[id.Issue](system.IDs{}.UUIDv7())
	f.unit(t, func(ctx context.Context, tx store.Tx, u *work.Unit) error {
		failed, err := tx.Issues().Lock(ctx, old.ID)
		if err != nil {
			return err
		}
		made, err := failed.Again(again, actor, work.Others(ctx, tx, f.company), f.now())
		if err != nil {
			return err
		}
		if _, err := u.File(ctx, made); err != nil {
			return err
		}
		return u.Begin(ctx, store.Settlement{Kind: store.Replace, Subject: string(old.ID), Other: string(again)})
	})
	f.settle(t, event.IssueUpdated, true)
	want := map[id.Issue]int{}
	for _, i := range dependents {
		want[i.ID] = 1
		if got := f.get(t, i.ID); !slices.Equal(got.BlockedBy, []id.Issue{again}) || got.OpenBlockers != 1 {
			t.Fatalf("%+v", got)
		}
	}
	f.happened(t, event.IssueUpdated, want)
	f.happened(t, event.IssueCreated, map[id.Issue]int{again: 1})
}

func TestTheIssuesOfARetiredAgentGoBackInPortions(t *testing.T) {
	f := newFixture(t)
	const ada, eve = id.Agent("agt_ada"), id.Agent("agt_eve")
	statuses := []issue.Status{issue.Queued, issue.Assigned, issue.Review, issue.Handoff, issue.Cancelled}
	all := f.file(t, 900, func(n int, i *issue.Issue) {
		i.Agent, i.AgentTeam, i.Team, i.Binding = []id.Agent{ada, ada, ada, eve}[n%4], "tm_a", "tm_b", issue.Named
		i.Status = statuses[n/4%len(statuses)]
	})
	f.unit(t, func(ctx context.Context, _ store.Tx, u *work.Unit) error {
		return u.Begin(ctx, store.Settlement{Kind: store.Abandon, Subject: string(ada)})
	})
	f.settle(t, event.IssueRequeued, true)
	want := map[id.Issue]int{}
	for n, i := range all {
		got := f.get(t, i.ID)
		if n%4 == 3 || slices.Contains(statuses[2:], i.Status) {
			if got.Version != 1 {
				t.Fatalf("%+v", got)
			}
			continue
		}
		want[i.ID] = 1
		if got.Status != issue.Queued || got.Agent != "" || got.ClaimKey() != "t:tm_b" || got.Attempt != i.Attempt {
			t.Fatalf("%+v", got)
		}
	}
	f.happened(t, event.IssueRequeued, want)
}

func TestTheOpenIssuesOfAnArchivedProjectAreCancelledInPortions(t *testing.T) {
	for name, crashes := range map[string]bool{"undisturbed": false, "with crashes": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			const launch = id.Project("prj_launch")
			want := map[id.Issue]int{}
			all := f.file(t, 700, func(n int, i *issue.Issue) {
				if i.Status = issue.Statuses[n%len(issue.Statuses)]; i.Status == issue.Running {
					i.Status = issue.Queued // it would need a run
				}
				if i.Status.IsFinal() {
					i.FinishedAt = f.now()
				}
				if n%3 > 0 {
					i.Project = launch
				}
			})
			parents := f.file(t, 2, func(_ int, i *issue.Issue) { i.Project = launch })
			below := f.file(t, 260, func(n int, i *issue.Issue) { // of no project
				i.Parent = parents[n%2].ID
			})
			lower := f.file(t, 5, func(_ int, i *issue.Issue) { i.Parent, i.Project = below[3].ID, launch })
			for _, i := range slices.Concat(all, parents, below, lower) {
				if !i.Status.IsFinal() && (i.Project != "" || i.Parent != "") {
					want[i.ID] = 1
				}
			}
			f.unit(t, func(ctx context.Context, _ store.Tx, u *work.Unit) error {
				return u.Begin(ctx, store.Settlement{Kind: store.CancelProject, Subject: string(launch)})
			})
			f.settle(t, event.IssueCancelled, crashes)
			f.happened(t, event.IssueCancelled, want)
			for _, i := range slices.Concat(all, parents, below, lower) {
				got := f.get(t, i.ID)
				if isCancelled := got.Version == 2 && got.Status == issue.Cancelled; isCancelled != (want[i.ID] == 1) {
					t.Fatalf("%+v", got)
				}
			}
			found, err := f.store.Activity().List(t.Context(),
				store.ActivityFilter{Company: &f.company, Type: event.IssueCancelled}, page.Position{}, page.MaxSize)
			must(t, err)
			for _, e := range found.Items {
				if shown := string(e.Data.Append(nil)); !strings.Contains(shown, `"reason":"project_archived"`) {
					t.Fatal(shown)
				}
			}
		})
	}
}

func TestNothingIsSettledForACompanyThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	left := f.file(t, 1, nil)[0]
	f.retired(t, "agt_ada")
	f.change(t, func(c *company.Company) { c.Status = company.Deleting })
	if more, err := f.service.Settle(t.Context()); more || err != nil {
		t.Errorf("there is more to do: %t, %v", more, err)
	}
	f.change(t, func(c *company.Company) { c.Status = company.Archived })
	f.settle(t, event.IssueRequeued, false)
	if got := f.get(t, left.ID); got.Version != 1 {
		t.Errorf("%+v", got)
	}
}

func TestACompanyWhoseWorkFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	first := newFixture(t)
	second := first.found(t, "second")
	var abandoned, waiting []issue.Issue
	for _, f := range []fixture{first, second} {
		agent := id.New[id.Agent](system.IDs{}.UUIDv7())
		abandoned = append(abandoned, f.file(t, 1, func(_ int, i *issue.Issue) {
			i.Agent, i.AgentTeam, i.Binding = agent, "tm_a", issue.Named
		})...)
		waiting = append(waiting, f.file(t, 1, func(_ int, i *issue.Issue) { i.NotBefore, i.Waiting = f.now().Add(-time.Hour), true })...)
		f.retired(t, agent)
	}
	changed := func(issues []issue.Issue) (count int) {
		for _, i := range issues {
			count += int(first.get(t, i.ID).Version) - 1
		}
		return count
	}
	for name, job := range map[string]struct {
		run func(ctx context.Context) (bool, error)
		of  []issue.Issue
	}{"settle": {first.service.Settle, abandoned}, "wake": {first.service.WakeDue, waiting}} {
		first.crashes.next = true
		if _, err := job.run(t.Context()); !errors.Is(err, errCrash) || changed(job.of) != 1 {
			t.Errorf("%s: %v, and %d of two companies are done", name, err, changed(job.of))
		}
		if _, err := job.run(t.Context()); err != nil || changed(job.of) != 2 {
			t.Errorf("%s: %v, and %d of two companies are done", name, err, changed(job.of))
		}
	}
}

func TestWhatWaitsForAnInstantIsWokenWhenThatHasCome(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	all := f.file(t, 250, func(n int, i *issue.Issue) {
		i.NotBefore, i.Waiting = f.now().Add(-time.Hour), true
		if n%50 == 0 {
			i.NotBefore = f.now().Add(time.Hour)
		}
	})
	for wake := 0; ; wake++ {
		more, err := f.service.WakeDue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			if wake != 1 {
				t.Errorf("%d portions", wake+1)
			}
			break
		}
	}
	for n, i := range all {
		got := f.get(t, i.ID)
		if due := n%50 != 0; got.Waiting == due || got.IsClaimable() != due || !got.UpdatedAt.Equal(i.UpdatedAt) {
			t.Fatalf("%d: %+v", n, got)
		}
	}
	if got := f.events(t, ""); len(got) != 1 { // that of the company
		t.Errorf("events of %v", got)
	}
}

const actor = event.Actor("token:tok_some")

// fixture is the jobs on a real store, with a company.
type fixture struct {
	service *work.Service
	store   store.Store
	crashes *crashes
	company id.Company
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	kept := sqlstore.New(engine, system.Clock{}, system.IDs{}, engine.Migrator())
	f := fixture{store: kept, crashes: &crashes{Store: kept}}
	f.service = work.New(f.crashes, system.IDs{})
	return f.found(t, "acme")
}

// found returns the fixture with another company.
func (f fixture) found(t *testing.T, slug string) fixture {
	t.Helper()
	f.company = id.New[id.Company](system.IDs{}.UUIDv7())
	draft := company.Draft{Name: new("Company"), Slug: &slug}
	founding, created, err := company.New(f.company, draft, []string{"process"}, system.IDs{}, f.now())
	must(t, err)
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.Companies().Add(ctx, founding.Company); err != nil {
			return err
		}
		return tx.Record(ctx, created.By(actor))
	}))
	return f
}

func (f fixture) now() time.Time { return system.Clock{}.Now() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file adds new issues, each altered, without an event.
func (f fixture) file(t *testing.T, count int, alter func(n int, i *issue.Issue)) []issue.Issue {
	t.Helper()
	made := make([]issue.Issue, count)
	for n := range made {
		newID := id.New[id.Issue](system.IDs{}.UUIDv7())
		one, err := issue.New(newID, f.company, issue.Draft{Title: new(fmt.Sprint(n))}, actor, nil, f.now())
		must(t, err)
		if made[n] = one; alter != nil {
			alter(n, &made[n])
		}
	}
	for some := range slices.Chunk(made, 50) { // a unit must not take long
		f.unit(t, func(ctx context.Context, tx store.Tx, _ *work.Unit) (err error) {
			for n := range some {
				if some[n].Number, err = tx.Issues().NextNumber(ctx, f.company); err != nil {
					return err
				}
				if err := tx.Issues().Add(ctx, some[n]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return made
}

// unit runs a unit of work of a request.
func (f fixture) unit(t *testing.T, write func(ctx context.Context, tx store.Tx, u *work.Unit) error) {
	t.Helper()
	must(t, f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.Turn(ctx, f.company); err != nil {
			return err
		}
		tx.Unrecorded()
		return write(ctx, tx, work.In(tx, system.IDs{}, f.company, actor))
	}))
}

func (f fixture) move(t *testing.T, which id.Issue, move func(issue.Issue) (issue.Issue, event.Event, error)) {
	t.Helper()
	f.unit(t, func(ctx context.Context, tx store.Tx, u *work.Unit) error {
		before, err := tx.Issues().Lock(ctx, which)
		if err != nil {
			return err
		}
		next, happened, err := move(before)
		if err != nil {
			return err
		}
		return u.Move(ctx, before, next, happened, "")
	})
}

// retired leaves it to the job to take the issues of an agent away.
func (f fixture) retired(t *testing.T, agent id.Agent) {
	t.Helper()
	f.unit(t, func(ctx context.Context, tx store.Tx, _ *work.Unit) error {
		return tx.Settlements().Add(ctx, store.Settlement{
			ID: id.New[id.Settlement](system.IDs{}.UUIDv7()), Company: f.company, Kind: store.Abandon, Subject: string(agent), Actor: actor,
		})
	})
}

func (f fixture) change(t *testing.T, change func(c *company.Company)) {
	t.Helper()
	f.unit(t, func(ctx context.Context, tx store.Tx, _ *work.Unit) error {
		c, err := tx.Companies().Lock(ctx, f.company)
		if err != nil {
			return err
		}
		change(&c)
		c.Version++
		return tx.Companies().Save(ctx, c)
	})
}

// settle runs the job until nothing is left to do. Each run, which is one unit here, may record no more events than a portion. If it
// crashes, each second unit is lost at its end.
func (f fixture) settle(t *testing.T, what event.Type, crash bool) {
	t.Helper()
	recorded := len(f.events(t, what))
	for run := 0; ; run++ {
		f.crashes.next = crash && run%2 == 0
		more, err := f.service.Settle(t.Context())
		if crashed := f.crashes.happened(); crashed != errors.Is(err, errCrash) || !crashed && err != nil {
			t.Fatal(err)
		}
		now := len(f.events(t, what))
		if now > recorded+store.Portion || err != nil && now != recorded {
			t.Fatalf("run %d: %d events after %d, %v", run, now, recorded, err)
		}
		if recorded = now; !more && err == nil {
			break
		}
	}
	pending, err := f.store.Settlements().Pending(t.Context(), 1)
	if err != nil || len(pending) > 0 {
		t.Errorf("%v, %v", pending, err)
	}
}

func (f fixture) get(t *testing.T, which id.Issue) issue.Issue {
	t.Helper()
	got, err := f.store.Issues().Get(t.Context(), which)
	must(t, err)
	return got
}

// events returns the subjects of the events of a type, of the request all.
func (f fixture) events(t *testing.T, what event.Type) (subjects []id.Issue) {
	t.Helper()
	after := page.Position{}
	for {
		found, err := f.store.Activity().List(t.Context(), store.ActivityFilter{Company: &f.company, Type: what}, after, page.MaxSize)
		must(t, err)
		for _, e := range found.Items {
			if e.Actor != actor {
				t.Errorf("%s by %s", e.Type, e.Actor)
			}
			subjects = append(subjects, id.Issue(e.Subject.ID))
		}
		if after = found.Next; after.IsStart() {
			return subjects
		}
	}
}

// happened checks how often something happened to each issue.
func (f fixture) happened(t *testing.T, what event.Type, want map[id.Issue]int) {
	t.Helper()
	got := map[id.Issue]int{}
	for _, subject := range f.events(t, what) {
		got[subject]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s happened to %d issues, want %d", what, len(got), len(want))
	}
}

func (f fixture) tallyIs(t *testing.T, want map[issue.Status]int64) {
	t.Helper()
	got, err := f.store.Issues().Tally(t.Context(), store.Tally{Company: f.company})
	must(t, err)
	maps.DeleteFunc(got.Of, func(_ issue.Status, n int64) bool { return n == 0 })
	if !maps.Equal(got.Of, want) {
		t.Errorf("%v, want %v", got.Of, want)
	}
}

// crashes is a store that loses the next unit when it has written everything.
type crashes struct {
	store.Store
	next, lost bool
}

var errCrash = errors.New("crash")

func (c *crashes) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	return c.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		err := write(ctx, tx)
		if err == nil && c.next {
			c.next, c.lost = false, true
			return errCrash
		}
		return err
	})
}

// happened reports whether a unit was lost since it was asked last.
func (c *crashes) happened() bool {
	lost := c.lost
	c.lost = false
	return lost
}
