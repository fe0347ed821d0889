package run_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/agent"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/run"
)

const (
	acme    = id.Company("cmp_01h455vb4pex5vsknk084sn02q")
	ada     = id.Agent("agt_01h455vb4pex5vsknk084sn02q")
	callID  = id.Issue("iss_01h455vb4pex5vsknk084sn02q")
	runID   = id.Run("run_01h455vb4pex5vsknk084sn02q")
	leaseID = id.Lease("lse_01h455vb4pex5vsknk084sn02q")
)

var (
	noon  = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Minute)
)

// working is a run of ada that has begun at noon, for five minutes.
func working() run.Run {
	of := issue.Issue{ID: callID, Company: acme, Agent: ada, Attempt: 2, FencingToken: 7, Status: issue.Running}
	return run.Grant(runID, leaseID, of, 3, run.Terms{Time: 5 * time.Minute, Key: "key", Holder: "h", Hash: "#"}, 0, noon)
}

func TestAGrantIsTheLeaseOfTheIssueAsItIs(t *testing.T) {
	t.Parallel()
	want := run.Run{
		ID: runID, Company: acme, Issue: callID, Agent: ada, Attempt: 2, Status: run.Running,
		Lease: run.Lease{
			ID: leaseID, Token: 7, Epoch: 3, Time: 5 * time.Minute, ExpiresAt: noon.Add(5 * time.Minute),
			Key: "key", Holder: "h", Hash: "#",
		},
		ContextAt: noon, StartedAt: noon,
	}
	if diff := cmp.Diff(want, working()); diff != "" || working().Owner() != acme {
		t.Error(diff)
	}
}

func TestAClaimUnderTheKeyOfALeaseKeepsToItsTerms(t *testing.T) {
	t.Parallel()
	claimed := working()
	for want, all := range map[fault.Code][]run.Terms{
		"": {{Holder: "h", Hash: "another"}, {Time: 5 * time.Minute, Holder: "h", Hash: "#"}},
		fault.IdempotencyConflict: {
			{}, {Holder: "h"}, {Hash: "#"}, {Holder: "i", Hash: "#"}, {Time: time.Minute, Holder: "h", Hash: "#"},
			{Holder: "h", Hash: "#", IsMetered: true},
		},
	} {
		for _, terms := range all {
			if got := fault.CodeOf(claimed.CheckRepeat(terms)); got != want {
				t.Errorf("%+v: %q", terms, got)
			}
		}
	}
	claimed.Lease.Hash = ""
	if err := claimed.CheckRepeat(run.Terms{Holder: "h", Hash: "#"}); fault.CodeOf(err) != fault.IdempotencyConflict {
		t.Error(err)
	}
}

// stale are the things that make a lease stale, in the order in which they count as its reason.
var stale = []struct {
	reason run.Reason
	happen func(r *run.Run, token *int64, in *run.Circumstances)
}{
	{run.HandedOff, func(r *run.Run, _ *int64, _ *run.Circumstances) { *r = r.End(run.HandedOff, "", later) }},
	{run.CompanyArchived, func(_ *run.Run, _ *int64, in *run.Circumstances) { in.Epoch, in.Revoked = 4, run.CompanyArchived }},
	{run.AgentRetired, func(_ *run.Run, _ *int64, in *run.Circumstances) { in.AgentRetired = true }},
	{run.Superseded, func(_ *run.Run, token *int64, _ *run.Circumstances) { *token = 6 }},
	{run.RanOut, func(_ *run.Run, _ *int64, in *run.Circumstances) { in.Now = noon.Add(5 * time.Minute) }},
}

func TestOfAllThatMakesALeaseStaleTheFirstIsTheReason(t *testing.T) {
	t.Parallel()
	for happened := range 1 << len(stale) { // each set of them
		r, token := working(), int64(7)
		in := run.Circumstances{Now: later, Epoch: 3, Issue: issue.Review}
		want, endedAt := "", (*string)(nil)
		for n, one := range stale {
			if happened&(1<<n) == 0 {
				continue
			}
			one.happen(&r, &token, &in)
			if want == "" {
				want = string(one.reason)
			}
		}
		if !r.Lease.EndedAt.IsZero() {
			endedAt = new("2026-04-11T12:01:00.000Z")
		}
		err := r.Check(token, in)
		if want == "" {
			if err != nil {
				t.Errorf("a live lease: %v", err)
			}
			continue
		}
		details := map[string]any{"reason": want, "endedAt": endedAt, "issueStatus": "review"}
		if diff := cmp.Diff(details, fault.Of(err).Details); diff != "" || fault.CodeOf(err) != fault.StaleLease {
			t.Errorf("%05b: %v\n%s", happened, err, diff)
		}
	}
}

func TestALeaseThatEndedKeepsItsReason(t *testing.T) {
	t.Parallel()
	for _, reason := range []run.Reason{
		run.CompanyDeleted, run.CompanyArchived, run.AgentRetired, run.IssueCancelled, run.HandedOff, run.Completed, run.GaveUp,
		run.Released, run.Superseded, run.RanOut,
	} {
		ended := working().End(reason, "", later)
		err := ended.Check(7, run.Circumstances{Now: later, Epoch: 3})
		if fault.CodeOf(err) != fault.StaleLease || fault.Of(err).Details["reason"] != string(reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestALeaseIsLiveUntilItRunsOutOrTheGraceDoes(t *testing.T) {
	t.Parallel()
	end := noon.Add(5 * time.Minute)
	for _, c := range []struct {
		now, grace time.Time
		isOverdue  bool
	}{
		{noon.Add(-time.Hour), time.Time{}, false},
		{end.Add(-time.Millisecond), time.Time{}, false},
		{end, time.Time{}, true},
		{end, end, true},
		{end, end.Add(time.Millisecond), false},
		{end.Add(time.Hour), end.Add(time.Minute), true},
		{end.Add(-time.Millisecond), noon, false},
	} {
		if got := working().IsOverdue(c.now, c.grace); got != c.isOverdue {
			t.Errorf("%+v: %t", c, got)
		}
		err := working().Check(7, run.Circumstances{Now: c.now, GraceUntil: c.grace, Epoch: 3})
		if (err != nil) != c.isOverdue {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestARenewalLastsForTheLeaseTimeFromNow(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{later, noon.Add(time.Hour), noon.Add(-time.Hour)} { // of a clock that was set back too
		want := working()
		want.Lease.ExpiresAt = at.Add(5 * time.Minute)
		if diff := cmp.Diff(want, working().Renew(at, time.Time{})); diff != "" {
			t.Error(diff)
		}
	}
}

func TestTheEndOfARunEndsItsLease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status      run.Status
		reason      run.Reason
		sent, error string
	}{
		{run.Succeeded, run.Completed, "", ""},
		{run.Failed, run.GaveUp, `{"code":"x","message":"No."}`, `{"code":"x","message":"No."}`},
		{run.Expired, run.RanOut, "", issue.Expired},
		{run.Cancelled, run.IssueCancelled, "", `{"code":"cancelled"}`},
		{run.Cancelled, run.CompanyArchived, "", `{"code":"company_archived"}`},
		{run.Cancelled, run.AgentRetired, `{"code":"own"}`, `{"code":"own"}`},
	} {
		want := working()
		want.Status, want.FinishedAt, want.Error = c.status, later, c.error
		want.Lease.EndedAt, want.Lease.Reason = later, c.reason
		if diff := cmp.Diff(want, working().End(c.reason, c.sent, later)); diff != "" {
			t.Errorf("%s: %s", c.reason, diff)
		}
	}
}

func TestAnActionOnTheIssueTellsWhyItsRunEnds(t *testing.T) {
	t.Parallel()
	for action, want := range map[issue.Action]string{
		issue.Complete: "completed succeeded", issue.Fail: "failed failed", issue.Expire: "expired expired",
		issue.Release: "released cancelled", issue.HandOff: "handed_off cancelled", issue.Cancel: "cancelled cancelled",
		issue.Requeue: " cancelled", issue.Accept: " cancelled",
	} {
		why := run.ReasonOf(action)
		if got := fmt.Sprint(why, " ", why.Status()); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
}

func TestARunSumsItsCharges(t *testing.T) {
	t.Parallel()
	want := working()
	want.Spent, want.Charges, want.Tokens = 1_000_003, 2, cost.Tokens{Input: 11, Output: 22, CacheRead: 33, CacheWrite: 44}
	got := working().
		Charge(cost.Entry{USD: 3, Tokens: cost.Tokens{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40}}).
		Charge(cost.Entry{USD: money.Dollar, Tokens: cost.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestARunFilesSoManyIssues(t *testing.T) {
	t.Parallel()
	r := working()
	r.Filed = run.MostFiled - 1
	r, err := r.File()
	if err != nil || r.Filed != run.MostFiled {
		t.Errorf("%d, %v", r.Filed, err)
	}
	if _, err := r.File(); fault.CodeOf(err) != fault.TooManyOf || fault.Of(err).Details["limit"] != run.MostFiled {
		t.Errorf("%v, %+v", err, fault.Of(err))
	}
}

func TestARunIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	const head = `{"id":"run_01h455vb4pex5vsknk084sn02q","companyId":"cmp_01h455vb4pex5vsknk084sn02q",` +
		`"issueId":"iss_01h455vb4pex5vsknk084sn02q","agentId":"agt_01h455vb4pex5vsknk084sn02q","attempt":2,`
	live := working().Charge(cost.Entry{USD: 1_500_000, Tokens: cost.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}})
	live.Checkpoints = 9
	for want, r := range map[string]run.Run{
		head + `"status":"running","fencingToken":7,"leaseExpiresAt":"2026-04-11T12:05:00.000Z","checkpointCount":0,"costUsd":0,` +
			`"costReported":false,"unpricedModel":null,` +
			`"tokens":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"startedAt":"2026-04-11T12:00:00.000Z",` +
			`"finishedAt":null,"error":null}`: working(),
		head + `"status":"failed","fencingToken":7,"leaseExpiresAt":null,"checkpointCount":9,"costUsd":1.5,` +
			`"costReported":true,"unpricedModel":null,` +
			`"tokens":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4},"startedAt":"2026-04-11T12:00:00.000Z",` +
			`"finishedAt":"2026-04-11T12:01:00.000Z","error":{"n":1e3}}`: live.End(run.GaveUp, `{"n":1e3}`, later),
	} {
		if diff := cmp.Diff(want, shown(r.Fields())); diff != "" {
			t.Error(diff)
		}
	}
}

// shown is what the API shows of fields.
func shown(fields event.Fields) string { return string(fields.Append(nil)) }

func TestTheTokenOfARunIsForItsLeaseUntilChargesAreNotTaken(t *testing.T) {
	t.Parallel()
	caller := agent.Caller{ID: ada, Company: acme, Hash: "#"}
	ended := working().End(run.Completed, "", later)
	for name, c := range map[string]struct {
		of     run.Run
		at     time.Time
		isOver bool
		taken  bool
	}{
		"while it lasts":  {working(), later, false, true},
		"when it is over": {ended, later, true, true},
		"a day later":     {ended, later.Add(run.LateCharges), true, true},
		"after that":      {ended, later.Add(run.LateCharges + 1), false, false},
	} {
		got, err := c.of.AsCaller(caller, c.at)
		if c.of.TakesCharges(c.at) != c.taken {
			t.Errorf("%s: takes charges: %t", name, !c.taken)
		}
		want := agent.Caller{ID: ada, Company: acme, Hash: "#", Lease: leaseID, IsOver: c.isOver}
		if !c.taken {
			want = agent.Caller{}
		}
		if got != want || (err == nil) != c.taken || err != nil && fault.CodeOf(err) != fault.Unauthorized {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, c := range map[string]struct {
		caller agent.Caller
		want   bool
	}{
		"its agent":            {caller, true},
		"its own token":        {agent.Caller{ID: ada, Lease: leaseID}, true},
		"that of another run":  {agent.Caller{ID: ada, Lease: "lse_other"}, false},
		"another agent":        {agent.Caller{ID: "agt_other"}, false},
		"another with its own": {agent.Caller{ID: "agt_other", Lease: leaseID}, false},
	} {
		if got := working().IsOf(c.caller); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestWhatAModelSaysIsNotCountedWhereTheProgramIsMetered(t *testing.T) {
	t.Parallel()
	said := cost.Entry{
		Key: "a", Kind: cost.LLM, Model: "gpt-5", USD: 7, Tokens: cost.Tokens{Input: 1}, Unpriced: true, Revision: 3, IsReported: true,
	}
	metered := run.Run{IsMetered: true, Held: 10}
	for name, c := range map[string]struct {
		of     run.Run
		charge func(e *cost.Entry)
		counts bool
	}{
		"a model":                   {metered, func(*cost.Entry) {}, false},
		"a run that is not metered": {run.Run{Held: 10}, func(*cost.Entry) {}, true},
		"a tool":                    {metered, func(e *cost.Entry) { e.Kind = cost.Tools }, true},
		"no model":                  {metered, func(e *cost.Entry) { e.Model = "" }, true},
		"not the model":             {metered, func(e *cost.Entry) { e.IsReported = false }, true},
	} {
		charge := said
		c.charge(&charge)
		got := c.of.Counts(charge)
		want := charge
		want.IsReported = false
		if !c.counts {
			want.IsReported, want.ReportedUSD, want.USD, want.Tokens, want.Unpriced, want.Revision = true, 7, 0, cost.Tokens{}, false, 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		after := c.of.Charge(got)
		if hasCounted := after.Spent == 7 && after.Charges == 1 && after.Held == 3 && after.Tokens.Input == 1; hasCounted != c.counts {
			t.Errorf("%s: %+v", name, after)
		}
	}
	if r := metered.Charge(cost.Entry{Model: "a", Unpriced: true}).Charge(cost.Entry{Model: "b", Unpriced: true}); r.Unpriced != "a" {
		t.Errorf("unpriced is %q", r.Unpriced)
	}
}
