package lead

import (
	"slices"

	"holdco/domain/id"
)

// Sought appends the ids under which a lead may be stored: its own, and those by former rules.
func (i *Incoming) Sought(to []id.Lead) []id.Lead { return append(append(to, i.ID), i.formers...) }

// Partial returns the stored leads whose content Complete needs.
func Partial(batch []Incoming, stored map[id.Lead]Summary) []id.Lead {
	var needed []id.Lead
	for i := range batch {
		one := &batch[i]
		if stored[one.ID].ID != "" {
			if one.Absent != 0 {
				needed = append(needed, one.ID)
			}
			continue
		}
		for _, former := range one.formers {
			if stored[former].ID != "" {
				needed = append(needed, former)
			}
		}
	}
	return needed
}

// Complete fills in what leads of a batch leave out: with what is stored of them, or as of a new lead. A lead that is stored under an id
// by a former rule keeps that. What is suppressed then is left out: a lead that was forgotten does not come back in parts. The batch
// itself stays as it is.
func Complete(
	batch []Incoming, stored map[id.Lead]Summary, contents map[id.Lead]Lead, suppressed Suppressions,
) (whole []Incoming, leftOut int) {
	if len(contents) == 0 {
		return batch, 0
	}
	whole = make([]Incoming, 0, len(batch))
	for _, one := range batch {
		if !one.complete(stored, contents) || !suppressed.Has(one) {
			whole = append(whole, one)
		}
	}
	return whole, len(batch) - len(whole)
}

// complete reports whether it has changed the lead, to what is stored then.
func (i *Incoming) complete(stored map[id.Lead]Summary, contents map[id.Lead]Lead) (changed bool) {
	before, found := contents[i.ID]
	if stored[i.ID].ID == "" {
		found = false
		for _, former := range i.formers {
			if before, found = contents[former]; found && i.isFormer(before) {
				i.rename(before.ID)
				break
			}
			found = false
		}
	}
	if found {
		i.fill(before)
		*i = i.Digested()
	}
	return found
}

// rename gives the lead another id, and so its contacts without ids of their own.
func (i *Incoming) rename(to id.Lead) {
	i.Contacts = slices.Clone(i.Contacts)
	for n, contact := range i.Contacts {
		spelled, isRaw := i.rawContacts[n]
		if !isRaw {
			spelled = contact
		}
		if contact.ID == deriveContact(i.ID, spelled) {
			i.Contacts[n].ID = deriveContact(to, spelled)
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
