package importer

import (
	"strings"

	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/domain/money"
)

func (w *walker) lead() lead.Draft {
	d := lead.Draft{Absent: lead.EveryField}
	var industry, vertical string
	w.object(func(name []byte) bool {
		sent := lead.Fields(0)
		switch string(name) {
		case "id":
			d.ID = w.text()
		case "name":
			d.Name = w.text()
		case "phone":
			d.Phone, sent = w.text(), lead.PhoneField
		case "email":
			d.Email, sent = w.text(), lead.EmailField
		case "website":
			d.Website, sent = w.text(), lead.WebsiteField
		case "google_rating":
			d.Rating, sent = money.Number(w.number()), lead.RatingField
		case "enrichment_level":
			d.Enrichment, sent = w.text(), lead.EnrichmentField
		case "social_media":
			sent = w.social(&d.Social)
		case "industry_id":
			d.Industry, sent = w.text(), lead.IndustryField
		case "industry":
			industry, sent = w.reference(), lead.IndustryField
		case "vertical_id":
			d.Vertical, sent = w.text(), lead.VerticalField
		case "vertical":
			vertical, sent = w.reference(), lead.VerticalField
		case "contacts":
			w.list(func() { d.Contacts = append(d.Contacts, w.contact()) })
			sent = lead.ContactsField
		case "campaign_ids":
			d.Campaigns, sent = w.stringList(), lead.CampaignsField
		case "created_at":
			d.CreatedAt = w.loose()
		case "updated_at":
			d.UpdatedAt = w.loose()
		default:
			return false
		}
		d.Absent &^= sent
		return true
	})
	d.Industry = w.eitherID("industry", d.Industry, industry)
	d.Vertical = w.eitherID("vertical", d.Vertical, vertical)
	return d
}

// social reads pages in social networks, and returns which there are; null stands for none in each.
func (w *walker) social(s *lead.Social) (sent lead.Fields) {
	if w.decoder.PeekKind() == 'n' {
		sent = lead.SocialFields
	}
	w.object(func(name []byte) bool {
		switch string(name) {
		case "instagram":
			s.Instagram = w.text()
			sent |= lead.InstagramField
		case "facebook":
			s.Facebook = w.text()
			sent |= lead.FacebookField
		case "linkedin":
			s.LinkedIn = w.text()
			sent |= lead.LinkedInField
		case "twitter":
			s.Twitter = w.text()
			sent |= lead.TwitterField
		case "tiktok":
			s.TikTok = w.text()
			sent |= lead.TikTokField
		default:
			return false
		}
		return true
	})
	return sent
}

func (w *walker) contact() lead.ContactDraft {
	var c lead.ContactDraft
	w.object(func(name []byte) bool {
		switch string(name) {
		case "id":
			c.ID = w.text()
		case "name":
			c.Name = w.text()
		case "title":
			c.Title = w.text()
		case "email":
			c.Email = w.text()
		case "is_primary_lead":
			primary := w.boolean()
			c.Primary = primary != nil && *primary
		default:
			return false
		}
		return true
	})
	return c
}

func (w *walker) campaign() lead.CampaignDraft {
	var d lead.CampaignDraft
	var industry, vertical, geography string
	w.object(func(name []byte) bool {
		switch string(name) {
		case "id":
			d.ID = w.text()
		case "name":
			d.Name = w.text()
		case "status":
			d.Status = w.text()
		case "industry_id":
			d.Industry = w.text()
		case "industry":
			industry = w.reference()
		case "vertical_id":
			d.Vertical = w.text()
		case "vertical":
			vertical = w.reference()
		case "geography_id":
			d.Geography = w.text()
		case "geography":
			geography = w.reference()
		case "lead_count":
			w.skip() // counted by the store
		case "created_at":
			d.CreatedAt = w.loose()
		case "updated_at":
			d.UpdatedAt = w.loose()
		default:
			return false
		}
		return true
	})
	d.Industry = w.eitherID("industry", d.Industry, industry)
	d.Vertical = w.eitherID("vertical", d.Vertical, vertical)
	d.Geography = w.eitherID("geography", d.Geography, geography)
	return d
}

func (w *walker) taxonomy() lead.TaxonomyDraft {
	var d lead.TaxonomyDraft
	w.object(func(name []byte) bool {
		switch string(name) {
		case "industries":
			w.list(func() { d.Industries = append(d.Industries, w.industry()) })
		case "verticals":
			w.list(func() { d.Verticals = append(d.Verticals, w.vertical()) })
		case "geographies":
			w.list(func() { d.Geographies = append(d.Geographies, w.geography()) })
		case "vertical_intelligence":
			w.list(func() { d.Intelligence = append(d.Intelligence, w.intelligence()) })
		default:
			return false
		}
		return true
	})
	return d
}

func (w *walker) industry() (d lead.IndustryDraft) {
	w.fields(map[string]any{"id": &d.ID, "name": &d.Name, "slug": &d.Slug, "active": &d.Active})
	return d
}

func (w *walker) vertical() (d lead.VerticalDraft) {
	w.fields(map[string]any{"id": &d.ID, "industry_id": &d.Industry, "name": &d.Name, "slug": &d.Slug, "active": &d.Active})
	return d
}

func (w *walker) geography() (d lead.GeographyDraft) {
	w.fields(map[string]any{"id": &d.ID, "name": &d.Name, "slug": &d.Slug, "country_code": &d.CountryCode})
	return d
}

func (w *walker) intelligence() (d lead.IntelligenceDraft) {
	w.fields(map[string]any{
		"id": &d.ID, "vertical_id": &d.Vertical, "summary": &d.Summary,
		"pain_points": &d.PainPoints, "buying_signals": &d.BuyingSignals,
		"updated_at": nil, // set by the import
	})
	return d
}

// reference reads an industry, a vertical or a geography as the export nests it, and returns its id. The other fields
// belong to the taxonomy.
func (w *walker) reference() string {
	var which string
	present := w.decoder.PeekKind() == '{'
	w.object(func(name []byte) bool {
		switch string(name) {
		case "id":
			which = w.text()
		case "name", "slug", "industry_id", "country_code":
			w.skip()
		default:
			return false
		}
		return true
	})
	if present && which == "" && w.broken == nil {
		at := path(w.decoder.StackPointer()) + ".id"
		w.problems.Add(fault.Fieldf(at, fault.Required, "%s is required", at))
	}
	return which
}

// eitherID returns the id that was given on its own, in a nested object, or in both if they are equal.
func (w *walker) eitherID(what, alone, within string) string {
	alone, within = strings.TrimSpace(alone), strings.TrimSpace(within)
	if alone != "" && within != "" && alone != within {
		w.problems.Add(fault.Fieldf(what+"_id", fault.Duplicate, "%s_id differs from %s.id; leave one of them out", what, what))
	}
	if alone != "" {
		return alone
	}
	return within
}
