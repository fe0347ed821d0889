package sqlstore

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/team"
	"holdco/domain/text"
)

// teams implements store.Teams.
type teams struct{ session }

var teamTable = tableOf("teams", nil,
	asText("id", func(t *team.Team) *id.Team { return &t.ID }),
	asText("company_id", func(t *team.Team) *id.Company { return &t.Company }).fixed(),
	asText("name", func(t *team.Team) *string { return &t.Name }),
	derived("name_key", func(t *team.Team) string { return text.Fold(t.Name) }), // names are unique whatever their case
	asText("slug", func(t *team.Team) *string { return &t.Slug }),
	asInteger("headcount", func(t *team.Team) *int { return &t.Headcount }),
	asInteger("agent_count", func(t *team.Team) *int { return &t.AgentCount }),
	asMillis(createdAt, func(t *team.Team) *time.Time { return &t.CreatedAt }).fixed(),
	asMillis("updated_at", func(t *team.Team) *time.Time { return &t.UpdatedAt }),
)

var slotTable = tableOf("slots", nil,
	asText("id", func(s *team.Slot) *id.Slot { return &s.ID }),
	asText("company_id", func(s *team.Slot) *id.Company { return &s.Company }).fixed(),
	asText("team_id", func(s *team.Slot) *id.Team { return &s.Team }).fixed(),
	asText("agent_id", func(s *team.Slot) *id.Agent { return &s.Agent }),
	asMillis(createdAt, func(s *team.Slot) *time.Time { return &s.CreatedAt }).fixed(),
)

func (t teams) OfCompany(ctx context.Context, which id.Company) ([]team.Team, error) {
	return ofCompany(ctx, t.session, teamTable, which)
}

func (t teams) SlotsOfCompany(ctx context.Context, which id.Company) ([]team.Slot, error) {
	return ofCompany(ctx, t.session, slotTable, which)
}

// ofCompany reads all rows of a company, oldest first.
func ofCompany[T any](ctx context.Context, s session, of *table[T], which id.Company) ([]T, error) {
	return readAll(ctx, s, of, selectRows(s, of).Where("company_id = ?", which).Order(createdAt, "id"))
}

func (t teams) Add(ctx context.Context, added []team.Team, slots []team.Slot) error {
	if err := insertMany(ctx, t.session, teamTable, added); err != nil {
		return err
	}
	return insertMany(ctx, t.session, slotTable, slots)
}
