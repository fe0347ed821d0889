package webhook

import (
	"slices"
	"time"

	"holdco/domain/id"
)

// Queue is what waits for one endpoint: the events of the outbox from its cursor on, and the deliveries to be retried.
// One worker at a time has the lease of a queue. So no attempt is made twice at the same time, first attempts keep
// their order, and a slow endpoint delays only itself.
type Queue struct {
	Endpoint     id.Webhook
	Cursor       int64     // the lowest unfinished position in the outbox, 1 or more; 0: the queue is idle
	Finished     Spans     // finished positions after the cursor
	FailingSince time.Time // of the first of consecutive failed attempts; zero if the last one succeeded
	Lease        string    // the id of the lease; empty: not leased
	LeasedUntil  time.Time
}

// Spans are ranges of positions, ascending and disjoint.
type Spans []Span

// Span is a range of positions, both ends included.
type Span struct{ First, Last int64 }

// LeaseTerm is how long a lease lasts unless it is renewed: long enough for one attempt, short enough for another
// process to take over soon after a crash.
const LeaseTerm = Timeout + 8*time.Second

// Renewed returns the queue with a lease that lasts from now on. It ends at another instant than before, which shows that it was
// renewed.
func (q Queue) Renewed(now time.Time) Queue {
	before := q.LeasedUntil
	if q.LeasedUntil = now.Add(LeaseTerm); q.LeasedUntil.Equal(before) {
		q.LeasedUntil = before.Add(time.Millisecond)
	}
	return q
}

// FailureLimit is how long all attempts may fail before the endpoint is disabled.
const FailureLimit = 5 * 24 * time.Hour

// The reasons for which Holdco disables an endpoint.
const (
	Gone           = "The endpoint answered 410 Gone."
	Failing        = "Every attempt has failed for five days."
	CompanyDeleted = "The company of this webhook was deleted."
)

// Reached returns the queue after every position before end is finished, except the unfinished ones, which are
// ascending. Positions from end on do not change.
func (q Queue) Reached(end int64, unfinished []int64) Queue {
	before := q.Finished
	q.Cursor, q.Finished = end, nil
	for i, position := range unfinished {
		next := end
		if i+1 < len(unfinished) {
			next = unfinished[i+1]
		}
		if i == 0 {
			q.Cursor = position
		}
		if position+1 < next {
			q.Finished = append(q.Finished, Span{First: position + 1, Last: next - 1})
		}
	}
	for _, span := range before {
		if span.Last >= end {
			q.Finished = append(q.Finished, Span{First: max(span.First, end), Last: span.Last})
		}
	}
	return q
}

// Contains reports whether a position is in one of the ranges.
func (s Spans) Contains(position int64) bool {
	_, found := slices.BinarySearchFunc(s, position, func(span Span, position int64) int {
		switch {
		case span.Last < position:
			return -1
		case span.First > position:
			return 1
		}
		return 0
	})
	return found
}

// After returns the queue after an attempt, and the reason to disable the endpoint, or "".
func (q Queue) After(attempt Attempt) (next Queue, disable string) {
	switch {
	case attempt.Succeeded():
		q.FailingSince = time.Time{}
	case attempt.Status == gone:
		disable = Gone
	case q.FailingSince.IsZero():
		q.FailingSince = attempt.At
	case attempt.At.Sub(q.FailingSince) >= FailureLimit:
		disable = Failing
	}
	if disable != "" {
		q.FailingSince = time.Time{} // reset, for when it is enabled again
	}
	return q, disable
}
