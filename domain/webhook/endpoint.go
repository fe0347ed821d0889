package webhook

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// MostEndpoints bounds the endpoints of an instance.
const MostEndpoints = 1000

// Endpoint is where events are sent. New and stores make it, and only its methods change it.
type Endpoint struct {
	ID             id.Webhook
	URL            string     // http or https; see CheckURL
	Events         []Pattern  // at least one
	Company        id.Company // only events of this company; empty: of all
	Enabled        bool
	Description    string // at most DescriptionLength characters
	DisabledReason string // why Holdco disabled it; empty unless it did
	Secret         Sealed
	OldSecret      Sealed    // the secret before the last rotation; empty: none
	OldSecretUntil time.Time // until then the old secret signs too
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Version        int64 // grows by one with every change; the ETag of the API
}

// Wants reports whether an event is sent to the endpoint. Events before its creation are not, nor events about itself.
func (e Endpoint) Wants(happened event.Event) bool {
	return e.Enabled && !happened.At.Before(e.CreatedAt) && happened.Subject != e.subject() &&
		(e.Company == "" || e.Company == companyOf(happened)) && matchAny(e.Events, happened.Type)
}

// Secrets returns the secrets that sign messages at the given instant, newest first.
func (e Endpoint) Secrets(at time.Time) []Sealed {
	if e.OldSecret != "" && at.Before(e.OldSecretUntil) {
		return []Sealed{e.Secret, e.OldSecret}
	}
	return []Sealed{e.Secret}
}

// Overlap is how long the old secret signs beside the new one after a rotation.
const Overlap = 24 * time.Hour

// RotateSecret gives the endpoint a new secret. The second of two rotations within Overlap ends the first secret.
func (e Endpoint) RotateSecret(secret Sealed, at time.Time) (Endpoint, event.Event) {
	e.OldSecret, e.OldSecretUntil = e.Secret, at.Add(Overlap)
	e.Secret = secret
	e.changed(at)
	return e, e.event(event.WebhookSecretRotated)
}

// Disable stops all sending and says why.
func (e Endpoint) Disable(reason string, at time.Time) (Endpoint, event.Event) {
	previous := e.Fields()
	e.Enabled, e.DisabledReason = false, reason
	e.changed(at)
	disabled := e.event(event.WebhookDisabled)
	disabled.Previous = previous.Changed(e.Fields())
	return e, disabled
}

// Deleted is the event of the removal of the endpoint.
func (e Endpoint) Deleted() event.Event { return e.event(event.WebhookDeleted) }

// Resumed is the event that what the endpoint has to send is held no longer.
func (e Endpoint) Resumed() event.Event { return e.event(event.WebhookResumed) }

// Test is the event that tests the endpoint. It is sent whatever the patterns of the endpoint.
func (e Endpoint) Test() event.Event {
	test := e.event(event.WebhookTest)
	test.Data = event.Fields{
		event.F("webhookId", string(e.ID)),
		event.F("message", "This is a test. The endpoint works when it answers with a status from 200 to 299."),
	}
	return test
}

// Redelivered is the event that somebody asked for a delivery again.
func (e Endpoint) Redelivered(d Delivery) event.Event {
	again := e.event(event.WebhookRedelivered)
	again.Data = event.Fields{
		event.F("webhookId", string(e.ID)),
		event.F("deliveryId", string(d.ID)),
		event.F("eventId", string(d.Event)),
		event.F("eventType", string(d.Type)),
	}
	return again
}

// Takes fails with fault.InvalidTransition while the endpoint is disabled, and so cannot take an action that sends
// something.
func (e Endpoint) Takes(action string) error {
	if e.Enabled {
		return nil
	}
	return fault.Transition("disabled", action, "The webhook is disabled; enable it first.")
}

// CurrentVersion returns Version, for generic code.
func (e Endpoint) CurrentVersion() int64 { return e.Version }

// Fields returns the endpoint as the API shows it, without its secrets.
func (e Endpoint) Fields() event.Fields {
	var company, reason *string
	if e.Company != "" {
		text := string(e.Company)
		company = &text
	}
	if e.DisabledReason != "" {
		reason = &e.DisabledReason
	}
	return event.Fields{
		event.F("id", string(e.ID)),
		event.F("url", e.URL),
		event.F("events", Names(e.Events)),
		event.F("companyId", company),
		event.F("enabled", e.Enabled),
		event.F("description", e.Description),
		event.F("disabledReason", reason),
		event.F("createdAt", instant.Format(e.CreatedAt)),
		event.F("updatedAt", instant.Format(e.UpdatedAt)),
	}
}

func (e *Endpoint) changed(at time.Time) {
	e.UpdatedAt = at
	e.Version++
}

func (e Endpoint) event(what event.Type) event.Event {
	return event.Event{Type: what, Subject: e.subject(), Data: e.Fields()}
}

func (e Endpoint) subject() event.Subject { return event.Subject{Type: "webhook", ID: string(e.ID)} }
