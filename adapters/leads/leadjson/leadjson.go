// Package leadjson spells leads in JSON, as the export API shows them and as stores keep them.
package leadjson

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/lead"
)

// Form numbers how Encode spells leads. Stores keep it with what is encoded, and encode anew what has another form when
// it is read. Raise it with every change of what Encode writes: a new field then shows in all leads at once, with what
// Decode finds of it in the older form.
const Form = 2

// CampaignsSince is the first form that has the campaigns of a lead.
const CampaignsSince = 2

// Encode encodes a lead.
func Encode(l lead.Lead) lead.Document {
	const usual = 1024 // bytes
	to := make([]byte, 0, usual)
	to = appendText(append(to, `{"id":`...), string(l.ID))
	to = appendText(append(to, `,"name":`...), l.Name)
	to = appendOptional(append(to, `,"phone":`...), l.Phone)
	to = appendOptional(append(to, `,"email":`...), l.Email)
	to = appendOptional(append(to, `,"website":`...), l.Website)
	to = appendRating(append(to, `,"google_rating":`...), l.Rating)
	to = appendText(append(to, `,"enrichment_level":`...), string(l.Enrichment))
	to = appendOptional(append(to, `,"social_media":{"instagram":`...), l.Social.Instagram)
	to = appendOptional(append(to, `,"facebook":`...), l.Social.Facebook)
	to = appendOptional(append(to, `,"linkedin":`...), l.Social.LinkedIn)
	to = appendOptional(append(to, `,"twitter":`...), l.Social.Twitter)
	to = appendOptional(append(to, `,"tiktok":`...), l.Social.TikTok)
	to = append(to, '}')
	head := len(to)
	to = appendCampaigns(append(to, `"campaign_ids":`...), l.Campaigns)
	to = appendContacts(append(to, `,"contacts":`...), l.Contacts)
	to = append(instant.Append(append(to, `,"created_at":"`...), l.CreatedAt), '"')
	to = append(instant.Append(append(to, `,"updated_at":"`...), l.UpdatedAt), `"}`...)
	text := string(to)
	return lead.Document{Head: text[:head], Tail: text[head:]}
}

func appendCampaigns(to []byte, campaigns []id.Campaign) []byte {
	to = append(to, '[')
	for i, campaign := range campaigns {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendText(to, string(campaign))
	}
	return append(to, ']')
}

func appendContacts(to []byte, contacts []lead.Contact) []byte {
	to = append(to, '[')
	for i, contact := range contacts {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendText(append(to, `{"id":`...), string(contact.ID))
		to = appendOptional(append(to, `,"name":`...), contact.Name)
		to = appendOptional(append(to, `,"title":`...), contact.Title)
		to = appendOptional(append(to, `,"email":`...), contact.Email)
		to = strconv.AppendBool(append(to, `,"is_primary_lead":`...), contact.Primary)
		to = append(to, '}')
	}
	return append(to, ']')
}

func appendRating(to []byte, rating lead.Rating) []byte {
	if rating == lead.Unrated {
		return append(to, "null"...)
	}
	return strconv.AppendFloat(to, float64(rating)/100, 'f', -1, 64)
}

// appendText appends a JSON string. Texts of leads are UTF-8, and what is not is replaced, so there is no error.
func appendText(to []byte, text string) []byte {
	to, _ = jsontext.AppendQuote(to, text)
	return to
}

// appendOptional appends null for an empty text.
func appendOptional(to []byte, text string) []byte {
	if text == "" {
		return append(to, "null"...)
	}
	return appendText(to, text)
}

// Append appends a whole lead, with the names that the taxonomy gives, as a JSON object on one line.
func Append(to []byte, e lead.Exported, names lead.Names) []byte {
	to = append(to, e.Document.Head...)
	to = append(to, `,"industry":`...)
	to = append(to, names.Industry(e.Industry)...)
	to = append(to, `,"vertical":`...)
	to = append(to, names.Vertical(e.Vertical)...)
	to = append(to, ',')
	return append(to, e.Document.Tail...)
}
