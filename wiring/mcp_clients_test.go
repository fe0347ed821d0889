package wiring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"holdco/adapters/http/rest/resttest"
)

func (m toolUser) tools() map[string]*mcp.Tool {
	m.Helper()
	listed, err := m.session.ListTools(m.Context(), nil)
	must(m.T, err)
	tools := map[string]*mcp.Tool{}
	for _, tool := range listed.Tools {
		tools[tool.Name] = tool
	}
	return tools
}

func TestEveryToolSaysWhatItDoesToClientsThatAskBeforeTheyCall(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	_, ada := s.employ(t, "acme")
	m := s.connect(t, ada.Token)
	reads := []string{"whoami", "list_leases", "context", "get_issue", "list_colleagues", "check_approval"}
	repeatable := append([]string{"renew", "report_cost", "complete", "fail", "hand_off", "release"}, reads...)
	tools := m.tools()
	if len(tools) != 18 {
		t.Errorf("there are %d tools", len(tools))
	}
	for name, tool := range tools {
		hints := tool.Annotations
		if tool.Title == "" || tool.Description == "" || hints == nil || hints.DestructiveHint == nil || *hints.DestructiveHint ||
			hints.OpenWorldHint == nil || *hints.OpenWorldHint || hints.Title != tool.Title {
			t.Errorf("%s: %+v, %+v", name, tool, hints)
			continue
		}
		if hints.ReadOnlyHint != slices.Contains(reads, name) || hints.IdempotentHint != slices.Contains(repeatable, name) {
			t.Errorf("%s: %+v", name, hints)
		}
		output, _ := tool.OutputSchema.(map[string]any)
		if properties, _ := output["properties"].(map[string]any); output["type"] != "object" || len(properties) == 0 {
			t.Errorf("%s returns %v", name, output)
		}
		input, _ := tool.InputSchema.(map[string]any)
		for argument, schema := range input["properties"].(map[string]any) {
			if described, _ := schema.(map[string]any); described["type"] == nil {
				t.Errorf("%s: %s has no type", name, argument)
			}
		}
	}
	capabilities, err := json.Marshal(m.session.InitializeResult().Capabilities)
	must(t, err)
	if string(capabilities) != `{"tools":{}}` {
		t.Errorf("the capabilities are %s", capabilities)
	}
}

func TestTheTokenOfARunIsOfferedWhatItCanUse(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		filed := s.file(t, acme, "")
		type withToken struct {
			apiLease

			RunToken string
		}
		granted := resttest.Data[withToken](t, s.agent(t, ada.Token).Post(leases, `{"runToken":true}`))
		own, run := s.connect(t, ada.Token), s.connect(t, granted.RunToken)
		ofAgent, ofRun := own.tools(), run.tools()
		if ofAgent["claim"] == nil || ofRun["claim"] != nil || len(ofRun) != len(ofAgent)-1 {
			t.Errorf("the agent has %d tools, the run %d", len(ofAgent), len(ofRun))
		}
		loop, one := own.session.InitializeResult().Instructions, run.session.InitializeResult().Instructions
		for _, text := range []string{loop, one} {
			if !strings.Contains(text, "stale_lease") || !strings.Contains(text, "request_approval") {
				t.Errorf("the instructions are %q", text)
			}
		}
		if !strings.Contains(loop, "claim") || strings.Contains(one, "claim") || !strings.Contains(one, "exits with code 0") {
			t.Errorf("the instructions are %q and %q", loop, one)
		}
		lease := run.calls("list_leases", nil)["leases"].([]any)[0].(map[string]any)["lease"].(string)
		if want := fmt.Sprintf("%s#%d", granted.LeaseID, granted.FencingToken); lease != want {
			t.Errorf("the lease is %s, want %s", lease, want)
		}
		on := map[string]any{"lease": lease}
		run.calls("context", on)
		run.calls("report_cost", map[string]any{"lease": lease, "costs": []any{map[string]any{"key": "map", "kind": "tools", "usd": 0.5}}})
		if _, err := run.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "claim"}); err == nil {
			t.Error("a run claims")
		}
		run.calls("complete", on)
		if got := s.look(t, filed); got.Status != "review" {
			t.Errorf("the issue is %s", got.Status)
		}
	})
}

// Models write arguments as text, and clients pass that on.
func TestArgumentsAreReadAsModelsSendThem(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		m := s.connect(t, ada.Token)
		filed := s.file(t, acme, "")
		lease := m.calls("claim", map[string]any{"wait": "0", "leaseSeconds": " 600 "})
		if lease["leaseSeconds"] != 600.0 {
			t.Errorf("the lease lasts %v", lease["leaseSeconds"])
		}
		on := func(more map[string]any) map[string]any {
			more["lease"] = lease["lease"]
			return more
		}
		m.calls("report_cost", on(map[string]any{
			"costs": `[{"key":"a","kind":"llm","usd":"0.10","model":null,"tokens":null,"calls":"2"}]`,
		}))
		m.calls("report_cost", on(map[string]any{"costs": []any{
			map[string]any{"key": "b", "kind": "llm", "model": "none", "usd": 0.2, "tokens": `{"input":"3","output":4.0,"cacheRead":null}`},
			`{"key":"c","kind":"tools","usd":"1e-1"}`,
		}}))
		run := resttest.Data[[]apiRun](t, s.Get(filed.path()+"/runs"))[0]
		if run.CostUsd != "0.4" || run.Tokens.Input != 3 || run.Tokens.Output != 4 {
			t.Errorf("the run cost %s, %+v", run.CostUsd, run.Tokens)
		}
		made := m.calls("create_issue", on(map[string]any{
			"title": `["a list"]`, "description": "null", "labels": `["x", "y"]`, "blockedBy": fmt.Sprintf("[%d]", filed.Number),
			"assignedTeamId": nil, "priority": nil, "parentId": nil, "idempotencyKey": nil,
		}))
		want := map[string]any{
			"title": `["a list"]`, "description": "null", "labels": []any{"x", "y"}, "blockedBy": []any{filed.ID}, "parentId": filed.ID,
		}
		for name, value := range want {
			if diff := cmp.Diff(value, made[name]); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		m.calls("checkpoint", on(map[string]any{"note": "12", "data": `{"n":1}`}))
		asked := m.calls("request_approval", on(map[string]any{
			"actionName": "deploy", "action": "Deploy.", "park": "False", "sideEffects": `["One"]`, "cost": `{"usd":"2"}`,
			"expiresIn": "3600",
		}))
		if asked["status"] != "pending" {
			t.Errorf("asked: %v", asked)
		}
		m.calls("check_approval", map[string]any{"approvalId": asked["id"], "wait": "0.0"})
		for name, arguments := range map[string]map[string]any{
			"report_cost": {"costs": `[{"key":"a","key":"b","kind":"tools","usd":1}]`}, "comment": {"body": nil},
			"fail": {"message": "No.", "retry": "maybe"}, "checkpoint": {"note": 7}, "create_issue": {"title": "A", "labels": []any{nil}},
			"request_approval": {"actionName": "a", "action": "b", "cost": "two"}, "hand_off": {"note": "a", "color": nil},
		} {
			m.refused("validation_failed: ", name, on(arguments))
		}
		m.calls("complete", on(map[string]any{"result": "[1]", "summary": nil}))
		if got := resttest.Data[struct{ Result json.RawMessage }](t, s.Get(filed.path())); string(got.Result) != `"[1]"` {
			t.Errorf("the result is %s", got.Result)
		}
		checkpoint := resttest.Data[apiRun](t, s.Get(filed.path()+"/runs/"+run.ID)).Checkpoints[0]
		if checkpoint.Note != "12" || string(checkpoint.Data) != `"{\"n\":1}"` {
			t.Errorf("the checkpoint is %+v, %s", checkpoint, checkpoint.Data)
		}
	})
}

// REST takes none of that.
func TestTheGatewayItselfIsStrict(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, ada := s.employ(t, "acme")
	s.file(t, acme, "")
	w := worker{s.agent(t, ada.Token), ada, s}
	lease := w.claim(t, "")
	w.Send(resttest.Request{Method: "POST", Path: lease.path() + "/costs", Wrong: true, Body: lease.body(`"costs":"[]"`)}).
		Is(t, 422, "validation_failed")
	w.Send(resttest.Request{Method: "POST", Path: lease.path() + "/complete", Wrong: true, Body: lease.body(`"summary":null`)}).
		Is(t, 422, "validation_failed")
	w.Send(resttest.Request{Method: "GET", Path: "/gateway/v1/issues/%231", Wrong: true}).Is(t, 404, "not_found")
}

func TestAnIssueIsFoundByItsNumber(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		other, _ := s.employ(t, "other")
		s.file(t, other, "")
		foreign := s.file(t, other, "")
		filed := s.file(t, acme, "")
		w := worker{s.agent(t, ada.Token), ada, s}
		byNumber := fmt.Sprintf("/gateway/v1/issues/%d", filed.Number)
		if got := resttest.Data[apiIssue](t, w.Get(byNumber)); got.ID != filed.ID {
			t.Errorf("found %s", got.ID)
		}
		w.Get(byNumber+"/comments").Is(t, 200, "")
		lease := w.claim(t, "")
		made := resttest.Data[apiIssue](t, w.Post("/gateway/v1/issues", fmt.Sprintf(
			`{"leaseId":%q,"fencingToken":%d,"title":"A","parentId":"%d","blockedBy":["%[3]d",%[4]q]}`,
			lease.LeaseID, lease.FencingToken, filed.Number, filed.ID)))
		if made.ParentID == nil || *made.ParentID != filed.ID {
			t.Errorf("the parent is %v", made.ParentID)
		}
		w.Get(fmt.Sprintf("/gateway/v1/issues/%d", made.Number+foreign.Number)).Is(t, 404, "not_found")
		w.Post("/gateway/v1/issues", fmt.Sprintf(`{"leaseId":%q,"fencingToken":%d,"title":"A","parentId":"99"}`,
			lease.LeaseID, lease.FencingToken)).Is(t, 422, "validation_failed")
		m := s.connect(t, ada.Token)
		for _, reference := range []any{filed.ID, filed.Number, fmt.Sprint(filed.Number), fmt.Sprintf("#%d", filed.Number)} {
			if got := m.calls("get_issue", map[string]any{"issueId": reference}); got["id"] != filed.ID {
				t.Errorf("%v finds %v", reference, got["id"])
			}
		}
		part := m.calls("create_issue", map[string]any{
			"lease": fmt.Sprintf("%s#%d", lease.LeaseID, lease.FencingToken), "title": "B", "parentId": fmt.Sprintf("#%d", made.Number),
			"blockedBy": []any{made.Number, fmt.Sprintf("#%d", filed.Number)},
		})
		if blockers := fmt.Sprint(part["blockedBy"]); part["parentId"] != made.ID || blockers != fmt.Sprint([]any{made.ID, filed.ID}) {
			t.Errorf("the part is %v", part)
		}
	})
}

// A client that is gone can work on nothing.
func TestAClaimOverMCPWhoseClientIsGoneTakesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		versions := []string{"2025-11-25", "2026-07-28"}
		var ends []context.CancelFunc
		for _, version := range versions {
			ctx, cancel := context.WithCancel(t.Context())
			ends = append(ends, cancel)
			meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `",` +
				`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`
			request := s.message(t, ada.Token,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+meta+`"name":"claim","arguments":{"wait":25}}}`).WithContext(ctx)
			request.Header.Set("Mcp-Protocol-Version", version)
			request.Header.Set("Mcp-Method", "tools/call")
			request.Header.Set("Mcp-Name", "claim")
			go func() {
				response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
				if err == nil {
					_ = response.Body.Close()
					t.Errorf("%s: the claim was answered: %d", version, response.StatusCode)
				}
			}()
		}
		await(t, "the claims do not wait", func() bool { return s.waiting() == len(versions) })
		for _, end := range ends {
			end()
		}
		await(t, "the claims still wait", func() bool { return s.waiting() == 0 })
		filed := s.file(t, acme, "")
		if got := s.look(t, filed); got.Status != "queued" {
			t.Errorf("the issue is %s", got.Status)
		}
		if held := s.connect(t, ada.Token).calls("list_leases", nil)["leases"].([]any); len(held) > 0 {
			t.Errorf("the agent holds %v", held)
		}
	})
}

func TestAModelThatHoldsALeaseIsToldSoWhenItClaims(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		m := s.connect(t, ada.Token)
		first := s.file(t, acme, "")
		lease := m.calls("claim", nil)["lease"]
		hint := fmt.Sprint(m.calls("claim", nil)["hint"])
		want := fmt.Sprintf("You hold the lease %s on issue %d %q: ", lease, first.Number, first.Title)
		if !strings.HasPrefix(hint, want) || !strings.Contains(hint, "list_leases") || !strings.Contains(hint, "Nothing to do") {
			t.Errorf("the hint is %q", hint)
		}
		s.file(t, acme, "")
		m.calls("claim", nil)
		if hint := fmt.Sprint(m.calls("claim", nil)["hint"]); !strings.Contains(hint, " and 1 more: ") {
			t.Errorf("the hint is %q", hint)
		}
	})
}
