package client_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/client"
	"holdco/domain/agent"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/run"
	"holdco/ports/inbound"
)

func TestALeaseIsEndedAsItIsToEnd(t *testing.T) {
	t.Parallel()
	lease := inbound.LeaseCall{Lease: "lse_1", Token: new(int64(7))}
	why := run.FailureDraft{Code: new("exit_1"), Message: new("It broke.")}
	charges := []cost.Draft{{
		Key: new("a"), Kind: new("llm"), Model: new("m"), USD: new(money.Number("0.50")), Tokens: &cost.TokensDraft{Input: new(int64(2))},
	}}
	for name, c := range map[string]struct {
		end  inbound.LeaseEnd
		want string
	}{
		"complete": {
			inbound.LeaseEnd{Action: issue.Complete, Result: []byte(`[1e0]`), Charges: charges},
			`/complete {"costs":[{"key":"a","kind":"llm","model":"m","tokens":{"input":2},"usd":0.50}],"fencingToken":7,"result":[1e0]}`,
		},
		"complete with nothing": {inbound.LeaseEnd{Action: issue.Complete}, `/complete {"fencingToken":7}`},
		"complete with a summary": {
			inbound.LeaseEnd{Action: issue.Complete, Note: issue.Note{Body: new("Done.")}},
			`/complete {"fencingToken":7,"summary":"Done."}`,
		},
		"fail": {
			inbound.LeaseEnd{Action: issue.Fail, Failure: why}, `/fail {"error":{"code":"exit_1","message":"It broke."},"fencingToken":7}`,
		},
		"release": {inbound.LeaseEnd{Action: issue.Release}, `/release {"fencingToken":7}`},
		"release with a why": {inbound.LeaseEnd{Action: issue.Release, Failure: why},
			`/release {"error":{"code":"exit_1","message":"It broke."},"fencingToken":7}`},
		"hand off": {
			inbound.LeaseEnd{Action: issue.HandOff, Note: issue.Note{Body: new("Which?")}}, `/handoff {"fencingToken":7,"note":"Which?"}`,
		},
	} {
		s := serve(t, done)
		if _, err := client.NewGateway(s.URL, "secret").Of("secret").End(t.Context(), agent.Caller{}, lease, c.end); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]string{"POST /gateway/v1/leases/lse_1" + c.want}, s.settled().requests); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestACallOnALeaseFailsAsTheGatewayAnswers(t *testing.T) {
	t.Parallel()
	unauthorized := reply{401, refusal(fault.Unauthorized, "{}"), ""}
	for name, c := range map[string]struct {
		replies []reply
		want    *fault.Code // nil: it succeeds; of no fault: empty
	}{
		"the token of the run is not good": {[]reply{unauthorized, done}, nil},
		"neither token is good":            {[]reply{unauthorized, unauthorized}, new(fault.Unauthorized)},
		"the lease has ended":              {[]reply{{409, refusal(fault.StaleLease, "{}"), ""}}, new(fault.StaleLease)},
		"busy":                             {[]reply{busy}, new(fault.Unavailable)},
		"broken":                           {[]reply{{500, refusal(fault.Internal, "{}"), ""}}, new(fault.Code(""))},
		"lost":                             {[]reply{lost}, new(fault.Code(""))},
		"something before the gateway":     {[]reply{{502, "<html>", ""}}, new(fault.Code(""))},
	} {
		s := serve(t, c.replies...)
		call := inbound.LeaseCall{Lease: "lse_1", Token: new(int64(7))}
		_, err := client.NewGateway(s.URL, "secret").Of("secret").Renew(t.Context(), agent.Caller{}, call)
		code := fault.Code("")
		if refused := fault.Of(err); refused != nil {
			code = refused.Code
		}
		if (err == nil) != (c.want == nil) || c.want != nil && code != *c.want {
			t.Errorf("%s: %v", name, err)
		}
		if s.settled(); len(s.replies) > 0 {
			t.Errorf("%s: %d replies are left", name, len(s.replies))
		}
	}
}

func TestWhatComesOfChargesIsRead(t *testing.T) {
	t.Parallel()
	s := serve(t, reply{200, `{"data":{"entries":[{"key":"a","usd":0.25,"unpriced":true,"duplicate":false}],"late":true},"meta":{}}`, ""})
	call := inbound.LeaseCall{Lease: "lse_1", Token: new(int64(7))}
	charge := cost.Draft{Key: new("a"), Kind: new("llm"), Model: new("m"), Session: new("th_1"), USD: new(money.Number("0.25"))}
	_, got, err := client.NewGateway(s.URL, "secret").Of("secret").Charge(t.Context(), agent.Caller{}, call, []cost.Draft{charge})
	want := []inbound.ChargeOutcome{{Entry: cost.Entry{Key: "a", USD: 250_000, Unpriced: true}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	sent := []string{`POST /gateway/v1/leases/lse_1/costs ` +
		`{"costs":[{"key":"a","kind":"llm","model":"m","session":"th_1","usd":0.25}],"fencingToken":7}`}
	if diff := cmp.Diff(sent, s.settled().requests); diff != "" {
		t.Error(diff)
	}
}

func TestAClaimIsMadeUnderItsKey(t *testing.T) {
	t.Parallel()
	s := serve(t, reply{200, `{"data":{"leaseId":"lse_1"},"meta":{}}`, ""})
	shown, err := client.NewGateway(s.URL, "secret").Claim(t.Context(), "key-1", 30, 60, true)
	if err != nil || string(shown) != `{"leaseId":"lse_1"}` {
		t.Errorf("%s, %v", shown, err)
	}
	want := []string{`POST /gateway/v1/leases {"leaseSeconds":60,"metered":true,"runToken":true,"wait":30}`}
	if diff := cmp.Diff(want, s.settled().requests); diff != "" || s.keys[0] != "key-1" {
		t.Errorf("%s under %q", diff, s.keys)
	}
}
