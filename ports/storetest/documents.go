package storetest

import (
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// sameDocuments compares documents by what they say, however that is spelled.
var sameDocuments = cmp.Transformer("document", func(d lead.Document) any {
	var read any
	if err := json.Unmarshal([]byte(d.Head+","+d.Tail), &read); err != nil {
		return fmt.Sprintf("%v: %s,%s", err, d.Head, d.Tail)
	}
	return read
})

// documentOf is the document that a store should have of a lead.
func documentOf(l lead.Lead) lead.Document {
	object := map[string]any{
		"id": l.ID, "name": l.Name, "phone": optional(l.Phone), "email": optional(l.Email), "website": optional(l.Website),
		"google_rating": nil, "enrichment_level": l.Enrichment,
		"social_media": map[string]any{
			"instagram": optional(l.Social.Instagram), "facebook": optional(l.Social.Facebook), "linkedin": optional(l.Social.LinkedIn),
			"twitter": optional(l.Social.Twitter), "tiktok": optional(l.Social.TikTok),
		},
	}
	if l.Rating != lead.Unrated {
		object["google_rating"] = float64(l.Rating) / 100
	}
	contacts := make([]any, len(l.Contacts))
	for i, contact := range l.Contacts {
		contacts[i] = map[string]any{
			"id": contact.ID, "name": optional(contact.Name), "title": optional(contact.Title), "email": optional(contact.Email),
			"is_primary_lead": contact.Primary,
		}
	}
	campaigns := []id.Campaign{}
	campaigns = append(campaigns, l.Campaigns...)
	const layout = "2006-01-02T15:04:05.000Z"
	end := map[string]any{
		"campaign_ids": campaigns, "contacts": contacts,
		"created_at": l.CreatedAt.UTC().Format(layout), "updated_at": l.UpdatedAt.UTC().Format(layout),
	}
	head, tail := encoded(object), encoded(end)
	return lead.Document{Head: head[:len(head)-1], Tail: tail[1:]}
}

func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func encoded(object map[string]any) string {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}
