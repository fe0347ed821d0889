package gateway

import (
	"encoding/json"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/inbound"
)

type leases struct{ port inbound.Leases }

// Leases handles the operations on leases, and those on the company of the agent.
func Leases(port inbound.Leases) httpkit.Handlers {
	h := leases{port}
	return httpkit.Handlers{
		"claimLease":        h.claim,
		"listLeases":        h.list,
		"getLease":          h.get,
		"getLeaseContext":   h.context,
		"renewLease":        h.renew,
		"checkpointLease":   h.checkpoint,
		"chargeLease":       h.charge,
		"commentOnLease":    h.comment,
		"completeLease":     h.complete,
		"failLease":         h.fail,
		"handOffLease":      h.handOff,
		"releaseLease":      h.release,
		"fileIssue":         h.file,
		"readIssue":         h.issue,
		"readIssueComments": h.comments,
		"listColleagues":    h.colleagues,
	}
}

func (h leases) claim(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[Claim](r)
	if sent.Wait != nil && *sent.Wait > 0 && *sent.Wait <= inbound.MostWait {
		r.Wait(time.Duration(*sent.Wait) * time.Second)
	}
	granted, err := h.port.Claim(r.Context(), r.Agent(), inbound.Claim{
		Wait: sent.Wait, LeaseSeconds: sent.LeaseSeconds, RunToken: sent.RunToken, Metered: sent.Metered, Key: r.OnceKey(),
		Problems: problems,
	})
	if err != nil || granted == nil {
		return httpkit.Answer{Status: httpkit.NoContent}, err
	}
	return httpkit.Answer{Data: granted.Fields(), IsReplayed: granted.IsReplayed}, nil
}

func (h leases) list(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.List(r.Context(), r.Agent())
	shown := make([]event.Fields, len(found))
	for n, one := range found {
		shown[n] = leaseWithEnd(one)
	}
	return httpkit.Answer{Data: shown}, err
}

func (h leases) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Agent(), leaseOf(r))
	return httpkit.Answer{Data: leaseWithEnd(found)}, err
}

func (h leases) context(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Context(r.Context(), r.Agent(), leaseOf(r))
	return httpkit.Answer{Data: found.Fields()}, err
}

func (h leases) renew(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[LeaseCall](r)
	state, err := h.port.Renew(r.Context(), r.Agent(), callOf(r, sent.FencingToken, problems))
	return stateAnswer(state), err
}

func (h leases) checkpoint(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[CheckpointDraft](r)
	draft := run.CheckpointDraft{Note: sent.Note, Data: valueOf(sent.Data)}
	call := callOf(r, sent.FencingToken, problems)
	call.Once = httpkit.Once(r, stateAnswer)
	state, err := h.port.Checkpoint(r.Context(), r.Agent(), call, draft)
	return stateAnswer(state), err
}

func (h leases) charge(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[CostReport](r)
	state, outcomes, err := h.port.Charge(r.Context(), r.Agent(), callOf(r, sent.FencingToken, problems), chargesOf(&sent.Costs))
	entries := make([]event.Fields, len(outcomes))
	isLate := false
	for n, one := range outcomes {
		isLate = isLate || one.Entry.Late
		entries[n] = event.Fields{
			event.F("id", string(one.Entry.ID)),
			event.F("key", one.Entry.Key),
			event.F("usd", one.Entry.USD),
			event.F("unpriced", one.Entry.Unpriced),
			event.F("reported", one.Entry.IsReported),
			event.F("duplicate", one.IsDuplicate),
		}
	}
	return httpkit.Answer{Data: append(stateFields(state), event.F("entries", entries), event.F("late", isLate))}, err
}

func (h leases) comment(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[LeaseComment](r)
	call := callOf(r, sent.FencingToken, problems)
	call.Once = httpkit.Once(r, commentAnswer)
	made, err := h.port.Comment(r.Context(), r.Agent(), call, issue.Note{Body: sent.Body})
	return commentAnswer(made), err
}

func (h leases) complete(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[Completion](r)
	return h.end(r, sent.FencingToken, problems, inbound.LeaseEnd{
		Action: issue.Complete, Result: valueOf(sent.Result), Note: issue.Note{Body: sent.Summary}, Charges: chargesOf(sent.Costs),
	})
}

func (h leases) fail(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[FailureReport](r)
	return h.end(r, sent.FencingToken, problems, inbound.LeaseEnd{
		Action: issue.Fail,
		Failure: run.FailureDraft{
			Code: sent.Error.Code, Message: sent.Error.Message, Retry: sent.Retry, RetryAfter: sent.RetryAfter,
		},
		Charges: chargesOf(sent.Costs),
	})
}

func (h leases) handOff(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[HandoffNote](r)
	return h.end(r, sent.FencingToken, problems, inbound.LeaseEnd{Action: issue.HandOff, Note: issue.Note{Body: sent.Note}})
}

func (h leases) release(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[LeaseRelease](r)
	why := run.FailureDraft{RetryAfter: sent.RetryAfter}
	if sent.Error != nil {
		why.Code, why.Message = sent.Error.Code, sent.Error.Message
	}
	return h.end(r, sent.FencingToken, problems, inbound.LeaseEnd{
		Action: issue.Release, Note: issue.Note{Body: sent.Note}, Failure: why, Charges: chargesOf(sent.Costs),
	})
}

// end ends a lease. The answer is kept as it was sent first.
func (h leases) end(r httpkit.Request, token *int64, problems fault.Problems, end inbound.LeaseEnd) (httpkit.Answer, error) {
	call := callOf(r, token, problems)
	call.Fingerprint = r.Fingerprint()
	ended, err := h.port.End(r.Context(), r.Agent(), call, end)
	return httpkit.Answer{Data: json.RawMessage(ended.Answer), IsReplayed: ended.IsReplayed}, err
}

func leaseOf(r httpkit.Request) id.Lease { return httpkit.PathID[id.Lease](r, "lease") }

func callOf(r httpkit.Request, token *int64, problems fault.Problems) inbound.LeaseCall {
	return inbound.LeaseCall{Lease: leaseOf(r), Token: token, Problems: problems}
}

func valueOf(sent *httpkit.Value) []byte {
	if sent == nil {
		return nil
	}
	return *sent
}

func chargesOf(sent *[]Charge) []cost.Draft {
	if sent == nil {
		return nil
	}
	drafts := make([]cost.Draft, len(*sent))
	for n, one := range *sent {
		drafts[n] = cost.Draft{
			Key: one.Key, Kind: one.Kind, Model: one.Model, Billing: one.Billing, Session: one.Session, USD: one.Usd, Calls: one.Calls,
			Reported: one.Reported,
		}
		if used := one.Tokens; used != nil {
			drafts[n].Tokens = &cost.TokensDraft{
				Input: used.Input, Output: used.Output, CacheRead: used.CacheRead, CacheWrite: used.CacheWrite,
			}
		}
	}
	return drafts
}

func leaseWithEnd(lease inbound.Lease) event.Fields {
	var reason *string
	if text := string(lease.Run.Lease.Reason); text != "" {
		reason = &text
	}
	return append(lease.Fields(), event.F("endedAt", instant.Optional(lease.Run.Lease.EndedAt)), event.F("reason", reason),
		event.F("endedByAgent", lease.Run.EndedByAgent()))
}

func stateAnswer(state inbound.LeaseState) httpkit.Answer {
	return httpkit.Answer{Data: stateFields(state)}
}

func commentAnswer(made issue.Comment) httpkit.Answer { return httpkit.Answer{Data: made.Fields()} }

func stateFields(state inbound.LeaseState) event.Fields {
	lease := state.Run.Lease
	return event.Fields{
		event.F("lease", event.Fields{
			event.F("id", string(lease.ID)),
			event.F("fencingToken", lease.Token),
			event.F("expiresAt", instant.Format(lease.ExpiresAt)),
			event.F("mustFinish", !state.Budget.FinishBy.IsZero()),
			event.F("finishBy", instant.Optional(state.Budget.FinishBy)),
		}),
		event.F("budget", state.Budget.Fields()),
		event.F("pendingComments", state.PendingComments),
	}
}
