package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// A server that goes and comes back under load costs Unavailable in between and nothing else: no acknowledged write is
// lost, none that failed otherwise is there, and the program need not be restarted.
func TestServerRestartsUnderLoad(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*postgrestest.Cluster, testing.TB){
		"in an orderly way": (*postgrestest.Cluster).Stop,
		"by a crash":        (*postgrestest.Cluster).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := postgrestest.NewCluster(t)
			engine := open(t, cluster.Database(t))
			s := sqlstore.New(engine, storetest.NewClock(), storetest.NewIDs(), engine.Migrator())
			load := startLoad(t, s)
			load.until(t, func() bool { return load.done.Load() > 20 })
			for range 2 {
				stop(cluster, t)
				failures, reads := load.failures.Load(), load.failedReads.Load()
				load.until(t, func() bool { return load.failures.Load() > failures+3 && load.failedReads.Load() > reads+3 })
				cluster.Start(t)
				done := load.done.Load()
				load.until(t, func() bool { return load.done.Load() > done+20 })
			}
			load.compare(t, s)
		})
	}
}

// load is a crowd that writes and reads without a pause.
type load struct {
	stop                        context.CancelFunc
	all                         sync.WaitGroup
	done, failures, failedReads atomic.Int64

	mu           sync.Mutex
	acknowledged map[string]bool
	unknown      map[string]bool // Update returned Unavailable, so both outcomes will do
}

func startLoad(t *testing.T, s store.Store) *load {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := &load{stop: stop, acknowledged: map[string]bool{}, unknown: map[string]bool{}}
	for writer := range 4 {
		l.all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				l.write(t, s, fmt.Sprintf("%d-%d", writer, i))
				l.read(t, s)
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

func (l *load) write(t *testing.T, s store.Store, subject string) {
	err := s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Record(ctx, event.Event{
			Type:    event.TokenCreated,
			Actor:   "system:load",
			Subject: event.Subject{Type: "token", ID: subject},
			Data:    event.Fields{},
		})
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	switch fault.CodeOf(err) {
	case "":
		l.acknowledged[subject] = true
		l.done.Add(1)
	case fault.Unavailable:
		l.unknown[subject] = true
		l.failures.Add(1)
	default:
		t.Errorf("a write failed with %v", err)
	}
}

func (l *load) read(t *testing.T, s store.Store) {
	_, single := s.Companies().Get(t.Context(), "cmp_none")
	view := s.View(t.Context(), func(ctx context.Context, r store.Reader) error {
		_, err := r.Tokens().HasLiveAdmin(ctx, time.Time{})
		return err
	})
	if code := fault.CodeOf(single); code == fault.Unavailable {
		l.failedReads.Add(1)
	} else if code != fault.NotFound {
		t.Errorf("a read failed with %v", single)
	}
	if code := fault.CodeOf(view); code != "" && code != fault.Unavailable {
		t.Errorf("a view failed with %v", view)
	}
}

// until waits for something to happen to the load.
func (l *load) until(t *testing.T, happened func() bool) {
	t.Helper()
	const limit = 2 * time.Minute
	for began := time.Now(); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("still %d done, %d failed, %d reads failed", l.done.Load(), l.failures.Load(), l.failedReads.Load())
		}
	}
}

func (l *load) end() {
	l.stop()
	l.all.Wait()
}

// compare compares what is in the store with what was acknowledged.
func (l *load) compare(t *testing.T, s store.Store) {
	t.Helper()
	l.end()
	kept := map[string]bool{}
	for after, more := (page.Position{}), true; more; {
		got, err := s.Activity().List(t.Context(), store.ActivityFilter{Company: new(id.Company)}, after, page.MaxSize)
		if err != nil {
			t.Fatal(err)
		}
		for _, happened := range got.Items {
			kept[happened.Subject.ID] = true
		}
		after, more = got.Next, !got.Next.IsStart()
	}
	for subject := range l.acknowledged {
		if !kept[subject] {
			t.Errorf("%s was acknowledged and is lost", subject)
		}
	}
	for subject := range kept {
		if !l.acknowledged[subject] && !l.unknown[subject] {
			t.Errorf("%s was refused and is there", subject)
		}
	}
	t.Logf("%d acknowledged, %d unavailable, %d kept", len(l.acknowledged), len(l.unknown), len(kept))
}
