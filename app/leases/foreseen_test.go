package leases_test

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"holdco/app/work"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// foreseen is what the rules say of an action, from the books before it. It is nil while several work at once.
type foreseen struct {
	reporter

	w     *world
	books map[id.Company]books // at the last check
	now   time.Time            // then
	until time.Time            // the end of the grace, as it was then
	err   error                // of the last action
}

// check also checks that an action that was refused has changed nothing.
func (f *foreseen) check() {
	f.Helper()
	kept := f.w.check(f)
	if f.err != nil && !reflect.DeepEqual(kept, f.books) {
		f.Errorf("after %v the books are\n%+v\ninstead of\n%+v", f.err, kept, f.books)
	}
	f.begin(kept)
}

// begin is before an action, at which the books are as they are.
func (f *foreseen) begin(kept map[id.Company]books) {
	f.now = must[time.Time](f)(f.w.store.StoreNow(f.w.ctx))
	next, _, _, err := work.NextSweep(f.w.ctx, f.w.store.Runs(), f.now)
	if err != nil {
		f.Fatalf("%v", err)
	}
	f.books, f.until, f.err = kept, next.GraceUntil, nil
}

// stale is why a run is not live; empty: it is.
func (f *foreseen) stale(r run.Run) run.Reason {
	b := f.books[r.Company]
	switch {
	case !r.Lease.EndedAt.IsZero():
		return r.Lease.Reason
	case r.Lease.Epoch != b.company.LeaseEpoch:
		return run.CompanyArchived
	case b.agents[r.Agent].Status == agent.Retired:
		return run.AgentRetired
	case !f.now.Before(r.Lease.ExpiresAt) && !f.now.Before(f.until):
		return run.RanOut
	}
	return ""
}

// claim checks what came of a claim.
func (f *foreseen) claim(by agent.Caller, sent inbound.Claim, granted *inbound.Lease, err error) {
	if f == nil {
		return
	}
	f.Helper()
	b := f.books[by.Company]
	if b.company.Status == company.Archived {
		f.code(err, fault.CompanyArchived)
		return
	}
	key := sent.Key
	var before []run.Run
	for _, runs := range b.runs {
		for _, r := range runs {
			if key != "" && r.Agent == by.ID && r.Lease.Key == key && f.stale(r) == "" {
				before = append(before, r)
			}
		}
	}
	slices.SortFunc(before, func(x, y run.Run) int { return cmp.Or(y.StartedAt.Compare(x.StartedAt), cmp.Compare(y.ID, x.ID)) })
	if len(before) > 0 && sent.LeaseSeconds != nil && time.Duration(*sent.LeaseSeconds)*time.Second != before[0].Lease.Time {
		f.code(err, fault.IdempotencyConflict)
		return
	}
	f.code(err, "")
	var want id.Issue
	switch {
	case len(before) > 0:
		want = before[0].Issue
	case b.company.WorkPaused || b.agents[by.ID].Status != agent.Active:
	default:
		for _, i := range b.mayBeLeased() {
			if mayTake(b.agents[by.ID], i) && !b.isBelowCancelled(i) {
				want = i.ID
				break
			}
		}
	}
	var got id.Issue
	if granted != nil {
		got = granted.Issue.ID
		if (len(before) > 0) != slices.ContainsFunc(b.runs[got], func(r run.Run) bool { return r.ID == granted.Run.ID }) {
			f.Errorf("a claim under the key %q got %+v, before were %+v", key, granted.Run, before)
		}
	}
	if got != want {
		f.Errorf("the claim of %s under the key %q got %q, want %q", by.ID, key, got, want)
	}
}

// lease finds the run of a lease in the books, and why a call with a token is refused; empty: it is not.
func (f *foreseen) lease(g grant, token int64) (r run.Run, refusal fault.Code, reason run.Reason) {
	b := f.books[g.by.Company]
	for _, runs := range b.runs {
		for _, one := range runs {
			if one.ID == g.run {
				r = one
			}
		}
	}
	reason = f.stale(r)
	switch {
	case b.company.Status == company.Archived:
		refusal = fault.CompanyArchived
	case token != g.token && (reason == "" || reason == run.RanOut && r.Lease.EndedAt.IsZero()):
		refusal, reason = fault.StaleLease, run.Superseded
	case reason != "":
		refusal = fault.StaleLease
	}
	return r, refusal, reason
}

// call checks what came of a call on a lease, which may also fail with some codes if the lease is live.
func (f *foreseen) call(g grant, token int64, err error, or ...fault.Code) {
	if f == nil {
		return
	}
	f.Helper()
	_, refusal, reason := f.lease(g, token)
	if refusal == "" {
		if err != nil && slices.Contains(or, fault.CodeOf(err)) {
			return
		}
		f.code(err, "")
		f.renewed(g)
		return
	}
	f.code(err, refusal)
	if refusal == fault.StaleLease {
		f.reason(g, err, reason)
	}
}

// charge is call for charges, which are taken for a day after the end too.
func (f *foreseen) charge(g grant, token int64, err error) {
	if f == nil {
		return
	}
	f.Helper()
	r, refusal, _ := f.lease(g, token)
	isLate := f.stale(r) != ""
	switch {
	case token != g.token:
		f.code(err, fault.StaleLease)
	case isLate && !r.Lease.EndedAt.IsZero() && f.now.Sub(r.Lease.EndedAt) > 24*time.Hour:
		f.code(err, fault.StaleLease)
	case isLate:
		f.code(err, "")
	case refusal == "":
		f.code(err, "")
		f.renewed(g)
	}
}

// end is call for what ends a lease.
func (f *foreseen) end(g grant, token int64, action issue.Action, err error) {
	if f == nil {
		return
	}
	f.Helper()
	_, refusal, reason := f.lease(g, token)
	f.code(err, refusal)
	if refusal == fault.StaleLease {
		f.reason(g, err, reason)
	}
	if err != nil {
		return
	}
	b := f.books[g.by.Company]
	before := b.issues[must[run.Run](f)(f.w.store.Runs().Get(f.w.ctx, g.run)).Issue]
	after := must[issue.Issue](f)(f.w.store.Issues().Get(f.w.ctx, before.ID))
	want := map[issue.Action]issue.Status{issue.Complete: issue.Done, issue.Release: issue.Queued, issue.HandOff: issue.Handoff}[action]
	if action == issue.Complete && before.RequiresReview {
		want = issue.Review
	}
	if action == issue.Fail { // which may be said to be final
		want = issue.Failed
		if after.Status == issue.Queued && before.Attempt < before.MaxAttempts {
			want = issue.Queued
		}
	}
	if after.Status != want {
		f.Errorf("after %s %s is %s, want %s", action, before.ID, after.Status, want)
	}
}

func (f *foreseen) renewed(g grant) {
	f.Helper()
	r := must[run.Run](f)(f.w.store.Runs().Get(f.w.ctx, g.run))
	if !r.Lease.ExpiresAt.Equal(f.now.Add(r.Lease.Time)) {
		f.Errorf("a call at %v leaves the lease until %v, for %v", f.now, r.Lease.ExpiresAt, r.Lease.Time)
	}
}

func (f *foreseen) code(err error, want fault.Code) {
	f.Helper()
	if fault.CodeOf(err) != want {
		f.Fatalf("%v, want %q", err, want)
	}
}

func (f *foreseen) reason(g grant, err error, want run.Reason) {
	f.Helper()
	if got := fault.Of(err).Details["reason"]; got != string(want) {
		f.Errorf("the lease of %s is stale for the reason %v, want %s", g.run, got, want)
	}
}

// sweep sweeps once, and checks that it ended what it had to, and nothing else.
func (f *foreseen) sweep() error {
	f.Helper()
	now := must[time.Time](f)(f.w.store.StoreNow(f.w.ctx)) // which the action moves
	state, _, err := f.w.store.Runs().Sweep(f.w.ctx)
	if err != nil {
		return err
	}
	_, _, mayEnd, err := work.NextSweep(f.w.ctx, f.w.store.Runs(), now)
	if err != nil {
		return err
	}
	before := must[[]store.OpenRun](f)(f.w.store.Runs().Overdue(f.w.ctx, now))
	if err := all(f.w, f.w.work.Sweep); err != nil {
		return err
	}
	after := must[[]store.OpenRun](f)(f.w.store.Runs().Overdue(f.w.ctx, now))
	if mayEnd && len(after) > 0 || !mayEnd && !slices.Equal(before, after) {
		f.Errorf("a sweep that may end leases: %t. Overdue were %v, and are %v", mayEnd, before, after)
	}
	longest := must[[]store.OpenRun](f)(f.w.store.Runs().Overdue(f.w.ctx, now.Add(leaseTime)))
	if at, _, _ := f.w.store.Runs().Sweep(f.w.ctx); at.At.Equal(now) && !state.At.Equal(now) { // its state was written
		if endless := must[[]store.OpenRun](f)(f.w.store.Runs().Overdue(f.w.ctx, now.Add(1000*time.Hour))); len(endless) != len(longest) {
			f.Errorf("of %v some last longer than %v", endless, leaseTime)
		}
	}
	return nil
}

// none fails if something is left to be done.
func none[T any](f *foreseen, found []T, err error) error {
	if f != nil && len(found) > 0 {
		f.Errorf("left: %v", found)
	}
	return err
}

// epochs are as many as archives, and one more.
func (b books) checkEpoch(t reporter) {
	t.Helper()
	want := int64(1)
	for _, e := range b.events {
		if e.Type == event.CompanyArchived || e.Type == event.CompanyBudgetBreach && e.data["level"] == string(budget.Catastrophic) {
			want++
		}
	}
	if b.company.LeaseEpoch != want {
		t.Errorf("%s is in the epoch %d, want %d", b.company.ID, b.company.LeaseEpoch, want)
	}
}
