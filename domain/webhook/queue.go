package webhook

import (
	"slices"
	"time"

	"holdco/domain/id"
)

// Queue is what waits for one endpoint: the events of the outbox from its cursor on, and the deliveries that are to be
// attempted again. One worker at a time has it, under the lease of a claim: so nothing is attempted by two at once,
// first attempts keep their order, and a slow endpoint delays itself alone.
type Queue struct {
	Endpoint     id.Webhook
	Cursor       int64     // the least position in the outbox, from 1 on, that is not finished; 0: nothing that is wanted is left
	Finished     Spans     // positions beyond the cursor that are finished
	FailingSince time.Time // when the first of the failed attempts in a row was made; zero when the last one succeeded
	Lease        string    // of the claim that has it; empty: nobody has it
	LeasedUntil  time.Time
}

// Spans are ranges of positions in ascending order that do not overlap.
type Spans []Span

// Span is a range of positions, with its first and its last one.
type Span struct{ First, Last int64 }

// LeaseTerm is how long a claim lasts unless its lease is renewed: long enough for one attempt, short enough for another
// process to continue in time when this one dies.
const LeaseTerm = Timeout + 8*time.Second

// FailureLimit is how long all attempts at an endpoint may fail until it is disabled.
const FailureLimit = 5 * 24 * time.Hour

// Why Holdco disables an endpoint.
const (
	Gone           = "The endpoint answered 410 Gone."
	Failing        = "Every attempt has failed for five days."
	CompanyDeleted = "The company of this webhook was deleted."
)

// Reached returns the queue when every position before end is finished but for some, which are in ascending order. From
// end on nothing changes.
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

// After returns the queue after an attempt at its endpoint, and why the endpoint is to be disabled: empty if it is not.
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
		q.FailingSince = time.Time{} // once it is enabled again, it starts afresh
	}
	return q, disable
}
