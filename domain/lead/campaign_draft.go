package lead

import (
	"slices"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// CampaignDraft is what was sent to insert or replace a campaign. A blank text counts as absent. Problems are errors of
// its form.
type CampaignDraft struct {
	ID        string
	Name      string
	Status    string // blank: StatusDraft
	Industry  string
	Vertical  string // without Industry: that of the vertical
	Geography string
	CreatedAt string // RFC 3339; used only by Timestamps
	UpdatedAt string
	Problems  fault.Problems
}

// Campaign makes the campaign, without timestamps. It fails with fault.ValidationFailed, which lists every invalid
// field.
func (d CampaignDraft) Campaign(catalog Catalog) (Campaign, error) {
	c := checks{problems: slices.Clone(d.Problems)}
	made := Campaign{
		ID:        required[id.Campaign](&c, "id", d.ID),
		Name:      c.name("name", d.Name),
		Status:    oneOf(&c, "status", d.Status, StatusDraft, Statuses()),
		Geography: foreign[id.Geography](&c, "geography_id", d.Geography),
	}
	made.Industry, made.Vertical = c.branch(catalog, d.Industry, d.Vertical)
	if made.Geography != "" && !catalog.Geographies[made.Geography] {
		c.problems.Add(unknown("geography_id", "geography", made.Geography))
	}
	if len(c.problems) > 0 {
		return Campaign{ID: made.ID}, fault.Validation(c.problems)
	}
	return made, nil
}

// Timestamps are those of Draft.
func (d CampaignDraft) Timestamps(at time.Time) (created, updated time.Time, err error) {
	return timestamps(d.CreatedAt, d.UpdatedAt, at)
}

// MergeCampaigns compares campaigns with the stored ones, as Merge does for leads. It returns those to be inserted or
// replaced.
func MergeCampaigns(batch []Campaign, stored map[id.Campaign]Campaign, at time.Time) (changed []Campaign, change Change) {
	last := make(map[id.Campaign]int, len(batch))
	for i, one := range batch {
		last[one.ID] = i
	}
	for i, one := range batch {
		before, exists := stored[one.ID]
		one.LeadCount = before.LeadCount
		own := !one.UpdatedAt.IsZero()
		if !own {
			one.CreatedAt, one.UpdatedAt = before.CreatedAt, before.UpdatedAt
		}
		switch {
		case last[one.ID] != i || exists && one.same(before):
			change.Unchanged++
			continue
		case exists:
			change.Updated++
		default:
			change.Inserted++
		}
		if !own {
			one.UpdatedAt = at
		}
		if one.CreatedAt.IsZero() {
			one.CreatedAt = at
		}
		changed = append(changed, one)
	}
	return changed, change
}

func (c Campaign) same(other Campaign) bool {
	if !c.CreatedAt.Equal(other.CreatedAt) || !c.UpdatedAt.Equal(other.UpdatedAt) {
		return false
	}
	other.CreatedAt, other.UpdatedAt = c.CreatedAt, c.UpdatedAt // == would compare their time zones too
	return c == other
}
