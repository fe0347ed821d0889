package sqlstore_test

import (
	"context"
	"testing"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// A program that does not know hashes yet adds leads without them, and replaces leads and leaves the hashes of what was before.
func TestLeadsWithoutHashesOfTheirsAreFoundByTheirDocuments(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) database{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			d.migratedSchema(t)
			s := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
			var places []lead.Place
			keep := func(leads ...lead.Lead) {
				must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
					tx.Unrecorded()
					at, err := tx.Leads().Advance(ctx)
					if err != nil {
						return err
					}
					var kept []lead.Stored
					for _, one := range leads {
						one.Name, one.Enrichment, one.Rating = "A", lead.None, lead.Unrated
						one.CreatedAt, one.UpdatedAt = at, at
						kept = append(kept, lead.Stored{Lead: one, Digest: one.Digest()})
						places = append(places, one.Place())
					}
					return tx.Leads().Keep(ctx, kept)
				}))
			}
			keep(lead.Lead{ID: "cmp_known", Website: "a.example", Email: "a@a.example"}, lead.Lead{ID: "cmp_new", Website: "a.example"},
				lead.Lead{ID: "cmp_replaced", Website: "b.example", Email: "a@a.example"},
				lead.Lead{ID: "cmp_removed", Website: "a.example"})
			const ofB = "SELECT substr(hashes, 1, 22) FROM leads WHERE id = 'cmp_replaced'"
			var before string
			must(t, d.writes.QueryRowContext(t.Context(), ofB).Scan(&before))
			keep(lead.Lead{ID: "cmp_replaced", Website: "https://www.A.example"})
			must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				tx.Unrecorded()
				at, err := tx.Leads().Advance(ctx)
				if err != nil {
					return err
				}
				_, err = tx.Leads().Remove(ctx, []id.Lead{"cmp_removed"}, at)
				return err
			}))
			for _, statement := range []string{
				"UPDATE leads SET hashes = '' WHERE id = 'cmp_new'",
				"UPDATE leads SET hashes = '" + before + "of another' WHERE id = 'cmp_replaced'",
			} {
				_, err := d.writes.ExecContext(t.Context(), statement)
				must(t, err)
			}
			for _, c := range []struct {
				filter lead.Filter
				want   int64
			}{
				{lead.Filter{Domain: "a.example"}, 3}, {lead.Filter{Domain: "b.example"}, 0}, {lead.Filter{Email: "a@a.example"}, 1},
				{lead.Filter{Domain: "a.example", Email: "a@a.example"}, 1},
				{lead.Filter{Domain: "a.example", IDs: []id.Lead{"cmp_new"}}, 1},
			} {
				page, err := s.Leads().Search(t.Context(), lead.Query{Filter: c.filter, Size: 2})
				must(t, err)
				if page.Total != c.want || len(page.Leads) != int(min(c.want, 2)) || page.More != (c.want > 2) {
					t.Errorf("%+v: %d, %d, %v", c.filter, page.Total, len(page.Leads), page.More)
				}
			}
			marks, err := s.Leads().Marks(t.Context(), lead.Place{}, places[len(places)-1], 10)
			must(t, err)
			changes, err := s.Leads().Changes(t.Context(), store.ChangeCursor{}, 10)
			must(t, err)
			for _, change := range changes {
				if !change.Removed {
					marks = append(marks, change.LeadMark)
				}
			}
			if len(marks) != 6 {
				t.Errorf("%d marks", len(marks))
			}
			for _, mark := range marks {
				if mark.Domain != lead.HashOf("a.example") || (mark.Email != 0) != (mark.Place.ID == "cmp_known") {
					t.Errorf("%+v", mark)
				}
			}
		})
	}
}
