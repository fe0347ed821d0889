package leases

import (
	"context"
	"slices"
	"time"

	"holdco/app/work"
	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// needsApproval refuses an action of the agent that takes an approval, unless there is one: fault.ApprovalRequired.
func (l *locked) needsApproval(ctx context.Context, actionName string) error {
	if !slices.Contains(l.Agent.Requires, actionName) {
		return nil
	}
	isApproved, err := work.IsApproved(ctx, l.tx, l.Run, actionName)
	if err != nil || isApproved {
		return err
	}
	return fault.New(fault.ApprovalRequired, "The agent needs an approval of %q for this; ask for one first.", actionName).
		With("actionName", actionName)
}

// deciders are the rules that decide approvals.
const deciders event.Actor = "system:approval-rules"

// RequestApproval asks for an approval.
func (s *Service) RequestApproval(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, draft approval.Draft,
) (inbound.RequestedApproval, error) {
	newID := id.New[id.Approval](s.ids.UUIDv7())
	request := store.Request{Once: call.Once, Company: caller.Company, Begins: store.InTurn}
	return store.Do(ctx, s.store, request, func(ctx context.Context, tx store.Tx) (asked inbound.RequestedApproval, err error) {
		l, err := s.lock(ctx, tx, tx.Runs().LockForEnd, caller, call)
		if err != nil {
			return asked, err
		}
		kept := l.Run.KeptAnswer
		if call.Fingerprint != "" && kept.Fingerprint == call.Fingerprint && l.token == l.Run.Lease.Token {
			asked.Answer = kept.Answer
			return asked, nil
		}
		if err := l.admit(ctx); err != nil {
			return asked, err
		}
		open := 0
		if l.Issue.Asking {
			pending, err := tx.Approvals().LockOpen(ctx, l.Issue.ID)
			if err != nil {
				return asked, err
			}
			open = len(pending)
		}
		draft := draft
		draft.Problems = l.problems
		made, requested, err := approval.New(newID, l.Run, l.Agent.Team, open, draft, l.at)
		if err != nil {
			return asked, err
		}
		if err := l.mayBegin(); err != nil {
			return asked, err
		}
		rules, err := tx.ApprovalRules().For(ctx, l.Company.ID, made.Agent, made.Team)
		if err != nil {
			return asked, err
		}
		decided, happened, fits := made.Apply(rules, l.at)
		switch {
		case fits:
			asked.Approval.Approval = decided
			if err := tx.Approvals().Add(ctx, decided); err != nil {
				return asked, err
			}
			if err := tx.Record(ctx, requested.By(caller.Actor())); err != nil {
				return asked, err
			}
			if err := tx.Record(ctx, happened.By(deciders)); err != nil {
				return asked, err
			}
			_, err = l.accept(ctx)
		case draft.Park != nil && *draft.Park:
			asked.Approval.Approval, err = l.park(ctx, made, caller.Actor(), call.Fingerprint)
		default:
			asked.Approval.Approval = made
			err = l.ask(ctx, made, requested.By(caller.Actor()))
		}
		return asked, err
	})
}

// ask stores an approval that is pending while its run goes on.
func (l *locked) ask(ctx context.Context, made approval.Approval, requested event.Event) error {
	if err := l.tx.Approvals().Add(ctx, made); err != nil {
		return err
	}
	if err := l.tx.Record(ctx, requested); err != nil {
		return err
	}
	if next, isNew := l.Issue.Ask(); isNew {
		if err := l.tx.Issues().Save(ctx, next); err != nil {
			return err
		}
	}
	_, err := l.accept(ctx)
	return err
}

// askForStep asks for the approval that a step waits for, and returns the step as it is then: a rule can decide it at once.
func (e ender) askForStep(ctx context.Context, s *Service, step issue.Issue) (issue.Issue, error) {
	made, requested := approval.OfStep(e.newApproval, step, e.Run, e.Agent.Team, e.at)
	rules, err := e.tx.ApprovalRules().For(ctx, e.Company.ID, made.Agent, made.Team)
	if err != nil {
		return step, err
	}
	decided, happened, fits := made.Apply(rules, e.at)
	if err := e.tx.Approvals().Add(ctx, decided); err != nil {
		return step, err
	}
	if err := e.tx.Record(ctx, requested.By(e.actor)); err != nil || !fits {
		return step, err
	}
	if err := e.tx.Record(ctx, happened.By(deciders)); err != nil {
		return step, err
	}
	if err := work.In(e.tx, s.ids, e.Company.ID, deciders).Resume(ctx, decided); err != nil {
		return step, err
	}
	return e.tx.Issues().Get(ctx, step.ID)
}

// park stores an approval, and ends the run, which waits for it.
func (l *locked) park(
	ctx context.Context, made approval.Approval, by event.Actor, fingerprint string,
) (approval.Approval, error) {
	made, requested := made.Park()
	if err := l.tx.Approvals().Add(ctx, made); err != nil {
		return made, err
	}
	if err := l.tx.Record(ctx, requested.By(by)); err != nil {
		return made, err
	}
	next, handedOff, err := l.Issue.ParkFor(made.ID, l.at)
	if err != nil {
		return made, err
	}
	if _, err := l.spend(ctx, 0, 0, true); err != nil {
		return made, err
	}
	l.Run = l.Run.End(run.Parked, "", l.at)
	answer := string(inbound.Approval{Approval: made}.Fields().Append(nil))
	l.Run.KeptAnswer = run.KeptAnswer{Fingerprint: fingerprint, Answer: answer}
	if err := l.tx.Runs().Save(ctx, l.Run); err != nil {
		return made, err
	}
	return made, l.unit.Follow(ctx, next, handedOff, false)
}

// Approval returns an approval, and waits for its decision if it was asked to.
func (s *Service) Approval(
	ctx context.Context, caller agent.Caller, which id.Approval, wait time.Duration,
) (found inbound.Approval, err error) {
	if err := caller.MayRead(); err != nil {
		return found, err
	}
	var lease run.Lease
	look := func(renews bool) error {
		return s.looks.Make(ctx, func() (err error) {
			found, lease, err = s.lookAt(ctx, caller, which, renews)
			return err
		})
	}
	if err := look(true); err != nil || wait == 0 || found.Status != approval.Pending {
		return found, err
	}
	w, err := s.deciding.join(caller, which)
	if err != nil {
		return found, err
	}
	defer s.deciding.leave(w)
	over := time.NewTimer(wait)
	defer over.Stop()
	for renews := false; ; renews = true {
		// It looks once more after it has joined: the decision can have come before.
		if err := look(renews); err != nil || found.Status != approval.Pending {
			return found, err
		}
		select {
		case <-w.wake:
		case <-time.After(lease.Time / 2): //nolint:mnd // the lease lasts
		case <-over.C:
			return found, look(true)
		case <-s.waiting.closing:
			return found, nil
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
}

// lookAt reads an approval with the lease of its run, and renews that if it is live.
func (s *Service) lookAt(
	ctx context.Context, caller agent.Caller, which id.Approval, renews bool,
) (found inbound.Approval, lease run.Lease, err error) {
	var of run.Run
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if found.Approval, of, err = approvalOf(ctx, caller, r.Companies(), r.Approvals(), r.Runs(), which); err != nil {
			return err
		}
		by, err := r.Agents().Get(ctx, caller.ID)
		if err != nil {
			return unlessGone(err)
		}
		if err := by.StillAccepts(caller); err != nil { // it can have waited for long
			return err
		}
		found.Said, err = commentsOn(ctx, r.Approvals(), found.Approval)
		return err
	})
	if err != nil || !renews || !of.IsOpen() {
		return found, of.Lease, err
	}
	call := inbound.LeaseCall{Lease: of.Lease.ID, Token: &of.Lease.Token}
	_, err = s.Renew(ctx, caller, call)
	switch fault.CodeOf(err) {
	case fault.StaleLease, fault.CompanyArchived: // it can be read nevertheless
		err = nil
	}
	return found, of.Lease, err
}

// approvalOf reads an approval of an agent, with its run.
func approvalOf(
	ctx context.Context, caller agent.Caller, companies store.CompanyReader, from store.Getter[id.Approval, approval.Approval],
	runs store.RunReader, which id.Approval,
) (found approval.Approval, of run.Run, err error) {
	if found, err = from.Get(ctx, which); err == nil {
		of, err = runs.Get(ctx, found.Run)
	}
	if err != nil {
		if _, gone := companyOf(ctx, companies, caller); gone != nil { // with all that it had, or it is being removed
			err = gone
		}
		return approval.Approval{}, of, err
	}
	if !of.IsOf(caller) {
		_, err = from.Get(ctx, "") // not found
		return approval.Approval{}, of, err
	}
	return found, of, nil
}

// commentsOn reads the comments on an approval if it has any.
func commentsOn(ctx context.Context, from store.ApprovalReader, on approval.Approval) ([]approval.Comment, error) {
	if on.Comments == 0 {
		return nil, nil
	}
	return from.Comments(ctx, on.ID)
}

// AnswerQuestion says something about an approval.
func (s *Service) AnswerQuestion(
	ctx context.Context, caller agent.Caller, which id.Approval, note issue.Note, once idempotency.Request,
) (inbound.Approval, error) {
	newID := id.New[id.Comment](s.ids.UUIDv7())
	request := store.Request{Once: once, Company: caller.Company, Begins: store.InTurn}
	return store.Do(ctx, s.store, request, func(ctx context.Context, tx store.Tx) (answered inbound.Approval, err error) {
		_, of, err := approvalOf(ctx, caller, tx.Companies(), tx.Approvals(), tx.Runs(), which)
		if err != nil {
			return answered, err
		}
		at, err := s.stillThere(ctx, tx, caller, of)
		if err != nil {
			return answered, err
		}
		current, err := tx.Approvals().Lock(ctx, which)
		if err != nil {
			return answered, err
		}
		next, made, commented, err := current.Answer(newID, note, caller.Actor(), at)
		if err != nil {
			return answered, err
		}
		if err := tx.Approvals().Save(ctx, next); err != nil {
			return answered, err
		}
		if err := tx.Approvals().AddComment(ctx, made); err != nil {
			return answered, err
		}
		if err := tx.Record(ctx, commented.By(caller.Actor())); err != nil {
			return answered, err
		}
		said, err := tx.Approvals().Comments(ctx, which)
		return inbound.Approval{Approval: next, Said: said}, err
	})
}

// stillThere renews the lease of an open run, and refuses its agent if that cannot be used, or while the company is archived.
func (s *Service) stillThere(ctx context.Context, tx store.Tx, caller agent.Caller, of run.Run) (time.Time, error) {
	if of.IsOpen() {
		l, err := s.lockLive(ctx, tx, caller, inbound.LeaseCall{Lease: of.Lease.ID, Token: &of.Lease.Token})
		if err != nil {
			return time.Time{}, err
		}
		_, err = l.accept(ctx)
		return l.at, err
	}
	in, err := companyOf(ctx, tx.Companies(), caller)
	if err == nil {
		err = in.Allows(company.Update)
	}
	if err != nil {
		return time.Time{}, err
	}
	return tx.StoreNow(ctx)
}
