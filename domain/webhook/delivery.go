package webhook

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Delivery is one event sent to one endpoint, with the log of its attempts. It is made after the first attempt, or when
// a test is requested.
type Delivery struct {
	ID            id.Delivery
	Endpoint      id.Webhook
	Event         id.Entry
	Company       id.Company // whose data the event contains; empty: none
	Type          event.Type
	Status        Status
	Tries         int       // attempts since it was made, or redelivered last
	NextAttemptAt time.Time // zero unless pending
	Attempts      []Attempt // the newest MostAttempts, oldest first
	CreatedAt     time.Time
}

// Status is the state of a delivery.
type Status string

// The states of a delivery.
const (
	Pending   Status = "pending"
	Succeeded Status = "succeeded"
	Failed    Status = "failed" // given up
)

// Attempt is one request and its outcome.
type Attempt struct {
	At       time.Time
	Status   int           // of the response; 0: none
	Latency  time.Duration // whole milliseconds
	Response string        // the first MostResponse bytes of the body
	Error    string        // why there was no response; empty if there was one
}

// Bounds of the log of deliveries.
const (
	MostAttempts = 50
	MostParallel = 256  // messages to one endpoint that can be set to be in flight
	MostResponse = 1024 // bytes
	LogRetention = 30 * 24 * time.Hour
)

// Timeout bounds an attempt.
const Timeout = 15 * time.Second

// backoff is the pause after each failed attempt, give or take Jitter: about three days in all.
var backoff = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour,
	2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Jitter is the fraction by which a pause is made longer or shorter at random, so that deliveries that failed together
// are not retried together.
const Jitter = 0.2

// NewDelivery makes a pending delivery of an event to an endpoint.
func NewDelivery(newID id.Delivery, endpoint id.Webhook, happened event.Event, at time.Time) Delivery {
	return Delivery{
		ID:            newID,
		Endpoint:      endpoint,
		Event:         happened.ID,
		Company:       happened.Company,
		Type:          happened.Type,
		Status:        Pending,
		NextAttemptAt: at,
		CreatedAt:     at,
	}
}

// Succeeded reports whether the endpoint accepted the event.
func (a Attempt) Succeeded() bool { return a.Status >= 200 && a.Status <= 299 }

// gone is the status by which an endpoint unsubscribes.
const gone = 410

// After returns the delivery after an attempt that ended at the given instant. It is retried after a pause, unless it
// succeeded, the endpoint is gone, or the retries are used up. chance is random, in [0, 1).
func (d Delivery) After(attempt Attempt, chance float64, at time.Time) Delivery {
	d.Attempts = append(append([]Attempt{}, d.Attempts...), attempt)
	d.Attempts = d.Attempts[max(0, len(d.Attempts)-MostAttempts):]
	d.Tries++
	d.NextAttemptAt = time.Time{}
	switch {
	case attempt.Succeeded():
		d.Status = Succeeded
	case attempt.Status == gone || d.Tries > len(backoff):
		d.Status = Failed
	default:
		pause := float64(backoff[d.Tries-1]) * (1 - Jitter + 2*Jitter*chance)
		d.NextAttemptAt = instant.Cut(at.Add(time.Duration(pause)))
	}
	return d
}

// GiveUp ends a delivery whose event is gone.
func (d Delivery) GiveUp() Delivery {
	d.Status, d.NextAttemptAt = Failed, time.Time{}
	return d
}

// Redeliver makes the delivery pending again, in whatever state it is, and starts the backoff again.
func (d Delivery) Redeliver(at time.Time) Delivery {
	d.Status, d.Tries, d.NextAttemptAt = Pending, 0, at
	return d
}

// Fields returns the delivery as the API shows it.
func (d Delivery) Fields() event.Fields {
	attempts := make([]event.Fields, len(d.Attempts))
	for i, attempt := range d.Attempts {
		attempts[i] = attempt.Fields()
	}
	return event.Fields{
		event.F("id", string(d.ID)),
		event.F("webhookId", string(d.Endpoint)),
		event.F("eventId", string(d.Event)),
		event.F("type", string(d.Type)),
		event.F("status", string(d.Status)),
		event.F("attempts", attempts),
		event.F("nextAttemptAt", instant.Optional(d.NextAttemptAt)),
		event.F("createdAt", instant.Format(d.CreatedAt)),
	}
}

// SentDelivery is a delivery with the body of its message; nil: its event is gone.
type SentDelivery struct {
	Delivery

	Body []byte
}

// Fields returns the delivery and its body as the API shows them.
func (d SentDelivery) Fields() event.Fields {
	var body *string
	if d.Body != nil {
		text := string(d.Body)
		body = &text
	}
	return append(d.Delivery.Fields(), event.F("body", body))
}

// Fields returns the attempt as the API shows it. Either the status or the error is null.
func (a Attempt) Fields() event.Fields {
	var status *int
	var failure *string
	if a.Status != 0 {
		status = &a.Status
	} else {
		failure = &a.Error
	}
	return event.Fields{
		event.F("at", instant.Format(a.At)),
		event.F("status", status),
		event.F("latencyMs", a.Latency.Milliseconds()),
		event.F("response", a.Response),
		event.F("error", failure),
	}
}

// ParseStatus parses the status of a delivery, and reports whether it is valid.
func ParseStatus(text string) (Status, bool) {
	switch status := Status(text); status {
	case Pending, Succeeded, Failed:
		return status, true
	}
	return "", false
}
