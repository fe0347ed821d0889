package scriptedmodel

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

// play serves a model, and returns what asks it: METHOD is POST.
func play(t *testing.T, m *Model) func(path, body string, header ...string) (int, string) {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return func(path, body string, header ...string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
}

func TestEachAPIIsAnsweredInItsForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		want       []string // in this order
	}{
		"messages": {"/v1/messages", `{"model":"m","tools":[{"name":"mcp__holdco__claim"}]}`, []string{
			`"name":"mcp__holdco__claim"`, `"type":"tool_use"`, `"stop_reason":"tool_use"`, `"cache_read_input_tokens":600`,
			`"input_tokens":400`, `"output_tokens":50`,
		}},
		"messages, streamed": {"/v1/messages", `{"model":"m","stream":true,"tools":[{"name":"mcp__holdco__claim"}]}`, []string{
			"event: message_start\n", `"input_tokens":400`, `"name":"mcp__holdco__claim"`, `"partial_json":"{\"wait\":5}"`,
			"event: message_delta\n", `"stop_reason":"tool_use"`, "event: message_stop\n",
		}},
		"responses": {"/v1/responses", `{"model":"m","tools":[{"type":"namespace","name":"mcp__holdco","tools":[{"name":"claim"}]}]}`,
			[]string{`"arguments":"{\"wait\":5}"`, `"name":"claim"`, `"namespace":"mcp__holdco"`, `"cached_tokens":600`}},
		"responses, streamed": {"/v1/responses", `{"model":"m","stream":true,"tools":[{"type":"function","name":"holdco.claim"}]}`,
			[]string{"event: response.created\n", "event: response.output_item.done\n", `"name":"holdco.claim"`,
				"event: response.completed\n", `"input_tokens":1000`, `"output_tokens":50`}},
		"responses, by code": {"/v1/responses",
			`{"input":[{"type":"additional_tools","tools":[{"type":"namespace","name":"functions",` +
				`"tools":[{"type":"custom","name":"exec"}]}]}]}`,
			[]string{`"input":"text(await tools.mcp__holdco__claim({\"wait\":5}));"`, `"name":"exec","namespace":"functions"`,
				`"type":"custom_tool_call"`}},
		"chat": {"/v1/chat/completions", `{"model":"m","tools":[{"type":"function","function":{"name":"holdco_claim"}}]}`,
			[]string{`"finish_reason":"tool_calls"`, `"name":"holdco_claim"`, `"completion_tokens":50`, `"prompt_tokens":1000`}},
		"chat, streamed": {"/v1/chat/completions", `{"stream":true,"tools":[{"type":"function","function":{"name":"holdco_claim"}}]}`,
			[]string{`"name":"holdco_claim"`, `"finish_reason":"tool_calls"`, `"prompt_tokens":1000`, "data: [DONE]\n"}},
		"gemini": {"/v1beta/models/m:generateContent", `{"tools":[{"functionDeclarations":[{"name":"mcp_holdco_claim"}]}]}`,
			[]string{`{"candidates"`, `"args":{"wait":5}`, `"name":"mcp_holdco_claim"`, `"cachedContentTokenCount":600`,
				`"promptTokenCount":1000`}},
		"gemini, streamed": {"/v1beta/models/m:streamGenerateContent?alt=sse",
			`{"tools":[{"functionDeclarations":[{"name":"mcp_holdco_claim"}]}]}`,
			[]string{`data: {"candidates"`, `"name":"mcp_holdco_claim"`}},
		"gemini, in a list": {"/v1beta/models/m:streamGenerateContent",
			`{"tools":[{"functionDeclarations":[{"name":"mcp_holdco_claim"}]}]}`, []string{`[{"candidates"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &Model{Script: []Step{{Text: "I claim.", Calls: []Call{{"claim", `{"wait":5}`}}}}}
			status, answer := play(t, m)(c.path, c.body)
			rest, found := answer, status == http.StatusOK && strings.Contains(answer, "I claim.")
			for _, part := range c.want {
				if found {
					_, rest, found = strings.Cut(rest, part)
				}
				if !found {
					t.Fatalf("%d without %s in its place: %s", status, part, answer)
				}
			}
			if m.Left() != 0 || len(m.Requests()) != 1 || m.Requests()[0].Step != 0 {
				t.Errorf("%d steps are left; requests: %v", m.Left(), m.Requests())
			}
		})
	}
}

func TestAScriptIsPlayedStepByStep(t *testing.T) {
	t.Parallel()
	m := &Model{
		Script: []Step{
			{Calls: []Call{{"complete", `{"lease":"${lease}"}`}, {Tool: "Bash"}}},
			{
				Status: http.StatusTooManyRequests, Problem: "rate_limit_error", Text: "Slow down.",
				Header: http.Header{"Retry-After": {"7"}},
			},
			{Text: "Done.", Usage: &Usage{Input: 7, Output: 3}},
		},
		Values: map[string]*regexp.Regexp{"lease": regexp.MustCompile(`lse_\w+#\d+`)},
	}
	ask := play(t, m)
	const tools = `"tools":[{"name":"complete"},{"name":"Bash"},{"name":"mcp__holdco__complete"}]`
	for i, c := range []struct {
		body, want string
		status     int
	}{
		{`{"model":"small"}`, SideText, 200},
		{`{"text":"lse_a#1 lse_b#2",` + tools + `}`, `"input":{"lease":"lse_b#2"},"name":"mcp__holdco__complete"`, 200},
		{`{` + tools + `}`, `{"error":{"message":"Slow down.","type":"rate_limit_error"}`, 429},
		{`{` + tools + `}`, `"output_tokens":3`, 200},
		{`{` + tools + `}`, AfterText, 200},
		{`{`, "invalid_request_error", 400},
	} {
		if status, answer := ask("/v1/messages", c.body); status != c.status || !strings.Contains(answer, c.want) {
			t.Errorf("%d: %d %s; want %d with %s", i, status, answer, c.status, c.want)
		}
	}
	var steps []int
	for _, request := range m.Requests() {
		steps = append(steps, request.Step)
	}
	if len(steps) != 5 || steps[0] != NoStep || steps[3] != 2 || steps[4] != NoStep || m.Requests()[0].Model != "small" {
		t.Errorf("steps %v of %v", steps, m.Requests())
	}
}

func TestTokensAreCountedAndOtherPathsAreNot(t *testing.T) {
	t.Parallel()
	m := &Model{}
	ask := play(t, m)
	for path, want := range map[string]string{
		"/v1/messages/count_tokens": `{"input_tokens":1000}`, "/v1beta/models/m:countTokens": `{"totalTokens":1000}`,
		"/v1/files": "no such path",
	} {
		if _, answer := ask(path, "{}"); !strings.Contains(answer, want) {
			t.Errorf("%s: %s", path, answer)
		}
	}
	if len(m.Requests()) != 0 {
		t.Errorf("%v", m.Requests())
	}
}

func TestAKeyIsWantedWhereOneIsSet(t *testing.T) {
	t.Parallel()
	m := &Model{Key: "test-key"}
	ask := play(t, m)
	for i, header := range [][]string{
		{"Authorization", "Bearer test-key"}, {"X-Api-Key", "test-key"}, {"X-Goog-Api-Key", "test-key"},
	} {
		if status, answer := ask("/v1/messages", "{}", header...); status != http.StatusOK {
			t.Errorf("%d: %d %s", i, status, answer)
		}
	}
	for path, want := range map[string]string{
		"/v1/messages": `"type":"error"`, "/v1/responses": `"param":null`, "/v1beta/models/m:generateContent": `"code":401`,
	} {
		if status, answer := ask(path, "{}", "X-Api-Key", "wrong"); status != http.StatusUnauthorized || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}

func TestAStepWaitsUntilItIsLetGo(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	m := &Model{Script: []Step{{Text: "First.", Until: make(chan struct{})}, {Text: "Late.", Until: released}}}
	server := httptest.NewServer(m)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	body := `{"tools":[{"name":"a"}]}`
	go func() {
		request, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/messages", strings.NewReader(body))
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		sent <- err
	}()
	for len(m.Requests()) == 0 { // it is recorded before it is answered
		select {
		case err := <-sent:
			t.Fatal("answered, ", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-sent; err == nil {
		t.Error("the step that hangs was answered")
	}
	close(released)
	if _, answer := play(t, m)("/v1/messages", body); !strings.Contains(answer, "Late.") {
		t.Error(answer)
	}
}
