package lead

import (
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

// Shows reports whether the view shows a lead of an industry that is in these campaigns.
func (v View) Shows(industry id.Industry, campaigns []id.Campaign) bool {
	return among(v.Industries, industry) && anyAmong(v.Campaigns, campaigns)
}

// ShowsCampaign reports whether the view shows a campaign.
func (v View) ShowsCampaign(c Campaign) bool {
	return among(v.Campaigns, c.ID) && among(v.Industries, c.Industry)
}

// Equal reports whether two views show the same.
func (v View) Equal(other View) bool {
	return v.NoContacts == other.NoContacts && slices.Equal(v.Campaigns, other.Campaigns) && slices.Equal(v.Industries, other.Industries)
}
