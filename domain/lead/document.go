package lead

import (
	"encoding/json"
	"strconv"
	"time"

	"holdco/domain/id"
	"holdco/domain/instant"
)

// Document is a lead as the export shows it, in JSON, but for its industry and its vertical. Their names are of the
// taxonomy, which may change while the lead does not: so a store keeps the two halves around them.
type Document struct {
	Head string // an object's beginning, up to what precedes the comma before "industry"
	Tail string // its end, from what follows the comma behind "vertical"
}

// appendHead appends the first half of the lead's document.
func (l Lead) appendHead(to []byte) []byte {
	to = appendField(to, '{', "id", string(l.ID))
	to = appendField(to, ',', "name", l.Name)
	to = appendOptional(to, ',', "phone", l.Phone)
	to = appendOptional(to, ',', "email", l.Email)
	to = appendOptional(to, ',', "website", l.Website)
	to = append(to, `,"google_rating":`...)
	to = l.Rating.append(to)
	to = appendField(to, ',', "enrichment_level", string(l.Enrichment))
	to = append(to, `,"social_media":`...)
	to = appendOptional(to, '{', "instagram", l.Social.Instagram)
	to = appendOptional(to, ',', "facebook", l.Social.Facebook)
	to = appendOptional(to, ',', "linkedin", l.Social.LinkedIn)
	to = appendOptional(to, ',', "twitter", l.Social.Twitter)
	to = appendOptional(to, ',', "tiktok", l.Social.TikTok)
	return append(to, '}')
}

// appendContacts appends the lead's contacts, as a list.
func (l Lead) appendContacts(to []byte) []byte {
	to = append(to, '[')
	for i, contact := range l.Contacts {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendField(to, '{', "id", string(contact.ID))
		to = appendOptional(to, ',', "name", contact.Name)
		to = appendOptional(to, ',', "title", contact.Title)
		to = appendOptional(to, ',', "email", contact.Email)
		to = append(to, `,"is_primary_lead":`...)
		to = strconv.AppendBool(to, contact.Primary)
		to = append(to, '}')
	}
	return append(to, ']')
}

// tail is the second half of a lead's document.
func tail(contacts string, created, updated time.Time) string {
	return `"contacts":` + contacts + `,"created_at":"` + instant.Format(created) + `","updated_at":"` + instant.Format(updated) + `"}`
}

// Entry is a lead as a store keeps it for the export.
type Entry struct {
	Place     Place
	MovedFrom time.Time // see Kept
	Industry  id.Industry
	Vertical  id.Vertical
	Document  Document
}

// Append appends the whole lead, with the names that the taxonomy gives, as a JSON object on one line.
func (e Entry) Append(to []byte, names Names) []byte {
	to = append(to, e.Document.Head...)
	to = append(to, `,"industry":`...)
	to = append(to, names.industry(e.Industry)...)
	to = append(to, `,"vertical":`...)
	to = append(to, names.vertical(e.Vertical)...)
	to = append(to, ',')
	return append(to, e.Document.Tail...)
}

// Names are the names of a taxonomy, ready to be shown in leads and campaigns.
type Names struct {
	industries  map[id.Industry]json.RawMessage
	verticals   map[id.Vertical]json.RawMessage
	geographies map[id.Geography]json.RawMessage
}

// Names encodes the names in the taxonomy, of the inactive too.
func (t Taxonomy) Names() (Names, error) {
	names := Names{
		industries:  make(map[id.Industry]json.RawMessage, len(t.Industries)),
		verticals:   make(map[id.Vertical]json.RawMessage, len(t.Verticals)),
		geographies: make(map[id.Geography]json.RawMessage, len(t.Geographies)),
	}
	var err error
	for _, industry := range t.Industries {
		if names.industries[industry.ID], err = industry.Fields().MarshalJSON(); err != nil {
			return Names{}, err
		}
	}
	for _, vertical := range t.Verticals {
		if names.verticals[vertical.ID], err = vertical.brief().MarshalJSON(); err != nil {
			return Names{}, err
		}
	}
	for _, geography := range t.Geographies {
		if names.geographies[geography.ID], err = geography.Fields().MarshalJSON(); err != nil {
			return Names{}, err
		}
	}
	return names, nil
}

func (n Names) industry(which id.Industry) json.RawMessage   { return encoded(n.industries, which) }
func (n Names) vertical(which id.Vertical) json.RawMessage   { return encoded(n.verticals, which) }
func (n Names) geography(which id.Geography) json.RawMessage { return encoded(n.geographies, which) }

// encoded is null for what there is not.
func encoded[I ~string](names map[I]json.RawMessage, which I) json.RawMessage {
	if name, found := names[which]; found {
		return name
	}
	return json.RawMessage("null")
}

// appendField appends a text under its name, behind the given mark.
func appendField(to []byte, mark byte, name, text string) []byte {
	return appendText(appendName(to, mark, name), text)
}

// appendOptional appends a text under its name, or null where nothing is known.
func appendOptional(to []byte, mark byte, name, text string) []byte {
	if text == "" {
		return append(appendName(to, mark, name), "null"...)
	}
	return appendField(to, mark, name, text)
}

func appendName(to []byte, mark byte, name string) []byte {
	to = append(to, mark, '"')
	to = append(to, name...)
	return append(to, `":`...)
}

// appendText appends a text, which is UTF-8, as a JSON string. It is written by hand: with encoding/json the documents took most of the
// time of an import.
func appendText(to []byte, text string) []byte {
	const digits = "0123456789abcdef"
	to = append(to, '"')
	written := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, text[written:i]...)
		written = i + 1
		if c < ' ' {
			to = append(to, `\u00`...)
			to = append(to, digits[c>>4], digits[c&0xf])
		} else {
			to = append(to, '\\', c)
		}
	}
	to = append(to, text[written:]...)
	return append(to, '"')
}
