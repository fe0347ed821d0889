package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/client"
	"holdco/domain/access"
	"holdco/domain/fault"
)

// reply is how a server answers a request. Without a body it closes the connection.
type reply struct {
	status     int
	body       string
	retryAfter string
}

// script is a server that answers with the replies, one after the other.
type script struct {
	*client.Client
	replies  []reply
	requests []string // as they came, with bodies
	keys     []string
	waits    []time.Duration
	mutex    sync.Mutex // held while a request is handled
}

// settled waits until no request is handled. A client can see the end of a connection earlier.
func (s *script) settled() *script {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s
}

func serve(t *testing.T, replies ...reply) *script {
	t.Helper()
	s := &script{replies: replies}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		body, _ := io.ReadAll(r.Body)
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		if got := r.Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("the token came as %q", got)
		}
		if got := r.Header.Get("Content-Type"); (got == "application/json") != (len(body) > 0) {
			t.Errorf("a body of %d bytes came as %q", len(body), got)
		}
		if len(s.replies) == 0 {
			t.Error("one request too many")
			return
		}
		next := s.replies[0]
		s.replies = s.replies[1:]
		if next.body == "" {
			panic(http.ErrAbortHandler)
		}
		if next.retryAfter != "" {
			w.Header().Set("Retry-After", next.retryAfter)
		}
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	}))
	server.Config.SetKeepAlivesEnabled(false) // on a connection that is used again net/http itself tries again
	server.Start()
	t.Cleanup(server.Close)
	s.Client = &client.Client{URL: server.URL, Token: access.Value("secret"), Patience: time.Minute}
	s.Wait = func(_ context.Context, d time.Duration, why error) error {
		if why == nil {
			t.Error("it waits for nothing")
		}
		s.waits = append(s.waits, d)
		return nil
	}
	return s
}

func refusal(code fault.Code, details string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"No.","details":%s},"meta":{"requestId":"req_1","timestamp":"-"}}`, code, details)
}

const one = `{"data":{"id":"1"},"meta":{"requestId":"req_1"}}`

var (
	lost    = reply{}
	done    = reply{200, one, ""}
	limited = reply{429, refusal(fault.RateLimited, "{}"), "7"}
	busy    = reply{503, refusal(fault.Unavailable, "{}"), "2"}
)

func TestACallSendsItsPathItsQueryAndItsBody(t *testing.T) {
	t.Parallel()
	s := serve(t, done, done)
	data, err := s.Do(t.Context(), client.GetTeam.In("cmp_1", "../a b?c"))
	if err != nil || string(data) != `{"id":"1"}` {
		t.Errorf("%s, %v", data, err)
	}
	body := map[string]any{"name": "<a>", "adapterConfig": json.RawMessage(`{"b":"<c>"}`)}
	if _, err = s.Do(t.Context(), client.HireAgent.In("cmp_1").With("x", "1,2").With("y", "z").Sending(body)); err != nil {
		t.Error(err)
	}
	want := []string{
		"GET /v1/companies/cmp_1/teams/..%2Fa%20b%3Fc",
		`POST /v1/companies/cmp_1/agents?x=1%2C2&y=z {"adapterConfig":{"b":"<c>"},"name":"<a>"}`,
	}
	if diff := cmp.Diff(want, s.settled().requests); diff != "" {
		t.Error(diff)
	}
}

func TestAListIsReadToItsLastPage(t *testing.T) {
	t.Parallel()
	s := serve(t,
		reply{200, `{"data":[1,2.50],"meta":{"page":{"size":2,"cursor":"a+b"}}}`, ""}, busy,
		reply{200, `{"data":[],"meta":{"page":{"size":2,"cursor":"c"}}}`, ""},
		reply{200, `{"data":[{"x":3}],"meta":{"page":{"size":2,"cursor":null}}}`, ""})
	found, err := s.List(t.Context(), client.ListAgents.In("cmp_1").With("team", "research"))
	if err != nil || fmt.Sprintf("%s", found) != `[1 2.50 {"x":3}]` {
		t.Errorf("%s, %v", found, err)
	}
	const path = "GET /v1/companies/cmp_1/agents?"
	want := []string{
		path + "limit=200&team=research", path + "cursor=a%2Bb&limit=200&team=research",
		path + "cursor=a%2Bb&limit=200&team=research", path + "cursor=c&limit=200&team=research",
	}
	if diff := cmp.Diff(want, s.settled().requests); diff != "" {
		t.Error(diff)
	}
	for _, broken := range []reply{{404, refusal(fault.NotFound, "{}"), ""}, {200, `{"data":{},"meta":{}}`, ""}} {
		if _, err := serve(t, broken).List(t.Context(), client.ListTeams.In("cmp_1")); err == nil {
			t.Errorf("%s is a list", broken.body)
		}
	}
}

// Whatever is tried again has the same idempotency key, so that nothing is done twice.
func TestACallIsTriedAgainWhereThatHasNoSecondEffect(t *testing.T) {
	t.Parallel()
	second := time.Second
	get, post := client.GetTeam.In("c", "t"), client.CreateTeam.In("c").Sending(map[string]any{})
	patch, remove := client.UpdateTeam.In("c", "t").Sending(map[string]any{}), client.DeleteTeam.In("c", "t")
	for name, c := range map[string]struct {
		call    client.Call
		replies []reply
		waits   []time.Duration
		fails   bool
	}{
		"limited":               {get, []reply{limited, limited, done}, []time.Duration{7 * second, 7 * second}, false},
		"limited creation":      {post, []reply{limited, done}, []time.Duration{7 * second}, false},
		"limited deletion":      {remove, []reply{limited, done}, []time.Duration{7 * second}, false},
		"busy creation":         {post, []reply{busy, busy, done}, []time.Duration{2 * second, 2 * second}, false},
		"busy change":           {patch, []reply{busy, done}, []time.Duration{2 * second}, false},
		"busy deletion":         {remove, []reply{busy}, nil, true},
		"lost":                  {get, []reply{lost, lost, done}, []time.Duration{second, 2 * second}, false},
		"lost creation":         {post, []reply{lost, busy, lost, done}, []time.Duration{second, 2 * second, 3 * second}, false},
		"lost deletion":         {remove, []reply{lost}, nil, true},
		"always limited":        {get, slices.Repeat([]reply{limited}, 5), slices.Repeat([]time.Duration{7 * second}, 4), true},
		"limited for too long":  {get, []reply{{429, limited.body, "61"}}, nil, true},
		"limited for long":      {get, []reply{{429, limited.body, "60"}, limited}, []time.Duration{60 * second}, true},
		"refused":               {get, []reply{{409, refusal(fault.TeamNotEmpty, "{}"), ""}}, nil, true},
		"without Retry-After":   {get, []reply{{503, busy.body, ""}}, nil, true},
		"Retry-After as a date": {get, []reply{{503, busy.body, "Sun, 22 Nov 2026 10:00:00 GMT"}}, nil, true},
	} {
		s := serve(t, c.replies...)
		if _, err := s.Do(t.Context(), c.call); (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.waits, s.settled().waits); diff != "" || len(s.replies) > 0 {
			t.Errorf("%s: %d replies are left; %s", name, len(s.replies), diff)
		}
		posted := strings.HasPrefix(s.requests[0], "POST")
		if keys := slices.Compact(slices.Clone(s.keys)); len(keys) != 1 || (keys[0] != "") != posted {
			t.Errorf("%s: the idempotency keys are %q", name, s.keys)
		}
	}
	s := serve(t, done, done)
	for range 2 {
		if _, err := s.Do(t.Context(), post); err != nil {
			t.Error(err)
		}
	}
	if s.settled(); s.keys[0] == s.keys[1] {
		t.Error("two calls have one idempotency key")
	}
}

func TestWithoutPatienceACallIsMadeOnce(t *testing.T) {
	t.Parallel()
	for _, first := range []reply{limited, busy, lost} {
		s := serve(t, first)
		s.Patience = 0
		if _, err := s.Do(t.Context(), client.GetTeam.In("c", "t")); err == nil || len(s.settled().requests) != 1 {
			t.Errorf("%d requests, %v", len(s.requests), err)
		}
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := serve(t, limited)
	ctx, cancel := context.WithCancel(t.Context())
	s.Wait = func(ctx context.Context, _ time.Duration, _ error) error {
		cancel()
		return client.Sleep(ctx, time.Hour)
	}
	if _, err := s.Do(ctx, client.GetTeam.In("c", "t")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Do(ctx, client.GetTeam.In("c", "t")); !errors.Is(err, context.Canceled) || len(s.settled().requests) != 1 {
		t.Errorf("%d requests, %v", len(s.requests), err)
	}
}

func TestARefusalHasAllThatTheServerSays(t *testing.T) {
	t.Parallel()
	details := `{"fields":[{"field":"budget.usd","code":"too_precise","message":"budget.usd must"}],"agentCount":3}`
	s := serve(t, reply{422, refusal(fault.ValidationFailed, details), ""}, reply{409, refusal("of_tomorrow", `["x"]`), ""})
	_, err := s.Do(t.Context(), client.CreateTeam.In("c").Sending(map[string]any{}))
	refused, ok := errors.AsType[*client.Refusal](err)
	if !ok || refused.RequestID != "req_1" || fault.Of(err) != refused.Fault {
		t.Fatalf("%#v", err)
	}
	want := fault.Field{Path: "budget.usd", Code: fault.TooPrecise, Message: "budget.usd must"}
	got := refused.Fault
	if got.Code != fault.ValidationFailed || got.Message != "No." || !slices.Equal(got.Fields, []fault.Field{want}) ||
		got.Details["agentCount"] != 3.0 {
		t.Errorf("%+v", got)
	}
	_, err = s.Do(t.Context(), client.GetTeam.In("c", "t"))
	if code := fault.CodeOf(err); code != "of_tomorrow" {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoAnswerOfTheAPIIsSaidSo(t *testing.T) {
	t.Parallel()
	for _, answered := range []reply{
		{502, "<html>Bad gateway</html>", ""}, {200, "{}", ""}, {200, "[]", ""}, {301, "moved", ""},
		{200, `{"data":{},"error":{"code":"x"}}`, ""},
	} {
		s := serve(t, answered)
		_, err := s.Do(t.Context(), client.GetTeam.In("c", "t"))
		status := fmt.Sprintf("%d %s", answered.status, http.StatusText(answered.status))
		if err == nil || err.Error() != s.URL+" answered "+status+", and not as the API of Holdco does" {
			t.Errorf("%q: %v", answered.body, err)
		}
	}
	if _, err := client.Read[client.Team](json.RawMessage(`{"id":7}`)); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Error(err)
	}
}

func TestAServerThatIsNotThereIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	c := client.Client{URL: "http://127.0.0.1:1", Patience: time.Hour}
	_, err := c.Do(t.Context(), client.CreateTeam.In("c").Sending(map[string]any{}))
	if !errors.As(err, new(*client.Unreachable)) || !strings.HasPrefix(err.Error(), "cannot reach http://127.0.0.1:1: ") {
		t.Error(err)
	}
}

// A server that went away with an answer may be starting again.
func TestAServerThatWasThereIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := serve(t)
	gone := httptest.NewServer(nil)
	gone.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		_ = gone.Listener.Close()
		panic(http.ErrAbortHandler)
	})
	t.Cleanup(gone.Close)
	s.URL = gone.URL
	_, err := s.Do(t.Context(), client.CreateTeam.In("c").Sending(map[string]any{}))
	want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}
	if !errors.As(err, new(*client.Unreachable)) || !slices.Equal(s.waits, want) {
		t.Errorf("%v, %v", s.waits, err)
	}
}
