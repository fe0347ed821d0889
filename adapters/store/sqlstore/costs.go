package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

// costs implements store.CostReader.
type costs struct {
	stored[id.Cost, cost.Entry]
}

func costsOf(s session) costs { return costs{stored[id.Cost, cost.Entry]{s, chargeTable}} }

// costScope is what entries are summed by.
type costScope struct {
	name   budget.Scope
	column string // of cost_entries
	of     func(e *cost.Entry) string
}

// model is what stands for the model in the sums by a unit: its own, or what stands for all.
func (s costScope) model(unit cost.Unit, own, all string) string {
	if slices.Contains(cost.ByModel.Units(s.name), unit) {
		return own
	}
	return all
}

var (
	costsOfAgent = costScope{budget.OfAgent, "agent_id", func(e *cost.Entry) string { return string(e.Agent) }}
	costsOfIssue = costScope{budget.OfIssue, "issue_id", func(e *cost.Entry) string { return string(e.Issue) }}
	costsOfRun   = costScope{budget.OfRun, "run_id", func(e *cost.Entry) string { return string(e.Run) }} // only its entries are kept

	// summedScopes have sums by the units of time; totalScopes have one of all time. What an entry has none of is empty.
	summedScopes = []costScope{
		{budget.OfCompany, "company_id", func(e *cost.Entry) string { return string(e.Company) }},
		{budget.OfTeam, "team_id", func(e *cost.Entry) string { return string(e.Team) }},
		costsOfAgent,
		{budget.OfProject, "project_id", func(e *cost.Entry) string { return string(e.Project) }},
	}
	totalScopes = []costScope{costsOfAgent, costsOfIssue}
	costScopes  = slices.Concat(summedScopes, []costScope{costsOfIssue, costsOfRun})
)

// sumColumns are the columns of a sum, and what they are of an entry.
var sumColumns = []struct {
	name, ofEntry string
	field         func(s *cost.Sum) *int64
}{
	{"llm_usd", ofKind(cost.LLM), func(s *cost.Sum) *int64 { return (*int64)(&s.LLM) }},
	{"tools_usd", ofKind(cost.Tools), func(s *cost.Sum) *int64 { return (*int64)(&s.Tools) }},
	{"runtime_usd", ofKind(cost.RuntimeServices), func(s *cost.Sum) *int64 { return (*int64)(&s.RuntimeServices) }},
	{"input_tokens", "input_tokens", func(s *cost.Sum) *int64 { return &s.Tokens.Input }},
	{"output_tokens", "output_tokens", func(s *cost.Sum) *int64 { return &s.Tokens.Output }},
	{"cache_read_tokens", "cache_read_tokens", func(s *cost.Sum) *int64 { return &s.Tokens.CacheRead }},
	{"cache_write_tokens", "cache_write_tokens", func(s *cost.Sum) *int64 { return &s.Tokens.CacheWrite }},
	{"calls", "calls", func(s *cost.Sum) *int64 { return &s.Calls }},
}

func ofKind(kind cost.Kind) string {
	return "CASE kind WHEN '" + string(kind) + "' THEN usd ELSE 0 END"
}

// sumTable is a table of sums.
type sumTable struct {
	name string
	key  []string
	add  *prepared // adds to the sums of many rows
}

func sumTableOf(name string, key ...string) sumTable {
	return sumTable{name, key, prepare(func(b builder) fmt.Stringer {
		columns, changes, sample := slices.Clone(key), []string{}, make([]any, 0, len(key)+len(sumColumns))
		for _, column := range key {
			if column == "start" {
				sample = append(sample, int64(0))
			} else {
				sample = append(sample, "")
			}
		}
		for _, column := range sumColumns {
			columns = append(columns, column.name)
			changes = append(changes, fmt.Sprintf("%s = %s.%[1]s + excluded.%[1]s", column.name, name))
			sample = append(sample, int64(0))
		}
		return sqlText("INSERT INTO " + name + " (" + strings.Join(columns, ", ") + ") " + b.engine.Rows(sample) +
			" ON CONFLICT (" + strings.Join(key, ", ") + ") DO UPDATE SET " + strings.Join(changes, ", "))
	})}
}

var (
	unitTables = map[cost.Unit]sumTable{
		cost.Hours:  sumTableOf("cost_hours", "company_id", "scope", "start", "scope_id", "model"),
		cost.Days:   sumTableOf("cost_days", "company_id", "scope", "start", "scope_id", "model"),
		cost.Months: sumTableOf("cost_months", "company_id", "scope", "start", "scope_id", "model"),
	}
	costTotals = sumTableOf("cost_totals", "company_id", "scope", "scope_id", "model")
)

// totalOf is what something has cost in all, as an expression in terms of its table. Its scope is one of totalScopes.
func totalOf(scope budget.Scope, table string) string {
	return fmt.Sprintf("(SELECT CAST(coalesce(sum(llm_usd + tools_usd + runtime_usd), 0) AS BIGINT) FROM cost_totals "+
		"WHERE cost_totals.company_id = %s.company_id AND cost_totals.scope = '%s' AND cost_totals.scope_id = %[1]s.id)", table, scope)
}

// sumKey is the key of a row of sums. Totals have no start.
type sumKey struct {
	company id.Company
	scope   budget.Scope
	start   int64
	of      string
	model   string
}

func (k sumKey) compare(other sumKey) int {
	return cmp.Or(cmp.Compare(k.company, other.company), cmp.Compare(k.scope, other.scope), cmp.Compare(k.start, other.start),
		cmp.Compare(k.of, other.of), cmp.Compare(k.model, other.model))
}

// sums are changes of rows of a table of sums.
type sums map[sumKey]cost.Sum

// add adds an entry to the row of what it belongs to by a scope.
func (s sums) add(e *cost.Entry, by costScope, start int64, model string) {
	if of := by.of(e); of != "" {
		key := sumKey{e.Company, by.name, start, of, model}
		s[key] = s[key].Plus(e.Sum())
	}
}

// addToSums adds entries to all sums that they are part of, by one statement for each table.
func (s session) addToSums(ctx context.Context, added []cost.Entry) error {
	for _, unit := range cost.Units {
		changes := sums{}
		for n := range added {
			e := &added[n]
			for _, scope := range summedScopes {
				changes.add(e, scope, millis(unit.Start(e.At)), scope.model(unit, e.Model, ""))
			}
		}
		if err := s.addRows(ctx, unitTables[unit], changes); err != nil {
			return err
		}
	}
	changes := sums{}
	for n := range added {
		for _, scope := range totalScopes {
			changes.add(&added[n], scope, 0, added[n].Model)
		}
	}
	return s.addRows(ctx, costTotals, changes)
}

func (s session) addRows(ctx context.Context, to sumTable, changes sums) error {
	rows := make([][]any, 0, len(changes))
	for _, key := range slices.SortedFunc(maps.Keys(changes), sumKey.compare) { // the same order in every unit
		row := make([]any, 0, len(to.key)+len(sumColumns))
		row = append(row, string(key.company), string(key.scope))
		if slices.Contains(to.key, "start") {
			row = append(row, key.start)
		}
		row = append(row, key.of, key.model)
		sum := changes[key]
		for _, column := range sumColumns {
			row = append(row, *column.field(&sum))
		}
		rows = append(rows, row)
	}
	return s.runRows(ctx, to.add, rows)
}

var correctionsOf = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("cost_entries").ColumnExpr("CAST(coalesce(sum(usd), 0) AS BIGINT)").
		Where("adjusts = ?", b.arg(1)).Where("adjusts <> ''")
})

func (c costs) Corrections(ctx context.Context, of id.Cost) (sum money.USD, err error) {
	var usd int64
	err = c.row(ctx, []any{&usd}, nil, correctionsOf, string(of))
	return money.USD(usd), err
}

// millisOfDay are the milliseconds of a day.
const millisOfDay = 24 * 60 * 60 * 1000

func (c costs) Sums(
	ctx context.Context, of store.CostsOf, pieces []cost.Piece, by cost.Key,
) (map[string]cost.Sum, error) {
	if len(pieces) == 0 {
		return nil, nil
	}
	found, err := c.summed(ctx, c.parts(of, pieces, by))
	if by != cost.ByDay {
		return found, err
	}
	days := make(map[string]cost.Sum, len(found))
	for start, sum := range found {
		ms, err := strconv.ParseInt(start, 10, 64)
		if err != nil {
			return nil, err
		}
		days[instant(ms).Format(time.DateOnly)] = sum
	}
	return days, err
}

// parts sums pieces by a key.
func (c costs) parts(of store.CostsOf, pieces []cost.Piece, by cost.Key) *bun.SelectQuery {
	parts := make([]any, len(pieces))
	for n, piece := range pieces {
		if piece.Unit == cost.Moments {
			parts[n] = c.ofEntries(of, piece, by)
		} else {
			parts[n] = c.ofUnits(of, piece, by)
		}
	}
	return c.sumsOf(strings.TrimPrefix(strings.Repeat(" UNION ALL ?", len(parts)), " UNION ALL "), parts...)
}

// sumsOf sums the parts of a query by their key.
func (c costs) sumsOf(query string, args ...any) *bun.SelectQuery {
	sums := c.engine.DB().NewSelect().Conn(c.conn).Column("key").TableExpr("("+query+") AS parts", args...).Group("key")
	for _, column := range sumColumns {
		sums = sums.ColumnExpr("CAST(sum(?) AS BIGINT)", bun.Ident(column.name))
	}
	return sums
}

// summed reads sums by their keys.
func (c costs) summed(ctx context.Context, sums *bun.SelectQuery) (map[string]cost.Sum, error) {
	found := map[string]cost.Sum{}
	err := c.each(ctx, sums, func(rows *sql.Rows) error {
		var key string
		var sum cost.Sum
		dests := []any{&key}
		for _, column := range sumColumns {
			dests = append(dests, column.field(&sum))
		}
		err := rows.Scan(dests...)
		found[key] = sum
		return err
	})
	return found, err
}

// ofUnits selects the sums of whole units. All units are listed, because the key of the tables has the id after the time; the first and
// the last bound what is read however the list is looked up.
func (c costs) ofUnits(of store.CostsOf, piece cost.Piece, by cost.Key) *bun.SelectQuery {
	key := map[cost.Key]string{
		cost.ByModel: "model", cost.ByID: "scope_id", cost.ByDay: fmt.Sprintf("CAST(start - start %% %d AS TEXT)", millisOfDay),
	}[by]
	var starts []int64
	for _, start := range piece.Starts() {
		starts = append(starts, millis(start))
	}
	query := c.selectFrom(unitTables[piece.Unit].name).ColumnExpr(key+" AS key").
		Where("company_id = ?", of.Company).Where("scope = ?", of.Scope).
		Where("start >= ?", starts[0]).Where("start <= ?", starts[len(starts)-1]).Where("start IN (?)", bun.List(starts))
	for _, column := range sumColumns {
		query = query.Column(column.name)
	}
	switch {
	case of.ID != "":
		query = query.Where("scope_id = ?", of.ID)
	case of.Team != "": // agents stay in their teams
		query = query.Where("scope_id IN (?)", c.selectFrom("agents").Column("id").Where("team_id = ?", of.Team))
	}
	return query
}

// companyOfRun is a condition on the company of a run that no index serves. The few entries of a run are found by its id: SQLite would
// rather read all that the company has of the time, because that has two bounds more.
const companyOfRun = "company_id || '' = ?"

// ofEntries selects entries as sums.
func (c costs) ofEntries(of store.CostsOf, piece cost.Piece, by cost.Key) *bun.SelectQuery {
	column := costScopes[slices.IndexFunc(costScopes, func(s costScope) bool { return s.name == of.Scope })].column
	key := map[cost.Key]string{
		cost.ByModel: "model", cost.ByID: column, cost.ByDay: fmt.Sprintf("CAST(at - at %% %d AS TEXT)", millisOfDay),
	}[by]
	company := "company_id = ?"
	if of.Scope == budget.OfRun {
		company = companyOfRun
	}
	query := c.selectFrom("cost_entries").ColumnExpr(key+" AS key").Where(company, of.Company).
		Where("at >= ?", millis(piece.Start)).Where("at < ?", millis(piece.End))
	for _, column := range sumColumns {
		query = query.ColumnExpr(column.ofEntry + " AS " + column.name)
	}
	switch {
	case of.ID != "":
		return meeting(query, []condition{{column, of.ID}})
	case of.Team != "":
		return query.Where("team_id = ?", of.Team)
	}
	return query.Where("? <> ''", bun.Ident(column))
}

func (c costs) Lifetime(ctx context.Context, of store.CostsOf) (map[string]cost.Sum, error) {
	rows := c.selectFrom(costTotals.name).Where("company_id = ?", of.Company).Where("scope = ?", of.Scope).Where("scope_id = ?", of.ID).
		ColumnExpr("model AS key")
	for _, column := range sumColumns {
		rows = rows.Column(column.name)
	}
	return c.summed(ctx, c.sumsOf("?", rows))
}

// matching selects the entries that meet the conditions of a filter.
func (c costs) matching(filter store.CostFilter) *bun.SelectQuery {
	var where []condition
	if filter.Run == "" {
		where = append(where, condition{"company_id", filter.Company})
	}
	for _, c := range []condition{
		{"team_id", string(filter.Team)}, {"agent_id", string(filter.Agent)}, {"issue_id", string(filter.Issue)},
		{"project_id", string(filter.Project)}, {"run_id", string(filter.Run)}, {"kind", string(filter.Kind)},
	} {
		if c.value != "" {
			where = append(where, c)
		}
	}
	query := meeting(selectRows(c.session, c.table), where)
	if filter.Run != "" {
		query = query.Where(companyOfRun, filter.Company)
	}
	if !filter.Since.IsZero() {
		query = query.Where("at >= ?", millisFrom(filter.Since))
	}
	if !filter.Until.IsZero() {
		query = query.Where("at < ?", millisFrom(filter.Until))
	}
	return query
}

func (c costs) List(ctx context.Context, filter store.CostFilter, after page.Position, size int) (page.Page[cost.Entry], error) {
	var at any
	if !after.IsStart() {
		var err error
		if at, err = positionTime(after); err != nil {
			return page.Page[cost.Entry]{}, err
		}
	}
	found, err := readAll(ctx, c.session, c.table, newest(c.matching(filter), "at", at, after.ID, size+1))
	return page.Of(found, size, func(e cost.Entry) page.Position { return rowPosition(millis(e.At), string(e.ID)) }), err
}

func (c costs) Export(
	ctx context.Context, filter store.CostFilter, after *cost.Entry, asOf time.Time, size int,
) ([]cost.Entry, error) {
	return readAll(ctx, c.session, c.table, c.portion(filter, after, asOf, size))
}

func (c costs) portion(filter store.CostFilter, after *cost.Entry, asOf time.Time, size int) *bun.SelectQuery {
	query := c.matching(filter).Where("at <= ?", millis(asOf)).Where("(adjusted_at IS NULL OR adjusted_at <= ?)", millis(asOf)).
		Order("at", "id").Limit(int64(size))
	if after != nil {
		query = query.Where("(at, id) > (?, ?)", millis(after.At), after.ID)
	}
	return query
}
