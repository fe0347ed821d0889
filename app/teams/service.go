package teams

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Teams.
type Service struct {
	store store.Store
	ids   outbound.IDs
}

var _ inbound.Teams = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// List returns a page of the teams of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int,
) (found page.Page[team.Team], err error) {
	err = s.view(ctx, caller, of, func(ctx context.Context, r store.Reader) (err error) {
		found, err = r.Teams().List(ctx, of, after, size)
		return err
	})
	return found, err
}

// Get returns one team.
func (s *Service) Get(ctx context.Context, caller access.Caller, of id.Company, which string) (found team.Team, err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return team.Team{}, err
	}
	return store.FindTeam(ctx, s.store.Teams(), of, which)
}

// Slots returns a page of the slots of a team.
func (s *Service) Slots(
	ctx context.Context, caller access.Caller, of id.Company, which string, after page.Position, size int,
) (found page.Page[team.Slot], err error) {
	err = s.view(ctx, caller, of, func(ctx context.Context, r store.Reader) error {
		t, err := store.FindTeam(ctx, r.Teams(), of, which)
		if err != nil {
			return err
		}
		found, err = r.Teams().Slots(ctx, t.ID, after, size)
		return err
	})
	return found, err
}

// view reads something of a company on one snapshot, if the caller may. The company must exist.
func (s *Service) view(
	ctx context.Context, caller access.Caller, of id.Company, read func(ctx context.Context, r store.Reader) error,
) error {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return err
	}
	return store.ViewIn(ctx, s.store, of, read)
}
