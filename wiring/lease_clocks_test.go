package wiring_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/instant"
)

// sweeps sweeps leases now, whatever the job does.
func (s *instance) sweeps(t *testing.T) {
	t.Helper()
	for {
		more, err := s.work.Sweep(t.Context())
		must(t, err)
		if !more {
			return
		}
	}
}

// passes lets time go by in steps, each shorter than a pause of the sweep.
func (s *instance) passes(t *testing.T, d time.Duration) {
	t.Helper()
	const step = 30 * time.Second
	for ; d > 0; d -= step {
		s.clock.advance(min(d, step))
		s.sweeps(t)
	}
}

// On Postgres leases go by its clock alone, whatever the clocks of the servers say.
func TestServersWithWrongClocksAgreeOnLeasesOnPostgres(t *testing.T) {
	t.Parallel()
	environ := []string{
		dataDir + t.TempDir(), databaseURL + postgrestest.URL(t), "HOLDCO_KEY_FILE=" + filepath.Join(t.TempDir(), "key"),
		"HOLDCO_LEASE_TIME=5s",
	}
	off := func(by time.Duration) *instance {
		apart := &clock{isApart: true}
		apart.ms.Store(time.Now().Add(by).UnixMilli())
		return start(t, apart, environ...)
	}
	ahead, behind := off(time.Hour), off(-time.Hour)
	acme, _, all := ahead.workers(t, 2)
	at := func(s *instance, who worker) worker { return worker{s.agent(t, who.Token), who.apiAgent, s} }
	both := []worker{at(ahead, all[0]), at(behind, all[1])}

	// within fails the test unless a lease that was granted or renewed between two instants runs out a lease time after.
	within := func(text string, before, after time.Time) time.Time {
		t.Helper()
		expires, err := time.Parse(time.RFC3339, text)
		must(t, err)
		if expires.Before(before.Add(5*time.Second)) || expires.After(after.Add(5*time.Second)) {
			t.Errorf("a lease of 5 seconds from %v to %v runs out at %v", before, after, expires)
		}
		return expires
	}
	now := func() time.Time {
		t.Helper()
		now, err := behind.store.StoreNow(t.Context())
		must(t, err)
		return now
	}
	filed := ahead.file(t, acme, `,"requiresReview":false`)
	before := now()
	lease := both[0].claim(t, "")
	within(lease.ExpiresAt, before, now())
	both[1].idles(t)
	for n := range 6 { // the lease is good at both servers, and no sweep of either ends it
		holder := at([]*instance{ahead, behind}[n%2], all[0])
		ahead.sweeps(t)
		behind.sweeps(t)
		before = now()
		within(holder.state(t, lease, "renew", "").Lease.ExpiresAt, before, now())
	}
	expires := within(ahead.renewed(t, both[0], lease), before, now())
	await(t, "the end of the lease", func() bool {
		if behind.look(t, filed).Status == "running" {
			return false
		}
		if at := now(); at.Before(expires) {
			t.Errorf("a lease that runs out at %v has ended at %v", expires, at)
		}
		return true
	})
	again := both[1].claim(t, `{"wait":30}`) // an expired lease waits before the next attempt
	if again.FencingToken != 2 || again.Issue.Attempt != 2 {
		t.Errorf("%+v", again)
	}
	for _, s := range []*instance{ahead, behind} {
		stale(t, at(s, all[0]).call(t, lease, "complete", ""), "expired", "running")
	}
	both[1].ends(t, again, "complete", "")

	// Claims at both at once give each issue once.
	const count = 20
	for range count {
		ahead.file(t, acme, "")
	}
	var mutex sync.Mutex
	given := map[int]int64{}
	var claims []func() resttest.Answer
	for n := range count + 4 {
		claims = append(claims, func() resttest.Answer { return both[n%2].Post(leases, `{"leaseSeconds":3600}`) })
	}
	for _, answer := range race(claims...) {
		if answer.Status == 204 {
			continue
		}
		answer.Is(t, 200, "")
		got := resttest.Data[apiLease](t, answer)
		mutex.Lock()
		given[got.Issue.Number] += got.FencingToken
		mutex.Unlock()
	}
	for number := 2; number <= count+1; number++ {
		if given[number] != 1 {
			t.Errorf("issue %d was given with tokens whose sum is %d", number, given[number])
		}
	}
}

// renewed renews a lease and returns when it runs out.
func (s *instance) renewed(t *testing.T, w worker, lease apiLease) string {
	t.Helper()
	return w.state(t, lease, "renew", "").Lease.ExpiresAt
}

// After the clock was set, or no server ran for a while, whoever holds a lease has a minute to renew it.
func TestAfterAPauseLeasesThatAreNotRenewedWithinAMinuteEnd(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]func(t *testing.T, s *instance) *instance{
		"the clock was set ahead": func(_ *testing.T, s *instance) *instance {
			s.clock.advance(time.Hour)
			return s
		},
		"no server ran": func(t *testing.T, s *instance) *instance {
			must(t, s.stop())
			s.clock.advance(10 * time.Minute)
			return start(t, s.clock, s.environ...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 2)
				ada, bob := all[0], all[1]
				var held []apiLease
				for range 4 {
					s.file(t, acme, "")
					held = append(held, ada.claim(t, ""))
				}
				s.passes(t, 2*time.Minute)
				s = pause(t, s)
				s.sweeps(t)
				ada.Client, ada.s, bob.Client, bob.s = s.agent(t, ada.Token), s, s.agent(t, bob.Token), s
				ada.state(t, held[0], "renew", "")
				s.clock.advance(30 * time.Second)
				s.sweeps(t)
				bob.idles(t)
				ada.state(t, held[1], "checkpoint", `"note":"Half"`)
				s.clock.advance(29 * time.Second)
				s.sweeps(t)
				bob.idles(t)
				ada.ends(t, held[2], "complete", "")
				if live := resttest.Data[[]apiLease](t, ada.Get(leases)); len(live) != 3 {
					t.Errorf("%d leases are live within the minute", len(live))
				}
				s.clock.advance(time.Second)
				late := ada.call(t, held[3], "complete", "")
				late.Is(t, 409, "stale_lease")
				s.sweeps(t)
				s.shows(t, held[3].Issue, "queued, 2, nobody")
				ada.dead(t, held[3], "expired")
				s.clock.advance(11 * time.Second) // beyond the delay after the attempt
				if next := bob.claim(t, `{"wait":30}`); next.Issue.ID != held[3].Issue.ID || next.FencingToken != 2 {
					t.Errorf("%+v", next)
				}
				bob.idles(t)
				for _, lease := range held[:2] {
					ada.ends(t, lease, "complete", "")
				}
			})
		})
	}
}

func TestALeaseLastsNoLongerBecauseTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada, bob := all[0], all[1]
		idle, busy := s.file(t, acme, ""), s.file(t, acme, "")
		left, kept := ada.claim(t, ""), ada.claim(t, "")
		s.passes(t, 2*time.Minute)
		s.clock.advance(-time.Hour)
		s.sweeps(t)
		want := instant.Format(s.clock.Now().Add(5 * time.Minute))
		for _, lease := range []apiLease{left, kept} {
			if got := ada.finds(t, lease).ExpiresAt; got != want {
				t.Errorf("the lease runs out at %s, want %s", got, want)
			}
		}
		s.passes(t, 4*time.Minute)
		bob.idles(t)
		ada.state(t, kept, "renew", "")
		s.passes(t, time.Minute-time.Millisecond)
		s.shows(t, idle, "running, 1, agent")
		bob.idles(t)
		s.passes(t, time.Millisecond)
		s.shows(t, idle, "queued, 2, nobody")
		s.shows(t, busy, "running, 1, agent")
		s.clock.advance(11 * time.Second) // beyond the delay after the attempt
		if next := bob.claim(t, `{"wait":30}`); next.Issue.ID != idle.ID || next.FencingToken != 2 {
			t.Errorf("%+v", next)
		}
		ada.ends(t, kept, "complete", "")
	})
}
