package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/lead"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestTheFeedEndsWhereACopyOfTheFileIsPutBack(t *testing.T) {
	t.Parallel()
	path, clock := filepath.Join(sqlitetest.Dir(t), "holdco.db"), storetest.NewClock()
	during := func(use func(leads store.LeadReader, change func(times int))) {
		t.Helper()
		engine, err := sqlite.Open(t.Context(), sqlite.Options{
			Path: path, Exclusive: true, Synchronous: sqlite.Normal, UnitTimeout: time.Minute,
		})
		must(t, err)
		opened := sqlstore.New(engine, clock, storetest.NewIDs(), engine.Migrator())
		use(opened.Leads(), func(times int) {
			for range times {
				clock.Advance(time.Second)
				must(t, opened.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
					tx.Unrecorded()
					_, err := tx.Leads().Advance(ctx)
					return err
				}))
			}
		})
		must(t, engine.Close())
	}
	here := func(leads store.LeadReader) lead.FeedPosition {
		page, err := leads.Feed(t.Context(), lead.FeedQuery{Size: 1})
		must(t, err)
		return page.Next
	}
	var before, lost, last lead.FeedPosition
	during(func(leads store.LeadReader, change func(times int)) {
		change(2)
		before = here(leads)
		change(1)
	})
	backup, err := os.ReadFile(path)
	must(t, err)
	during(func(leads store.LeadReader, change func(times int)) {
		change(2)
		lost = here(leads)
		change(3)
		last = here(leads)
	})
	must(t, os.WriteFile(path, backup, 0o600))
	clock.Advance(time.Hour)
	during(func(leads store.LeadReader, change func(times int)) {
		for range 5 {
			if err := leads.CanFollow(t.Context(), before); err != nil {
				t.Errorf("%+v: %v", before, err)
			}
			for _, from := range []lead.FeedPosition{lost, last} {
				_, err := leads.Feed(t.Context(), lead.FeedQuery{After: from, Size: 1})
				if !errors.Is(err, store.ErrFeedLost) || !errors.Is(leads.CanFollow(t.Context(), from), store.ErrFeedLost) {
					t.Errorf("%+v: %v", from, err)
				}
			}
			change(2)
		}
	})
}
