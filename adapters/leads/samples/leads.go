package samples

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"holdco/domain/event"
	"holdco/domain/instant"
	"holdco/domain/lead"
)

// Leads writes the leads, one per line.
func (s *Set) Leads(to io.Writer) error {
	chance := s.chanceOf(ofLeads)
	made := leads{
		Set: s, chance: chance,
		industryOf: chance.skewed(len(industries)),
		verticalOf: chance.skewed(len(industries[0].verticals)),
		campaignOf: chance.skewed(len(s.campaigns)),
	}
	for _, i := range industries {
		made.industries = append(made.industries, i.reference())
		for _, v := range i.verticals {
			made.verticals = append(made.verticals, v.reference())
		}
	}
	return lines(to, s.leads, made.lead)
}

// leads makes one lead after the other.
type leads struct {
	*Set
	chance
	industryOf, verticalOf, campaignOf func() int
	industries, verticals              []any // as leads show them
}

func (l *leads) lead(number int) event.Fields {
	branch, part := l.industryOf(), l.verticalOf()
	trade := industries[branch].verticals[part].trade
	city := geographies[l.IntN(len(geographies))]
	name := l.name(trade, city)
	handle := strings.ReplaceAll(slug(name), "-", "")
	depth := l.weighed(35, 30, 22, 13)

	domain, website := fmt.Sprintf("%s%d.example", handle, l.IntN(1000)), any(nil)
	if l.in(70) {
		website = domain
	}
	var industry, vertical any
	if !l.in(5) {
		industry = l.industries[branch]
		if !l.in(10) {
			vertical = l.verticals[branch*len(industries[branch].verticals)+part]
		}
	}
	created := l.between(firstDay, lastDay)
	return event.Fields{
		event.F("id", l.id("cmp_", ofLeads, uint64(number))),
		event.F("name", name),
		event.F("phone", l.unless(10, fmt.Sprintf("%s %04d", city.dial, l.IntN(10_000)))),
		event.F("email", l.unless(25, "info@"+domain)),
		event.F("website", website),
		event.F("google_rating", l.rating()),
		event.F("enrichment_level", string(lead.Enrichments()[depth])),
		event.F("social_media", l.social(handle, depth)),
		event.F("industry", industry),
		event.F("vertical", vertical),
		event.F("contacts", l.contacts(number, domain)),
		event.F("campaign_ids", l.memberships()),
		event.F("created_at", instant.Format(created)),
		event.F("updated_at", instant.Format(l.between(created, lastDay.AddDate(0, 0, 1)))),
	}
}

// name is that of a company of a trade, in one of the ways that companies are called.
func (l *leads) name(trade string, city geography) string {
	switch l.weighed(40, 20, 20, 20) {
	case 0:
		return l.fake.LastName() + " " + trade
	case 1:
		return l.fake.LastName() + " & " + l.fake.LastName() + " " + trade
	case 2:
		return city.name + " " + trade + " " + l.fake.CompanySuffix()
	default:
		return l.fake.LastName() + " " + l.fake.CompanySuffix()
	}
}

// rating is in tenths of a star, around 4.2.
func (l *leads) rating() any {
	if l.in(15) {
		return nil
	}
	return math.Round(10*max(1, min(5, 4.2+0.5*l.NormFloat64()))) / 10
}

// social gives a company more pages the higher its enrichment level is.
func (l *leads) social(handle string, depth int) event.Fields {
	page := func(network, address string, percent int) event.Field {
		return event.F(network, l.unless(100-percent*(depth+1)/4, address+handle))
	}
	return event.Fields{
		page("instagram", "https://www.instagram.com/", 60),
		page("facebook", "https://www.facebook.com/", 80),
		page("linkedin", "https://www.linkedin.com/company/", 50),
		page("twitter", "https://twitter.com/", 25),
		page("tiktok", "https://www.tiktok.com/@", 15),
	}
}

// contacts are 0 to 4 people, the first of whom is the one to talk to.
func (l *leads) contacts(number int, domain string) []event.Fields {
	const mostContacts = 4
	contacts := make([]event.Fields, l.weighed(35, 30, 20, 10, 5))
	for i := range contacts {
		first, last := l.fake.FirstName(), l.fake.LastName()
		contacts[i] = event.Fields{
			event.F("id", l.id("cnt_", ofContacts, uint64(number*mostContacts+i))),
			event.F("name", first+" "+last),
			event.F("title", l.unless(10, l.fake.JobTitle())),
			event.F("email", l.unless(30, strings.ToLower(first+"."+last)+"@"+domain)),
			event.F("is_primary_lead", i == 0),
		}
	}
	return contacts
}

// memberships are 0 to 3 campaigns.
func (l *leads) memberships() []string {
	campaigns := make([]string, l.weighed(40, 35, 18, 7))
	for i := range campaigns {
		campaigns[i] = l.campaigns[l.campaignOf()].id
	}
	slices.Sort(campaigns)
	return slices.Compact(campaigns)
}

// unless is null in so many of 100 cases.
func (l *leads) unless(percent int, text string) any {
	if l.in(percent) {
		return nil
	}
	return text
}
