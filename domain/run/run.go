package run

import (
	"cmp"
	"time"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/anyjson"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/issue"
	"holdco/domain/money"
)

// Run is one attempt of an agent at an issue, under one lease. It is open until it ends, and its lease ends with it. Check says whether
// the lease is live, that is, can be used. Grant and stores make a Run, and only its methods change it.
type Run struct {
	ID          id.Run
	Company     id.Company
	Issue       id.Issue
	Agent       id.Agent
	Team        id.Team     // of the agent
	Goal        id.Goal     // of the issue when the lease was granted, which is charged to it; empty: none
	Project     id.Project  // likewise
	Workflow    id.Workflow // likewise
	Attempt     int         // of the issue
	Status      Status
	Lease       Lease
	Held        money.USD // what its lease has reserved in the envelopes and not spent yet; 0 once it has ended
	Spent       money.USD // the sum of its charges
	Tokens      cost.Tokens
	Charges     int       // how many, without those that are not counted
	IsMetered   bool      // what its program says that it costs is charged: what the model reports is not
	Unpriced    string    // the first model of a charge that has no price; empty: all have one
	Checkpoints int       // how many, MostCheckpoints at most
	Filed       int       // how many issues it has filed, MostFiled at most
	ContextAt   time.Time // comments up to this instant have been shown to the agent
	StartedAt   time.Time
	FinishedAt  time.Time // zero: it is open
	Error       string    // JSON; empty: none
	KeptAnswer  KeptAnswer
}

// Bounds of what one run does.
const (
	MostCheckpoints = 1000
	MostFiled       = 50
)

// Status is a state of a run.
type Status string

// The states.
const (
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Expired   Status = "expired"
	Cancelled Status = "cancelled"
)

// KeptAnswer is the answer to the call that ended the run: a repeat gets it again.
type KeptAnswer struct {
	Fingerprint string // identifies action and body; empty: no call of the agent ended it
	Answer      string // JSON
}

// Lease is the right of an agent to work on an issue while no other does.
type Lease struct {
	ID        id.Lease
	Token     int64         // the fencing token, which each call carries: the greatest of the issue is the valid one
	Epoch     int64         // of the company when it was granted: a later epoch ends it
	Time      time.Duration // how long a renewal lasts; whole seconds
	ExpiresAt time.Time
	EndedAt   time.Time // zero: its run is open
	Reason    Reason    // why it ended
	Key       string    // the idempotency key of the claim; empty: none
	Holder    string    // the process of Holdco that works under it; empty: the agent came through the gateway
	Hash      string    // of the token that is for this run alone: access.Value.Hash; empty: there is none
}

// Terms are what a claim asks of its lease.
type Terms struct {
	Time   time.Duration // whole seconds; 0: the claim names none
	Key    string        // see Lease
	Holder string        // see Lease
	Hash   string        // see Lease

	IsMetered bool // see Run
}

// The bounds of the lease time that an agent may ask for.
const (
	ShortestLease = 30 * time.Second
	LongestLease  = time.Hour
)

// ShortestUsual is the shortest lease time that claims which ask for none can be set to get.
const ShortestUsual = 5 * time.Second

// MostOpen bounds how many open runs an agent has.
const MostOpen = 100

// Reason is why a lease cannot be used any more.
type Reason string

// The reasons. Of several that fit, the first counts.
const (
	CompanyDeleted  Reason = "company_deleted"
	CompanyArchived Reason = "company_archived"
	AgentRetired    Reason = "agent_retired"
	IssueCancelled  Reason = "cancelled"
	HandedOff       Reason = "handed_off"
	Completed       Reason = "completed"
	GaveUp          Reason = "failed"
	Released        Reason = "released"
	OverBudget      Reason = "budget" // the company has spent its reserve too
	Parked          Reason = "parked" // the agent waits for an approval
	Superseded      Reason = "superseded"
	RanOut          Reason = "expired"
	Restored        Reason = "restored" // the store was, from a backup
)

// statuses are how runs end for a reason. For any other they are cancelled.
var statuses = map[Reason]Status{Completed: Succeeded, GaveUp: Failed, RanOut: Expired}

// Status is how a run ends for the reason.
func (r Reason) Status() Status { return cmp.Or(statuses[r], Cancelled) }

// reasons are why runs end by actions on their issues. Requeue has several.
var reasons = map[issue.Action]Reason{
	issue.Complete: Completed, issue.Fail: GaveUp, issue.Expire: RanOut, issue.Release: Released, issue.HandOff: HandedOff,
	issue.Cancel: IssueCancelled, issue.Park: Parked,
}

// ReasonOf returns why a run ends by an action on its issue; empty: it does not, or the action does not tell.
func ReasonOf(by issue.Action) Reason { return reasons[by] }

// Grant starts a run: the lease of an issue that has just been started, with what it reserves.
func Grant(newRun id.Run, newLease id.Lease, of issue.Issue, epoch int64, on Terms, held money.USD, at time.Time) Run {
	return Run{
		ID: newRun, Company: of.Company, Issue: of.ID, Agent: of.Agent, Team: of.AgentTeam, Goal: of.Goal, Project: of.Project,
		Workflow: of.Workflow,
		Attempt:  of.Attempt, Status: Running, Held: held, IsMetered: on.IsMetered,
		Lease: Lease{
			ID: newLease, Token: of.FencingToken, Epoch: epoch, Time: on.Time, ExpiresAt: at.Add(on.Time),
			Key: on.Key, Holder: on.Holder, Hash: on.Hash,
		},
		ContextAt: at, StartedAt: at,
	}
}

// CheckRepeat refuses a claim under the key of the lease that asks for other terms: fault.IdempotencyConflict. A token of the run is
// one that the claim wants too; each claim brings another.
func (r Run) CheckRepeat(asked Terms) error {
	l := r.Lease
	if asked.IsMetered != r.IsMetered || asked.Time != 0 && asked.Time != l.Time || asked.Holder != l.Holder ||
		(asked.Hash == "") != (l.Hash == "") {
		return fault.New(fault.IdempotencyConflict, "The idempotency key was used for another claim, whose lease is live.")
	}
	return nil
}

// Owner returns the company, for generic code.
func (r Run) Owner() id.Company { return r.Company }

// IsOpen reports whether the run has not ended. Its lease may have run out nevertheless, or have been revoked: see IsLive.
func (r Run) IsOpen() bool { return r.Lease.EndedAt.IsZero() }

// LateCharges is for how long charges are taken after the end of a lease: what was spent is never lost.
const LateCharges = 24 * time.Hour

// AnswersKept is for how long the answer to the call that ended a lease is kept for repeats.
const AnswersKept = 30 * 24 * time.Hour

// TakesCharges reports whether the run still takes charges.
func (r Run) TakesCharges(now time.Time) bool {
	return r.IsOpen() || !now.After(r.Lease.EndedAt.Add(LateCharges))
}

// AsCaller returns the agent of the run as who calls with the token of the run: it lets in to this lease alone, and after its end
// to nothing but what can still be said of it, while charges are taken. Then it fails with fault.Unauthorized.
func (r Run) AsCaller(of agent.Caller, now time.Time) (agent.Caller, error) {
	if !r.TakesCharges(now) {
		return agent.Caller{}, access.Unauthorized("token")
	}
	of.Lease, of.IsOver = r.Lease.ID, !r.IsOpen()
	return of, nil
}

// EndedByAgent reports whether a call of the agent ended the lease, and not a person, a budget or the time.
func (r Run) EndedByAgent() bool { return !r.IsOpen() && r.KeptAnswer.Fingerprint != "" }

// IsOf reports whether the lease is one that a caller may use.
func (r Run) IsOf(caller agent.Caller) bool {
	return r.Agent == caller.ID && (caller.Lease == "" || caller.Lease == r.Lease.ID)
}

// Circumstances are what decides, besides the lease itself, whether it is live.
type Circumstances struct {
	Now          time.Time // by the store's clock
	GraceUntil   time.Time // until then overdue leases are live: the sweep had paused; zero: none
	Epoch        int64     // of the company
	Revoked      Reason    // why the epoch of the lease has ended, if it has
	AgentRetired bool
	IsCancelled  bool // the issue is about to be cancelled with one above it
	Issue        issue.Status
}

// Check refuses a call that carries a fencing token unless the lease is live: fault.StaleLease.
func (r Run) Check(token int64, in Circumstances) error {
	var reason Reason
	switch {
	case !r.IsOpen():
		reason = r.Lease.Reason
	case r.Lease.Epoch != in.Epoch:
		reason = in.Revoked
	case in.AgentRetired:
		reason = AgentRetired
	case in.IsCancelled:
		reason = IssueCancelled
	case token != r.Lease.Token:
		reason = Superseded
	case r.IsOverdue(in.Now, in.GraceUntil):
		reason = RanOut
	default:
		return nil
	}
	return r.stale(reason, in.Issue)
}

// IsLive reports whether the lease can be used by who has its fencing token: the run is open, and nothing else speaks against it.
func (r Run) IsLive(in Circumstances) bool { return r.Check(r.Lease.Token, in) == nil }

func (r Run) stale(reason Reason, status issue.Status) error {
	stale := fault.New(fault.StaleLease, "The lease cannot be used any more (%s); stop working on the issue.", reason).
		With("reason", string(reason)).With("endedAt", instant.Optional(r.Lease.EndedAt)).With("issueStatus", string(status))
	if r.EndedByAgent() {
		return stale.With("endedByAgent", true)
	}
	return stale
}

// IsOverdue reports whether the lease has run out. It does not end it.
func (r Run) IsOverdue(now, graceUntil time.Time) bool {
	return !now.Before(r.Lease.ExpiresAt) && !now.Before(graceUntil)
}

// Renew makes the lease last for its time from now on, but not longer than until finishBy; zero: it has no end.
func (r Run) Renew(now, finishBy time.Time) Run {
	r.Lease.ExpiresAt = now.Add(r.Lease.Time)
	if !finishBy.IsZero() && finishBy.Before(r.Lease.ExpiresAt) {
		r.Lease.ExpiresAt = finishBy
	}
	return r
}

// Envelopes are the ids of what the lease was granted under, but for the issue.
func (r Run) Envelopes() []string {
	ids := []string{string(r.Company), string(r.Team), string(r.Agent)}
	if r.Goal != "" {
		ids = append(ids, string(r.Goal))
	}
	if r.Project != "" {
		ids = append(ids, string(r.Project))
	}
	if r.Workflow != "" {
		ids = append(ids, string(r.Workflow))
	}
	return ids
}

// End ends the run and its lease. The failure is JSON; empty: the reason says it all.
func (r Run) End(why Reason, failure string, at time.Time) Run {
	r.Status, r.FinishedAt, r.Error = why.Status(), at, failure
	r.Lease.EndedAt, r.Lease.Reason, r.Held = at, why, 0
	switch {
	case failure != "":
	case r.Status == Expired:
		r.Error = issue.Expired
	case r.Status == Cancelled:
		r.Error = `{"code":"` + string(why) + `"}`
	}
	return r
}

// Counts returns a charge as the run counts it. What a model says of a model is not counted if the program's own usage is charged.
func (r Run) Counts(charge cost.Entry) cost.Entry {
	if r.IsMetered && charge.IsReported && charge.Kind == cost.LLM && charge.Model != "" {
		return charge.Uncounted()
	}
	charge.IsReported = false
	return charge
}

// Charge adds a charge, for which it takes of what is held.
func (r Run) Charge(more cost.Entry) Run {
	if more.IsReported {
		return r
	}
	if more.Unpriced {
		r.Unpriced = cmp.Or(r.Unpriced, more.Model)
	}
	r.Held -= min(r.Held, more.USD)
	r.Spent += more.USD
	r.Tokens = r.Tokens.Plus(more.Tokens)
	r.Charges++
	return r
}

// Adjust adds a correction to what its charges cost.
func (r Run) Adjust(by cost.Entry) Run {
	r.Spent += by.USD
	return r
}

// File counts one more issue that the run files. It fails with fault.TooManyOf.
func (r Run) File() (Run, error) {
	if r.Filed >= MostFiled {
		return r, fault.New(fault.TooManyOf, "A run can file at most %d issues.", MostFiled).With("limit", MostFiled)
	}
	r.Filed++
	return r, nil
}

// NewToken gives the run another token of its own, of which it keeps the hash: the one before is no longer valid.
func (r Run) NewToken(hash string) Run {
	r.Lease.Hash = hash
	return r
}

// Fields returns the run as the API shows it, without its checkpoints.
func (r Run) Fields() event.Fields {
	expiresAt := r.Lease.ExpiresAt
	if !r.IsOpen() {
		expiresAt = time.Time{}
	}
	return event.Fields{
		event.F("id", string(r.ID)),
		event.F("companyId", string(r.Company)),
		event.F("issueId", string(r.Issue)),
		event.F("agentId", string(r.Agent)),
		event.F("attempt", r.Attempt),
		event.F("status", string(r.Status)),
		event.F("fencingToken", r.Lease.Token),
		event.F("leaseExpiresAt", instant.Optional(expiresAt)),
		event.F("checkpointCount", r.Checkpoints),
		event.F("costUsd", r.Spent),
		event.F("costReported", r.Charges > 0),
		event.Optional("unpricedModel", r.Unpriced),
		event.F("tokens", r.Tokens.Fields()),
		event.F("startedAt", instant.Format(r.StartedAt)),
		event.F("finishedAt", instant.Optional(r.FinishedAt)),
		event.F("error", anyjson.Shown(r.Error)),
	}
}
