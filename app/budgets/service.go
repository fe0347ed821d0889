// Package budgets has the use cases of budgets: what is spent and held of each, and what the reserve of a company gives to its teams.
package budgets

import (
	"context"
	"slices"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Budgets.
type Service struct {
	store store.Store
	ids   outbound.IDs
}

var _ inbound.Budgets = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// List returns a page of the envelopes of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, of id.Company, scope budget.Scope, after page.Position, size int,
) (found page.Page[budget.Envelope], err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return found, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		c, err := r.Companies().Get(ctx, of)
		if err != nil {
			return err
		}
		at, err := r.StoreNow(ctx)
		if err != nil {
			return err
		}
		scopes := budget.Scopes[:len(budget.Scopes)-1] // issues only if they are asked for
		if scope != "" {
			scopes = []budget.Scope{scope}
		}
		some, err := work.ListEnvelopes(ctx, r, c, scopes, after, size+1, at)
		if err != nil {
			return err
		}
		found = page.Of(some, size, func(e budget.Envelope) page.Position {
			return page.Position{Values: []string{string(e.Scope)}, ID: e.Account.ID}
		})
		return nil
	})
	return found, err
}

// Topup gives an amount of the reserve of a company to a team.
func (s *Service) Topup(
	ctx context.Context, caller access.Caller, of id.Company, draft inbound.TopupDraft, once idempotency.Request,
) (inbound.Topup, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return inbound.Topup{}, err
	}
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, c company.Company) (inbound.Topup, error) {
		var given inbound.Topup
		which, amount, err := parse(ctx, tx, of, draft)
		if err != nil {
			return given, err
		}
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return given, err
		}
		accounts, err := tx.Envelopes().Accounts(ctx, of, string(of), string(which))
		if err != nil {
			return given, err
		}
		all := budget.Envelopes{work.CompanyEnvelope(c, accounts[string(of)]), work.TeamEnvelope(c, accounts[string(which)])}
		before := slices.Clone(all)
		if err := work.Current(ctx, tx.Envelopes(), all, at); err != nil {
			return given, err
		}
		if all[0], all[1], err = budget.Topup(all[0], all[1], amount); err != nil {
			return given, err
		}
		if _, err := work.In(tx, s.ids, of, caller.Actor).Keep(ctx, before, all, at); err != nil {
			return given, err
		}
		if err := tx.Envelopes().Freed(ctx, of); err != nil {
			return given, err
		}
		given = inbound.Topup{Amount: amount, Company: all[0], Team: all[1]}
		return given, tx.Record(ctx, event.Of(event.TeamBudgetTopup, of, string(which), given.Fields()).By(caller.Actor))
	})
}

func parse(ctx context.Context, tx store.Tx, of id.Company, draft inbound.TopupDraft) (which id.Team, amount money.USD, err error) {
	problems := slices.Clone(draft.Problems)
	if draft.Team == nil {
		problems.Add(fault.Fieldf("teamId", fault.Required, "teamId is required"))
	} else {
		which, _ = id.Parse[id.Team](*draft.Team)
		_, missing := store.GetIn(ctx, tx.Teams(), of, which)
		exists, err := store.Exists(missing)
		if err != nil {
			return which, 0, err
		}
		if !exists {
			problems.Add(fault.Fieldf("teamId", fault.UnknownValue, "teamId must be the id of a team of the company"))
		}
	}
	if draft.USD == nil {
		problems.Add(fault.Fieldf("usd", fault.Required, "usd is required"))
	} else {
		var wrong []fault.Field
		amount, wrong = money.ParseBetween("usd", *draft.USD, 1, budget.Most)
		problems.Add(wrong...)
	}
	if len(problems) > 0 {
		return which, 0, fault.Validation(problems)
	}
	return which, amount, nil
}
