package lead

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Taxonomy classifies leads and campaigns. Nothing in it is ever removed: what is no longer used is inactive. Each list
// is sorted by id.
type Taxonomy struct {
	Industries   []Industry
	Verticals    []Vertical
	Geographies  []Geography
	Intelligence []Intelligence
}

// Industry is a branch of business.
type Industry struct {
	ID     id.Industry
	Name   string
	Slug   string
	Active bool
}

// Vertical is a part of an industry.
type Vertical struct {
	ID       id.Vertical
	Industry id.Industry // never changes
	Name     string
	Slug     string
	Active   bool
}

// Geography is a region.
type Geography struct {
	ID          id.Geography
	Name        string
	Slug        string
	CountryCode string // ISO 3166-1 alpha-2, such as DE; empty: none
}

// Intelligence is market knowledge about a vertical.
type Intelligence struct {
	ID            id.Intelligence
	Vertical      id.Vertical
	Summary       string
	PainPoints    []string
	BuyingSignals []string
	UpdatedAt     time.Time
}

// Active returns the part of the taxonomy that is in use: active industries, their active verticals, the intelligence
// about these, and all geographies.
func (t Taxonomy) Active() Taxonomy {
	active := Taxonomy{Geographies: t.Geographies}
	industries, verticals := map[id.Industry]bool{}, map[id.Vertical]bool{}
	for _, industry := range t.Industries {
		if industry.Active {
			industries[industry.ID] = true
			active.Industries = append(active.Industries, industry)
		}
	}
	for _, vertical := range t.Verticals {
		if vertical.Active && industries[vertical.Industry] {
			verticals[vertical.ID] = true
			active.Verticals = append(active.Verticals, vertical)
		}
	}
	for _, intelligence := range t.Intelligence {
		if verticals[intelligence.Vertical] {
			active.Intelligence = append(active.Intelligence, intelligence)
		}
	}
	return active
}

// Fields returns the industries, the verticals and their intelligence as the export shows them.
func (t Taxonomy) Fields() event.Fields {
	return event.Fields{
		event.F("industries", shown(t.Industries)),
		event.F("verticals", shown(t.Verticals)),
		event.F("vertical_intelligence", shown(t.Intelligence)),
	}
}

// Fields returns the industry as the export shows it, in leads and campaigns too.
func (i Industry) Fields() event.Fields {
	return event.Fields{event.F("id", string(i.ID)), event.F("name", i.Name), event.F("slug", i.Slug)}
}

// Fields returns the vertical as the taxonomy shows it.
func (v Vertical) Fields() event.Fields {
	return append(v.reference(), event.F("industry_id", string(v.Industry)))
}

// reference returns the vertical as leads and campaigns show it.
func (v Vertical) reference() event.Fields {
	return event.Fields{event.F("id", string(v.ID)), event.F("name", v.Name), event.F("slug", v.Slug)}
}

// Fields returns the geography as campaigns show it.
func (g Geography) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(g.ID)), event.F("name", g.Name), event.F("slug", g.Slug), event.Optional("country_code", g.CountryCode),
	}
}

// Fields returns the intelligence as the export shows it.
func (i Intelligence) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(i.ID)),
		event.F("vertical_id", string(i.Vertical)),
		event.F("summary", i.Summary),
		event.F("pain_points", list(i.PainPoints)),
		event.F("buying_signals", list(i.BuyingSignals)),
		event.F("updated_at", instant.Format(i.UpdatedAt)),
	}
}

func shown[T interface{ Fields() event.Fields }](all []T) []event.Fields {
	fields := make([]event.Fields, len(all))
	for i, one := range all {
		fields[i] = one.Fields()
	}
	return fields
}

// list returns an empty list for nil, so that it is not encoded as null.
func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
