package leadjson

import (
	"slices"
	"strings"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// AppendFor is Append for whoever has a view: contacts that it does not show are left out, and the list of them is empty; so are campaigns.
func AppendFor(to []byte, view lead.View, e lead.Exported, names lead.Names) []byte {
	if len(view.Campaigns) > 0 {
		e.Document.Tail = withCampaigns(e.Document.Tail, view.Campaigns)
	}
	if view.NoContacts {
		e.Document.Tail = withoutContacts(e.Document.Tail)
	}
	return Append(to, e, names)
}

// withoutContacts empties the list of contacts. Between quotes there is no quote that is not escaped, so what begins and what follows
// the list is found nowhere else.
func withoutContacts(tail string) string {
	const begins, follows = `"contacts":[`, `],"created_at":"`
	before, rest, found := strings.Cut(tail, begins)
	_, after, ends := strings.Cut(rest, follows)
	if !found || !ends {
		panic("the document of a lead has another form than Encode gives it")
	}
	return before + begins + follows + after
}

// withCampaigns leaves of the list of campaigns, with which a tail begins, those that are shown. Their ids have no quotes.
func withCampaigns(tail string, shown []id.Campaign) string {
	const begins, follows = `"campaign_ids":[`, `]`
	list, isOne := strings.CutPrefix(tail, begins)
	list, after, ends := strings.Cut(list, follows)
	if !isOne || !ends {
		panic("the document of a lead has another form than Encode gives it")
	}
	var kept []string
	for one := range strings.SplitSeq(list, ",") {
		if slices.Contains(shown, id.Campaign(strings.Trim(one, `"`))) {
			kept = append(kept, one)
		}
	}
	return begins + strings.Join(kept, ",") + follows + after
}
