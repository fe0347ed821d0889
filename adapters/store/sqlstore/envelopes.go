package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/id"
	"holdco/domain/money"
)

// envelopes implements store.Envelopes.
type envelopes struct{ session }

var accountTable = tableOf("envelopes", nil,
	asText("id", func(a *budget.Account) *string { return &a.ID }),
	asText("company_id", func(a *budget.Account) *id.Company { return &a.Company }).fixed(),
	asLimit("limit_usd", func(a *budget.Account) *budget.Limit { return &a.Limit }).fixed(), // see setLimit
	asText("period", func(a *budget.Account) *budget.Period { return &a.Period }),
	asOptionalMillis("period_start", func(a *budget.Account) *time.Time { return &a.Start }),
	asInteger("spent_usd", func(a *budget.Account) *money.USD { return &a.Spent }),
	asInteger("held_usd", func(a *budget.Account) *money.USD { return &a.Held }),
	asInteger("topups_usd", func(a *budget.Account) *money.USD { return &a.Topups }),
	asText("fired", func(a *budget.Account) *budget.Level { return &a.Fired }),
	asOptionalMillis("hard_at", func(a *budget.Account) *time.Time { return &a.HardAt }),
)

// packed is a query of rows as one text, for a column of another query: an engine reads that faster than it runs another statement.
// The values, which have neither commas nor bars, are separated by commas, the rows by bars: with a semicolon in it SQLite's writer
// would take the query for several statements, and count what they change.
func (t *table[T]) packed(b builder) *bun.SelectQuery {
	return b.db().NewSelect().Table(t.name).ColumnExpr(t.packs())
}

// packs is the aggregate of packed.
func (t *table[T]) packs() string {
	values := make([]string, len(t.columns))
	for n, c := range t.columns {
		if values[n] = t.name + "." + c.name; c.kind == optionalKind {
			values[n] = "coalesce(CAST(" + values[n] + " AS TEXT), '')"
		}
	}
	return "string_agg(concat_ws(',', " + strings.Join(values, ", ") + "), '|')"
}

// unpack reads what packed found; nil: no rows.
func (t *table[T]) unpack(rows *string) (found []T, err error) {
	if rows == nil {
		return nil, nil
	}
	to := t.scanner()
	for row := range strings.SplitSeq(*rows, "|") {
		values := strings.Split(row, ",")
		if len(values) != len(t.columns) {
			return nil, fmt.Errorf("a packed row of %s has %d values", t.name, len(values))
		}
		for n, value := range values {
			cell := &to.cells[n]
			switch kind := t.columns[n].kind; {
			case kind == textKind:
				cell.text = value
			case kind == optionalKind && value == "":
				cell.optional = nil
			default:
				number, err := strconv.ParseInt(value, 10, 64)
				if err != nil {
					return nil, fmt.Errorf("column %s of %s: %w", t.columns[n].name, t.name, err)
				}
				cell.integer, cell.optional = number, &number
			}
		}
		one, err := to.value()
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

// accountsByID are the accounts of a packed text by their ids.
func accountsByID(rows *string) (map[string]budget.Account, error) {
	found, err := accountTable.unpack(rows)
	accounts := make(map[string]budget.Account, len(found))
	for _, one := range found {
		accounts[one.ID] = one
	}
	return accounts, err
}

func (e envelopes) Accounts(ctx context.Context, of id.Company, ids ...string) (map[string]budget.Account, error) {
	accounts := make(map[string]budget.Account, len(ids))
	for _, which := range ids {
		if which != "" {
			accounts[which] = budget.Account{ID: which, Company: of}
		}
	}
	found, err := readAll(ctx, e.session, accountTable, selectRows(e.session, accountTable).Where("id IN (?)", bun.List(ids)))
	for _, one := range found {
		accounts[one.ID] = one
	}
	return accounts, err
}

func (e envelopes) Save(ctx context.Context, saved []budget.Account) error {
	return replaceMany(ctx, e.session, accountTable, saved)
}

var endTopups = prepare(func(b builder) fmt.Stringer {
	return b.db().NewUpdate().Table("envelopes").Set("topups_usd = 0").Where("company_id = ?", b.arg(1)).Where("topups_usd <> 0")
})

func (e envelopes) EndTopups(ctx context.Context, of id.Company) error {
	e.unit.changed = true
	return e.later(ctx, endTopups, string(of))
}

func (e envelopes) Freed(ctx context.Context, of id.Company) error { return e.raiseWork(ctx, of) }

var setLimitOf = prepare(func(b builder) fmt.Stringer {
	return accountTable.insertsMany(b) + " ON CONFLICT (id) DO UPDATE SET limit_usd = excluded.limit_usd"
})

// setLimit keeps the limit of a team, or of what issues are for, in its account.
func (s session) setLimit(ctx context.Context, of id.Company, which string, before, after budget.Limit) error {
	if before == after {
		return nil
	}
	account := budget.Account{ID: which, Company: of, Limit: after}
	return s.runRows(ctx, setLimitOf, [][]any{accountTable.inserted(&account)})
}

func (e envelopes) Spent(
	ctx context.Context, of id.Company, scope budget.Scope, which string, since time.Time,
) (spent money.USD, err error) {
	query := e.selectFrom("cost_days").ColumnExpr("CAST(coalesce(sum(llm_usd + tools_usd + runtime_usd), 0) AS BIGINT)").
		Where("company_id = ?", of).Where("scope = ?", scope).Where("scope_id = ?", which)
	if !since.IsZero() {
		query = query.Where("start >= ?", millis(since))
	}
	err = e.scan(ctx, query, &spent)
	return spent, err
}

func (e envelopes) TeamBudgets(ctx context.Context, of id.Company, but id.Team) (sum money.USD, err error) {
	return sum, e.scan(ctx, e.selectFrom("teams").ColumnExpr("CAST(coalesce(sum(budget_usd), 0) AS BIGINT)").
		Where("company_id = ?", of).Where("id <> ?", but), &sum)
}

func (e envelopes) DailyBudgets(ctx context.Context, of id.Team, but id.Agent) (sum money.USD, err error) {
	return sum, e.scan(ctx, e.selectFrom("agents").ColumnExpr("CAST(coalesce(sum(daily_usd), 0) AS BIGINT)").
		Where("team_id = ?", of).Where("status <> ?", agent.Retired).Where("id <> ?", but), &sum)
}

// limitedBy says where the limits of a scope are.
var limitedBy = map[budget.Scope]struct {
	table, column, where string
	period               budget.Period
	spent, held          string // of issues
}{
	budget.OfTeam:     {"teams", "budget_usd", "TRUE", "", "0", "0"},
	budget.OfAgent:    {"agents", "daily_usd", "status <> 'retired'", budget.Daily, "0", "0"},
	budget.OfGoal:     {"goals", "budget_usd", "TRUE", budget.Always, "0", "0"},
	budget.OfProject:  {"projects", "budget_usd", "TRUE", budget.Always, "0", "0"},
	budget.OfWorkflow: {"workflows", "budget_usd", "TRUE", budget.Always, "0", "0"},
	budget.OfIssue: {
		"issues", "per_task_usd", "is_open = 1", budget.Always,
		spentOnIssue, "coalesce((SELECT held_usd FROM runs WHERE issue_id = issues.id AND ended_at IS NULL), 0)",
	},
}

func (e envelopes) Limited(
	ctx context.Context, of id.Company, scope budget.Scope, after string, size int,
) (found []budget.Envelope, err error) {
	by, isKept := limitedBy[scope]
	if !isKept {
		return nil, nil
	}
	err = e.each(ctx, e.limited(of, scope, after, size), func(rows *sql.Rows) error {
		var which string
		var limit int64
		var packed *string
		var spent, held money.USD
		if err := rows.Scan(&which, &limit, &packed, &spent, &held); err != nil {
			return err
		}
		accounts, err := accountsByID(packed)
		if err != nil {
			return err
		}
		one, exists := accounts[which]
		if !exists {
			one = budget.Account{ID: which, Company: of}
		}
		if scope == budget.OfIssue { // it and its run have the figures
			one.Period, one.Spent, one.Held = by.period, spent, held
		}
		found = append(found, budget.Envelope{Scope: scope, Set: budget.Of(money.USD(limit)), Period: by.period, Account: one})
		return nil
	})
	return found, err
}

func (e envelopes) limited(of id.Company, scope budget.Scope, after string, size int) *bun.SelectQuery {
	by := limitedBy[scope]
	return e.selectFrom(by.table).ColumnExpr("?.id, ?.?", bun.Ident(by.table), bun.Ident(by.table), bun.Ident(by.column)).
		ColumnExpr("(?)", accountTable.packed(builder{e.engine}).Where("envelopes.id = ?.id", bun.Ident(by.table))).
		ColumnExpr(by.spent+", "+by.held).
		Where("?.company_id = ?", bun.Ident(by.table), of).Where("?.? IS NOT NULL", bun.Ident(by.table), bun.Ident(by.column)).
		Where(by.where).Where("?.id > ?", bun.Ident(by.table), after).OrderExpr("?.id", bun.Ident(by.table)).Limit(int64(size))
}
