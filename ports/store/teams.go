package store

import (
	"context"

	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/domain/text"
)

// TeamReader reads teams and their slots.
type TeamReader interface {
	Getter[id.Team, team.Team]

	// BySlug returns the team of a company with a slug, or fault.NotFound.
	BySlug(ctx context.Context, of id.Company, slug string) (team.Team, error)

	// List returns at most size teams of a company that come after a position: newest first, and by descending id within one
	// instant.
	List(ctx context.Context, of id.Company, after page.Position, size int) (page.Page[team.Team], error)

	// OfCompany returns the oldest teams of a company, at most most of them, oldest first.
	OfCompany(ctx context.Context, which id.Company, most int) ([]team.Team, error)

	// Slots returns at most size slots of a team that come after a position, in the order of List.
	Slots(ctx context.Context, of id.Team, after page.Position, size int) (page.Page[team.Slot], error)

	// SlotsOfCompany returns every slot of a company, oldest first.
	SlotsOfCompany(ctx context.Context, which id.Company) ([]team.Slot, error)
}

// Teams reads and changes teams and their slots.
type Teams interface {
	TeamReader

	// No two teams of a company have one name, whatever its case, or one slug. Save does not change the company, the slug and
	// CreatedAt, which are permanent.
	Repository[id.Team, team.Team]

	// AddAll inserts new teams with their slots, all of one company.
	AddAll(ctx context.Context, teams []team.Team, slots []team.Slot) error

	// HasName reports whether a team of a company has a name, whatever its case.
	HasName(ctx context.Context, of id.Company, name string) (bool, error)

	// SlugsFrom returns the slugs of a company's teams that are the stem, or begin with it.
	SlugsFrom(ctx context.Context, of id.Company, stem string) ([]string, error)

	// AddSlots inserts new slots.
	AddSlots(ctx context.Context, slots []team.Slot) error

	// DropSlots removes as many of the youngest empty slots of a team. There must be so many.
	DropSlots(ctx context.Context, of id.Team, count int) error

	// FillSlot gives the oldest empty slot of a team to an agent. There must be one.
	FillSlot(ctx context.Context, of id.Team, by id.Agent) (id.Slot, error)

	// FreeSlot empties a slot.
	FreeSlot(ctx context.Context, which id.Slot) error

	// Remove removes a team with its slots.
	Remove(ctx context.Context, which id.Team) error
}

// FindTeam returns the team of a company that has an id or a slug, or fault.NotFound. No slug looks like an id.
func FindTeam(ctx context.Context, in TeamReader, of id.Company, which string) (team.Team, error) {
	if text.IsSlug(which) {
		return in.BySlug(ctx, of, which)
	}
	parsed, _ := id.Parse[id.Team](which)
	return GetIn(ctx, in, of, parsed)
}
