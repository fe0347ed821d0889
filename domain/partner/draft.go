package partner

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/text"
)

// Bounds of what clients send.
const (
	NameLength  = 200
	MostOrigins = 20
	MostShown   = lead.MostListed // campaigns, and industries
)

// Draft is what was sent to make a partner; nil fields were absent. Problems are errors of its form.
type Draft struct {
	Settings
	Test     bool // see Partner.Test
	Problems fault.Problems
}

// Patch is what was sent to change a partner; nil fields stay as they are. Problems are as in Draft.
type Patch struct {
	Settings
	NeverExpires bool // removes the expiry of the key; ExpiresAt is nil then
	Problems     fault.Problems
}

// Settings are the fields that both a Draft and a Patch may carry.
type Settings struct {
	Name      *string
	Origins   *[]string
	ExpiresAt *time.Time

	// What the key is narrowed to: see lead.View. An empty list is no condition.
	Campaigns  *[]string
	Industries *[]string
	Contacts   *bool
}

// NewKey encodes 256 random bits as the value of the key that the partner gets.
func (d Draft) NewKey(random [32]byte) access.Value { return Partner{Test: d.Test}.NewKey(random) }

// New makes a partner whose key has the given value. It fails with fault.ValidationFailed, which lists every invalid
// field.
func New(newID id.Partner, draft Draft, key access.Value, at time.Time) (Partner, event.Event, error) {
	p := Partner{ID: newID, Test: draft.Test, Credential: access.NewCredential(key), CreatedAt: at, Version: 1}
	problems := slices.Clone(draft.Problems)
	if draft.Name == nil {
		problems.Add(fault.Fieldf("name", fault.Required, "name is required"))
	}
	if draft.Origins == nil {
		problems.Add(fault.Fieldf("origins", fault.Required, "origins is required"))
	}
	p = p.with(draft.Settings, &problems, at)
	if len(problems) > 0 {
		return Partner{}, event.Event{}, fault.Validation(problems)
	}
	return p, p.event(event.PartnerCreated), nil
}

// readOnly are the fields of the resource that no patch can change.
var readOnly = []string{"id", "test", "hint", "key", "createdAt", "lastUsedAt", "requests", "leadsRead", "revokedAt"}

// Apply merges a patch. It returns the next partner and the event to record, or no event when nothing changed. A later
// expiry makes an expired key valid again; a revoked one cannot be changed: fault.InvalidTransition. Other faults are
// fault.ImmutableField and fault.ValidationFailed.
func (p Partner) Apply(patch Patch, at time.Time) (Partner, *event.Event, error) {
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return p, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next := p.with(patch.Settings, &problems, at)
	if len(problems) > 0 {
		return p, nil, fault.Validation(problems)
	}
	if patch.NeverExpires {
		next.ExpiresAt = time.Time{}
	}
	next, updated := event.Update(p, next, func(next *Partner) event.Event {
		next.Version++
		return next.event(event.PartnerUpdated)
	})
	if updated != nil && !p.RevokedAt.IsZero() {
		return p, nil, fault.Transition(access.Revoked, "update", "A partner whose key is revoked cannot be changed.")
	}
	return next, updated, nil
}

// with returns p with the settings that were sent, and adds what is wrong with them to problems.
func (p Partner) with(sent Settings, problems *fault.Problems, at time.Time) Partner {
	text.SetName(&p.Name, "name", sent.Name, NameLength, problems)
	if sent.Origins != nil {
		var wrong []fault.Field
		p.Origins, wrong = checkOrigins(*sent.Origins)
		problems.Add(wrong...)
	}
	if sent.ExpiresAt != nil {
		var wrong []fault.Field
		p.ExpiresAt, wrong = access.Expiry(*sent.ExpiresAt, at)
		problems.Add(wrong...)
	}
	if sent.Campaigns != nil {
		p.View.Campaigns = checkIDs[id.Campaign]("campaignIds", *sent.Campaigns, problems)
	}
	if sent.Industries != nil {
		p.View.Industries = checkIDs[id.Industry]("industryIds", *sent.Industries, problems)
	}
	if sent.Contacts != nil {
		p.View.NoContacts = !*sent.Contacts
	}
	return p
}

// checkIDs returns ids without duplicates, sorted. Nothing says that they exist: what does not is seen by nobody.
func checkIDs[I id.ID](path string, sent []string, problems *fault.Problems) (ids []I) {
	if len(sent) > MostShown {
		problems.Add(fault.Fieldf(path, fault.TooMany, "%s has %d items; at most %d are allowed", path, len(sent), MostShown))
		return nil
	}
	for i, text := range sent {
		at := fmt.Sprintf("%s.%d", path, i)
		which, ok := id.ParseForeign[I](text)
		if !ok {
			problems.Add(fault.Fieldf(at, fault.InvalidFormat, "%s must be an id that begins with %s", at, id.Prefix[I]()))
		}
		ids = append(ids, which)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// checkOrigins returns the origins without duplicates, in the order in which they were sent.
func checkOrigins(sent []string) (origins []string, wrong []fault.Field) {
	switch {
	case len(sent) == 0:
		return nil, []fault.Field{fault.Fieldf("origins", fault.Required, "origins must name at least one origin")}
	case len(sent) > MostOrigins:
		return nil, []fault.Field{fault.Fieldf("origins", fault.TooMany,
			"origins has %d items; at most %d are allowed", len(sent), MostOrigins)}
	}
	for i, origin := range sent {
		wrong = append(wrong, checkOrigin(fmt.Sprintf("origins.%d", i), origin)...)
		if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	return origins, wrong
}
