package lead

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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
	return known{text.Fold(name), domain, strings.ToLower(email), phone}
}

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
	domain, phone := l.Website, l.Phone
	if parsed, ok := parseWebsite(domain); ok { // one that was stored before websites were kept as domains
		domain = parsed.domain
	}
	if parsed, ok := parsePhone(phone, ""); ok {
		phone = parsed
	}
	return Suppression{newID, k.digests(l.ID, knownOf(l.Name, domain, l.Email, phone)), at}
}

// digests are those of an id, which may be empty, and of each value with the name, or alone when there is no name.
func (k SuppressionKey) digests(which id.Lead, of known) (all []SuppressionDigest) {
	if which != "" {
		all = append(all, k.digest("id", string(which)))
	}
	count := len(all)
	of.each(func(field, value string) {
		all = append(all, k.digest(field, value, "name", of.name))
	})
	if of.name != "" && which == "" && len(all) == count { // the id is derived from it
		all = append(all, k.digest("name", of.name))
	}
	return all
}

// Suppress makes the suppression of a draft, which needs no name: then its website, its e-mail or its phone alone is enough to suppress a
// lead. It fails with fault.ValidationFailed.
func (k SuppressionKey) Suppress(newID id.Suppression, d Draft, rules Rules, at time.Time) (Suppression, error) {
	c, sent := checks{problems: d.Problems}, sentKeys{}
	sent.name = c.line("name", d.Name, NameLength)
	of := knownOf(sent.name, c.website("website", d.Website, &sent), c.email("email", d.Email),
		c.phone("phone", d.Phone, rules.Region, &sent))
	made := Suppression{newID, k.digests(foreign[id.Lead](&c, "id", d.ID), of), at}
	if len(c.problems) == 0 && len(made.Digests) == 0 {
		c.problems.Add(fault.Fieldf("", fault.Required, "the line has neither an id nor a website, an email, a phone or a name"))
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
	for _, one := range all {
		for _, digest := range one.Digests {
			s.digests[digest] = append(s.digests[digest], one.ID)
		}
	}
	return s
}

// Has reports whether a lead is suppressed.
func (s Suppressions) Has(i Incoming) bool {
	if len(s.digests) == 0 {
		return false
	}
	has := func(of ...string) bool { return len(s.digests[s.key.digest(of...)]) > 0 }
	if has("id", string(i.ID)) || i.former != "" && has("id", string(i.former)) {
		return true
	}
	of, found := knownOf(i.Name, i.Website, i.Email, i.Phone), false
	of.each(func(field, value string) {
		found = found || has(field, value, "name", of.name) || has(field, value, "name", "")
	})
	return found || has("name", of.name) && i.former == "" && of.domain+of.email+of.phone == ""
}

// Of returns the suppressions that have the id of a lead.
func (s Suppressions) Of(which id.Lead) []id.Suppression {
	return s.digests[s.key.digest("id", string(which))]
}
