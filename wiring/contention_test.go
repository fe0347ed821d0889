package wiring_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
)

const crowd = 16

// atOnce sends requests at the same moment, and returns their answers.
func atOnce(n int, ask func(i int) resttest.Answer) []resttest.Answer {
	answers := make([]resttest.Answer, n)
	var ready, done sync.WaitGroup
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			answers[i] = ask(i)
		})
	}
	done.Wait()
	return answers
}

// tally counts answers by "status code".
func tally(answers []resttest.Answer) map[string]int {
	counts := map[string]int{}
	for _, answer := range answers {
		counts[strings.TrimSpace(fmt.Sprint(answer.Status, " ", answer.Error.Code))]++
	}
	return counts
}

func TestOfManyCreationsWithOneSlugOneSucceeds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for round := range 3 {
			slug := fmt.Sprintf("s-%d", round)
			counts := tally(atOnce(crowd, func(int) resttest.Answer { return s.Post("/v1/companies", named(slug)) }))
			if counts["201"] != 1 || counts["409 slug_in_use"] != crowd-1 {
				t.Errorf("%v", counts)
			}
			if got := slugs(t, s.Get("/v1/companies?slug="+slug)); len(got) != 1 {
				t.Errorf("there are %v", got)
			}
		}
	})
}

func TestManyCreationsWithDifferentSlugsAllSucceed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		counts := tally(atOnce(crowd, func(i int) resttest.Answer { return s.Post("/v1/companies", named(fmt.Sprintf("s-%d", i))) }))
		if counts["201"] != crowd || len(slugs(t, s.Get("/v1/companies"))) != crowd {
			t.Errorf("%v", counts)
		}
	})
}

func TestOfManyPatchesOfOneVersionOneSucceeds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for round := range 3 {
			tag := s.Get(acme.path()).Header.Get("ETag")
			answers := atOnce(crowd, func(i int) resttest.Answer {
				return send(s.Client, "PATCH", acme.path(), fmt.Sprintf(`{"name":"%d-%d"}`, round, i), "If-Match", tag)
			})
			if counts := tally(answers); counts["200"] != 1 || counts["412 precondition_failed"] != crowd-1 {
				t.Errorf("%v", counts)
			}
			for _, answer := range answers {
				if now := s.see(t, acme); answer.Status == 200 && resttest.Data[company](t, answer).Name != now.Name {
					t.Errorf("acknowledged was %s, kept is %s", answer.Data, now.Name)
				}
			}
		}
		if events := s.events(t, acme.ID); len(events) != 4 {
			t.Errorf("there are %d events", len(events))
		}
	})
}

func TestPatchesOfDifferentFieldsLoseNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		patches := []string{`{"name":"B"}`, `{"description":"d"}`, `{"budget":{"usd":5}}`, `{"budget":{"reservePercent":7}}`,
			`{"fiscalPeriod":"daily"}`}
		answers := atOnce(len(patches), func(i int) resttest.Answer { return s.Patch(acme.path(), patches[i]) })
		if counts := tally(answers); counts["200"] != len(patches) {
			t.Errorf("%v", counts)
		}
		now := s.see(t, acme)
		if now.Name != "B" || now.Description != "d" || string(now.Budget.USD) != "5" || string(now.Budget.ReservePercent) != "7" ||
			now.FiscalPeriod != "daily" {
			t.Errorf("%+v", now)
		}
	})
}

func TestAnArchivedCompanyIsNotPatchedByWhoCameLater(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for round := range 8 {
			acme := s.create(t, named(fmt.Sprintf("s-%d", round)))
			answers := atOnce(2, func(i int) resttest.Answer {
				if i == 0 {
					return s.Post(acme.path()+"/archive", "")
				}
				return s.Patch(acme.path(), `{"name":"B"}`)
			})
			now, events := s.see(t, acme), s.events(t, acme.ID)
			answers[0].Is(t, 200, "")
			if last := events[len(events)-1].Type; now.Status != "archived" || last != event.CompanyArchived {
				t.Errorf("%s after %s", now.Status, last)
			}
			switch answers[1].Status {
			case 200:
				if now.Name != "B" || len(events) != 3 {
					t.Errorf("the patch was acknowledged, and the name is %s after %d events", now.Name, len(events))
				}
			default:
				answers[1].Is(t, 409, "company_archived")
				if now.Name != "A" || len(events) != 2 {
					t.Errorf("the patch was refused, and the name is %s after %d events", now.Name, len(events))
				}
			}
		}
	})
}

func TestOfManyMovesAtOnceOneSucceeds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for _, move := range []string{"/archive", "/restore"} {
			counts := tally(atOnce(crowd, func(int) resttest.Answer { return s.Post(acme.path()+move, "") }))
			if counts["200"] != 1 || counts["409 invalid_transition"] != crowd-1 {
				t.Errorf("%s: %v", move, counts)
			}
		}
	})
}

func TestARequestRepeatedAtOnceHasOneEffect(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for round := range 3 {
			key, slug := fmt.Sprintf("k-%d", round), fmt.Sprintf("s-%d", round)
			ids, fresh := map[string]bool{}, 0
			for _, answer := range atOnce(crowd, func(int) resttest.Answer { return once(s.Client, key, "/v1/companies", named(slug)) }) {
				answer.Is(t, 201, "") // all of them wait for the first
				ids[resttest.Data[company](t, answer).ID] = true
				if answer.Header.Get("Idempotency-Replayed") == "" {
					fresh++
				}
			}
			if len(ids) != 1 || fresh != 1 || len(slugs(t, s.Get("/v1/companies?slug="+slug))) != 1 {
				t.Errorf("%d companies were acknowledged, %d of them as new", len(ids), fresh)
			}
		}
	})
}

func TestDeletesAtOnceLeaveOneEntry(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"A","headcount":1000}]`))
		answers := atOnce(crowd, func(i int) resttest.Answer {
			if i%4 == 3 {
				return s.Patch(acme.path(), `{"name":"B"}`)
			}
			return s.Delete(acme.path())
		})
		for i, answer := range answers {
			switch {
			case answer.Status == 200, answer.Status == 404:
			case i%4 == 3:
				answer.Is(t, 409, "invalid_transition")
			default:
				answer.Is(t, 202, "")
			}
		}
		s.Get(acme.path()).Is(t, 404, "not_found")
		deleted := 0
		for _, e := range s.events(t, "") {
			if e.Type == event.CompanyDeleted {
				deleted++
			}
		}
		if deleted != 1 || len(s.events(t, acme.ID)) != 0 {
			t.Errorf("there are %d entries of the deletion, and %d of the company", deleted, len(s.events(t, acme.ID)))
		}
	})
}

func TestServersOnOnePostgresAreOne(t *testing.T) {
	t.Parallel()
	first := startOnPostgres(t)
	second := start(t, first.clock, first.environ...)
	both := []*instance{first, second}
	counts := tally(atOnce(crowd, func(i int) resttest.Answer { return both[i%2].Post("/v1/companies", named("a")) }))
	if counts["201"] != 1 || counts["409 slug_in_use"] != crowd-1 {
		t.Errorf("%v", counts)
	}
	issued := first.issue(t, "read")
	second.As(issued.Token).Get("/v1/whoami").Is(t, 200, "")
	first.Delete(issued.path()).Is(t, 200, "")
	first.clock.advance(time.Second) // by then no cache accepts a revoked token
	second.As(issued.Token).Get("/v1/whoami").Is(t, 401, "unauthorized")
	for i := range 5 {
		acme := both[i%2].create(t, fmt.Sprintf(`{"name":"A","slug":"s%d","startingTeams":[{"name":"A","headcount":1000}]}`, i))
		answers := atOnce(4, func(j int) resttest.Answer { return both[j%2].Delete(acme.path()) })
		if counts := tally(answers); counts["200"]+counts["404 not_found"] != 4 || counts["200"] == 0 {
			t.Errorf("%v", counts)
		}
	}
	if events := first.events(t, ""); len(events) != 3+5 { // the first token, one more, its end
		t.Errorf("there are %d events", len(events))
	}
}
