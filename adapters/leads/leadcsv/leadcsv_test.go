package leadcsv_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"holdco/adapters/leads/importer"
	"holdco/adapters/leads/leadcsv"
	"holdco/adapters/leads/leadjson"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/money"
)

var (
	noon     = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	taxonomy = lead.Taxonomy{
		Industries: []lead.Industry{
			{ID: "ind_trade", Name: `Trade, "Crafts" & <Co>`, Slug: "trade"}, {ID: "ind_arts", Name: "Arts", Slug: "arts"},
		},
		Verticals: []lead.Vertical{{ID: "vrt_shops", Industry: "ind_trade", Name: "=Shops", Slug: "shops"}},
	}
	catalog = taxonomy.Catalog([]id.Campaign{"cam_a", "cam_b", "cam_c-1"})
)

// spelled makes the table of some leads.
func spelled(t testing.TB, shape leadjson.Shape, leads ...lead.Lead) string {
	t.Helper()
	names, err := taxonomy.Names()
	if err != nil {
		t.Fatal(err)
	}
	table := leadcsv.New(shape)
	text := table.AppendHeader(nil)
	for _, one := range leads {
		e := lead.Exported{Industry: one.Industry, Vertical: one.Vertical, Document: leadjson.Encode(one)}
		text = table.Append(text, e, names)
	}
	return string(text)
}

// drafts draws what an import can be sent.
func drafts() *rapid.Generator[lead.Draft] {
	line := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching(`'{0,2}[=+@\-"']{0,2}[A-Za-z]`).Draw(t, "begin") +
			rapid.StringOfN(rapid.RuneFrom([]rune(` ,;"'\/=+-@<{}[]:😀üß1n`)), 0, 20, -1).Draw(t, "rest") + "."
	})
	maybe := func(t *rapid.T, what string, some func() string) string {
		if rapid.Bool().Draw(t, "has "+what) {
			return some()
		}
		return ""
	}
	email := func(t *rapid.T) string {
		return rapid.StringMatching(`[=+'\-a-z]{1,5}@[a-z]{1,9}\.example`).Draw(t, "email")
	}
	return rapid.Custom(func(t *rapid.T) lead.Draft {
		page := func(of string) string {
			return maybe(t, of, func() string {
				return "https://" + of + ".example/" + rapid.StringMatching(`[a-z=+,"'@-]{0,9}`).Draw(t, of)
			})
		}
		d := lead.Draft{
			ID: rapid.StringMatching(`cmp_[0-9A-Za-z_-]{1,64}`).Draw(t, "id"), Name: line.Draw(t, "name"),
			Phone:   maybe(t, "phone", func() string { return rapid.StringMatching(`\+4930[1-9][0-9]{5,6}`).Draw(t, "phone") }),
			Email:   maybe(t, "email", func() string { return email(t) }),
			Website: maybe(t, "website", func() string { return rapid.StringMatching(`[a-z]{1,9}\.example`).Draw(t, "website") }),
			Rating: money.Number(maybe(t, "rating", func() string {
				return fmt.Sprintf("%.2f", float64(rapid.IntRange(0, 500).Draw(t, "rating"))/100)
			})),
			Enrichment: string(rapid.SampledFrom(lead.Enrichments()).Draw(t, "enrichment")),
			Social: lead.Social{
				Instagram: page("instagram"), Facebook: page("facebook"), LinkedIn: page("linkedin"), Twitter: page("twitter"),
				TikTok: page("tiktok"),
			},
			Campaigns: rapid.SliceOf(rapid.SampledFrom([]string{"cam_a", "cam_b", "cam_c-1"})).Draw(t, "campaigns"),
		}
		branch := rapid.SampledFrom([][2]string{{}, {"ind_arts"}, {"ind_trade"}, {"ind_trade", "vrt_shops"}}).Draw(t, "branch")
		d.Industry, d.Vertical = branch[0], branch[1]
		primary := rapid.IntRange(0, 6).Draw(t, "primary")
		for n := range rapid.IntRange(0, 6).Draw(t, "contacts") {
			d.Contacts = append(d.Contacts, lead.ContactDraft{
				ID: fmt.Sprintf("cnt_%d", n), Name: line.Draw(t, "contact"),
				Title: maybe(t, "title", func() string { return line.Draw(t, "title") }),
				Email: maybe(t, "email", func() string { return email(t) }), Primary: n == primary,
			})
		}
		return d
	})
}

// What is exported is imported as the same leads, whatever they hold.
func TestATableIsReadAsTheLeadsThatItWasMadeOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var leads []lead.Lead
		for range rapid.IntRange(1, 3).Draw(rt, "leads") {
			one, err := drafts().Draw(rt, "draft").Lead(catalog)
			if err != nil {
				rt.Fatal(err)
			}
			one.CreatedAt = noon
			one.UpdatedAt = noon.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(rt, "milliseconds")) * time.Millisecond)
			leads = append(leads, one)
		}
		table := spelled(t, leadjson.Shape{}, leads...)
		if got := strings.Count(table, "\n"); got != len(leads)+1 {
			rt.Fatalf("%d lines of %d leads: %s", got, len(leads), table)
		}
		var found []lead.Lead
		for line, err := range (importer.Files{}).Leads(strings.NewReader(table), importer.CSV) {
			if err != nil {
				rt.Fatal(err)
			}
			read, err := line.Draft.Read(catalog, lead.Rules{})
			if err != nil || read.Absent != 0 {
				rt.Fatalf("%s: %v, without %b", table, err, read.Absent)
			}
			read.CreatedAt, read.UpdatedAt, err = line.Draft.Timestamps(noon.AddDate(1, 0, 0))
			if err != nil {
				rt.Fatal(err)
			}
			found = append(found, read.Lead)
		}
		if diff := cmp.Diff(leads, found, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("%s\n%s", table, diff)
		}
	})
}

func TestATableLooksAsItAlwaysDid(t *testing.T) {
	t.Parallel()
	one := lead.Lead{
		ID: "cmp_1", Name: `Acme "Größe", Co`, Phone: "+4930123456", Rating: 450, Enrichment: lead.Deep,
		Industry: "ind_trade", Vertical: "vrt_shops", Social: lead.Social{LinkedIn: "https://l.example/a"},
		Campaigns: []id.Campaign{"cam_a", "cam_b"}, CreatedAt: noon, UpdatedAt: noon,
	}
	for n := range 5 {
		one.Contacts = append(one.Contacts, lead.Contact{ID: id.Contact(fmt.Sprintf("cnt_%d", n)), Name: "=Anna", Primary: n == 1})
	}
	bare := lead.Lead{ID: "cmp_2", Name: "-", Rating: lead.Unrated, Enrichment: lead.None, CreatedAt: noon, UpdatedAt: noon}
	want := "id,name,phone,email,website,google_rating,enrichment_level,social_media.instagram,social_media.facebook," +
		"social_media.linkedin,social_media.twitter,social_media.tiktok,industry.id,industry.name,industry.slug," +
		"vertical.id,vertical.name,vertical.slug,campaign_ids," +
		"contacts.0.id,contacts.0.name,contacts.0.title,contacts.0.email,contacts.0.is_primary_lead," +
		"contacts.1.id,contacts.1.name,contacts.1.title,contacts.1.email,contacts.1.is_primary_lead," +
		"contacts.2.id,contacts.2.name,contacts.2.title,contacts.2.email,contacts.2.is_primary_lead,contacts.more,created_at,updated_at\n" +
		`cmp_1,"Acme ""Größe"", Co",'+4930123456,,,4.5,deep,,,https://l.example/a,,,ind_trade,"Trade, ""Crafts"" & <Co>",trade,` +
		`vrt_shops,'=Shops,shops,cam_a cam_b,cnt_0,'=Anna,,,false,cnt_1,'=Anna,,,true,cnt_2,'=Anna,,,false,` +
		`"[{""id"":""cnt_3"",""name"":""=Anna"",""title"":null,""email"":null,""is_primary_lead"":false},` +
		`{""id"":""cnt_4"",""name"":""=Anna"",""title"":null,""email"":null,""is_primary_lead"":false}]",` +
		"2026-04-11T12:00:00.000Z,2026-04-11T12:00:00.000Z\n" +
		"cmp_2,'-,,,,,none" + strings.Repeat(",", 29) + "2026-04-11T12:00:00.000Z,2026-04-11T12:00:00.000Z\n"
	if diff := cmp.Diff(want, spelled(t, leadjson.Shape{}, one, bare)); diff != "" {
		t.Error(diff)
	}
}

func TestATableHasTheColumnsOfTheFieldsThatAreShown(t *testing.T) {
	t.Parallel()
	one := lead.Lead{
		ID: "cmp_1", Name: "Acme", Campaigns: []id.Campaign{"cam_a", "cam_b"}, Industry: "ind_arts",
		Contacts: []lead.Contact{{ID: "cnt_1", Name: "Anna"}},
	}
	for _, c := range []struct {
		fields []string
		view   lead.View
		want   string
	}{
		{[]string{"name"}, lead.View{}, "id,name\ncmp_1,Acme\n"},
		{[]string{"campaign_ids", "name"}, lead.View{Campaigns: []id.Campaign{"cam_b"}}, "id,name,campaign_ids\ncmp_1,Acme,cam_b\n"},
		{[]string{"industry"}, lead.View{NoContacts: true}, "id,industry.id,industry.name,industry.slug\ncmp_1,ind_arts,Arts,arts\n"},
	} {
		only, _ := lead.Show(c.fields)
		if diff := cmp.Diff(c.want, spelled(t, leadjson.Shape{View: c.view, Only: only}, one)); diff != "" {
			t.Error(diff)
		}
	}
	only, _ := lead.Show([]string{"contacts"})
	got := spelled(t, leadjson.Shape{View: lead.View{NoContacts: true}, Only: only}, one)
	if !strings.HasSuffix(got, "\ncmp_1"+strings.Repeat(",", 16)+"\n") {
		t.Error(got)
	}
}

func BenchmarkAppend(b *testing.B) {
	names, err := taxonomy.Names()
	if err != nil {
		b.Fatal(err)
	}
	one := lead.Lead{
		ID: "cmp_01h455vb4pex5vsknk084sn02q", Name: "Müller & Söhne GmbH", Phone: "+49301234567", Email: "info@mueller-soehne.example",
		Website: "mueller-soehne.example", Rating: 435, Enrichment: lead.Deep, Industry: "ind_trade", Vertical: "vrt_shops",
		Social: lead.Social{Instagram: "https://www.instagram.com/mueller", LinkedIn: "https://www.linkedin.com/company/mueller"},
		Contacts: []lead.Contact{
			{ID: "cnt_1", Name: "Anna Müller", Title: "CEO", Email: "anna@mueller-soehne.example", Primary: true},
			{ID: "cnt_2", Name: "Ben Smith", Title: "Head of \"Sales\"", Email: "ben@mueller-soehne.example"},
		},
		CreatedAt: noon, UpdatedAt: noon,
	}
	exported := lead.Exported{Industry: one.Industry, Vertical: one.Vertical, Document: leadjson.Encode(one)}
	table := leadcsv.New(leadjson.Shape{})
	var to []byte
	b.ReportAllocs()
	for b.Loop() {
		to = table.Append(to[:0], exported, names)
	}
}
