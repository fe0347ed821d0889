package wiring_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/webhook"
)

var update = flag.Bool("update", false, "rewrite the golden answers")

const goldenFolder = "../testdata/golden"

// eachGolden runs a test against a fresh server on each store, with the usual rate limits and a clock that stands still.
func eachGolden(t *testing.T, test func(t *testing.T, s *instance)) {
	t.Helper()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		clock := &clock{}
		clock.ms.Store(time.Date(2026, 4, 11, 10, 42, 17, 0, time.UTC).UnixMilli())
		test(t, start(t, clock, append(environ, "HOLDCO_RATE_READ=600", "HOLDCO_RATE_WRITE=120",
			"HOLDCO_RATE_GATEWAY=1200", allowPrivate)...))
	})
}

// golden holds the answer to a request against its golden file. The request has a token of its own, so that its rate limit
// is untouched.
func (s *instance) golden(t *testing.T, name, method, path, body string, header ...string) {
	t.Helper()
	s.goldenAs(t, s.with(t, "admin"), name, method, path, body, header...)
}

func (s *instance) goldenAs(t *testing.T, client *resttest.Client, name, method, path, body string, header ...string) {
	t.Helper()
	answer := send(client.In(t), method, path, body, append(header, "X-Request-Id", "req_golden")...)
	headers := map[string]string{}
	for _, header := range []string{"Allow", "Cache-Control", "ETag", "Idempotency-Replayed", "Location",
		"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "WWW-Authenticate"} {
		if value := answer.Header.Get(header); value != "" {
			if header == "Retry-After" && answer.Status == http.StatusConflict {
				value = "…" // until a lease has run out, by the store's clock
			}
			headers[header] = value
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must(t, encoder.Encode(struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}{answer.Status, headers, answer.Body}))
	compareGolden(t, name+".json", steady(text.String()))
}

// compareGolden holds a text against its golden file, or rewrites that.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(goldenFolder, name)
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// unsteady is what differs from run to run, and what stands in its place.
var unsteady = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\bhco_[0-9A-Za-z]{49}\b`), "hco_" + strings.Repeat("0", 49)},
	{regexp.MustCompile(`\bhcp_[0-9A-Za-z]{49}\b`), "hcp_" + strings.Repeat("0", 49)},
	{regexp.MustCompile(`\bhca_[0-9A-Za-z]{49}\b`), "hca_" + strings.Repeat("0", 49)},
	{regexp.MustCompile(`\b(hco|hcp)_\.\.\.\w{4}\b`), "${1}_...0000"},
	{regexp.MustCompile(`\bwhsec_[0-9A-Za-z+/=]+`), "whsec_" + strings.Repeat("0", 43) + "="},
	{regexp.MustCompile(`(\\"|-)[0-9a-f]{32}\\"`), `${1}` + strings.Repeat("0", 32) + `\"`}, // a digest of what has an id
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "https://example.com"},
	{regexp.MustCompile(`"latencyMs": \d+`), `"latencyMs": 87`},
	{regexp.MustCompile(`("nextAttemptAt": "2026-04-11T10:42):2[0-9][^"]*"`), `$1:22.000Z"`}, // the delay of a retry is random
}

// anyID is the form of the ids that Holdco makes, of whatever kind.
var anyID = regexp.MustCompile(`\b[a-z]{2,3}_[0-7][0-9a-hjkmnp-tv-z]{25}\b`)

// anyInstant is the form of the instants of answers.
var anyInstant = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z`)

// fixed replaces an instant of the store's clock on Postgres, which does not stand still, by that of the clock that does.
func fixed(at string) string {
	if read, err := time.Parse(time.RFC3339, at); err == nil && time.Since(read).Abs() < 24*time.Hour {
		return "2026-04-11T10:42:17.000Z"
	}
	return at
}

// steady replaces what differs from run to run. Ids are numbered in the order of their appearance.
func steady(text string) string {
	text = anyInstant.ReplaceAllStringFunc(text, fixed)
	for _, u := range unsteady {
		text = u.pattern.ReplaceAllString(text, u.instead)
	}
	numbers := map[string]int{}
	return anyID.ReplaceAllStringFunc(text, func(found string) string {
		if numbers[found] == 0 {
			numbers[found] = len(numbers) + 1
		}
		prefix, _, _ := strings.Cut(found, "_")
		return fmt.Sprintf("%s_%026d", prefix, numbers[found])
	})
}

const everything = `{"name":"Acme Corporation","slug":"acme","description":"Sells <everything>.",` +
	`"budget":{"usd":1500.25,"reservePercent":12.5},"startingTeams":[{"name":"Research","headcount":2},{"name":"Sales","headcount":0}]}`

func TestAnswersAboutCompaniesLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		const all = "/v1/companies"
		s.golden(t, "health", "GET", "/healthz", "")
		s.golden(t, "company_created", "POST", all, everything)
		acme := resttest.Data[[]company](t, s.Get(all))[0]
		s.golden(t, "company", "GET", acme.path(), "")
		s.golden(t, "company_included", "GET", acme.path()+"?include=teams,agents,workflows,budgets", "")
		s.golden(t, "companies", "GET", all, "")
		s.goldenAs(t, s.with(t, "company:acme:write"), "whoami", "GET", "/v1/whoami", "")
		s.golden(t, "error_slug_in_use", "POST", all, everything)
		s.golden(t, "error_precondition_failed", "DELETE", acme.path(), "", "If-Match", `"7"`)
		s.golden(t, "error_unsupported_media_type", "POST", acme.path()+"/archive", `{"force":true}`)
		s.golden(t, "error_immutable_field", "PATCH", acme.path(), `{"slug":"other","status":"archived"}`)
		s.golden(t, "company_archived", "POST", acme.path()+"/archive", "")
		s.golden(t, "error_invalid_transition", "POST", acme.path()+"/archive", "")
		s.golden(t, "error_company_archived", "PATCH", acme.path(), `{}`)
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		s.golden(t, "company_deleted", "DELETE", acme.path(), "")
		s.golden(t, "error_not_found", "GET", acme.path(), "")

		s.golden(t, "error_invalid_json", "POST", all, `{"name":"A","name":"B"}`)
		s.golden(t, "error_invalid_parameter", "GET", all+"?limit=201", "")
		s.golden(t, "error_invalid_cursor", "GET", all+"?cursor=nonsense", "")
		s.golden(t, "error_payload_too_large", "POST", all, strings.Repeat(" ", 1<<20+1))
		s.golden(t, "error_validation_failed", "POST", all, `{"name":7,"budget":{"usd":-1},"startingTeams":[{}]}`)
		s.golden(t, "error_budget_invalid", "POST", all, `{"name":"A","slug":"a","budget":{"usd":-1,"reservePercent":101}}`)
		s.golden(t, "error_adapter_not_installed", "POST", all, `{"name":"A","slug":"a","defaultAdapter":"pigeon"}`)
		s.goldenAs(t, s.As("nobody"), "error_unauthorized", "GET", all, "")
		s.goldenAs(t, s.with(t, "read"), "error_insufficient_scope", "POST", all, everything)
		s.golden(t, "error_method_not_allowed", "PUT", all, "")
		twice := s.with(t, "write")
		once(twice, "k", all, everything).Is(t, 201, "")
		s.goldenAs(t, twice, "error_idempotency_conflict", "POST", all, named("acme"), "Idempotency-Key", "k")
	})
}

func TestAnswersToWhatComesTooLateOrTooOftenLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme, reader := s.create(t, named("acme")), s.with(t, "read")
		for range 600 {
			reader.Get("/v1/whoami").Is(t, 200, "")
		}
		s.goldenAs(t, reader, "error_rate_limited", "GET", acme.path(), "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.clock.advance(720*time.Hour + time.Millisecond)
		s.golden(t, "error_restore_window_expired", "POST", acme.path()+"/restore", "")
	})
}

func TestAnswersAboutTokensLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		s.create(t, named("acme"))
		made := s.issue(t, "read", "company:acme:write")
		s.goldenAs(t, s.Client, "tokens", "GET", "/v1/tokens", "")
		s.golden(t, "token", "GET", made.path(), "")
		s.golden(t, "token_created", "POST", "/v1/tokens", `{"name":"ci","scopes":["admin"],"expiresAt":"2027-04-11T00:00:00Z"}`)
	})
}

func TestAnswersAboutTeamsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		s.golden(t, "team_created", "POST", acme.path()+"/teams",
			`{"name":"Field Sales","headcount":2,"description":"Sells.","budget":{"usd":500}}`)
		made := resttest.Data[[]team](t, s.Get(acme.path()+"/teams"))[0]
		s.golden(t, "team", "GET", made.path(), "")
		s.golden(t, "teams", "GET", acme.path()+"/teams", "")
		s.golden(t, "team_slots", "GET", made.path()+"/slots", "")
	})
}

func TestAnswersAboutGoalsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		goals, projects := acme.path()+"/goals", acme.path()+"/projects"
		s.golden(t, "goal_created", "POST", goals,
			`{"title":"Be known","description":"*All*","targetDate":"2026-12-31","budget":{"usd":500}}`)
		aim := resttest.Data[[]apiGoal](t, s.Get(goals))[0]
		s.golden(t, "project_created", "POST", projects, `{"title":"Launch","goalId":"`+aim.ID+`","budget":{"usd":120.5}}`)
		launch := resttest.Data[[]apiProject](t, s.Get(projects))[0]
		s.file(t, acme, `,"projectId":"`+launch.ID+`"`)
		s.golden(t, "goal", "GET", goals+"/"+aim.ID, "")
		s.golden(t, "goals", "GET", goals, "")
		s.golden(t, "project", "GET", projects+"/"+launch.ID, "")
		s.golden(t, "projects", "GET", projects+"?goal="+aim.ID, "")
		s.golden(t, "error_project_not_empty", "POST", projects+"/"+launch.ID+"/archive", "")
		s.golden(t, "goal_closed", "POST", goals+"/"+aim.ID+"/close", `{"outcome":"achieved"}`)
		s.golden(t, "error_goal_closed", "POST", acme.path()+"/issues", `{"title":"More","goalId":"`+aim.ID+`"}`)
		s.golden(t, "project_archived", "POST", projects+"/"+launch.ID+"/archive", `{"cancelOpenIssues":true}`)
		s.golden(t, "error_project_archived", "PATCH", projects+"/"+launch.ID, `{"title":"Again"}`)

		hired := s.hire(t, s.found(t, acme, `{"name":"Field Sales","headcount":1}`), "")
		ada := worker{s.agent(t, hired.Token), hired, s}
		next := s.aims(t, acme, "Be known abroad")
		s.file(t, acme, inProject(s.plans(t, acme, inGoal(next))))
		s.goldenAs(t, ada.Client, "gateway_lease_with_goal", "POST", leases, "")
		lease := resttest.Data[[]apiLease](t, ada.Get(leases))[0]
		more := `"leaseId":"` + lease.LeaseID + `","title":"More"`
		s.goldenAs(t, ada.Client, "gateway_error_goal_closed", "POST", "/gateway/v1/issues", lease.body(more+`,"goalId":"`+aim.ID+`"`))
		s.goldenAs(t, ada.Client, "gateway_error_project_archived", "POST", "/gateway/v1/issues",
			lease.body(more+`,"projectId":"`+launch.ID+`"`))
	})
}

func TestAnswersAboutAgentsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		sales := s.found(t, acme, `{"name":"Field Sales","headcount":1}`)
		s.golden(t, "agent_hired", "POST", acme.path()+"/agents", `{"teamId":"`+sales.ID+`","name":"Ada","role":"Engineer",
			"adapterConfig":{"command":["claude","-p"]},"budget":{"perTaskUsd":2.5},"memoryScopes":["agent"]}`)
		s.golden(t, "agents", "GET", acme.path()+"/agents?team=field-sales", "")
		ada := resttest.Data[[]apiAgent](t, s.Get(acme.path()+"/agents"))[0]
		s.golden(t, "error_headcount_limit", "PATCH", sales.path(), `{"headcount":0}`)
		s.golden(t, "error_team_not_empty", "DELETE", sales.path(), "")
		s.golden(t, "agent_rotated", "POST", ada.path()+"/rotate-token", "")
		s.golden(t, "agent", "POST", ada.path()+"/retire", "")
	})
}

func TestAnswersToAgentsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		sales := s.found(t, s.create(t, everything), `{"name":"Field Sales","headcount":2}`)
		ada, eve := s.agent(t, s.hire(t, sales, "").Token), s.agent(t, s.hire(t, sales, "").Token)
		s.goldenAs(t, ada, "gateway_me", "GET", me, "")
		s.goldenAs(t, ada.As("nobody"), "gateway_error_unauthorized", "GET", me, "")
		s.goldenAs(t, ada, "gateway_error_origin_not_allowed", "GET", me, "", "Origin", "https://app.acme.example")
		s.goldenAs(t, ada, "gateway_error_not_found", "GET", "/gateway/v1/you", "")
		s.goldenAs(t, ada, "gateway_error_method_not_allowed", "PUT", me, "")
		s.goldenAs(t, ada, "gateway_error_payload_too_large", "GET", me, strings.Repeat(" ", 1<<20+1))
		s.goldenAs(t, ada, "gateway_error_unsupported_media_type", "GET", me, `{"verbose":true}`)
		s.goldenAs(t, ada, "gateway_error_invalid_json", "GET", me, "[]")
		s.goldenAs(t, ada, "gateway_error_invalid_parameter", "GET", me+"?color=red", "")
		for range 1200 {
			eve.Get(me).Is(t, 200, "")
		}
		s.goldenAs(t, eve, "gateway_error_rate_limited", "GET", me, "")
	})
}

func TestAnswersAboutCostsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		of := s.entries(t, p.company, "&kind=llm&run="+p.leases[0].Run.ID)[0]
		s.golden(t, "cost_adjusted", "POST", p.path()+"/costs/adjust", `{"entryId":"`+of.ID+`","usd":-0.25,"reason":"Credit."}`)
		s.golden(t, "cost_entries", "GET", p.path()+"/costs/entries?kind=llm&run="+of.RunID, "")
	})
}

func TestAnswersAboutLeasesLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		sales := s.found(t, acme, `{"name":"Field Sales","headcount":1}`)
		hired := s.hire(t, sales, `,"approvalPolicy":{"requires":["deploy"]}`)
		ada := worker{s.agent(t, hired.Token), hired, s}
		shown := func(name, method, path, body string) {
			t.Helper()
			s.goldenAs(t, ada.Client, "gateway_"+name, method, path, body)
		}
		parent := s.file(t, acme, "")
		s.moved(t, parent, "assign", `{"agentId":"`+ada.ID+`"}`)
		s.file(t, acme, `,"priority":"high","parentId":"`+parent.ID+`"`)
		shown("lease_claimed", "POST", leases, `{"wait":0}`)
		lease := resttest.Data[[]apiLease](t, ada.Get(leases))[0]
		shown("leases", "GET", leases, "")
		shown("lease_checkpoint", "POST", lease.path()+"/checkpoint", lease.body(`"note":"Half of it is written.","data":{"words":120}`))
		shown("lease_charged", "POST", lease.path()+"/costs", lease.body(`"costs":[{"key":"c1","kind":"llm","usd":0.0125},`+
			`{"key":"c2","kind":"llm","model":"claude-sonnet-4","tokens":{"input":1200,"output":300}}]`))
		shown("lease_comment", "POST", lease.path()+"/comment", lease.body(`"body":"Which *prices*?"`))
		shown("issue_filed", "POST", "/gateway/v1/issues", lease.body(`"leaseId":"`+lease.LeaseID+`","title":"Proofread"`))
		shown("lease_context", "GET", lease.path()+"/context", "")
		shown("agents", "GET", "/gateway/v1/agents", "")
		shown("comments", "GET", "/gateway/v1/issues/"+lease.Issue.ID+"/comments", "")
		shown("error_invalid_cursor", "GET", "/gateway/v1/issues/"+lease.Issue.ID+"/comments?cursor=nonsense", "")
		shown("error_validation_failed", "POST", lease.path()+"/fail", lease.body(`"error":{"code":7},"retryAfter":-1`))
		shown("error_idempotency_conflict", "POST", lease.path()+"/costs", lease.body(`"costs":[{"key":"c1","kind":"tools","usd":1}]`))
		deep := lease.Issue
		for range 6 {
			deep = s.file(t, acme, `,"parentId":"`+deep.ID+`"`)
		}
		shown("error_dependency_cycle", "POST", "/gateway/v1/issues",
			lease.body(`"leaseId":"`+lease.LeaseID+`","title":"Deep","parentId":"`+deep.ID+`"`))
		for range 49 {
			ada.Post("/gateway/v1/issues", lease.body(`"leaseId":"`+lease.LeaseID+`","title":"Proofread"`)).Is(t, 201, "")
		}
		shown("error_too_many", "POST", "/gateway/v1/issues", lease.body(`"leaseId":"`+lease.LeaseID+`","title":"Proofread"`))
		s.golden(t, "run", "GET", lease.Issue.path()+"/runs/"+lease.Run.ID, "")
		failure := `"error":{"code":"tests_failed","message":"3 of 12"},"retryAfter":60`
		shown("lease_ended", "POST", lease.path()+"/fail", lease.body(failure))
		s.golden(t, "runs", "GET", lease.Issue.path()+"/runs", "")
		shown("lease", "GET", lease.path(), "")
		shown("error_stale_lease", "POST", lease.path()+"/renew", lease.body(""))
		given := resttest.Data[struct{ RunToken string }](t, ada.Post(leases, `{"runToken":true}`))
		s.goldenAs(t, ada.As(given.RunToken), "gateway_error_insufficient_scope", "POST", leases, "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		shown("error_company_archived", "POST", leases, "")
	})
}

func TestAnswersAboutWorkflowsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		sales := s.found(t, acme, `{"name":"Field Sales","headcount":1}`)
		hired := s.hire(t, sales, "")
		ada := worker{s.agent(t, hired.Token), hired, s}
		all := acme.path() + "/workflows"
		s.golden(t, "workflow_created", "POST", all, `{"name":"Newsletter","description":"Every <week>.","budget":{"usd":50},"steps":[
			{"key":"write","title":"Write it","instructions":"300 words, *no more*.","team":"field-sales","gate":"approval"},
			{"key":"send","title":"Send it"}]}`)
		flow := resttest.Data[[]apiWorkflow](t, s.Get(all))[0]
		s.golden(t, "workflows", "GET", all, "")
		s.golden(t, "error_slug_in_use_of_workflow", "POST", all, `{"name":"Newsletter","steps":[{"key":"a","title":"A"}]}`)
		s.golden(t, "workflow_updated", "PATCH", flow.path(), `{"name":"Weekly newsletter"}`)
		s.golden(t, "issue_with_steps", "POST", acme.path()+"/issues", `{"title":"April","workflowId":"newsletter"}`)
		container := resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?workflow=newsletter"))[0]
		step := s.stepsOf(t, container)[0]
		s.golden(t, "error_immutable_field_of_step", "PATCH", step.path(), `{"requiresReview":false}`)
		s.goldenAs(t, ada.Client, "gateway_step_claimed", "POST", leases, "")
		lease := resttest.Data[[]apiLease](t, ada.Get(leases))[0]
		ada.ends(t, lease, "complete", `"result":{"words":312}`)
		s.golden(t, "step_that_waits", "GET", step.path(), "")
		s.golden(t, "approval_of_step", "GET", acme.path()+"/approvals/"+s.waitsFor(t, step), "")
		s.golden(t, "error_invalid_transition_of_step", "POST", step.path()+"/accept", "")
		s.golden(t, "error_workflow_in_use", "DELETE", flow.path(), "")
		s.moved(t, container, "cancel", "")
		s.golden(t, "workflow_deleted", "DELETE", flow.path(), "")
	})
}

func TestAnswersAboutApprovalsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		sales := s.found(t, acme, `{"name":"Field Sales","headcount":1}`)
		hired := s.hire(t, sales, `,"approvalPolicy":{"requires":["issue.complete"]}`)
		ada := worker{s.agent(t, hired.Token), hired, s}
		s.file(t, acme, "")
		lease := ada.claim(t, "")
		path := lease.path() + "/approval"
		s.goldenAs(t, ada.Client, "gateway_error_approval_required", "POST", lease.path()+"/complete", lease.body(""))
		s.goldenAs(t, ada.Client, "gateway_approval_requested", "POST", path, lease.body(`"actionName":"deploy.shop",
			"action":"Deploy the shop with the new prices.","reasoning":"They were agreed on Monday.","cost":{"usd":1.50,"tokens":1200},
			"sideEffects":["The shop is away for a minute."],"ifDenied":"The old prices stay.","expiresIn":86400`))
		a := resttest.Data[[]apiApproval](t, s.Get(acme.path()+"/approvals"))[0]
		s.golden(t, "approval_commented", "POST", a.path()+"/comment", `{"body":"Since when?"}`)
		s.goldenAs(t, ada.Client, "gateway_approval_answered", "POST", a.asked()+"/answer", `{"body":"Since *Monday*."}`)
		s.golden(t, "approval_edited", "POST", a.path()+"/approve-with-edits", `{"edits":{"when":"at night"},"note":"Not before ten."}`)
		s.goldenAs(t, ada.Client, "gateway_approval", "GET", a.asked()+"?wait=1", "")
		s.golden(t, "approval", "GET", a.path(), "")
		s.golden(t, "approval_rule_created", "POST", acme.path()+"/approval-rules",
			`{"actionName":"buy.*","teamId":"`+sales.ID+`","maxUsd":5,"decision":"deny","expiresAt":"2026-05-01T12:00:00+02:00"}`)
		rule := resttest.Data[[]struct{ ID string }](t, s.Get(acme.path()+"/approval-rules"))[0]
		s.golden(t, "approval_rule", "GET", acme.path()+"/approval-rules/"+rule.ID, "")
		s.golden(t, "approval_rules", "GET", acme.path()+"/approval-rules", "")
		ada.call(t, lease, "approval", `"actionName":"buy.nails","action":"Buy nails","cost":{"usd":5}`).Is(t, 200, "")
		ada.call(t, lease, "approval", `"actionName":"buy.iron","action":"Buy iron","park":true`).Is(t, 200, "")
		s.golden(t, "approvals", "GET", acme.path()+"/approvals?status=pending,denied", "")
		for _, part := range []string{"overview", "inbox", "health"} {
			s.golden(t, "dashboard_"+part, "GET", acme.path()+"/dashboard/"+part, "")
		}
		s.golden(t, "inbox", "GET", "/v1/inbox?limit=1", "")
		last := resttest.Data[[]apiApproval](t, s.Get(acme.path()+"/approvals?status=pending"))[0]
		for range 100 {
			s.Post(last.path()+"/comment", `{"body":"Why?"}`).Is(t, 200, "")
		}
		s.golden(t, "error_too_many", "POST", last.path()+"/comment", `{"body":"Why?"}`)
	})
}

func TestAnswersAboutIssuesLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		acme := s.create(t, everything)
		sales := s.found(t, acme, `{"name":"Field Sales","headcount":1}`)
		ada := s.hire(t, sales, "")
		all := acme.path() + "/issues"
		s.golden(t, "issue_created", "POST", all, `{"title":"Write the newsletter","description":"About <anvils>.","priority":"high",
			"assignedTeamId":"`+sales.ID+`","labels":["marketing"],"budget":{"perTaskUsd":2.50},"dueAt":"2026-05-01T12:00:00+02:00"}`)
		first := resttest.Data[[]apiIssue](t, s.Get(all))[0]
		s.golden(t, "issue", "GET", first.path(), "")
		second := s.file(t, acme, `,"parentId":"`+first.ID+`","blockedBy":["`+first.ID+`"]`)
		s.golden(t, "issues", "GET", all, "")
		s.golden(t, "error_dependency_cycle", "PATCH", first.path(), `{"blockedBy":["`+second.ID+`"]}`)
		s.golden(t, "issue_assigned", "POST", second.path()+"/assign", `{"agentId":"`+ada.ID+`"}`)
		s.golden(t, "issue_commented", "POST", second.path()+"/comments", `{"body":"Mention the *rockets*."}`)
		s.golden(t, "issue_handed_off", "POST", second.path()+"/handoff", `{"note":"Which prices?"}`)
		s.golden(t, "issue_bulk", "POST", all+"/bulk", `{"action":"cancel","reason":"The fair was called off.","ids":["`+
			second.ID+`","iss_1"]}`)
		s.golden(t, "issue_comments", "GET", second.path()+"/comments", "")
		s.golden(t, "issue_retried", "POST", second.path()+"/retry", "")
		s.golden(t, "issue_counts", "GET", all+"/counts", "")
	})
}

func TestAnswersAboutPartnersLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		s.golden(t, "partner_created", "POST", "/v1/partners",
			`{"name":"Acme Data","origins":["https://app.acme.example","http://localhost:3000"],"expiresAt":"2027-04-11T02:00:00+02:00"}`)
		s.golden(t, "partners", "GET", "/v1/partners", "")
		made := resttest.Data[[]apiPartner](t, s.Get("/v1/partners"))[0]
		rotated := resttest.Data[apiPartner](t, s.Post(made.path()+"/rotate", ""))
		s.golden(t, "partner_rotated", "POST", made.path()+"/rotate", `{"graceSeconds":0}`)
		s.opens(t, []bool{false}, rotated.Key)
		s.Patch(made.path(), `{"name":"Acme"}`).Is(t, 200, "")
		key := resttest.Data[apiPartner](t, s.Post(made.path()+"/rotate", "")).Key
		s.opens(t, []bool{true}, key)
		s = s.again(t) // writes the last use down
		s.Delete(made.path()).Is(t, 200, "")
		s.golden(t, "partner", "GET", made.path(), "")
	})
}

func TestAnswersAboutWebhooksLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		const all = "/v1/webhooks"
		const body = `{"url":"https://example.com/holdco?a=1&b=2","events":["company.created","company.budget.*"],` +
			`"description":"To the chat."}`
		s.golden(t, "webhook_created", "POST", all, body)
		s.golden(t, "webhooks", "GET", all, "")
		made := resttest.Data[[]apiWebhook](t, s.Get(all))[0]
		s.golden(t, "webhook_rotated", "POST", made.path()+"/rotate-secret", "")

		to := listen(t)
		hook := s.subscribe(t, to, `,"description":"To the chat."`)
		to.answers(500)
		s.golden(t, "delivery", "POST", hook.path()+"/test", "")
		s.settled(t, hook, webhook.Pending, 1)
		s.golden(t, "deliveries", "GET", hook.path()+"/deliveries?status=pending", "")
		gone := listen(t)
		gone.answers(410)
		hook = s.subscribe(t, gone, "")
		s.Post(hook.path()+"/test", "").Is(t, 202, "")
		s.settled(t, hook, webhook.Failed, 1)
		s.golden(t, "webhook", "GET", hook.path(), "")
		fill(t, s, webhook.MostEndpoints-3)
		s.golden(t, "error_webhook_limit", "POST", all, body)
	})
}
