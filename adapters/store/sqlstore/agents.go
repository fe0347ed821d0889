package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

// agents implements store.Agents.
type agents struct {
	stored[id.Agent, agent.Agent]
}

func agentsOf(s session) agents { return agents{stored[id.Agent, agent.Agent]{s, agentTable}} }

const lastActiveAt = "last_active_at"

var agentTable = tableOf("agents", fault.New(fault.NotFound, "There is no such agent."),
	asText("id", func(a *agent.Agent) *id.Agent { return &a.ID }),
	asText("company_id", func(a *agent.Agent) *id.Company { return &a.Company }).fixed(),
	asText("team_id", func(a *agent.Agent) *id.Team { return &a.Team }).fixed(),
	asText("slot_id", func(a *agent.Agent) *id.Slot { return &a.Slot }),
	asText("name", func(a *agent.Agent) *string { return &a.Name }),
	asText("role", func(a *agent.Agent) *string { return &a.Role }),
	asText("adapter", func(a *agent.Agent) *string { return &a.Adapter }),
	asText("adapter_config", func(a *agent.Agent) *agent.Config { return &a.AdapterConfig }),
	asText("model", func(a *agent.Agent) *string { return &a.Model }),
	asText("status", func(a *agent.Agent) *agent.Status { return &a.Status }).inIndex(),
	asWords("memory_scopes", func(a *agent.Agent) *[]agent.MemoryScope { return &a.MemoryScopes }),
	asLimit("per_task_usd", func(a *agent.Agent) *budget.Limit { return &a.Budget.PerTask }),
	asLimit("daily_usd", func(a *agent.Agent) *budget.Limit { return &a.Budget.Daily }),
	asJSONList("requires", func(a *agent.Agent) *[]string { return &a.Requires }),
	asText("hash", func(a *agent.Agent) *string { return &a.Hash }).inIndex(),
	asInteger("tasks_completed", func(a *agent.Agent) *int { return &a.Stats.Completed }),
	asInteger("tasks_failed", func(a *agent.Agent) *int { return &a.Stats.Failed }),
	asInteger("spent_usd", func(a *agent.Agent) *money.USD { return &a.Stats.Spent }).onlyRead(totalOf(budget.OfAgent, "agents")),
	asOptionalMillis(lastActiveAt, func(a *agent.Agent) *time.Time { return &a.Stats.LastActiveAt }).fixed(),
	asInteger("adapter_failures", func(a *agent.Agent) *int { return &a.Stats.AdapterFailures }),
	asOptionalMillis("adapter_retry_at", func(a *agent.Agent) *time.Time { return &a.Stats.RetryAt }),
	guardColumn,
	derivedFlag("is_run", isRun).inIndex(),
	asMillis(createdAt, func(a *agent.Agent) *time.Time { return &a.CreatedAt }).fixed(),
	asMillis("updated_at", func(a *agent.Agent) *time.Time { return &a.UpdatedAt }),
	asInteger("version", func(a *agent.Agent) *int64 { return &a.Version }),
	// Not in an index, but long: a save writes it only if it changes.
	asText("instructions", func(a *agent.Agent) *string { return &a.Instructions }).inIndex(),
)

// listedAgents is what is read of agents but one by its id: all but the instructions.
var listedAgents = agentTable.without("instructions")

// What is read of an agent and of those it works for. The team can be missing, and so can its manager.
var (
	employedAgents     = agentTable.part("id", "name", "role", "requires", "instructions")
	employingTeams     = teamTable.optional("teams", "id", "name")
	managingAgents     = agentTable.optional("managers", "id", "name", "role")
	employingCompanies = companyTable.part("id", "name", "description")
)

// employment finds an agent and those it works for; the argument is its id.
var employment = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("agents").Join("JOIN companies ON companies.id = agents.company_id").
		Join("LEFT JOIN teams ON teams.id = agents.team_id").
		Join("LEFT JOIN agents AS managers ON managers.id = teams.manager_id AND managers.status <> ?", agent.Retired).
		ColumnExpr("?, ?", employedAgents.allColumns(), employingTeams.allColumns()).
		ColumnExpr("?, ?", managingAgents.allColumns(), employingCompanies.allColumns()).
		Where("agents.id = ?", b.arg(1))
})

func (a agents) Employment(ctx context.Context, which id.Agent) (found store.Employment, err error) {
	who, in := employedAgents.scanner(), employingTeams.scanner()
	under, of := managingAgents.scanner(), employingCompanies.scanner()
	err = a.row(ctx, slices.Concat(who.dests, in.dests, under.dests, of.dests), a.table.missing, employment, string(which))
	if err == nil {
		found.Agent, err = who.value()
	}
	if err == nil {
		found.Team, err = in.value()
	}
	if err == nil {
		found.Manager, err = under.value()
	}
	if err == nil {
		found.Company, err = of.value()
	}
	return found, err
}

// guardColumn holds the failures that an agent has had since a run of it succeeded, as JSON; it is empty for most.
var guardColumn = column[agent.Agent]{
	name: "guard", kind: textKind,
	get: func(of *agent.Agent) any {
		if of.Guard == (agent.Guard{}) {
			return ""
		}
		encoded, _ := json.Marshal(of.Guard) // it has only what cannot fail
		return string(encoded)
	},
	set: func(to *agent.Agent, c *cell) error {
		var err error
		to.Guard, err = parseGuard(c.text)
		return err
	},
}

func parseGuard(text string) (guard agent.Guard, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &guard)
	}
	return guard, err
}

func isRun(a *agent.Agent) bool {
	_, isRun := a.Duty()
	return isRun
}

var agentByHash = prepare(func(b builder) fmt.Stringer {
	return listedAgents.selects(b.db()).Where("hash = ?", b.arg(1)).Limit(1)
})

func (a agents) ByHash(ctx context.Context, hash string) (agent.Agent, error) {
	return readOne(ctx, a.session, listedAgents, agentByHash, hash)
}

func (a agents) Hashes(ctx context.Context, which []id.Agent) (map[id.Agent]string, error) {
	found := make(map[id.Agent]string, len(which))
	for some := range slices.Chunk(which, store.Portion) {
		query := a.selectFrom("agents").Join("JOIN companies ON companies.id = agents.company_id").Column("agents.id", "agents.hash").
			Where("agents.id IN (?)", bun.List(some)).Where("agents.status <> ?", agent.Retired).
			Where("companies.status = ?", company.Active)
		var one id.Agent
		var hash string
		err := a.each(ctx, query, func(rows *sql.Rows) error {
			err := rows.Scan(&one, &hash)
			found[one] = hash
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (a agents) Touch(ctx context.Context, active map[id.Agent]time.Time) error {
	return touch(ctx, a.session, a.table.name, lastActiveAt, active)
}

func (a agents) List(
	ctx context.Context, filter store.AgentFilter, after page.Position, size int,
) (page.Page[agent.Agent], error) {
	where := []condition{{"company_id", string(filter.Company)}}
	if filter.Team != "" {
		where = append(where, condition{"team_id", string(filter.Team)})
	}
	if filter.Adapter != "" {
		where = append(where, condition{"adapter", filter.Adapter})
	}
	return listSelected(ctx, a.session, listedAgents, inStates(where, filter.Status, filter.Words), after, size)
}

var idleAgent = prepare(func(b builder) fmt.Stringer {
	tally := func(expression string, statuses ...issue.Status) *bun.SelectQuery {
		return b.db().NewSelect().Table("tallies").ColumnExpr(expression).Where("company_id = agents.company_id").
			Where("scope = 'agent'").Where("scope_id = agents.id").Where("status IN (?)", bun.List(statuses))
	}
	return listedAgents.selects(b.db()).Where("team_id = ?", b.arg(1)).Where("status = ?", agent.Active).
		Where("NOT EXISTS (?)", tally("1", issue.Running).Where("n > 0")).
		OrderExpr("coalesce((?), 0), created_at, id", tally("sum(n)", issue.Open...)).Limit(1)
})

func (a agents) Idle(ctx context.Context, in id.Team) (agent.Agent, error) {
	return readOne(ctx, a.session, listedAgents, idleAgent, string(in))
}

func (a agents) Save(ctx context.Context, saved agent.Agent) error {
	before, _ := a.locked(saved)
	if err := a.stored.Save(ctx, saved); err != nil || saved.Status != agent.Active {
		return err
	}
	if before.Status == agent.Active && (before.Stats.RetryAt.IsZero() || !saved.Stats.RetryAt.IsZero()) {
		return nil
	}
	return a.raiseWork(ctx, saved.Company)
}

var countWork = prepare(func(b builder) fmt.Stringer {
	return b.db().NewUpdate().Table("agents").Set("tasks_completed = tasks_completed + ?", b.arg(1)).
		Set("tasks_failed = tasks_failed + ?", b.arg(2)).Set("version = version + 1").Where("id = ?", b.arg(3))
})

func (a agents) Count(ctx context.Context, of id.Agent, more agent.Work) error {
	return a.changeReadLater(ctx, rowKey{a.table.name, string(of)}, countWork,
		int64(more.Completed), int64(more.Failed), string(of))
}

var runnableAgents = prepare(func(b builder) fmt.Stringer {
	at := b.db().NewSelect().Table("companies").ColumnExpr("1").Where("companies.id = agents.company_id").
		Where("companies.status = ?", company.Active).Where("companies.work_paused = 0")
	work := b.db().NewSelect().Table("issues").ColumnExpr("1").Where("issues.company_id = agents.company_id").
		Where("issues.claimable = 1").Where("issues.claim_key IN ('a:' || agents.id, 't:' || agents.team_id, 'c')")
	return listedAgents.selects(b.db()).Where("is_run = 1").Where("status = 'active'").Where("id > ?", b.arg(1)).
		Where("(adapter_retry_at IS NULL OR adapter_retry_at <= ?)", b.arg(2)).
		Where("EXISTS (?)", at).Where("EXISTS (?)", work).Order("id").Limit(store.Portion)
})

func (a agents) Runnable(ctx context.Context, at time.Time, after id.Agent) (found []agent.Agent, err error) {
	row := listedAgents.scanner()
	err = a.rows(ctx, func(rows *sql.Rows) error {
		one, err := row.scan(rows)
		found = append(found, one)
		return err
	}, runnableAgents, string(after), millis(at))
	return found, err
}

func (a agents) OfCompany(ctx context.Context, which id.Company, most int) ([]agent.Agent, error) {
	return readAll(ctx, a.session, listedAgents,
		ofCompany(a.session, listedAgents, which).Where("status <> ?", agent.Retired).Limit(int64(most)))
}
