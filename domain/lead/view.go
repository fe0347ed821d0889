package lead

import (
	"fmt"
	"slices"

	"holdco/domain/id"
)

// View is what of the export a partner may see. The zero value shows all of it. What a view does not show is not there for
// whoever has it: a filter with a view counts and finds what both select.
type View struct {
	Campaigns  []id.Campaign // leads that are in one of these campaigns, and these campaigns; empty: any
	Industries []id.Industry // leads, campaigns and the part of the taxonomy of these industries; empty: any
	NoContacts bool          // without the people at a lead; phone and email of the lead itself are those of the company
}

// IsAll reports whether the view shows every lead. It may still hide contacts.
func (v View) IsAll() bool { return len(v.Campaigns) == 0 && len(v.Industries) == 0 }

// Text spells the view: empty, if it shows everything. Two views with one text show the same.
func (v View) Text() string {
	if v.IsAll() && !v.NoContacts {
		return ""
	}
	return fmt.Sprint(v.Campaigns, v.Industries, v.NoContacts)
}

// Shows reports whether the view shows a lead of an industry that is in these campaigns.
func (v View) Shows(industry id.Industry, campaigns []id.Campaign) bool {
	return among(v.Industries, industry) && anyAmong(v.Campaigns, campaigns)
}

// ShowsCampaign reports whether the view shows a campaign.
func (v View) ShowsCampaign(c Campaign) bool {
	return among(v.Campaigns, c.ID) && among(v.Industries, c.Industry)
}

// Equal reports whether two views show the same.
func (v View) Equal(other View) bool { return v.Text() == other.Text() }

// Of returns the part of a taxonomy that the view shows.
func (v View) Of(t Taxonomy) Taxonomy {
	if len(v.Industries) == 0 {
		return t
	}
	verticals := map[id.Vertical]bool{}
	shown := Taxonomy{Geographies: t.Geographies}
	for _, industry := range t.Industries {
		if among(v.Industries, industry.ID) {
			shown.Industries = append(shown.Industries, industry)
		}
	}
	for _, vertical := range t.Verticals {
		if verticals[vertical.ID] = among(v.Industries, vertical.Industry); verticals[vertical.ID] {
			shown.Verticals = append(shown.Verticals, vertical)
		}
	}
	for _, intelligence := range t.Intelligence {
		if verticals[intelligence.Vertical] {
			shown.Intelligence = append(shown.Intelligence, intelligence)
		}
	}
	return shown
}

// Unknown returns the ids of campaigns and industries in the view that are neither among these campaigns nor in the taxonomy.
func (v View) Unknown(taxonomy Taxonomy, campaigns []Campaign) (unknown []string) {
	for _, which := range v.Campaigns {
		if !slices.ContainsFunc(campaigns, func(c Campaign) bool { return c.ID == which }) {
			unknown = append(unknown, string(which))
		}
	}
	for _, which := range v.Industries {
		if !slices.ContainsFunc(taxonomy.Industries, func(i Industry) bool { return i.ID == which }) {
			unknown = append(unknown, string(which))
		}
	}
	return unknown
}
