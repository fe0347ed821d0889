package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/apitest"
	"holdco/adapters/http/gateway"
	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/ratelimit"
	"holdco/ports/inbound"
)

// What agents get is tested through whole servers. Here it is what no test can make a store do.

func TestTheDocumentIsValidAndSaysWhatOperationsAreAndCanFailWith(t *testing.T) {
	t.Parallel()
	statuses := []string{"400", "401", "403", "413", "415", "429", "500", "503"}
	apitest.CheckDescription(t, apitest.Read(gateway.Document())(t), []string{"gateway"}, statuses)
}

func TestAnOperationWithoutHandlerStopsTheStart(t *testing.T) {
	t.Parallel()
	if _, err := gateway.New(gateway.Options{}); err == nil {
		t.Error("an API without handlers is served")
	}
}

func TestAFailureOfTheStoreIsAnsweredAsInternalOrUnavailable(t *testing.T) {
	t.Parallel()
	for golden, failure := range map[string]error{
		"internal":    errors.New("disk I/O error in /var/lib"),
		"unavailable": fault.New(fault.Unavailable, "The store cannot be reached; try again.").Because(errors.New("dial tcp")),
	} {
		looksAs(t, golden, serve(t, broken{failure: failure}).Send(resttest.Request{
			Method: http.MethodGet, Path: "/gateway/v1/me", Header: map[string]string{"X-Request-Id": "req_golden"},
		}))
	}
}

// looksAs fails the test unless an answer is that of a golden file.
func looksAs(t *testing.T, golden string, answer resttest.Answer) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/golden/gateway_error_" + golden + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Status  int
		Headers map[string]string
		Body    any
	}
	var got any
	if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(answer.Body, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Body, got); diff != "" || answer.Status != want.Status {
		t.Errorf("%s: %d %s", golden, answer.Status, diff)
	}
	for name, value := range want.Headers {
		if answer.Header.Get(name) != value {
			t.Errorf("%s: %s is %q, want %q", golden, name, answer.Header.Get(name), value)
		}
	}
}

func TestAMoveThatCameTooLateIsRefused(t *testing.T) {
	t.Parallel()
	late := fault.Transition("done", "complete", "An issue that is done cannot take the action complete.")
	looksAs(t, "invalid_transition", serve(t, broken{failure: late}).Send(resttest.Request{
		Method: http.MethodPost, Path: "/gateway/v1/leases", Header: map[string]string{"X-Request-Id": "req_golden"},
	}))
}

func TestAClaimThatIsOneTooManySaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	crowded := fault.New(fault.Unavailable, "Too many claims are waiting; try again later.").After(5 * time.Second)
	answer := serve(t, broken{failure: crowded}).Post("/gateway/v1/leases", `{"wait":30}`)
	answer.Is(t, http.StatusServiceUnavailable, "unavailable")
	if after := answer.Header.Get("Retry-After"); after != "5" {
		t.Errorf("Retry-After: %q", after)
	}
}

func TestATeamThatWasDeletedIsNull(t *testing.T) {
	t.Parallel()
	answer := serve(t, broken{}).Get("/gateway/v1/me")
	answer.Is(t, http.StatusOK, "")
	if team := resttest.Data[struct{ Team json.RawMessage }](t, answer).Team; string(team) != "null" {
		t.Errorf("the team is %s", team)
	}
}

// A call of a tool is logged with the address that it came from, as the request to its operation would be.
func TestACallOfAToolIsLoggedWithItsClient(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{}}}`
	call := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/gateway/mcp", strings.NewReader(message))
	call.Header = http.Header{
		"Authorization": {"Bearer any"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	answer := httptest.NewRecorder()
	handler(t, broken{log: &log}).ServeHTTP(answer, call)
	if answer.Code != http.StatusOK {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if lines := strings.Count(log.String(), "remote=192.0.2.1 "); lines != 2 || !strings.Contains(log.String(), "route=/gateway/v1/me") {
		t.Errorf("%s", &log)
	}
}

// serve starts an API, and returns a client of it.
func serve(t *testing.T, b broken) *resttest.Client {
	t.Helper()
	server := httptest.NewServer(handler(t, b))
	t.Cleanup(server.Close)
	return resttest.NewBy(t, server.URL, "/gateway/openapi.json", "any")
}

func handler(t *testing.T, b broken) http.Handler {
	t.Helper()
	made, err := gateway.New(gateway.Options{
		Service: httpkit.Service{
			Options: httpkit.Options{Clock: b, IDs: b, Log: slog.New(slog.NewTextHandler(b, nil))},
			Limits:  httpkit.Limits{Limiter: b, ByClass: ratelimit.Limits{Gateway: 1200}},
			Ready:   func(context.Context) error { return nil },
		},
		Groups: []httpkit.Routes{gateway.Agent(b), gateway.Leases(b), gateway.Approvals(b)},
		Auth:   b,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// broken lets every agent in, and then fails if it has an error. It is also a clock that stands still, a source of one id, and
// a limiter that admits everything.
type broken struct {
	inbound.Leases
	inbound.AgentApprovals

	failure error
	log     io.Writer // nil: nobody reads it
}

// Write takes the log.
func (b broken) Write(line []byte) (int, error) {
	if b.log == nil {
		return len(line), nil
	}
	return b.log.Write(line)
}

func (b broken) Claim(context.Context, agent.Caller, inbound.Claim) (*inbound.Lease, error) {
	return nil, b.failure
}

func (b broken) Me(context.Context, agent.Caller) (inbound.AgentAtWork, error) {
	found := inbound.AgentAtWork{Prices: 1}
	found.Agent = agent.Agent{
		ID: "agt_01km3g0000e000000000000001", Company: "cmp_01km3g0000e000000000000001", Team: "tm_01km3g0000e000000000000001",
		Status: agent.Active, AdapterConfig: agent.NoConfig,
	}
	found.Company.ID = found.Agent.Company
	return found, b.failure
}

func (broken) Authenticate(context.Context, string) (agent.Caller, error) {
	return agent.Caller{ID: "agt_01km3g0000e000000000000001"}, nil
}

func (broken) Now() time.Time { return time.Date(2026, 4, 11, 10, 42, 17, 0, time.UTC) }

func (broken) UUIDv7() [16]byte { return [16]byte{} }

func (broken) Take(_ context.Context, _ ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	return ratelimit.Verdict{Limit: limit, Admitted: true, Remaining: int64(limit) - 1, Reset: time.Minute}
}
