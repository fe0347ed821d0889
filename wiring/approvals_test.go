package wiring_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

// apiApproval is an approval as the APIs show it.
type apiApproval struct {
	ID, CompanyID, IssueID, RunID, AgentID, Status, ActionName, Action, Note, RequestedAt, ExpiresAt string

	Edits                json.RawMessage
	Parked               bool
	CommentCount         int
	DecidedBy, DecidedAt *string
	Comments             []struct{ Author, Body string }
}

func (a apiApproval) path() string { return "/v1/companies/" + a.CompanyID + "/approvals/" + a.ID }

// asked is the path of an approval at the gateway.
func (a apiApproval) asked() string { return "/gateway/v1/approvals/" + a.ID }

const deploying = `"actionName":"deploy.shop","action":"Deploy the shop"`

// asks asks for an approval.
func (w worker) asks(t *testing.T, on apiLease, members string) apiApproval {
	t.Helper()
	answer := w.call(t, on, "approval", deploying+members)
	answer.Is(t, 200, "")
	return resttest.Data[apiApproval](t, answer)
}

// decided decides an approval.
func (s *instance) decided(t *testing.T, a apiApproval, action, body string) apiApproval {
	t.Helper()
	answer := s.In(t).Post(a.path()+"/"+action, body)
	answer.Is(t, 200, "")
	return resttest.Data[apiApproval](t, answer)
}

// reads reads an approval.
func (s *instance) reads(t *testing.T, a apiApproval) apiApproval {
	t.Helper()
	answer := s.In(t).Get(a.path())
	answer.Is(t, 200, "")
	return resttest.Data[apiApproval](t, answer)
}

// waitsFor is what an issue waits for; empty: nothing.
func (s *instance) waitsFor(t *testing.T, of apiIssue) string {
	t.Helper()
	shown := resttest.Data[struct{ WaitingFor *string }](t, s.In(t).Get(of.path()))
	if shown.WaitingFor == nil {
		return ""
	}
	return *shown.WaitingFor
}

// expires ends approvals that are overdue now, whatever the job does.
func (s *instance) expires(t *testing.T) {
	t.Helper()
	_, err := s.work.ExpireApprovals(t.Context())
	must(t, err)
}

// became lists the events about a subject, oldest first.
func (s *instance) became(t *testing.T, in company, subject string) (types []string) {
	t.Helper()
	for _, e := range s.events(t, in.ID) {
		if e.Subject.ID == subject {
			types = append(types, string(e.Type))
		}
	}
	return types
}

var decisions = map[string]struct{ body, status, event string }{
	"approve":            {`{"note":"Yes"}`, "approved", "approval.approved"},
	"approve-with-edits": {`{"edits":{"when":"at night"}}`, "approved_with_edits", "approval.approved"},
	"deny":               {`{"note":"No"}`, "denied", "approval.denied"},
}

func TestAPersonDecidesWhatAnAgentAsksFor(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada, eve := all[0], all[1]
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		for action, c := range decisions {
			for _, isAsked := range []bool{false, true} {
				a := ada.asks(t, lease, `,"expiresIn":3600`)
				if a.Status != "pending" || a.RunID != lease.Run.ID || a.Parked {
					t.Errorf("%+v", a)
				}
				if isAsked {
					a = s.decided(t, a, "comment", `{"body":"Why?"}`)
					if a.Status != "asked_question" || len(a.Comments) != 1 {
						t.Errorf("%+v", a)
					}
				}
				decided := s.decided(t, a, action, c.body)
				if decided.Status != c.status || decided.DecidedBy == nil || !strings.HasPrefix(*decided.DecidedBy, "token:tok_") ||
					decided.DecidedAt == nil {
					t.Errorf("%s: %+v", action, decided)
				}
				for other, o := range decisions {
					refused := s.In(t).Post(a.path()+"/"+other, o.body)
					refused.Is(t, 409, "invalid_transition")
					if got := details(t, refused); got["from"] != c.status || got["action"] != other {
						t.Errorf("%s", refused.Body)
					}
				}
				ada.Post(a.asked()+"/answer", `{"body":"Late"}`).Is(t, 409, "invalid_transition")
				kept := s.decided(t, a, "comment", `{"body":"After all"}`)
				if kept.Status != c.status || kept.CommentCount != len(kept.Comments) || kept.CommentCount != a.CommentCount+1 {
					t.Errorf("%+v", kept)
				}
				got := s.became(t, acme, a.ID)
				if got[0] != "approval.requested" || !slices.Contains(got, c.event) || got[len(got)-1] != "approval.commented" {
					t.Errorf("%s: %v", action, got)
				}
				answer := ada.Get(a.asked())
				answer.Is(t, 200, "")
				if seen := resttest.Data[apiApproval](t, answer); seen.Status != c.status || len(seen.Comments) != kept.CommentCount {
					t.Errorf("the agent sees %+v", seen)
				}
				eve.Get(a.asked()).Is(t, 404, "not_found")
				eve.Post(a.asked()+"/answer", `{"body":"Me"}`).Is(t, 404, "not_found")
			}
		}
		a := s.decided(t, ada.asks(t, lease, ""), "comment", `{"body":"Why?"}`)
		answered := ada.Post(a.asked()+"/answer", `{"body":"Because"}`)
		answered.Is(t, 200, "")
		if got := resttest.Data[apiApproval](t, answered); got.Status != "pending" || got.Comments[1].Author != "agent:"+ada.ID {
			t.Errorf("%+v", got)
		}
		send(s.In(t), "POST", a.path()+"/deny", `{}`).Is(t, 422, "validation_failed")
		send(s.In(t), "POST", a.path()+"/approve-with-edits", `{"edits":null}`).Is(t, 422, "validation_failed")
		malformed := lease.body(`"action":" ","expiresIn":59,"sideEffects":["a",""]`)
		send(ada.In(t), "POST", lease.path()+"/approval", malformed).Is(t, 422, "validation_failed")
		eve.call(t, lease, "approval", deploying).Is(t, 404, "not_found")
		for range 19 {
			ada.asks(t, lease, "")
		}
		ada.call(t, lease, "approval", deploying).Is(t, 422, "too_many")
		for filter, want := range map[string]int{
			"": 26, "?status=pending": 20, "?status=denied,approved": 4, "?agent=" + ada.ID: 26, "?agent=" + eve.ID: 0,
			"?issue=" + lease.Issue.ID + "&status=pending,asked_question": 20, "?team=sales": 26, "?until=2020-01-01T00:00:00Z": 0,
		} {
			found := s.In(t).Get(acme.path() + "/approvals" + filter)
			found.Is(t, 200, "")
			if got := len(resttest.Data[[]apiApproval](t, found)); got != want {
				t.Errorf("%q: %d, want %d", filter, got, want)
			}
		}
		s.In(t).Get(acme.path()+"/approvals?issue=iss_1").Is(t, 404, "not_found")
	})
}

func TestAParkedIssueComesBackWhateverBecomesOfTheApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then   func(t *testing.T, s *instance, ada worker, a apiApproval)
		status string // of the approval
		issue  string
	}{
		"approved": {func(t *testing.T, s *instance, _ worker, a apiApproval) {
			s.decided(t, a, "approve", "")
		}, "approved", "assigned, 1, agent"},
		"edited": {func(t *testing.T, s *instance, _ worker, a apiApproval) {
			s.decided(t, a, "approve-with-edits", `{"edits":[1]}`)
		}, "approved_with_edits", "assigned, 1, agent"},
		"denied": {func(t *testing.T, s *instance, _ worker, a apiApproval) {
			s.decided(t, a, "deny", `{"note":"No"}`)
		}, "denied", "assigned, 1, agent"},
		"expired": {func(t *testing.T, s *instance, _ worker, _ apiApproval) {
			s.clock.advance(4 * time.Hour)
			s.expires(t)
		}, "expired", "assigned, 1, agent"},
		"approved, but the agent is paused": {func(t *testing.T, s *instance, ada worker, a apiApproval) {
			s.Post(ada.path()+"/pause", "").Is(t, 200, "")
			s.decided(t, a, "approve", "")
			s.Post(ada.path()+"/resume", "").Is(t, 200, "")
		}, "approved", "queued, 1, nobody"},
		"answered while parked, then approved": {func(t *testing.T, s *instance, ada worker, a apiApproval) {
			s.decided(t, a, "comment", `{"body":"Why?"}`)
			ada.In(t).Post(a.asked()+"/answer", `{"body":"So"}`).Is(t, 200, "")
			s.decided(t, a, "approve", "")
		}, "approved", "assigned, 1, agent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 1)
				ada := all[0]
				filed := s.file(t, acme, "")
				lease := ada.claim(t, "")
				a := ada.asks(t, lease, `,"park":true`)
				if a.Status != "pending" || !a.Parked {
					t.Errorf("%+v", a)
				}
				repeated := ada.call(t, lease, "approval", deploying+`,"park":true`)
				repeated.Is(t, 200, "")
				if resttest.Data[apiApproval](t, repeated).ID != a.ID || repeated.Header.Get("Idempotency-Replayed") != "true" {
					t.Errorf("%s", repeated.Body)
				}
				s.shows(t, filed, "handoff, 1, agent")
				if got := s.waitsFor(t, filed); got != a.ID {
					t.Errorf("it waits for %q", got)
				}
				if run := s.runOf(t, lease); run.Status != "cancelled" || run.Error.Code != "parked" {
					t.Errorf("%+v", run)
				}
				stale(t, ada.call(t, lease, "renew", ""), "parked", "handoff")
				c.then(t, s, ada, a)
				s.shows(t, filed, c.issue)
				if got := s.reads(t, a).Status; got != c.status || s.waitsFor(t, filed) != "" {
					t.Errorf("the approval is %s", got)
				}
				again := ada.claim(t, "")
				context := resttest.Data[struct{ Approvals []apiApproval }](t, ada.Get(again.path()+"/context"))
				if len(context.Approvals) != 1 || context.Approvals[0].Status != c.status || again.Issue.ID != filed.ID {
					t.Errorf("%+v", context)
				}
				want := []string{"created", "started", "handed_off", "assigned", "started"}
				if diff := cmp.Diff(want, s.happened(t, acme, filed.ID)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestWhatNobodyWaitsForExpires(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		isParked bool
		end      func(t *testing.T, s *instance, acme company, ada, eve worker, lease apiLease)
		issue    string
	}{
		"completed": {false, func(t *testing.T, _ *instance, _ company, ada, _ worker, lease apiLease) {
			ada.ends(t, lease, "complete", "")
		}, "review"},
		"failed": {false, func(t *testing.T, _ *instance, _ company, ada, _ worker, lease apiLease) {
			ada.ends(t, lease, "fail", ending["fail"])
		}, "queued"},
		"released": {false, func(t *testing.T, _ *instance, _ company, ada, _ worker, lease apiLease) {
			ada.ends(t, lease, "release", "")
		}, "queued"},
		"handed off by a person": {false, func(t *testing.T, s *instance, _ company, _, _ worker, lease apiLease) {
			s.moved(t, lease.Issue, "handoff", `{"note":"n"}`)
		}, "handoff"},
		"run out": {false, func(t *testing.T, s *instance, _ company, _, _ worker, _ apiLease) {
			s.passes(t, 6*time.Minute)
		}, "queued"},
		"cancelled": {false, func(t *testing.T, s *instance, _ company, _, _ worker, lease apiLease) {
			s.moved(t, lease.Issue, "cancel", "")
		}, "cancelled"},
		"archived": {false, func(t *testing.T, s *instance, acme company, _, _ worker, _ apiLease) {
			s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		}, "queued"},
		"retired": {false, func(t *testing.T, s *instance, _ company, ada, _ worker, _ apiLease) {
			s.Post(ada.path()+"/retire", "").Is(t, 200, "")
		}, "queued"},
		"parked, and cancelled": {true, func(t *testing.T, s *instance, _ company, _, _ worker, lease apiLease) {
			s.moved(t, lease.Issue, "cancel", "")
		}, "cancelled"},
		"parked, and assigned": {true, func(t *testing.T, s *instance, _ company, _, eve worker, lease apiLease) {
			s.moved(t, lease.Issue, "assign", `{"agentId":"`+eve.ID+`"}`)
		}, "assigned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 2)
				ada, eve := all[0], all[1]
				filed := s.file(t, acme, "")
				lease := ada.claim(t, "")
				asked := []apiApproval{ada.asks(t, lease, ""), ada.asks(t, lease, "")}
				s.decided(t, asked[1], "comment", `{"body":"Why?"}`)
				decided := s.decided(t, ada.asks(t, lease, ""), "approve", "")
				if c.isParked {
					asked = append(asked, ada.asks(t, lease, `,"park":true`))
				}
				c.end(t, s, acme, ada, eve, lease)
				s.becomes(t, filed, c.issue)
				for _, a := range asked {
					if got := s.reads(t, a); got.Status != "expired" || got.DecidedBy != nil || got.DecidedAt == nil {
						t.Errorf("%+v", got)
					}
					events := s.became(t, acme, a.ID)
					if events[len(events)-1] != "approval.expired" {
						t.Errorf("%v", events)
					}
				}
				if got := s.reads(t, decided).Status; got != "approved" || s.waitsFor(t, filed) != "" {
					t.Errorf("what was decided is %s", got)
				}
			})
		})
	}
}

func TestAParkedIssueOutlivesItsAgentAndAnArchive(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada, eve := all[0], all[1]
		one, two := s.file(t, acme, ""), s.file(t, acme, "")
		first := ada.asks(t, ada.claim(t, ""), `,"park":true`)
		second := eve.asks(t, eve.claim(t, ""), `,"park":true`)
		s.Post(ada.path()+"/retire", "").Is(t, 200, "")
		s.shows(t, one, "handoff, 1, agent")
		s.decided(t, first, "approve", "")
		s.shows(t, one, "queued, 1, nobody")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.In(t).Post(second.path()+"/approve", "").Is(t, 409, "company_archived")
		eve.Post(second.asked()+"/answer", `{"body":"b"}`).Is(t, 409, "company_archived")
		eve.Get(second.asked()).Is(t, 200, "")
		s.In(t).Post(acme.path()+"/approval-rules", `{"actionName":"*","decision":"deny"}`).Is(t, 409, "company_archived")
		s.clock.advance(4 * time.Hour)
		s.expires(t)
		if got := s.reads(t, second).Status; got != "expired" {
			t.Errorf("the approval is %s", got)
		}
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		s.shows(t, two, "assigned, 1, agent")
		if lease := eve.claim(t, ""); lease.Issue.ID != one.ID && lease.Issue.ID != two.ID {
			t.Errorf("%+v", lease)
		}
	})
}

func TestWhatTakesAnApprovalIsRefusedWithoutOne(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, _ := s.workers(t, 0)
		s.Patch(sales.path(), `{"headcount":1}`).Is(t, 200, "")
		hired := s.hire(t, sales, `,"approvalPolicy":{"requires":["issue.create","issue.complete"]}`)
		ada := worker{s.agent(t, hired.Token), hired, s}
		s.file(t, acme, `,"requiresReview":false,"maxAttempts":3`)
		lease := ada.claim(t, "")
		files := func(lease apiLease) resttest.Answer {
			return ada.Post("/gateway/v1/issues", lease.body(`"title":"More","leaseId":"`+lease.LeaseID+`"`))
		}
		refused := func(answer resttest.Answer, action string) {
			t.Helper()
			answer.Is(t, 403, "approval_required")
			if got := details(t, answer)["actionName"]; got != action {
				t.Errorf("%s", answer.Body)
			}
		}
		asks := func(lease apiLease, action, members string) apiApproval {
			t.Helper()
			answer := ada.call(t, lease, "approval", `"actionName":"`+action+`","action":"It"`+members)
			answer.Is(t, 200, "")
			return resttest.Data[apiApproval](t, answer)
		}
		refused(files(lease), "issue.create")
		refused(ada.call(t, lease, "complete", ""), "issue.complete")
		create := asks(lease, "issue.create", "")
		refused(files(lease), "issue.create")
		s.decided(t, create, "approve", "")
		files(lease).Is(t, 201, "")
		files(lease).Is(t, 201, "")
		refused(ada.call(t, lease, "complete", ""), "issue.complete")
		s.decided(t, asks(lease, "issue.complete", ""), "deny", `{"note":"No"}`)
		refused(ada.call(t, lease, "complete", ""), "issue.complete")

		// What was approved goes on in the run after a parked one, and not after a failed one.
		s.decided(t, asks(lease, "issue.complete", `,"park":true`), "approve-with-edits", `{"edits":"Say why."}`)
		lease = ada.claim(t, "")
		files(lease).Is(t, 201, "")
		ada.ends(t, lease, "fail", ending["fail"])
		lease = ada.claim(t, "")
		refused(files(lease), "issue.create")
		refused(ada.call(t, lease, "complete", ""), "issue.complete")
		s.decided(t, asks(lease, "issue.complete", `,"park":true`), "approve", "")
		lease = ada.claim(t, "")
		if done, _ := ada.ends(t, lease, "complete", ""); done.Status != "done" {
			t.Errorf("%+v", done)
		}
	})
}

func TestRulesDecideAtOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 2)
		ada := all[0]
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		rules := acme.path() + "/approval-rules"
		type rule struct{ ID, ActionName, Decision string }
		makes := func(members string) rule {
			t.Helper()
			answer := s.In(t).Post(rules, `{`+members+`}`)
			answer.Is(t, 201, "")
			s.clock.advance(time.Millisecond)
			return resttest.Data[rule](t, answer)
		}
		decides := func(members, want string) {
			t.Helper()
			a := ada.asks(t, lease, members)
			got := a.Status
			if a.DecidedBy != nil {
				got += " " + *a.DecidedBy
			}
			if got != want {
				t.Errorf("%s: %s, want %s", members, got, want)
			}
		}
		decides("", "pending")
		open := makes(`"actionName":"deploy.*","decision":"approve"`)
		decides(`,"park":true`, "approved rule:"+open.ID) // and the lease goes on
		ada.state(t, lease, "renew", "")
		cheap := makes(`"actionName":"*","maxUsd":5,"decision":"deny"`)
		decides(`,"cost":{"usd":5}`, "denied rule:"+cheap.ID)
		decides(`,"cost":{"usd":5.000001}`, "approved rule:"+open.ID)
		decides("", "approved rule:"+open.ID)
		team := makes(`"actionName":"deploy.shop","teamId":"` + sales.ID + `","decision":"deny"`)
		decides("", "denied rule:"+team.ID)
		own := makes(`"actionName":"deploy.*","agentId":"` + ada.ID + `","decision":"approve",` +
			`"expiresAt":"` + s.ahead(t, time.Minute) + `"`)
		decides("", "approved rule:"+own.ID)
		s.clock.advance(time.Minute)
		decides("", "denied rule:"+team.ID)
		for _, body := range []string{
			`{}`, `{"actionName":"a*b","decision":"approve"}`, `{"actionName":"a","decision":"maybe"}`,
			`{"actionName":"a","decision":"deny","agentId":"` + sales.ID + `"}`,
		} {
			send(s.In(t), "POST", rules, body).Is(t, 422, "validation_failed")
		}
		found := s.In(t).Get(rules)
		found.Is(t, 200, "")
		if got := resttest.Data[[]rule](t, found); len(got) != 4 || got[0].ID != own.ID {
			t.Errorf("%+v", got)
		}
		s.In(t).Get(rules+"/"+team.ID).Is(t, 200, "")
		s.In(t).Delete(rules+"/"+team.ID).Is(t, 200, "")
		s.In(t).Delete(rules+"/"+team.ID).Is(t, 404, "not_found")
		s.In(t).Get(rules+"/"+team.ID).Is(t, 404, "not_found")
		decides("", "approved rule:"+open.ID)
		events := s.became(t, acme, open.ID)
		if diff := cmp.Diff([]string{"approval.rule.created"}, events); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"approval.rule.created", "approval.rule.deleted"}, s.became(t, acme, team.ID)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnAgentWaitsForADecisionWithItsLease(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		waits := func(a apiApproval, want string, then func()) {
			t.Helper()
			answered := make(chan resttest.Answer, 1)
			go func() { answered <- ada.Get(a.asked() + "?wait=30") }()
			await(t, "the wait", func() bool { return s.deciding() == 1 })
			then()
			select {
			case answer := <-answered:
				answer.Is(t, 200, "")
				if got := resttest.Data[apiApproval](t, answer).Status; got != want {
					t.Errorf("it is %s, want %s", got, want)
				}
			case <-time.After(25 * time.Second):
				t.Error("nobody told it")
			}
		}
		a, other := ada.asks(t, lease, ""), ada.asks(t, lease, "")
		waits(a, "asked_question", func() {
			s.decided(t, other, "approve", "")
			s.decided(t, a, "comment", `{"body":"Why?"}`)
		})
		ada.Get(a.asked()+"?wait=30").Is(t, 200, "") // it is not pending: there is nothing to wait for
		ada.Post(a.asked()+"/answer", `{"body":"So"}`).Is(t, 200, "")
		waits(a, "approved", func() { s.decided(t, a, "approve", "") })
		last := ada.asks(t, lease, "")
		waits(last, "expired", func() { s.moved(t, lease.Issue, "cancel", "") })
		send(ada.In(t), "GET", a.asked()+"?wait=31", "").Is(t, 400, "invalid_parameter")

		s.file(t, acme, "")
		lease = ada.claim(t, `{"leaseSeconds":60}`)
		a = ada.asks(t, lease, "")
		before := ada.finds(t, lease).ExpiresAt
		s.clock.advance(10 * time.Second)
		ada.Get(a.asked()).Is(t, 200, "")
		if after := ada.finds(t, lease).ExpiresAt; after <= before {
			t.Errorf("the lease ran out at %s, and then at %s", before, after)
		}
	})
}

func TestWhoWaitsForADecisionIsRefusedWhenItsTokenEnds(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"rotate-token", "retire"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, _, all := s.workers(t, 1)
				ada := all[0]
				s.file(t, acme, "")
				lease := ada.claim(t, "")
				a := ada.asks(t, lease, "")
				answered := make(chan resttest.Answer, 1)
				go func() { answered <- ada.Get(a.asked() + "?wait=30") }()
				await(t, "the wait", func() bool { return s.deciding() == 1 })
				s.Post(ada.path()+"/"+end, "").Is(t, 200, "")
				refused := <-answered
				refused.Is(t, 401, "unauthorized")
			})
		})
	}
}

func TestOfTwoDecisionsAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		racesOfDecisions(t, acme, all[0], s, s)
	})
}

func TestOfDecisionsAtTwoServersOneCountsOnPostgres(t *testing.T) {
	t.Parallel()
	environ := []string{
		dataDir + t.TempDir(), databaseURL + postgrestest.URL(t), "HOLDCO_KEY_FILE=" + filepath.Join(t.TempDir(), "key"),
	}
	one, two := start(t, newClock(), environ...), start(t, newClock(), environ...)
	acme, _, all := one.workers(t, 1)
	racesOfDecisions(t, acme, all[0], one, two)

	// Who waits at one server is told of what is decided at the other.
	one.file(t, acme, "")
	ada := all[0]
	a := ada.asks(t, ada.claim(t, ""), "")
	answered := make(chan resttest.Answer, 1)
	go func() { answered <- ada.Get(a.asked() + "?wait=30") }()
	await(t, "the wait", func() bool { return one.deciding() == 1 })
	two.decided(t, a, "approve", "")
	select {
	case answer := <-answered:
		if got := resttest.Data[apiApproval](t, answer).Status; got != "approved" {
			t.Errorf("it is %s", got)
		}
	case <-time.After(25 * time.Second):
		t.Error("nobody told it")
	}
}

// racesOfDecisions lets two people decide at once, at two servers of one store, and decisions compete with what else ends approvals.
func racesOfDecisions(t *testing.T, acme company, ada worker, one, two *instance) {
	t.Helper()
	const rounds = 4
	for n := range rounds {
		one.file(t, acme, "")
		lease := ada.claim(t, "")
		a := ada.asks(t, lease, "")
		both := race(
			func() resttest.Answer { return one.Post(a.path()+"/approve", "") },
			func() resttest.Answer { return two.Post(a.path()+"/deny", `{"note":"No"}`) },
		)
		want := map[bool]string{true: "approved", false: "denied"}[both[0].Status == 200]
		if got := one.reads(t, a).Status; both[0].Status+both[1].Status != 200+409 || got != want {
			t.Errorf("%d and %d: %s", both[0].Status, both[1].Status, got)
		}

		// The run ends while it is decided.
		a = ada.asks(t, lease, "")
		both = race(
			func() resttest.Answer { return ada.call(t, lease, "complete", "") },
			func() resttest.Answer { return two.Post(a.path()+"/approve", "") },
		)
		both[0].Is(t, 200, "")
		want = map[bool]string{true: "approved", false: "expired"}[both[1].Status == 200]
		if got := one.reads(t, a).Status; got != want {
			t.Errorf("%d: %s", both[1].Status, got)
		}

		// It expires while it is decided, and while its issue is given to somebody else.
		filed := one.file(t, acme, "")
		a = ada.asks(t, ada.claim(t, ""), `,"park":true,"expiresIn":60`)
		var other resttest.Answer
		both = race(
			func() resttest.Answer { return two.Post(a.path()+"/approve", "") },
			func() resttest.Answer {
				if n%2 == 0 {
					return one.Post(filed.path()+"/assign", `{"agentId":"`+ada.ID+`"}`)
				}
				one.clock.advance(time.Minute)
				two.clock.advance(time.Minute)
				_, err := one.work.ExpireApprovals(t.Context())
				must(t, err)
				return other
			},
		)
		want = map[bool]string{true: "approved", false: "expired"}[both[0].Status == 200]
		await(t, "the end of the approval", func() bool { return one.reads(t, a).Status == want })
		one.shows(t, filed, "assigned, 1, agent")
		ada.ends(t, ada.claim(t, ""), "complete", "")

		// A rule is deleted while it decides.
		one.file(t, acme, "")
		lease = ada.claim(t, "")
		rules := acme.path() + "/approval-rules"
		made := resttest.Data[struct{ ID string }](t, one.Post(rules, `{"actionName":"*","decision":"deny"}`))
		both = race(
			func() resttest.Answer { return ada.call(t, lease, "approval", deploying) },
			func() resttest.Answer { return two.Delete(rules + "/" + made.ID) },
		)
		got := resttest.Data[apiApproval](t, both[0])
		if both[1].Status != 200 || got.Status != "pending" && (got.Status != "denied" || *got.DecidedBy != "rule:"+made.ID) {
			t.Errorf("%d: %+v", both[1].Status, got)
		}
		ada.ends(t, lease, "complete", "")
	}
}

func TestWhatAnAgentAsksForIsMadeOncePerKey(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		path, body := lease.path()+"/approval", lease.body(deploying)
		first := send(ada.In(t), "POST", path, body, "Idempotency-Key", "k")
		second := send(ada.In(t), "POST", path, body, "Idempotency-Key", "k")
		second.Is(t, 200, "")
		a := resttest.Data[apiApproval](t, first)
		if resttest.Data[apiApproval](t, second).ID != a.ID || second.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s", second.Body)
		}
		send(ada.In(t), "POST", path, lease.body(deploying+`,"park":true`), "Idempotency-Key", "k").Is(t, 409, "idempotency_conflict")
		for range 2 {
			send(s.In(t), "POST", a.path()+"/deny", `{"note":"No"}`, "Idempotency-Key", "d").Is(t, 200, "")
			send(s.In(t), "POST", a.path()+"/comment", `{"body":"No"}`, "Idempotency-Key", "c").Is(t, 200, "")
		}
		if got := s.reads(t, a); got.CommentCount != 1 {
			t.Errorf("%+v", got)
		}
		tag := s.In(t).Get(a.path()).Header.Get("ETag")
		send(s.In(t), "POST", ada.asks(t, lease, "").path()+"/approve", "", "If-Match", tag).Is(t, 412, "precondition_failed")
	})
}

func TestModelsAskThroughTools(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		m := s.connect(t, ada.Token)
		s.file(t, acme, "")
		lease := m.calls("claim", nil)["lease"].(string)
		asked := m.calls("request_approval", map[string]any{
			"lease": lease, "actionName": "deploy", "action": "Deploy", "cost": map[string]any{"usd": 0.5}, "sideEffects": []string{"a"},
		})
		a := apiApproval{ID: fmt.Sprint(asked["id"]), CompanyID: acme.ID}
		if asked["status"] != "pending" || asked["lease"] != lease {
			t.Errorf("%v", asked)
		}
		s.decided(t, a, "comment", `{"body":"Why?"}`)
		if got := m.calls("check_approval", map[string]any{"approvalId": a.ID, "wait": 25}); got["status"] != "asked_question" {
			t.Errorf("%v", got)
		}
		if got := m.calls("answer_question", map[string]any{"approvalId": a.ID, "body": "So"}); got["status"] != "pending" {
			t.Errorf("%v", got)
		}
		m.refused("validation_failed", "check_approval", map[string]any{"approvalId": a.ID, "wait": 26})
		m.refused("validation_failed", "check_approval", map[string]any{"approvalId": a.ID, "wait": -1})
		m.refused("not_found", "check_approval", map[string]any{"approvalId": "apr_1/../../leases"})
		m.refused("validation_failed", "check_approval", map[string]any{})
		parked := m.calls("request_approval", map[string]any{"lease": lease, "actionName": "buy", "action": "Buy", "park": true})
		if parked["status"] != "pending" || parked["parked"] != true {
			t.Errorf("%v", parked)
		}
		m.refused("stale_lease", "renew", map[string]any{"lease": lease})
	})
}
