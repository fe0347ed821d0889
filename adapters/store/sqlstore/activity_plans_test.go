package sqlstore_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// fillLog records many events of two companies and of the instance: most are of one company, by one actor, on other issues each.
func (d database) fillLog(t *testing.T, clock *storetest.Clock) (acme, other id.Company) {
	t.Helper()
	const count, portion = 6000, 100 // a transaction has a few seconds, on a busy machine too
	ids := storetest.NewIDs()
	s := sqlstore.New(d.Engine, clock, ids, d.migrator)
	acme, other = id.New[id.Company](ids.UUIDv7()), id.New[id.Company](ids.UUIDv7())
	for from := range count / portion {
		must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			for n := from * portion; n < (from+1)*portion; n++ {
				of, what, actor := acme, event.IssueUpdated, event.Actor("token:tok_a")
				switch {
				case n%100 == 1:
					of = other
				case n%100 == 2:
					of, what = "", event.TokenCreated
				case n%50 == 3:
					what, actor = event.IssueCompleted, "agent:agt_a"
				case n%500 == 4:
					what = event.ApprovalRequested
				}
				happened := event.Of(what, of, fmt.Sprintf("%s_%d", what.Kind(), n/5), event.Fields{
					event.F("issueId", fmt.Sprintf("iss_%d", n/5)), event.F("agentId", fmt.Sprintf("agt_%d", n%4)),
					event.F("runId", fmt.Sprintf("run_%d", n/10)),
				})
				if err := tx.Record(ctx, happened.By(actor)); err != nil {
					return err
				}
			}
			return nil
		}))
		clock.Advance(time.Minute)
	}
	return acme, other
}

// The lists of the activity read ranges of indexes in their order, whatever they are filtered by, and however long the log is.
func TestListsOfTheActivityReadRangesOfIndexes(t *testing.T) {
	t.Parallel()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			d.migratedSchema(t)
			clock := storetest.NewClock()
			began := clock.Now()
			acme, _ := d.fillLog(t, clock)
			conn, err := d.writes.Conn(t.Context())
			must(t, err)
			defer conn.Close()
			_, err = conn.ExecContext(t.Context(), "ANALYZE")
			must(t, err)
			middle := began.Add(clock.Now().Sub(began) / 2)
			position := page.Position{Values: []string{strconv.FormatInt(middle.UnixMilli(), 10)}, ID: "act_7"}
			for what, c := range map[string]struct {
				filter store.ActivityFilter
				index  string
			}{
				"all":                      {store.ActivityFilter{}, "activity_by_age"},
				"a company":                {store.ActivityFilter{}, "activity_by_company"},
				"a category":               {store.ActivityFilter{Categories: []string{"approval"}}, "type"},
				"an action":                {store.ActivityFilter{Type: event.IssueCompleted}, "type"},
				"an action and a category": {store.ActivityFilter{Type: event.IssueCompleted, Categories: []string{"task"}}, "type"},
				"a subject":                {store.ActivityFilter{Subject: event.Subject{ID: "issue_600"}}, "activity_by_subject"},
				"a subject of a kind": {
					store.ActivityFilter{Subject: event.Subject{Type: "issue", ID: "issue_600"}}, "activity_by_subject",
				},
				"an issue": {store.ActivityFilter{Related: event.Related{Issue: "iss_600"}}, "activity_by_issue"},
				"an agent": {store.ActivityFilter{Related: event.Related{Agent: "agt_3"}}, "activity_by_agent"},
				"a run":    {store.ActivityFilter{Related: event.Related{Run: "run_300"}}, "activity_by_run"},
				"an issue and an action": {
					store.ActivityFilter{Type: event.IssueUpdated, Related: event.Related{Issue: "iss_600"}}, "activity_by_issue",
				},
				"an issue and a run": {store.ActivityFilter{Related: event.Related{Issue: "iss_600", Run: "run_300"}}, "activity_by_run"},
				"an agent and a category": {
					store.ActivityFilter{Categories: []string{"task"}, Related: event.Related{Agent: "agt_3"}}, "activity_by_agent",
				},
				"an actor":                 {store.ActivityFilter{Actor: "agent:agt_a"}, "actor"},
				"an actor and a category":  {store.ActivityFilter{Actor: "agent:agt_a", Categories: []string{"task"}}, "actor"},
				"an actor of a kind":       {store.ActivityFilter{Actor: "agent:"}, "activity_by_company"},
				"an action and its actors": {store.ActivityFilter{Actor: "agent:", Type: event.IssueCompleted}, "type"},
			} {
				for _, of := range []*id.Company{nil, &acme} {
					if of == nil && (what == "a company" || strings.HasPrefix(what, "an actor")) || of != nil && what == "all" {
						continue // of all companies an actor is searched for, among so many entries a request
					}
					for _, when := range []string{"", "since", "until", "since and until"} {
						for _, after := range []page.Position{{}, position} {
							filter := c.filter
							if filter.Company = of; strings.Contains(when, "since") {
								filter.Since = middle.Add(-10 * time.Minute)
							}
							if strings.Contains(when, "until") {
								filter.Until = middle.Add(10 * time.Minute)
							}
							texts, err := sqlstore.ActivityTexts(d.Engine, filter, after, 20)
							must(t, err)
							for _, text := range texts {
								list := fmt.Sprintf("%s, of one company: %t, %s, on: %t", what, of != nil, when, !after.IsStart())
								if name == "postgres" {
									checkLooked(t, list, explain(t, conn, name, "(ANALYZE, TIMING OFF) "+text, nil))
								} else {
									checkRange(t, list, explain(t, conn, name, text, nil), c.index)
								}
							}
						}
					}
				}
			}
		})
	}
}

// checkRange checks that a plan of SQLite reads a range of an index, in the order that is wanted.
func checkRange(t *testing.T, what, plan, index string) {
	t.Helper()
	scans := strings.Contains(plan, "SCAN entry_row") && index != "activity_by_age" // of all entries that is no other
	if scans || strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, index) {
		t.Errorf("%s: not a range of the index %s:\n%s", what, index, plan)
	}
}

var actualRows = regexp.MustCompile(`actual rows=([0-9.]+) loops=(\d+)|Rows Removed by \w+: (\d+)`)

// checkLooked checks that a query of Postgres looked at few rows. Which index it takes for that is its choice.
func checkLooked(t *testing.T, what, plan string) {
	t.Helper()
	const most = 100
	for _, found := range actualRows.FindAllStringSubmatch(plan, -1) {
		rows, _ := strconv.ParseFloat(found[1]+found[3], 64)
		if loops, _ := strconv.ParseFloat(found[2], 64); rows*max(loops, 1) > most {
			t.Errorf("%s: it looked at %.0f rows:\n%s", what, rows*max(loops, 1), plan)
			return
		}
	}
	if strings.Contains(plan, "Seq Scan on activity") {
		t.Errorf("%s: by no index:\n%s", what, plan)
	}
}
