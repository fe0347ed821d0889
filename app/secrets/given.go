package secrets

import (
	"context"
	"slices"
	"sync"

	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/redact"
	"holdco/domain/run"
	"holdco/ports/inbound"
)

// given are the secrets of the runs that this process started, by their leases.
type given struct {
	mutex sync.RWMutex
	by    map[id.Lease]redact.Hidden
}

// Give has the secrets of a run hidden in all that is said under its lease, through Hiding, until forget is called.
func (s *Service) Give(lease id.Lease, hidden redact.Hidden) (forget func()) {
	s.given.mutex.Lock()
	defer s.given.mutex.Unlock()
	if s.given.by == nil {
		s.given.by = map[id.Lease]redact.Hidden{}
	}
	s.given.by[lease] = hidden
	return func() {
		s.given.mutex.Lock()
		defer s.given.mutex.Unlock()
		delete(s.given.by, lease)
	}
}

func (s *Service) hidden(lease id.Lease) redact.Hidden {
	s.given.mutex.RLock()
	defer s.given.mutex.RUnlock()
	return s.given.by[lease]
}

// Hiding returns the same leases, but hides the secrets that a run was given in what is sent under its lease.
func (s *Service) Hiding(port inbound.Leases) inbound.Leases { return hiding{port, s.hidden} }

type hiding struct {
	inbound.Leases

	of func(id.Lease) redact.Hidden
}

// Checkpoint hides what the note and the data hold.
func (h hiding) Checkpoint(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, draft run.CheckpointDraft,
) (inbound.LeaseState, error) {
	hidden := h.of(call.Lease)
	draft.Note, draft.Data = text(hidden, draft.Note), hidden.JSON(draft.Data)
	return h.Leases.Checkpoint(ctx, caller, call, draft)
}

// Comment hides what the comment holds.
func (h hiding) Comment(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, note issue.Note,
) (issue.Comment, error) {
	note.Body = text(h.of(call.Lease), note.Body)
	return h.Leases.Comment(ctx, caller, call, note)
}

// Charge hides what the charges hold.
func (h hiding) Charge(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, charges []cost.Draft,
) (inbound.LeaseState, []inbound.ChargeOutcome, error) {
	return h.Leases.Charge(ctx, caller, call, inCharges(h.of(call.Lease), charges))
}

// inCharges hides what charges hold: they are never changed once they are recorded.
func inCharges(hidden redact.Hidden, sent []cost.Draft) []cost.Draft {
	charges := slices.Clone(sent)
	for n := range charges {
		c := &charges[n]
		c.Key, c.Model, c.Billing = text(hidden, c.Key), text(hidden, c.Model), text(hidden, c.Billing)
		c.Session = text(hidden, c.Session)
	}
	return charges
}

// End hides what the result, the note, the failure and the charges hold.
func (h hiding) End(ctx context.Context, caller agent.Caller, call inbound.LeaseCall, end inbound.LeaseEnd) (inbound.Ended, error) {
	hidden := h.of(call.Lease)
	end.Charges = inCharges(hidden, end.Charges)
	end.Result, end.Note.Body = hidden.JSON(end.Result), text(hidden, end.Note.Body)
	end.Failure.Code, end.Failure.Message = text(hidden, end.Failure.Code), text(hidden, end.Failure.Message)
	return h.Leases.End(ctx, caller, call, end)
}

// File hides what the title, the description and the labels hold.
func (h hiding) File(ctx context.Context, caller agent.Caller, call inbound.LeaseCall, draft issue.Draft) (issue.Issue, error) {
	hidden := h.of(call.Lease)
	draft.Title, draft.Description = text(hidden, draft.Title), text(hidden, draft.Description)
	draft.Labels = texts(hidden, draft.Labels)
	return h.Leases.File(ctx, caller, call, draft)
}

// HidingInApprovals is Hiding for approvals.
func (s *Service) HidingInApprovals(port inbound.AgentApprovals) inbound.AgentApprovals {
	return hidingInApprovals{port, s.hidden}
}

type hidingInApprovals struct {
	inbound.AgentApprovals

	of func(id.Lease) redact.Hidden
}

// RequestApproval hides what the request holds.
func (h hidingInApprovals) RequestApproval(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, draft approval.Draft,
) (inbound.RequestedApproval, error) {
	hidden := h.of(call.Lease)
	draft.ActionName, draft.Action = text(hidden, draft.ActionName), text(hidden, draft.Action)
	draft.Reasoning, draft.IfDenied = text(hidden, draft.Reasoning), text(hidden, draft.IfDenied)
	draft.SideEffects = texts(hidden, draft.SideEffects)
	return h.AgentApprovals.RequestApproval(ctx, caller, call, draft)
}

// AnswerQuestion hides what the answer holds. A program that was given secrets calls with the token of its run.
func (h hidingInApprovals) AnswerQuestion(
	ctx context.Context, caller agent.Caller, which id.Approval, note issue.Note, once idempotency.Request,
) (inbound.Approval, error) {
	note.Body = text(h.of(caller.Lease), note.Body)
	return h.AgentApprovals.AnswerQuestion(ctx, caller, which, note, once)
}

func text(hidden redact.Hidden, sent *string) *string {
	if sent == nil {
		return nil
	}
	return new(hidden.Text(*sent))
}

func texts(hidden redact.Hidden, sent *[]string) *[]string {
	if sent == nil {
		return nil
	}
	shown := slices.Clone(*sent)
	for n, one := range shown {
		shown[n] = hidden.Text(one)
	}
	return &shown
}
