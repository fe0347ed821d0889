package leases_test

import (
	"holdco/app/cache"

	"context"
	"testing"
	"testing/synctest"
	"time"

	"holdco/app/leases"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// unreadable is a store in which the keys of one company cannot be read.
type unreadable struct {
	store.Store
	of *id.Company
}

func (u unreadable) Issues() store.IssueReader { return unreadableIssues{u.Store.Issues(), u.of} }

type unreadableIssues struct {
	store.IssueReader
	of *id.Company
}

func (u unreadableIssues) ClaimableKeys(ctx context.Context, of id.Company, keys []string) (map[string]int, error) {
	if of == *u.of {
		return nil, fault.New(fault.Unavailable, "The store does not answer.")
	}
	return u.IssueReader.ClaimableKeys(ctx, of, keys)
}

func TestACompanyThatCannotBeWokenIsWokenLaterAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for first := range 2 { // of the companies
		synctest.Test(t, func(t *testing.T) {
			clock, ids := storetest.NewClock(), storetest.NewIDs()
			s, end := onSQLite(t, clock, ids)
			defer func() { _ = end() }()
			w := must[*world](t)(newWorld(t.Context(), s, clock, ids))
			of := w.offices[first].id
			settings := leases.Settings{LeaseTime: leaseTime, Reserve: 100_000, MostWaiting: mostWaiting}
			service := leases.New(unreadable{s, &of}, ids, &counter{}, settings, &cache.Prices{})
			began := time.Now()
			var got [2]chan *inbound.Lease
			for n, o := range w.offices {
				got[n] = make(chan *inbound.Lease, 1)
				go func() {
					granted, _ := service.Claim(t.Context(), o.caller(0), inbound.Claim{Wait: new(int64(inbound.MostWait))})
					got[n] <- granted
				}()
			}
			synctest.Wait()
			for _, o := range w.offices {
				must[issue.Issue](t)(w.issues.Create(w.ctx, caller, o.id, issue.Draft{Title: new("Call")}, idempotency.Request{}))
			}
			if _, err := service.Wake(t.Context()); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("a company cannot be read: %v", err)
			}
			if granted := <-got[1-first]; granted == nil || !time.Now().Equal(began) {
				t.Errorf("the other company got %v after %v", granted, time.Since(began))
			}
			of = ""
			must[bool](t)(service.Wake(t.Context()))
			if granted := <-got[first]; granted == nil || !time.Now().Equal(began) {
				t.Errorf("the company got %v after %v", granted, time.Since(began))
			}
		})
	}
}

func TestAllAreWokenWhenThoseWokenFirstCannotTakeWhatIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock, ids := storetest.NewClock(), storetest.NewIDs()
		s, end := onSQLite(t, clock, ids)
		defer func() { _ = end() }()
		w := must[*world](t)(newWorld(t.Context(), s, clock, ids))
		o := w.offices[0]
		began := time.Now()
		var got [3]chan *inbound.Lease
		for n := range got {
			got[n] = make(chan *inbound.Lease, 1)
			go func() {
				granted, _ := w.leases.Claim(t.Context(), o.caller(n), inbound.Claim{Wait: new(int64(inbound.MostWait))})
				got[n] <- granted
			}()
			synctest.Wait()
		}
		for n := range 2 { // who have waited longest
			must[agent.Agent](t)(w.agents.Pause(t.Context(), caller, o.id, o.agents[n], precondition.Match{}, idempotency.Request{}))
		}
		must[issue.Issue](t)(w.issues.Create(w.ctx, caller, o.id, issue.Draft{Title: new("Call")}, idempotency.Request{}))
		must[bool](t)(w.leases.Wake(t.Context()))
		synctest.Wait()
		if len(got[2]) > 0 {
			t.Fatal("more were woken than there is work for, and one more")
		}
		must[bool](t)(w.leases.WakeAll(t.Context()))
		if granted := <-got[2]; granted == nil || !time.Now().Equal(began) {
			t.Errorf("the agent got %v after %v", granted, time.Since(began))
		}
		w.leases.Close()
		for _, paused := range got[:2] {
			if granted := <-paused; granted != nil {
				t.Errorf("a paused agent got %v", granted)
			}
		}
	})
}

func TestAClaimWaitsNoMoreOnceItIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world, o *office) error
		code   fault.Code
	}{
		"the agent retires": {func(w *world, o *office) error {
			_, err := w.agents.Retire(w.ctx, caller, o.id, o.agents[0], precondition.Match{}, idempotency.Request{})
			return err
		}, fault.Unauthorized},
		"the token is exchanged": {func(w *world, o *office) error {
			_, err := w.agents.RotateToken(w.ctx, caller, o.id, o.agents[0], precondition.Match{}, idempotency.Request{})
			return err
		}, fault.Unauthorized},
		"the company is archived": {func(w *world, o *office) error {
			_, err := w.companies.Archive(w.ctx, caller, o.id, precondition.Match{}, idempotency.Request{})
			return err
		}, fault.CompanyArchived},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, ids := storetest.NewClock(), storetest.NewIDs()
				s, end := onSQLite(t, clock, ids)
				defer func() { _ = end() }()
				w := must[*world](t)(newWorld(t.Context(), s, clock, ids))
				o := w.offices[0]
				by := o.caller(0)
				by.Hash = must[agent.Agent](t)(s.Agents().Get(t.Context(), by.ID)).Hash
				began, refused := time.Now(), make(chan error, 1)
				go func() {
					_, err := w.leases.Claim(t.Context(), by, inbound.Claim{Wait: new(int64(inbound.MostWait))})
					refused <- err
				}()
				synctest.Wait()
				must[bool](t)(w.leases.WakeAll(t.Context()))
				synctest.Wait()
				if len(refused) > 0 {
					t.Fatalf("the claim does not wait: %v", <-refused)
				}
				if err := c.change(w, o); err != nil {
					t.Fatal(err)
				}
				must[bool](t)(w.leases.WakeAll(t.Context()))
				if err := <-refused; fault.CodeOf(err) != c.code || !time.Now().Equal(began) {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

func TestSoManyClaimsWaitAndNoMore(t *testing.T) {
	t.Parallel()
	w, _ := working(t) // which has leased the only issue
	by := w.offices[0].caller(1)
	waiting := inbound.Claim{Wait: new(int64(inbound.MostWait))}
	begin := func(ctx context.Context) <-chan error {
		before, ended := w.leases.Waiting(), make(chan error, 1)
		go func() {
			granted, err := w.leases.Claim(ctx, by, waiting)
			if granted != nil {
				t.Errorf("there was nothing to claim: %+v", granted)
			}
			ended <- err
		}()
		for deadline := time.Now().Add(time.Minute); w.leases.Waiting() == before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the claim does not wait")
			}
		}
		return ended
	}
	ctx, leave := context.WithCancel(t.Context())
	first := begin(ctx)
	var others []<-chan error
	for range mostWaiting - 1 {
		others = append(others, begin(t.Context()))
	}
	refused := func(by int) {
		t.Helper()
		_, err := w.leases.Claim(t.Context(), w.offices[by].caller(1), waiting)
		if f := fault.Of(err); f == nil || f.Code != fault.Unavailable || f.RetryAfter != 5*time.Second ||
			w.leases.Waiting() != mostWaiting {
			t.Errorf("%v; %d claims wait", err, w.leases.Waiting())
		}
	}
	refused(0)
	refused(1) // the bound is one for all companies
	if granted, err := w.leases.Claim(t.Context(), by, inbound.Claim{}); granted != nil || err != nil {
		t.Errorf("a claim that does not wait gets %+v, %v", granted, err)
	}
	w.files(t, 1)
	if granted := must[*inbound.Lease](t)(w.leases.Claim(t.Context(), by, waiting)); granted == nil {
		t.Error("what is there is not given to a claim that could not wait")
	}
	leave()
	if err := <-first; err == nil {
		t.Error("a claim was answered whose client had left")
	}
	others = append(others, begin(t.Context()))
	refused(0)
	w.leases.Close()
	for _, other := range others {
		if err := <-other; err != nil {
			t.Error(err)
		}
	}
	if left := w.leases.Waiting(); left != 0 {
		t.Errorf("%d claims wait", left)
	}
}
