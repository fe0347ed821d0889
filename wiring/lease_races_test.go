package wiring_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// race sends requests at once, and returns their answers. A store that is busy is asked again.
func race(requests ...func() resttest.Answer) []resttest.Answer {
	answers := make([]resttest.Answer, len(requests))
	var sent sync.WaitGroup
	for n, request := range requests {
		sent.Go(func() {
			for answers[n] = request(); answers[n].Status == 503; {
				answers[n] = request()
			}
		})
	}
	sent.Wait()
	return answers
}

func TestOfTwoMovesAtOnceTheFirstDecides(t *testing.T) {
	t.Parallel()
	const rounds = 10
	for action, then := range map[string]struct{ move, last string }{ // of a person, and where the issue is if that came later
		"complete": {"cancel", "cancelled"},
		"release":  {"handoff", "queued"}, // a person cannot hand off what is queued
		"fail":     {"cancel", "cancelled"},
		"handoff":  {"cancel", "cancelled"},
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 1)
				ada := all[0]
				for range rounds {
					filed := s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`)
					lease := ada.claim(t, "")
					answers := race(
						func() resttest.Answer { return ada.call(t, lease, action, ending[action]) },
						func() resttest.Answer {
							return send(s.Client, "POST", filed.path()+"/"+then.move, `{"`+field(then.move)+`":"n"}`)
						},
					)
					now := s.look(t, filed).Status
					want := then.last
					if answers[0].Status == 409 {
						want = map[string]string{"cancel": "cancelled", "handoff": "handoff"}[then.move]
						answers[0].Is(t, 409, "stale_lease")
					}
					if answers[1].Status == 409 {
						answers[1].Is(t, 409, "invalid_transition")
					}
					if answers[0].Status+answers[1].Status == 818 || now != want {
						t.Errorf("%d and %d: %s", answers[0].Status, answers[1].Status, now)
					}
					if run := s.runOf(t, lease); run.FinishedAt == nil {
						t.Errorf("%+v", run)
					}
					if now != "cancelled" {
						s.moved(t, filed, "cancel", "")
					}
					send(s.Client, "POST", ada.path()+"/release-hold", "") // its failures may have held it
				}
			})
		})
	}
}

// field is the field of the note of a move.
func field(of string) string {
	if of == "cancel" {
		return "reason"
	}
	return "note"
}

func TestACompanyThatIsArchivedAndRestoredAtOnceLeasesNothingTwice(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const issues = 20
		acme, _, all := s.workers(t, 2)
		for range issues {
			s.file(t, acme, "")
		}
		var old []apiLease
		for range issues {
			old = append(old, all[0].claim(t, ""))
		}
		race(func() resttest.Answer {
			s.Post(acme.path()+"/archive", "")
			return s.Post(acme.path()+"/restore", "")
		}, func() resttest.Answer {
			for range issues {
				all[1].Post(leases, "")
			}
			return resttest.Answer{}
		})
		for _, lease := range old {
			stale(t, all[0].call(t, lease, "complete", ""), "company_archived", "queued")
		}
		seen := map[int]bool{}
		for range issues { // each is kept for the agent that had it
			lease := all[0].claim(t, "")
			if seen[lease.Issue.Number] || lease.FencingToken != 2 || lease.Issue.Attempt != 1 {
				t.Errorf("%+v", lease)
			}
			seen[lease.Issue.Number] = true
		}
		all[0].idles(t)
		all[1].idles(t)
	})
}

func TestARenewalAndTheSweepAgree(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		for range 5 {
			filed := s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`","requiresReview":false`)
			lease := ada.claim(t, `{"leaseSeconds":30}`)
			s.clock.advance(29 * time.Second)
			answers := race(
				func() resttest.Answer { return ada.call(t, lease, "renew", "") },
				func() resttest.Answer {
					s.clock.advance(2 * time.Second)
					return resttest.Answer{}
				},
			)
			if answers[0].Status == 200 {
				ada.ends(t, lease, "complete", "")
				s.shows(t, filed, "done, 1, agent")
				continue
			}
			status := "queued"
			if details(t, answers[0])["issueStatus"] == "running" { // the sweep had not come by yet
				status = "running"
			}
			stale(t, answers[0], "expired", status)
			s.becomes(t, filed, "queued")
			s.moved(t, filed, "cancel", "")
		}
	})
}

func TestARequestThatIsSentSeveralTimesAtOnceEndsALeaseOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		filed := s.file(t, acme, "")
		lease := ada.claim(t, "")
		complete := func() resttest.Answer {
			return ada.call(t, lease, "complete", `"summary":"Done.","costs":[{"key":"k","kind":"tools","usd":1}]`)
		}
		replayed := 0
		for _, answer := range race(complete, complete, complete, complete) {
			answer.Is(t, 200, "")
			if answer.Header.Get("Idempotency-Replayed") == "true" {
				replayed++
			}
		}
		comments := resttest.Data[[]apiComment](t, s.Get(filed.path()+"/comments"))
		if got := fmt.Sprintf("%d %d %s", replayed, len(comments), s.look(t, filed).Budget.SpentUsd); got != "3 1 1" {
			t.Errorf("%s", got)
		}
	})
}
