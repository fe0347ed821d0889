package partner

import (
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Partner is a company that may read exports, with its key. The value of the key is shown once and stored as a hash.
// New and stores make a Partner, and only its methods change it.
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

// UsualGrace is the default grace of a rotation: a partner needs time to replace its key.
const UsualGrace = 24 * time.Hour

// Rotate gives the key a new value: see access.Credential.Rotate. The old one stays valid for UsualGrace, unless the
// rotation says otherwise.
func (p Partner) Rotate(key access.Value, sent access.Rotation, at time.Time) (Partner, event.Event, error) {
	rotated, err := p.Credential.Rotate(access.Kind{Noun: "partner's key", UsualGrace: UsualGrace}, key, sent, at)
	if err != nil {
		return p, event.Event{}, err
	}
	p.Credential = rotated
	p.Version++
	return p, p.event(event.PartnerRotated), nil
}

// Revoke ends the key for good. If it is revoked already, the partner is returned unchanged, without an event.
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

// CurrentVersion returns Version, for generic code.
func (p Partner) CurrentVersion() int64 { return p.Version }

// Fields returns the partner as the API shows it, without the value of its key.
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

// Own returns the partner as the export shows it to itself: with the requests that it may make in a minute, 0 for any number, and when the
// key that it uses ends.
func (p Partner) Own(requests int64, endsAt time.Time) event.Fields {
	var limit *int64
	if requests > 0 {
		limit = &requests
	}
	return event.Fields{
		event.F("id", string(p.ID)),
		event.F("name", p.Name),
		event.F("origins", p.Origins),
		event.F("requests_per_minute", limit),
		event.F("expires_at", instant.Optional(endsAt)),
	}
}

func (p Partner) event(what event.Type) event.Event {
	return event.Event{Type: what, Subject: event.Subject{Type: "partner", ID: string(p.ID)}, Data: p.Fields()}
}
