package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/ports/store"
)

// budgets compares whatever is derived from cost entries.
func (a comparison) budgets(ctx context.Context) error {
	return all(ctx, a.unitSums, a.totals, a.spentOfRuns, a.spentOfIssues, a.accounts, a.limits)
}

// unitSums compares the sums by units of time, a month at a time.
func (a comparison) unitSums(ctx context.Context) error {
	for from := int64(math.MinInt64); ; {
		first, err := a.firstFrom(ctx, from)
		if err != nil || first == nil {
			return err
		}
		month := cost.Months.Start(instant(*first))
		next := month.AddDate(0, 1, 0)
		if err := a.sumsOfMonth(ctx, millis(month), millis(next)); err != nil {
			return err
		}
		from = millis(next)
	}
}

// firstFrom is the first instant from one on of which there is an entry or a sum; nil: there is none.
func (a comparison) firstFrom(ctx context.Context, from int64) (first *int64, err error) {
	parts := []any{a.selectFrom("cost_entries").ColumnExpr("min(at) AS first").Where("company_id = ?", a.of).Where("at >= ?", from)}
	for _, unit := range cost.Units {
		for _, scope := range summedScopes {
			parts = append(parts, a.selectFrom(unitTables[unit].name).ColumnExpr("min(start)").
				Where("company_id = ?", a.of).Where("scope = ?", scope.name).Where("start >= ?", from))
		}
	}
	query := a.raw("SELECT min(first) FROM ("+strings.TrimPrefix(strings.Repeat(" UNION ALL ?", len(parts)), " UNION ALL ")+") AS parts",
		parts...)
	err = a.each(ctx, query, func(rows *sql.Rows) error { return rows.Scan(&first) })
	return first, err
}

// sumsOfMonth compares the sums by units that begin in a month. The entries, of which there may be many, are read once: they are
// summed by hours, and by all that they are summed of, and these sums by whatever is kept.
func (a comparison) sumsOfMonth(ctx context.Context, month, next int64) error {
	const hour = int64(time.Hour / time.Millisecond)
	entries := a.selectFrom("cost_entries").ColumnExpr("at - at % ? AS start", hour).Column("model").Group("start", "model").
		Where("company_id = ?", a.of).Where("at >= ?", month).Where("at < ?", next)
	for _, scope := range summedScopes {
		entries = entries.Column(scope.column).Group(scope.column)
	}
	for _, column := range sumColumns {
		entries = entries.ColumnExpr("CAST(sum(?) AS BIGINT) AS ?", bun.Safe(column.ofEntry), bun.Ident(column.name))
	}
	starts := map[cost.Unit]bun.Safe{
		cost.Hours: "start", cost.Days: bun.Safe(fmt.Sprint("start - start % ", millisOfDay)),
		cost.Months: bun.Safe(fmt.Sprintf("CAST(%d AS BIGINT)", month)),
	}
	var places []sumPlace
	var parts []*bun.SelectQuery
	for _, unit := range cost.Units {
		for _, scope := range summedScopes {
			n := len(places)
			places = append(places, sumPlace{unitTables[unit], scope})
			kept := a.selectFrom(unitTables[unit].name).ColumnExpr("? AS place", n).Column("start", "scope_id", "model").
				Where("company_id = ?", a.of).Where("scope = ?", scope.name).Where("start >= ?", month).Where("start < ?", next)
			right := a.selectFrom("fine").ColumnExpr("?", n).ColumnExpr("?", starts[unit]).ColumnExpr("?", bun.Ident(scope.column)).
				ColumnExpr("?", bun.Safe(scope.model(unit, "model", "''"))).Where("? <> ''", bun.Ident(scope.column))
			for _, column := range sumColumns {
				kept, right = bothColumns(kept, right, column.name, column.name)
			}
			parts = append(parts, kept, right)
		}
	}
	return a.sums(ctx, places, a.raw("WITH fine AS MATERIALIZED (?) ", entries), parts)
}

// totals compares the sums of all time.
func (a comparison) totals(ctx context.Context) error {
	for _, scope := range totalScopes {
		kept := a.selectFrom(costTotals.name).ColumnExpr("0 AS place").ColumnExpr("CAST(0 AS BIGINT) AS start").Column("scope_id", "model").
			Where("company_id = ?", a.of).Where("scope = ?", scope.name)
		right := a.selectFrom("cost_entries").ColumnExpr("0").ColumnExpr("CAST(0 AS BIGINT)").ColumnExpr("?", bun.Ident(scope.column)).
			Column("model").Where("company_id = ?", a.of).Where("? <> ''", bun.Ident(scope.column))
		for _, column := range sumColumns {
			kept, right = bothColumns(kept, right, column.name, column.ofEntry)
		}
		if err := a.sums(ctx, []sumPlace{{costTotals, scope}}, a.raw(""), []*bun.SelectQuery{kept, right}); err != nil {
			return err
		}
	}
	return nil
}

// sumPlace is where sums are kept.
type sumPlace struct {
	in sumTable
	of costScope
}

// bothColumns selects a column of what is kept, and, beside it, what it should be.
func bothColumns(kept, right *bun.SelectQuery, name, of string) (_, _ *bun.SelectQuery) {
	none := "CAST(0 AS BIGINT)"
	kept = kept.ColumnExpr("? AS ?", bun.Ident(name), bun.Ident("kept_"+name)).ColumnExpr(none+" AS ?", bun.Ident(name))
	return kept, right.ColumnExpr(none).ColumnExpr(of)
}

// sums compares sums that are kept in some places with what they should be. The parts select both by their place, start, scope_id
// and model.
func (a comparison) sums(ctx context.Context, places []sumPlace, with *bun.RawQuery, parts []*bun.SelectQuery) error {
	all := make([]any, len(parts)+1)
	all[0] = with
	for n, part := range parts {
		all[n+1] = part
	}
	columns, differ := "", make([]string, len(sumColumns))
	for n, column := range sumColumns {
		columns += fmt.Sprintf(", CAST(sum(kept_%s) AS BIGINT), CAST(sum(%[1]s) AS BIGINT)", column.name)
		differ[n] = fmt.Sprintf("sum(kept_%s) <> sum(%[1]s)", column.name)
	}
	query := a.raw("? SELECT place, start, scope_id, model"+columns+
		" FROM ("+strings.TrimPrefix(strings.Repeat(" UNION ALL ?", len(parts)), " UNION ALL ")+") AS parts"+
		" GROUP BY place, start, scope_id, model HAVING "+strings.Join(differ, " OR ")+" ORDER BY place, start, scope_id, model", all...)
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var place int
		key := sumKey{company: a.of}
		var has, should cost.Sum
		dests := []any{&place, &key.start, &key.of, &key.model}
		for _, column := range sumColumns {
			dests = append(dests, column.field(&has), column.field(&should))
		}
		if err := rows.Scan(dests...); err != nil {
			return err
		}
		key.scope = places[place].of.name
		a.differs(sumDiffers(places[place].in, key, has, should))
		return nil
	})
}

func sumDiffers(in sumTable, key sumKey, has, should cost.Sum) store.Difference {
	var kept, right []string
	var missing cost.Sum
	for _, column := range sumColumns {
		before, after := *column.field(&has), *column.field(&should)
		if *column.field(&missing) = after - before; before != after {
			shown := shownAs(column.name)
			kept, right = append(kept, column.name+" "+shown(before)), append(right, column.name+" "+shown(after))
		}
	}
	where := []string{string(key.scope)}
	if slices.Contains(in.key, "start") {
		where = append(where, instant(key.start).Format(time.RFC3339))
	}
	if key.model != "" {
		where = append(where, key.model)
	}
	return store.Difference{
		Rule: in.name, About: key.of, Where: strings.Join(where, " "), Kept: strings.Join(kept, ", "), Should: strings.Join(right, ", "),
		Mend: mend(func(ctx context.Context, unit session) error {
			unit.unit.changed = true
			return unit.addRows(ctx, in, sums{key: missing})
		}),
	}
}

// spentOfRuns compares what runs have cost with their entries. Of runs there is nothing to mend: they are what was said and done.
func (a comparison) spentOfRuns(ctx context.Context) error {
	kept := []struct{ column, of string }{
		{"spent_usd", "usd"},
		{"input_tokens", "input_tokens"},
		{"output_tokens", "output_tokens"},
		{"cache_read_tokens", "cache_read_tokens"},
		{"cache_write_tokens", "cache_write_tokens"},
		{"charges", "CASE adjusts WHEN '' THEN 1 ELSE 0 END"},
	}
	entries := a.selectFrom("cost_entries").Column("run_id").Where("company_id = ?", a.of).Group("run_id")
	columns, differ := "", make([]string, len(kept))
	for n, c := range kept {
		entries = entries.ColumnExpr("CAST(sum(?) AS BIGINT) AS ?", bun.Safe(c.of), bun.Ident(c.column))
		columns += fmt.Sprintf(", runs.%s, coalesce(entries.%[1]s, 0)", c.column)
		differ[n] = fmt.Sprintf("runs.%s <> coalesce(entries.%[1]s, 0)", c.column)
	}
	query := a.raw("SELECT runs.id"+columns+" FROM runs LEFT JOIN (?) AS entries ON entries.run_id = runs.id "+
		"WHERE runs.company_id = ? AND ("+strings.Join(differ, " OR ")+") ORDER BY runs.id", entries, a.of)
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var which string
		numbers := make([]int64, 2*len(kept))
		dests := []any{&which}
		for n := range numbers {
			dests = append(dests, &numbers[n])
		}
		if err := rows.Scan(dests...); err != nil {
			return err
		}
		for n, c := range kept {
			if has, should := numbers[2*n], numbers[2*n+1]; has != should {
				shown := shownAs(c.column)
				a.differs(store.Difference{Rule: "run." + c.column, About: which, Kept: shown(has), Should: shown(should)})
			}
		}
		return nil
	})
}

// shownAs is how the numbers of a column are shown.
func shownAs(column string) func(int64) string {
	if strings.HasSuffix(column, "_usd") {
		return inDollars
	}
	return plainly
}

// spentOfIssues compares what issues have cost with their entries: of those that are not running, see spentOnIssue.
func (a comparison) spentOfIssues(ctx context.Context) error {
	mends := func(which string, _ int64) mend {
		return func(ctx context.Context, in session) error { return rederive(ctx, in, id.Issue(which)) }
	}
	entries := a.selectFrom("cost_entries").ColumnExpr("issue_id, CAST(sum(usd) AS BIGINT) AS usd").
		Where("company_id = ?", a.of).Group("issue_id")
	return a.numbers(ctx, "issue.spent", inDollars, mends, a.raw(`SELECT id, kept_usd, coalesce(entries.usd, 0) FROM issues
		LEFT JOIN (?) AS entries ON entries.issue_id = issues.id
		WHERE company_id = ? AND status <> ? AND kept_usd <> coalesce(entries.usd, 0) ORDER BY id`, entries, a.of, issue.Running))
}

func inDollars(n int64) string { return money.USD(n).String() }

// chargedTo are the columns of runs with the ids of what a run is charged to, besides its issue.
var chargedTo = func() []string {
	row := runTable.scanner()
	for n, c := range runTable.columns {
		row.cells[n].text = c.name
	}
	named, err := row.value()
	if err != nil {
		panic(err)
	}
	return named.Envelopes()
}()

// accounts compares what accounts have spent in their periods and hold with the entries and the open runs. Issues have accounts
// too, whose figures are kept with them and their runs.
func (a comparison) accounts(ctx context.Context) error {
	held, err := a.held(ctx)
	if err != nil {
		return err
	}
	spent, err := a.spentForEver(ctx)
	if err != nil {
		return err
	}
	err = a.each(ctx, a.keptAccounts(), func(rows *sql.Rows) error {
		var kept budget.Account
		var start int64
		var should money.USD
		if err := rows.Scan(&kept.ID, &kept.Period, &start, &kept.Spent, &kept.Held, &should); err != nil {
			return err
		}
		if kept.Period == budget.Always {
			should = spent[kept.ID]
		}
		a.compareAccount(kept, start, should, held[kept.ID])
		delete(held, kept.ID)
		return nil
	})
	if err != nil {
		return err
	}
	for _, which := range slices.Sorted(maps.Keys(held)) {
		a.compareAccount(budget.Account{ID: which}, 0, 0, held[which])
	}
	return nil
}

// begunAnew are the columns of entries with the ids of the accounts that have periods. Each has an index with the time after it.
var begunAnew = []string{"company_id", "team_id", "agent_id"}

// keptAccounts selects the accounts of all but issues, with what the entries of their periods say that they have spent. What is not
// counted yet has spent nothing, and neither an account without a start nor one with an empty id has entries.
func (a comparison) keptAccounts() *bun.RawQuery {
	inPeriod := make([]string, len(begunAnew))
	for n, column := range begunAnew {
		inPeriod[n] = fmt.Sprintf(
			"coalesce((SELECT sum(usd) FROM cost_entries WHERE %s = envelopes.id AND at >= envelopes.period_start), 0)", column)
	}
	return a.raw(`SELECT id, period, coalesce(period_start, 0), spent_usd, held_usd,
			CASE WHEN period_start IS NULL OR period = ? THEN 0 ELSE CAST(`+strings.Join(inPeriod, " + ")+` AS BIGINT) END
		FROM envelopes WHERE company_id = ? AND NOT EXISTS (SELECT 1 FROM issues WHERE issues.id = envelopes.id) ORDER BY id`,
		budget.Always, a.of)
}

func (a comparison) compareAccount(kept budget.Account, start int64, spent, held money.USD) {
	differs := func(rule string, has, should money.USD, change func(now *budget.Account)) {
		if has == should {
			return
		}
		a.differs(store.Difference{
			Rule: rule, About: kept.ID, Kept: has.String(), Should: should.String(),
			Mend: mend(func(ctx context.Context, in session) error {
				found, err := envelopes{in}.Accounts(ctx, a.of, kept.ID)
				if err != nil {
					return err
				}
				now := found[kept.ID]
				change(&now)
				return envelopes{in}.Save(ctx, []budget.Account{now})
			}),
		})
	}
	differs("account.spent", kept.Spent, spent, func(now *budget.Account) {
		if now.Period == kept.Period && (now.Start.IsZero() || millis(now.Start) == start) { // else it has begun anew
			now.Spent += spent - kept.Spent
		}
	})
	differs("account.held", kept.Held, held, func(now *budget.Account) { now.Held += held - kept.Held })
}

// held sums what the open runs hold by the ids of the accounts.
func (a comparison) held(ctx context.Context) (map[string]money.USD, error) {
	held := map[string]money.USD{}
	part := runTable.part(append([]string{"id", "held_usd"}, chargedTo...)...)
	row := part.scanner()
	query := part.selects(a.engine.DB()).Where("company_id = ?", a.of).Where("ended_at IS NULL").Where("held_usd <> 0")
	err := a.each(ctx, query, func(rows *sql.Rows) error {
		r, err := row.scan(rows)
		for _, account := range r.Envelopes() {
			held[account] += r.Held
		}
		return err
	})
	return held, err
}

// spentForEver sums what has been spent under the accounts that never begin anew: by the runs, whose entries need not have their ids.
func (a comparison) spentForEver(ctx context.Context) (map[string]money.USD, error) {
	spent := map[string]money.USD{}
	lasting := a.selectFrom("envelopes").Column("id").Where("company_id = ?", a.of).Where("period = ?", budget.Always)
	for _, column := range chargedTo {
		query := a.raw(`SELECT runs.?, CAST(sum(cost_entries.usd) AS BIGINT) FROM runs JOIN cost_entries ON cost_entries.run_id = runs.id
			WHERE runs.company_id = ? AND runs.? IN (?) GROUP BY 1`, bun.Ident(column), a.of, bun.Ident(column), lasting)
		err := a.each(ctx, query, func(rows *sql.Rows) error {
			var which string
			var sum money.USD
			err := rows.Scan(&which, &sum)
			spent[which] = sum
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return spent, nil
}

// limits compares the limits in accounts with those of what they are of: see setLimit.
func (a comparison) limits(ctx context.Context) error {
	for _, scope := range budget.Scopes {
		by, isKept := limitedBy[scope]
		if !isKept || scope == budget.OfAgent || scope == budget.OfIssue { // who save these keep no second limit
			continue
		}
		query := a.raw(`SELECT kept.id, kept.?, envelopes.limit_usd FROM ? AS kept LEFT JOIN envelopes ON envelopes.id = kept.id
			WHERE kept.company_id = ? AND coalesce(kept.?, -1) <> coalesce(envelopes.limit_usd, -1) ORDER BY kept.id`,
			bun.Ident(by.column), bun.Ident(by.table), a.of, bun.Ident(by.column))
		err := a.each(ctx, query, func(rows *sql.Rows) error {
			var which string
			var should, kept *int64
			if err := rows.Scan(&which, &should, &kept); err != nil {
				return err
			}
			a.differs(store.Difference{
				Rule: "account.limit", About: which, Kept: shownLimit(kept), Should: shownLimit(should),
				Mend: mend(func(ctx context.Context, in session) error {
					return in.copyLimit(ctx, a.of, which, by.table, by.column)
				}),
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func shownLimit(usd *int64) string {
	if usd == nil {
		return "none"
	}
	return inDollars(*usd)
}

// copyLimit keeps the limit of a row in its account.
func (s session) copyLimit(ctx context.Context, of id.Company, which, table, column string) error {
	account := budget.Account{Company: of}
	err := s.each(ctx, s.selectFrom(table).Column(column).Where("id = ?", which), func(rows *sql.Rows) error {
		var usd *int64
		err := rows.Scan(&usd)
		if account.ID = which; usd != nil {
			account.Limit = budget.Of(money.USD(*usd))
		}
		return err
	})
	if err != nil || account.ID == "" { // it is gone
		return err
	}
	s.unit.changed = true
	return s.runRows(ctx, setLimitOf, [][]any{accountTable.inserted(&account)})
}
