package wiring_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/webhook"
)

// Short-lived companies: whatever happened to them arrives at every endpoint, however slow or broken that is, and nothing
// of them is left afterwards.
func TestEventsOfDeletedCompaniesAreSentAndThenGone(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), append(environ, allowPrivate)...)
		db := s.database(t)
		fast, slow, flapping := listen(t), listen(t), listen(t)
		slow.does(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(20 * time.Millisecond)
			w.WriteHeader(http.StatusOK)
		})
		var mutex sync.Mutex
		seen := map[string]bool{}
		flapping.does(func(w http.ResponseWriter, r *http.Request) {
			mutex.Lock()
			defer mutex.Unlock()
			if id := r.Header.Get("webhook-id"); !seen[id] {
				seen[id] = true
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		hooks := []apiWebhook{s.subscribe(t, fast, ""), s.subscribe(t, slow, ""), s.subscribe(t, flapping, "")}

		const count = 40
		var ids []string
		for n := range count {
			c := s.create(t, fmt.Sprintf(`{"name":"Short","slug":"short-%d"}`, n))
			s.Patch(c.path(), `{"name":"Shorter"}`).Is(t, 200, "")
			s.Post(c.path()+"/archive", "").Is(t, 200, "")
			s.Delete(c.path()).Is(t, 200, "")
			ids = append(ids, c.ID)
		}
		want := []string{"company.created", "company.updated", "company.archived", "company.deleted"}
		complete := func(to *receiver) bool {
			arrived := arrivals(to)
			return !slices.ContainsFunc(ids, func(id string) bool { return len(arrived[id]) < len(want) })
		}
		await(t, "the arrival of every event at the fast and the slow receiver", func() bool {
			return complete(fast) && complete(slow)
		})
		await(t, "the first attempt at every event", func() bool {
			mutex.Lock()
			defer mutex.Unlock()
			return len(seen) == count*len(want)
		})
		for _, to := range []*receiver{fast, slow} {
			for id, types := range arrivals(to) {
				if !slices.Equal(types, want) {
					t.Errorf("of %s arrived %q", id, types)
				}
			}
		}
		for _, delivery := range s.deliveries(t, hooks[2]) {
			if delivery.Type != "company.deleted" {
				t.Errorf("a delivery of a deleted company is listed: %+v", delivery)
			}
		}

		await(t, "the arrival of every event at the receiver that fails at first", func() bool {
			s.clock.advance(6 * time.Second)
			return complete(flapping)
		})
		await(t, "the end of what was left", func() bool {
			s.clock.advance(time.Hour)
			return len(remains(t, db, ids)) == 0
		})
		for _, to := range []*receiver{fast, slow, flapping} {
			sequences := map[string]int64{}
			for _, one := range to.receipts() {
				if before, again := sequences[one.id]; one.Sequence < 1 || again && before != one.Sequence {
					t.Errorf("%s has the sequence %d", one.id, one.Sequence)
				}
				sequences[one.id] = one.Sequence
			}
		}
	})
}

// arrivals are the types of the events that arrived about each company, each once, in the order of their sequence.
func arrivals(to *receiver) map[string][]string {
	receipts := to.receipts()
	slices.SortStableFunc(receipts, func(a, b receipt) int { return int(a.Sequence - b.Sequence) })
	arrived := map[string][]string{}
	had := map[string]bool{}
	for _, one := range receipts {
		if company, _ := one.Data["companyId"].(string); !had[one.id] {
			had[one.id] = true
			arrived[company] = append(arrived[company], one.Type)
		}
	}
	return arrived
}

// remains looks into every table for ids of companies, and returns where they are, but for the events
// of their deletion.
func remains(t *testing.T, db *sql.DB, ids []string) (found []string) {
	t.Helper()
	for table, columns := range tables(t, db) {
		values := "'' || " + strings.Join(columns, " || ' ' || ")
		where := ""
		if table == "activity" {
			where = " WHERE type <> 'company.deleted'"
		}
		rows, err := db.QueryContext(t.Context(), "SELECT "+values+" FROM "+table+where)
		must(t, err)
		for rows.Next() {
			var text sql.NullString
			must(t, rows.Scan(&text))
			if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(text.String, id) }) {
				found = append(found, table+": "+text.String)
			}
		}
		must(t, rows.Err())
		must(t, rows.Close()) //nolint:sqlclosecheck // in the loop, before the next one
	}
	return found
}

// database opens the store of a server beside it.
func (s *instance) database(t *testing.T) *sql.DB {
	t.Helper()
	driver, url := "sqlite", "file:"+filepath.Join(strings.TrimPrefix(s.environ[0], dataDir), "holdco.db")
	if len(s.environ) > 1 && strings.HasPrefix(s.environ[1], databaseURL) {
		driver, url = "pgx", strings.TrimPrefix(s.environ[1], databaseURL)
	}
	db, err := sql.Open(driver, url)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// tables are the columns of each table that hold strings.
func tables(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	query := `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.type = 'TEXT'`
	if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM sqlite_schema"); err != nil {
		query = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'text'`
	}
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		must(t, rows.Scan(&table, &column))
		columns[table] = append(columns[table], column)
	}
	must(t, rows.Err())
	if len(columns["activity"]) == 0 {
		t.Fatal("the tables were not found")
	}
	return columns
}

func TestAWebhookOfADeletedCompanyIsDisabledAfterItsLastMessage(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		to.answers(http.StatusInternalServerError)
		acme := s.create(t, draft(t, ""))
		hook := s.subscribe(t, to, `,"companyId":"`+acme.ID+`"`)
		s.Patch(acme.path(), `{"name":"Last"}`).Is(t, 200, "")
		failed := s.settled(t, hook, webhook.Pending, 1)
		s.Delete(acme.path()).Is(t, 200, "")
		s.settled(t, hook, webhook.Pending, 1)
		s.Post(hook.path()+"/deliveries/"+failed.ID+"/redeliver", "").Is(t, 404, "not_found")
		to.types(t, "company.updated", "company.deleted")
		if now := resttest.Data[apiWebhook](t, s.Get(hook.path())); !now.Enabled {
			t.Errorf("%+v: its messages are not out yet", now)
		}

		to.answers(http.StatusOK)
		s.clock.advance(10 * time.Second)
		await(t, "the last messages", func() bool { return len(to.receipts()) == 4 })
		await(t, "the end of the webhook", func() bool {
			s.clock.advance(time.Hour)
			return !resttest.Data[apiWebhook](t, s.Get(hook.path())).Enabled
		})
		now := resttest.Data[apiWebhook](t, s.Get(hook.path()))
		if now.DisabledReason == nil || *now.DisabledReason != "The company of this webhook was deleted." {
			t.Errorf("%+v", now)
		}

		refused := s.Patch(hook.path(), `{"enabled":true}`)
		refused.Is(t, 409, "invalid_transition")
		if want := map[string]any{"from": "disabled", "action": "enable"}; cmp.Diff(want, details(t, refused)) != "" {
			t.Errorf("%v", details(t, refused))
		}
		s.Patch(hook.path(), `{"description":"old","enabled":false}`).Is(t, 200, "")
		s.Patch(hook.path(), `{"enabled":true}`).Is(t, 409, "invalid_transition")
		s.Delete(hook.path()).Is(t, 200, "")
	})
}

// A webhook that was disabled before its company was deleted may be enabled for the messages that wait, and only for them.
func TestAWebhookOfADeletedCompanyIsEnabledForWhatWaitsAlone(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		to.answers(http.StatusInternalServerError)
		acme := s.create(t, draft(t, ""))
		of := `,"companyId":"` + acme.ID + `"`
		waiting, idle := s.subscribe(t, to, of), s.subscribe(t, listen(t), of+`,"enabled":false`)
		s.Patch(acme.path(), `{"name":"Last"}`).Is(t, 200, "")
		s.settled(t, waiting, webhook.Pending, 1)
		s.Patch(waiting.path(), `{"enabled":false}`).Is(t, 200, "")
		s.Patch(idle.path(), `{"enabled":true}`).Is(t, 200, "")
		s.Patch(idle.path(), `{"enabled":false}`).Is(t, 200, "")
		s.Delete(acme.path()).Is(t, 200, "")
		s.Patch(idle.path(), `{"enabled":true}`).Is(t, 409, "invalid_transition")

		to.answers(http.StatusOK)
		s.Patch(waiting.path(), `{"enabled":true}`).Is(t, 200, "")
		s.clock.advance(10 * time.Second)
		to.types(t, "company.updated", "company.updated")
		await(t, "the end of the webhook", func() bool {
			s.clock.advance(time.Hour)
			return !resttest.Data[apiWebhook](t, s.Get(waiting.path())).Enabled
		})
		s.Patch(waiting.path(), `{"enabled":true}`).Is(t, 409, "invalid_transition")
	})
}

// What was redelivered just before its company was deleted is sent, and holds up nothing.
func TestARedeliveryAndADeletionAtOnceLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		hook, db := s.subscribe(t, to, ""), s.database(t)
		const count = 15
		var ids []string
		for n := range count {
			c := s.create(t, fmt.Sprintf(`{"name":"Short","slug":"short-%d"}`, n))
			sent := s.settled(t, hook, webhook.Succeeded, 1)
			var both sync.WaitGroup
			both.Go(func() { s.Post(hook.path()+"/deliveries/"+sent.ID+"/redeliver", "") })
			both.Go(func() { s.Delete(c.path()) })
			both.Wait()
			ids = append(ids, c.ID)
			await(t, "the last message", func() bool {
				newest := to.receipts()[len(to.receipts())-1]
				return newest.Type == "company.deleted" || len(arrivals(to)[c.ID]) == 2
			})
		}
		await(t, "the end of what was left", func() bool {
			s.clock.advance(time.Hour)
			backlog, err := s.store.Outbox().Backlog(context.Background())
			must(t, err)
			return backlog.Pending == 0 && len(remains(t, db, ids)) == 0
		})
	})
}
