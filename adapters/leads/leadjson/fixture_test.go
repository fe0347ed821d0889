package leadjson_test

import (
	"slices"
	"testing"
	"time"

	"holdco/adapters/leads/leadjson"
	"holdco/domain/id"
	"holdco/domain/lead"
)

const (
	health id.Industry = "ind_health"
	trade  id.Industry = "ind_trade"
	dental id.Vertical = "vrt_dental" // of health
	eyes   id.Vertical = "vrt_eyes"   // of health
	shops  id.Vertical = "vrt_shops"  // of trade
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
	}
)

// BenchmarkEncode is what a store does with each of millions of leads of an import.
func BenchmarkEncode(b *testing.B) {
	one := lead.Lead{
		ID: "cmp_01h455vb4pex5vsknk084sn02q", Name: "Müller & Söhne GmbH", Phone: "+49 30 1234567", Email: "info@mueller-soehne.example",
		Website: "https://mueller-soehne.example", Rating: 435, Enrichment: lead.Deep,
		Social: lead.Social{
			Instagram: "https://www.instagram.com/mueller", Facebook: "https://www.facebook.com/mueller",
			LinkedIn: "https://www.linkedin.com/company/mueller",
		},
		Contacts: []lead.Contact{
			{ID: "cnt_1", Name: "Anna Müller", Title: "CEO", Email: "anna@mueller-soehne.example", Primary: true},
			{ID: "cnt_2", Name: "Ben Smith", Title: "Head of \"Sales\"", Email: "ben@mueller-soehne.example"},
		},
		CreatedAt: noon, UpdatedAt: noon,
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			leadjson.Encode(one)
		}
	})
	names, err := taxonomy.Names()
	if err != nil {
		b.Fatal(err)
	}
	exported := lead.Exported{Industry: health, Vertical: dental, Document: leadjson.Encode(one)}
	run := func(name string, spell func(to []byte) []byte) {
		b.Run(name, func(b *testing.B) {
			var to []byte
			b.ReportAllocs()
			for b.Loop() {
				to = spell(to[:0])
			}
		})
	}
	run("append", func(to []byte) []byte { return leadjson.Append(to, exported, names) })
	for name, fields := range map[string][]string{
		"cut to id and name": {"name"}, "cut to a few": {"name", "email", "industry", "updated_at"}, "cut of contacts": slices.DeleteFunc(
			lead.FieldNames(), func(name string) bool { return name == "contacts" }),
	} {
		only, _ := lead.Show(fields)
		run(name, func(to []byte) []byte { return leadjson.Shape{Only: only}.Append(to, exported, names) })
	}
	run("decoded and encoded anew, to compare", func(to []byte) []byte {
		decoded, err := leadjson.Decode(exported.Document)
		if err != nil {
			b.Fatal(err)
		}
		return append(to, leadjson.Encode(decoded).Head...)
	})
}
