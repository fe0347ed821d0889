package webhook_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/webhook"
)

// Otherwise a renewal whose outcome is unknown would look as if it had not been made, and be made again.
func TestALeaseThatIsRenewedEndsAtAnotherInstant(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	ends := now.Add(webhook.LeaseTerm)
	for _, c := range []struct{ before, want time.Time }{
		{time.Time{}, ends},
		{now.Add(time.Second), ends},
		{ends.Add(-time.Millisecond), ends},
		{ends, ends.Add(time.Millisecond)},
		{ends.Add(time.Millisecond), ends},
		{ends.In(time.FixedZone("", 3600)), ends.Add(time.Millisecond)},
	} {
		queue := webhook.Queue{Cursor: 3, Lease: "a", LeasedUntil: c.before}
		want := queue
		want.LeasedUntil = c.want
		if diff := cmp.Diff(want, queue.Renewed(now)); diff != "" {
			t.Errorf("a lease until %v: %s", c.before, diff)
		}
	}
	once := webhook.Queue{}.Renewed(now)
	if twice := once.Renewed(now); twice.LeasedUntil.Equal(once.LeasedUntil) {
		t.Errorf("both renewals of one millisecond end at %v", once.LeasedUntil)
	}
}

func TestAQueueReachesTheFirstPositionThatIsNotFinished(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before     webhook.Spans
		end        int64
		unfinished []int64
		cursor     int64
		finished   webhook.Spans
	}{
		{nil, 7, nil, 7, nil},
		{nil, 7, []int64{6}, 6, nil},
		{nil, 7, []int64{3}, 3, webhook.Spans{{4, 6}}},
		{nil, 10, []int64{3, 4, 7, 9}, 3, webhook.Spans{{5, 6}, {8, 8}}},
		{webhook.Spans{{2, 3}, {6, 9}, {12, 12}}, 8, []int64{5}, 5, webhook.Spans{{6, 7}, {8, 9}, {12, 12}}},
	} {
		got := webhook.Queue{Cursor: 1, Finished: test.before}.Reached(test.end, test.unfinished)
		if diff := cmp.Diff(webhook.Queue{Cursor: test.cursor, Finished: test.finished}, got); diff != "" {
			t.Errorf("%d, %v: %s", test.end, test.unfinished, diff)
		}
	}
}

func TestWhatIsFinishedIsWhatIsNotUnfinished(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		end := 1 + random.Int64N(40)
		var unfinished []int64
		for position := int64(1); position < end; position++ {
			if random.IntN(3) == 0 {
				unfinished = append(unfinished, position)
			}
		}
		queue := webhook.Queue{Cursor: 1}.Reached(end, unfinished)
		for position := int64(1); position < end+5; position++ {
			finished := position < queue.Cursor || queue.Finished.Contains(position)
			if want := position < end && !slices.Contains(unfinished, position); finished != want {
				t.Fatalf("%d of %d with %v unfinished: %v", position, end, unfinished, finished)
			}
		}
	}
}
