package httpkit_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"holdco/adapters/http/httpkit"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
	"holdco/domain/ratelimit"
)

const agentsDocument = `
paths:
  /work:
    post:
      operationId: work
      x-scope: any
      x-class: gateway
      parameters:
        - {name: Idempotency-Key, in: header, schema: {type: string}}
`

func TestAnAgentIsWhoCallsAndWhoseRequestsAreCounted(t *testing.T) {
	t.Parallel()
	table, limiter := tableOf(t, agentsDocument), &fakeLimiter{taken: map[ratelimit.Key]ratelimit.Limit{}}
	var caller agent.Caller
	var key idempotency.Key
	router := httpkit.New(httpkit.Options{Clock: fixed{}, IDs: fixed{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	limits := httpkit.Limits{Limiter: limiter, ByClass: ratelimit.Limits{Gateway: 1200}}
	err := table.Serve(router.Group("", table.AgentGate(agentNames{}, limits, nil)), httpkit.Handlers{
		"work": func(r httpkit.Request) (httpkit.Answer, error) {
			caller, key = r.Agent(), httpkit.Once(r, func(string) httpkit.Answer { return httpkit.Answer{} }).Key
			return httpkit.Answer{Data: "done"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string, header ...string) answer {
		request := httptest.NewRequestWithContext(t.Context(), "POST", "/work", strings.NewReader(""))
		request.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		return kit{router: router}.send(request)
	}
	ask("ada", "Idempotency-Key", "k").is(t, "an agent", 200, "")
	if caller.ID != "agt_ada" || key != (idempotency.Key{Caller: "agt_ada", Value: "k"}) {
		t.Errorf("the caller is %+v, and its key %+v", caller, key)
	}
	ask("run", "Idempotency-Key", "k").is(t, "a run", 200, "")
	if caller.ID != "agt_ada" || key != (idempotency.Key{Caller: "lse_run", Value: "k"}) {
		t.Errorf("the caller is %+v, and its key %+v", caller, key)
	}
	if ask("ada").is(t, "no key", 200, ""); key != (idempotency.Key{}) {
		t.Errorf("the key is %+v", key)
	}
	ask("nobody").is(t, "a stranger", 401, fault.Unauthorized)
	ask("ada", "Origin", "https://app.acme.example").is(t, "a page", 403, fault.OriginNotAllowed)
	if limit := limiter.taken[ratelimit.ByAgent("agt_ada", ratelimit.Gateway)]; limit != 1200 {
		t.Errorf("counted: %v", limiter.taken)
	}
	limiter.full = true
	ask("ada", "Origin", "https://app.acme.example").is(t, "one too many", 429, fault.RateLimited)
	ask("nobody").is(t, "too many strangers", 429, fault.RateLimited)
}

// agentNames authenticates ada, by her token and by that of a run of hers.
type agentNames struct{}

func (agentNames) Authenticate(_ context.Context, token string) (agent.Caller, error) {
	switch token {
	case "ada":
		return agent.Caller{ID: "agt_ada"}, nil
	case "run":
		return agent.Caller{ID: "agt_ada", Lease: "lse_run"}, nil
	}
	return agent.Caller{}, fault.New(fault.Unauthorized, "No such token.")
}
