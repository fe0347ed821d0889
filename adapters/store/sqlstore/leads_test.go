package sqlstore_test

import (
	"context"
	"testing"
	"time"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestADamagedEntryIsADefect(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) database{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			_, err := d.migrator.Up(t.Context())
			must(t, err)
			s := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
			must(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				tx.Unrecorded()
				if _, err := tx.Leads().Advance(ctx); err != nil {
					return err
				}
				return tx.Leads().Keep(ctx, []lead.Stored{{Lead: lead.Lead{ID: "cmp_some", CreatedAt: time.Now(), UpdatedAt: time.Now()}}})
			}))
			for _, entry := range []string{
				"", "\n", "{}", "1 1 1 1 1 cmp_some ind vrt x\n{}", "1 1 1 1 1 cmp_some ind vrt 3\n{}", "1 1 1 1 1 cmp_some ind vrt -1\n{}",
				"1 1 1 x 1 cmp_some ind vrt 1\n{}", "1 1 1 1 x cmp_some ind vrt 1\n{}", "1 1 1 1 1 cmp_some ind 1\n{}",
				"x 1 1 1 1 cmp_some ind vrt 1\n{}", "1 1 1 1 1 cmp_some ind vrt 1\n{}", "3 1 1 1 1 cmp_some ind vrt 1\n{}",
			} {
				_, err := d.writes.ExecContext(t.Context(), "UPDATE lead_entries SET entry = '"+entry+"'")
				must(t, err)
				if _, err := s.Leads().Get(t.Context(), "cmp_some"); fault.CodeOf(err) != fault.Internal {
					t.Errorf("%q reads as a lead: %v", entry, err)
				}
			}
		})
	}
}
