package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/approval"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// onFilledEngines runs a test with a database of each kind that holds rows, those of a company among them.
func onFilledEngines(t *testing.T, test func(t *testing.T, name string, d database, conn *sql.Conn, acme id.Company)) {
	t.Helper()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			d.migratedSchema(t)
			acme := d.fill(t)
			conn, err := d.writes.Conn(t.Context())
			must(t, err)
			defer conn.Close()
			test(t, name, d, conn, acme)
		})
	}
}

// What is asked for all the time must cost no more when there are more issues: it reads a range of an index, in its order.
func TestClaimsAndSweepsReadRangesOfIndexes(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, name string, d database, conn *sql.Conn, acme id.Company) {
		withFirst, alone := sqlstore.AtWorkTexts(d.Engine)
		inbox := sqlstore.InboxTexts(d.Engine)
		// Where there is one company, a scan of all is as good as a search, once it is known that there is no more.
		for _, c := range []struct {
			name, text string
			args       []any
		}{
			{"an agent at work", alone, []any{"agt_a"}},
			{"what a lease depends on", sqlstore.LockForCallText(d.Engine), []any{"lse_a", "user:a"}},
			{"a lease with its issue", sqlstore.LockForEndText(d.Engine), []any{"lse_a", "user:a"}},
		} {
			plan := explain(t, conn, name, c.text, c.args)
			if strings.Contains(plan, "Join Filter") || strings.Contains(plan, "Filter: (agent_id") || strings.Contains(plan, "SCAN ") {
				t.Errorf("%s:\n%s", c.name, plan)
			}
		}
		_, err := conn.ExecContext(t.Context(), "ANALYZE")
		must(t, err)
		keys := []any{acme, "a:agt_a", "t:tm_a", "c"}
		for _, c := range []struct {
			name, text, index string
			args              []any
			ranges            int // of the index
			sorts             int // of the few rows that were found in them, at most
		}{
			{"the first issues of three keys", sqlstore.ClaimText(d.Engine, 3, 1), "issues_to_claim", keys, 3, 3},
			{"an agent with the first issue", withFirst, "issues_to_claim", append(slices.Clone(keys), "agt_a"), 3, 3},
			{"a portion of three keys", sqlstore.ClaimText(d.Engine, 3, 32), "issues_to_claim", keys, 3, 3},
			{"leases that should have ended", sqlstore.OverdueText(d.Engine), "runs_live_to_check", []any{int64(5)}, 1, 0},
			{"open runs", sqlstore.CountOpenText(d.Engine), "runs_live_", nil, 1, 0},
			{"what needs a person", inbox[0], "issues_needing", []any{int64(5), "iss_a", 3, acme}, 1, 0},
			{"what waits for a decision", inbox[1], "approvals_open", []any{int64(5), "apr_a", 3, acme}, 1, 0},
			{"what needs a person anywhere", inbox[2], "issues_needing", []any{int64(5), "iss_a", 3}, 1, 0},
			{"approvals to be ended", sqlstore.OverdueApprovalsText(d.Engine), "approvals_open_by_expiry", []any{int64(5)}, 1, 0},
			{"what is open on an issue", sqlstore.LockOpenApprovalsText(d.Engine), "approvals_open_by_issue", []any{"iss_open"}, 1, 1},
			{"leases of an epoch that ended", sqlstore.OutdatedText(d.Engine), "runs_live_by_epoch", []any{acme, int64(1)}, 1, 0},
		} {
			plan := explain(t, conn, name, c.text, c.args)
			ranges, sorts := strings.Count(plan, c.index), strings.Count(plan, "Sort Key")+strings.Count(plan, "TEMP B-TREE")
			if ranges != c.ranges || sorts > c.sorts || strings.Contains(plan, "Seq Scan on") || strings.Contains(plan, "SCAN issues") {
				t.Errorf("%s: %d ranges of the index, %d sorts:\n%s", c.name, ranges, sorts, plan)
			}
		}
		// PostgreSQL prefers the key as long as there are few issues.
		plan := explain(t, conn, name, sqlstore.LimitedIssuesText(d.Engine, acme, "iss_a"), nil)
		isRange := strings.Contains(plan, "issues_limited (company_id=? AND id>?)") && !strings.Contains(plan, "TEMP B-TREE")
		if name == "sqlite" && !isRange {
			t.Errorf("issues with limits:\n%s", plan)
		}
	})
}

// A portion of a settlement costs what it returns, however much came before it.
func TestSettlementsReadPortionsOfIndexes(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, name string, d database, conn *sql.Conn, acme id.Company) {
		statements := []string{"ANALYZE"}
		if name == "postgres" { // tables that are small here are read as large ones are
			statements = append(statements, "SET enable_seqscan = off", "SET enable_bitmapscan = off")
		}
		for _, statement := range statements {
			_, err := conn.ExecContext(t.Context(), statement)
			must(t, err)
		}
		for _, c := range []struct {
			name, text string
			args       []any
			ranges     map[string]string // of the index, by engine
			sorts      int
		}{
			{"children", sqlstore.ChildrenText(d.Engine), []any{acme, "iss_parent", "iss_a"}, map[string]string{
				"sqlite": "issues_by_parent (company_id=? AND parent_id=? AND (created_at,id)>(?,?))",
				"postgres": "Index Cond: ((company_id = '" + string(acme) + "'::text) AND (parent_id = 'iss_parent'::text)" +
					" AND (ROW(created_at, id) > ROW(",
			}, 0},
			{"what waits for a blocker", sqlstore.DependentsText(d.Engine), []any{"iss_blocker", "iss_a"}, map[string]string{
				"sqlite":   "issue_blockers_by_blocker (blocker_id=? AND issue_id>?)",
				"postgres": "Index Cond: ((blocker_id = 'iss_blocker'::text) AND (issue_id > 'iss_a'::text))",
			}, 0},
			{"what can be taken from an agent", sqlstore.AbandonableText(d.Engine), []any{"agt_b", "iss_0"}, map[string]string{
				"sqlite":   "issues_held (agent_id=? AND id>?)",
				"postgres": "Index Cond: ((agent_id = 'agt_b'::text) AND (id > 'iss_0'::text))",
			}, 0},
			{"what is open in a project", sqlstore.OpenInProjectText(d.Engine), []any{"prj_c", "iss_0"}, map[string]string{
				"sqlite":   "issues_in_project (project_id=? AND id>?)",
				"postgres": "Index Cond: ((project_id = 'prj_c'::text) AND (id > 'iss_0'::text))",
			}, 0},
			{"settlements to go on with", sqlstore.PendingText(d.Engine), nil, map[string]string{
				"sqlite":   "settlements_by_company (company_id>?)",
				"postgres": "Index Only Scan using settlements_by_company",
			}, 2},
		} {
			plan := explain(t, conn, name, c.text, c.args)
			sorts := strings.Count(plan, "Sort Key") + strings.Count(plan, "TEMP B-TREE FOR ORDER")
			if !strings.Contains(plan, c.ranges[name]) || sorts > c.sorts || strings.Contains(plan, "Seq Scan on") ||
				strings.Contains(plan, "SCAN issues") || strings.Contains(plan, "SCAN settlements") {
				t.Errorf("%s:\n%s", c.name, plan)
			}
		}
	})
}

// What an issue has to do with a few others costs no more when its company has more.
func TestBlockersAreReadByTheirIDs(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, name string, d database, conn *sql.Conn, acme id.Company) {
		byID := map[string]string{"sqlite": "issues USING INDEX sqlite_autoindex_issues_1 (id=?)", "postgres": "issues_pkey"}[name]
		blocked := issue.Issue{ID: "iss_a", Company: acme, BlockedBy: []id.Issue{"iss_b", "iss_c"}}
		for range 2 {
			for what, text := range map[string]string{
				"the states of issues": sqlstore.ByIDsText(d.Engine, acme, blocked.BlockedBy),
				"what blocks an issue": sqlstore.AddBlockersText(d.Engine, blocked),
			} {
				plan := explain(t, conn, name, text, nil)
				if !strings.Contains(plan, byID) {
					t.Errorf("%s:\n%s", what, plan)
				}
			}
			_, err := conn.ExecContext(t.Context(), "ANALYZE")
			must(t, err)
		}
	})
}

// What something has spent is found by its key, whatever else has costs.
func TestWhatWasSpentIsReadByItsKey(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, name string, d database, conn *sql.Conn, _ id.Company) {
		byKey := map[string]string{
			"sqlite":   "SEARCH cost_totals USING INDEX sqlite_autoindex_cost_totals_1 (company_id=? AND scope=? AND scope_id=?)",
			"postgres": "AND (scope_id = ",
		}[name]
		for range 2 {
			for what, text := range sqlstore.SpentTexts(d.Engine) {
				plan := explain(t, conn, name, text, []any{"x"})
				if !strings.Contains(plan, byKey) || strings.Contains(plan, "Filter: ((scope") {
					t.Errorf("%s:\n%s", what, plan)
				}
			}
			_, err := conn.ExecContext(t.Context(), "ANALYZE")
			must(t, err)
		}
	})
}

// What is removed of a company costs no more when there is more of it, or of others, and whatever the planner takes a table for.
func TestWhatIsRemovedIsFoundByTheCompany(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, name string, d database, conn *sql.Conn, acme id.Company) {
		found := map[string]string{"sqlite": "(company_id=?", "postgres": "(company_id = '"}[name]
		portion := map[string]string{"sqlite": "(at,id)<(?,?)", "postgres": "(ROW(at, id) <= ROW(2,"}[name]
		removed := map[string]string{"sqlite": "SEARCH %s USING INTEGER PRIMARY KEY (rowid=?)", "postgres": "Tid Scan on %s "}[name]
		for table, text := range sqlstore.EmptyingTexts(d.Engine, acme, 100) {
			plan := explain(t, conn, name, text, nil)
			if !strings.Contains(plan, found) || !strings.Contains(plan, fmt.Sprintf(removed, table)) ||
				strings.Contains(plan, "Seq Scan on") || strings.Contains(plan, "SCAN ") {
				t.Errorf("%s:\n%s", table, plan)
			}
			if table == "activity" && !strings.Contains(plan, portion) { // many of its rows may stay until they were sent
				t.Errorf("it looks at all events of the company:\n%s", plan)
			}
		}
	})
}

// fill adds many issues, runs, settlements and events of a company.
func (d database) fill(t *testing.T) id.Company {
	t.Helper()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	s := sqlstore.New(d.Engine, clock, ids, d.migrator)
	draft := company.Draft{Slug: new("acme"), Name: new("Acme")}
	founding, _, err := company.New(id.New[id.Company](ids.UUIDv7()), draft, []string{"process"}, ids, clock.Now())
	must(t, err)
	const count, portion = 1000, 100 // a transaction has a few seconds, on a busy machine too
	must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Companies().Add(ctx, founding.Company)
	}))
	for from := range count / portion {
		must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			for n := from * portion; n < (from+1)*portion; n++ {
				if err := fillOne(ctx, tx, founding.Company.ID, n, ids, clock); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return founding.Company.ID
}

// fillOne files the nth issue of a company, with a run of it, an approval and what else goes with it.
func fillOne(
	ctx context.Context, tx store.Tx, company id.Company, n int, ids *storetest.IDs, clock *storetest.Clock,
) error {
	i, err := issue.New(id.New[id.Issue](ids.UUIDv7()), company, issue.Draft{Title: new("Call")}, "system:test", nil, clock.Now())
	if err != nil {
		return err
	}
	i.Number, i.Team, i.Parent = int64(n+1), []id.Team{"tm_a", "tm_b", ""}[n%3], []id.Issue{"", "iss_parent"}[n%2]
	i.Labels, i.Project = []string{"a", "b"}, []id.Project{"prj_a", "prj_b", ""}[n%3]
	i.Priority = []issue.Priority{issue.Low, issue.Normal, issue.High, issue.Urgent}[n%4]
	if n%5 == 0 {
		i.Agent, i.Binding = "agt_a", issue.Named
	}
	if err := tx.Issues().Add(ctx, i); err != nil {
		return err
	}
	left := store.Settlement{ID: id.New[id.Settlement](ids.UUIDv7()), Company: i.Company, Kind: store.CancelBelow}
	if err := tx.Settlements().Add(ctx, left); err != nil {
		return err
	}
	i.Agent, i.FencingToken = "agt_a", 1
	r := run.Grant(id.New[id.Run](ids.UUIDv7()), id.New[id.Lease](ids.UUIDv7()), i, 1, run.Terms{Time: time.Minute}, 0, clock.Now())
	if n%10 != 0 {
		r = r.End(run.Completed, "", clock.Now())
	}
	if err := tx.Runs().Add(ctx, r); err != nil {
		return err
	}
	asked, _, err := approval.New(id.New[id.Approval](ids.UUIDv7()), r, "tm_a", 0, approval.Draft{
		ActionName: new("deploy"), Action: new("Deploy"),
	}, clock.Now())
	if err != nil {
		return err
	}
	if n%10 != 0 {
		asked, _ = asked.Expire(clock.Now())
	}
	if err := tx.Approvals().Add(ctx, asked); err != nil {
		return err
	}
	_, filed := i.Created(i.Number)
	return tx.Record(ctx, filed.By("system:test"))
}

// SQLite writes to each index of which an UPDATE names a column, also if that does not change.
func TestASaveLeavesIndexesAloneInWhichNothingChanges(t *testing.T) {
	t.Parallel()
	d := openSQLite(t)
	d.migratedSchema(t)
	always := []string{"issues_by_update", "campaigns_by_place"} // of updated_at
	for table, text := range sqlstore.SaveTexts(d) {
		for _, index := range d.indexesWritten(t, text) {
			if !slices.Contains(always, index) {
				t.Errorf("a save of %s writes to %s", table, index)
			}
		}
	}
	if written := d.indexesWritten(t, "UPDATE runs SET ended_at = ?"); !slices.Contains(written, "runs_issue_id") {
		t.Errorf("the end of a run is said to write to %q", written)
	}
}

// indexesWritten are the indexes to which a statement writes in SQLite.
func (d database) indexesWritten(t *testing.T, statement string) (names []string) {
	t.Helper()
	program, err := d.writes.QueryContext(t.Context(), "EXPLAIN "+statement, make([]any, strings.Count(statement, "?"))...)
	must(t, err)
	defer program.Close()
	var pages, written []int // of the indexes that the program opens, by their cursors
	for program.Next() {
		var operation string
		var cursor, page int
		var other any
		must(t, program.Scan(&other, &operation, &cursor, &page, &other, &other, &other, &other))
		switch operation {
		case "OpenWrite":
			pages = append(pages, make([]int, max(0, cursor+1-len(pages)))...)
			pages[cursor] = page
		case "IdxInsert":
			written = append(written, pages[cursor])
		}
	}
	must(t, program.Err())
	for _, page := range written {
		var name string
		must(t, d.writes.QueryRowContext(t.Context(), "SELECT name FROM sqlite_schema WHERE rootpage = ?", page).Scan(&name))
		names = append(names, name)
	}
	return names
}

// explain returns the plan of a statement.
func explain(t *testing.T, conn *sql.Conn, engine, text string, args []any) string {
	t.Helper()
	explained := map[string]string{"sqlite": "EXPLAIN QUERY PLAN ", "postgres": "EXPLAIN "}[engine]
	rows, err := conn.QueryContext(t.Context(), explained+text, args...)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	var plan strings.Builder
	for rows.Next() {
		cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for n := range cells {
			into[n] = &cells[n]
		}
		must(t, rows.Scan(into...))
		plan.WriteString(cells[len(cells)-1].String + "\n")
	}
	must(t, rows.Err())
	return plan.String()
}
