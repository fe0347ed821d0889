package webhook

import (
	"time"

	"holdco/domain/id"
)

// Queue is what waits for one endpoint: the events of the outbox from its cursor on, and the deliveries that are to be
// attempted again. One sender at a time works on it, under the lease of a claim: so nothing is attempted by two at
// once, first attempts keep their order, and a slow endpoint holds up itself alone.
type Queue struct {
	Endpoint     id.Webhook
	Cursor       int64     // the position in the outbox, from 1 on, of the event to be looked at next; 0: nothing that is wanted is left
	FailingSince time.Time // when the first of the failed attempts in a row was made; zero when the last one succeeded
	Lease        string    // of the claim that has it; empty: nobody has it
	LeasedUntil  time.Time
}

// LeaseTerm is how long a claim lasts unless its lease is renewed: long enough for one attempt, short enough for another
// process to go on in time when this one dies.
const LeaseTerm = Patience + 8*time.Second

// Stamina is how long all attempts at an endpoint may fail until it is disabled.
const Stamina = 5 * 24 * time.Hour

// Why Holdco disables an endpoint.
const (
	Gone    = "The endpoint answered 410 Gone."
	Failing = "Every attempt has failed for five days."
)

// After returns the queue after an attempt at its endpoint, and why the endpoint is to be disabled: empty if it is not.
func (q Queue) After(attempt Attempt) (next Queue, disable string) {
	switch {
	case attempt.Succeeded():
		q.FailingSince = time.Time{}
	case attempt.Status == gone:
		disable = Gone
	case q.FailingSince.IsZero():
		q.FailingSince = attempt.At
	case attempt.At.Sub(q.FailingSince) >= Stamina:
		disable = Failing
	}
	if disable != "" {
		q.FailingSince = time.Time{} // once it is enabled again, it starts afresh
	}
	return q, disable
}
