//go:build bench

package wiring_test

import (
	"database/sql"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdco/domain/id"
	"holdco/domain/issue"
)

var manyIssues = flag.Int("aggregates", 100_000, "how many issues the larger company of TestBenchAggregates has; entries: ten times that")

// What a company looks like at a glance takes as long with many issues and entries of the activity log as with a thousand.
func TestBenchAggregates(t *testing.T) {
	const few, rounds, stale = 1000, 21, 2100 * time.Millisecond // longer than answers are kept
	eachBenchStore(t, func(t *testing.T, s benchStore) {
		agents := newCrew(t, 2, 2, s.environ...)
		db, err := sql.Open(s.driver, s.address)
		must(t, err)
		defer db.Close()
		for n, count := range []int{few, *manyIssues} {
			began := time.Now()
			of := agents.agents[n].company
			agents.file(t, id.Company(of), count, func(n int, i *issue.Issue) {
				i.Status = statusWithoutLease(n)
			})
			entries := few
			if n > 0 {
				entries = 10 * count
			}
			copyEntries(t, db, of, entries)
			fmt.Printf("%-10s made %d issues and %d entries in %s\n", s.kind, count, entries, time.Since(began).Round(time.Second))
		}
		s.tidyUp()
		conn, err := dial(agents.url)
		must(t, err)
		defer conn.conn.Close()
		printGrowthOf(few, *manyIssues)
		queries := []string{
			"/dashboard/overview", "/dashboard/inbox", "/dashboard/health", "/dashboard/cost", "/dashboard/org", "/dashboard/activity",
			"/activity",
		}
		took := make([]growth, len(queries))
		for range rounds {
			for q, query := range queries {
				for n := range took[q] {
					began := time.Now()
					must(t, conn.exchange(http.MethodGet, "/v1/companies/"+agents.agents[n].company+query, ""))
					took[q][n] = append(took[q][n], time.Since(began))
				}
			}
			time.Sleep(stale)
		}
		for q, query := range queries {
			took[q].print(s.kind, query)
		}
	})
}

// copyEntries repeats what a company has in its activity log until there are so many entries more, over the 90 days before now.
func copyEntries(t *testing.T, db *sql.DB, company string, count int) {
	t.Helper()
	const atOnce, days = 100_000, 90
	var kept int
	must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM activity WHERE company_id = '"+company+"'").Scan(&kept))
	now := time.Now().UnixMilli()
	apart := int64(days*24*time.Hour/time.Millisecond) / int64(count)
	values := map[string]string{
		"id": "substr(id, 1, length(id) - 9) || substr(CAST(1000000000 + n AS TEXT), 2)", "company_id": "company_id",
		"category": "category", "type": "type", "actor": "actor", "subject_type": "subject_type", "subject_id": "subject_id",
		"data": "data", "previous": "previous", "at": fmt.Sprintf("%d - (%d - n) * %d", now, count, apart),
		"unqueued": "0", "form": "form", "txid": "txid",
		"issue_id": "issue_id", "agent_id": "agent_id", "run_id": "run_id",
	}
	var columns, copied []string
	for column, value := range values {
		columns, copied = append(columns, column), append(copied, value)
	}
	for from := 1; from <= count; from += atOnce {
		_, err := db.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO activity (%s)
			WITH RECURSIVE numbers AS (SELECT CAST(%d AS BIGINT) AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < %d),
			patterns AS (SELECT *, row_number() OVER (ORDER BY seq) - 1 AS turn FROM
				(SELECT * FROM activity WHERE company_id = '%s' ORDER BY seq LIMIT %d) AS first)
			SELECT %s FROM numbers JOIN patterns ON numbers.n %% %d = patterns.turn ORDER BY n`,
			strings.Join(columns, ", "), from, min(count, from+atOnce-1), company, kept, strings.Join(copied, ", "), kept))
		must(t, err)
	}
}
