package lead_test

import (
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
)

const (
	health id.Industry  = "ind_health"
	trade  id.Industry  = "ind_trade"
	dental id.Vertical  = "vrt_dental" // of health
	eyes   id.Vertical  = "vrt_eyes"   // of health
	shops  id.Vertical  = "vrt_shops"  // of trade
	berlin id.Geography = "geo_berlin"
	spring id.Campaign  = "cam_spring"
	autumn id.Campaign  = "cam_autumn"
)

var (
	noon     = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	taxonomy = lead.Taxonomy{
		Industries: []lead.Industry{{ID: health, Name: "Health", Slug: "health", Active: true},
			{ID: trade, Name: "Trade & <Co>", Slug: "trade"}},
		Verticals: []lead.Vertical{
			{ID: dental, Industry: health, Name: "Dental", Slug: "dental", Active: true},
			{ID: eyes, Industry: health, Name: "Eyes", Slug: "eyes"},
			{ID: shops, Industry: trade, Name: "Shops", Slug: "shops", Active: true},
		},
		Geographies: []lead.Geography{{ID: berlin, Name: "Berlin", Slug: "berlin", CountryCode: "DE"}},
	}
	catalog = taxonomy.Catalog([]id.Campaign{spring, autumn})
)
