package sqlstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/budget"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

// purposes are stored goals or projects.
type purposes[I id.ID, T goal.Kind[I]] struct {
	stored[I, T]
}

// Add keeps the budget of a goal or a project where charges are counted. So does Save.
func (p purposes[I, T]) Add(ctx context.Context, added T) error {
	if err := p.stored.Add(ctx, added); err != nil {
		return err
	}
	return p.setLimit(ctx, added.Owner(), string(added.Key()), budget.Limit{}, added.Limit())
}

func (p purposes[I, T]) Save(ctx context.Context, saved T) error {
	before, _ := p.locked(saved)
	if err := p.stored.Save(ctx, saved); err != nil {
		return err
	}
	return p.setLimit(ctx, saved.Owner(), string(saved.Key()), before.Limit(), saved.Limit())
}

// spent begins to tell what is done for goals or projects, with what their accounts have of each.
func (p purposes[I, T]) spent(ctx context.Context, of id.Company, which []I) (map[I]goal.Work, error) {
	done := make(map[I]goal.Work, len(which))
	for _, one := range which {
		done[one] = goal.Work{Issues: issue.Counts{Of: map[issue.Status]int64{}}}
	}
	if len(which) == 0 {
		return done, nil
	}
	var rows []struct {
		ID       I
		SpentUsd money.USD
	}
	err := p.scan(ctx, p.selectFrom(accountTable.name).Column("id", "spent_usd").Where("company_id = ?", of).
		Where("id IN (?)", bun.List(which)), &rows)
	for _, row := range rows {
		its := done[row.ID]
		its.Spent = row.SpentUsd
		done[row.ID] = its
	}
	return done, err
}

// goals implements store.Goals.
type goals struct {
	purposes[id.Goal, goal.Goal]
}

func goalsOf(s session) goals {
	return goals{purposes[id.Goal, goal.Goal]{stored[id.Goal, goal.Goal]{s, goalTable}}}
}

var goalTable = tableOf("goals", fault.New(fault.NotFound, "There is no such goal."),
	asText("id", func(g *goal.Goal) *id.Goal { return &g.ID }),
	asText("company_id", func(g *goal.Goal) *id.Company { return &g.Company }).fixed(),
	asText("title", func(g *goal.Goal) *string { return &g.Title }),
	asText("description", func(g *goal.Goal) *string { return &g.Description }),
	asLimit("budget_usd", func(g *goal.Goal) *budget.Limit { return &g.Budget }),
	asText("target_date", func(g *goal.Goal) *string { return &g.TargetDate }),
	asText("status", func(g *goal.Goal) *goal.Status { return &g.Status }).inIndex(),
	asMillis(createdAt, func(g *goal.Goal) *time.Time { return &g.CreatedAt }).fixed(),
	asMillis("updated_at", func(g *goal.Goal) *time.Time { return &g.UpdatedAt }),
	asInteger("version", func(g *goal.Goal) *int64 { return &g.Version }),
)

func (g goals) List(
	ctx context.Context, filter store.GoalFilter, after page.Position, size int,
) (page.Page[goal.Goal], error) {
	where := []condition{{"company_id", string(filter.Company)}}
	return listSelected(ctx, g.session, g.table, inStates(where, filter.Status, filter.Words), after, size)
}

func (g goals) Work(ctx context.Context, of id.Company, which []id.Goal) (map[id.Goal]goal.Work, error) {
	done, err := g.spent(ctx, of, which)
	if err != nil || len(which) == 0 {
		return done, err
	}
	var projects []struct {
		ID     id.Project
		GoalID id.Goal
	}
	err = g.scan(ctx, g.selectFrom("projects").Column("id", "goal_id").Where("company_id = ?", of).
		Where("goal_id IN (?)", bun.List(which)).Where("goal_id <> ''").Order("goal_id", createdAt, "id"), &projects)
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		its := done[project.GoalID]
		its.Projects = append(its.Projects, project.ID)
		done[project.GoalID] = its
	}
	// The tallies of a goal are kept by project, so that moving a project rewrites none.
	var rows []struct {
		GoalID id.Goal
		Status issue.Status
		N      int64
	}
	err = g.scan(ctx, g.engine.DB().NewRaw(`
		SELECT p.goal_id, t.status, CAST(sum(t.n) AS BIGINT) AS n FROM projects p
			JOIN tallies t ON t.company_id = p.company_id AND t.scope = 'project' AND t.scope_id = p.id
			WHERE p.company_id = ? AND p.goal_id IN (?) AND p.goal_id <> '' GROUP BY p.goal_id, t.status
		UNION ALL
		SELECT g.id, t.status, CAST(sum(t.n) AS BIGINT) FROM goals g
			JOIN tallies t ON t.company_id = g.company_id AND t.scope = 'goal' AND t.scope_id >= g.id || '/' AND t.scope_id < g.id || '0'
			WHERE g.company_id = ? AND g.id IN (?) AND NOT EXISTS (
				SELECT 1 FROM projects p WHERE p.id = substr(t.scope_id, length(g.id) + 2) AND p.goal_id = g.id)
			GROUP BY g.id, t.status`, of, bun.List(which), of, bun.List(which)).Conn(g.conn), &rows)
	for _, row := range rows {
		done[row.GoalID].Issues.Of[row.Status] += row.N
	}
	return done, err
}

// projects implements store.Projects.
type projects struct {
	purposes[id.Project, goal.Project]
}

func projectsOf(s session) projects {
	return projects{purposes[id.Project, goal.Project]{stored[id.Project, goal.Project]{s, projectTable}}}
}

var projectTable = tableOf("projects", fault.New(fault.NotFound, "There is no such project."),
	asText("id", func(p *goal.Project) *id.Project { return &p.ID }),
	asText("company_id", func(p *goal.Project) *id.Company { return &p.Company }).fixed(),
	asText("goal_id", func(p *goal.Project) *id.Goal { return &p.Goal }).inIndex(),
	asText("title", func(p *goal.Project) *string { return &p.Title }),
	asText("description", func(p *goal.Project) *string { return &p.Description }),
	asLimit("budget_usd", func(p *goal.Project) *budget.Limit { return &p.Budget }),
	asText("owner_team_id", func(p *goal.Project) *id.Team { return &p.OwnerTeam }),
	asText("status", func(p *goal.Project) *goal.ProjectStatus { return &p.Status }).inIndex(),
	asMillis(createdAt, func(p *goal.Project) *time.Time { return &p.CreatedAt }).fixed(),
	asMillis("updated_at", func(p *goal.Project) *time.Time { return &p.UpdatedAt }),
	asInteger("version", func(p *goal.Project) *int64 { return &p.Version }),
)

func (p projects) List(
	ctx context.Context, filter store.ProjectFilter, after page.Position, size int,
) (page.Page[goal.Project], error) {
	where := []condition{{"company_id", string(filter.Company)}}
	if filter.Goal != "" {
		where = append(where, condition{"goal_id", string(filter.Goal)})
	}
	return listSelected(ctx, p.session, p.table, inStates(where, filter.Status, filter.Words), after, size)
}

func (p projects) Count(ctx context.Context, of id.Goal) (int, error) {
	count, err := p.count(ctx, p.selectFrom("projects").Where("goal_id = ?", of).Where("goal_id <> ''"))
	return int(count), err
}

func (p projects) Work(ctx context.Context, of id.Company, which []id.Project) (map[id.Project]goal.Work, error) {
	done, err := p.spent(ctx, of, which)
	if err != nil || len(which) == 0 {
		return done, err
	}
	var rows []struct {
		ScopeID id.Project
		Status  issue.Status
		N       int64
	}
	err = p.scan(ctx, p.selectFrom("tallies").Column("scope_id", "status", "n").Where("company_id = ?", of).
		Where("scope = 'project'").Where("scope_id IN (?)", bun.List(which)), &rows)
	for _, row := range rows {
		done[row.ScopeID].Issues.Of[row.Status] = row.N
	}
	return done, err
}
