package lead

import (
	"slices"
	"strings"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/text"
)

// Key names the fields that tell leads without an id apart: the id of such a lead is derived from them. It is made by ParseKey; the zero
// value is website and name, else email and name, else phone and name, else name.
type Key string

// keyFields are the fields of keys, in the order in which an id is derived from them.
var keyFields = []string{"website", "email", "phone", "name"}

// ParseKey parses the names of fields, separated by commas, in any order. An empty text is the usual key.
func ParseKey(sent string) (Key, bool) {
	if sent == "" {
		return "", true
	}
	var found []string
	for _, name := range strings.Split(sent, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(keyFields, name) || slices.Contains(found, name) {
			return "", false
		}
		found = append(found, name)
	}
	slices.SortFunc(found, func(a, b string) int { return slices.Index(keyFields, a) - slices.Index(keyFields, b) })
	return Key(strings.Join(found, ",")), true
}

// KeyFields returns the names of the fields that a key can have, for people.
func KeyFields() string { return strings.Join(keyFields, ", ") }

// sentKeys are the values of a draft by which a lead can be known.
type sentKeys struct {
	name, email string
	website     website // empty if there is none, or if it is none
	phone       string  // as E.164 spells it, likewise
	raw         rawKeys
}

// rawKeys are such values as they were sent, but in NFC and without spaces at their ends: former versions took them so.
type rawKeys struct{ name, email, website, phone string }

// value returns what a field counts for in a key.
func (s sentKeys) value(field string) string {
	switch field {
	case "website":
		return s.website.domain + s.website.rest
	case "email":
		return emailKey(s.email)
	case "phone":
		return s.phone
	}
	return text.Key(s.name)
}

// rawValue returns what a field counted for when spaces within a name, the width of letters, the spelling of the domain of an address,
// and characters that show nothing made a difference.
func (s sentKeys) rawValue(field string) string {
	switch field {
	case "email":
		return strings.ToLower(s.raw.email)
	case "name":
		return text.Fold(s.raw.name)
	}
	return s.value(field)
}

// usual returns the usual key of these values.
func (s sentKeys) usual() Key {
	for _, field := range keyFields[:3] {
		if s.value(field) != "" {
			return Key(field + ",name")
		}
	}
	return "name"
}

// derive derives the id of a lead that was sent without one. Without a name it is empty.
func (c *checks) derive(key Key, from sentKeys) id.Lead {
	if from.name == "" {
		return ""
	}
	if key == "" {
		key = from.usual()
	}
	for field := range strings.SplitSeq(string(key), ",") {
		if from.value(field) == "" {
			c.problems.Add(fault.Fieldf(field, fault.Required,
				"%s is required of a lead without an id: the key of such leads is %s", field, key))
		}
	}
	return key.derive(from.value)
}

// derive derives an id from the values of the fields of a key, which is not the zero value.
func (k Key) derive(value func(field string) string) id.Lead {
	if k == "name" {
		return id.Derive[id.Lead]("name", value("name"))
	}
	parts := []string{"key"}
	for field := range strings.SplitSeq(string(k), ",") {
		parts = append(parts, field, value(field))
	}
	return id.Derive[id.Lead](parts...)
}

// formers returns the ids that former versions derived from a lead, beside the one that is derived now.
func (s sentKeys) formers(key Key, now id.Lead) (ids []id.Lead) {
	if key == "" {
		key = s.usual()
	}
	if s.rawValue("name") != s.value("name") || s.rawValue("email") != s.value("email") {
		if spelled := key.derive(s.rawValue); spelled != now {
			ids = append(ids, spelled)
		}
	}
	if former := s.former(); former != "" && former != now {
		ids = append(ids, former)
	}
	return ids
}

// former returns the id that was derived from a lead before keys: from its website as it was sent, else its e-mail or its phone.
func (s sentKeys) former() id.Lead {
	for _, field := range keyFields[:3] {
		if former := s.formerOf(field); former != "" {
			return former
		}
	}
	return ""
}

// formerOf returns the id that was derived from a field alone before keys; empty, if the lead has none.
func (s sentKeys) formerOf(field string) id.Lead {
	sent := ""
	switch field {
	case "website":
		sent = strings.ToLower(s.raw.website)
	case "email":
		sent = strings.ToLower(s.raw.email)
	case "phone":
		sent = s.raw.phone
	}
	if sent == "" {
		return ""
	}
	return id.Derive[id.Lead](field, sent)
}

// keys returns the values of a stored lead, which may have been stored before websites were kept as domains and phones as E.164. Of the
// website there is then what follows the domain; otherwise it is not known.
func (l Lead) keys() sentKeys {
	s := sentKeys{name: l.Name, email: l.Email, phone: l.Phone, raw: rawKeys{l.Name, l.Email, l.Website, l.Phone}}
	s.website.domain = l.Website
	if parsed, ok := parseWebsite(l.Website); ok {
		s.website = parsed
	}
	if parsed, ok := parsePhone(l.Phone, ""); ok {
		s.phone = parsed
	}
	return s
}

// respelled returns the ids that lines of a stored lead get now, however they are spelled: by each key from which its id was derived when
// the spelling made a difference.
func (s sentKeys) respelled(stored id.Lead) (ids []id.Lead) {
	for chosen := 1; chosen < 1<<len(keyFields); chosen++ {
		var fields []string
		for i, field := range keyFields {
			if chosen&(1<<i) != 0 {
				fields = append(fields, field)
			}
		}
		key := Key(strings.Join(fields, ","))
		if stored != key.derive(s.rawValue) && stored != s.formerOf(string(key)) {
			continue
		}
		if now := key.derive(s.value); now != stored {
			ids = append(ids, now)
		}
	}
	return ids
}

// isFormer reports whether a stored lead that has an id by a former rule is the same by the key of this one. What the former rule
// has compared is the same; whatever else belongs to the key need not be.
func (i *Incoming) isFormer(stored Lead) bool {
	key := i.key
	if key == "" {
		key = "name"
	}
	for field := range strings.SplitSeq(string(key), ",") {
		same := true
		switch field {
		case "name":
			same = text.Key(i.Name) == text.Key(stored.Name)
		case "email":
			same = emailKey(i.Email) == emailKey(stored.Email)
		case "phone":
			phone, ok := parsePhone(stored.Phone, "")
			same = stored.Phone == i.Phone || ok && phone == i.Phone
		}
		if !same {
			return false
		}
	}
	return true
}
