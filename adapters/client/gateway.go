package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/ports/inbound"
)

// Me is what is read of the agent that calls.
type Me struct {
	Agent struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"agent"`
	Company struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"company"`
}

// lease is what is read of a lease.
type lease struct {
	EndedAt string `json:"endedAt"` // empty: its run is open
	Reason  string `json:"reason"`
	ByAgent bool   `json:"endedByAgent"`
}

const allLeases, oneLease = "/gateway/v1/leases", "/gateway/v1/leases/{lease}"

// The operations of the gateway. A new lease is read by who works on it.
var (
	getMe      = declareOfGateway(Operation{ID: "me", Method: http.MethodGet, Path: "/gateway/v1/me", Shows: Me{}})
	claimLease = declareOfGateway(Operation{
		ID: "claimLease", Method: http.MethodPost, Path: allLeases, Fields: []string{"wait", "leaseSeconds", "runToken", "metered"},
	})
	getLease    = declareOfGateway(Operation{ID: "getLease", Method: http.MethodGet, Path: oneLease, Shows: lease{}})
	renewLease  = onLease("renewLease", "/renew")
	chargeLease = declareOfGateway(Operation{
		ID: "chargeLease", Method: http.MethodPost, Path: oneLease + "/costs", Fields: []string{"fencingToken", "costs"},
		Shows: chargedLease{}, takesNoKey: true,
	})
	completeLease = onLease("completeLease", "/complete", "result", "summary", "costs")
	failLease     = onLease("failLease", "/fail", "error", "retry", "retryAfter", "costs")
	handOffLease  = onLease("handOffLease", "/handoff", "note")
	releaseLease  = onLease("releaseLease", "/release", "note", "error", "retryAfter", "costs")
)

// endsLease are the operations that end a lease.
var endsLease = map[issue.Action]Operation{
	issue.Complete: completeLease, issue.Fail: failLease, issue.HandOff: handOffLease, issue.Release: releaseLease,
}

func onLease(name, path string, fields ...string) Operation {
	return declareOfGateway(Operation{
		ID: name, Method: http.MethodPost, Path: oneLease + path, Fields: append([]string{"fencingToken"}, fields...), takesNoKey: true,
	})
}

// Gateway is the gateway of a server, which an agent works through. Its calls are made once. They fail with the fault that the
// gateway answers, or with another error when the call may have another outcome later.
type Gateway struct{ client Client }

// NewGateway returns the gateway at a URL without a slash at its end, for who has a token.
func NewGateway(url string, token access.Value) Gateway {
	return Gateway{Client{URL: url, Token: token}}
}

func (g Gateway) do(ctx context.Context, call Call) (json.RawMessage, error) {
	data, err := g.client.Do(ctx, call)
	if refused := fault.Of(err); refused != nil && refused.Code == fault.Internal {
		return nil, errors.New(refused.Message)
	}
	return data, err
}

// Me returns who has the token.
func (g Gateway) Me(ctx context.Context) (Me, error) {
	data, err := g.do(ctx, getMe.In())
	if err != nil {
		return Me{}, err
	}
	return Read[Me](data)
}

// Claim leases the next issue for the agent, and waits for one so many seconds. It returns the lease as the gateway shows it, with
// a token for its run; nil: there is none. LeaseSeconds is how long the lease lasts without a call; 0: as the server is set. Of a run that
// is metered, what its program says that it costs is charged.
func (g Gateway) Claim(ctx context.Context, key string, wait, leaseSeconds int, isMetered bool) (json.RawMessage, error) {
	body := map[string]any{"wait": wait, "runToken": true}
	if isMetered { // servers from before do not know it
		body["metered"] = true
	}
	if leaseSeconds != 0 {
		body["leaseSeconds"] = leaseSeconds
	}
	return g.do(ctx, claimLease.In().Sending(body).under(key).waiting(time.Duration(wait)*time.Second))
}

// RunGateway is the gateway for the work under one lease. Of the answers nothing is read.
type RunGateway struct {
	agent, run Gateway
}

// Of returns the gateway for the run that has a token.
func (g Gateway) Of(runToken access.Value) RunGateway {
	return RunGateway{g, NewGateway(g.client.URL, runToken)}
}

// mostOnLease bounds a call on a lease: who works on it has more to attend to.
const mostOnLease = 10 * time.Second

// do makes a call on a lease.
func (g RunGateway) do(ctx context.Context, o Operation, call inbound.LeaseCall, body map[string]any) (json.RawMessage, error) {
	body["fencingToken"] = *call.Token
	return g.ask(ctx, o.In(string(call.Lease)).Sending(body))
}

// ask calls with the token of the run, which stays good when the agent gets another token, and with that of the agent where the
// other is not good: a claim that was repeated on the way may have replaced it.
func (g RunGateway) ask(ctx context.Context, call Call) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, mostOnLease)
	defer cancel()
	data, err := g.run.do(ctx, call)
	if refused := fault.Of(err); refused != nil && refused.Code == fault.Unauthorized {
		data, err = g.agent.do(ctx, call)
	}
	return data, err
}

// Ended returns why a lease has ended, and whether its agent ended it; empty: its run is open.
func (g RunGateway) Ended(ctx context.Context, which id.Lease) (reason string, byAgent bool, err error) {
	data, err := g.ask(ctx, getLease.In(string(which)))
	if err != nil {
		return "", false, err
	}
	found, err := Read[lease](data)
	if err == nil && found.EndedAt != "" && found.Reason == "" {
		found.Reason = "ended"
	}
	return found.Reason, found.ByAgent, err
}

// Renew renews a lease.
func (g RunGateway) Renew(ctx context.Context, _ agent.Caller, call inbound.LeaseCall) (inbound.LeaseState, error) {
	_, err := g.do(ctx, renewLease, call, map[string]any{})
	return inbound.LeaseState{}, err
}

// chargedLease is what is read of what came of charges.
type chargedLease struct {
	Entries []struct {
		Key      string      `json:"key"`
		USD      json.Number `json:"usd"`
		Unpriced bool        `json:"unpriced"`
	} `json:"entries"`
}

// Charge reports what a run costs. Of what came of it, the keys, the amounts and whether the models have prices are read.
func (g RunGateway) Charge(
	ctx context.Context, _ agent.Caller, call inbound.LeaseCall, charges []cost.Draft,
) (state inbound.LeaseState, outcomes []inbound.ChargeOutcome, err error) {
	data, err := g.do(ctx, chargeLease, call, map[string]any{"costs": charged(charges)})
	if err != nil {
		return state, nil, err
	}
	answer, err := Read[chargedLease](data)
	if err != nil {
		return state, nil, err
	}
	for _, entry := range answer.Entries {
		amount, err := money.ParseUSD(money.Number(entry.USD))
		if err != nil {
			return state, nil, err
		}
		outcomes = append(outcomes, inbound.ChargeOutcome{Entry: cost.Entry{Key: entry.Key, USD: amount, Unpriced: entry.Unpriced}})
	}
	return state, outcomes, nil
}

// End ends a lease. The body of a call that is repeated is the same to the byte.
func (g RunGateway) End(
	ctx context.Context, _ agent.Caller, call inbound.LeaseCall, end inbound.LeaseEnd,
) (inbound.Ended, error) {
	body := map[string]any{}
	if field := end.Action.NoteField(); field != "" {
		set(body, field, end.Note.Body)
	}
	switch end.Action {
	case issue.Complete:
		if end.Result != nil {
			body["result"] = json.RawMessage(end.Result)
		}
	case issue.Fail:
		body["error"] = failure(end)
		set(body, "retry", end.Failure.Retry)
		set(body, "retryAfter", end.Failure.RetryAfter)
	case issue.Release:
		if end.Failure.Code != nil {
			body["error"] = failure(end)
		}
		set(body, "retryAfter", end.Failure.RetryAfter)
	}
	if len(end.Charges) > 0 {
		body["costs"] = charged(end.Charges)
	}
	_, err := g.do(ctx, endsLease[end.Action], call, body)
	return inbound.Ended{}, err
}

// failure is why a lease ends as the gateway takes it.
func failure(end inbound.LeaseEnd) map[string]any {
	sent := map[string]any{}
	set(sent, "code", end.Failure.Code)
	set(sent, "message", end.Failure.Message)
	return sent
}

// charged are charges as the gateway takes them.
func charged(charges []cost.Draft) []map[string]any {
	sent := make([]map[string]any, len(charges))
	for n, one := range charges {
		charge := map[string]any{}
		set(charge, "key", one.Key)
		set(charge, "kind", one.Kind)
		set(charge, "model", one.Model)
		set(charge, "billing", one.Billing)
		set(charge, "session", one.Session)
		set(charge, "calls", one.Calls)
		if one.USD != nil {
			charge["usd"] = json.Number(*one.USD)
		}
		if one.Tokens != nil {
			tokens := map[string]any{}
			set(tokens, "input", one.Tokens.Input)
			set(tokens, "output", one.Tokens.Output)
			set(tokens, "cacheRead", one.Tokens.CacheRead)
			set(tokens, "cacheWrite", one.Tokens.CacheWrite)
			charge["tokens"] = tokens
		}
		sent[n] = charge
	}
	return sent
}

// set sets a member unless the value is absent.
func set[T any](body map[string]any, name string, value *T) {
	if value != nil {
		body[name] = *value
	}
}
