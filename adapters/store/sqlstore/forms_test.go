package sqlstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// What was kept before there were forms is read as the first one.
func TestWhatWasKeptBeforeThereWereFormsIsRead(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) database{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			const before = 4
			d.migrateTo(t, before)
			for _, statement := range []string{
				`INSERT INTO leads (key, id, revision, updated_at, labels, rating, digest, created_at)
					VALUES (7, 'cmp_acme', 12, 1775908800000, ' none cam_1 cam_2 ', -1, 'x', 1775908800000)`,
				`INSERT INTO lead_entries (key, entry) VALUES (7, '7 12 1775908800000  cmp_acme   30` + "\n" +
					`{"id":"cmp_acme","name":"Acme""contacts":[],` +
					`"created_at":"2026-04-11T12:00:00.000Z","updated_at":"2026-04-11T12:00:00.000Z"}')`,
				`INSERT INTO activity (id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unspread)
					VALUES ('act_1', '', 'lead', 'lead.imported', 'system:test', 'lead', '', '{"inserted":1}', '', 1775908800000, 0)`,
			} {
				_, err := d.writes.ExecContext(t.Context(), statement)
				must(t, err)
			}
			_, err := d.migrator.Up(t.Context())
			must(t, err)

			s := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
			found, err := s.Leads().Get(t.Context(), "cmp_acme")
			must(t, err)
			if !strings.HasPrefix(found.Document.Head, `{"id":"cmp_acme","name":"Acme",`) ||
				!strings.HasPrefix(found.Document.Tail, `"campaign_ids":["cam_1","cam_2"],"contacts":[]`) {
				t.Errorf("%+v", found)
			}
			keyed, err := s.Leads().Keyed(t.Context(), []int64{7})
			must(t, err)
			searched, err := s.Leads().Search(t.Context(), lead.Query{Size: 1})
			must(t, err)
			if len(keyed) != 1 || keyed[0].Exported != found || len(searched.Leads) != 1 || searched.Leads[0] != found {
				t.Errorf("%+v and %+v, not %+v", keyed, searched.Leads, found)
			}
			must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				return tx.Record(ctx, lead.Change{Inserted: 2}.Imported(event.LeadImported).By(access.System("test").Actor))
			}))
			happened, err := s.Activity().List(t.Context(), store.ActivityFilter{}, page.Position{}, 10)
			must(t, err)
			if len(happened.Items) != 2 {
				t.Errorf("%+v", happened.Items)
			}
			var first, events int
			must(t, d.writes.QueryRowContext(t.Context(), "SELECT min(form), count(*) FROM activity WHERE form = 1").Scan(&first, &events))
			if first != 1 || events != 2 {
				t.Errorf("%d events of form %d", events, first)
			}
		})
	}
}

// Errors of imports were kept with the values that they quote, and with what was sent instead of an id.
func TestErrorsOfImportsLoseTheirValues(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) database{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			const before = 48
			d.migrateTo(t, before)
			for _, statement := range []string{
				`INSERT INTO import_rejects (import_id, place, line, item_id, problems) VALUES ('imp_1', 0, 1, 'anna@secret.example',
					'[{"field":"website","code":"invalid_format","message":"website must be a domain; \"secret \\\"1\" is neither"},` +
					`{"field":"name","code":"required","message":"name must not be blank"}]')`,
				`INSERT INTO import_rejects (import_id, place, line, item_id, problems) VALUES ('imp_1', 1, 2, 'cmp_1',
					'[{"field":"name","code":"required","message":"name must not be blank"}]')`,
			} {
				_, err := d.writes.ExecContext(t.Context(), statement)
				must(t, err)
			}
			_, err := d.migrator.Up(t.Context())
			must(t, err)
			s := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
			found, err := s.Imports().Reported(t.Context(), "imp_1", page.Position{}, 10)
			must(t, err)
			blank := fault.Field{Path: "name", Code: fault.Required, Message: "name must not be blank"}
			website := fault.Field{Path: "website", Code: fault.InvalidFormat, Message: "website must be a domain; ..."}
			want := []lead.ReportedLine{
				{Number: 1, Outcome: lead.LineRejected, Problems: fault.Problems{website, blank}},
				{Number: 2, ID: "cmp_1", Outcome: lead.LineRejected, Problems: fault.Problems{blank}},
			}
			if diff := cmp.Diff(want, found.Items); diff != "" {
				t.Error(diff)
			}
		})
	}
}
