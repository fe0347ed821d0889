package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

func TestAKeyedRequestThatIsRefusedCostsItsNeighboursNothing(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]struct {
		request idempotency.Request
		write   func(ctx context.Context, tx store.Tx) (int, error)
		is      func(err error) bool
	}{
		"a replay": {keyed("kept", "same"), answerOne, func(err error) bool {
			var replay *idempotency.Replay
			return errors.As(err, &replay)
		}},
		"a conflict": {keyed("kept", "other"), answerOne, func(err error) bool { return fault.CodeOf(err) == fault.IdempotencyConflict }},
		"a refusal": {keyed("new", "same"), func(ctx context.Context, tx store.Tx) (int, error) {
			_, err := tx.Companies().Lock(ctx, "cmp_none")
			return 0, err
		}, func(err error) bool { return fault.CodeOf(err) == fault.NotFound }},
		"a draft that is not valid": {keyed("new", "same"), func(context.Context, store.Tx) (int, error) {
			return 0, fault.New(fault.ValidationFailed, "The request has fields that are not valid.")
		}, func(err error) bool { return fault.CodeOf(err) == fault.ValidationFailed }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				notes := openNotesIn(t, open(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "holdco.db")}))
				_, err := notes.Migrator().Up(t.Context())
				must(t, err)
				s := sqlstore.New(notes.Engine, storetest.NewClock(), storetest.NewIDs(), notes.Migrator())
				_, err = store.UpdateOnce(t.Context(), s, keyed("kept", "same"), "", answerOne)
				must(t, err)

				batches, units := notes.Batches()
				release := notes.block()
				var neighbours []chan error
				const count = 20
				for n := range count {
					neighbours = append(neighbours, notes.start(insert(n+1)))
				}
				outcome := make(chan error, 1)
				go func() {
					_, err := store.UpdateOnce(t.Context(), s, refused.request, "", refused.write)
					outcome <- err
				}()
				synctest.Wait()
				must(t, release())
				for _, neighbour := range neighbours {
					must(t, <-neighbour)
				}
				if err := <-outcome; !refused.is(err) {
					t.Errorf("got %v", err)
				}
				nowBatches, nowUnits := notes.Batches()
				if commits := nowBatches - batches; commits > 2 || nowUnits-units < 1+count {
					t.Errorf("%d units took %d commits", nowUnits-units, commits)
				}
			})
		})
	}
}

func answerOne(context.Context, store.Tx) (int, error) { return 1, nil }

func keyed(key, fingerprint string) idempotency.Request {
	return idempotency.Request{
		Key: idempotency.Key{Caller: "tok_some", Value: key}, Fingerprint: fingerprint,
		Answer: func(any) ([]byte, error) { return []byte("{}"), nil },
	}
}
