package wiring_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/instant"
)

// An agent whose lease ran out is told so by every call, and nothing is changed; what it spent counts, once.
func TestAnAgentThatAnswersTooLateIsToldSo(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		filed := s.file(t, acme, "")
		lease := ada.claim(t, `{"leaseSeconds":30}`)
		s.clock.advance(30 * time.Second)
		ranOut := instant.Format(s.clock.Now())
		told := func(want map[string]any) {
			t.Helper()
			for _, calls := range []map[string]string{lasting, ending} {
				for action, members := range calls {
					if action == "costs" {
						continue
					}
					answer := ada.call(t, lease, action, members)
					answer.Is(t, 409, "stale_lease")
					got := details(t, answer)
					if want["endedAt"] == nil && got["endedAt"] != nil { // the sweep has come by
						continue
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s\n%s", action, diff)
					}
				}
			}
		}
		told(map[string]any{"reason": "expired", "endedAt": nil, "issueStatus": "running"})
		s.sweeps(t)
		told(map[string]any{"reason": "expired", "endedAt": ranOut, "issueStatus": "queued"})
		ada.dead(t, lease, "expired")

		s.clock.advance(11 * time.Second)   // beyond the delay after the attempt
		next := ada.claim(t, `{"wait":30}`) // the issue goes on under another lease
		told(map[string]any{"reason": "expired", "endedAt": ranOut, "issueStatus": "running"})
		for range 2 {
			state := ada.state(t, lease, "costs", `"costs":[{"key":"k","kind":"tools","usd":0.5}]`)
			if !state.Late || len(state.Entries) != 1 {
				t.Errorf("%+v", state)
			}
		}
		ada.state(t, next, "costs", `"costs":[{"key":"k","kind":"tools","usd":0.25}]`) // keys are those of one run
		if got := s.runOf(t, lease); got.CostUsd != "0.5" || got.Status != "expired" || got.CheckpointCount != 0 {
			t.Errorf("%+v", got)
		}
		ada.ends(t, next, "complete", "")
		told(map[string]any{"reason": "expired", "endedAt": ranOut, "issueStatus": "review"})
		if spent := s.look(t, filed).Budget.SpentUsd; spent != "0.75" {
			t.Errorf("%s was spent", spent)
		}
	})
}

// A claim that is repeated tells of the budget as a look at the lease does: an agent that lost the first answer knows what it may spend.
func TestAClaimThatIsRepeatedTellsOfTheBudget(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, `,"budget":{"perTaskUsd":5}`)
		claim := func() (lease apiLease, told map[string]any) {
			t.Helper()
			answer := send(ada.In(t), "POST", leases, `{}`, "Idempotency-Key", "q")
			answer.Is(t, 200, "")
			whole := resttest.Data[map[string]any](t, answer)
			told = map[string]any{}
			for _, name := range []string{"budget", "mustFinish", "finishBy"} {
				told[name] = whole[name]
			}
			return resttest.Data[apiLease](t, answer), told
		}
		lease, first := claim()
		if _, again := claim(); !cmp.Equal(first, again) {
			t.Errorf("%v, and again %v", first, again)
		}
		ada.charges(t, lease, "1", "5")
		_, again := claim()
		budget := again["budget"].(map[string]any)
		if budget["remainingUsd"] != 0.0 || budget["level"] != "hard" || again["mustFinish"] != true || again["finishBy"] == nil {
			t.Errorf("%v", again)
		}
	})
}

// An agent that sends every call twice has the effects of one that does not, but for what GATEWAY.md says is made twice.
func TestAnAgentThatSaysEverythingTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	for action, members := range map[string]string{
		"complete": `"result":{"n":1},"summary":"Done.","costs":[{"key":"c","kind":"tools","usd":4}]`,
		"fail":     `"error":{"code":"c","message":"m"},"costs":[{"key":"c","kind":"tools","usd":4}]`,
		"handoff":  `"note":"Which?"`,
		"release":  `"note":"Stopping."`,
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 2)
				ada, bob := all[0], all[1]
				filed := s.file(t, acme, `,"requiresReview":false`)
				twice := func(send func() resttest.Answer) (first, again resttest.Answer) {
					t.Helper()
					first, again = send(), send()
					first.Is(t, first.Status, "")
					again.Is(t, first.Status, "")
					return first, again
				}
				first, again := twice(func() resttest.Answer { return once(ada.In(t), "k", leases, "") })
				lease := resttest.Data[apiLease](t, first)
				if got := resttest.Data[apiLease](t, again); got.LeaseID != lease.LeaseID || got.FencingToken != 1 {
					t.Errorf("%+v", got)
				}
				for called, members := range lasting {
					twice(func() resttest.Answer { return ada.call(t, lease, called, members) })
				}
				twice(func() resttest.Answer { return ada.Get(lease.path() + "/context") })
				twice(func() resttest.Answer {
					part := lease.body(`"title":"Part","assignedAgentId":"` + bob.ID + `","leaseId":"` + lease.LeaseID + `"`)
					return ada.Post("/gateway/v1/issues", part)
				})
				ended, again := twice(func() resttest.Answer { return ada.call(t, lease, action, members) })
				repeats(t, ended, again)

				run, now := s.runOf(t, lease), s.look(t, filed)
				comments, cost := 2, "1"
				switch action {
				case "complete":
					comments, cost = 3, "5"
				case "fail":
					cost = "5"
				default:
					comments = 3
				}
				said := len(resttest.Data[[]apiComment](t, s.Get(filed.path()+"/comments")))
				children := len(resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?parent="+filed.ID)))
				got := fmt.Sprint(run.CostUsd, now.Budget.SpentUsd, run.CheckpointCount, said, children)
				if want := fmt.Sprint(cost, cost, 2, comments, 2); got != want {
					t.Errorf("cost of the run and of the issue, checkpoints, comments and parts are %s, want %s", got, want)
				}
				want := []string{"created", "started", "commented", "commented", map[string]string{
					"complete": "completed", "fail": "requeued failed", "handoff": "handed_off", "release": "requeued released",
				}[action]}
				if diff := cmp.Diff(want, s.happened(t, acme, filed.ID)); diff != "" {
					t.Error(diff)
				}
				if runs := resttest.Data[[]apiRun](t, s.Get(filed.path()+"/runs")); len(runs) != 1 {
					t.Errorf("%+v", runs)
				}
				attempt := map[string]int{"fail": 2}[action]
				if now.Attempt != max(1, attempt) {
					t.Errorf("it is in attempt %d", now.Attempt)
				}
				stats := resttest.Data[apiAgent](t, s.Get(ada.path())).Stats
				if (stats.TasksCompleted == 1) != (action == "complete") || stats.TasksCompleted > 1 || stats.TasksFailed != 0 {
					t.Errorf("%+v", stats)
				}
			})
		})
	}
}

// keyed are calls that take an idempotency key.
func keyed(lease apiLease) map[string]string {
	return map[string]string{
		lease.path() + "/checkpoint": lease.body(lasting["checkpoint"]),
		lease.path() + "/comment":    lease.body(lasting["comment"]),
		"/gateway/v1/issues":         lease.body(`"title":"Part","leaseId":"` + lease.LeaseID + `"`),
	}
}

// made is what the calls that take a key have made under a lease: checkpoints, comments and issues.
func (s *instance) made(t *testing.T, in company, lease apiLease) string {
	t.Helper()
	said := len(resttest.Data[[]apiComment](t, s.Get(lease.Issue.path()+"/comments")))
	parts := len(resttest.Data[[]apiIssue](t, s.Get(in.path()+"/issues?parent="+lease.Issue.ID)))
	return fmt.Sprint(s.runOf(t, lease).CheckpointCount, said, parts)
}

// What is sent again under a key is done once: one after the other, all at once, and when the lease has long ended.
func TestCallsUnderAKeyAreMadeOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada, bob := all[0], all[1]
		for range 3 {
			s.file(t, acme, "")
		}
		lease, other, theirs := ada.claim(t, `{"leaseSeconds":3600}`), ada.claim(t, ""), bob.claim(t, "")
		firsts := map[string]resttest.Answer{}
		for path, body := range keyed(lease) {
			refused := once(ada.In(t), path, path, lease.body(`"x":1`))
			refused.Is(t, 422, "validation_failed") // a failure is not kept
			answers := make([]resttest.Answer, 4)
			var sent sync.WaitGroup
			for n := range answers {
				sent.Go(func() { answers[n] = once(ada.In(t), path, path, body) })
			}
			sent.Wait()
			replayed := 0
			for _, answer := range answers {
				answer.Is(t, answers[0].Status, "")
				if answer.Header.Get("Idempotency-Replayed") == "true" {
					replayed++
				} else {
					firsts[path] = answer
				}
				if string(answer.Data) != string(answers[0].Data) {
					t.Errorf("%s: %s\n%s", path, answer.Data, answers[0].Data)
				}
			}
			if replayed != 3 {
				t.Errorf("%s: %d of 4 answers are repeats", path, replayed)
			}
			once(ada.In(t), path, path, body+" ").Is(t, 409, "idempotency_conflict")
		}
		for path, body := range keyed(other) {
			once(ada.In(t), lease.path()+"/comment", path, body).Is(t, 409, "idempotency_conflict")
		}
		for path, body := range keyed(theirs) { // the keys are those of another agent
			answer := once(bob.In(t), lease.path()+"/comment"+path, path, body)
			answer.Is(t, answer.Status, "")
		}
		if got := s.made(t, acme, lease) + ", " + s.made(t, acme, other) + ", " + s.made(t, acme, theirs); got != "1 1 1, 0 0 0, 1 1 1" {
			t.Errorf("%s", got)
		}

		s.clock.advance(time.Second)
		held := ada.finds(t, lease)
		again := func() {
			t.Helper()
			for path, body := range keyed(lease) {
				repeats(t, firsts[path], once(ada.In(t), path, path, body))
			}
		}
		again()
		if now := ada.finds(t, lease); now.ExpiresAt != held.ExpiresAt {
			t.Errorf("a repeat renewed the lease from %s to %s", held.ExpiresAt, now.ExpiresAt)
		}
		ada.ends(t, lease, "complete", "")
		again()
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		again()
		if got := s.made(t, acme, lease); got != "1 1 1" {
			t.Errorf("%s", got)
		}
		s.clock.advance(24 * time.Hour)
		for path, body := range keyed(lease) {
			once(ada.In(t), path, path, body).Is(t, 409, "company_archived")
		}
	})
}

// Programs number their calls each by itself, so runs that have tokens do not share keys, with each other or with the agent.
func TestTheTokenOfARunHasKeysOfItsOwn(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, "")
		s.file(t, acme, "")
		claim := func(key string) (itself worker, lease apiLease) {
			t.Helper()
			answer := once(ada.In(t), key, leases, `{"runToken":true}`)
			answer.Is(t, 200, "")
			token := resttest.Data[struct{ RunToken string }](t, answer).RunToken
			return worker{s.agent(t, token), ada.apiAgent, s}, resttest.Data[apiLease](t, answer)
		}
		first, lease := claim("a")
		second, other := claim("b")
		comment := func(by worker, on apiLease) resttest.Answer {
			t.Helper()
			answer := once(by.In(t), "1", on.path()+"/comment", on.body(`"body":"Well"`))
			answer.Is(t, 200, "")
			return answer
		}
		said := comment(first, lease)
		comment(second, other)
		comment(ada, lease)
		for range 2 {
			repeats(t, said, comment(first, lease))
			first, _ = claim("a") // another token of the same run
		}
		if got := s.made(t, acme, lease) + ", " + s.made(t, acme, other); got != "0 2 0, 0 1 0" {
			t.Errorf("%s", got)
		}
		first.ends(t, lease, "complete", "")
		repeats(t, said, comment(first, lease))
	})
}

func TestAClaimUnderAKeyKeepsToItsTerms(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		for range 3 {
			s.file(t, acme, "")
		}
		claim := func(key, body string) resttest.Answer { return once(ada.In(t), key, leases, body) }
		for key, c := range map[string]struct {
			first       string
			same, other []string
		}{
			"usual": {"", []string{`{"wait":30}`, `{"runToken":false}`, `{"leaseSeconds":300}`}, []string{`{"leaseSeconds":600}`}},
			"long": {
				`{"leaseSeconds":600}`, []string{"", `{"wait":1,"leaseSeconds":600}`},
				[]string{`{"leaseSeconds":300}`, `{"runToken":true}`},
			},
			"token": {`{"runToken":true}`, []string{`{"wait":1,"runToken":true}`}, []string{"", `{"leaseSeconds":60,"runToken":true}`}},
		} {
			answer := claim(key, c.first)
			answer.Is(t, 200, "")
			lease := resttest.Data[apiLease](t, answer)
			if got := answer.Header.Get("Idempotency-Replayed"); got != "" {
				t.Errorf("the first claim is replayed: %q", got)
			}
			for _, body := range c.same {
				answer := claim(key, body)
				answer.Is(t, 200, "")
				if resttest.Data[apiLease](t, answer).LeaseID != lease.LeaseID || answer.Header.Get("Idempotency-Replayed") != "true" {
					t.Errorf("%s and then %s: %s", c.first, body, answer.Body)
				}
			}
			for _, body := range c.other {
				claim(key, body).Is(t, 409, "idempotency_conflict")
			}
			if now := ada.finds(t, lease); now.ExpiresAt != lease.ExpiresAt || now.EndedAt != nil {
				t.Errorf("%+v", now)
			}
		}
		ada.idles(t)
	})
}

func TestTheAnswerToAnEndingIsKeptForThirtyDays(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		first, second := s.file(t, acme, ""), s.file(t, acme, "")
		old, young := ada.claim(t, ""), ada.claim(t, `{"leaseSeconds":3600}`)
		done := ada.call(t, old, "complete", `"summary":"Done."`)
		done.Is(t, 200, "")
		s.clock.advance(time.Millisecond)
		later := ada.call(t, young, "handoff", `"note":"Which?"`)
		later.Is(t, 200, "")
		forget := func() {
			t.Helper()
			if _, err := s.retention.Run(t.Context()); err != nil {
				t.Error(err)
			}
		}
		s.clock.advance(30*24*time.Hour - time.Millisecond) // as long after the first
		forget()
		repeats(t, done, ada.call(t, old, "complete", `"summary":"Done."`))
		before, events := s.runOf(t, old), len(s.events(t, acme.ID))
		s.clock.advance(time.Millisecond)
		forget()
		stale(t, ada.call(t, old, "complete", `"summary":"Done."`), "completed", "review")
		repeats(t, later, ada.call(t, young, "handoff", `"note":"Which?"`))
		s.clock.advance(time.Millisecond)
		forget()
		stale(t, ada.call(t, young, "handoff", `"note":"Which?"`), "handed_off", "handoff")
		if diff := cmp.Diff(before, s.runOf(t, old)); diff != "" || len(s.events(t, acme.ID)) != events {
			t.Error(diff)
		}
		s.shows(t, first, "review, 1, agent")
		s.shows(t, second, "handoff, 1, agent")
	})
}
