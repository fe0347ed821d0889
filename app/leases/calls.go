package leases

import (
	"cmp"
	"context"
	"slices"

	"holdco/app/work"
	"holdco/domain/agent"
	"holdco/domain/anyjson"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Renew renews a lease.
func (s *Service) Renew(ctx context.Context, caller agent.Caller, call inbound.LeaseCall) (inbound.LeaseState, error) {
	return keep(ctx, s, caller, call, func(ctx context.Context, l *locked) (inbound.LeaseState, error) {
		if len(l.problems) > 0 {
			return inbound.LeaseState{}, fault.Validation(l.problems)
		}
		l.tx.Unrecorded()
		return l.accept(ctx)
	})
}

// Checkpoint keeps what an agent wrote down on its way.
func (s *Service) Checkpoint(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, draft run.CheckpointDraft,
) (inbound.LeaseState, error) {
	return keep(ctx, s, caller, call, func(ctx context.Context, l *locked) (state inbound.LeaseState, err error) {
		draft.Problems = l.problems
		next, made, happened, err := l.Run.Checkpoint(draft, l.at)
		if err != nil {
			return state, err
		}
		l.Run = next
		if err := l.tx.Runs().AddCheckpoint(ctx, made); err != nil {
			return state, err
		}
		if err := l.tx.Record(ctx, happened.By(caller.Actor())); err != nil {
			return state, err
		}
		return l.accept(ctx)
	})
}

// keep is a call on a live lease that needs no turn of the company: it changes nothing that others count. Write ends with accept.
func keep[T any](
	ctx context.Context, s *Service, caller agent.Caller, call inbound.LeaseCall, write func(ctx context.Context, l *locked) (T, error),
) (T, error) {
	request := store.Request{Once: call.Once, Company: caller.Company, Begins: store.OnSnapshot}
	return store.Do(ctx, s.store, request, func(ctx context.Context, tx store.Tx) (T, error) {
		l, err := s.lockLive(ctx, tx, caller, call)
		if err != nil {
			var none T
			return none, err
		}
		return write(ctx, &l)
	})
}

// Comment says something about the issue of a lease.
func (s *Service) Comment(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, note issue.Note,
) (issue.Comment, error) {
	newID := id.New[id.Comment](s.ids.UUIDv7())
	return keep(ctx, s, caller, call, func(ctx context.Context, l *locked) (made issue.Comment, err error) {
		note.Problems = l.problems
		i, err := l.tx.Issues().Get(ctx, l.Run.Issue)
		if err != nil {
			return made, err
		}
		if made, err = i.NewComment(newID, "body", note, caller.Actor(), l.at); err != nil {
			return made, err
		}
		if err := l.tx.Issues().AddComment(ctx, made); err != nil {
			return made, err
		}
		if err := l.tx.Record(ctx, i.Commented(made).By(caller.Actor())); err != nil {
			return made, err
		}
		_, err = l.accept(ctx)
		return made, err
	})
}

// Charge records what the work costs.
func (s *Service) Charge(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, charges []cost.Draft,
) (state inbound.LeaseState, outcomes []inbound.ChargeOutcome, err error) {
	prices, err := s.prices.Current(ctx, s.store.Prices())
	if err != nil {
		return state, nil, err
	}
	keys := cost.Keys(charges)
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Turn(ctx, caller.Company); err != nil {
			return err
		}
		l, err := s.lock(ctx, tx, tx.Runs().LockForCall, caller, call, keys...)
		if err != nil {
			return err
		}
		isLate, err := l.takesCharges(ctx)
		if err != nil {
			return err
		}
		entries := cost.ParseReport(charges, prices, &l.problems)
		if len(l.problems) > 0 {
			return fault.Validation(l.problems)
		}
		tx.Unrecorded()
		held := l.Run.Held
		var sum money.USD
		if outcomes, sum, err = s.charge(ctx, &l, entries, isLate); err != nil {
			return err
		}
		if isLate && sum != 0 {
			i, err := tx.Issues().Lock(ctx, l.Run.Issue)
			if err == nil {
				err = l.unit.ChargeLate(ctx, i, sum)
			}
			if err != nil {
				return err
			}
		}
		isOver, err := l.spend(ctx, sum, held-l.Run.Held, false)
		if err != nil {
			return err
		}
		if !isLate {
			l.Run = l.Run.Renew(l.at, l.envelopes.FinishBy())
		}
		if err := tx.Runs().Save(ctx, l.Run); err != nil {
			return err
		}
		state = l.state()
		if isOver {
			return l.unit.Overspent(ctx, l.at)
		}
		return nil
	})
	return state, outcomes, err
}

// takesCharges refuses charges on a lease that ended long ago, or with a wrong token. It reports whether the lease has ended.
func (l *locked) takesCharges(ctx context.Context) (isLate bool, err error) {
	stale := l.check(ctx)
	switch {
	case stale == nil:
		return false, nil
	case fault.CodeOf(stale) != fault.StaleLease || l.token != l.Run.Lease.Token:
		return false, stale
	}
	if !l.Run.TakesCharges(l.at) {
		return false, stale
	}
	return true, nil
}

// charge records charges in the run, which it does not save. It returns what they add up to.
func (s *Service) charge(
	ctx context.Context, l *locked, entries []cost.Entry, isLate bool,
) (outcomes []inbound.ChargeOutcome, sum money.USD, err error) {
	if len(entries) == 0 {
		return nil, 0, nil
	}
	keys := make([]string, len(entries))
	for n, entry := range entries {
		keys[n] = entry.Key
	}
	var known []cost.Entry
	if l.Charged {
		if known, err = l.tx.Runs().Charges(ctx, l.Run.ID, keys); err != nil {
			return nil, 0, err
		}
	}
	var added []cost.Entry
	outcomes = make([]inbound.ChargeOutcome, len(entries))
	for n, entry := range entries {
		entry = l.Run.Counts(entry)
		if at := slices.IndexFunc(known, func(k cost.Entry) bool { return k.Key == entry.Key }); at >= 0 {
			if !entry.IsSame(known[at]) {
				return nil, 0, fault.New(fault.IdempotencyConflict, "The key %q was used for another charge of this run.", entry.Key).
					With("key", entry.Key)
			}
			outcomes[n] = inbound.ChargeOutcome{Entry: known[at], IsDuplicate: true}
			continue
		}
		entry.ID = id.New[id.Cost](s.ids.UUIDv7())
		entry.Company, entry.Issue, entry.Run = l.Run.Company, l.Run.Issue, l.Run.ID
		entry.Agent, entry.Team, entry.Project = l.Agent.ID, l.Run.Team, l.Run.Project
		entry.At, entry.Late = l.at, isLate
		l.Run = l.Run.Charge(entry)
		sum += entry.USD
		added, known = append(added, entry), append(known, entry)
		outcomes[n] = inbound.ChargeOutcome{Entry: entry}
	}
	if len(added) == 0 {
		return outcomes, 0, nil
	}
	return outcomes, sum, l.tx.Runs().AddCharges(ctx, added)
}

// File files an issue.
func (s *Service) File(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, draft issue.Draft,
) (issue.Issue, error) {
	newID := id.New[id.Issue](s.ids.UUIDv7())
	draft, err := s.withIDs(ctx, caller.Company, draft)
	if err != nil {
		return issue.Issue{}, err
	}
	request := store.Request{Once: call.Once, Company: caller.Company, Begins: store.InTurn}
	return store.Do(ctx, s.store, request, func(ctx context.Context, tx store.Tx) (made issue.Issue, err error) {
		l, err := s.lockLive(ctx, tx, caller, call)
		switch {
		case l.Run.ID == "" && fault.CodeOf(err) == fault.NotFound:
			return made, refuseLease(ctx, tx, caller, call, draft)
		case err != nil:
			return made, err
		}
		draft := draft
		draft.Problems = l.problems
		if draft.Parent == nil {
			draft.Parent = new(new(string(l.Run.Issue)))
		}
		inherit(&draft, l.Issue)
		drafted, err := issue.New(newID, caller.Company, draft, caller.Actor(), work.Others(ctx, tx, caller.Company), l.at)
		if err != nil {
			return made, err
		}
		drafted.Workflow = l.Run.Workflow
		if err := l.mayBegin(); err != nil {
			return made, err
		}
		if l.Run, err = l.Run.File(); err != nil {
			return made, err
		}
		if err := l.needsApproval(ctx, issue.CreateAction); err != nil {
			return made, err
		}
		if made, err = l.unit.File(ctx, drafted); err != nil {
			return made, err
		}
		_, err = l.accept(ctx)
		return made, err
	})
}

// inherit makes an issue that is filed under a lease part of what the issue of the lease is for, unless the draft names something else.
func inherit(draft *issue.Draft, from issue.Issue) {
	if draft.Goal == nil && draft.Project == nil && from.Goal != "" {
		draft.Goal = new(new(string(from.Goal)))
	}
	if draft.Project == nil && from.Project != "" {
		draft.Project = new(new(string(from.Project)))
	}
}

// refuseLease refuses to file an issue under a lease that the agent does not have, which is a field of the body: with all that is wrong
// with the draft.
func refuseLease(ctx context.Context, tx store.Tx, caller agent.Caller, call inbound.LeaseCall, draft issue.Draft) error {
	of, err := companyOf(ctx, tx.Companies(), caller)
	if err != nil {
		return err
	}
	if err := of.Allows(company.Update); err != nil {
		return err
	}
	_, draft.Problems = tokenOf(call)
	draft.Problems.Add(fault.Fieldf("leaseId", fault.UnknownValue, "leaseId must be the id of a lease of the agent"))
	_, err = issue.New("", caller.Company, draft, caller.Actor(), work.Others(ctx, tx, caller.Company), tx.Now())
	return cmp.Or[error](err, fault.Validation(draft.Problems))
}

// End ends a lease.
func (s *Service) End(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, end inbound.LeaseEnd,
) (ended inbound.Ended, err error) {
	prices, err := s.prices.Current(ctx, s.store.Prices())
	if err != nil {
		return ended, err
	}
	newComment, newApproval := id.New[id.Comment](s.ids.UUIDv7()), id.New[id.Approval](s.ids.UUIDv7())
	keys := cost.Keys(end.Charges)
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Turn(ctx, caller.Company); err != nil {
			return err
		}
		l, err := s.lock(ctx, tx, tx.Runs().LockForEnd, caller, call, keys...)
		if err != nil {
			return err
		}
		kept := l.Run.KeptAnswer
		if call.Fingerprint != "" && kept.Fingerprint == call.Fingerprint && l.token == l.Run.Lease.Token {
			ended = inbound.Ended{Answer: kept.Answer, IsReplayed: true}
			return nil
		}
		if err := l.admit(ctx); err != nil {
			return err
		}
		e := ender{&l, end, call, prices, newComment, newApproval, caller.Actor()}
		ended.Answer, err = e.end(ctx, s)
		ended.IsReplayed = false
		return err
	})
	return ended, err
}

// ender ends one lease in a unit of work.
type ender struct {
	*locked

	sent        inbound.LeaseEnd
	call        inbound.LeaseCall
	prices      cost.Prices
	newComment  id.Comment
	newApproval id.Approval // of the gate of a step
	actor       event.Actor
}

func (e ender) end(ctx context.Context, s *Service) (answer string, err error) {
	result := anyjson.Check("result", e.sent.Result, issue.ResultSize, &e.problems)
	failure := failureOf(e.sent, &e.problems)
	setback := setback(e.sent, e.at)
	charges := cost.Parse(e.sent.Charges, e.prices, &e.problems)
	said := issue.Note{Body: e.sent.Note.Body, Problems: e.problems}
	note, err := e.unit.Explain(ctx, e.Issue, e.sent.Action, e.newComment, said, e.at)
	if err != nil {
		return "", err
	}
	if e.sent.Action == issue.Complete {
		if err := e.needsApproval(ctx, issue.CompleteAction); err != nil {
			return "", err
		}
	}
	held := e.Run.Held
	_, sum, err := s.charge(ctx, e.locked, charges, false)
	if err != nil {
		return "", err
	}
	isOver, err := e.spend(ctx, sum, held-e.Run.Held, true)
	if err != nil {
		return "", err
	}
	i := e.Issue // read before the charges
	i.Spent += sum
	next, happened, reason, err := e.move(i, result, failure, setback, note)
	if err != nil {
		return "", err
	}
	if err := e.judge(ctx, setback, failure); err != nil {
		return "", err
	}
	e.Run = e.Run.End(reason, failure.Error, e.at)
	over := next
	over.Asking = false // nobody waits any more for what the run has asked for
	if err := e.unit.EndApprovals(ctx, e.Issue, over); err != nil {
		return "", err
	}
	if err := e.unit.Follow(ctx, next, happened, e.Blocks); err != nil {
		return "", err
	}
	if next.WaitingFor != "" {
		if next, err = e.askForStep(ctx, s, next); err != nil {
			return "", err
		}
	}
	answer = string(event.Fields{event.F("issue", next.Fields()), event.F("run", e.Run.Fields())}.Append(nil))
	e.Run.KeptAnswer = run.KeptAnswer{Fingerprint: e.call.Fingerprint, Answer: answer}
	if err := e.tx.Runs().Save(ctx, e.Run); err != nil {
		return "", err
	}
	if !isOver {
		return answer, nil
	}
	return answer, e.unit.Overspent(ctx, e.at)
}

// move ends the work on the issue, and returns why the run ends.
func (e ender) move(
	i issue.Issue, result string, failure issue.Failure, setback *agent.Setback, note []event.Field,
) (next issue.Issue, happened event.Event, reason run.Reason, err error) {
	reason = run.ReasonOf(e.sent.Action)
	isActive := e.Agent.Status == agent.Active
	switch {
	case e.sent.Action == issue.Complete && i.Gate == issue.ApprovalGate:
		next, happened, err = i.Submit(result, e.newApproval, e.at)
	case e.sent.Action == issue.Complete:
		next, happened, err = i.Complete(result, e.at)
	case e.sent.Action == issue.Fail:
		next, happened, err = i.FailAttempt(failure, isActive, e.at)
	case e.sent.Action == issue.HandOff:
		next, happened, err = i.HandOff(e.at, note...)
	case setback != nil && setback.Repeats:
		if i.IsLastRepeat() {
			reason = run.ReasonOf(issue.Fail)
		}
		next, happened, err = i.ReleaseRepeated(failure, isActive, e.at)
	default: // Release
		next, happened, err = i.ReleaseLease(e.at)
	}
	return next, happened, reason, err
}
