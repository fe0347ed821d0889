package samples

import (
	"fmt"
	"io"

	"holdco/domain/event"
	"holdco/domain/instant"
	"holdco/domain/lead"
)

// campaign is for one vertical in one city.
type campaign struct {
	id       string
	name     string
	status   lead.Status
	industry industry
	vertical *vertical // nil: for all of the industry
	city     *geography
	created  string
	updated  string
}

// makeCampaigns makes one for every 500 leads, and enough to look at in small sets.
func (s *Set) makeCampaigns() []campaign {
	const least, most, leadsOfEach = 20, 500, 500
	campaigns := make([]campaign, max(least, min(most, s.leads/leadsOfEach)))
	chance := s.chanceOf(ofCampaigns)
	industryOf, verticalOf := chance.skewed(len(industries)), chance.skewed(len(industries[0].verticals))
	for i := range campaigns {
		made := &campaigns[i]
		created := chance.between(firstDay, lastDay)
		made.id = s.id("cam_", ofCampaigns, uint64(i))
		made.industry = industries[industryOf()]
		what, where := made.industry.name, "everywhere"
		if !chance.in(10) {
			made.vertical = &made.industry.verticals[verticalOf()]
			what = made.vertical.name
		}
		if !chance.in(10) {
			made.city = &geographies[chance.IntN(len(geographies))]
			where = made.city.name
		}
		season := []string{"Winter", "Spring", "Summer", "Autumn"}[(created.Month()%12)/3]
		made.name = fmt.Sprintf("%s %d: %s, %s", season, created.Year(), what, where)
		made.status = lead.Statuses()[chance.weighed(10, 50, 15, 25)]
		made.created, made.updated = instant.Format(created), instant.Format(chance.between(created, lastDay.AddDate(0, 0, 1)))
	}
	return campaigns
}

// Campaigns writes the campaigns, one per line.
func (s *Set) Campaigns(to io.Writer) error {
	return lines(to, len(s.campaigns), func(number int) event.Fields {
		c := s.campaigns[number]
		var vertical, city any
		if c.vertical != nil {
			vertical = c.vertical.id()
		}
		if c.city != nil {
			city = c.city.id()
		}
		return event.Fields{
			event.F("id", c.id),
			event.F("name", c.name),
			event.F("status", string(c.status)),
			event.F("industry_id", c.industry.id()),
			event.F("vertical_id", vertical),
			event.F("geography_id", city),
			event.F("created_at", c.created),
			event.F("updated_at", c.updated),
		}
	})
}
