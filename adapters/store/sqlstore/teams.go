package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/budget"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/domain/text"
)

// teams implements store.Teams.
type teams struct {
	stored[id.Team, team.Team]
}

func teamsOf(s session) teams { return teams{stored[id.Team, team.Team]{s, teamTable}} }

var teamTable = tableOf("teams", fault.New(fault.NotFound, "There is no such team."),
	asText("id", func(t *team.Team) *id.Team { return &t.ID }),
	asText("company_id", func(t *team.Team) *id.Company { return &t.Company }).fixed(),
	asText("name", func(t *team.Team) *string { return &t.Name }),
	derived("name_key", func(t *team.Team) string { return text.Fold(t.Name) }).inIndex(), // names are unique whatever their case
	asText("slug", func(t *team.Team) *string { return &t.Slug }).fixed(),
	asText("description", func(t *team.Team) *string { return &t.Description }),
	asInteger("headcount", func(t *team.Team) *int { return &t.Headcount }),
	asInteger("agent_count", func(t *team.Team) *int { return &t.AgentCount }),
	asText("manager_id", func(t *team.Team) *id.Agent { return &t.Manager }),
	asLimit("budget_usd", func(t *team.Team) *budget.Limit { return &t.Budget }),
	asMillis(createdAt, func(t *team.Team) *time.Time { return &t.CreatedAt }).fixed(),
	asMillis("updated_at", func(t *team.Team) *time.Time { return &t.UpdatedAt }),
	asInteger("version", func(t *team.Team) *int64 { return &t.Version }),
)

var slotTable = tableOf("slots", nil,
	asText("id", func(s *team.Slot) *id.Slot { return &s.ID }),
	asText("company_id", func(s *team.Slot) *id.Company { return &s.Company }).fixed(),
	asText("team_id", func(s *team.Slot) *id.Team { return &s.Team }).fixed(),
	asText("agent_id", func(s *team.Slot) *id.Agent { return &s.Agent }),
	asMillis(createdAt, func(s *team.Slot) *time.Time { return &s.CreatedAt }).fixed(),
)

var teamBySlug = prepare(func(b builder) fmt.Stringer {
	return teamTable.selects(b.db()).Where("company_id = ?", b.arg(1)).Where("slug = ?", b.arg(2))
})

func (t teams) BySlug(ctx context.Context, of id.Company, slug string) (team.Team, error) {
	return readOne(ctx, t.session, t.table, teamBySlug, string(of), slug)
}

func (t teams) List(ctx context.Context, of id.Company, after page.Position, size int) (page.Page[team.Team], error) {
	return listPage(ctx, t.session, t.table, []condition{{"company_id", string(of)}}, after, size)
}

func (t teams) OfCompany(ctx context.Context, which id.Company, most int) ([]team.Team, error) {
	return readAll(ctx, t.session, teamTable, ofCompany(t.session, teamTable, which).Limit(int64(most)))
}

func (t teams) Slots(ctx context.Context, of id.Team, after page.Position, size int) (page.Page[team.Slot], error) {
	return listPage(ctx, t.session, slotTable, []condition{{"team_id", string(of)}}, after, size)
}

func (t teams) SlotsOfCompany(ctx context.Context, which id.Company) ([]team.Slot, error) {
	return readAll(ctx, t.session, slotTable, ofCompany(t.session, slotTable, which))
}

// ofCompany begins a query of the rows of a company, oldest first.
func ofCompany[T any](s session, of *table[T], which id.Company) *bun.SelectQuery {
	return selectRows(s, of).Where("company_id = ?", which).Order(createdAt, "id")
}

// Add keeps the budget of the team where charges are counted.
func (t teams) Add(ctx context.Context, added team.Team) error {
	if err := t.stored.Add(ctx, added); err != nil {
		return err
	}
	return t.setLimit(ctx, added.Company, string(added.ID), budget.Limit{}, added.Budget)
}

// Save is as Add.
func (t teams) Save(ctx context.Context, saved team.Team) error {
	before, _ := t.locked(saved)
	if err := t.stored.Save(ctx, saved); err != nil {
		return err
	}
	return t.setLimit(ctx, saved.Company, string(saved.ID), before.Budget, saved.Budget)
}

func (t teams) AddAll(ctx context.Context, added []team.Team, slots []team.Slot) error {
	if err := insertMany(ctx, t.session, teamTable, added); err != nil {
		return err
	}
	for _, one := range added {
		if err := t.setLimit(ctx, one.Company, string(one.ID), budget.Limit{}, one.Budget); err != nil {
			return err
		}
	}
	return t.AddSlots(ctx, slots)
}

func (t teams) HasName(ctx context.Context, of id.Company, name string) (bool, error) {
	return t.exists(ctx, t.selectFrom("teams").Where("company_id = ?", of).Where("name_key = ?", text.Fold(name)))
}

func (t teams) SlugsFrom(ctx context.Context, of id.Company, stem string) (slugs []string, err error) {
	const beyond = "{" // sorts after every character of a slug
	err = t.scan(ctx, t.selectFrom("teams").Column("slug").
		Where("company_id = ?", of).Where("slug >= ?", stem).Where("slug < ?", stem+beyond), &slugs)
	return slugs, err
}

func (t teams) AddSlots(ctx context.Context, slots []team.Slot) error {
	return insertMany(ctx, t.session, slotTable, slots)
}

func (t teams) DropSlots(ctx context.Context, of id.Team, count int) error {
	if count == 0 {
		return nil
	}
	youngest := t.selectFrom("slots").Column("id").Where("team_id = ?", of).Where("agent_id = ''").
		OrderExpr("created_at DESC, id DESC").Limit(int64(count))
	dropped, err := t.change(ctx, t.engine.DB().NewDelete().Conn(t.conn).Table("slots").Where("id IN (?)", youngest))
	if err == nil && dropped != count {
		return fmt.Errorf("%d of %d slots were dropped: no more are empty", dropped, count)
	}
	return err
}

func (t teams) FillSlot(ctx context.Context, of id.Team, by id.Agent) (which id.Slot, err error) {
	oldest := t.selectFrom("slots").Column("id").Where("team_id = ?", of).Where("agent_id = ''").Order(createdAt, "id").Limit(1)
	if err := t.scan(ctx, oldest, &which); err != nil {
		return "", err
	}
	return which, t.setAgent(ctx, which, by)
}

func (t teams) FreeSlot(ctx context.Context, which id.Slot) error { return t.setAgent(ctx, which, "") }

func (t teams) setAgent(ctx context.Context, of id.Slot, to id.Agent) error {
	return t.changeOne(ctx, t.engine.DB().NewUpdate().Conn(t.conn).Table("slots").Set("agent_id = ?", to).Where("id = ?", of))
}

func (t teams) Remove(ctx context.Context, which id.Team) error {
	if _, err := t.change(ctx, t.engine.DB().NewDelete().Conn(t.conn).Table("slots").Where("team_id = ?", which)); err != nil {
		return err
	}
	if _, err := t.change(ctx, t.engine.DB().NewDelete().Conn(t.conn).Table("envelopes").Where("id = ?", which)); err != nil {
		return err
	}
	return t.stored.Remove(ctx, which)
}
