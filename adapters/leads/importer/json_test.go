package importer_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"holdco/adapters/leads/importer"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// full is a lead with all that the export shows of one, and more that an import takes.
const full = `{"id":"cmp_1","name":"Acme \"1\"","phone":"+1 555 0100","email":"info@acme.example","website":"acme.example",
"google_rating":4.50,"enrichment_level":"deep",
"social_media":{"instagram":"https://i.example/a","facebook":null,"linkedin":"https://l.example/a",
"twitter":"https://t.example/a","tiktok":"https://k.example/a"},
"industry":{"id":"ind_1","name":"Food","slug":"food"},"vertical":{"id":"vrt_1","name":"Bakeries","slug":"bakeries","industry_id":"ind_1"},
"contacts":[{"id":"cnt_1","name":"Anna","title":"CEO","email":"anna@acme.example","is_primary_lead":true},
{"name":"Ben","is_primary_lead":null}],
"campaign_ids":["cam_1","cam_2"],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z"}`

var fullDraft = lead.Draft{
	ID: "cmp_1", Name: `Acme "1"`, Phone: "+1 555 0100", Email: "info@acme.example",
	Website: "acme.example", Rating: "4.50", Enrichment: "deep",
	Social: lead.Social{
		Instagram: "https://i.example/a", LinkedIn: "https://l.example/a", Twitter: "https://t.example/a", TikTok: "https://k.example/a",
	},
	Industry: "ind_1", Vertical: "vrt_1",
	Contacts:  []lead.ContactDraft{{ID: "cnt_1", Name: "Anna", Title: "CEO", Email: "anna@acme.example", Primary: true}, {Name: "Ben"}},
	Campaigns: []string{"cam_1", "cam_2"}, CreatedAt: "2026-01-01T00:00:00Z", UpdatedAt: "2026-01-02T00:00:00Z",
}

var oneLine = strings.ReplaceAll(full, "\n", "")

func TestALineIsALead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		want       lead.Draft
	}{
		{"everything", oneLine, fullDraft},
		{"ids instead of objects", `{"name":"A","industry_id":"ind_1","vertical_id":"vrt_1"}`,
			lead.Draft{Name: "A", Industry: "ind_1", Vertical: "vrt_1"}},
		{"both, which agree", `{"industry_id":"ind_1","industry":{"id":"ind_1"}}`, lead.Draft{Industry: "ind_1"}},
		{
			"nothing but null",
			`{"id":null,"name":null,"google_rating":null,"social_media":null,"industry":null,` +
				`"vertical_id":null,"contacts":null,"campaign_ids":null,"created_at":null}`,
			lead.Draft{},
		},
		{"escapes", `{"\u006eame":"\u0041\t\ud83d\ude00\"","email":"\u0000"}`, lead.Draft{Name: "A\t😀\"", Email: "\x00"}},
		{"timestamps that nobody may look at", `{"created_at":17,"updated_at":[{"a":1}]}`,
			lead.Draft{CreatedAt: "17", UpdatedAt: `[{"a":1}]`}},
		{"a number in full", `{"google_rating":4.500000000000000000001e0}`, lead.Draft{Rating: "4.500000000000000000001e0"}},
		{
			"all problems at once",
			`{"title":"A","name":5,"google_rating":"4.5","enrichment_level":true,"social_media":{"myspace":"x","tiktok":{}},` +
				`"vertical":{"slug":"x"},` +
				`"industry":"ind_1","contacts":[{"email":[1]},7,null,{"is_primary_lead":"yes","age":4}],"campaign_ids":[5,"cam_1",null]}`,
			lead.Draft{
				Contacts: make([]lead.ContactDraft, 4), Campaigns: []string{"", "cam_1", ""},
				Problems: fault.Problems{
					fault.Fieldf("title", fault.UnknownField, "title is not a field here"),
					fault.Fieldf("name", fault.WrongType, "name must be a string"),
					fault.Fieldf("google_rating", fault.WrongType, "google_rating must be a number"),
					fault.Fieldf("enrichment_level", fault.WrongType, "enrichment_level must be a string"),
					fault.Fieldf("social_media.myspace", fault.UnknownField, "social_media.myspace is not a field here"),
					fault.Fieldf("social_media.tiktok", fault.WrongType, "social_media.tiktok must be a string"),
					fault.Fieldf("vertical.id", fault.Required, "vertical.id is required"),
					fault.Fieldf("industry", fault.WrongType, "industry must be an object"),
					fault.Fieldf("contacts.0.email", fault.WrongType, "contacts.0.email must be a string"),
					fault.Fieldf("contacts.1", fault.WrongType, "contacts.1 must be an object"),
					fault.Fieldf("contacts.2", fault.NotNull, "contacts.2 must not be null"),
					fault.Fieldf("contacts.3.is_primary_lead", fault.WrongType, "contacts.3.is_primary_lead must be true or false"),
					fault.Fieldf("contacts.3.age", fault.UnknownField, "contacts.3.age is not a field here"),
					fault.Fieldf("campaign_ids.0", fault.WrongType, "campaign_ids.0 must be a string"),
					fault.Fieldf("campaign_ids.2", fault.NotNull, "campaign_ids.2 must not be null"),
				},
			},
		},
		{
			"two industries", `{"industry_id":"ind_1","industry":{"id":"ind_2"}}`,
			lead.Draft{Industry: "ind_1", Problems: fault.Problems{
				fault.Fieldf("industry_id", fault.Duplicate, "industry_id differs from industry.id; leave one of them out"),
			}},
		},
		{
			"the name of a field that never ends", `{"` + strings.Repeat("é", 1000) + `":1}`,
			lead.Draft{Problems: fault.Problems{
				fault.Fieldf(strings.Repeat("é", 50)+"...", fault.UnknownField, "%s... is not a field here", strings.Repeat("é", 50)),
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for format, file := range map[string]string{importer.NDJSON: c.line, importer.JSON: "[" + c.line + "]"} {
				found, err := gather(importer.Files{}.Leads(strings.NewReader(file), format))
				if diff := cmp.Diff([]lead.Draft{c.want}, found, ofAll); diff != "" || err != nil {
					t.Errorf("%s: %v\n%s", format, err, diff)
				}
			}
		})
	}
}

func TestNamesThatWereSentAreNotKept(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"secret@acme.example":1}`, `{"contacts":[{"secret":1}]}`, `{"secret":1,"secret":2}`,
		`{"industry":{"name":{"secret":1,"secret":2}}}`,
	} {
		found, err := gather(importer.Files{}.Leads(strings.NewReader(line), importer.NDJSON))
		if err != nil || len(found) != 1 || len(found[0].Problems) != 1 {
			t.Fatalf("%s: %+v, %v", line, found, err)
		}
		sent := found[0].Problems[0]
		if kept := sent.Unquoted(); !strings.Contains(sent.Message, "secret") || strings.Contains(kept.Path+kept.Message, "secret") {
			t.Errorf("%s: %+v", line, kept)
		}
	}
}

// What is wrong with a line as a whole is reported under the empty path.
func TestABrokenLineIsOneProblemAndTheNextIsRead(t *testing.T) {
	t.Parallel()
	long := `{"name":"` + strings.Repeat("a", importer.MostLine) + `"}`
	longest := `{"name":"` + strings.Repeat("a", importer.MostLine-len(`{"name":""}`)) + `"}`
	for _, c := range []struct{ name, line, code, message string }{
		{"no JSON", `Acme, Berlin`, fault.InvalidFormat, "the line is not JSON in UTF-8: see its byte 1"},
		{"a comma too many", `{"name":"A",}`, fault.InvalidFormat, "the line is not JSON in UTF-8: see its byte 12"},
		{"no object", `"A"`, fault.WrongType, "the line must be a JSON object"},
		{"null", `null`, fault.WrongType, "the line must be a JSON object"},
		{"a list", `[{"name":"A"}]`, fault.WrongType, "the line must be a JSON object"},
		{"two objects", `{"name":"A"} {"name":"B"}`, fault.InvalidFormat, "the line continues after its JSON object"},
		{"rubbish after it", `{"name":"A"}x`, fault.InvalidFormat, "the line continues after its JSON object"},
		{"a name twice", `{"name":"A","name":"B"}`, fault.Duplicate, `the line names "name" twice`},
		{"a name twice, deep within", `{"contacts":[{"email":"a","\u0065mail":"b"}]}`, fault.Duplicate,
			`the line names "contacts.0.email" twice`},
		{"a name twice, in what is ignored", `{"industry":{"id":"ind_1","name":{"a":1,"a":2}}}`, fault.Duplicate,
			`the line names "industry.name.a" twice`},
		{"invalid UTF-8", "{\"name\":\"\xfc\"}", fault.InvalidCharacters, "the line is not in UTF-8: its byte 10 is 0xFC. " +
			`In Windows-1252, in which Excel saves CSV, that reads "{\"name\":\"ü\"}": save the file as "CSV UTF-8", ` +
			"or pass --encoding windows-1252 (encoding=windows-1252 in a URL)"},
		{"half of a pair", `{"name":"\ud83d"}`, fault.InvalidFormat, "the line is not JSON in UTF-8: see its byte 10"},
		{"NUL", "{\"name\":\"\x00\"}", fault.InvalidFormat, "the line is not JSON in UTF-8: see its byte 10"},
		{"too long", long, fault.TooLong, "the line has more than 1048576 bytes"},
		{"too long by far", strings.Repeat(long, 4), fault.TooLong, "the line has more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := "\xef\xbb\xbf" + `{"name":"first"}` + "\r\n\n \t\r\n" + c.line + "\n" + longest + "\n" + `{"name":"last"}`
			want := []lead.Draft{
				{Name: "first"},
				{Problems: fault.Problems{fault.Fieldf("", c.code, "%s", c.message)}},
				{Name: longest[len(`{"name":"`) : len(longest)-2]},
				{Name: "last"},
			}
			found, err := gatherLines(importer.Files{}.Leads(iotest.HalfReader(strings.NewReader(file)), importer.NDJSON))
			if err != nil || len(found) != len(want) {
				t.Fatalf("%d lines, %v", len(found), err)
			}
			for i, one := range found {
				one.Draft.Name, want[i].Name = cut(one.Draft.Name), cut(want[i].Name)
				if i == 1 {
					one.Draft = lead.Draft{Problems: one.Draft.Problems}
					one.Draft.Problems[0].Quoted = "" // a part of the message
				}
				if diff := cmp.Diff(want[i], one.Draft, ofAll); diff != "" || one.Number != []int64{1, 4, 5, 6}[i] {
					t.Errorf("line %d: %s", one.Number, diff)
				}
			}
			if last := found[len(found)-1]; last.End != int64(len(file)) {
				t.Errorf("the last line ends at %d of %d", last.End, len(file))
			}
		})
	}
}

func TestATruncatedLastLineIsAtFault(t *testing.T) {
	t.Parallel()
	for _, file := range []string{`{"name":"A"`, `{"name":"A`, `{"name":`, `{"name":"A","contacts":[{`, `{`} {
		found, err := gather(importer.Files{}.Leads(strings.NewReader("{\"name\":\"first\"}\n"+file), importer.NDJSON))
		want := fault.Problems{fault.Fieldf("", fault.InvalidFormat, "the line is truncated: its JSON object has no end")}
		if err != nil || len(found) != 2 || !cmp.Equal(found[1].Problems, want) {
			t.Errorf("%s: %v, %v", file, found, err)
		}
	}
}

func TestAJSONListIsReadElementByElement(t *testing.T) {
	t.Parallel()
	type line struct {
		number int64
		name   string
		broken bool
	}
	for _, c := range []struct {
		name, file string
		want       []line
		fails      string
	}{
		{"empty", "", nil, "the file must be a JSON list of objects; one object per line is the format ndjson"},
		{"an object", `{"name":"A"}`, nil, "the file must be a JSON list of objects; one object per line is the format ndjson"},
		{"no elements", "\xef\xbb\xbf [ \n ] \n", nil, ""},
		{"one line", `[{"name":"A"},{"name":"B"}]`, []line{{1, "A", false}, {1, "B", false}}, ""},
		{"many lines", "[\n  {\n\"name\" : \"A\"\n  } ,\n\n {\"name\":\"],[\\\"\\\\\"}\n]\n",
			[]line{{2, "A", false}, {6, `],["\`, false}}, ""},
		{"a broken element", "[{\"name\":}\n,{\"name\":\"B\"}]", []line{{1, "", true}, {2, "B", false}}, ""},
		{"a comma too many", `[{"name":"A"},,{"name":"B"},]`, []line{{1, "A", false}, {1, "", true}, {1, "B", false}, {1, "", true}}, ""},
		{"no end", `[{"name":"A"},{"name":"B"`, []line{{1, "A", false}}, "the file is truncated: its JSON list has no end"},
		{"no end, between two", `[{"name":"A"},`, []line{{1, "A", false}}, "the file is truncated: its JSON list has no end"},
		{"more after it", `[{"name":"A"}] [`, []line{{1, "A", false}}, "the file continues after its JSON list"},
		{
			"an element that is too long", `[{"name":"` + strings.Repeat(`a,]\"`, importer.MostLine/4) + `"},{"name":"B"}]`,
			[]line{{1, "", true}, {1, "B", false}}, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var found []line
			lines, err := gatherLines(importer.Files{}.Leads(strings.NewReader(c.file), importer.JSON))
			for _, one := range lines {
				found = append(found, line{one.Number, one.Draft.Name, one.Draft.Problems != nil})
			}
			if !cmp.Equal(found, c.want, cmp.AllowUnexported(line{})) || said(err) != c.fails {
				t.Errorf("%v, %v; want %v, %s", found, err, c.want, c.fails)
			}
		})
	}
}

func TestCampaignsAreReadAsTheExportShowsThem(t *testing.T) {
	t.Parallel()
	file := `{"id":"cam_1","name":"Spring","status":"active","industry":{"id":"ind_1","name":"Food","slug":"food"},"vertical":null,` +
		`"geography":{"id":"geo_1","name":"Berlin","slug":"berlin","country_code":"DE"},` +
		`"lead_count":"who knows","created_at":"2026-01-01T00:00:00Z"}` + "\n" +
		`{"id":"cam_2","industry_id":"ind_1","vertical_id":"vrt_1","geography_id":"geo_1","leads":[]}` + "\n"
	var found []lead.CampaignDraft
	for line, err := range (importer.Files{}).Campaigns(strings.NewReader(file), importer.NDJSON) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, line.Draft)
	}
	want := []lead.CampaignDraft{
		{ID: "cam_1", Name: "Spring", Status: "active", Industry: "ind_1", Geography: "geo_1", CreatedAt: "2026-01-01T00:00:00Z"},
		{
			ID: "cam_2", Industry: "ind_1", Vertical: "vrt_1", Geography: "geo_1",
			Problems: fault.Problems{fault.Fieldf("leads", fault.UnknownField, "leads is not a field here")},
		},
	}
	if diff := cmp.Diff(want, found, ofAll); diff != "" {
		t.Error(diff)
	}
}

func TestATaxonomyIsOneObject(t *testing.T) {
	t.Parallel()
	found, err := importer.Files{}.Taxonomy(strings.NewReader("\xef\xbb\xbf" + `{
		"industries": [{"id":"ind_1","name":"Food","slug":"food","active":false},{"id":"ind_2"}],
		"verticals": [{"id":"vrt_1","industry_id":"ind_1","name":"Bakeries","active":true}],
		"geographies": [{"id":"geo_1","name":"Berlin","slug":null,"country_code":"DE"}],
		"vertical_intelligence": [{"id":"vin_1","vertical_id":"vrt_1","summary":"Early",
			"pain_points":["dough"],"buying_signals":[],"updated_at":"2026"}],
		"countries": []}`))
	want := lead.TaxonomyDraft{
		Industries:   []lead.IndustryDraft{{ID: "ind_1", Name: "Food", Slug: "food", Active: new(false)}, {ID: "ind_2"}},
		Verticals:    []lead.VerticalDraft{{ID: "vrt_1", Industry: "ind_1", Name: "Bakeries", Active: new(true)}},
		Geographies:  []lead.GeographyDraft{{ID: "geo_1", Name: "Berlin", CountryCode: "DE"}},
		Intelligence: []lead.IntelligenceDraft{{ID: "vin_1", Vertical: "vrt_1", Summary: "Early", PainPoints: []string{"dough"}}},
		Problems:     fault.Problems{fault.Fieldf("countries", fault.UnknownField, "countries is not a field here")},
	}
	if diff := cmp.Diff(want, found, ofAll); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for file, message := range map[string]string{
		"":                                  "the file is truncated: its JSON object has no end",
		"[]":                                "the file must be a JSON object",
		"{} {}":                             "the file continues after its JSON object",
		`{"industries":[],"industries":[]}`: `the file names "industries" twice`,
	} {
		found, err := importer.Files{}.Taxonomy(strings.NewReader(file))
		if err != nil || len(found.Problems) != 1 || found.Problems[0].Message != message || found.Problems[0].Path != "" {
			t.Errorf("%s: %v, %v", file, found.Problems, err)
		}
	}
	if _, err := (importer.Files{}).Taxonomy(io.MultiReader(strings.NewReader("{"),
		endless{})); said(err) != "the file has more than 64 MiB" {
		t.Error(err)
	}
}

func TestAPackedFileIsUnpacked(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	pack := gzip.NewWriter(&packed)
	_, _ = io.WriteString(pack, "\xef\xbb\xbf"+strings.Repeat(oneLine+"\n", 1000))
	_ = pack.Close()
	lines, err := gatherLines(importer.Files{}.Leads(bytes.NewReader(packed.Bytes()), importer.NDJSON))
	if err != nil || len(lines) != 1000 || !cmp.Equal(lines[999].Draft, fullDraft) {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	if first, last := lines[0].End, lines[999].End; first <= 0 || last > int64(packed.Len()) || last < first {
		t.Errorf("the lines end at %d to %d of %d", first, last, packed.Len())
	}
	twice := bytes.Repeat(packed.Bytes(), 2)
	if lines, err := gatherLines(importer.Files{}.Leads(bytes.NewReader(twice), importer.NDJSON)); err != nil || len(lines) != 2000 {
		t.Errorf("of two that follow each other: %d lines, %v", len(lines), err)
	}
	for _, more := range []string{"m", "more", strings.Repeat("more", 1000)} {
		found, err := gather(importer.Files{}.Leads(strings.NewReader(packed.String()+more), importer.NDJSON))
		if said(err) != "something follows the end of what gzip packed" || len(found) != 1000 {
			t.Errorf("with %d bytes behind: %d lines, %v", len(more), len(found), err)
		}
	}
	broken := packed.Bytes()[:packed.Len()/2]
	if _, err := gather(importer.Files{}.Leads(bytes.NewReader(broken), importer.NDJSON)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half of a packed file: %v", err)
	}
	if _, err := gather(importer.Files{}.Leads(strings.NewReader("\x1f\x8bx"), importer.NDJSON)); err == nil {
		t.Error("what is not packed is unpacked")
	}
}

func TestAFileThatCannotBeReadEndsTheLines(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	for format, head := range map[string]string{
		importer.NDJSON: "{\"name\":\"A\"}\n", importer.JSON: `[{"name":"A"},`, importer.CSV: "name\nA\n",
	} {
		for _, rest := range []string{"", "{", `"`} {
			found, err := gather(importer.Files{}.Leads(io.MultiReader(strings.NewReader(head+rest), iotest.ErrReader(broken)), format))
			if !errors.Is(err, broken) || len(found) != 1 {
				t.Errorf("%s, %q: %v, %v", format, rest, found, err)
			}
		}
	}
	if _, err := gather(importer.Files{}.Leads(strings.NewReader(""),
		"xml")); said(err) != `"xml" is none of the formats ndjson, csv and json` {
		t.Error(err)
	}
}

func TestReadingCanStopAnywhere(t *testing.T) {
	t.Parallel()
	for format, file := range map[string]string{
		importer.NDJSON: "{}\n{}\n", importer.JSON: `[{},{}]`, importer.CSV: "name\nA\nB\n",
	} {
		for _, err := range (importer.Files{}).Leads(strings.NewReader(file), format) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(oneLine, false)
	f.Add("["+full+",{}]", true)
	f.Add("{\"name\":\"A\"}\n{\"name\":\"\\ud83d\"}\n[", false)
	f.Add("[{\"a\":[\"]\",{}]},,null]", true)
	f.Fuzz(func(t *testing.T, file string, list bool) {
		format := importer.NDJSON
		if list {
			format = importer.JSON
		}
		check(t, file, importer.Files{}.Leads(strings.NewReader(file), format))
		for line, err := range (importer.Files{}).Campaigns(strings.NewReader(file), format) {
			if err == nil && line.End > int64(len(file)) {
				t.Fatalf("a line ends at %d of %d", line.End, len(file))
			}
		}
		if _, err := (importer.Files{}).Taxonomy(strings.NewReader(file)); err != nil && !strings.HasPrefix(file, "\x1f\x8b") {
			t.Fatal(err)
		}
	})
}

// check holds what is read against what can be said of every file.
func check(t *testing.T, file string, lines iter.Seq2[inbound.LeadLine, error]) {
	var number, end int64
	for line, err := range lines {
		if err != nil {
			return
		}
		if line.Number < 1 || line.Number < number || line.End < end || line.End > int64(len(file)) {
			t.Fatalf("line %d ends at %d, after line %d at %d of %d", line.Number, line.End, number, end, len(file))
		}
		number, end = line.Number, line.End
		if len(line.Draft.Problems) > 101 {
			t.Fatalf("line %d has %d problems", number, len(line.Draft.Problems))
		}
		if _, err := line.Draft.Lead(lead.Catalog{}); err != nil && fault.CodeOf(err) != fault.ValidationFailed {
			t.Fatal(err)
		}
	}
}

func BenchmarkNDJSON(b *testing.B) {
	for b.Loop() {
		benchmark(b, strings.Repeat(oneLine+"\n", 1000), importer.NDJSON)
	}
}

func BenchmarkJSON(b *testing.B) {
	for b.Loop() {
		benchmark(b, "["+strings.Repeat(full+",", 999)+full+"]", importer.JSON)
	}
}

// benchmark reads 1000 lines.
func benchmark(b *testing.B, file, format string) {
	b.SetBytes(int64(len(file)))
	found := 0
	for _, err := range (importer.Files{}).Leads(strings.NewReader(file), format) {
		if err != nil {
			b.Fatal(err)
		}
		found++
	}
	if found != 1000 {
		b.Fatalf("%d lines", found)
	}
}

// endless is spaces.
type endless struct{}

func (endless) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = ' '
	}
	return len(into), nil
}

func gatherLines(lines iter.Seq2[inbound.LeadLine, error]) ([]inbound.LeadLine, error) {
	var found []inbound.LeadLine
	for line, err := range lines {
		if err != nil {
			return found, err
		}
		found = append(found, line)
	}
	return found, nil
}

func gather(lines iter.Seq2[inbound.LeadLine, error]) ([]lead.Draft, error) {
	found, err := gatherLines(lines)
	var drafts []lead.Draft
	for _, line := range found {
		drafts = append(drafts, line.Draft)
	}
	return drafts, err
}

// cut keeps differences readable.
func cut(name string) string { return name[:min(len(name), 20)] }

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// ofAll compares drafts without what they leave out, which TestWhatALineLeavesOutIsKnown looks at.
var ofAll = cmpopts.IgnoreFields(lead.Draft{}, "Absent")

func TestWhatALineLeavesOutIsKnown(t *testing.T) {
	t.Parallel()
	const all = lead.Fields(lead.EveryField)
	for _, c := range []struct {
		format, file string
		sent         lead.Fields
	}{
		{importer.NDJSON, `{"id":"cmp_1","name":"A"}`, 0},
		{importer.NDJSON, oneLine, all},
		{importer.NDJSON, `{"name":"A","phone":null,"email":"","website":5,"google_rating":null,"enrichment_level":null}`,
			lead.PhoneField | lead.EmailField | lead.WebsiteField | lead.RatingField | lead.EnrichmentField},
		{importer.NDJSON, `{"name":"A","social_media":null}`, lead.SocialFields},
		{importer.NDJSON, `{"name":"A","social_media":{}}`, 0},
		{importer.JSON, `[{"name":"A","social_media":{"tiktok":null}}]`, lead.TikTokField},
		{importer.NDJSON, `{"name":"A","industry":null,"vertical_id":null}`, lead.IndustryField | lead.VerticalField},
		{importer.NDJSON, `{"name":"A","contacts":null,"campaign_ids":[]}`, lead.ContactsField | lead.CampaignsField},
		{importer.CSV, "id,name,created_at\ncmp_1,A,", 0},
		{importer.CSV, fullHeader + "\n" + fullRecord, all},
		{importer.CSV, "name,phone,industry.id,industry.name,campaign_ids.0,contacts.1.email\nA,,,,,",
			lead.PhoneField | lead.IndustryField | lead.CampaignsField | lead.ContactsField},
		{importer.CSV, "name,vertical.name,social_media.twitter\nA,x,", lead.TwitterField},
	} {
		found, err := gather(importer.Files{}.Leads(strings.NewReader(c.file), c.format))
		if err != nil || len(found) != 1 || found[0].Absent != all&^c.sent {
			t.Errorf("%s: %b, %v; want %b", c.file, found[0].Absent, err, all&^c.sent)
		}
	}
}
