package teams

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/fault"
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
	return store.UpdateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, c company.Company) (team.Team, error) {
		if err := c.Allows(company.Update); err != nil {
			return team.Team{}, err
		}
		var inUse []string
		if draft.Name != nil {
			var err error
			if inUse, err = tx.Teams().SlugsFrom(ctx, of, team.SlugStem(*draft.Name)); err != nil {
				return team.Team{}, err
			}
		}
		made, created, err := team.New(of, draft, inUse, employs(ctx, tx, of), s.ids, tx.Now())
		if err != nil {
			return team.Team{}, err
		}
		if err := tx.Teams().Add(ctx, made.Team); err != nil {
			return team.Team{}, err
		}
		if err := tx.Teams().AddSlots(ctx, made.Added); err != nil {
			return team.Team{}, err
		}
		if err := tx.Companies().Save(ctx, c.Counting(1, 0, tx.Now())); err != nil {
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
	return store.UpdateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, c company.Company) (team.Team, error) {
		current, err := lock(ctx, tx, request, c, which)
		if err != nil {
			return current, err
		}
		next, updated, err := current.Apply(patch, employs(ctx, tx, of), s.ids, tx.Now())
		if err != nil || updated == nil {
			return current, err
		}
		if err := tx.Teams().Save(ctx, next.Team); err != nil {
			return current, err
		}
		if err := tx.Teams().AddSlots(ctx, next.Added); err != nil {
			return current, err
		}
		if err := tx.Teams().DropSlots(ctx, current.ID, next.Dropped); err != nil {
			return current, err
		}
		return next.Team, tx.Record(ctx, updated.By(caller.Actor))
	})
}

// Delete removes a team that has no agents, with its slots.
func (s *Service) Delete(
	ctx context.Context, caller access.Caller, of id.Company, which string, match precondition.Match,
) (team.Team, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return team.Team{}, err
	}
	request := store.Request{Actor: caller.Actor, Match: match, Company: of}
	return store.UpdateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, c company.Company) (team.Team, error) {
		current, err := lock(ctx, tx, request, c, which)
		if err != nil {
			return current, err
		}
		deleted, err := current.Delete()
		if err != nil {
			return current, err
		}
		if err := tx.Teams().Remove(ctx, current.ID); err != nil {
			return current, err
		}
		if err := tx.Companies().Save(ctx, c.Counting(-1, 0, tx.Now())); err != nil {
			return current, err
		}
		return current, tx.Record(ctx, deleted.By(caller.Actor))
	})
}

// lock locks the team of a company that has an id or a slug, to change it.
func lock(ctx context.Context, tx store.Tx, request store.Request, c company.Company, which string) (team.Team, error) {
	found, err := store.FindTeam(ctx, tx.Teams(), c.ID, which)
	if err != nil {
		return found, err
	}
	return store.LockIn(ctx, tx.Teams(), request, c, found.ID)
}

// employs returns whether an agent works for a company.
func employs(ctx context.Context, tx store.Tx, of id.Company) team.Employs {
	return func(which id.Agent) (bool, error) {
		found, err := store.GetIn(ctx, tx.Agents(), of, which)
		if fault.CodeOf(err) == fault.NotFound {
			return false, nil
		}
		return found.Status != agent.Retired, err
	}
}
