package partner

import (
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/lead"
)

// Partner is a company that may read exports, with its key. The value of the key is shown once and stored as a hash.
// New and stores make a Partner, and only its methods change it.
type Partner struct {
	access.Credential // its key

	Usage

	ID        id.Partner
	Name      string    // 1 to NameLength characters
	Origins   []string  // 1 to MostOrigins, each as browsers send it; see checkOrigin
	View      lead.View // what the key may see
	Test      bool      // the key reads a sample that is made up, never leads of the store; never changes
	CreatedAt time.Time
	Version   int64 // grows by one with every change but of Usage; the ETag of the API
}

// Usage is how much a key was used. What is stored of it is about ten seconds late.
type Usage struct {
	LastUsedAt time.Time // zero: never
	Requests   int64     // that were let through
	LeadsRead  int64     // in pages, streams and alone, each time that one was sent
}

// Plus returns the usage with more of it.
func (u Usage) Plus(more Usage) Usage {
	if more.LastUsedAt.After(u.LastUsedAt) {
		u.LastUsedAt = more.LastUsedAt
	}
	u.Requests += more.Requests
	u.LeadsRead += more.LeadsRead
	return u
}

// AllowsOrigin reports whether pages of this origin, as a browser sends it, may use the key.
func (p Partner) AllowsOrigin(origin string) bool { return slices.Contains(p.Origins, origin) }

// UsualGrace is the default grace of a rotation: a partner needs time to replace its key.
const UsualGrace = 24 * time.Hour

// Sees spells what the key may see: empty, if that is all. What two keys read whose texts are the same is the same.
func (p Partner) Sees() string {
	if p.Test {
		return "sample " + p.View.Text()
	}
	return p.View.Text()
}

// NewKey encodes 256 random bits as a value of the partner's key.
func (p Partner) NewKey(random [32]byte) access.Value {
	if p.Test {
		return access.NewTestKey(random)
	}
	return access.NewPartnerKey(random)
}

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
		event.F("campaignIds", list(p.View.Campaigns)),
		event.F("industryIds", list(p.View.Industries)),
		event.F("contacts", !p.View.NoContacts),
		event.F("test", p.Test),
		event.F("hint", p.Hint),
		event.F("createdAt", instant.Format(p.CreatedAt)),
		event.F("expiresAt", instant.Optional(p.ExpiresAt)),
		event.F("lastUsedAt", instant.Optional(p.LastUsedAt)),
		event.F("requests", p.Requests),
		event.F("leadsRead", p.LeadsRead),
		event.F("revokedAt", instant.Optional(p.RevokedAt)),
	}
}

// Own returns the partner as the export shows it to itself: with what its key may see, the requests that it may make in a minute, 0 for
// any number, and when the key that it uses ends.
func (p Partner) Own(requests int64, endsAt time.Time) event.Fields {
	var limit *int64
	if requests > 0 {
		limit = &requests
	}
	return event.Fields{
		event.F("id", string(p.ID)),
		event.F("name", p.Name),
		event.F("origins", p.Origins),
		event.F("campaign_ids", list(p.View.Campaigns)),
		event.F("industry_ids", list(p.View.Industries)),
		event.F("contacts", !p.View.NoContacts),
		event.F("test", p.Test),
		event.F("requests_per_minute", limit),
		event.F("expires_at", instant.Optional(endsAt)),
	}
}

// list returns ids as texts: an empty list for none.
func list[I ~string](ids []I) []string {
	texts := make([]string, len(ids))
	for i, which := range ids {
		texts[i] = string(which)
	}
	return texts
}

func (p Partner) event(what event.Type) event.Event {
	return event.Event{Type: what, Subject: event.Subject{Type: "partner", ID: string(p.ID)}, Data: p.Fields()}
}
