package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"holdco/domain/fault"
	"holdco/domain/lead"
)

// field is where the text of a column belongs in a draft.
type field[D any] = func(to *D) *string

var leadFields = map[string]field[lead.Draft]{
	"id":                     func(to *lead.Draft) *string { return &to.ID },
	"name":                   func(to *lead.Draft) *string { return &to.Name },
	"phone":                  func(to *lead.Draft) *string { return &to.Phone },
	"email":                  func(to *lead.Draft) *string { return &to.Email },
	"website":                func(to *lead.Draft) *string { return &to.Website },
	"google_rating":          func(to *lead.Draft) *string { return (*string)(&to.Rating) },
	"enrichment_level":       func(to *lead.Draft) *string { return &to.Enrichment },
	"social_media.instagram": func(to *lead.Draft) *string { return &to.Social.Instagram },
	"social_media.facebook":  func(to *lead.Draft) *string { return &to.Social.Facebook },
	"social_media.linkedin":  func(to *lead.Draft) *string { return &to.Social.LinkedIn },
	"social_media.twitter":   func(to *lead.Draft) *string { return &to.Social.Twitter },
	"social_media.tiktok":    func(to *lead.Draft) *string { return &to.Social.TikTok },
	"industry_id":            func(to *lead.Draft) *string { return &to.Industry },
	"vertical_id":            func(to *lead.Draft) *string { return &to.Vertical },
	"created_at":             func(to *lead.Draft) *string { return &to.CreatedAt },
	"updated_at":             func(to *lead.Draft) *string { return &to.UpdatedAt },
}

var contactFields = map[string]field[lead.ContactDraft]{
	"id":    func(to *lead.ContactDraft) *string { return &to.ID },
	"name":  func(to *lead.ContactDraft) *string { return &to.Name },
	"title": func(to *lead.ContactDraft) *string { return &to.Title },
	"email": func(to *lead.ContactDraft) *string { return &to.Email },
}

var campaignFields = map[string]field[lead.CampaignDraft]{
	"id":           func(to *lead.CampaignDraft) *string { return &to.ID },
	"name":         func(to *lead.CampaignDraft) *string { return &to.Name },
	"status":       func(to *lead.CampaignDraft) *string { return &to.Status },
	"industry_id":  func(to *lead.CampaignDraft) *string { return &to.Industry },
	"vertical_id":  func(to *lead.CampaignDraft) *string { return &to.Vertical },
	"geography_id": func(to *lead.CampaignDraft) *string { return &to.Geography },
	"created_at":   func(to *lead.CampaignDraft) *string { return &to.CreatedAt },
	"updated_at":   func(to *lead.CampaignDraft) *string { return &to.UpdatedAt },
}

// The names of columns, for people.
var (
	leadColumns = []string{
		"id", "name", "phone", "email", "website", "google_rating", "enrichment_level", "social_media.instagram", "social_media.facebook",
		"social_media.linkedin", "social_media.twitter", "social_media.tiktok", "industry_id", "vertical_id", "contacts.0.id",
		"contacts.0.name", "contacts.0.title", "contacts.0.email", "contacts.0.is_primary_lead", "campaign_ids", "created_at", "updated_at",
	}
	campaignColumns = []string{"id", "name", "status", "industry_id", "vertical_id", "geography_id", "created_at", "updated_at"}
)

// sentBy are the fields of a lead that columns send; what is not here is always sent, or belongs to a list.
var sentBy = map[string]lead.Fields{
	"phone": lead.PhoneField, "email": lead.EmailField, "website": lead.WebsiteField, "google_rating": lead.RatingField,
	"enrichment_level":       lead.EnrichmentField,
	"social_media.instagram": lead.InstagramField, "social_media.facebook": lead.FacebookField, "social_media.linkedin": lead.LinkedInField,
	"social_media.twitter": lead.TwitterField, "social_media.tiktok": lead.TikTokField,
	"industry_id": lead.IndustryField, "vertical_id": lead.VerticalField,
}

// absentFrom returns the fields of leads that a header has no columns for.
func absentFrom(header []string) lead.Fields {
	absent := lead.Fields(lead.EveryField)
	for _, name := range header {
		switch list, _, _ := strings.Cut(name, "."); list {
		case "contacts":
			absent &^= lead.ContactsField
		case "campaign_ids":
			absent &^= lead.CampaignsField
		default:
			absent &^= sentBy[spelled(name)]
		}
	}
	return absent
}

// ignored are columns that the store computes itself.
var ignored = []string{
	"industry.name", "industry.slug", "vertical.name", "vertical.slug", "vertical.industry_id",
	"geography.name", "geography.slug", "geography.country_code", "lead_count",
}

// spelled gives the columns that can be spelled in two ways one name.
func spelled(name string) string {
	switch name {
	case "industry.id", "vertical.id", "geography.id":
		return strings.Replace(name, ".", "_", 1)
	}
	return name
}

// leadColumn finds a column of a file of leads.
func leadColumn(name string) (column[lead.Draft], bool) {
	list, rest, _ := strings.Cut(name, ".")
	switch list {
	case "campaign_ids":
		_, numbered := number(rest, lead.MostCampaigns)
		return campaignIDs, rest == "" || numbered
	case "contacts":
		item, of, _ := strings.Cut(rest, ".")
		at, numbered := number(item, lead.MostContacts)
		read, ok := contactColumn(name, at, of)
		return read, numbered && ok
	}
	return textColumn(leadFields, name)
}

// campaignColumn finds a column of a file of campaigns.
func campaignColumn(name string) (column[lead.CampaignDraft], bool) {
	return textColumn(campaignFields, name)
}

func textColumn[D any](fields map[string]field[D], name string) (column[D], bool) {
	if slices.Contains(ignored, name) {
		return func(*D, string, *fault.Problems) {}, true
	}
	of, ok := fields[spelled(name)]
	return func(to *D, cell string, _ *fault.Problems) { *of(to) = cell }, ok
}

// campaignIDs reads a cell of ids, which spaces or semicolons separate.
func campaignIDs(to *lead.Draft, cell string, _ *fault.Problems) {
	separates := func(r rune) bool { return r == ';' || unicode.IsSpace(r) }
	to.Campaigns = append(to.Campaigns, strings.FieldsFunc(cell, separates)...)
}

func contactColumn(name string, at int, of string) (column[lead.Draft], bool) {
	contact := func(to *lead.Draft) *lead.ContactDraft {
		for len(to.Contacts) <= at {
			to.Contacts = append(to.Contacts, lead.ContactDraft{})
		}
		return &to.Contacts[at]
	}
	if of == "is_primary_lead" {
		return func(to *lead.Draft, cell string, problems *fault.Problems) {
			primary, err := strconv.ParseBool(strings.ToLower(cell))
			if err != nil {
				problems.Add(fault.Fieldf(name, fault.WrongType, "%s must be true or false", name))
			}
			if primary {
				contact(to).Primary = true
			}
		}, true
	}
	text, ok := contactFields[of]
	return func(to *lead.Draft, cell string, _ *fault.Problems) { *text(contact(to)) = cell }, ok
}

// present drops empty contacts.
func present(d *lead.Draft) {
	d.Contacts = slices.DeleteFunc(d.Contacts, func(c lead.ContactDraft) bool { return c == lead.ContactDraft{} })
}

// number reads an index in a list, in its canonical form.
func number(text string, below int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n < below && fmt.Sprint(n) == text
}
