package teams

import (
	"context"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/domain/team"
	"holdco/ports/store"
)

// Create makes a team with a headcount of empty slots.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, of id.Company, draft team.Draft, once idempotency.Request,
) (team.Team, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return team.Team{}, err
	}
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, c company.Company) (team.Team, error) {
		made, created, err := team.New(of, draft, others{ctx, tx, of}, s.ids, tx.Now())
		if err != nil {
			return team.Team{}, err
		}
		if err := holds(ctx, tx, c, made.Team, made.Team.Budget); err != nil {
			return team.Team{}, err
		}
		if err := tx.Teams().Add(ctx, made.Team); err != nil {
			return team.Team{}, err
		}
		if err := tx.Teams().AddSlots(ctx, made.Added); err != nil {
			return team.Team{}, err
		}
		if err := tx.Companies().Save(ctx, c.Counting(1, 0)); err != nil {
			return team.Team{}, err
		}
		return made.Team, tx.Record(ctx, created.By(caller.Actor))
	})
}

// Update merges a patch into a team. Slots come and go with its headcount.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, which string, patch team.Patch, match precondition.Match,
) (team.Team, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return team.Team{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return store.ChangeIn(ctx, s.store, request, called(of, which), store.Tx.Teams,
		func(ctx context.Context, tx store.Tx, c company.Company, current team.Team) (team.Team, *event.Event, error) {
			next, updated, err := current.Apply(patch, others{ctx, tx, of}, s.ids, tx.Now())
			if err != nil || updated == nil {
				return current, nil, err
			}
			if next.Team.Budget != current.Budget {
				if err := s.rebudget(ctx, tx, c, next.Team, caller.Actor); err != nil {
					return current, nil, err
				}
			}
			if err := tx.Teams().AddSlots(ctx, next.Added); err != nil {
				return current, nil, err
			}
			return next.Team, updated, tx.Teams().DropSlots(ctx, current.ID, next.Dropped)
		})
}

// holds refuses a budget of a team that the company does not have, beside those of its other teams.
func holds(ctx context.Context, tx store.Tx, c company.Company, of team.Team, limit budget.Limit) error {
	if !limit.IsSet {
		return nil
	}
	others, err := tx.Envelopes().TeamBudgets(ctx, c.ID, of.ID)
	if err != nil {
		return err
	}
	return c.Budget.Holds(others + limit.USD)
}

// rebudget follows from another budget of a team.
func (s *Service) rebudget(ctx context.Context, tx store.Tx, c company.Company, next team.Team, by event.Actor) error {
	if err := holds(ctx, tx, c, next, next.Budget); err != nil {
		return err
	}
	at, err := tx.StoreNow(ctx)
	if err != nil {
		return err
	}
	unit := work.In(tx, s.ids, c.ID, by)
	account, err := unit.Account(ctx, string(next.ID))
	if err != nil {
		return err
	}
	account.Limit = next.Budget
	_, err = unit.Rebudget(ctx, at, work.TeamEnvelope(c, account))
	return err
}

// Delete removes a team that has no agents, with its slots.
func (s *Service) Delete(
	ctx context.Context, caller access.Caller, of id.Company, which string, match precondition.Match,
) (team.Team, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return team.Team{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return store.RemoveIn(ctx, s.store, request, called(of, which), store.Tx.Teams,
		func(ctx context.Context, tx store.Tx, c company.Company, current team.Team) (event.Event, error) {
			issues, err := tx.Issues().Tally(ctx, store.Tally{Company: of, Team: current.ID})
			if err != nil {
				return event.Event{}, err
			}
			workflows, err := tx.Workflows().WithStepsFor(ctx, of, current.ID, team.MostNamed)
			if err != nil {
				return event.Event{}, err
			}
			deleted, err := current.Delete(issues.Open(), workflows)
			if err != nil {
				return deleted, err
			}
			if err := tx.Teams().Remove(ctx, current.ID); err != nil {
				return deleted, err
			}
			return deleted, tx.Companies().Save(ctx, c.Counting(-1, 0))
		})
}

// called finds the team of a company that has an id or a slug.
func called(of id.Company, which string) func(ctx context.Context, tx store.Tx) (id.Team, error) {
	return func(ctx context.Context, tx store.Tx) (id.Team, error) {
		found, err := store.FindTeam(ctx, tx.Teams(), of, which)
		return found.ID, err
	}
}

// others implements team.Others in a unit of work.
type others struct {
	ctx context.Context //nolint:containedctx // of the unit
	tx  store.Tx
	of  id.Company
}

func (o others) SlugsFrom(stem string) ([]string, error) {
	return o.tx.Teams().SlugsFrom(o.ctx, o.of, stem)
}

func (o others) HasName(name string) (bool, error) { return o.tx.Teams().HasName(o.ctx, o.of, name) }

func (o others) Employs(which id.Agent) (bool, error) {
	found, err := store.GetIn(o.ctx, o.tx.Agents(), o.of, which)
	exists, err := store.Exists(err)
	return exists && found.IsEmployed(), err
}
