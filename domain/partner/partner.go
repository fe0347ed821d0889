package partner

import (
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Partner is a company that may read exports, with its key. The value of the key is shown once and kept as a hash. A
// Partner is made by New or by a store, and changed by its moves alone.
type Partner struct {
	access.Credential // its key

	ID         id.Partner
	Name       string   // 1 to NameLength characters
	Origins    []string // 1 to MostOrigins, each as browsers send it; see checkOrigin
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never; up to a minute late
	Version    int64     // grows by one with every change but of LastUsedAt; the ETag of the API
}

// AllowsOrigin reports whether pages of this origin, as a browser sends it, may use the key.
func (p Partner) AllowsOrigin(origin string) bool { return slices.Contains(p.Origins, origin) }

// UsualGrace is how long a rotation keeps the old value alive unless told otherwise: a partner needs time to change
// over.
const UsualGrace = 24 * time.Hour

// Rotate gives the key a new value. The old one goes on for grace, 0 to access.MostGrace; a value older than that ends
// now. A key that is revoked or expired cannot be rotated: fault.InvalidTransition.
func (p Partner) Rotate(key access.Value, grace time.Duration, at time.Time) (Partner, event.Event, error) {
	rotated, err := p.Credential.Rotate(key, grace, at, stuck)
	if err != nil {
		return p, event.Event{}, err
	}
	p.Credential = rotated
	p.Version++
	return p, p.event(event.PartnerRotated), nil
}

// Revoke ends the key for good. One that is revoked stays as it is, without an event.
func (p Partner) Revoke(at time.Time) (Partner, *event.Event) {
	revoked, changed := p.Credential.Revoke(at)
	if !changed {
		return p, nil
	}
	p.Credential = revoked
	p.Version++
	happened := p.event(event.PartnerRevoked)
	return p, &happened
}

// CurrentVersion is the version, for what works with aggregates of any kind.
func (p Partner) CurrentVersion() int64 { return p.Version }

// Fields shows the partner as the API does, without the value of its key.
func (p Partner) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(p.ID)),
		event.F("name", p.Name),
		event.F("origins", p.Origins),
		event.F("hint", p.Hint),
		event.F("createdAt", instant.Format(p.CreatedAt)),
		event.F("expiresAt", instant.Optional(p.ExpiresAt)),
		event.F("lastUsedAt", instant.Optional(p.LastUsedAt)),
		event.F("revokedAt", instant.Optional(p.RevokedAt)),
	}
}

// stuck refuses an action that the state of a key does not allow.
func stuck(from, action string) error {
	return fault.New(fault.InvalidTransition, "A partner whose key is %s cannot take the action %s.", from, action).
		With("from", from).With("action", action)
}

func (p Partner) event(what event.Type) event.Event {
	return event.Event{Type: what, Subject: event.Subject{Type: "partner", ID: string(p.ID)}, Data: p.Fields()}
}
