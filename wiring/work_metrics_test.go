package wiring_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/adapters/telemetry/metrics"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/store"
)

const (
	claims    = "holdco_claims_total"
	runsEnded = "holdco_runs_ended_total"
	portions  = "holdco_settlement_portions_total"
)

func TestClaimsAreCountedByOutcome(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		before := scrape(t, s.url)
		ada.idles(t)
		send(ada.Client, "POST", leases, `{"wait":31}`).Is(t, 422, "validation_failed")
		s.file(t, acme, "")
		ada.claim(t, "")
		waiting := ada.waiting(t)
		if got := scrape(t, s.url)["holdco_claims_waiting"]; got != 1 {
			t.Errorf("%v claims wait", got)
		}
		s.file(t, acme, "")
		(<-waiting).Is(t, 200, "")

		ada.leaves(t)
		await(t, "the end of the wait", func() bool {
			return scrape(t, s.url).since(before, claims)[claims+`{outcome="canceled"}`] == 1
		})

		after := scrape(t, s.url)
		after.since(before, claims, "holdco_claim_duration_seconds").are(t, figures{
			claims + `{outcome="granted"}`:  2,
			claims + `{outcome="empty"}`:    1,
			claims + `{outcome="refused"}`:  1,
			claims + `{outcome="canceled"}`: 1,
			"holdco_claim_duration_seconds": 2,
		})
		if after["holdco_claims_waiting"] != 0 || after["holdco_leases_live"] != 2 {
			t.Errorf("%v claims wait, and %v leases are live", after["holdco_claims_waiting"], after["holdco_leases_live"])
		}
	})
}

func TestTheTimeOfAClaimLeavesItsWaitOut(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		await(t, "a claim that took no longer than since its issue was filed", func() bool {
			took := claimSeconds(t, s.url)
			waiting := ada.waiting(t)
			s.idle(t, "wake waiting claims")
			filing := time.Now()
			s.file(t, acme, "")
			(<-waiting).Is(t, 200, "")
			took = claimSeconds(t, s.url) - took
			return took > 0 && took <= time.Since(filing).Seconds()
		})
	})
}

// claimSeconds is the sum of the times of claims.
func claimSeconds(t *testing.T, url string) float64 {
	t.Helper()
	response, err := http.Get(url + "/metrics")
	must(t, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	must(t, err)
	found := regexp.MustCompile(`(?m)^holdco_claim_duration_seconds_sum (.+)$`).FindSubmatch(page)
	if found == nil {
		t.Fatal("claims are not timed")
	}
	sum, err := strconv.ParseFloat(string(found[1]), 64)
	must(t, err)
	return sum
}

// idle waits until a job that began later has ended.
func (s *instance) idle(t *testing.T, job string) {
	t.Helper()
	runs := `holdco_job_runs_total{name="` + job + `",outcome="ok"}`
	before := scrape(t, s.url)[runs]
	await(t, "runs of the job "+job, func() bool { return scrape(t, s.url)[runs] >= before+2 })
}

func TestRunsThatEndAreCountedByHowAndWhy(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 1)
		ada := all[0]
		before := scrape(t, s.url)
		claim := func() apiLease {
			s.file(t, acme, "")
			return ada.claim(t, `{"leaseSeconds":30}`)
		}
		completed := claim()
		ada.ends(t, completed, "complete", `"costs":[{"key":"k","kind":"tools","usd":1}]`)
		ada.ends(t, completed, "complete", `"costs":[{"key":"k","kind":"tools","usd":1}]`) // a repeat
		ada.state(t, completed, "costs", `"costs":[{"key":"late","kind":"tools","usd":1}]`)
		ada.call(t, completed, "fail", ending["fail"]).Is(t, 409, "stale_lease")
		ada.ends(t, claim(), "fail", ending["fail"]+`,"retry":false`)
		ada.ends(t, claim(), "handoff", ending["handoff"])
		s.moved(t, claim().Issue, "cancel", "")
		s.moved(t, claim().Issue, "handoff", `{"note":"n"}`)
		expired := claim()
		if got := scrape(t, s.url)["holdco_leases_live"]; got != 1 {
			t.Errorf("%v leases are live", got)
		}
		s.clock.advance(31 * time.Second)
		s.becomes(t, expired.Issue, "queued")
		s.clock.advance(11 * time.Second) // beyond the delay after the attempt
		again := ada.claim(t, `{"wait":30}`)
		ada.state(t, again, "renew", "")
		ada.ends(t, again, "release", "")
		revoked := ada.claim(t, "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.becomes(t, revoked.Issue, "queued")
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		abandoned := ada.claim(t, "")
		s.Post(ada.path()+"/retire", "").Is(t, 200, "")
		s.becomes(t, abandoned.Issue, "queued")
		deleted := s.hire(t, sales, "")
		worker{s.agent(t, deleted.Token), deleted, s}.claim(t, "")
		s.Delete(acme.path())
		await(t, "the end of the company", func() bool { return scrape(t, s.url)["holdco_leases_live"] == 0 })

		after := scrape(t, s.url)
		after.since(before, runsEnded).are(t, figures{
			runsEnded + `{reason="completed",status="succeeded"}`:        1,
			runsEnded + `{reason="failed",status="failed"}`:              1,
			runsEnded + `{reason="expired",status="expired"}`:            1,
			runsEnded + `{reason="handed_off",status="cancelled"}`:       2,
			runsEnded + `{reason="cancelled",status="cancelled"}`:        1,
			runsEnded + `{reason="released",status="cancelled"}`:         1,
			runsEnded + `{reason="company_archived",status="cancelled"}`: 1,
			runsEnded + `{reason="agent_retired",status="cancelled"}`:    1,
		})
		for series := range after {
			if _, ok := before[series]; !ok && strings.HasPrefix(series, runsEnded) {
				t.Errorf("%s begins with its first run", series)
			}
		}
	})
}

func TestLeasesThatAreNotSweptAreOverdue(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const overdue = "holdco_lease_overdue_seconds"
		acme, _, all := s.workers(t, 1)
		s.file(t, acme, "")
		lease := all[0].claim(t, `{"leaseSeconds":30}`)
		if got := scrape(t, s.url)[overdue]; got != 0 {
			t.Errorf("a lease is overdue for %v s", got)
		}
		s.idle(t, "sweep leases")
		s.clock.advance(time.Hour) // after such a pause the sweep gives leases another minute
		s.idle(t, "sweep leases")
		if got := scrape(t, s.url)[overdue]; got != 3570 {
			t.Errorf("a lease is overdue for %v s", got)
		}
		s.clock.advance(time.Minute)
		s.becomes(t, lease.Issue, "queued")
		if after := scrape(t, s.url); after[overdue] != 0 || after["holdco_leases_live"] != 0 {
			t.Errorf("%v leases, overdue for %v s", after["holdco_leases_live"], after[overdue])
		}
	})
}

func TestSettlementsAreCountedUntilTheyAreDone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const pending, overdue = "holdco_settlements_pending", "holdco_settlement_overdue_seconds"
		acme := s.create(t, draft(t, ""))
		before := scrape(t, s.url)
		leave := func(of id.Company, number byte) {
			made := [16]byte{15: number}
			binary.BigEndian.PutUint64(made[:8], uint64(noon.Add(-10*time.Minute).UnixMilli())<<16)
			must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				tx.Unrecorded()
				return tx.Settlements().Add(ctx, store.Settlement{
					ID: id.New[id.Settlement](made), Company: of, Kind: store.Abandon, Subject: "agt_none", Actor: "system:test",
				})
			}))
		}
		leave(id.Company(acme.ID), 1)
		await(t, "the settlement", func() bool { return scrape(t, s.url)[portions] == before[portions]+1 })
		if after := scrape(t, s.url); after[pending] != 0 || after[overdue] != 0 {
			t.Errorf("%v settlements, overdue for %v s", after[pending], after[overdue])
		}
		leave("cmp_none", 2) // nobody does it
		s.idle(t, "settle issues")
		if after := scrape(t, s.url); after[pending] != 1 || after[overdue] != 600 || after[portions] != before[portions]+1 {
			t.Errorf("%v settlements, overdue for %v s; %v portions", after[pending], after[overdue], after[portions]-before[portions])
		}
	})
}

// retrying is a store that loses each unit of work once before it commits.
type retrying struct{ store.Store }

// Update implements store.Store.
func (r retrying) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	lost := errors.New("lost")
	err := r.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := write(ctx, tx); err != nil {
			return err
		}
		return lost
	})
	if !errors.Is(err, lost) {
		return err
	}
	return r.Store.Update(ctx, write)
}

func TestWhatAUnitOfWorkDoesIsCountedOnceItIsCommitted(t *testing.T) {
	t.Parallel()
	engine, ids := sqlitetest.Open(t), system.IDs{}
	m := metrics.New()
	server := httptest.NewServer(m.Page())
	t.Cleanup(server.Close)
	s := m.Store(retrying{sqlstore.New(engine, system.Clock{}, ids, engine.Migrator())})
	update := func(want error, write func(ctx context.Context, tx store.Tx) error) {
		t.Helper()
		if err := s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			if err := write(ctx, tx); err != nil {
				return err
			}
			return want
		}); !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
	}

	now := system.Clock{}.Now()
	var started []run.Run
	for range 3 {
		i := issue.Issue{ID: id.New[id.Issue](ids.UUIDv7()), Company: "cmp_acme", Agent: "agt_ada", Attempt: 1, FencingToken: 1}
		newRun, newLease := id.New[id.Run](ids.UUIDv7()), id.New[id.Lease](ids.UUIDv7())
		started = append(started, run.Grant(newRun, newLease, i, 1, run.Terms{Time: time.Minute}, 0, now))
	}
	left := store.Settlement{ID: id.New[id.Settlement](ids.UUIDv7()), Company: "cmp_acme", Kind: store.Abandon, Actor: "system:test"}
	update(nil, func(ctx context.Context, tx store.Tx) error {
		for _, one := range started {
			if err := tx.Runs().Add(ctx, one); err != nil {
				return err
			}
		}
		return tx.Settlements().Add(ctx, left)
	})

	end := func(ctx context.Context, tx store.Tx) error {
		byID, err := tx.Runs().Lock(ctx, started[0].ID)
		if err != nil {
			return err
		}
		byLease, err := tx.Runs().LockLease(ctx, started[1].Lease.ID)
		if err != nil {
			return err
		}
		byIssue, err := tx.Runs().LockOpen(ctx, started[2].Issue)
		if err != nil {
			return err
		}
		for _, next := range []run.Run{
			byID.Renew(now, time.Time{}), // goes on
			byID.End(run.Completed, "", now),
			byLease.End(run.CompanyDeleted, "", now),
			byIssue.End(run.RanOut, "", now),
			byIssue.End(run.RanOut, "", now), // again
		} {
			if err := tx.Runs().Save(ctx, next); err != nil {
				return err
			}
		}
		return tx.Settlements().Remove(ctx, left.ID)
	}
	broken := errors.New("broken")
	update(broken, end)
	nothing := scrape(t, server.URL)
	nothing.since(figures{}, runsEnded, portions).are(t, figures{})
	update(nil, end)
	update(nil, func(ctx context.Context, tx store.Tx) error { // it has ended before
		ended, err := tx.Runs().Lock(ctx, started[0].ID)
		if err != nil {
			return err
		}
		return tx.Runs().Save(ctx, ended)
	})
	scrape(t, server.URL).since(nothing, runsEnded, portions).are(t, figures{
		runsEnded + `{reason="completed",status="succeeded"}`:       1,
		runsEnded + `{reason="company_deleted",status="cancelled"}`: 1,
		runsEnded + `{reason="expired",status="expired"}`:           1,
		portions: 1,
	})
}
