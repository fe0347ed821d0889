package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// someEntries are entries around ends of hours, days and months, one of them of a leap year. Some are corrections.
func someEntries() (entries []cost.Entry) {
	end := time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)
	for n := range 200 {
		at := end.Add(time.Duration(n-100) * []time.Duration{time.Millisecond, time.Minute, time.Hour, 24 * time.Hour}[n%4])
		entries = append(entries, cost.Entry{
			ID: id.Cost(fmt.Sprintf("cst_%03d", n)), Company: id.Company(fmt.Sprint("cmp_", n%2)), Issue: id.Issue(fmt.Sprint("iss_", n%7)),
			Run: "run_a", Agent: id.Agent(fmt.Sprint("agt_", n%5)), Team: id.Team(fmt.Sprint("tm_", n%3)), Key: fmt.Sprint(n),
			Kind: []cost.Kind{cost.LLM, cost.Tools, cost.RuntimeServices}[n%3], USD: 7, Model: []string{"", "claude"}[n/3%2],
			Tokens: cost.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}, Calls: 5, At: at,
			Project: []id.Project{"", "prj_a", "prj_b"}[n/5%3],
		})
		if n%10 == 9 {
			last := entries[len(entries)-1]
			last.ID, last.Key, last.USD, last.Adjusts = last.ID+"x", last.Key+"x", -3, last.ID
			entries = append(entries, last)
		}
	}
	return entries
}

// sums are the rows of all tables of sums.
func (d database) sums(t *testing.T) (lines []string) {
	t.Helper()
	for _, table := range []string{"cost_hours", "cost_days", "cost_months", "cost_totals"} {
		lines = append(lines, d.rows(t, table)...)
	}
	slices.Sort(lines)
	return lines
}

func (d database) rows(t *testing.T, table string) (lines []string) {
	t.Helper()
	rows, err := d.writes.QueryContext(t.Context(), "SELECT * FROM "+table)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		row, cells := make([]string, len(columns)), make([]any, len(columns))
		for n := range row {
			cells[n] = &row[n]
		}
		must(t, rows.Scan(cells...))
		lines = append(lines, table+" "+strings.Join(row, " "))
	}
	must(t, rows.Err())
	return lines
}

func TestWhatWasChargedBeforeThereWereSumsIsInThem(t *testing.T) {
	t.Parallel()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, fresh := open(t), open(t)
			old.migrateTo(t, 18)
			for _, e := range someEntries() {
				if e.Adjusts != "" {
					e.Project = "" // as it was not kept of corrections
				}
				_, err := old.writes.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO cost_entries (id, company_id, issue_id, run_id,
						agent_id, team_id, key, kind, usd, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, calls,
						billing, unpriced, late, at, project_id, adjusts)
					VALUES ('%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', %d, '%s', %d, %d, %d, %d, %d, '', 0, 0, %d, '%s', '%s')`,
					e.ID, e.Company, e.Issue, e.Run, e.Agent, e.Team, e.Key, e.Kind, e.USD, e.Model, e.Tokens.Input, e.Tokens.Output,
					e.Tokens.CacheRead, e.Tokens.CacheWrite, e.Calls, e.At.UnixMilli(), e.Project, e.Adjusts))
				must(t, err)
			}
			old.migratedSchema(t)
			fresh.migratedSchema(t)
			s := sqlstore.New(fresh.Engine, storetest.NewClock(), storetest.NewIDs(), fresh.migrator)
			must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				tx.Unrecorded()
				return tx.Runs().AddCharges(ctx, someEntries())
			}))
			got, want := old.sums(t), fresh.sums(t)
			if projects := strings.Count(strings.Join(got, "\n"), " project "); projects < 100 {
				t.Errorf("%d sums of projects", projects)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 200 {
				t.Errorf("%d rows: -charged +migrated:\n%s", len(got), diff)
			}
		})
	}
}

// manyEntries are of many agents, over half a year.
func manyEntries(of id.Company, from time.Time) (entries []cost.Entry) {
	for n := range 5_000 {
		entries = append(entries, cost.Entry{
			ID: id.Cost(fmt.Sprintf("cst_%05d", n)), Company: []id.Company{of, "cmp_other"}[n%3/2],
			Issue: id.Issue(fmt.Sprint("iss_", n/10)), Run: id.Run(fmt.Sprint("run_", n/10)), Agent: id.Agent(fmt.Sprint("agt_", n%97)),
			Team: id.Team(fmt.Sprint("tm_", n%97%10)), Project: []id.Project{"", "prj_1", "prj_2"}[n%5%3],
			Key: fmt.Sprint(n), Kind: cost.Tools, At: from.Add(time.Duration(n) * 52 * time.Minute),
		})
	}
	return entries
}

// What costs are read for takes no longer when there are more entries, or more of others.
func TestCostsAreReadByRangesOfIndexes(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, name string, d database, conn *sql.Conn, acme id.Company) {
		at := time.Date(2028, 1, 15, 10, 20, 30, 0, time.UTC)
		s := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
		for some := range slices.Chunk(manyEntries(acme, at), 500) {
			must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				tx.Unrecorded()
				return tx.Runs().AddCharges(ctx, some)
			}))
		}
		var statements []string // SQLite plans without what ANALYZE would tell it, as it does in a store
		if name == "postgres" { // tables that are small here are read as large ones are
			statements = []string{"ANALYZE", "SET enable_seqscan = off", "SET enable_bitmapscan = off"}
		}
		for _, statement := range statements {
			_, err := conn.ExecContext(t.Context(), statement)
			must(t, err)
		}
		in := cost.Range{Start: at, End: at.AddDate(0, 3, 10).Add(5*time.Hour + time.Minute)}
		texts := map[string]string{}
		for what, c := range map[string]struct {
			of store.CostsOf
			by cost.Key
		}{
			"a company by model": {store.CostsOf{Scope: budget.OfCompany, ID: string(acme)}, cost.ByModel},
			"a team by day":      {store.CostsOf{Scope: budget.OfTeam, ID: "tm_1"}, cost.ByDay},
			"an agent by model":  {store.CostsOf{Scope: budget.OfAgent, ID: "agt_1"}, cost.ByModel},
			"agents of a team":   {store.CostsOf{Scope: budget.OfAgent, Team: "tm_1"}, cost.ByID},
			"teams":              {store.CostsOf{Scope: budget.OfTeam}, cost.ByID},
			"a project by model": {store.CostsOf{Scope: budget.OfProject, ID: "prj_1"}, cost.ByModel},
			"a project by day":   {store.CostsOf{Scope: budget.OfProject, ID: "prj_1"}, cost.ByDay},
			"an issue":           {store.CostsOf{Scope: budget.OfIssue, ID: "iss_1"}, cost.ByModel},
			"a run":              {store.CostsOf{Scope: budget.OfRun, ID: "run_1"}, cost.ByModel},
		} {
			c.of.Company = acme
			texts[what] = sqlstore.SumsText(d.Engine, c.of, in.Split(c.by.Units(c.of.Scope)...), c.by)
		}
		after := cost.Entry{ID: "cst_a", At: at}
		for what, filter := range map[string]store.CostFilter{
			"all": {}, "of a team": {Team: "tm_1"}, "of an agent": {Agent: "agt_1"}, "of a project": {Project: "prj_1"},
			"of an issue": {Issue: "iss_1"}, "of a run": {Run: "run_1"},
		} {
			filter.Company = acme
			texts["a page "+what] = sqlstore.CostListText(d.Engine, filter, after)
			texts["an export "+what] = sqlstore.CostExportText(d.Engine, filter, after, at.AddDate(1, 0, 0))
		}
		texts["what accounts have spent"] = sqlstore.KeptAccountsText(d.Engine, acme)
		for what, text := range texts {
			plan := explain(t, conn, name, text, nil)
			if strings.Contains(what, "a run") != strings.Contains(plan, "run_id=?") && name == "sqlite" {
				t.Errorf("%s: the entries of a run are found by it, of anything else by the time:\n%s", what, plan)
			}
			if strings.Contains(what, "project") && strings.Contains(plan, "cost_entries_by_") != strings.Contains(plan, "_by_project") {
				t.Errorf("%s reads the entries of others:\n%s", what, plan)
			}
			if strings.Contains(plan, "Seq Scan on") || strings.Contains(plan, "SCAN cost_") {
				t.Errorf("%s:\n%s", what, plan)
			}
			for line := range strings.Lines(plan) {
				if strings.Contains(line, "scope") && strings.Contains(line, "company_id") && !strings.Contains(line, "start") {
					t.Errorf("%s reads all that there is of its scope:\n%s", what, line)
				}
			}
		}
	})
}
