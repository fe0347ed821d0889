package wiring_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"holdco/adapters/http/rest/resttest"
)

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// toolUser is a client of the Model Context Protocol.
type toolUser struct {
	*testing.T

	session *mcp.ClientSession
	outputs map[string]*jsonschema.Resolved // by the name of the tool
}

func (s *instance) connect(t *testing.T, token string) toolUser {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.gatewayURL + "/gateway/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
	}, nil)
	must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	listed, err := session.ListTools(t.Context(), nil)
	must(t, err)
	m := toolUser{t, session, map[string]*jsonschema.Resolved{}}
	for _, tool := range listed.Tools {
		text, err := json.Marshal(tool.OutputSchema)
		must(t, err)
		var schema jsonschema.Schema
		must(t, json.Unmarshal(text, &schema))
		m.outputs[tool.Name], err = schema.Resolve(nil)
		must(t, err)
	}
	return m
}

// calls calls a tool, and returns what it returned.
func (m toolUser) calls(name string, arguments map[string]any) map[string]any {
	m.Helper()
	result, err := m.session.CallTool(m.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	must(m.T, err)
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		m.Fatalf("%s: %s", name, text)
	}
	var got map[string]any
	must(m.T, json.Unmarshal([]byte(text), &got))
	structured, err := json.Marshal(result.StructuredContent)
	must(m.T, err)
	var same map[string]any
	must(m.T, json.Unmarshal(structured, &same))
	if len(same) != len(got) {
		m.Errorf("%s: the text is %v, the content %v", name, got, same)
	}
	if err := m.outputs[name].Validate(same); err != nil {
		m.Errorf("%s returned what its output schema does not allow: %v\n%s", name, err, structured)
	}
	return got
}

// refused calls a tool that is refused with a text that begins so.
func (m toolUser) refused(want, name string, arguments map[string]any) {
	m.Helper()
	result, err := m.session.CallTool(m.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	must(m.T, err)
	if text := result.Content[0].(*mcp.TextContent).Text; !result.IsError || !strings.HasPrefix(text, want) {
		m.Errorf("%s %v: %s", name, arguments, text)
	}
}

func TestAModelIsToldWhyThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"budget":{"usd":10}`))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		ada, eve := s.hire(t, sales, ""), s.hire(t, sales, "")
		m, other := s.connect(t, ada.Token), worker{s.agent(t, eve.Token), eve, s}
		patch := func(path, body string) {
			t.Helper()
			s.Patch(path, body).Is(t, 200, "")
		}
		hints := func(want string) {
			t.Helper()
			if got := m.calls("claim", nil); got["lease"] != nil || !strings.Contains(fmt.Sprint(got["hint"]), want) {
				t.Errorf("%v, and not %s", got, want)
			}
		}
		hints("Nothing to do")
		s.file(t, acme, `,"budget":{"perTaskUsd":1}`)
		patch(acme.path(), `{"workPaused":true}`)
		hints("The company has paused all work")
		patch(acme.path(), `{"workPaused":false}`)
		s.Post(ada.path()+"/pause", "").Is(t, 200, "")
		hints("You are paused")
		s.Post(ada.path()+"/resume", "").Is(t, 200, "")
		patch(acme.path(), `{"budget":{"usd":0}}`)
		hints("The company has no budget")
		patch(acme.path(), `{"budget":{"usd":10}}`)
		patch(ada.path(), `{"budget":{"dailyUsd":0}}`)
		hints("You have no budget")
		patch(ada.path(), `{"budget":{"dailyUsd":null}}`)
		patch(sales.path(), `{"budget":{"usd":1}}`)
		lease := other.claim(t, "")
		s.file(t, acme, "")
		hints("Your team has no budget left beside what is spent and what other leases hold")
		other.charges(t, lease, "1", "1")
		hints("Your team has spent the budget of this period")
		patch(sales.path(), `{"budget":null}`)
		if got := m.calls("claim", nil); got["lease"] == nil {
			t.Errorf("%v", got)
		}
	})
}

func TestModelsWorkThroughTools(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		m := s.connect(t, ada.Token)
		if got := m.calls("claim", nil); got["lease"] != nil || got["hint"] == "" {
			t.Errorf("without an issue: %v", got)
		}
		filed := s.file(t, acme, "")
		got := m.calls("claim", map[string]any{"wait": 1})
		lease, _ := got["lease"].(string)
		if !strings.HasSuffix(lease, "#1") || got["leaseSeconds"] != 1800.0 || got["issue"].(map[string]any)["id"] != filed.ID {
			t.Fatalf("the claim returned %v", got)
		}
		on := func(more map[string]any) map[string]any {
			arguments := map[string]any{"lease": lease}
			for name, value := range more {
				arguments[name] = value
			}
			return arguments
		}
		for _, call := range []struct {
			tool string
			more map[string]any
		}{
			{"context", nil}, {"renew", nil}, {"checkpoint", map[string]any{"note": "Half of it.", "data": []int{1}}},
			{"comment", map[string]any{"body": "Soon."}},
			{"report_cost", map[string]any{"costs": []map[string]any{{"key": "c1", "kind": "llm", "usd": 0.125}}}},
			{"create_issue", map[string]any{"title": "Proofread", "priority": "low"}},
		} {
			if got := m.calls(call.tool, on(call.more)); got["lease"] != lease {
				t.Errorf("%s returned %v", call.tool, got)
			}
		}
		held := m.calls("list_leases", nil)["leases"].([]any)[0].(map[string]any)
		if held["lease"] != lease || held["issue"].(map[string]any)["id"] != filed.ID {
			t.Errorf("the leases are %v", held)
		}
		if got := m.calls("get_issue", map[string]any{"issueId": filed.ID}); got["title"] != filed.Title {
			t.Errorf("the issue is %v", got)
		}
		if got := m.calls("list_colleagues", nil)["agents"].([]any); len(got) != 1 {
			t.Errorf("the colleagues are %v", got)
		}
		if got := m.calls("whoami", nil)["agent"].(map[string]any); got["id"] != ada.ID {
			t.Errorf("the agent is %v", got)
		}
		m.refused("validation_failed: ", "checkpoint", on(map[string]any{"note": 7}))
		done := m.calls("complete", on(map[string]any{"result": map[string]any{"pages": 2}, "summary": "Two pages."}))
		if done["issue"].(map[string]any)["status"] != "review" {
			t.Errorf("the end is %v", done)
		}
		m.refused("stale_lease: ", "renew", on(nil))
		m.refused("not_found: ", "get_issue", map[string]any{"issueId": "iss_1"})
		m.refused("validation_failed: ", "renew", map[string]any{"lease": "lse_1"})
		m.refused("validation_failed: ", "renew", nil)
		id, _, _ := strings.Cut(lease, "#")
		for _, token := range []string{"#+1", "#01", "#-1", "#0", "#1 ", "# 1", "#1.0", "#", "", "#1#1"} {
			m.refused("validation_failed: ", "renew", map[string]any{"lease": id + token})
		}
		m.refused("validation_failed: ", "claim", map[string]any{"wait": 26})
		m.refused("validation_failed: ", "claim", map[string]any{"wait": "long"})
		m.refused("validation_failed: ", "claim", map[string]any{"color": "red"})
		for _, end := range []struct {
			tool string
			more map[string]any
			want string
		}{
			{"release", nil, "queued"}, {"fail", map[string]any{"message": "No ink.", "retry": true}, "queued"},
			{"hand_off", map[string]any{"note": "Which ink?"}, "handoff"},
		} {
			lease = m.calls("claim", map[string]any{"wait": 25})["lease"].(string)
			if got := m.calls(end.tool, on(end.more)); got["issue"].(map[string]any)["status"] != end.want {
				t.Errorf("%s returned %v", end.tool, got)
			}
			s.clock.advance(11 * time.Second) // beyond the delay after a failure
		}
		if _, err := m.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "fly"}); err == nil {
			t.Error("a tool that does not exist is called")
		}
	})
}

// A model that lost an answer makes the call again.
func TestToolsThatAreCalledAgainUnderAKeyWriteOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		m := s.connect(t, ada.Token)
		filed := s.file(t, acme, "")
		lease := m.calls("claim", nil)["lease"]
		for tool, arguments := range map[string]map[string]any{
			"checkpoint": {"note": "Half of it."}, "comment": {"body": "Soon."}, "create_issue": {"title": "Proofread"},
		} {
			arguments["lease"], arguments["idempotencyKey"] = lease, tool+"-1"
			first := m.calls(tool, arguments)
			if diff := gocmp.Diff(first, m.calls(tool, arguments)); diff != "" {
				t.Error(tool, diff)
			}
			for _, name := range []string{"note", "body", "title"} {
				if _, has := arguments[name]; has {
					arguments[name] = "Another."
				}
			}
			m.refused("idempotency_conflict: ", tool, arguments)
			for _, key := range []any{"", "a b", "\n", 7.5, strings.Repeat("k", 256)} {
				arguments["idempotencyKey"] = key
				if _, isText := key.(string); isText {
					m.refused("invalid_parameter: ", tool, arguments)
				} else {
					m.refused("validation_failed: ", tool, arguments)
				}
			}
		}
		m.refused("validation_failed: ", "renew", map[string]any{"lease": lease, "idempotencyKey": "k"})
		comments := resttest.Data[[]apiComment](t, s.Get(filed.path()+"/comments"))
		children := resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?parent="+filed.ID))
		runs := resttest.Data[[]apiRun](t, s.Get(filed.path()+"/runs"))
		if len(comments) != 1 || len(children) != 1 || runs[0].CheckpointCount != 1 {
			t.Errorf("%d comments, %d parts, %+v", len(comments), len(children), runs)
		}
	})
}

func TestAMessageThatIsNoneOfTheProtocolIsRefusedInJSON(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	_, ada := s.employ(t, "acme")
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`: "400 null -32600",
		`{"jsonrpc":"2.0","id":7,"method":"tools/fly"}`:     "400 7 -32601",
		`{"jsonrpc":"1.0","id":7,"method":"tools/list"}`:    "400 7 -32600",
		`{"id":7}`:                "400 7 -32600",
		`{}`:                      "400 null -32600",
		`{"id":6,"ID":5}`:         "400 6 -32600",
		`{"ID":5}`:                "400 null -32600",
		`{"id":9007199254740993}`: "400 9007199254740993 -32600",
		`{"id":1e400}`:            "400 1e400 -32600",
		`{"id":-1.50}`:            "400 -1.50 -32600",
		`{"id":"a\"é"}`:           `400 "a\"é" -32600`,
		`{"id":[1]}`:              "400 null -32600",
		`{"id":{"id":1}}`:         "400 null -32600",
		`{"id":true}`:             "400 null -32600",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.gatewayURL+"/gateway/mcp", strings.NewReader(body))
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+ada.Token)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		text, err := io.ReadAll(response.Body)
		must(t, errors.Join(err, response.Body.Close()))
		var answer struct {
			Version string `json:"jsonrpc"`
			ID      json.RawMessage
			Error   struct {
				Code    int
				Message string
			}
		}
		must(t, json.Unmarshal(text, &answer))
		got := fmt.Sprintf("%d %s %d", response.StatusCode, answer.ID, answer.Error.Code)
		if got != want || answer.Version != "2.0" || answer.Error.Message == "" {
			t.Errorf("%s: %s %s, want %s", body, got, text, want)
		}
		if mediaType := response.Header.Get("Content-Type"); mediaType != "application/json" {
			t.Errorf("%s: %s", body, mediaType)
		}
	}
}

// The refusals that come before the protocol have its form too.
func TestTheToolsAreGuardedLikeTheGateway(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		_, ada := s.employ(t, "acme")
		const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		for _, c := range []struct {
			method, token, body, mediaType, origin, want, header string
		}{
			{token: ada.Token, body: list, want: "200 1"},
			{token: "nobody", body: list, want: "401 null -32000 unauthorized", header: "WWW-Authenticate"},
			{token: ada.Token, body: list, origin: "http://evil.example", want: "403 null -32000 origin_not_allowed"},
			{token: ada.Token, body: "[]", want: "400 null -32600 invalid_json"},
			{token: ada.Token, body: "[" + list + "]", want: "400 null -32600 invalid_json"},
			{token: ada.Token, body: `{"jsonrpc":`, want: "400 null -32700 invalid_json"},
			{token: ada.Token, body: `{"id":3,"id":4}`, want: "400 4 -32600 invalid_json"},
			{token: ada.Token, body: "", want: "400 null -32700 invalid_json"},
			{token: ada.Token, body: list, mediaType: "text/plain", want: "415 1 -32000 unsupported_media_type"},
			{token: ada.Token, body: strings.Repeat(" ", 1<<20) + list, want: "413 null -32000 payload_too_large"},
			{method: "GET", token: ada.Token, want: "405 null -32000 method_not_allowed", header: "Allow"},
			{method: "DELETE", token: ada.Token, want: "405 null -32000 method_not_allowed", header: "Allow"},
		} {
			request := s.message(t, c.token, c.body)
			request.Method = cmp.Or(c.method, request.Method)
			request.Header.Set("Content-Type", cmp.Or(c.mediaType, "application/json"))
			if c.origin != "" {
				request.Header.Set("Origin", c.origin)
			}
			if len(c.body) > 1<<20 { // it is refused before it is sent, so that the answer arrives
				request.Header.Set("Expect", "100-continue")
			}
			got, header := answerTo(t, request)
			if got != c.want || c.header != "" && header.Get(c.header) == "" || header.Get("Content-Type") != "application/json" {
				t.Errorf("%.60s %s: %s %v, want %s", c.body, c.origin, got, header, c.want)
			}
		}
	})
}

// message makes a request of the protocol.
func (s *instance) message(t *testing.T, token, body string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.gatewayURL+"/gateway/mcp", strings.NewReader(body))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	return request
}

// answerTo returns the status of the answer to a message, its id, and the codes of its error.
func answerTo(t *testing.T, request *http.Request) (string, http.Header) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	text, err := io.ReadAll(response.Body)
	must(t, errors.Join(err, response.Body.Close()))
	var answer struct {
		ID    json.RawMessage
		Error *struct {
			Code int
			Data struct{ Code string }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Errorf("%d %q: %v", response.StatusCode, text, err)
	}
	got := fmt.Sprintf("%d %s", response.StatusCode, answer.ID)
	if answer.Error != nil {
		got += fmt.Sprintf(" %d %s", answer.Error.Code, answer.Error.Data.Code)
	}
	return got, response.Header
}

// The official client, which was written by others.
func TestTheOfficialJavaScriptClientFinishesAnIssue(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, ada := s.employ(t, "acme")
	filed := s.file(t, acme, `,"requiresReview":false`)
	dir := installed(t)
	run := exec.CommandContext(t.Context(), "node", "client.mjs")
	run.Dir, run.Env = dir, append(os.Environ(), "HOLDCO_MCP_URL="+s.gatewayURL+"/gateway/mcp", "HOLDCO_AGENT_TOKEN="+ada.Token)
	output, err := run.CombinedOutput()
	if err != nil || strings.TrimSpace(string(output)) != "18 tools; done" {
		t.Errorf("%v: %s", err, output)
	}
	if got := s.look(t, filed); got.Status != "done" {
		t.Errorf("the issue is %s", got.Status)
	}
}

// installed returns a directory with the programs for tests of the protocol in JavaScript, and the packages that they use.
func installed(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	must(t, err)
	dir := t.TempDir()
	files, err := os.ReadDir(filepath.Join("testdata", "mcp"))
	must(t, err)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join("testdata", "mcp", file.Name()))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, file.Name()), content, 0o600))
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return dir
}
