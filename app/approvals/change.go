package approvals

import (
	"context"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/approval"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Decide decides an approval.
func (s *Service) Decide(
	ctx context.Context, caller access.Caller, of id.Company, which id.Approval, verdict approval.Verdict, match precondition.Match,
	once idempotency.Request,
) (inbound.Approval, error) {
	request := store.Request{Actor: caller.Actor, Match: match, Once: once, Company: of}
	return s.change(ctx, caller, request, which, func(
		ctx context.Context, tx store.Tx, current approval.Approval,
	) (approval.Approval, error) {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return current, err
		}
		next, decided, err := current.Decide(verdict, caller.Actor, at)
		if err != nil {
			return current, err
		}
		return next, work.In(tx, s.ids, of, caller.Actor).Decide(ctx, next, decided)
	})
}

// Comment says something about an approval.
func (s *Service) Comment(
	ctx context.Context, caller access.Caller, of id.Company, on id.Approval, note issue.Note, once idempotency.Request,
) (inbound.Approval, error) {
	newID := id.New[id.Comment](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return s.change(ctx, caller, request, on, func(
		ctx context.Context, tx store.Tx, current approval.Approval,
	) (approval.Approval, error) {
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return current, err
		}
		next, made, commented, err := current.Ask(newID, note, caller.Actor, at)
		if err != nil {
			return current, err
		}
		if err := tx.Approvals().Save(ctx, next); err != nil {
			return current, err
		}
		if err := tx.Approvals().AddComment(ctx, made); err != nil {
			return current, err
		}
		return next, tx.Record(ctx, commented.By(caller.Actor))
	})
}

// change changes one approval if the caller may write to its company, and returns it with its comments.
func (s *Service) change(
	ctx context.Context, caller access.Caller, request store.Request, which id.Approval,
	write func(ctx context.Context, tx store.Tx, current approval.Approval) (approval.Approval, error),
) (inbound.Approval, error) {
	if err := caller.NeedsIn(access.Write, request.Company); err != nil {
		return inbound.Approval{}, err
	}
	return store.WriteIn(ctx, s.store, request, store.ByID(which), store.Tx.Approvals,
		func(ctx context.Context, tx store.Tx, _ company.Company, current approval.Approval) (changed inbound.Approval, err error) {
			if changed.Approval, err = write(ctx, tx, current); err != nil {
				return changed, err
			}
			changed.Said, err = tx.Approvals().Comments(ctx, which)
			return changed, err
		})
}

// CreateRule makes a rule.
func (s *Service) CreateRule(
	ctx context.Context, caller access.Caller, of id.Company, draft approval.RuleDraft, once idempotency.Request,
) (approval.Rule, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return approval.Rule{}, err
	}
	newID := id.New[id.ApprovalRule](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, _ company.Company) (approval.Rule, error) {
		count, err := tx.ApprovalRules().Count(ctx, of)
		if err != nil {
			return approval.Rule{}, err
		}
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return approval.Rule{}, err
		}
		made, created, err := approval.NewRule(newID, of, count, draft, caller.Actor, others{ctx, tx, of}, at)
		if err != nil {
			return made, err
		}
		if err := tx.ApprovalRules().Add(ctx, made); err != nil {
			return made, err
		}
		return made, tx.Record(ctx, created.By(caller.Actor))
	})
}

// DeleteRule removes a rule.
func (s *Service) DeleteRule(
	ctx context.Context, caller access.Caller, of id.Company, which id.ApprovalRule, match precondition.Match,
) (approval.Rule, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return approval.Rule{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return store.RemoveIn(ctx, s.store, request, store.ByID(which), store.Tx.ApprovalRules,
		func(ctx context.Context, tx store.Tx, _ company.Company, current approval.Rule) (event.Event, error) {
			return current.Delete(), tx.ApprovalRules().Remove(ctx, which)
		})
}

// others is what a rule has to know of its company, in a unit of work.
type others struct {
	ctx context.Context //nolint:containedctx // of the unit
	tx  store.Tx
	of  id.Company
}

func (o others) HasAgent(which id.Agent) (bool, error) {
	_, err := store.GetIn(o.ctx, o.tx.Agents(), o.of, which)
	return store.Exists(err)
}

func (o others) HasTeam(which id.Team) (bool, error) {
	_, err := store.GetIn(o.ctx, o.tx.Teams(), o.of, which)
	return store.Exists(err)
}
