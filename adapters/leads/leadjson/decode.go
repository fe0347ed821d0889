package leadjson

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// document has the members of every form. Those that a form lacks, or that are null, are empty.
type document struct {
	ID         id.Lead         `json:"id"`
	Name       string          `json:"name"`
	Phone      string          `json:"phone"`
	Email      string          `json:"email"`
	Website    string          `json:"website"`
	Rating     *float64        `json:"google_rating"`
	Enrichment lead.Enrichment `json:"enrichment_level"`
	Social     struct {
		Instagram string `json:"instagram"`
		Facebook  string `json:"facebook"`
		LinkedIn  string `json:"linkedin"`
		Twitter   string `json:"twitter"`
		TikTok    string `json:"tiktok"`
	} `json:"social_media"`
	Campaigns []id.Campaign `json:"campaign_ids"`
	Contacts  []struct {
		ID      id.Contact `json:"id"`
		Name    string     `json:"name"`
		Title   string     `json:"title"`
		Email   string     `json:"email"`
		Primary bool       `json:"is_primary_lead"`
	} `json:"contacts"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Decode reads what Encode wrote in any form, a later one too: members that it does not know are passed over. What no
// document holds is not in the lead either: its industry and vertical, and before CampaignsSince its campaigns.
func Decode(d lead.Document) (lead.Lead, error) {
	var read document
	if err := json.Unmarshal([]byte(d.Head+","+d.Tail), &read); err != nil {
		return lead.Lead{}, fmt.Errorf("decode a lead: %w", err)
	}
	l := lead.Lead{
		ID: read.ID, Name: read.Name, Phone: read.Phone, Email: read.Email, Website: read.Website,
		Rating: lead.Unrated, Enrichment: read.Enrichment, Social: lead.Social(read.Social), Campaigns: read.Campaigns,
		CreatedAt: read.CreatedAt, UpdatedAt: read.UpdatedAt,
	}
	if read.Rating != nil {
		const hundredths = 100
		l.Rating = lead.Rating(math.Round(*read.Rating * hundredths))
	}
	for _, contact := range read.Contacts {
		l.Contacts = append(l.Contacts, lead.Contact(contact))
	}
	return l, nil
}
