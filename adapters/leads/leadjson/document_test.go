package leadjson_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"holdco/adapters/leads/leadjson"
	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestAViewCutsWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	document := leadjson.Encode(lead.Lead{
		ID: "cmp_1", Name: `"campaign_ids":["cam_a"]`, Campaigns: []id.Campaign{"cam_a", "cam_b", "cam_c"},
		Contacts: []lead.Contact{{ID: "cnt_1", Name: `],"created_at":"`}},
	})
	for _, c := range []struct {
		view lead.View
		want string
	}{
		{lead.View{}, `"campaign_ids":["cam_a","cam_b","cam_c"],"contacts":[{`},
		{lead.View{Campaigns: []id.Campaign{"cam_b", "cam_c", "cam_d"}}, `"campaign_ids":["cam_b","cam_c"],"contacts":[{`},
		{lead.View{Campaigns: []id.Campaign{"cam_d"}, NoContacts: true}, `"campaign_ids":[],"contacts":[],"created_at":"`},
		{lead.View{Industries: []id.Industry{"ind_arts"}}, `"campaign_ids":["cam_a","cam_b"],"contacts":[{`},
		{lead.View{Industries: []id.Industry{"ind_none"}}, `"campaign_ids":[],"contacts":[{`},
		{lead.View{Industries: []id.Industry{"ind_arts"}, Campaigns: []id.Campaign{"cam_b", "cam_c"}}, `"campaign_ids":["cam_b"],`},
	} {
		names := lead.Names{}.WithCampaigns(map[id.Campaign]id.Industry{"cam_a": "ind_arts", "cam_b": "ind_arts", "cam_c": "ind_else"})
		got := string(leadjson.Shape{View: c.view}.Append(nil, lead.Exported{Document: document}, names))
		if !json.Valid([]byte(got)) || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c.view, got)
		}
	}
}

// What is cut out of a lead is what is left of it when it is decoded, the other fields are dropped, and it is encoded anew.
func TestALeadIsCutToItsFields(t *testing.T) {
	t.Parallel()
	names, err := taxonomy.Names()
	if err != nil {
		t.Fatal(err)
	}
	texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`["\\\[\]{},:]{0,9}`))
	rapid.Check(t, func(t *rapid.T) {
		one := leads(texts).Draw(t, "lead")
		e := lead.Exported{Industry: one.Industry, Vertical: one.Vertical, Document: leadjson.Encode(one)}
		asked := rapid.SliceOfDistinct(rapid.SampledFrom(lead.FieldNames()), rapid.ID).Draw(t, "fields")
		only, ok := lead.Show(asked)
		if !ok {
			t.Fatalf("there are no fields %v", asked)
		}
		shape := leadjson.Shape{Only: only}
		if rapid.Bool().Draw(t, "a view") {
			shape.View = lead.View{Campaigns: []id.Campaign{"cam_b"}, NoContacts: true}
		}
		var whole, cut map[string]json.RawMessage
		if err := json.Unmarshal(leadjson.Shape{View: shape.View}.Append(nil, e, names), &whole); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(whole, func(name string, _ json.RawMessage) bool { return name != "id" && !slices.Contains(asked, name) })
		text := shape.Append(nil, e, names)
		if err := json.Unmarshal(text, &cut); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(whole, cut); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestALeadIsShownWithTheFieldsThatHaveNames(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range leadjson.Members(exported(t, lead.Lead{Name: "Acme"})) {
		names = append(names, name)
	}
	if diff := cmp.Diff(lead.FieldNames(), names); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsEncodedIsTakenApart(t *testing.T) {
	t.Parallel()
	members := map[string]string{}
	for name, value := range leadjson.Members(`{"a":"\\\"]","b":{"c":["}",{"d":null}]},"e":-1.5,"f":true}`) {
		members[name] = value
	}
	want := map[string]string{"a": `"\\\"]"`, "b": `{"c":["}",{"d":null}]}`, "e": "-1.5", "f": "true"}
	if diff := cmp.Diff(want, members); diff != "" {
		t.Error(diff)
	}
	var items []string
	for item, rest := range leadjson.Items(`["a",[1,2],{"b":","}]`) {
		items = append(items, item, rest)
	}
	if diff := cmp.Diff([]string{`"a"`, `"a",[1,2],{"b":","}`, "[1,2]", `[1,2],{"b":","}`, `{"b":","}`, `{"b":","}`}, items); diff != "" {
		t.Error(diff)
	}
	for _, empty := range []string{"null", "[]", "{}"} {
		for item := range leadjson.Items(empty) {
			t.Errorf("%s has %s", empty, item)
		}
		for name := range leadjson.Members(empty) {
			t.Errorf("%s has %s", empty, name)
		}
	}
}

// shown is a lead as the public API describes it.
type shown struct {
	ID              string         `json:"id"`
	Name            string         `json:"name"`
	Phone           *string        `json:"phone"`
	Email           *string        `json:"email"`
	Website         *string        `json:"website"`
	GoogleRating    *float64       `json:"google_rating"`
	EnrichmentLevel string         `json:"enrichment_level"`
	SocialMedia     shownSocial    `json:"social_media"`
	Industry        *shownName     `json:"industry"`
	Vertical        *shownName     `json:"vertical"`
	CampaignIDs     []string       `json:"campaign_ids"`
	Contacts        []shownContact `json:"contacts"`
	CreatedAt       string         `json:"created_at"`
	UpdatedAt       string         `json:"updated_at"`
}

type shownSocial struct {
	Instagram *string `json:"instagram"`
	Facebook  *string `json:"facebook"`
	LinkedIn  *string `json:"linkedin"`
	Twitter   *string `json:"twitter"`
	TikTok    *string `json:"tiktok"`
}

type shownName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}

type shownContact struct {
	ID            string  `json:"id"`
	Name          *string `json:"name"`
	Title         *string `json:"title"`
	Email         *string `json:"email"`
	IsPrimaryLead bool    `json:"is_primary_lead"`
}

// show is what the export of a lead should be.
func show(l lead.Lead) shown {
	s := shown{
		ID: string(l.ID), Name: l.Name, Phone: optional(l.Phone), Email: optional(l.Email), Website: optional(l.Website),
		EnrichmentLevel: string(l.Enrichment),
		SocialMedia: shownSocial{
			optional(l.Social.Instagram), optional(l.Social.Facebook), optional(l.Social.LinkedIn),
			optional(l.Social.Twitter), optional(l.Social.TikTok),
		},
		CampaignIDs: []string{}, Contacts: []shownContact{},
		CreatedAt: l.CreatedAt.Format("2006-01-02T15:04:05.000Z"), UpdatedAt: l.UpdatedAt.Format("2006-01-02T15:04:05.000Z"),
	}
	if l.Rating != lead.Unrated {
		s.GoogleRating = new(float64(l.Rating) / 100)
	}
	for _, industry := range taxonomy.Industries {
		if industry.ID == l.Industry {
			s.Industry = &shownName{string(industry.ID), industry.Name, industry.Slug}
		}
	}
	for _, vertical := range taxonomy.Verticals {
		if vertical.ID == l.Vertical {
			s.Vertical = &shownName{string(vertical.ID), vertical.Name, vertical.Slug}
		}
	}
	for _, campaign := range l.Campaigns {
		s.CampaignIDs = append(s.CampaignIDs, string(campaign))
	}
	for _, c := range l.Contacts {
		s.Contacts = append(s.Contacts, shownContact{string(c.ID), optional(c.Name), optional(c.Title), optional(c.Email), c.Primary})
	}
	return s
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// exported is how a lead is exported.
func exported(t interface{ Fatal(...any) }, l lead.Lead) string {
	names, err := taxonomy.Names()
	if err != nil {
		t.Fatal(err)
	}
	exported := lead.Exported{Place: l.Place(), Industry: l.Industry, Vertical: l.Vertical, Document: leadjson.Encode(l)}
	return string(leadjson.Append(nil, exported, names))
}

func TestALeadIsExportedWithAllItsFields(t *testing.T) {
	t.Parallel()
	one := lead.Lead{ID: "cmp_acme", Enrichment: lead.Deep, UpdatedAt: noon}
	one.Name = `Acme "Größe" <b>&amp;</b> \o/ 😀`
	one.Phone, one.Email, one.Website = "+49 30 123", "info@acme.example", "https://acme.example/?a=1&b=2"
	one.Rating = 429
	one.Social = lead.Social{Instagram: "https://i.example/a", Facebook: "https://f.example/a", LinkedIn: "https://l.example/a",
		Twitter: "https://x.example/a", TikTok: "https://t.example/a"}
	one.Industry, one.Vertical = trade, shops
	one.Contacts = []lead.Contact{
		{ID: "cnt_1", Name: "Anna", Title: "CEO", Email: "anna@acme.example", Primary: true},
		{ID: "cnt_2", Email: "ben@acme.example"},
	}
	one.Campaigns = []id.Campaign{"cam_autumn", "cam_spring"}
	one.CreatedAt = noon.Add(-time.Hour)
	want := `{"id":"cmp_acme","name":"Acme \"Größe\" <b>&amp;</b> \\o/ 😀","phone":"+49 30 123","email":"info@acme.example",` +
		`"website":"https://acme.example/?a=1&b=2","google_rating":4.29,"enrichment_level":"deep","social_media":{` +
		`"instagram":"https://i.example/a","facebook":"https://f.example/a",` +
		`"linkedin":"https://l.example/a","twitter":"https://x.example/a",` +
		`"tiktok":"https://t.example/a"},"industry":{"id":"ind_trade","name":"Trade & <Co>","slug":"trade"},` +
		`"vertical":{"id":"vrt_shops","name":"Shops","slug":"shops"},"campaign_ids":["cam_autumn","cam_spring"],"contacts":[` +
		`{"id":"cnt_1","name":"Anna","title":"CEO","email":"anna@acme.example","is_primary_lead":true},` +
		`{"id":"cnt_2","name":null,"title":null,"email":"ben@acme.example","is_primary_lead":false}],` +
		`"created_at":"2026-04-11T11:00:00.000Z","updated_at":"2026-04-11T12:00:00.000Z"}`
	if got := exported(t, one); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestWhatALeadHasNotIsExportedAsNull(t *testing.T) {
	t.Parallel()
	bare := lead.Lead{ID: "cmp_1", Name: "Acme", Rating: lead.Unrated, Enrichment: lead.None, CreatedAt: noon, UpdatedAt: noon}
	want := `{"id":"cmp_1","name":"Acme","phone":null,"email":null,"website":null,"google_rating":null,"enrichment_level":"none",` +
		`"social_media":{"instagram":null,"facebook":null,"linkedin":null,"twitter":null,"tiktok":null},"industry":null,"vertical":null,` +
		`"campaign_ids":[],"contacts":[],"created_at":"2026-04-11T12:00:00.000Z","updated_at":"2026-04-11T12:00:00.000Z"}`
	if got := exported(t, bare); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// leads draws leads whose texts may hold whatever a lead may hold.
func leads(texts *rapid.Generator[string]) *rapid.Generator[lead.Lead] {
	return rapid.Custom(func(t *rapid.T) lead.Lead {
		text := func(label string) string { return texts.Draw(t, label) }
		l := lead.Lead{
			ID:    id.Lead(rapid.StringMatching(`cmp_[0-9A-Za-z_-]{1,64}`).Draw(t, "id")),
			Name:  text("name"),
			Phone: text("phone"), Email: text("email"), Website: text("website"),
			Rating:     lead.Rating(rapid.IntRange(-1, 500).Draw(t, "rating")),
			Enrichment: rapid.SampledFrom(lead.Enrichments()).Draw(t, "enrichment"),
			Social: lead.Social{Instagram: text("instagram"), Facebook: text("facebook"), LinkedIn: text("linkedin"),
				Twitter: text("twitter"), TikTok: text("tiktok")},
			Industry:  rapid.SampledFrom([]id.Industry{"", health, trade}).Draw(t, "industry"),
			Vertical:  rapid.SampledFrom([]id.Vertical{"", dental, eyes, shops}).Draw(t, "vertical"),
			CreatedAt: noon,
			UpdatedAt: noon.Add(time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "milliseconds")) * time.Millisecond),
		}
		for n := range rapid.IntRange(0, 2).Draw(t, "campaigns") {
			l.Campaigns = append(l.Campaigns, []id.Campaign{"cam_a-1", "cam_b"}[n])
		}
		for range rapid.IntRange(0, 3).Draw(t, "contacts") {
			l.Contacts = append(l.Contacts, lead.Contact{
				ID: "cnt_1", Name: text("contact"), Title: text("title"), Email: text("contact's email"), Primary: rapid.Bool().Draw(t,
					"primary"),
			})
		}
		return l
	})
}

func TestALeadIsExportedAsJSONEncodesIt(t *testing.T) {
	t.Parallel()
	// These encoding/json writes in shorter or longer ways of its own; no lead holds them.
	texts := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != '\u2028' && r != '\u2029' }))
	rapid.Check(t, func(t *rapid.T) {
		one := leads(texts).Draw(t, "lead")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(show(one)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), exported(t, one)+"\n"); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestNoTextBreaksTheExport(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := leads(rapid.String()).Draw(t, "lead")
		text := exported(t, one)
		var got shown
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&got); err != nil || strings.ContainsAny(text, "\n\r") {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(show(one), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestALeadIsAppendedToWhatIsThere(t *testing.T) {
	t.Parallel()
	exported := lead.Exported{Industry: "ind_unheard_of", Document: lead.Document{Head: `{"id":"cmp_1"`, Tail: `"contacts":[]}`}}
	got := string(leadjson.Append([]byte("["), exported, lead.Names{}))
	if want := `[{"id":"cmp_1","industry":null,"vertical":null,"contacts":[]}`; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

func TestWhatWasEncodedIsDecoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := leads(rapid.String()).Draw(t, "lead")
		got, err := leadjson.Decode(leadjson.Encode(one))
		if err != nil {
			t.Fatal(err)
		}
		one.Industry, one.Vertical = "", "" // which no document holds
		if diff := cmp.Diff(one, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestOlderAndLaterFormsAreDecoded(t *testing.T) {
	t.Parallel()
	for what, d := range map[string]lead.Document{
		"older": {Head: `{"id":"cmp_1","name":"Acme"`, Tail: `"contacts":[{"id":"cnt_1","name":"Anna"}]}`},
		"later": {
			Head: `{"id":"cmp_1","name":"Acme","employees":{"least":10},"google_rating":null`,
			Tail: `"contacts":[{"id":"cnt_1","name":"Anna","mood":"fine"}],"seen":[1]}`,
		},
	} {
		want := lead.Lead{ID: "cmp_1", Name: "Acme", Rating: lead.Unrated, Contacts: []lead.Contact{{ID: "cnt_1", Name: "Anna"}}}
		got, err := leadjson.Decode(d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if got, err := leadjson.Decode(lead.Document{Head: "{", Tail: "}"}); err == nil {
		t.Errorf("%+v", got)
	}
}

func TestRatingsAreShownInTheirShortestForm(t *testing.T) {
	t.Parallel()
	shown := func(rating lead.Rating) string {
		_, text, _ := strings.Cut(leadjson.Encode(lead.Lead{Rating: rating}).Head, `"google_rating":`)
		text, _, _ = strings.Cut(text, ",")
		return text
	}
	for rating, want := range map[lead.Rating]string{
		lead.Unrated: "null", 0: "0", 1: "0.01", 10: "0.1", 100: "1", 405: "4.05", 429: "4.29", 450: "4.5", lead.MostRating: "5",
	} {
		if got := shown(rating); got != want {
			t.Errorf("%d: %s; want %s", rating, got, want)
		}
	}
	for rating := lead.Rating(0); rating <= lead.MostRating; rating++ {
		if again, ok := lead.ParseMinRating(shown(rating)); again != rating || !ok {
			t.Errorf("%d is shown as %s", rating, shown(rating))
		}
	}
}
