package lead

import (
	"cmp"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Campaign is a marketing campaign that leads belong to.
type Campaign struct {
	ID        id.Campaign
	Name      string
	Status    Status
	Industry  id.Industry  // empty: none
	Vertical  id.Vertical  // empty: none; otherwise one of Industry
	Geography id.Geography // empty: none
	LeadCount int64        // leads that belong to it; maintained by the import of leads
	CreatedAt time.Time
	UpdatedAt time.Time // of the last change of a field above LeadCount
}

// CampaignPlace is where a campaign stands in the order of the export: by UpdatedAt, then by id. The zero value is
// before all campaigns.
type CampaignPlace struct {
	UpdatedAt time.Time
	ID        id.Campaign
}

// Place returns where the campaign stands.
func (c Campaign) Place() CampaignPlace { return CampaignPlace{c.UpdatedAt, c.ID} }

// Compare compares two places as cmp.Compare does.
func (p CampaignPlace) Compare(other CampaignPlace) int {
	return cmp.Or(p.UpdatedAt.Compare(other.UpdatedAt), cmp.Compare(p.ID, other.ID))
}

// Status is the state of a campaign.
type Status string

// The states of a campaign.
const (
	StatusDraft     Status = "draft"
	StatusActive    Status = "active"
	StatusPaused    Status = "paused"
	StatusCompleted Status = "completed"
)

// Statuses returns all states.
func Statuses() []Status { return []Status{StatusDraft, StatusActive, StatusPaused, StatusCompleted} }

// CampaignFilter selects the campaigns that meet all of its conditions. The zero value selects every campaign.
type CampaignFilter struct {
	Status    Status // empty: any
	Industry  id.Industry
	Vertical  id.Vertical
	Geography id.Geography
	HasLeads  *bool     // nil: with and without
	MinLeads  int64     // minimum
	Since     time.Time // updated at or after this instant; zero: any time
	View      View      // of who asks
}

// Match reports whether the filter selects the campaign.
func (f CampaignFilter) Match(c Campaign) bool {
	return (f.Status == "" || f.Status == c.Status) &&
		(f.Industry == "" || f.Industry == c.Industry) &&
		(f.Vertical == "" || f.Vertical == c.Vertical) &&
		(f.Geography == "" || f.Geography == c.Geography) &&
		(f.HasLeads == nil || *f.HasLeads == (c.LeadCount > 0)) &&
		c.LeadCount >= f.MinLeads &&
		(f.Since.IsZero() || !c.UpdatedAt.Before(f.Since)) &&
		f.View.ShowsCampaign(c)
}

// Fields returns the campaign as the export shows it, with the names of the taxonomy.
func (c Campaign) Fields(names Names) event.Fields {
	return event.Fields{
		event.F("id", string(c.ID)),
		event.F("name", c.Name),
		event.F("status", string(c.Status)),
		event.F("industry", names.Industry(c.Industry)),
		event.F("vertical", names.Vertical(c.Vertical)),
		event.F("geography", names.Geography(c.Geography)),
		event.F("lead_count", c.LeadCount),
		event.F("created_at", instant.Format(c.CreatedAt)),
		event.F("updated_at", instant.Format(c.UpdatedAt)),
	}
}
