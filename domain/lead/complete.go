package lead

import (
	"slices"

	"holdco/domain/id"
)

// Sought appends the ids under which a lead may be stored: its own, and the one by the former rule.
func (i *Incoming) Sought(to []id.Lead) []id.Lead {
	to = append(to, i.ID)
	if i.former != "" && i.former != i.ID {
		to = append(to, i.former)
	}
	return to
}

// Partial returns the stored leads whose content Complete needs.
func Partial(batch []Incoming, stored map[id.Lead]Summary) []id.Lead {
	var needed []id.Lead
	for i := range batch {
		one := &batch[i]
		switch {
		case stored[one.ID].ID != "":
			if one.Absent != 0 {
				needed = append(needed, one.ID)
			}
		case one.former != "" && stored[one.former].ID != "":
			needed = append(needed, one.former)
		}
	}
	return needed
}

// Complete fills in what leads of a batch leave out: with what is stored of them, or as of a new lead. A lead that is stored under the id
// by the former rule keeps that. The batch itself stays as it is.
func Complete(batch []Incoming, stored map[id.Lead]Summary, contents map[id.Lead]Lead) []Incoming {
	if len(contents) == 0 {
		return batch
	}
	whole := slices.Clone(batch)
	for i := range whole {
		one := &whole[i]
		before, found := contents[one.ID]
		if stored[one.ID].ID == "" {
			if before, found = contents[one.former]; found && one.isFormer(before) {
				one.rename(before.ID)
			} else {
				found = false
			}
		}
		if found {
			one.fill(before)
			*one = one.Digested()
		}
	}
	return whole
}

// rename gives the lead another id, and so its contacts without ids of their own.
func (i *Incoming) rename(to id.Lead) {
	i.Contacts = slices.Clone(i.Contacts)
	for n, contact := range i.Contacts {
		if contact.ID == deriveContact(i.ID, contact) {
			i.Contacts[n].ID = deriveContact(to, contact)
		}
	}
	i.ID = to
}

// fill fills in what the lead leaves out.
func (i *Incoming) fill(before Lead) {
	keep := func(field Fields, to *string, from string) {
		if i.Absent.Has(field) {
			*to = from
		}
	}
	keep(PhoneField, &i.Phone, before.Phone)
	keep(EmailField, &i.Email, before.Email)
	keep(WebsiteField, &i.Website, before.Website)
	keep(InstagramField, &i.Social.Instagram, before.Social.Instagram)
	keep(FacebookField, &i.Social.Facebook, before.Social.Facebook)
	keep(LinkedInField, &i.Social.LinkedIn, before.Social.LinkedIn)
	keep(TwitterField, &i.Social.Twitter, before.Social.Twitter)
	keep(TikTokField, &i.Social.TikTok, before.Social.TikTok)
	if i.Absent.Has(RatingField) {
		i.Rating = before.Rating
	}
	if i.Absent.Has(EnrichmentField) {
		i.Enrichment = before.Enrichment
	}
	if i.Absent.Has(IndustryField) {
		i.Industry = before.Industry
	}
	if i.Absent.Has(VerticalField) && i.Industry == before.Industry { // one of another industry cannot stay
		i.Vertical = before.Vertical
	}
	if i.Absent.Has(ContactsField) {
		i.Contacts = before.Contacts
	}
	if i.Absent.Has(CampaignsField) {
		i.Campaigns = before.Campaigns
	}
}
