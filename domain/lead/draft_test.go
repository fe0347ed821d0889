package lead_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/money"
)

// codes are the codes of what is wrong, by path.
func codes(err error) map[string]string {
	if err == nil {
		return nil
	}
	found := map[string]string{}
	for _, field := range fault.Of(err).Fields {
		found[field.Path] = field.Code
	}
	return found
}

func TestADraftBecomesALead(t *testing.T) {
	t.Parallel()
	draft := lead.Draft{
		ID: "cmp_Acme-1", Name: " Cafe\u0301 ", Phone: " +49 30 123456 ", Email: " Info@acme.example ", Website: " https://Acme.example ",
		Rating: "4.50", Enrichment: "standard",
		Social: lead.Social{
			Instagram: " https://i.example/a ", Facebook: "http://f.example", LinkedIn: "https://l.example/a",
			Twitter: "https://x.example/a", TikTok: "https://t.example/@a",
		},
		Industry: string(health), Vertical: string(eyes),
		Contacts: []lead.ContactDraft{
			{ID: "cnt_1", Name: " Anna ", Title: " CEO ", Email: " anna@acme.example ", Primary: true},
			{ID: "cnt_2", Email: "ben@acme.example"},
		},
		Campaigns: []string{string(spring), string(autumn), string(spring)},
		CreatedAt: "not looked at",
	}
	got, err := draft.Lead(catalog)
	want := lead.Lead{
		ID: "cmp_Acme-1", Name: "Caf\u00e9", Phone: "+4930123456", Email: "Info@acme.example", Website: "acme.example",
		Rating: 450, Enrichment: lead.Standard,
		Social: lead.Social{
			Instagram: "https://i.example/a", Facebook: "http://f.example", LinkedIn: "https://l.example/a",
			Twitter: "https://x.example/a", TikTok: "https://t.example/@a",
		},
		Industry: health, Vertical: eyes,
		Contacts: []lead.Contact{
			{ID: "cnt_1", Name: "Anna", Title: "CEO", Email: "anna@acme.example", Primary: true},
			{ID: "cnt_2", Email: "ben@acme.example"},
		},
		Campaigns: []id.Campaign{autumn, spring},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestOnlyTheNameIsRequired(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{"", " ", "\t\n"} {
		draft := lead.Draft{
			ID: blank, Name: "Acme", Phone: blank, Email: blank, Website: blank, Rating: money.Number(blank), Enrichment: blank,
			Social:   lead.Social{Instagram: blank, Facebook: blank, LinkedIn: blank, Twitter: blank, TikTok: blank},
			Industry: blank, Vertical: blank, Contacts: []lead.ContactDraft{{ID: blank, Name: "Anna", Title: blank, Email: blank}},
			Campaigns: []string{blank},
		}
		got, err := draft.Lead(catalog)
		want := lead.Lead{
			ID: id.Derive[id.Lead]("name", "acme"), Name: "Acme", Rating: lead.Unrated, Enrichment: lead.None,
			Contacts: []lead.Contact{{ID: id.Derive[id.Contact](string(got.ID), "name", "anna"), Name: "Anna"}},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %s, %v", blank, diff, err)
		}
	}
}

func TestADraftOfALeadReportsAllThatIsWrongAtOnce(t *testing.T) {
	t.Parallel()
	draft := lead.Draft{
		ID: "acme", Name: " ", Phone: "1\x00", Email: "acme.example", Website: "acme example", Rating: "5.1", Enrichment: "deepest",
		Social: lead.Social{Instagram: "i", Facebook: "ftp://f.example", LinkedIn: "l.example", Twitter: "//x.example",
			TikTok: "https://"},
		Industry: "ind_none", Vertical: "vrt_none",
		Contacts: []lead.ContactDraft{{ID: "cmp_1", Name: "a\u202eb", Title: "\x01", Email: "@"}, {Title: "CEO"},
			{ID: "cnt_1", Email: "a@b.c"}, {ID: "cnt_1", Email: "d@e.f"}},
		Campaigns: []string{string(spring), "cam_none", "spring"},
		Problems:  fault.Problems{fault.Fieldf("color", fault.UnknownField, "no"), fault.Fieldf("email", fault.WrongType, "no")},
	}
	made, err := draft.Lead(catalog)
	want := map[string]string{
		"color": fault.UnknownField, "email": fault.WrongType,
		"id": fault.InvalidFormat, "name": fault.Required, "phone": fault.InvalidCharacters, "website": fault.InvalidFormat,
		"google_rating": fault.OutOfRange, "enrichment_level": fault.UnknownValue,
		"social_media.instagram": fault.InvalidFormat, "social_media.facebook": fault.InvalidFormat,
		"social_media.linkedin": fault.InvalidFormat,
		"social_media.twitter":  fault.InvalidFormat, "social_media.tiktok": fault.InvalidFormat,
		"industry_id": fault.UnknownValue, "vertical_id": fault.UnknownValue,
		"contacts.0.id": fault.InvalidFormat, "contacts.0.name": fault.InvalidCharacters, "contacts.0.title": fault.InvalidCharacters,
		"contacts.0.email": fault.InvalidFormat, "contacts.1.name": fault.Required, "contacts.3.id": fault.Duplicate,
		"campaign_ids.1": fault.UnknownValue, "campaign_ids.2": fault.InvalidFormat,
	}
	if diff := cmp.Diff(want, codes(err)); diff != "" || fault.CodeOf(err) != fault.ValidationFailed {
		t.Error(diff, err)
	}
	if diff := cmp.Diff(lead.Lead{}, made); diff != "" {
		t.Error(diff)
	}
	for _, field := range fault.Of(err).Fields {
		if field.Message == "" || strings.Contains(field.Message, "%!") {
			t.Errorf("%+v", field)
		}
	}
	if len(draft.Problems) != 2 {
		t.Errorf("the draft changed: %v", draft.Problems)
	}
}

func TestEveryFieldOfALeadHasItsBounds(t *testing.T) {
	t.Parallel()
	long := func(length int) string { return strings.Repeat("é", length) }
	page := func(length int) string { return "https://" + strings.Repeat("a", length-len("https://")) }
	contacts := func(count int) []lead.ContactDraft {
		all := make([]lead.ContactDraft, count)
		for i := range all {
			all[i].Name = fmt.Sprint("Anna ", i)
		}
		return all
	}
	campaigns := func(count int) []string {
		all := make([]string, count)
		for i := range all {
			all[i] = string(spring)
		}
		return all
	}
	for name, c := range map[string]struct {
		set        func(*lead.Draft)
		path, code string // empty: it is in order
	}{
		"name of 200":          {set: func(d *lead.Draft) { d.Name = long(200) }},
		"name of 201":          {func(d *lead.Draft) { d.Name = long(201) }, "name", fault.TooLong},
		"name with NUL":        {func(d *lead.Draft) { d.Name = "a\x00b" }, "name", fault.InvalidCharacters},
		"name with bidi":       {func(d *lead.Draft) { d.Name = "a\u2066b" }, "name", fault.InvalidCharacters},
		"name with line break": {func(d *lead.Draft) { d.Name = "a\nb" }, "name", fault.InvalidCharacters},
		"name not UTF-8":       {func(d *lead.Draft) { d.Name = "a\xff" }, "name", fault.InvalidCharacters},
		"no name":              {func(d *lead.Draft) { d.Name = "" }, "name", fault.Required},
		"phone of 50":          {set: func(d *lead.Draft) { d.Phone = "+49" + strings.Repeat("-", 39) + "30123456" }},
		"phone of 51":          {func(d *lead.Draft) { d.Phone = long(51) }, "phone", fault.TooLong},
		"phone with NUL":       {func(d *lead.Draft) { d.Phone = "1\x002" }, "phone", fault.InvalidCharacters},
		"email of 254":         {set: func(d *lead.Draft) { d.Email = long(252) + "@b" }},
		"email of 255":         {func(d *lead.Draft) { d.Email = long(253) + "@b" }, "email", fault.TooLong},
		"email, two at":        {func(d *lead.Draft) { d.Email = "a@b@c" }, "email", fault.InvalidFormat},
		"email, no local":      {func(d *lead.Draft) { d.Email = "@b" }, "email", fault.InvalidFormat},
		"email, no domain":     {func(d *lead.Draft) { d.Email = "a@" }, "email", fault.InvalidFormat},
		"email, space":         {func(d *lead.Draft) { d.Email = "a b@c" }, "email", fault.InvalidFormat},
		"email, wide space":    {func(d *lead.Draft) { d.Email = "a\u3000b@c" }, "email", fault.InvalidFormat},
		"email with NUL":       {func(d *lead.Draft) { d.Email = "a@b\x00" }, "email", fault.InvalidCharacters},
		"website, a domain":    {set: func(d *lead.Draft) { d.Website = "acme.example" }},
		"website of 2048":      {set: func(d *lead.Draft) { d.Website = "https://acme.example/" + long(2027) }},
		"website of 2049":      {func(d *lead.Draft) { d.Website = long(2049) }, "website", fault.TooLong},
		"website with NUL":     {func(d *lead.Draft) { d.Website = "a.b\x00" }, "website", fault.InvalidCharacters},
		"rating 0":             {set: func(d *lead.Draft) { d.Rating = "0" }},
		"rating -0":            {set: func(d *lead.Draft) { d.Rating = "-0" }},
		"rating 5":             {set: func(d *lead.Draft) { d.Rating = "5.00" }},
		"rating 45e-1":         {set: func(d *lead.Draft) { d.Rating = "45e-1" }},
		"rating 5.01":          {func(d *lead.Draft) { d.Rating = "5.01" }, "google_rating", fault.OutOfRange},
		"rating -0.01":         {func(d *lead.Draft) { d.Rating = "-0.01" }, "google_rating", fault.OutOfRange},
		"rating 1e99":          {func(d *lead.Draft) { d.Rating = "1e99" }, "google_rating", fault.OutOfRange},
		"rating 4.255":         {func(d *lead.Draft) { d.Rating = "4.255" }, "google_rating", fault.TooPrecise},
		"rating four":          {func(d *lead.Draft) { d.Rating = "four" }, "google_rating", fault.WrongType},
		"enrichment DEEP":      {func(d *lead.Draft) { d.Enrichment = "DEEP" }, "enrichment_level", fault.UnknownValue},
		"page of 2048":         {set: func(d *lead.Draft) { d.Social.TikTok = page(2048) }},
		"page of 2049":         {func(d *lead.Draft) { d.Social.TikTok = page(2049) }, "social_media.tiktok", fault.TooLong},
		"page, upper case":     {set: func(d *lead.Draft) { d.Social.Twitter = "HTTPS://X.example/A" }},
		"page, a handle":       {func(d *lead.Draft) { d.Social.Twitter = "@acme" }, "social_media.twitter", fault.InvalidFormat},
		"page, no host":        {func(d *lead.Draft) { d.Social.Twitter = "https://:443/a" }, "social_media.twitter", fault.InvalidFormat},
		"page, script": {func(d *lead.Draft) { d.Social.Twitter = "javascript:alert(1)" }, "social_media.twitter",
			fault.InvalidFormat},
		"page, space": {func(d *lead.Draft) { d.Social.Twitter = "https://x.example/a b" }, "social_media.twitter",
			fault.InvalidFormat},
		"page, bad escape": {func(d *lead.Draft) { d.Social.Twitter = "https://x.example/%zz" }, "social_media.twitter",
			fault.InvalidFormat},
		"page with NUL": {func(d *lead.Draft) { d.Social.Twitter = "https://x.example/\x00" }, "social_media.twitter",
			fault.InvalidCharacters},
		"100 contacts": {set: func(d *lead.Draft) { d.Contacts = contacts(100) }},
		"101 contacts": {func(d *lead.Draft) { d.Contacts = contacts(101) }, "contacts", fault.TooMany},
		"title of 200": {set: func(d *lead.Draft) { d.Contacts = []lead.ContactDraft{{Name: long(200), Title: long(200)}} }},
		"title of 201": {func(d *lead.Draft) { d.Contacts = []lead.ContactDraft{{Name: "a", Title: long(201)}} },
			"contacts.0.title", fault.TooLong},
		"contact's name, 201": {func(d *lead.Draft) { d.Contacts = []lead.ContactDraft{{Name: long(201)}} }, "contacts.0.name",
			fault.TooLong},
		"1000 campaigns":  {set: func(d *lead.Draft) { d.Campaigns = campaigns(1000) }},
		"1001 campaigns":  {func(d *lead.Draft) { d.Campaigns = campaigns(1001) }, "campaign_ids", fault.TooMany},
		"id of 64":        {set: func(d *lead.Draft) { d.ID = "cmp_" + strings.Repeat("a", 64) }},
		"id of 65":        {func(d *lead.Draft) { d.ID = "cmp_" + strings.Repeat("a", 65) }, "id", fault.InvalidFormat},
		"id of a contact": {func(d *lead.Draft) { d.ID = "cnt_1" }, "id", fault.InvalidFormat},
		"id with a space": {func(d *lead.Draft) { d.ID = "cmp_1 " }, "id", fault.InvalidFormat},
		"industry":        {func(d *lead.Draft) { d.Industry = "health" }, "industry_id", fault.InvalidFormat},
		"vertical":        {func(d *lead.Draft) { d.Vertical = "ind_health" }, "vertical_id", fault.InvalidFormat},
	} {
		draft := lead.Draft{Name: "Acme"}
		c.set(&draft)
		_, err := draft.Lead(catalog)
		var want map[string]string
		if c.path != "" {
			want = map[string]string{c.path: c.code}
		}
		if diff := cmp.Diff(want, codes(err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAVerticalGivesItsIndustry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		industry, vertical string
		wantIndustry       id.Industry
		wantVertical       id.Vertical
		wrong              map[string]string
	}{
		{industry: "", vertical: ""},
		{industry: "ind_health", wantIndustry: health},
		{industry: "ind_trade", wantIndustry: trade}, // an inactive one
		{vertical: "vrt_dental", wantIndustry: health, wantVertical: dental},
		{vertical: "vrt_eyes", wantIndustry: health, wantVertical: eyes}, // an inactive one
		{industry: "ind_health", vertical: "vrt_dental", wantIndustry: health, wantVertical: dental},
		{industry: "ind_trade", vertical: "vrt_dental", wrong: map[string]string{"vertical_id": fault.UnknownValue}},
		{industry: "ind_none", wrong: map[string]string{"industry_id": fault.UnknownValue}},
		{industry: "ind_none", vertical: "vrt_dental", wrong: map[string]string{"industry_id": fault.UnknownValue}},
		{industry: "health", vertical: "vrt_dental", wrong: map[string]string{"industry_id": fault.InvalidFormat}},
		{industry: "ind_health", vertical: "vrt_none", wrong: map[string]string{"vertical_id": fault.UnknownValue}},
		{vertical: "vrt_none", wrong: map[string]string{"vertical_id": fault.UnknownValue}},
		{
			industry: "health", vertical: "dental",
			wrong: map[string]string{"industry_id": fault.InvalidFormat, "vertical_id": fault.InvalidFormat},
		},
	} {
		made, err := lead.Draft{Name: "Acme", Industry: c.industry, Vertical: c.vertical}.Lead(catalog)
		if diff := cmp.Diff(c.wrong, codes(err)); diff != "" || made.Industry != c.wantIndustry || made.Vertical != c.wantVertical {
			t.Errorf("%s, %s: lead of %s, %s; %s", c.industry, c.vertical, made.Industry, made.Vertical, diff)
		}
		campaign, err := lead.CampaignDraft{ID: "cam_1", Name: "Acme", Industry: c.industry, Vertical: c.vertical}.Campaign(catalog)
		if diff := cmp.Diff(c.wrong, codes(err)); diff != "" || campaign.Industry != c.wantIndustry || campaign.Vertical != c.wantVertical {
			t.Errorf("%s, %s: campaign of %s, %s; %s", c.industry, c.vertical, campaign.Industry, campaign.Vertical, diff)
		}
	}
}

func TestALeadReadAgainIsTheSame(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.Just(""), rapid.StringN(0, 20, -1))
	rapid.Check(t, func(t *rapid.T) {
		draft := lead.Draft{
			Name: rapid.String().Draw(t, "name"), Phone: text.Draw(t, "phone"), Email: text.Draw(t, "email"),
			Website:  text.Draw(t, "website"),
			Contacts: []lead.ContactDraft{{Name: text.Draw(t, "contact"), Title: text.Draw(t, "title")}},
		}
		made, err := draft.Lead(catalog)
		if err != nil {
			return
		}
		again, err := lead.Draft{
			Name: made.Name, Phone: made.Phone, Email: made.Email, Website: made.Website,
			Contacts: []lead.ContactDraft{{ID: string(made.Contacts[0].ID), Name: made.Contacts[0].Name, Title: made.Contacts[0].Title}},
		}.Lead(catalog)
		if diff := cmp.Diff(made, again); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	})
}

func TestTimestampsAreThoseOfTheDraft(t *testing.T) {
	t.Parallel()
	early, late := noon.Add(-2*time.Hour), noon.Add(-time.Hour)
	for _, c := range []struct {
		created, updated         string
		wantCreated, wantUpdated time.Time
	}{
		{"", "", noon, noon},
		{" ", "\t", noon, noon},
		{"2026-04-11T10:00:00Z", "2026-04-11T11:00:00Z", early, late},
		{"2026-04-11T10:00:00Z", "", early, early},
		{"", "2026-04-11T11:00:00Z", late, late},
		{"2026-04-11T12:00:00+02:00", "2026-04-11T12:00:00+01:00", early, late},
		{"2026-04-11T12:00:00Z", "2026-04-11T12:00:00.000999999Z", noon, noon},
		{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.001Z", time.UnixMilli(0).UTC(), time.UnixMilli(1).UTC()},
	} {
		created, updated, err := lead.Draft{CreatedAt: c.created, UpdatedAt: c.updated}.Timestamps(noon)
		if created != c.wantCreated || updated != c.wantUpdated || err != nil {
			t.Errorf("%q, %q: %v, %v, %v", c.created, c.updated, created, updated, err)
		}
		created, updated, err = lead.CampaignDraft{CreatedAt: c.created, UpdatedAt: c.updated}.Timestamps(noon)
		if created != c.wantCreated || updated != c.wantUpdated || err != nil {
			t.Errorf("campaign: %q, %q: %v, %v, %v", c.created, c.updated, created, updated, err)
		}
	}
}

func TestTimestampsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		created, updated string
		want             map[string]string
	}{
		{"2026-04-11T11:00:00Z", "2026-04-11T10:00:00Z", map[string]string{"updated_at": fault.OutOfRange}},
		{"", "2026-04-11T12:00:00.001Z", map[string]string{"updated_at": fault.OutOfRange}},
		{"2026-04-11T12:00:00.001Z", "", map[string]string{"created_at": fault.OutOfRange}},
		{"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", map[string]string{"created_at": fault.OutOfRange, "updated_at": fault.OutOfRange}},
		{"1969-12-31T23:59:59.999Z", "", map[string]string{"created_at": fault.OutOfRange}},
		{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", map[string]string{"created_at": fault.OutOfRange, "updated_at": fault.OutOfRange}},
		{"2026-04-11", "noon", map[string]string{"created_at": fault.InvalidFormat, "updated_at": fault.InvalidFormat}},
		{"2026-04-11T10:00:00", "2026-04-11 10:00:00Z",
			map[string]string{"created_at": fault.InvalidFormat, "updated_at": fault.InvalidFormat}},
		{"2026-02-30T10:00:00Z", " 2026-04-11T10:00:00Z",
			map[string]string{"created_at": fault.InvalidFormat, "updated_at": fault.InvalidFormat}},
		{"12026-04-11T10:00:00Z", "2026-04-11T10:00:00+25:00",
			map[string]string{"created_at": fault.InvalidFormat, "updated_at": fault.InvalidFormat}},
	} {
		created, updated, err := lead.Draft{CreatedAt: c.created, UpdatedAt: c.updated}.Timestamps(noon)
		if diff := cmp.Diff(c.want, codes(err)); diff != "" || !created.IsZero() || !updated.IsZero() {
			t.Errorf("%q, %q: %s, %v, %v", c.created, c.updated, diff, created, updated)
		}
	}
}
