package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
)

var errRefused = errors.New("refused")

func TestABatchKeepsWhatItsGoodUnitsWrote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notes := openNotes(t)
		var inside, outside []int
		runAmongBadUnits(t, notes, func(bad work) work { return bad }, func(ctx context.Context, conn bun.IConn) error {
			inside, outside = notes.readBy(conn), notes.read()
			return insert(5)(ctx, conn)
		})
		if !slices.Equal(inside, []int{0, 1}) || len(outside) != 0 {
			t.Errorf("within the batch: the last unit saw %v, and readers saw %v", inside, outside)
		}
		notes.expect(0, 1, 5)
	})
}

func TestUnitsThatFailAfterTheyWroteCostTheirNeighboursNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notes := openNotes(t)
		runAmongBadUnits(t, notes, func(bad work) work {
			return func(ctx context.Context, conn bun.IConn) error {
				must(t, insert(2)(ctx, conn))
				return bad(ctx, conn)
			}
		}, insert(5))
		notes.expect(0, 1, 5)
	})
}

// runAmongBadUnits runs a unit that writes 1 and a last one in a batch with units that end in every bad way.
func runAmongBadUnits(t *testing.T, notes notebook, spoil func(bad work) work, last work) {
	t.Helper()
	release := notes.block()
	good := notes.start(insert(1))
	refused := notes.start(spoil(func(context.Context, bun.IConn) error { return errRefused }))
	duplicate := notes.start(spoil(insert(1)))
	panicking := notes.start(spoil(func(context.Context, bun.IConn) error { panic("a defect") }))
	leaving := notes.start(spoil(func(context.Context, bun.IConn) error {
		runtime.Goexit()
		return nil
	}))
	ended := notes.start(last)
	must(t, release())

	must(t, <-good)
	if err := <-refused; !errors.Is(err, errRefused) {
		t.Errorf("the refused unit: got %v", err)
	}
	if err := <-duplicate; classify(notes, err) != sqlstore.Duplicate {
		t.Errorf("the duplicate: got %v", err)
	}
	if err := <-panicking; err == nil || err.Error() != "a defect" {
		t.Errorf("the panicking unit: got %v", err)
	}
	if err := <-leaving; !errors.Is(err, errGone) {
		t.Errorf("the leaving unit: got %v", err)
	}
	must(t, <-ended)
}

func TestARefusalWaitsForTheCommitThatItRestsOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notes := openNotes(t)
		release := notes.block()
		first := notes.start(insert(1))
		duplicate := notes.start(insert(1))
		breaking := notes.start(func(ctx context.Context, conn bun.IConn) error {
			_, err := conn.ExecContext(ctx, "PRAGMA defer_foreign_keys = 1")
			must(t, err)
			_, err = conn.ExecContext(ctx, "INSERT INTO remarks (note) VALUES (99)")
			return err
		})
		if err := release(); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("the unit that blocks: got %v, want unavailable", err)
		}
		for name, outcome := range map[string]chan error{"first": first, "duplicate": duplicate, "breaking": breaking} {
			if err := <-outcome; fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%s: got %v, want unavailable", name, err)
			}
		}
		notes.expect()
		must(t, notes.update(insert(2)))
		notes.expect(2)
	})
}

func TestAFullDiskCostsOnlyTheGuiltyUnit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notes := openNotes(t)
		must(t, notes.update(func(ctx context.Context, conn bun.IConn) error {
			var pages int
			must(t, conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages))
			_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages+2))
			return err
		}))
		release := notes.block()
		before := notes.start(insert(1))
		var runs int
		var afterwards error
		guilty := notes.start(func(ctx context.Context, conn bun.IConn) error {
			runs++
			must(t, insert(2)(ctx, conn))
			if _, err := conn.ExecContext(ctx, "INSERT INTO notes VALUES (3, ?)", strings.Repeat("x", 1<<20)); err == nil {
				t.Error("there is room")
			}
			afterwards = insert(4)(ctx, conn)
			return nil // as if nothing had happened
		})
		after := notes.start(insert(5))
		must(t, release())

		must(t, <-before)
		must(t, <-after)
		if err := <-guilty; fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("the guilty unit: got %v, want unavailable", err)
		}
		if fault.CodeOf(afterwards) != fault.Unavailable {
			t.Errorf("a statement after the failure: got %v, want unavailable", afterwards)
		}
		if runs != 2 {
			t.Errorf("the guilty unit ran %d times, want 2: with the others, and alone", runs)
		}
		notes.expect(0, 1, 5)
	})
}

func TestAcknowledgedMeansKept(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	var acknowledged sync.Map
	var callers sync.WaitGroup
	for n := range 400 {
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(20))*time.Millisecond)
			defer cancel()
			err := notes.Update(ctx, func(ctx context.Context, conn bun.IConn) error {
				return errors.Join(insert(2*n)(ctx, conn), insert(2*n+1)(ctx, conn))
			})
			switch {
			case err == nil:
				acknowledged.Store(2*n, true)
				acknowledged.Store(2*n+1, true)
			case !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("unit %d: got %v", n, err)
			}
		})
	}
	callers.Wait()
	var want []int
	acknowledged.Range(func(n, _ any) bool { want = append(want, n.(int)); return true })
	slices.Sort(want)
	notes.expect(want...)
}

func TestAUnitThatWaitsLeavesWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notes := openNotes(t)
		release := notes.block()
		ctx, cancel := context.WithCancel(t.Context())
		waiting := notes.startWith(ctx, insert(1))
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the context is canceled", err)
		}
		must(t, release())
		notes.expect(0)
	})
}

func TestAUnitWaitsForAtMostFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notes := openNotes(t)
		start := time.Now()
		release := notes.block()
		err := notes.update(insert(1))
		if fault.CodeOf(err) != fault.Unavailable || time.Since(start) != 5*time.Second {
			t.Errorf("got %v after %v, want unavailable after 5s", err, time.Since(start))
		}
		must(t, release())
	})
}

func TestAUnitTakesAtMostFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		notes := openNotes(t)
		var n int
		for name, next := range map[string]work{
			"exec": insert(2),
			"row": func(ctx context.Context, conn bun.IConn) error {
				return conn.QueryRowContext(ctx, "SELECT ?", 1).Scan(&n)
			},
		} {
			err := notes.update(func(ctx context.Context, conn bun.IConn) error {
				must(t, insert(1)(ctx, conn))
				time.Sleep(5*time.Second + 1)
				return next(ctx, conn)
			})
			if fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%s: got %v, want unavailable", name, err)
			}
			notes.expect()
		}
	})
}

func TestAUnitWhoseContextEndsStopsBetweenStatements(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := notes.Update(ctx, func(ctx context.Context, conn bun.IConn) error {
		must(t, insert(1)(ctx, conn))
		cancel()
		var n int
		for name, refusal := range map[string]error{
			"exec":  insert(2)(ctx, conn),
			"query": conn.QueryRowContext(ctx, "SELECT 1").Scan(&n),
		} {
			if !errors.Is(refusal, context.Canceled) {
				t.Errorf("%s: got %v, want that the context is canceled", name, refusal)
			}
		}
		return nil // as if nothing had happened
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context is canceled", err)
	}
	notes.expect()
}

func TestATransactionEndsWithItsUnit(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	var kept bun.IConn
	must(t, notes.update(func(_ context.Context, conn bun.IConn) error {
		kept = conn
		return nil
	}))
	if err := insert(1)(t.Context(), kept); err == nil {
		t.Error("it can still be written with")
	}
	notes.expect()
}

func TestAViewSeesOneSnapshot(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	must(t, notes.update(insert(1)))
	must(t, notes.View(t.Context(), func(_ context.Context, conn bun.IConn) error {
		must(t, notes.update(insert(2)))
		if seen := notes.readBy(conn); !slices.Equal(seen, []int{1}) {
			t.Errorf("saw %v, want [1]", seen)
		}
		if err := insert(3)(t.Context(), conn); classify(notes, err) != sqlstore.Unavailable {
			t.Errorf("a write: got %v, want that the database is read only", err)
		}
		return nil
	}))
	notes.expect(1, 2)
}

func TestTwoEnginesWriteToOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	first := openNotesAt(t, path)
	second := notebook{t, open(t, sqlite.Options{Path: path})}
	var callers sync.WaitGroup
	var want []int
	for n := range 100 {
		want = append(want, n)
		callers.Go(func() {
			if err := []notebook{first, second}[n%2].update(insert(n)); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	first.expect(want...)
	second.expect(want...)
}

func TestCloseWaitsForWhatHasBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "holdco.db")
		notes := openNotesAt(t, path)
		release := notes.block()
		waiting := notes.start(insert(1))
		var closed atomic.Bool
		go func() {
			must(t, notes.Close())
			closed.Store(true)
		}()
		if err := <-waiting; fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("a unit that waits: got %v, want unavailable", err)
		}
		synctest.Wait()
		if closed.Load() {
			t.Error("closed while a unit was at work")
		}
		must(t, release())
		synctest.Wait()
		if !closed.Load() {
			t.Error("not closed when no unit was at work any more")
		}
		if err := notes.update(insert(2)); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("a unit afterwards: got %v, want unavailable", err)
		}
		_, err := notes.DB().ExecContext(t.Context(), "SELECT 1")
		if classify(notes, err) != sqlstore.Unavailable {
			t.Errorf("a read afterwards: got %v, want that it is classified as unavailable", err)
		}
		notebook{t, open(t, sqlite.Options{Path: path})}.expect(0)
	})
}

// classify is the failure that an engine takes an error for.
func classify(engine sqlstore.Engine, err error) sqlstore.Failure {
	failure, _ := engine.Classify(err)
	return failure
}
