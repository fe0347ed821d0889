package leases_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// working is a world on SQLite with an issue of the first company that its first agent has claimed under a key.
func working(t *testing.T) (*world, grant) {
	t.Helper()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	s, end := onSQLite(t, clock, ids)
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	w := must[*world](t)(newWorld(t.Context(), s, clock, ids))
	w.files(t, 1)
	return w, w.claims(t, 0, "key")
}

// files files so many issues of the first company.
func (w *world) files(t *testing.T, count int) {
	t.Helper()
	for range count {
		must[issue.Issue](t)(w.issues.Create(w.ctx, caller, w.offices[0].id, issue.Draft{Title: new("Call")}, idempotency.Request{}))
	}
}

// claims lets an agent of the first company claim an issue under a key.
func (w *world) claims(t *testing.T, agent int, key string) grant {
	t.Helper()
	by := w.offices[0].caller(agent)
	granted := must[*inbound.Lease](t)(w.leases.Claim(w.ctx, by, inbound.Claim{Key: key}))
	if granted == nil {
		t.Fatal("there is nothing to claim")
	}
	return grant{by, granted.Run.ID, granted.Run.Lease.ID, granted.Run.Lease.Token}
}

func (w *world) swept(t *testing.T) {
	t.Helper()
	if err := all(w, w.work.Sweep); err != nil {
		t.Fatal(err)
	}
}

func TestAfterAPauseOfTheSweepALeaseThatRanOutIsLiveAtOnce(t *testing.T) {
	t.Parallel()
	w, g := working(t)
	w.swept(t)
	w.clock.Advance(time.Hour) // in which no server ran
	if again := w.claims(t, 0, "key"); again != g {
		t.Errorf("the claim gives %+v, before it gave %+v", again, g)
	}
	if granted := must[[]inbound.Lease](t)(w.leases.List(w.ctx, g.by)); len(granted) != 1 || granted[0].Run.ID != g.run {
		t.Errorf("the agent has %+v", granted)
	}
	state := must[inbound.LeaseState](t)(w.leases.Renew(w.ctx, g.by, inbound.LeaseCall{Lease: g.lease, Token: &g.token}))
	if want := w.clock.Now().Add(leaseTime); !state.Run.Lease.ExpiresAt.Equal(want) {
		t.Errorf("the lease is renewed until %v, want %v", state.Run.Lease.ExpiresAt, want)
	}
}

func TestAClaimUnderTheKeyOfALeaseThatRanOutGetsAnother(t *testing.T) {
	t.Parallel()
	w, g := working(t)
	w.swept(t)
	w.files(t, 1)
	for range 31 { // the sweep runs, and has not come to the lease yet
		w.clock.Advance(10 * time.Second)
		if err := w.store.Update(w.ctx, func(ctx context.Context, tx store.Tx) error {
			return tx.Runs().SaveSweep(ctx, run.Sweep{At: w.clock.Now()})
		}); err != nil {
			t.Fatal(err)
		}
	}
	other := w.claims(t, 0, "key")
	if other.run == g.run {
		t.Fatal("a lease that ran out is given again")
	}
	if again := w.claims(t, 0, "key"); again != other {
		t.Errorf("a repeat gives %+v, before it gave %+v", again, other)
	}
	w.swept(t)
	if ended := must[run.Run](t)(w.store.Runs().Get(w.ctx, g.run)); ended.Status != run.Expired {
		t.Errorf("the lease that ran out is %+v", ended)
	}
	w.said.granted = []grant{g, other}
	w.check(t)
}

func TestACallWithoutAFingerprintIsNoRepeat(t *testing.T) {
	t.Parallel()
	w, g := working(t)
	call := inbound.LeaseCall{Lease: g.lease, Token: &g.token}
	ended := must[inbound.Ended](t)(w.leases.End(w.ctx, g.by, call, inbound.LeaseEnd{Action: issue.Release}))
	if ended.IsReplayed || ended.Answer == "" {
		t.Errorf("%+v", ended)
	}
	_, err := w.leases.End(w.ctx, g.by, call, inbound.LeaseEnd{Action: issue.Release})
	if fault.CodeOf(err) != fault.StaleLease || fault.Of(err).Details["reason"] != string(run.Released) {
		t.Errorf("again: %v", err)
	}
}

// There are more leases than one unit of work ends.
func TestTheLeasesOfACompanyThatIsArchivedAndRestoredAtOnceStayEnded(t *testing.T) {
	t.Parallel()
	w, _ := working(t)
	const count = store.Portion + 70
	o := must[*office](t)(w.found("large", 3, 1))
	w.offices = []*office{o}
	w.files(t, count)
	w.said.granted = nil
	for n := range count {
		w.said.granted = append(w.said.granted, w.claims(t, n%3, ""))
	}
	w.check(t)
	for _, left := range []int{70, 0} { // the second time ends what the first one left
		must[company.Company](t)(w.companies.Archive(w.ctx, caller, o.id, precondition.Any(), idempotency.Request{}))
		must[company.Company](t)(w.companies.Restore(w.ctx, caller, o.id, precondition.Any(), idempotency.Request{}))
		if running := w.stale(t, run.CompanyArchived); running != left {
			t.Errorf("%d issues still run, want %d", running, left)
		}
	}
	if err := all(w, w.work.Settle); err != nil {
		t.Fatal(err)
	}
	w.check(t)
	back := map[string]int{}
	for _, e := range w.books(t, o).events {
		if e.Type == event.IssueRequeued {
			back[fmt.Sprint(e.Subject.ID, e.data["reason"], e.data["attempt"], e.data["assignedAgentId"] != nil)]++
		}
	}
	for _, g := range w.said.granted {
		of := must[run.Run](t)(w.store.Runs().Get(w.ctx, g.run))
		if of.Status != run.Cancelled || back[string(of.Issue)+"company_archived1true"] != 1 {
			t.Errorf("%+v came back %v", of, back)
		}
	}
}

func TestWhatIsLeftOfAnArchiveIsLeasedToNobodyBeforeItIsSettled(t *testing.T) {
	t.Parallel()
	w, _ := working(t)
	const count = store.Portion + 70
	o := must[*office](t)(w.found("large", 3, 1))
	w.offices = []*office{o}
	w.files(t, count)
	for n := range count {
		w.said.granted = append(w.said.granted, w.claims(t, n%3, ""))
	}
	must[company.Company](t)(w.companies.Archive(w.ctx, caller, o.id, precondition.Any(), idempotency.Request{}))
	w.clock.Advance(time.Hour)
	w.swept(t) // a grace begins
	w.clock.Advance(time.Minute)
	w.swept(t) // leases of an epoch that ended count no attempt
	if left := w.stale(t, run.CompanyArchived); left != 70 {
		t.Errorf("%d issues still run, want 70", left)
	}
	must[company.Company](t)(w.companies.Restore(w.ctx, caller, o.id, precondition.Any(), idempotency.Request{}))
	var again []grant
	for n := range 9 {
		again = append(again, w.claims(t, n%3, ""))
	}
	if err := all(w, w.work.Settle); err != nil {
		t.Fatal(err)
	}
	w.said.granted = append(w.said.granted, again...)
	w.check(t)
	for _, g := range again {
		if r := must[run.Run](t)(w.store.Runs().Get(w.ctx, g.run)); r.Status != run.Running || r.Attempt != 1 || r.Lease.Token != 2 {
			t.Errorf("the second lease is %+v", r)
		}
	}
}

// stale renews all leases, which are all stale for a reason, and returns how many of their issues still run.
func (w *world) stale(t *testing.T, want run.Reason) (running int) {
	t.Helper()
	for _, g := range w.said.granted {
		_, err := w.leases.Renew(w.ctx, g.by, inbound.LeaseCall{Lease: g.lease, Token: &g.token})
		if fault.CodeOf(err) == fault.CompanyArchived {
			of := must[run.Run](t)(w.store.Runs().Get(w.ctx, g.run))
			if i := must[issue.Issue](t)(w.store.Issues().Get(w.ctx, of.Issue)); i.Status == issue.Running {
				running++
			}
			continue
		}
		if fault.CodeOf(err) != fault.StaleLease || fault.Of(err).Details["reason"] != string(want) {
			t.Fatalf("%v, want it to be stale for the reason %s", err, want)
		}
		if fault.Of(err).Details["issueStatus"] == string(issue.Running) {
			running++
		}
	}
	return running
}

// There are more issues below a cancelled one than one unit of work cancels: the rest is about to be.
func TestWorkBelowACancelledIssueIsStaleBeforeItIsCancelledItself(t *testing.T) {
	t.Parallel()
	w, _ := working(t)
	o := must[*office](t)(w.found("large", 3, 1))
	w.offices = []*office{o}
	create := func(parent *string, priority string) issue.Issue {
		draft := issue.Draft{Title: new("Part"), Settings: issue.Settings{Parent: &parent, Priority: &priority}}
		return must[issue.Issue](t)(w.issues.Create(w.ctx, caller, o.id, draft, idempotency.Request{}))
	}
	whole := create(nil, "low")
	for range store.Portion {
		create(new(string(whole.ID)), "low")
	}
	create(new(string(whole.ID)), "urgent")
	g := w.claims(t, 0, "") // the last part
	must[issue.Issue](t)(w.issues.Move(w.ctx, caller, o.id, whole.ID, inbound.IssueMove{Action: issue.Cancel}, precondition.Any(),
		idempotency.Request{}))
	call := inbound.LeaseCall{Lease: g.lease, Token: &g.token, Fingerprint: "complete"}
	_, renewed := w.leases.Renew(w.ctx, g.by, call)
	_, completed := w.leases.End(w.ctx, g.by, call, inbound.LeaseEnd{Action: issue.Complete})
	for what, err := range map[string]error{"renew": renewed, "complete": completed} {
		if refused := fault.Of(err); refused == nil || refused.Code != fault.StaleLease || refused.Details["reason"] != "cancelled" ||
			refused.Details["issueStatus"] != "running" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := all(w, w.work.Settle); err != nil {
		t.Fatal(err)
	}
	of := must[run.Run](t)(w.store.Runs().Get(w.ctx, g.run))
	if last := must[issue.Issue](t)(w.store.Issues().Get(w.ctx, of.Issue)); last.Status != issue.Cancelled || of.Status != run.Cancelled {
		t.Errorf("the issue is %s, its run %s", last.Status, of.Status)
	}
}

// Another server accepts the token of an agent for a moment after the company was deleted.
func TestAnAgentOfADeletedCompanyIsLetInNoMore(t *testing.T) {
	t.Parallel()
	w, g := working(t)
	o := w.offices[0]
	w.files(t, 1)
	call := inbound.LeaseCall{Lease: g.lease, Token: &g.token, Fingerprint: "d"}
	refused := func(when string) {
		t.Helper()
		_, renewed := w.leases.Renew(w.ctx, g.by, call)
		_, _, charged := w.leases.Charge(w.ctx, g.by, call, []cost.Draft{someCharge(seeded{rand.New(rand.NewPCG(1, 1))})})
		_, ended := w.leases.End(w.ctx, g.by, call, inbound.LeaseEnd{Action: issue.Complete})
		_, claimed := w.leases.Claim(w.ctx, g.by, inbound.Claim{})
		_, again := w.leases.Claim(w.ctx, g.by, inbound.Claim{Key: "key"})
		_, listed := w.leases.List(w.ctx, g.by)
		for what, err := range map[string]error{
			"renew": renewed, "costs": charged, "complete": ended, "claim": claimed, "claim again": again, "list": listed,
		} {
			if fault.CodeOf(err) != fault.Unauthorized {
				t.Errorf("%s, %s: %v", when, what, err)
			}
		}
	}
	must[inbound.CompanyDeletion](t)(w.companies.Delete(w.ctx, caller, o.id, precondition.Any()))
	refused("while it is being deleted")
	if err := all(w, w.companies.RemoveDeleted); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Companies().Get(w.ctx, o.id); fault.CodeOf(err) != fault.NotFound {
		t.Fatal(err)
	}
	refused("when it is gone")
}
