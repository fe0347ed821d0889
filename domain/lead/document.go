package lead

import (
	"encoding/json"
	"time"

	"holdco/domain/id"
)

// Document is a lead as the export shows it, encoded, without its industry and vertical: their names belong to the
// taxonomy, which may change while the lead does not. So a store keeps the two halves around them. The domain treats
// them as opaque.
type Document struct{ Head, Tail string }

// Size is how many bytes it has.
func (d Document) Size() int64 { return int64(len(d.Head) + len(d.Tail)) }

// Exported is a lead as stores return it for the export.
type Exported struct {
	Place     Place
	MovedFrom time.Time // see Stored
	Industry  id.Industry
	Vertical  id.Vertical
	Document  Document
}

// Names are the names of a taxonomy, encoded in JSON to be shown in leads and campaigns. They may know which campaigns are of which
// industry.
type Names struct {
	industries  map[id.Industry]json.RawMessage
	verticals   map[id.Vertical]json.RawMessage
	geographies map[id.Geography]json.RawMessage
	campaigns   map[id.Campaign]id.Industry
}

// Names encodes the names of the taxonomy, including inactive ones.
func (t Taxonomy) Names() (Names, error) {
	names := Names{
		industries:  make(map[id.Industry]json.RawMessage, len(t.Industries)),
		verticals:   make(map[id.Vertical]json.RawMessage, len(t.Verticals)),
		geographies: make(map[id.Geography]json.RawMessage, len(t.Geographies)),
	}
	var err error
	for _, industry := range t.Industries {
		if names.industries[industry.ID], err = industry.Fields().MarshalJSON(); err != nil {
			return Names{}, err
		}
	}
	for _, vertical := range t.Verticals {
		if names.verticals[vertical.ID], err = vertical.reference().MarshalJSON(); err != nil {
			return Names{}, err
		}
	}
	for _, geography := range t.Geographies {
		if names.geographies[geography.ID], err = geography.Fields().MarshalJSON(); err != nil {
			return Names{}, err
		}
	}
	return names, nil
}

// WithCampaigns returns the names with the industries that campaigns have. Views of industries show none of the others.
func (n Names) WithCampaigns(industries map[id.Campaign]id.Industry) Names {
	n.campaigns = industries
	return n
}

// ShowsCampaign reports whether a view shows the campaign with an id.
func (n Names) ShowsCampaign(view View, which id.Campaign) bool {
	return view.ShowsCampaign(Campaign{ID: which, Industry: n.campaigns[which]})
}

// Industry returns an industry as leads show it, in JSON; null if it does not exist.
func (n Names) Industry(which id.Industry) json.RawMessage { return encoded(n.industries, which) }

// Vertical returns a vertical as leads show it, in JSON; null if it does not exist.
func (n Names) Vertical(which id.Vertical) json.RawMessage { return encoded(n.verticals, which) }

// Geography returns a geography as campaigns show it, in JSON; null if it does not exist.
func (n Names) Geography(which id.Geography) json.RawMessage { return encoded(n.geographies, which) }

// encoded returns null for an unknown id.
func encoded[I ~string](names map[I]json.RawMessage, which I) json.RawMessage {
	if name, found := names[which]; found {
		return name
	}
	return json.RawMessage("null")
}
