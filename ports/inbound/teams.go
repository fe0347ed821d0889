package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/team"
)

// Teams are the use cases of teams. All are about the teams of one company: an unknown team is fault.NotFound, and so is one
// of another company, and a company that the caller may not know of. Writes fail with fault.CompanyArchived or
// fault.InvalidTransition while the company takes no changes.
type Teams interface {
	// List needs Read. It returns a page of the teams, newest first.
	List(ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int) (page.Page[team.Team], error)

	// Get needs Read. It finds a team by its id or its slug; so do the others.
	Get(ctx context.Context, caller access.Caller, of id.Company, which string) (team.Team, error)

	// Slots needs Read. It returns a page of the slots of a team, newest first.
	Slots(
		ctx context.Context, caller access.Caller, of id.Company, which string, after page.Position, size int,
	) (page.Page[team.Slot], error)

	// Create needs Write. The faults are those of team.New, and team.NameInUse.
	Create(ctx context.Context, caller access.Caller, of id.Company, draft team.Draft, once idempotency.Request) (team.Team, error)

	// Update needs Write. The faults are fault.PreconditionFailed, those of team.Team.Apply, and team.NameInUse.
	Update(
		ctx context.Context, caller access.Caller, of id.Company, which string, patch team.Patch, match precondition.Match,
	) (team.Team, error)

	// Delete needs Write. It returns the team as it was last. The faults are fault.PreconditionFailed and those of
	// team.Team.Delete.
	Delete(ctx context.Context, caller access.Caller, of id.Company, which string, match precondition.Match) (team.Team, error)
}
