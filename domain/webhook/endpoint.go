package webhook

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// MostEndpoints is how many endpoints an instance can have.
const MostEndpoints = 1000

// Endpoint is where events are sent. It is made by New or by a store, and changed by its moves alone.
type Endpoint struct {
	ID             id.Webhook
	URL            string     // http or https; see checkURL
	Events         []Pattern  // at least one
	Company        id.Company // only events of this company; empty: of all
	Enabled        bool
	Description    string // at most DescriptionLength characters
	DisabledReason string // why Holdco disabled it; empty unless it did
	Secret         Sealed
	OldSecret      Sealed    // the one before the last rotation; empty: there is none
	OldSecretUntil time.Time // it signs too, before this instant
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Version        int64 // grows by one with every change; the ETag of the API
}

// Wants reports whether an event is sent to the endpoint. What happened before there was such an endpoint is not, nor what
// happens to the endpoint itself.
func (e Endpoint) Wants(happened event.Event) bool {
	return e.Enabled && !happened.At.Before(e.CreatedAt) && happened.Subject != e.subject() &&
		(e.Company == "" || e.Company == companyOf(happened)) && matchAny(e.Events, happened.Type)
}

// Secrets are the secrets that sign what is sent at the given instant, the newest first.
func (e Endpoint) Secrets(at time.Time) []Sealed {
	if e.OldSecret != "" && at.Before(e.OldSecretUntil) {
		return []Sealed{e.Secret, e.OldSecret}
	}
	return []Sealed{e.Secret}
}

// Overlap is how long the secret before a rotation goes on signing beside the new one.
const Overlap = 24 * time.Hour

// RotateSecret gives the endpoint a new secret. Of two rotations within Overlap the first secret ends at the second.
func (e Endpoint) RotateSecret(secret Sealed, at time.Time) (Endpoint, event.Event) {
	e.OldSecret, e.OldSecretUntil = e.Secret, at.Add(Overlap)
	e.Secret = secret
	e.changed(at)
	return e, e.event(event.WebhookSecretRotated)
}

// Disable stops all sending because of what the endpoint answers.
func (e Endpoint) Disable(reason string, at time.Time) (Endpoint, event.Event) {
	previous := e.Fields()
	e.Enabled, e.DisabledReason = false, reason
	e.changed(at)
	disabled := e.event(event.WebhookDisabled)
	disabled.Previous = previous.Changed(e.Fields())
	return e, disabled
}

// Deleted is the event that goes with the removal of the endpoint.
func (e Endpoint) Deleted() event.Event { return e.event(event.WebhookDeleted) }

// Test is the event that is sent to the endpoint for a try, whatever it wants.
func (e Endpoint) Test() event.Event {
	test := e.event(event.WebhookTest)
	test.Data = event.Fields{
		event.F("webhookId", string(e.ID)),
		event.F("message", "This is a test. The endpoint works when it answers with a status from 200 to 299."),
	}
	return test
}

// Takes refuses an action that sends something while the endpoint is disabled: fault.InvalidTransition.
func (e Endpoint) Takes(action string) error {
	if e.Enabled {
		return nil
	}
	return fault.New(fault.InvalidTransition, "The webhook is disabled; enable it first.").
		With("from", "disabled").With("action", action)
}

// CurrentVersion is the version, for what works with aggregates of any kind.
func (e Endpoint) CurrentVersion() int64 { return e.Version }

// Fields shows the endpoint as the API does, without its secrets.
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
