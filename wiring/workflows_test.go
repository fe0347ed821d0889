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
	"holdco/domain/budget"
	"holdco/domain/id"
)

// apiWorkflow is a workflow as the API shows it.
type apiWorkflow struct {
	ID, CompanyID, Name, Slug, Description, CreatedAt, UpdatedAt string

	Version int
	Budget  *struct{ Usd json.Number }
	Steps   []struct {
		Key, Title, Instructions, Gate string
		Team                           *string
	}
}

func (w apiWorkflow) path() string { return "/v1/companies/" + w.CompanyID + "/workflows/" + w.ID }

// designs makes a workflow of a company, with a step for each gate.
func (s *instance) designs(t *testing.T, in company, members string, gates ...string) apiWorkflow {
	t.Helper()
	answer := s.In(t).Post(in.path()+"/workflows", `{"name":"Newsletter","steps":`+stepsWith(gates...)+members+`}`)
	answer.Is(t, 201, "")
	return resttest.Data[apiWorkflow](t, answer)
}

// stepsWith are steps s1, s2 ... with gates.
func stepsWith(gates ...string) string {
	steps := make([]string, len(gates))
	for n, gate := range gates {
		steps[n] = fmt.Sprintf(`{"key":"s%d","title":"Step %d","instructions":"Do %d.","gate":"%s"}`, n+1, n+1, n+1, gate)
	}
	return "[" + strings.Join(steps, ",") + "]"
}

// sets files an issue with a workflow, and returns it with its steps.
func (s *instance) sets(t *testing.T, in company, flow apiWorkflow, members string) (container apiIssue, steps []apiIssue) {
	t.Helper()
	container = s.file(t, in, `,"workflowId":"`+flow.ID+`"`+members)
	return container, s.stepsOf(t, container)
}

// stepsOf are the issues below a container, in the order in which they were filed.
func (s *instance) stepsOf(t *testing.T, container apiIssue) []apiIssue {
	t.Helper()
	answer := s.In(t).Get("/v1/companies/" + container.CompanyID + "/issues?limit=200&parent=" + container.ID)
	answer.Is(t, 200, "")
	steps := resttest.Data[[]apiIssue](t, answer)
	slices.SortFunc(steps, func(a, b apiIssue) int { return a.Number - b.Number })
	return steps
}

// stand fails the test unless a container and its steps have these states.
func (s *instance) stand(t *testing.T, container apiIssue, want string) {
	t.Helper()
	states := []string{s.look(t, container).Status + ":"}
	for _, step := range s.stepsOf(t, container) {
		states = append(states, step.Status)
	}
	if got := strings.Join(states, " "); got != want {
		t.Errorf("it stands %q, want %q", got, want)
	}
}

func TestAWorkflowIsMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":0}`)
		all := acme.path() + "/workflows"
		answer := s.Post(all, `{"name":"News letter","description":"Weekly.","budget":{"usd":2.5},"steps":[`+
			`{"key":"write","title":"Write","instructions":"300 words.","team":"sales","gate":"review"},`+
			`{"key":"send","title":"Send","team":"`+sales.ID+`"},{"key":"rest","title":"Rest","team":null}]}`)
		answer.Is(t, 201, "")
		flow := resttest.Data[apiWorkflow](t, answer)
		if answer.Header.Get("Location") != flow.path() || answer.Header.Get("ETag") != `"1"` {
			t.Errorf("%v", answer.Header)
		}
		if flow.Slug != "news-letter" || flow.Version != 1 || flow.Budget.Usd != "2.5" || len(flow.Steps) != 3 ||
			*flow.Steps[0].Team != sales.ID || *flow.Steps[1].Team != sales.ID || flow.Steps[2].Team != nil ||
			flow.Steps[0].Gate != "review" || flow.Steps[1].Gate != "none" || flow.Steps[0].Instructions != "300 words." {
			t.Errorf("%+v", flow)
		}
		for _, path := range []string{flow.path(), all + "/news-letter"} {
			if diff := cmp.Diff(flow, resttest.Data[apiWorkflow](t, s.Get(path))); diff != "" {
				t.Error(diff)
			}
		}
		s.Post(all, `{"name":"News-Letter","steps":`+stepsWith("none")+`}`).Is(t, 409, "slug_in_use")
		s.clock.advance(time.Second)
		other := s.designs(t, acme, `,"slug":"other"`, "none")
		s.Patch(other.path(), `{"slug":"news-letter"}`).Is(t, 409, "slug_in_use")
		listed := resttest.Data[[]apiWorkflow](t, s.Get(all))
		if len(listed) != 2 || listed[0].ID != other.ID || listed[1].ID != flow.ID {
			t.Errorf("%+v", listed)
		}
		included := resttest.Data[struct{ Workflows []apiWorkflow }](t, s.Get(acme.path()+"?include=workflows"))
		if diff := cmp.Diff([]apiWorkflow{flow, other}, included.Workflows); diff != "" {
			t.Error(diff)
		}
		events := len(s.events(t, acme.ID))
		for body, want := range map[string]string{
			`{"version":2,"id":"x"}`: "immutable_field", `{"name":""}`: "validation_failed", `{"steps":[]}`: "validation_failed",
			`{"steps":[{"key":"A b","title":"","gate":"x","team":"nobody"}]}`: "validation_failed",
			`{"steps":[{"key":"a","title":"A"},{"key":"a","title":"A"}]}`:     "validation_failed",
			`{"budget":{}}`: "validation_failed", `{"slug":"A"}`: "validation_failed", `{"x":1}`: "validation_failed",
		} {
			send(s.Client, "PATCH", flow.path(), body).Is(t, 422, want)
		}
		s.Patch(flow.path(), `{}`).Is(t, 200, "")
		if got := len(s.events(t, acme.ID)); got != events {
			t.Errorf("%d events of nothing", got-events)
		}
		send(s.Client, "PATCH", flow.path(), `{"name":"x"}`, "If-Match", `"9"`).Is(t, 412, "precondition_failed")
		next := resttest.Data[apiWorkflow](t, s.Patch(flow.path(), `{"budget":null,"slug":"weekly","steps":`+stepsWith("approval")+`}`))
		if next.Version != 2 || next.Budget != nil || len(next.Steps) != 1 || next.Slug != "weekly" {
			t.Errorf("%+v", next)
		}
		s.Get(all+"/news-letter").Is(t, 404, "not_found")
		elsewhere := s.create(t, draft(t, `"slug":"elsewhere"`))
		s.Get(elsewhere.path()+"/workflows/"+flow.ID).Is(t, 404, "not_found")
		s.Get(elsewhere.path()+"/workflows/weekly").Is(t, 404, "not_found")

		container, _ := s.sets(t, acme, flow, "")
		refused := send(s.Client, "DELETE", flow.path(), "")
		refused.Is(t, 409, "workflow_in_use")
		if got := details(t, refused)["openIssues"]; fmt.Sprint(got) != "1" {
			t.Errorf("%s", refused.Body)
		}
		s.moved(t, container, "cancel", "")
		last := send(s.Client, "DELETE", all+"/weekly", "")
		last.Is(t, 200, "")
		s.Get(flow.path()).Is(t, 404, "not_found")
		s.Post(container.path()+"/retry", "").Is(t, 409, "invalid_transition")
		if got := s.look(t, container); got.WorkflowID == nil || *got.WorkflowID != flow.ID {
			t.Errorf("%+v", got)
		}
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.Post(all, `{"name":"x","steps":`+stepsWith("none")+`}`).Is(t, 409, "company_archived")
		send(s.Client, "DELETE", other.path(), "").Is(t, 409, "company_archived")
		s.with(t, "read").Get(other.path()).Is(t, 200, "")
		s.with(t, "read").Patch(other.path(), `{}`).Is(t, 403, "insufficient_scope")
	})
}

func TestAnIssueGoesThroughTheStepsOfItsWorkflow(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, agents := s.workers(t, 2)
		ada, eve := agents[0], agents[1]
		launch := s.plans(t, acme, "")
		before := s.file(t, acme, `,"priority":"low","requiresReview":false`)
		flow := s.designs(t, acme, "", "none", "review", "none")
		s.Patch(flow.path(), `{"steps":[{"key":"only","title":"Other"}]}`).Is(t, 200, "")
		flow = resttest.Data[apiWorkflow](t, s.Patch(flow.path(), `{"steps":`+stepsWith("none", "review", "none")+`}`))
		container, steps := s.sets(t, acme, flow, `,"description":"About anvils.","priority":"high","blockedBy":["`+before.ID+`"]`+
			inProject(launch))
		if *container.WorkflowID != flow.ID || *container.WorkflowVersion != 3 || container.Step != nil || container.OpenBlockers != 1 {
			t.Errorf("%+v", container)
		}
		for n, step := range steps {
			want := before.ID
			if n > 0 {
				want = steps[n-1].ID
			}
			gate := []string{"none", "review", "none"}[n]
			if step.Title != fmt.Sprint("Step ", n+1) || step.Priority != "high" || *step.ProjectID != launch.ID ||
				step.WorkflowID != nil || !slices.Equal(step.BlockedBy, []string{want}) || step.RequiresReview != (gate == "review") ||
				step.Number != container.Number+n+1 || *step.Step != (apiStep{Key: fmt.Sprint("s", n+1), Number: n + 1, Gate: gate}) ||
				step.Description != "About anvils." {
				t.Errorf("%+v", step)
			}
		}
		s.Patch(flow.path(), `{"steps":[{"key":"later","title":"Later"}]}`).Is(t, 200, "")
		if got := s.progress(t, launch.path()); got != (apiProgress{TasksTotal: 3, TasksQueued: 3}) {
			t.Errorf("%+v", got)
		}
		for query, want := range map[string]int{"workflow=" + flow.ID: 1, "workflow=newsletter": 1, "project=" + launch.ID: 4} {
			found := resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?"+query))
			counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts?"+query))
			if len(found) != want || counts.Total != want {
				t.Errorf("%s: %d, %+v", query, len(found), counts)
			}
		}
		s.Get(acme.path()+"/issues?workflow=none").Is(t, 404, "not_found")

		ada.ends(t, ada.claim(t, ""), "complete", "") // what is before
		s.stand(t, container, "queued: queued queued queued")
		first := ada.claim(t, "")
		if first.Issue.ID != steps[0].ID || first.Context.Instructions != "Do 1." || first.Context.Parents[0].ID != container.ID {
			t.Errorf("%+v", first)
		}
		s.stand(t, container, "running: running queued queued")
		eve.idles(t)
		ada.ends(t, first, "complete", "")
		s.stand(t, container, "running: done queued queued")
		second := eve.claim(t, "")
		ada.idles(t)
		eve.ends(t, second, "complete", "")
		s.stand(t, container, "running: done review queued")
		s.moved(t, steps[1], "reject", `{"note":"No."}`)
		second = eve.claim(t, "")
		eve.ends(t, second, "complete", "")
		s.moved(t, steps[1], "accept", "")
		s.stand(t, container, "running: done done queued")
		third := ada.claim(t, "")
		ada.ends(t, third, "complete", `"result":{"sent":7}`)
		s.stand(t, container, "review: done done done")
		if got := s.look(t, container); string(got.Result) != `{"sent":7}` || got.StartedAt == nil || got.FinishedAt != nil {
			t.Errorf("%+v", got)
		}
		refused := s.Post(launch.path()+"/archive", "") // the container is open
		refused.Is(t, 409, "project_not_empty")

		// A review that rejects the whole has the last step done again.
		rejected := s.moved(t, container, "reject", `{"note":"Once more."}`)
		if rejected.Status != "queued" || rejected.Attempt != 2 {
			t.Errorf("%+v", rejected)
		}
		s.stand(t, container, "queued: done done done queued")
		again := ada.claim(t, "")
		if len(again.Context.Comments) != 1 || again.Context.Comments[0].Body != "Once more." || *again.Issue.RetryOf != steps[2].ID {
			t.Errorf("%+v", again)
		}
		if told := again.Context; told.Rejection == nil || told.Rejection.Note != "Once more." ||
			string(told.FormerResult) != `{"sent":7}` {
			t.Errorf("%+v, %s", told.Rejection, told.FormerResult)
		}
		s.stand(t, container, "running: done done done running")
		ada.ends(t, again, "complete", "")
		s.stand(t, container, "review: done done done done")
		s.moved(t, container, "accept", "")
		s.stand(t, container, "done: done done done done")
		got := s.happened(t, acme, container.ID)
		want := []string{"created", "started", "submitted", "rejected", "started", "submitted", "completed"}
		if !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
		if got := s.progress(t, launch.path()); got != (apiProgress{TasksTotal: 4, TasksDone: 4}) {
			t.Errorf("%+v", got)
		}
		if id := sales.ID; id == "" {
			t.Error("no team")
		}
	})
}

func TestAStepThatEndsBadlyStopsItsContainer(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		flow := s.designs(t, acme, "", "none", "none", "none")
		container, steps := s.sets(t, acme, flow, `,"requiresReview":false`)
		waiting := s.file(t, acme, `,"blockedBy":["`+container.ID+`"]`)
		lease := ada.claim(t, "")
		ada.ends(t, lease, "fail", `"error":{"code":"c","message":"m"},"retry":false`)
		s.stand(t, container, "handoff: failed queued queued")
		ada.idles(t)
		if got := s.look(t, container); string(got.Error) != `{"code":"c","message":"m"}` {
			t.Errorf("%s", got.Error)
		}
		s.moved(t, steps[2], "cancel", "")
		s.stand(t, container, "handoff: failed queued cancelled")
		first := s.moved(t, steps[0], "retry", "")
		if *first.Step != *steps[0].Step || *first.ParentID != container.ID {
			t.Errorf("%+v", first)
		}
		s.Post(steps[0].path()+"/retry", "").Is(t, 409, "invalid_transition")
		s.stand(t, container, "handoff: failed queued cancelled queued")
		if got := s.look(t, steps[1]); !slices.Equal(got.BlockedBy, []string{first.ID}) {
			t.Errorf("%+v", got)
		}
		third := s.moved(t, steps[2], "retry", "")
		s.stand(t, container, "queued: failed queued cancelled queued queued")
		ada.ends(t, ada.claim(t, ""), "complete", "")
		s.stand(t, container, "running: failed queued cancelled done queued")
		for range 2 {
			ada.ends(t, ada.claim(t, ""), "complete", "")
		}
		s.stand(t, container, "done: failed done cancelled done done")
		if lease := ada.claim(t, ""); lease.Issue.ID != waiting.ID {
			t.Errorf("%+v", lease.Issue)
		}
		s.Post(steps[2].path()+"/retry", "").Is(t, 409, "invalid_transition") // the container has ended
		s.shows(t, third, "done, 1, agent")
		got := strings.Join(s.happened(t, acme, container.ID), ", ")
		if got != "created, started, handed_off step_failed, requeued step_retried, started, completed" {
			t.Error(got)
		}
	})
}

func TestWhatPeopleMayDoToAnIssueWithSteps(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, agents := s.workers(t, 1)
		ada := agents[0]
		flow := s.designs(t, acme, "", "none", "none")
		container, steps := s.sets(t, acme, flow, "")
		for action, body := range map[string]string{
			"assign": `{"teamId":"` + sales.ID + `"}`, "unassign": "", "handoff": `{"note":"n"}`, "accept": "", "reject": `{"note":"n"}`,
			"retry": "",
		} {
			s.Post(container.path()+"/"+action, body).Is(t, 409, "invalid_transition")
		}
		s.Post(container.path()+"/comments", `{"body":"Hm."}`).Is(t, 200, "")
		s.Patch(container.path(), `{"title":"New","priority":"urgent","requiresReview":false,"labels":["a"]}`).Is(t, 200, "")
		for _, member := range []string{`"blockedBy":[]`, `"budget":{"perTaskUsd":1}`, `"maxAttempts":2`, `"notBefore":null`} {
			s.Patch(container.path(), `{`+member+`}`).Is(t, 422, "immutable_field")
		}
		for _, member := range []string{`"blockedBy":[]`, `"parentId":null`, `"requiresReview":true`} {
			s.Patch(steps[1].path(), `{`+member+`}`).Is(t, 422, "immutable_field")
		}
		s.Patch(steps[1].path(), `{"title":"Mine","budget":{"perTaskUsd":1},"maxAttempts":2}`).Is(t, 200, "")
		send(s.Client, "PATCH", container.path(), `{"workflowId":null,"step":null}`).Is(t, 422, "immutable_field")
		for body, want := range map[string]string{
			`"workflowId":"wf_1"`: "workflowId unknown_value",
			`"workflowId":"newsletter","assignedTeamId":"` + sales.ID + `"`: "assignedTeamId duplicate",
		} {
			answer := s.Post(acme.path()+"/issues", `{"title":"x",`+body+`}`)
			answer.Is(t, 422, "validation_failed")
			if field, code, _ := strings.Cut(want, " "); !strings.Contains(string(answer.Body), `"`+field+`"`) ||
				!strings.Contains(string(answer.Body), code) {
				t.Errorf("%s", answer.Body)
			}
		}
		if got := s.file(t, acme, `,"workflowId":null,"priority":"low"`); got.WorkflowID != nil {
			t.Errorf("%+v", got)
		}

		lease := ada.claim(t, "")
		s.moved(t, container, "cancel", "")
		s.stand(t, container, "cancelled: cancelled cancelled")
		stale(t, ada.call(t, lease, "renew", ""), "cancelled", "cancelled")
		s.Post(steps[0].path()+"/retry", "").Is(t, 409, "invalid_transition")
		s.Patch(flow.path(), `{"steps":`+stepsWith("none")+`}`).Is(t, 200, "")
		retried := s.moved(t, container, "retry", "")
		if *retried.WorkflowVersion != 1 || *retried.RetryOf != container.ID {
			t.Errorf("%+v", retried)
		}
		s.stand(t, retried, "queued: queued queued") // of the version that it had

		parent := ""
		for range 7 {
			parent = s.file(t, acme, `,"parentId":`+quotedOrNull(parent)).ID
		}
		s.Post(acme.path()+"/issues", `{"title":"x","workflowId":"newsletter","parentId":"`+parent+`"}`).Is(t, 422, "dependency_cycle")
		ids := `["` + retried.ID + `","` + s.stepsOf(t, retried)[1].ID + `"]`
		s.Post(acme.path()+"/issues/bulk", `{"action":"cancel","ids":`+ids+`}`).Is(t, 200, "")
		s.stand(t, retried, "cancelled: cancelled cancelled")
	})
}

func quotedOrNull(text string) string {
	if text == "" {
		return "null"
	}
	return `"` + text + `"`
}

func TestTheGateOfAStepAsksForAnApproval(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		flow := s.designs(t, acme, "", "approval", "none")
		container, steps := s.sets(t, acme, flow, `,"requiresReview":false`)
		submits := func() apiApproval {
			t.Helper()
			lease := ada.claim(t, "")
			own := ada.asks(t, lease, "")
			ended, run := ada.ends(t, lease, "complete", `"result":1`)
			if ended.Status != "review" || run.Status != "succeeded" {
				t.Errorf("%+v %+v", ended, run)
			}
			if got := s.reads(t, own); got.Status != "expired" { // nobody waits for it any more
				t.Errorf("%+v", got)
			}
			asked := s.reads(t, apiApproval{ID: s.waitsFor(t, steps[0]), CompanyID: acme.ID})
			if asked.ActionName != "workflow.step" || asked.Status != "pending" || asked.IssueID != steps[0].ID || asked.Parked {
				t.Errorf("%+v", asked)
			}
			ada.idles(t)
			return asked
		}
		first := submits()
		s.stand(t, container, "running: review queued")
		s.Post(steps[0].path()+"/accept", "").Is(t, 409, "invalid_transition")
		s.Post(steps[0].path()+"/reject", `{"note":"n"}`).Is(t, 409, "invalid_transition")
		s.decided(t, first, "comment", `{"body":"Why?"}`)
		ada.Post(first.asked()+"/answer", `{"body":"So."}`).Is(t, 200, "")
		s.decided(t, first, "deny", `{"note":"Not yet."}`)
		s.shows(t, steps[0], "assigned, 2, agent")
		lease := ada.claim(t, "")
		if said := lease.Context.Comments; len(said) != 1 || said[0].Body != "Not yet." {
			t.Errorf("%+v", said)
		}
		ada.ends(t, lease, "release", "")

		second := submits()
		s.clock.advance(8 * 24 * time.Hour)
		s.expires(t)
		await(t, "the end of the approval", func() bool { return s.reads(t, second).Status == "expired" })
		s.becomes(t, steps[0], "assigned")
		s.shows(t, steps[0], "assigned, 3, agent")

		third := submits()
		s.moved(t, steps[0], "handoff", `{"note":"I take it."}`)
		if got := s.reads(t, third); got.Status != "expired" {
			t.Errorf("%+v", got)
		}
		s.moved(t, steps[0], "assign", `{"agentId":"`+ada.ID+`"}`)
		s.decided(t, submits(), "approve", `{}`)
		s.stand(t, container, "running: done queued")
		ada.ends(t, ada.claim(t, ""), "complete", "")
		s.stand(t, container, "done: done done")

		// A rule decides at once.
		rules := acme.path() + "/approval-rules"
		s.Post(rules, `{"actionName":"workflow.*","decision":"deny"}`).Is(t, 201, "")
		container, steps = s.sets(t, acme, flow, "")
		ada.ends(t, ada.claim(t, ""), "complete", "")
		s.shows(t, steps[0], "assigned, 2, agent")
		s.clock.advance(time.Second)
		s.Post(rules, `{"actionName":"workflow.step","decision":"approve"}`).Is(t, 201, "")
		ada.ends(t, ada.claim(t, ""), "complete", "")
		s.stand(t, container, "running: done queued")
	})
}

// Each attempt costs: a rule, or nobody's decision, gives no attempt beyond those of the step, and a person does.
func TestOnlyAPersonHasAStepDoneAgainBeyondItsAttempts(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		flow := s.designs(t, acme, "", "approval", "none")
		rules := acme.path() + "/approval-rules"
		denies := s.In(t).Post(rules, `{"actionName":"workflow.*","decision":"deny"}`)
		denies.Is(t, 201, "")
		container, steps := s.sets(t, acme, flow, `,"requiresReview":false,"maxAttempts":2`)
		step := steps[0]
		assigns := func() {
			t.Helper()
			s.moved(t, step, "assign", `{"agentId":"`+ada.ID+`"}`)
		}

		// A rule decides at once, and the answer shows what came of it, then and when it is repeated.
		for n, want := range []string{"assigned, 2, agent", "handoff, 2, agent", "handoff, 2, agent"} {
			if n == 2 {
				assigns()
			}
			lease := ada.claim(t, "")
			if said := lease.Context.Comments; len(said) != n || n > 0 && said[0].Body != "The approval was denied." {
				t.Errorf("%+v", said)
			}
			for range 2 {
				answer := ada.call(t, lease, "complete", `"costs":[{"key":"c","kind":"tools","usd":0.5}]`)
				answer.Is(t, 200, "")
				ended := resttest.Data[struct {
					Issue struct {
						apiIssue

						WaitingFor *string
					}
				}](t, answer).Issue
				if ended.where() != want || ended.WaitingFor != nil {
					t.Errorf("%s: %s", ended.where(), answer.Body)
				}
			}
			s.shows(t, step, want)
		}
		ada.idles(t)
		s.stand(t, container, "running: handoff queued")
		if spent := s.look(t, step).Budget.SpentUsd; spent != "1.5" {
			t.Errorf("%s was spent", spent)
		}
		got := strings.Join(s.happened(t, acme, step.ID), ", ")
		if got != "created, started, submitted, rejected, started, submitted, handed_off, assigned, started, submitted, handed_off" {
			t.Error(got)
		}

		// A person has it done once more.
		rule := resttest.Data[struct{ ID string }](t, denies)
		send(s.In(t), "DELETE", rules+"/"+rule.ID, "").Is(t, 200, "")
		assigns()
		submits := func() apiApproval {
			t.Helper()
			ada.ends(t, ada.claim(t, ""), "complete", "")
			return s.reads(t, apiApproval{ID: s.waitsFor(t, step), CompanyID: acme.ID})
		}
		s.decided(t, submits(), "deny", `{"note":"Not yet."}`)
		s.shows(t, step, "assigned, 3, agent")

		submits()
		s.clock.advance(8 * 24 * time.Hour)
		s.expires(t)
		s.becomes(t, step, "handoff")
		s.shows(t, step, "handoff, 3, agent")
		ada.idles(t)
		assigns()
		lease := ada.claim(t, "")
		said := lease.Context.Comments
		if len(said) != 5 || said[3].Body != "Not yet." || said[4].Body != "Nobody decided in time." {
			t.Errorf("%+v", said)
		}
		ada.ends(t, lease, "release", "")
		s.decided(t, submits(), "approve", `{}`)
		s.stand(t, container, "running: done queued")
	})
}

// What waited for the last step was let go when that was done; what waits for the whole still does after a review has rejected it.
func TestWhatWaitsForAnIssueWithStepsWhoseReviewIsRejected(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 2)
		ada := agents[0]
		flow := s.designs(t, acme, "", "none", "none")
		container, steps := s.sets(t, acme, flow, `,"priority":"urgent"`)
		other := s.file(t, acme, `,"assignedAgentId":"`+agents[1].ID+`"`)
		last := steps[1].ID
		waits := map[string]apiIssue{}
		for name, blockers := range map[string]string{
			"step": `"` + last + `"`, "whole": `"` + container.ID + `"`, "step and other": `"` + last + `","` + other.ID + `"`,
			"step and whole": `"` + last + `","` + container.ID + `"`,
		} {
			waits[name] = s.file(t, acme, `,"priority":"low","requiresReview":false,"blockedBy":[`+blockers+`]`)
		}
		open := func(when string, want map[string]int) {
			t.Helper()
			got := map[string]int{}
			for name, filed := range waits {
				now := s.look(t, filed)
				if got[name] = now.OpenBlockers; !slices.Equal(now.BlockedBy, filed.BlockedBy) {
					t.Errorf("%s: %s waits for %v, want %v", when, name, now.BlockedBy, filed.BlockedBy)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", when, diff)
			}
		}
		open("at first", map[string]int{"step": 1, "whole": 1, "step and other": 2, "step and whole": 2})
		for range 2 {
			ada.ends(t, ada.claim(t, ""), "complete", "")
		}
		released := map[string]int{"step": 0, "whole": 1, "step and other": 1, "step and whole": 1}
		open("in review", released)
		s.moved(t, container, "reject", `{"note":"Once more."}`)
		s.stand(t, container, "queued: done done queued")
		open("rejected", released)
		redo := ada.claim(t, "")
		if redo.Issue.RetryOf == nil || *redo.Issue.RetryOf != last {
			t.Errorf("%+v", redo.Issue)
		}
		free := ada.claim(t, "")
		if free.Issue.ID != waits["step"].ID {
			t.Errorf("%+v", free.Issue)
		}
		ada.ends(t, free, "complete", "")
		ada.idles(t)
		ada.ends(t, redo, "complete", "")
		open("in review again", released)
		s.moved(t, container, "accept", "")
		open("accepted", map[string]int{"step": 0, "whole": 0, "step and other": 1, "step and whole": 0})
		if wrong := examine(t, s.environ...); wrong != nil {
			t.Error(wrong)
		}
	})
}

// What the runs of a workflow spent counts under it, even what they report when it is gone.
func TestALateChargeIsCountedUnderAWorkflowThatWasDeleted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		flow := s.designs(t, acme, `,"budget":{"usd":1}`, "none", "none")
		container, _ := s.sets(t, acme, flow, "")
		lease := ada.claim(t, "")
		ada.charges(t, lease, "1", "0.4")
		s.moved(t, container, "cancel", "")
		send(s.In(t), "DELETE", flow.path(), "").Is(t, 200, "")
		if wrong := examine(t, s.environ...); wrong != nil {
			t.Error(wrong)
		}
		if late := ada.state(t, lease, "costs", `"costs":[{"key":"2","kind":"tools","usd":0.7}]`); !late.Late {
			t.Errorf("%+v", late)
		}
		accounts, err := s.store.Envelopes().Accounts(t.Context(), id.Company(acme.ID), flow.ID)
		must(t, err)
		if got := accounts[flow.ID]; got.Spent.String() != "1.1" || got.Held != 0 || got.Limit != (budget.Limit{}) {
			t.Errorf("%+v", got)
		}
		s.budgets(t, acme, "?scope=workflow")
		if wrong := examine(t, s.environ...); wrong != nil {
			t.Error(wrong)
		}
	})
}

func TestIssuesOfADeletedWorkflowAreFoundByItsID(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, named("other"))
		used, unused := s.designs(t, acme, "", "none"), s.designs(t, acme, `,"slug":"unused"`, "none")
		container, _ := s.sets(t, acme, used, "")
		s.moved(t, container, "cancel", "")
		for _, flow := range []apiWorkflow{used, unused} {
			s.Delete(flow.path()).Is(t, 200, "")
			s.Get(acme.path()+"/issues?workflow="+flow.Slug).Is(t, 404, "not_found")
			s.Get(other.path()+"/issues?workflow="+flow.ID).Is(t, 404, "not_found")
		}
		found := resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?workflow="+used.ID))
		if len(found) != 1 || found[0].ID != container.ID {
			t.Errorf("%+v", found)
		}
		counted := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts?workflow="+used.ID))
		if counted.Total != 1 || counted.ByStatus["cancelled"] != 1 {
			t.Errorf("%+v", counted)
		}
		s.Get(acme.path()+"/issues?workflow="+unused.ID).Is(t, 404, "not_found")
	})
}

func TestTheBudgetOfAWorkflowBindsItsSteps(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 1)
		ada := agents[0]
		flow := s.designs(t, acme, `,"budget":{"usd":1}`, "none", "none")
		container, _ := s.sets(t, acme, flow, `,"priority":"high"`)
		other := s.file(t, acme, "")
		lease := ada.claim(t, "")
		s.budgets(t, acme, "?scope=workflow", "workflow: 0 spent, 0.1 held, 0.9 left, none")
		filed := ada.In(t).Post("/gateway/v1/issues", lease.body(`"leaseId":"`+lease.LeaseID+`","title":"Part"`))
		filed.Is(t, 201, "")
		ada.charges(t, lease, "1", "0.9")
		ada.ends(t, lease, "complete", `"costs":[{"key":"2","kind":"tools","usd":0.2}]`)
		s.budgets(t, acme, "?scope=workflow", "workflow: 1.1 spent, 0 held, 0 left, hard")
		if got, want := s.breaches(t, acme), []string{"workflow soft", "workflow hard"}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
		next := ada.claim(t, "") // the next step is too dear, and so is what was filed for the first
		if next.Issue.ID != other.ID {
			t.Errorf("%+v", next.Issue)
		}
		ada.ends(t, next, "complete", "")
		ada.idles(t)
		s.Patch(flow.path(), `{"budget":{"usd":2}}`).Is(t, 200, "")
		if lease := ada.claim(t, ""); lease.Issue.Step == nil || lease.Issue.Step.Number != 2 {
			t.Errorf("%+v", lease.Issue)
		}
		s.moved(t, container, "cancel", "")
		s.budgets(t, acme, "?scope=workflow", "workflow: 1.1 spent, 0 held, 0.9 left, none")
	})
}

func TestArchivingStopsStepsAndTheirContainers(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, agents := s.workers(t, 2)
		ada, eve := agents[0], agents[1]
		launch := s.plans(t, acme, "")
		flow := s.designs(t, acme, "", "none", "none")
		inIt, _ := s.sets(t, acme, flow, inProject(launch))
		free, freeSteps := s.sets(t, acme, flow, "")
		s.Patch(freeSteps[1].path(), `{"projectId":"`+launch.ID+`"}`).Is(t, 200, "")
		ada.claim(t, "")
		eve.claim(t, "")
		s.stand(t, inIt, "running: running queued")
		s.Post(launch.path()+"/archive", `{"cancelOpenIssues":true}`).Is(t, 200, "")
		s.stand(t, inIt, "cancelled: cancelled cancelled")
		s.stand(t, free, "handoff: running cancelled")

		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.becomes(t, freeSteps[0], "queued")
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		s.Post(eve.path()+"/retire", "").Is(t, 200, "")
		s.becomes(t, freeSteps[0], "queued")
		s.stand(t, free, "handoff: queued cancelled")
		ada.ends(t, ada.claim(t, ""), "complete", "")
		s.stand(t, free, "handoff: done cancelled")
	})
}

func TestATeamThatWorkflowsNameIsNotDeleted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		answer := s.In(t).Post(acme.path()+"/workflows", `{"name":"News","steps":[{"key":"write","title":"Write","team":"sales"},`+
			`{"key":"read","title":"Read"}]}`)
		answer.Is(t, 201, "")
		flow := resttest.Data[apiWorkflow](t, answer)
		stays := func() {
			t.Helper()
			refused := send(s.Client, "DELETE", sales.path(), "")
			refused.Is(t, 409, "team_not_empty")
			if got := fmt.Sprint(details(t, refused)); got != "map[workflows:[news]]" {
				t.Error(got)
			}
		}
		stays()
		container, steps := s.sets(t, acme, flow, "")
		s.Patch(flow.path(), `{"steps":`+stepsWith("none")+`}`).Is(t, 200, "")
		s.moved(t, steps[0], "assign", `{"teamId":"`+s.found(t, acme, `{"name":"Press","headcount":1}`).ID+`"}`)
		stays() // a review could have the step done again
		s.moved(t, container, "cancel", "")
		s.Delete(sales.path()).Is(t, 200, "")

		before := len(s.events(t, acme.ID))
		refused := s.Post(container.path()+"/retry", "")
		refused.Is(t, 409, "invalid_transition")
		if got := details(t, refused); got["action"] != "retry" || len(s.events(t, acme.ID)) != before {
			t.Errorf("%v", got)
		}
		s.sets(t, acme, flow, "")
	})
}
