package sqlstore_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// A search reads ranges of indexes in the order of the list, so that it costs what it looks at, however much there is.
func TestSearchesReadRangesOfIndexes(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, name string, d database, conn *sql.Conn, acme id.Company) {
		statements := []string{"ANALYZE"}
		if name == "postgres" { // tables that are small here are read as large ones are
			statements = append(statements, "SET enable_seqscan = off", "SET enable_bitmapscan = off", "SET enable_sort = off")
		}
		for _, statement := range statements {
			_, err := conn.ExecContext(t.Context(), statement)
			must(t, err)
		}
		texts, err := sqlstore.SearchTexts(d.Engine, acme, page.Position{Values: []string{"5"}, ID: "x"})
		must(t, err)
		for what, text := range texts {
			plan := explain(t, conn, name, text, nil)
			portion := map[string]string{"sqlite": "(created_at,id)<(?,?)", "postgres": "(ROW(created_at, id) < ROW("}[name]
			if !strings.Contains(plan, portion) || strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s:\n%s", what, plan)
			}
		}
	})
}

// What no page of a search finds is behind more than it looks at.
func TestAPageOfASearchLooksAtABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	onFilledEngines(t, func(t *testing.T, _ string, d database, conn *sql.Conn, acme id.Company) {
		const count = 2*store.MostSearched + 500
		_, err := conn.ExecContext(t.Context(), fmt.Sprintf(`
			INSERT INTO goals (id, company_id, title, description, target_date, status, created_at, updated_at, version)
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
			SELECT 'gl_' || (1000000 + n), '%s', CASE WHEN n IN (1, %d) THEN 'Needle' ELSE 'Hay' END, '', '', 'active', n, n, 1
			FROM numbers`, count, acme, count-1))
		must(t, err)
		s := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
		var found [][]int64
		for after, isFirst := (page.Position{}), true; isFirst || !after.IsStart(); isFirst = false {
			got, err := s.Goals().List(t.Context(), store.GoalFilter{Company: acme, Words: text.Words{"needle"}}, after, 10)
			must(t, err)
			var created []int64
			for _, one := range got.Items {
				created = append(created, one.CreatedAt.UnixMilli())
			}
			found, after = append(found, created), got.Next
		}
		if want := fmt.Sprint([][]int64{{count - 1}, nil, {1}}); fmt.Sprint(found) != want {
			t.Errorf("pages with %v, want %s", found, want)
		}
	})
}
