package webhook

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Message is one request to an endpoint.
type Message struct {
	ID      id.Entry // of the event: the same on every attempt, so that receivers can deduplicate
	URL     string
	Body    []byte
	Secrets []Secret  // each signs it
	At      time.Time // of the attempt; signed, so that old requests cannot be replayed
}

// Body encodes an event: {"type", "timestamp", "sequence", "data"}. The sequence is its position in the outbox, or 0
// for an event that is not in it. The data are the resource as the API shows it, with companyId and actor, and, after
// an update, with previous: the changed fields with their old values.
func Body(happened event.Event, sequence int64) ([]byte, error) {
	data := append(event.Fields{}, happened.Data...)
	isCompany := func(f event.Field) bool { return f.Name == "companyId" }
	if company := companyOf(happened); company != "" && !slices.ContainsFunc(data, isCompany) {
		data = append(data, event.F("companyId", string(company)))
	}
	data = append(data, event.F("actor", string(happened.Actor)))
	if happened.Previous != nil {
		data = append(data, event.F("previous", happened.Previous))
	}
	return event.Fields{
		event.F("type", string(happened.Type)),
		event.F("timestamp", instant.Format(happened.At)),
		event.F("sequence", sequence),
		event.F("data", data),
	}.MarshalJSON()
}
