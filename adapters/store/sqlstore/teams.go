package sqlstore

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/team"
	"holdco/domain/text"
)

// teams implements store.Teams.
type teams struct{ session }

// batch is how many rows one statement inserts.
const batch = 500

func (t teams) OfCompany(ctx context.Context, which id.Company) ([]team.Team, error) {
	var rows []teamRow
	if err := t.all(ctx, t.selects(&rows).Where("company_id = ?", which).Order("created_at", "id")); err != nil {
		return nil, err
	}
	found := make([]team.Team, len(rows))
	for i, row := range rows {
		found[i] = row.value()
	}
	return found, nil
}

func (t teams) SlotsOfCompany(ctx context.Context, which id.Company) ([]team.Slot, error) {
	var rows []slotRow
	if err := t.all(ctx, t.selects(&rows).Where("company_id = ?", which).Order("created_at", "id")); err != nil {
		return nil, err
	}
	found := make([]team.Slot, len(rows))
	for i, row := range rows {
		found[i] = row.value()
	}
	return found, nil
}

func (t teams) Add(ctx context.Context, added []team.Team, slots []team.Slot) error {
	for some := range slices.Chunk(added, batch) {
		rows := make([]teamRow, len(some))
		for i, one := range some {
			rows[i] = teamRowOf(one)
		}
		if _, err := t.change(ctx, t.inserts(&rows)); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(slots, batch) {
		rows := make([]slotRow, len(some))
		for i, one := range some {
			rows[i] = slotRowOf(one)
		}
		if _, err := t.change(ctx, t.inserts(&rows)); err != nil {
			return err
		}
	}
	return nil
}

type teamRow struct {
	bun.BaseModel `bun:"table:teams"`

	ID         id.Team    `bun:"id,pk"`
	Company    id.Company `bun:"company_id"`
	Name       string     `bun:"name"`
	NameKey    string     `bun:"name_key"`
	Slug       string     `bun:"slug"`
	Headcount  int        `bun:"headcount"`
	AgentCount int        `bun:"agent_count"`
	CreatedAt  int64      `bun:"created_at"`
	UpdatedAt  int64      `bun:"updated_at"`
}

func teamRowOf(t team.Team) teamRow {
	return teamRow{
		ID:         t.ID,
		Company:    t.Company,
		Name:       t.Name,
		NameKey:    text.Fold(t.Name),
		Slug:       t.Slug,
		Headcount:  t.Headcount,
		AgentCount: t.AgentCount,
		CreatedAt:  millis(t.CreatedAt),
		UpdatedAt:  millis(t.UpdatedAt),
	}
}

func (r teamRow) value() team.Team {
	return team.Team{
		ID:         r.ID,
		Company:    r.Company,
		Name:       r.Name,
		Slug:       r.Slug,
		Headcount:  r.Headcount,
		AgentCount: r.AgentCount,
		CreatedAt:  instant(r.CreatedAt),
		UpdatedAt:  instant(r.UpdatedAt),
	}
}

type slotRow struct {
	bun.BaseModel `bun:"table:slots"`

	ID        id.Slot    `bun:"id,pk"`
	Company   id.Company `bun:"company_id"`
	Team      id.Team    `bun:"team_id"`
	Agent     id.Agent   `bun:"agent_id"`
	CreatedAt int64      `bun:"created_at"`
}

func slotRowOf(s team.Slot) slotRow {
	return slotRow{ID: s.ID, Company: s.Company, Team: s.Team, Agent: s.Agent, CreatedAt: millis(s.CreatedAt)}
}

func (r slotRow) value() team.Slot {
	return team.Slot{ID: r.ID, Company: r.Company, Team: r.Team, Agent: r.Agent, CreatedAt: instant(r.CreatedAt)}
}
