package wiring_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
)

func TestAnAgentWorksOnAnIssueToItsEnd(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 1)
		ada, to := all[0], listen(t)
		s.subscribe(t, to, `,"events":["*"]`)
		s.Patch(ada.path(), `{"approvalPolicy":{"requires":["deploy"]}}`).Is(t, 200, "")
		above := s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`)
		s.moved(t, above, "handoff", `{"note":"Later."}`)
		filed := s.file(t, acme, `,"parentId":"`+above.ID+`","assignedTeamId":"`+sales.ID+`","priority":"high"`)
		s.clock.advance(time.Second)

		first := ada.claim(t, `{"leaseSeconds":60}`)
		want := apiLease{
			LeaseID: first.LeaseID, FencingToken: 1, ExpiresAt: "2026-04-11T12:01:01.000Z", LeaseSeconds: 60, Issue: s.look(t, filed),
			Run: apiRun{
				ID: first.Run.ID, CompanyID: acme.ID, IssueID: filed.ID, AgentID: ada.ID, Attempt: 1, Status: "running", FencingToken: 1,
				LeaseExpiresAt: new("2026-04-11T12:01:01.000Z"), StartedAt: "2026-04-11T12:00:01.000Z", CostUsd: "0",
			},
			WorkspacePath: "workspaces/" + acme.ID + "/issues/" + filed.ID, Requires: []string{"deploy"},
			Context: apiContext{
				Parents:  []apiIssue{{ID: above.ID, Number: 1, Title: "Write", Status: "handoff"}},
				Children: []apiIssue{}, Comments: []apiComment{}, Checkpoints: []apiCheckpoint{},
				FormerResult: json.RawMessage("null"),
			},
		}
		if diff := cmp.Diff(want, first); diff != "" || want.Issue.where() != "running, 1, agent" {
			t.Error(diff)
		}
		want.Context = apiContext{}
		for _, got := range []apiLease{ada.finds(t, first), resttest.Data[[]apiLease](t, ada.Get(leases))[0]} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		if live := resttest.Data[struct{ Leases int }](t, ada.Get(me)).Leases; live != 1 {
			t.Errorf("the agent has %d leases", live)
		}
		ada.idles(t)

		s.clock.advance(10 * time.Second)
		if state := ada.state(t, first, "checkpoint", `"note":"The tests pass.","data":{"tests": 12}`); state.PendingComments != 0 ||
			state.Lease.ExpiresAt != "2026-04-11T12:01:11.000Z" || state.Lease.ID != first.LeaseID || state.Lease.FencingToken != 1 {
			t.Errorf("%+v", state)
		}
		ada.call(t, first, "comment", `"body":"Which *prices*?"`).Is(t, 200, "")
		s.Post(filed.path()+"/comments", `{"body":"These."}`).Is(t, 200, "")
		if state := ada.state(t, first, "renew", ""); state.PendingComments != 1 {
			t.Errorf("%+v", state)
		}
		seen := resttest.Data[apiContext](t, ada.Get(first.path()+"/context"))
		if len(seen.Comments) != 2 || seen.Comments[0].Body != "Which *prices*?" || seen.Comments[0].Author != "agent:"+ada.ID ||
			len(seen.Checkpoints) != 1 || string(seen.Checkpoints[0].Data) != `{"tests":12}` {
			t.Errorf("%+v", seen)
		}
		if state := ada.state(t, first, "renew", ""); state.PendingComments != 0 {
			t.Errorf("what was shown is pending: %+v", state)
		}
		charged := ada.state(t, first, "costs", `"costs":[{"key":"a","kind":"llm","usd":0.0125},
			{"key":"b","kind":"llm","model":"m","tokens":{"input":1000,"output":2000,"cacheRead":3,"cacheWrite":4}}]`)
		if len(charged.Entries) != 2 || charged.Entries[0].Usd != "0.0125" || charged.Entries[1].Usd != "0.165105" ||
			!charged.Entries[1].Unpriced || charged.Late {
			t.Errorf("%+v", charged)
		}
		ended, run := ada.ends(t, first, "complete",
			`"result":{"url":"https://example.com","n":1.50},"summary":"Done.","costs":[{"key":"c","kind":"tools","usd":1}]`)
		if ended.where() != "review, 1, agent" || string(ended.Result) != `{"url":"https://example.com","n":1.50}` ||
			ended.Budget.SpentUsd != "1.177605" || run.Status != "succeeded" || run.CostUsd != "1.177605" || !run.CostReported ||
			run.CheckpointCount != 1 || run.LeaseExpiresAt != nil || run.FinishedAt == nil || run.Error != nil ||
			run.Tokens.Output != 2000 {
			t.Errorf("%+v %+v", ended, run)
		}
		ada.dead(t, first, "completed")
		if got := ada.finds(t, first); or(got.Reason) != "completed" || or(got.EndedAt) != "2026-04-11T12:00:11.000Z" {
			t.Errorf("%+v", got)
		}
		if none := resttest.Data[[]apiLease](t, ada.Get(leases)); len(none) != 0 {
			t.Errorf("%+v", none)
		}

		s.clock.advance(time.Second)
		s.moved(t, filed, "reject", `{"note":"Last year's prices."}`)
		s.shows(t, filed, "assigned, 2, agent")
		second := ada.claim(t, "")
		if second.FencingToken != 2 || second.Run.Attempt != 2 || second.LeaseSeconds != 300 || len(second.Context.Comments) != 4 ||
			second.Context.Comments[3].Body != "Last year's prices." || len(second.Context.Checkpoints) != 1 {
			t.Errorf("%+v", second)
		}
		stale(t, ada.call(t, first, "renew", ""), "completed", "running")
		ada.ends(t, second, "complete", `"result":null`)
		s.moved(t, filed, "accept", "")
		s.shows(t, filed, "done, 2, agent")
		if stats := resttest.Data[apiAgent](t, s.Get(ada.path())).Stats; stats.TasksCompleted != 1 || stats.TasksFailed != 0 ||
			*stats.AverageTaskUsd != "1.177605" {
			t.Errorf("%+v", stats)
		}

		runs := resttest.Data[[]apiRun](t, s.Get(filed.path()+"/runs"))
		if len(runs) != 2 || runs[0].ID != second.Run.ID || runs[1].ID != first.Run.ID || runs[0].Status != "succeeded" ||
			runs[1].Checkpoints != nil {
			t.Errorf("%+v", runs)
		}
		if alone := s.runOf(t, first); len(alone.Checkpoints) != 1 || alone.Checkpoints[0].Note != "The tests pass." {
			t.Errorf("%+v", alone)
		}
		s.Get(above.path()+"/runs/"+first.Run.ID).Is(t, 404, "not_found")
		send(s.Client, "GET", filed.path()+"/runs/run_1", "").Is(t, 404, "not_found")
		history := []string{"created", "started", "commented", "commented", "submitted", "rejected", "started", "submitted", "completed"}
		if diff := cmp.Diff(history, s.happened(t, acme, filed.ID)); diff != "" {
			t.Error(diff)
		}
		recorded := func(kind event.Type) func(event.Event) bool {
			return func(one event.Event) bool { return one.Type == kind && one.Actor == event.Actor("agent:"+ada.ID) }
		}
		if !slices.ContainsFunc(s.events(t, acme.ID), recorded("run.checkpointed")) {
			t.Error("the checkpoint is not recorded")
		}
		var sent []string
		await(t, "the last event", func() bool {
			sent = nil
			for _, one := range to.receipts() {
				if name, isIssue := strings.CutPrefix(one.Type, "issue."); isIssue && strings.Contains(string(one.body), filed.ID) {
					sent = append(sent, name)
				} else if strings.HasPrefix(one.Type, "run.") {
					t.Errorf("%s was sent", one.Type)
				}
			}
			return len(sent) >= len(history)
		})
		if diff := cmp.Diff(history, sent); diff != "" {
			t.Error(diff)
		}
	})
}

// Every way in which the agent itself ends its lease.
func TestAnEndingMovesTheIssueAndEndsTheRun(t *testing.T) {
	t.Parallel()
	const failure = `"error":{"code":"tests_failed","message":"3 of 12"}`
	for name, c := range map[string]struct {
		isNamed      bool   // ada is named for the issue; otherwise it is open to the team
		members      string // more members of the issue
		action, sent string
		issue        string // its state and attempt, and whether it has an agent
		run, code    string // the state of the run, and the code of its error
		event        string
		claimer      string        // who can claim it next: the same, any, or nobody
		early, after time.Duration // when nobody can claim it yet, and from when on
	}{
		"completed": {
			action: "complete", issue: "review, 1, agent", run: "succeeded", event: "submitted",
		},
		"completed without a review": {
			members: `,"requiresReview":false`, action: "complete", sent: `"result":[1]`,
			issue: "done, 1, agent", run: "succeeded", event: "completed",
		},
		"failed, attempts left": {
			action: "fail", sent: failure,
			issue: "queued, 2, agent", run: "failed", code: "tests_failed", event: "requeued failed", claimer: "the same",
			early: 8 * time.Second, after: 11 * time.Second,
		},
		"failed, to be retried": {
			isNamed: true, action: "fail", sent: failure + `,"retry":true,"retryAfter":0`,
			issue: "queued, 2, agent", run: "failed", code: "tests_failed", event: "requeued failed", claimer: "the same",
		},
		"failed, the last attempt": {
			members: `,"maxAttempts":1`, action: "fail", sent: failure,
			issue: "failed, 1, agent", run: "failed", code: "tests_failed", event: "failed failed",
		},
		"failed for good": {
			action: "fail", sent: failure + `,"retry":false`,
			issue: "failed, 1, agent", run: "failed", code: "tests_failed", event: "failed failed",
		},
		"failed for a while": {
			action: "fail", sent: failure + `,"retryAfter":60`,
			issue: "queued, 2, agent", run: "failed", code: "tests_failed", event: "requeued failed",
			claimer: "the same", early: time.Minute - time.Second, after: time.Minute,
		},
		"handed off": {
			action: "handoff", sent: `"note":"Which price?"`,
			issue: "handoff, 1, agent", run: "cancelled", code: "handed_off", event: "handed_off",
		},
		"released": {
			action: "release", issue: "queued, 1, nobody", run: "cancelled", code: "released", event: "requeued released", claimer: "any",
		},
		"released, but to be kept": {
			isNamed: true, action: "release", sent: `"note":"Stopping."`,
			issue: "queued, 1, agent", run: "cancelled", code: "released", event: "requeued released", claimer: "the same",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, sales, all := s.workers(t, 2)
				ada, bob := all[0], all[1]
				members := `,"assignedTeamId":"` + sales.ID + `"` + c.members
				if c.isNamed {
					members = `,"assignedAgentId":"` + ada.ID + `"` + c.members
				}
				filed := s.file(t, acme, members)
				lease := ada.claim(t, "")
				s.clock.advance(time.Second)
				ended, run := ada.ends(t, lease, c.action, c.sent)
				if ended.where() != c.issue || run.Status != c.run || or(run.FinishedAt) != "2026-04-11T12:00:01.000Z" {
					t.Errorf("%s, %+v", ended.where(), run)
				}
				if run.Error != nil && run.Error.Code != c.code || run.Error == nil && c.code != "" {
					t.Errorf("%+v", run.Error)
				}
				s.shows(t, filed, c.issue)
				if got := s.runOf(t, lease).Status; got != c.run {
					t.Errorf("the run is %s", got)
				}
				if events := s.happened(t, acme, filed.ID); events[len(events)-1] != c.event {
					t.Errorf("%v", events)
				}
				// A note is kept as a comment.
				comments := resttest.Data[[]apiComment](t, s.Get(filed.path()+"/comments"))
				if strings.Contains(c.sent, "note") != (len(comments) == 1) {
					t.Errorf("%+v", comments)
				}
				if c.after > 0 {
					s.clock.advance(c.early)
					ada.idles(t)
					s.clock.advance(c.after - c.early)
				}
				switch c.claimer {
				case "":
					ada.idles(t)
					bob.idles(t)
				case "the same":
					bob.idles(t)
					again := ada.claim(t, `{"wait":30}`)
					if again.FencingToken != 2 || again.Issue.Attempt != ended.Attempt {
						t.Errorf("%+v", again)
					}
					failed := again.Context.LastError
					if (failed != nil) != (c.action == "fail") || failed != nil && failed.Code != c.code {
						t.Errorf("%+v", again.Context)
					}
				default:
					bob.claim(t, "")
				}
				stats := resttest.Data[apiAgent](t, s.Get(ada.path())).Stats
				if (stats.TasksCompleted == 1) != (ended.Status == "done") || (stats.TasksFailed == 1) != (ended.Status == "failed") {
					t.Errorf("%+v", stats)
				}
			})
		})
	}
}

// Every way in which others end a lease.
func TestALeaseThatOthersEndedIsStale(t *testing.T) {
	t.Parallel()
	expire := func(t *testing.T, s *instance, lease apiLease, status string) {
		t.Helper()
		s.clock.advance(31 * time.Second)
		s.becomes(t, lease.Issue, status)
	}
	for name, c := range map[string]struct {
		isNamed   bool   // ada is named for the issue
		members   string // more members of the issue
		end       func(t *testing.T, s *instance, lease apiLease, ada worker, acme company)
		reason    string
		issue     string // its state and attempt, and whether it has an agent
		run, code string // the state of the run, and the code of its error
		event     string
	}{
		"cancelled": {
			end: func(t *testing.T, s *instance, lease apiLease, _ worker, _ company) {
				s.moved(t, lease.Issue, "cancel", `{"reason":"The fair was called off."}`)
			},
			reason: "cancelled", issue: "cancelled, 1, agent", run: "cancelled", code: "cancelled", event: "cancelled",
		},
		"cancelled with one above it": {
			end: func(t *testing.T, s *instance, lease apiLease, _ worker, _ company) {
				s.moved(t, apiIssue{ID: or(lease.Issue.ParentID), CompanyID: lease.Issue.CompanyID}, "cancel", "")
			},
			reason: "cancelled", issue: "cancelled, 1, agent", run: "cancelled", code: "cancelled", event: "cancelled",
		},
		"handed to a person": {
			end: func(t *testing.T, s *instance, lease apiLease, _ worker, _ company) {
				s.moved(t, lease.Issue, "handoff", `{"note":"Wait."}`)
			},
			reason: "handed_off", issue: "handoff, 1, agent", run: "cancelled", code: "handed_off", event: "handed_off",
		},
		"company archived": {
			end: func(t *testing.T, s *instance, _ apiLease, _ worker, acme company) {
				s.Post(acme.path()+"/archive", "").Is(t, 200, "")
				s.Post(acme.path()+"/restore", "").Is(t, 200, "")
			},
			reason: "company_archived", issue: "queued, 1, agent", run: "cancelled", code: "company_archived",
			event: "requeued company_archived",
		},
		"expired": {
			end: func(t *testing.T, s *instance, lease apiLease, _ worker, _ company) {
				expire(t, s, lease, "queued")
			},
			reason: "expired", issue: "queued, 2, nobody", run: "expired", code: "expired", event: "requeued expired",
		},
		"expired, but to be kept": {
			isNamed: true,
			end: func(t *testing.T, s *instance, lease apiLease, _ worker, _ company) {
				expire(t, s, lease, "queued")
			},
			reason: "expired", issue: "queued, 2, agent", run: "expired", code: "expired", event: "requeued expired",
		},
		"expired for the last time": {
			members: `,"maxAttempts":1`,
			end: func(t *testing.T, s *instance, lease apiLease, ada worker, _ company) {
				expire(t, s, lease, "failed")
				if stats := resttest.Data[apiAgent](t, s.Get(ada.path())).Stats; stats.TasksFailed != 1 {
					t.Errorf("%+v", stats)
				}
			},
			reason: "expired", issue: "failed, 1, agent", run: "expired", code: "expired", event: "failed expired",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 1)
				ada := all[0]
				above := s.moved(t, s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`), "handoff", `{"note":"n"}`)
				members := `,"parentId":"` + above.ID + `"` + c.members
				if c.isNamed {
					members += `,"assignedAgentId":"` + ada.ID + `"`
				}
				filed := s.file(t, acme, members)
				lease := ada.claim(t, `{"leaseSeconds":30}`)
				c.end(t, s, lease, ada, acme)
				s.shows(t, filed, c.issue)
				ada.dead(t, lease, c.reason)
				if run := s.runOf(t, lease); run.Status != c.run || run.Error == nil || run.Error.Code != c.code {
					t.Errorf("%+v", run)
				}
				events := s.happened(t, acme, filed.ID)
				if last := events[len(events)-1]; last != c.event {
					t.Errorf("%v", events)
				}
				if got := ada.finds(t, lease); or(got.Reason) != c.reason {
					t.Errorf("%+v", got)
				}
				// What was spent counts nevertheless.
				late := ada.state(t, lease, "costs", `"costs":[{"key":"k","kind":"tools","usd":0.5}]`)
				if !late.Late || s.look(t, filed).Budget.SpentUsd != "0.5" {
					t.Errorf("%+v", late)
				}
				if strings.HasPrefix(c.event, "requeued") {
					s.clock.advance(11 * time.Second) // beyond the delay after an attempt that expired
					if again := ada.claim(t, `{"wait":30}`); again.FencingToken != 2 {
						t.Errorf("%+v", again)
					}
				} else {
					ada.idles(t)
				}
			})
		})
	}
}

func TestALeaseOfARetiredAgentEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 2)
		ada, bob := all[0], all[1]
		filed := s.file(t, acme, `,"assignedTeamId":"`+sales.ID+`"`)
		lease := ada.claim(t, "")
		s.Post(ada.path()+"/retire", "").Is(t, 200, "")
		s.shows(t, filed, "queued, 1, nobody")
		ada.call(t, lease, "renew", "").Is(t, 401, "unauthorized")
		if run := s.runOf(t, lease); run.Status != "cancelled" || run.Error.Code != "agent_retired" {
			t.Errorf("%+v", run)
		}
		if again := bob.claim(t, ""); again.Issue.ID != filed.ID || again.FencingToken != 2 {
			t.Errorf("%+v", again)
		}
	})
}

func TestNoNewWorkIsGivenWhilePausedAndWhatRunsGoesOn(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		for range 4 {
			s.file(t, acme, "")
		}
		for pause, resume := range map[string]string{`{"workPaused":true}`: `{"workPaused":false}`, "/pause": "/resume"} {
			lease := ada.claim(t, "")
			change := func(how string) {
				t.Helper()
				if strings.HasPrefix(how, "/") {
					s.Post(ada.path()+how, "").Is(t, 200, "")
				} else {
					s.Patch(acme.path(), how).Is(t, 200, "")
				}
			}
			change(pause)
			ada.idles(t)
			for action, members := range lasting {
				ada.call(t, lease, action, members).Is(t, 200, "")
			}
			ada.ends(t, lease, "fail", ending["fail"])
			if strings.HasPrefix(pause, "/") {
				s.shows(t, lease.Issue, "queued, 2, nobody") // a paused agent keeps nothing
			}
			change(resume)
			ada.claim(t, "")
		}
	})
}

func TestAnArchivedCompanyTakesOnlyCostsAndReads(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, "")
		s.file(t, acme, "")
		done := ada.claim(t, "")
		first := ada.call(t, done, "complete", "")
		first.Is(t, 200, "")
		lease := ada.claim(t, "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		ada.Post(leases, "").Is(t, 409, "company_archived")
		for _, calls := range []map[string]string{lasting, ending} {
			for action, members := range calls {
				if action != "costs" {
					ada.call(t, lease, action, members).Is(t, 409, "company_archived")
				}
			}
		}
		ada.Post("/gateway/v1/issues", lease.body(`"title":"More","leaseId":"`+lease.LeaseID+`"`)).Is(t, 409, "company_archived")
		repeats(t, first, ada.call(t, done, "complete", ""))
		ada.state(t, lease, "costs", lasting["costs"])
		for _, path := range []string{
			leases, lease.path(), lease.path() + "/context", "/gateway/v1/issues/" + lease.Issue.ID, "/gateway/v1/agents", me,
			"/gateway/v1/issues/" + lease.Issue.ID + "/comments",
		} {
			ada.Get(path).Is(t, 200, "")
		}
		if live := resttest.Data[[]apiLease](t, ada.Get(leases)); len(live) != 0 {
			t.Errorf("%+v", live)
		}
	})
}

func TestADeletedCompanyIsGoneForItsAgents(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		ada.state(t, lease, "checkpoint", lasting["checkpoint"])
		ada.state(t, lease, "costs", lasting["costs"])
		s.Delete(acme.path())
		ada.call(t, lease, "renew", "").Is(t, 401, "unauthorized")
		await(t, "the end of the company", func() bool { return s.Get(acme.path()).Status == 404 })
		for _, table := range []string{"runs", "run_checkpoints", "cost_entries", "revocations"} {
			if left := scalar[int](t, beside(s.environ), "SELECT count(*) FROM "+table); left != 0 {
				t.Errorf("%d rows of %s are left", left, table)
			}
		}
	})
}

func TestAnEndingIsAnsweredOnceAndForAll(t *testing.T) {
	t.Parallel()
	for action, members := range ending {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 1)
				ada := all[0]
				s.file(t, acme, "")
				lease := ada.claim(t, "")
				first := ada.call(t, lease, action, members)
				first.Is(t, 200, "")
				if first.Header.Get("Idempotency-Replayed") != "" {
					t.Error("the first answer says that it is a repeat")
				}
				s.clock.advance(time.Hour)
				events := len(s.events(t, acme.ID))
				repeats(t, first, ada.call(t, lease, action, members))
				status := resttest.Data[struct{ Issue apiIssue }](t, first).Issue.Status
				reason := map[string]string{
					"complete": "completed", "fail": "failed", "handoff": "handed_off", "release": "released",
				}[action]
				for other, body := range ending {
					if other != action {
						stale(t, ada.call(t, lease, other, body), reason, status)
					}
				}
				stale(t, send(ada.Client, "POST", lease.path()+"/"+action, lease.body(members)+" "), reason, status)
				forged := lease
				forged.FencingToken++
				stale(t, ada.call(t, forged, action, members), reason, status)
				if got := len(s.events(t, acme.ID)); got != events {
					t.Errorf("%d events became %d", events, got)
				}
			})
		})
	}
}

func TestACompleteThatComesTooLateIsNotTakenButItsCostsAre(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		filed := s.file(t, acme, "")
		lease := ada.claim(t, `{"leaseSeconds":30}`)
		ada.state(t, lease, "checkpoint", `"note":"half"`)
		s.clock.advance(30 * time.Second) // the sweep may have come by or not
		answer := ada.call(t, lease, "complete", `"result":1,"costs":[{"key":"c","kind":"tools","usd":7}]`)
		answer.Is(t, 409, "stale_lease")
		if details(t, answer)["reason"] != "expired" {
			t.Errorf("%s", answer.Body)
		}
		s.becomes(t, filed, "queued")
		now := s.look(t, filed)
		if now.where() != "queued, 2, nobody" || string(now.Result) != "null" || now.Budget.SpentUsd != "0" {
			t.Errorf("%+v", now)
		}
		s.clock.advance(11 * time.Second) // beyond the delay after the attempt
		if next := ada.claim(t, `{"wait":30}`); len(next.Context.Checkpoints) != 1 || next.Context.LastError.Code != "expired" {
			t.Errorf("%+v", next.Context)
		}
		ada.state(t, lease, "costs", `"costs":[{"key":"c","kind":"tools","usd":7}]`)
		s.clock.advance(24*time.Hour - 12*time.Second)
		again := ada.state(t, lease, "costs", `"costs":[{"key":"c","kind":"tools","usd":7},{"key":"d","kind":"tools","usd":1}]`)
		if !again.Late || !again.Entries[0].Duplicate || again.Entries[1].Duplicate {
			t.Errorf("%+v", again)
		}
		if run := s.runOf(t, lease); run.Status != "expired" || run.CostUsd != "8" {
			t.Errorf("%+v", run)
		}
		s.clock.advance(2 * time.Second)
		ada.call(t, lease, "costs", `"costs":[{"key":"e","kind":"tools","usd":7}]`).Is(t, 409, "stale_lease")
	})
}

func TestLeasesSurviveAServerThatWasAway(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		filed := s.file(t, acme, "")
		lease := ada.claim(t, "")
		s.clock.advance(time.Hour)
		s = s.again(t)
		ada.Client = s.agent(t, ada.Token)
		await(t, "the grace", func() bool { return ada.call(t, lease, "renew", "").Status == 200 })
		if live := resttest.Data[[]apiLease](t, ada.Get(leases)); len(live) != 1 {
			t.Errorf("%+v", live)
		}
		ada.ends(t, lease, "complete", "")
		s.shows(t, filed, "review, 1, agent")
	})
}

func TestNobodyElseCanUseALease(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		_, stranger := s.employ(t, "other")
		s.file(t, acme, "")
		ada, bob := all[0], all[1]
		eve := worker{s.agent(t, stranger.Token), stranger, s}
		lease := ada.claim(t, "")
		before := ada.finds(t, lease)
		for _, other := range []worker{bob, eve} {
			for _, calls := range []map[string]string{lasting, ending} {
				for action, members := range calls {
					other.call(t, lease, action, members).Is(t, 404, "not_found")
				}
			}
			other.Get(lease.path()).Is(t, 404, "not_found")
			other.Get(lease.path()+"/context").Is(t, 404, "not_found")
			filed := other.Post("/gateway/v1/issues", lease.body(`"title":"More","leaseId":"`+lease.LeaseID+`"`))
			filed.Is(t, 422, "validation_failed")
			if got := wrong(filed); !slices.Equal(got, []string{"leaseId unknown_value"}) {
				t.Errorf("%v", got)
			}
		}
		for _, path := range []string{"/gateway/v1/issues/" + lease.Issue.ID, "/gateway/v1/issues/" + lease.Issue.ID + "/comments"} {
			bob.Get(path).Is(t, 200, "")
			eve.Get(path).Is(t, 404, "not_found")
		}
		send(ada.Client, "POST", leases+"/lse_1/renew", `{"fencingToken":1}`).Is(t, 404, "not_found")
		send(ada.Client, "GET", leases+"/"+lease.Issue.ID, "").Is(t, 404, "not_found")

		forged := lease
		for _, token := range []int64{2, 99} {
			forged.FencingToken = token
			for _, calls := range []map[string]string{lasting, ending} {
				for action, members := range calls {
					stale(t, ada.call(t, forged, action, members), "superseded", "running")
				}
			}
		}
		for _, calls := range []map[string]string{lasting, ending} {
			for action, members := range calls {
				for body, code := range map[string]string{
					"{" + members + "}": "required", strings.Replace(lease.body(members), ":1", ":0", 1): "out_of_range",
					lease.body(members)[:16] + `"1"` + lease.body(members)[17:]: "wrong_type",
				} {
					answer := send(ada.Client, "POST", lease.path()+"/"+action, body)
					answer.Is(t, 422, "validation_failed")
					if got := wrong(answer); !slices.Equal(got, []string{"fencingToken " + code}) {
						t.Errorf("%s %s: %v", action, body, got)
					}
				}
			}
		}
		if diff := cmp.Diff(before, ada.finds(t, lease)); diff != "" {
			t.Error(diff)
		}
		colleagues := resttest.Data[[]struct{ ID, Name, Role, TeamID, Status string }](t, ada.Get("/gateway/v1/agents"))
		if len(colleagues) != 2 || colleagues[0].ID != ada.ID || colleagues[1].TeamID != bob.TeamID {
			t.Errorf("%+v", colleagues)
		}
	})
}

// A call on a lease that has several faults is answered for the first of these: no such lease, an archived company, a stale lease, and
// then all fields at once.
func TestOfTheFaultsOfACallOnALeaseTheFirstIsAnswered(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		missing := map[string]string{
			"renew": "", "checkpoint": ",note required", "costs": ",costs required", "comment": ",body required", "complete": "",
			"fail": ",error.code required,error.message required", "handoff": ",note required", "release": "", "file": ",title required",
		}
		const file = "/gateway/v1/issues"
		calls := func(answers func(what string, send func(body string) resttest.Answer)) {
			t.Helper()
			for what := range missing {
				answers(what, func(body string) resttest.Answer {
					if what == "file" {
						return send(ada.Client, "POST", file, strings.Replace(body, "{", `{"leaseId":"`+lease.LeaseID+`",`, 1))
					}
					return send(ada.Client, "POST", lease.path()+"/"+what, body)
				})
			}
		}
		const token = `"fencingToken":1`
		lists := func(what string, answer resttest.Answer, want string) {
			t.Helper()
			answer.Is(t, 422, "validation_failed")
			got := wrong(answer)
			slices.Sort(got)
			wanted := strings.Split(want, ",")
			slices.Sort(wanted)
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		calls(func(what string, send func(body string) resttest.Answer) {
			lists(what, send(`{"x":1}`), "x unknown_field,fencingToken required"+missing[what])
			lists(what, send(`{"x":1,"fencingToken":0}`), "x unknown_field,fencingToken out_of_range"+missing[what])
			lists(what, send(`{"x":1,"fencingToken":"1"}`), "x unknown_field,fencingToken wrong_type"+missing[what])
			lists(what, send(`{"x":1,`+token+`}`), "x unknown_field"+missing[what])
			stale(t, send(`{"x":1,"fencingToken":2}`), "superseded", "running")
		})
		lists("file", send(ada.Client, "POST", file, `{"x":1}`), "x unknown_field,leaseId required,fencingToken required,title required")
		lists("file", send(ada.Client, "POST", file, `{"x":1,"leaseId":"lse_1",`+token+`,"priority":"x"}`),
			"x unknown_field,leaseId unknown_value,title required,priority unknown_value")
		ada.ends(t, lease, "complete", "")
		calls(func(what string, send func(body string) resttest.Answer) {
			if what != "costs" {
				stale(t, send(`{"x":1,`+token+`}`), "completed", "review")
			}
			lists(what, send(`{"x":1}`), "x unknown_field,fencingToken required"+missing[what])
		})
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		calls(func(what string, send func(body string) resttest.Answer) {
			if what == "costs" {
				lists(what, send(`{"x":1}`), "x unknown_field,fencingToken required"+missing[what])
				return
			}
			for _, body := range []string{`{"x":1}`, `{"x":1,` + token + `}`, `{"fencingToken":2}`} {
				send(body).Is(t, 409, "company_archived")
			}
		})
		send(ada.Client, "POST", file, `{"x":1,"leaseId":"lse_1"}`).Is(t, 409, "company_archived")
		for action := range missing {
			if action != "file" {
				send(ada.Client, "POST", leases+"/lse_1/"+action, `{"x":1}`).Is(t, 404, "not_found")
			}
		}
	})
}

func TestALostAnswerOfAClaimIsGivenAgain(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada, bob := all[0], all[1]
		for range 4 {
			s.file(t, acme, "")
		}
		claim := func(w worker, key string) apiLease {
			t.Helper()
			answer := once(w.In(t), key, leases, `{"leaseSeconds":30}`)
			answer.Is(t, 200, "")
			return resttest.Data[apiLease](t, answer)
		}
		first := claim(ada, "k")
		if again := claim(ada, "k"); again.LeaseID != first.LeaseID || again.Issue.Attempt != 1 {
			t.Errorf("%+v", again)
		}
		if other := claim(bob, "k"); other.LeaseID == first.LeaseID || other.Issue.Number != 2 {
			t.Errorf("%+v", other)
		}
		ada.ends(t, first, "complete", "")
		third := claim(ada, "k")
		if third.Issue.Number != 3 {
			t.Errorf("%+v", third)
		}
		s.clock.advance(30 * time.Second) // it has run out, swept or not
		next := claim(ada, "k")
		if next.LeaseID == third.LeaseID {
			t.Errorf("%+v", next)
		}
		if again := claim(ada, "k"); again.LeaseID != next.LeaseID {
			t.Errorf("%s and then %s", next.LeaseID, again.LeaseID)
		}
	})
}

func TestChargesCountOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		filed := s.file(t, acme, "")
		lease := ada.claim(t, "")
		const one, two = `{"key":"a","kind":"llm","usd":0.25,"billing":"subscription"}`, `{"key":"b","kind":"tools","usd":0.5}`
		ada.state(t, lease, "costs", `"costs":[`+one+`]`)
		again := ada.state(t, lease, "costs", `"costs":[`+one+`,`+two+`,`+two+`]`)
		if got := fmt.Sprint(again.Entries[0].Duplicate, again.Entries[1].Duplicate, again.Entries[2].Duplicate); got != "true false true" {
			t.Errorf("%+v", again)
		}
		conflict := ada.call(t, lease, "costs", `"costs":[{"key":"c","kind":"tools","usd":9},{"key":"a","kind":"llm","usd":0.26}]`)
		conflict.Is(t, 409, "idempotency_conflict")
		if details(t, conflict)["key"] != "a" {
			t.Errorf("%s", conflict.Body)
		}
		ada.call(t, lease, "complete", `"costs":[{"key":"a","kind":"tools","usd":9}]`).Is(t, 409, "idempotency_conflict")
		s.shows(t, filed, "running, 1, agent")
		if spent := s.look(t, filed).Budget.SpentUsd; spent != "0.75" {
			t.Errorf("%s was spent", spent)
		}
		_, run := ada.ends(t, lease, "complete", `"costs":[`+one+`]`)
		if run.CostUsd != "0.75" {
			t.Errorf("%+v", run)
		}
	})
}
