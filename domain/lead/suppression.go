package lead

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// Suppression keeps imports from bringing back a lead that was forgotten. Nothing of the lead is in it but digests, which tell whether a
// line is of that lead only to who has the key.
type Suppression struct {
	ID        id.Suppression
	Digests   []SuppressionDigest // of the id, and of what else the lead is known by
	CreatedAt time.Time
}

// SuppressionDigest is a keyed hash of something by which a lead is known.
type SuppressionDigest string

// SuppressionKey is the key of these hashes: random, because a name or a number that was hashed without one can be guessed.
type SuppressionKey string

func (k SuppressionKey) digest(of ...string) SuppressionDigest {
	mac := hmac.New(sha256.New, []byte(k))
	for _, part := range of {
		_, _ = mac.Write([]byte(part)) // never fails
		_, _ = mac.Write([]byte{0})    // is in no part
	}
	const length = 16 // bytes
	return SuppressionDigest(base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:length]))
}

// known are the values by which a lead is known.
type known struct{ name, domain, email, phone string }

func knownOf(name, domain, email, phone string) known {
	return known{text.Key(name), domain, emailKey(email), phone}
}

// known returns the values by which a lead is known.
func (s sentKeys) known() known { return knownOf(s.name, s.website.domain, s.email, s.phone) }

// each calls a function with each of the values that is known.
func (k known) each(yield func(field, value string)) {
	for _, one := range [][2]string{{"website", k.domain}, {"email", k.email}, {"phone", k.phone}} {
		if one[1] != "" {
			yield(one[0], one[1])
		}
	}
}

// Forget makes the suppression of a stored lead: of its id, and of its website, e-mail and phone, each with its name.
func (k SuppressionKey) Forget(newID id.Suppression, l Lead, at time.Time) Suppression {
	of := l.keys()
	digests := k.digests(l.ID, of.known())
	for _, now := range of.respelled(l.ID) {
		digests = append(digests, k.digest("id", string(now)))
	}
	return Suppression{newID, digests, at}
}

// digests are those of an id, which may be empty, and of each value with the name, or alone when there is no name.
func (k SuppressionKey) digests(which id.Lead, of known) (all []SuppressionDigest) {
	if which != "" {
		all = append(all, k.digest("id", string(which)))
	}
	of.each(func(field, value string) {
		all = append(all, k.digest(field, value, "name", of.name))
	})
	return all
}

// Suppress makes the suppression of a draft, which needs no name: then its website, its e-mail or its phone alone is enough to suppress a
// lead, and a website with a path only what has the same path. A name alone is not enough, because many can have it. It fails with
// fault.ValidationFailed.
func (k SuppressionKey) Suppress(newID id.Suppression, d Draft, rules Rules, at time.Time) (Suppression, error) {
	c, sent := checks{problems: d.Problems, converted: d.Converted}, sentKeys{}
	name := c.line("name", d.Name, NameLength)
	of := knownOf(name, c.website("website", d.Website, &sent), c.email("email", d.Email, &sent),
		c.phone("phone", d.Phone, rules.Region, &sent))
	page := ""
	if name == "" {
		page = sent.website.page()
	}
	if page != "" {
		of.domain = "" // others have pages there
	}
	made := Suppression{newID, k.digests(foreign[id.Lead](&c, "id", d.ID), of), at}
	if page != "" {
		made.Digests = append(made.Digests, k.digest("page", page))
	}
	switch {
	case len(c.problems) > 0 || len(made.Digests) > 0:
	case name != "":
		c.problems.Add(fault.Fieldf("name", fault.Required,
			"the line has a name alone, which others can have too: add an id, or a website, an email or a phone"))
	default:
		c.problems.Add(fault.Fieldf("", fault.Required, "the line has neither an id nor a website, an email or a phone"))
	}
	if len(c.problems) > 0 {
		return Suppression{}, fault.Validation(c.problems)
	}
	return made, nil
}

// Fields returns the suppression as the command line shows it.
func (s Suppression) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(s.ID)), event.F("digests", len(s.Digests)), event.F("createdAt", instant.Format(s.CreatedAt)),
	}
}

// Suppressions tell which leads an import must not bring back. The zero value tells none.
type Suppressions struct {
	key     SuppressionKey
	digests map[SuppressionDigest][]id.Suppression // several leads can have one website, and one lead can be forgotten twice
}

// NewSuppressions returns suppressions whose digests have a key.
func NewSuppressions(key SuppressionKey, all []Suppression) Suppressions {
	s := Suppressions{key, make(map[SuppressionDigest][]id.Suppression, len(all))}
	s.Add(all)
	return s
}

// Add adds suppressions, whose digests have the same key.
func (s *Suppressions) Add(some []Suppression) {
	if s.digests == nil {
		s.digests = make(map[SuppressionDigest][]id.Suppression, len(some))
	}
	for _, one := range some {
		for _, digest := range one.Digests {
			s.digests[digest] = append(s.digests[digest], one.ID)
		}
	}
}

// Lack returns those of some suppressions that hold against anything against which neither s nor one of them alone holds: nothing is
// gained by others, such as that of a lead which was forgotten and is gone, and is forgotten again by its id.
func (s Suppressions) Lack(some []Suppression) (lacking []Suppression) {
	var added Suppressions
	for _, one := range some {
		if slices.ContainsFunc(one.Digests, func(d SuppressionDigest) bool { return len(s.digests[d])+len(added.digests[d]) == 0 }) {
			lacking = append(lacking, one)
			added.Add([]Suppression{one})
		}
	}
	return lacking
}

// Has reports whether a lead is suppressed, by how its values are compared now or by how former versions did: digests that these have
// made stay as they are.
func (s Suppressions) Has(i Incoming) bool {
	if len(s.digests) == 0 {
		return false
	}
	isThis := func(which id.Lead) bool { return s.has("id", string(which)) }
	if isThis(i.ID) || slices.ContainsFunc(i.formers, isThis) {
		return true
	}
	of := i.keys().known()
	if i.page != "" && s.has("page", i.page) {
		return true
	}
	before := i.formerlyKnown(of)
	return s.hasAny(of) || before != of && s.hasAny(before)
}

func (s Suppressions) has(of ...string) bool { return len(s.digests[s.key.digest(of...)]) > 0 }

func (s Suppressions) hasAny(of known) (found bool) {
	of.each(func(field, value string) {
		found = found || s.has(field, value, "name", of.name) || s.has(field, value, "name", "")
	})
	// Former versions suppressed a name alone too, of lines with an id or without one.
	return found || of.domain+of.email+of.phone == "" && s.has("name", of.name)
}

// formerlyKnown returns the values by which former versions would have known the lead.
func (i *Incoming) formerlyKnown(now known) known {
	name, email := i.Name, i.Email
	if i.raw != nil {
		name = i.raw.name
		if i.raw.email != "" {
			email = i.raw.email
		}
	}
	return known{text.Fold(name), now.domain, strings.ToLower(email), now.phone}
}

// Of returns the suppressions that have the id of a lead.
func (s Suppressions) Of(which id.Lead) []id.Suppression {
	return s.digests[s.key.digest("id", string(which))]
}
