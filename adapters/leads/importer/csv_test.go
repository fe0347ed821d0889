package importer_test

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/leads/importer"
	"holdco/domain/fault"
	"holdco/domain/lead"
)

const (
	fullHeader = "id,name,phone,email,website,google_rating,enrichment_level," +
		"social_media.instagram,social_media.facebook,social_media.linkedin," +
		"social_media.twitter,social_media.tiktok,industry.id,industry.name,industry.slug,vertical_id,vertical.name," +
		"contacts.0.id,contacts.0.name,contacts.0.title,contacts.0.email,contacts.0.is_primary_lead," +
		"contacts.2.name,contacts.2.is_primary_lead," +
		"campaign_ids,campaign_ids.1,created_at,updated_at"
	fullRecord = `cmp_1,"Acme ""1""",+1 555 0100,info@acme.example,acme.example,4.50,deep,https://i.example/a,,https://l.example/a,` +
		"https://t.example/a,https://k.example/a,ind_1,Food,food,vrt_1,Bakeries,cnt_1,Anna," +
		"CEO,anna@acme.example,TRUE,Ben,false,cam_1,cam_2,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z"
)

func TestARecordIsALead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, header, record string
		want                 lead.Draft
	}{
		{"everything", fullHeader, fullRecord, fullDraft},
		{"columns in any order, and blanks around", " website , name ", ` a.example , A `, lead.Draft{Name: "A", Website: "a.example"}},
		{"blank cells", fullHeader, strings.Repeat(",", strings.Count(fullHeader, ",")), lead.Draft{}},
		{"commas, quotes and lines within quotes", "name,phone", "\"A, \"\"B\"\"\r\nC\",\"\"", lead.Draft{Name: "A, \"B\"\nC"}},
		{"many campaigns", "name,campaign_ids", "A,cam_1;cam_2 cam_3",
			lead.Draft{Name: "A", Campaigns: []string{"cam_1", "cam_2", "cam_3"}}},
		{
			"contacts of whom nothing is said",
			"name,contacts.0.name,contacts.1.is_primary_lead,contacts.2.email,contacts.3.name",
			"A,,false,b@c.example,",
			lead.Draft{Name: "A", Contacts: []lead.ContactDraft{{Email: "b@c.example"}}},
		},
		{
			"contacts in one cell, which come after those that have columns", "name,contacts.more,contacts.0.name,contacts.2.name",
			`A,"[{""id"":""cnt_1"",""name"":null,""email"":""b@c.example"",""is_primary_lead"":true},{""name"":""C""}]",B,`,
			lead.Draft{Name: "A", Contacts: []lead.ContactDraft{
				{Name: "B"}, {ID: "cnt_1", Email: "b@c.example", Primary: true}, {Name: "C"},
			}},
		},
		{
			"what is no list of contacts", "name,contacts.more", `A,"[{""name"":""C""}],""x"":[]"`,
			lead.Draft{Name: "A", Problems: fault.Problems{
				fault.Fieldf("contacts.more", fault.InvalidFormat, "contacts.more must be a JSON list of contacts"),
			}},
		},
		{
			"a contact with a field that there is not", "name,contacts.more", `A,"[{""name"":""C"",""mood"":""fine""},null]"`,
			lead.Draft{Name: "A", Contacts: []lead.ContactDraft{{Name: "C"}}, Problems: fault.Problems{
				fault.Fieldf("contacts.more.0.mood", fault.UnknownField, "contacts.more.0.mood is not a field here"),
				fault.Fieldf("contacts.more.1", fault.NotNull, "contacts.more.1 must not be null"),
			}},
		},
		{
			"what spreadsheets must not take for formulas", "name,phone,email,website", "'=A,'+49 30 123456,''@a,'n b",
			lead.Draft{Name: "=A", Phone: "+49 30 123456", Email: "'@a", Website: "'n b"},
		},
		{
			"what is neither true nor false", "name,contacts.7.is_primary_lead", "A,maybe",
			lead.Draft{Name: "A", Problems: fault.Problems{
				fault.Fieldf("contacts.7.is_primary_lead", fault.WrongType, "contacts.7.is_primary_lead must be true or false"),
			}},
		},
		{"what the domain refuses", "name,google_rating", "A\x00,4;5", lead.Draft{Name: "A\x00", Rating: "4;5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, end := range []string{"\n", "\r\n"} {
				found, err := gather(importer.Files{}.Leads(strings.NewReader("\xef\xbb\xbf"+c.header+end+c.record+end), importer.CSV))
				if diff := cmp.Diff([]lead.Draft{c.want}, found, ofAll); diff != "" || err != nil {
					t.Errorf("%v\n%s", err, diff)
				}
			}
		})
	}
}

func TestABrokenRecordIsOneProblemAndTheNextIsRead(t *testing.T) {
	t.Parallel()
	const unclosed = "the line opens a quote that is never closed"
	for _, c := range []struct{ name, record, code, message string }{
		{"a field too few", "B", fault.InvalidFormat, "the line has 1 fields; the header has 2"},
		{"a field too many", "B,C,D", fault.InvalidFormat, "the line has 3 fields; the header has 2"},
		{"a quote within a field", `5" pipe,B`, fault.InvalidFormat, `the line is not CSV: bare " in non-quoted-field`},
		{"text after a quote", `"B"x,C`, fault.InvalidFormat, `the line is not CSV: extraneous or missing " in quoted-field`},
		{"a quote that is never closed", `B,"C`, fault.InvalidFormat, unclosed},
		{"one in quotes", `B,"""C`, fault.InvalidFormat, unclosed},
		{"a line that is too long", strings.Repeat("B", importer.MostLine) + ",C", fault.TooLong, "the line has more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// What follows is longer than what may be read ahead for the end of a quote.
			const more = 40000
			file := "name,phone\nfirst,1\n\n" + c.record + "\n" + strings.Repeat("another one of them,2\n\n", more) + "last,3"
			lines, err := gatherLines(importer.Files{}.Leads(iotest.HalfReader(strings.NewReader(file)), importer.CSV))
			if err != nil || len(lines) != more+3 {
				t.Fatalf("%d lines, %v", len(lines), err)
			}
			want := fault.Problems{fault.Fieldf("", c.code, "%s", c.message)}
			if broken := lines[1]; broken.Number != 4 || !cmp.Equal(broken.Draft.Problems, want) {
				t.Errorf("line %d: %v; want %v", broken.Number, broken.Draft.Problems, want)
			}
			for i, line := range lines[2 : more+2] {
				if line.Number != int64(5+2*i) || line.Draft.Name != "another one of them" || line.Draft.Problems != nil {
					t.Fatalf("line %d: %+v", line.Number, line.Draft)
				}
			}
			last := lines[more+2]
			if last.Number != 5+2*more || last.Draft.Name != "last" || last.Draft.Phone != "3" || last.End != int64(len(file)) {
				t.Errorf("line %d, to %d of %d: %+v", last.Number, last.End, len(file), last.Draft)
			}
		})
	}
}

func TestAQuoteThatIsNeverClosedLeavesWhatIsBehind(t *testing.T) {
	t.Parallel()
	found, err := gather(importer.Files{}.Leads(strings.NewReader("name\n\"A\n\"B\nC\n\"D\n"), importer.CSV))
	var names []string
	for _, draft := range found {
		names = append(names, draft.Name)
	}
	if diff := cmp.Diff([]string{"", "C", ""}, names); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
}

func TestARecordOfSeveralLinesIsNumberedByTheFirst(t *testing.T) {
	t.Parallel()
	file := "name\n\"A\n\n\nA\"\nB\n"
	lines, err := gatherLines(importer.Files{}.Leads(strings.NewReader(file), importer.CSV))
	if err != nil || len(lines) != 2 || lines[0].Number != 2 || lines[0].Draft.Name != "A\n\n\nA" || lines[1].Number != 6 {
		t.Errorf("%+v, %v", lines, err)
	}
}

func TestAHeaderThatCannotBeMeantStopsAtOnce(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                       "the file has no header",
		"\n \n":                  "the file has no header",
		"name,naem":              `the header names the unknown column "naem"; the nearest is name`,
		"name;email,phone":       `the header names the unknown column "name;email"; the nearest is email`,
		"name,colour":            `the header names the unknown column "colour"`,
		"Name":                   `the header names the unknown column "Name"; the nearest is name`,
		"name,social_media":      `the header names the unknown column "social_media"; the nearest is social_media.tiktok`,
		"name,contacts":          `the header names the unknown column "contacts"; the nearest is contacts.0.id`,
		"name,contacts.0":        `the header names the unknown column "contacts.0"; the nearest is contacts.0.id`,
		"name,contacts.00.name":  `the header names the unknown column "contacts.00.name"; the nearest is contacts.0.name`,
		"name,contacts.100.name": `the header names the unknown column "contacts.100.name"; the nearest is contacts.0.name`,
		"name,contacts.-1.name":  `the header names the unknown column "contacts.-1.name"; the nearest is contacts.0.name`,
		"name,campaign_ids.x":    `the header names the unknown column "campaign_ids.x"; the nearest is campaign_ids`,
		"name,\xff": `the line is not in UTF-8: its byte 6 is 0xFF. In Windows-1252, in which Excel saves CSV, that reads "name,ÿ": ` +
			`save the file as "CSV UTF-8", or pass --encoding windows-1252 (encoding=windows-1252 in a URL)`,
		"name,email,name":                          "the header names the column name twice",
		"name,industry_id,email":                   "",
		"name,vertical_id,industry.id,vertical.id": "the header names the column vertical.id twice",
		"email,phone":                              "the header lacks the column name",
		`"name`:                                    "the header is not CSV: the line opens a quote that is never closed",
		`na"me`:                                    `the header is not CSV: bare " in non-quoted-field`,
	} {
		found, err := gather(importer.Files{}.Leads(strings.NewReader(header+"\n"), importer.CSV))
		got, columns, isUnknown := strings.Cut(said(err), ". Columns are separated by commas: ")
		if got != want || found != nil || isUnknown && !strings.Contains(columns, "website, google_rating") {
			t.Errorf("%q: %v, %v; want %s", header, found, err, want)
		}
	}
}

func TestCampaignsAreReadFromCSV(t *testing.T) {
	t.Parallel()
	file := "id,name,status,industry_id,vertical.id,geography_id,geography.country_code,lead_count,created_at,updated_at\n" +
		"cam_1,Spring,active,ind_1,vrt_1,geo_1,DE,7,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z\n"
	for line, err := range (importer.Files{}).Campaigns(strings.NewReader(file), importer.CSV) {
		want := lead.CampaignDraft{
			ID: "cam_1", Name: "Spring", Status: "active", Industry: "ind_1", Vertical: "vrt_1", Geography: "geo_1",
			CreatedAt: "2026-01-01T00:00:00Z", UpdatedAt: "2026-01-02T00:00:00Z",
		}
		if diff := cmp.Diff(want, line.Draft, ofAll); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	for _, err := range (importer.Files{}).Campaigns(strings.NewReader("name\n"), importer.CSV) {
		if said(err) != "the header lacks the column id" {
			t.Error(err)
		}
	}
}

func FuzzCSV(f *testing.F) {
	f.Add(fullHeader + "\n" + fullRecord + "\n")
	f.Add("name\n\"A\n\"B\nC\n\"D")
	f.Add("name,phone\r\n\"a\"\"\n\",b\r\n,\n\"a\"x,\n")
	f.Add("contacts.0.is_primary_lead,name,campaign_ids\nx,y,a;b\n")
	f.Add("contacts.more,name,contacts.1.name\n\"[{\"\"name\"\":1},null]\",'=y,z\n")
	f.Fuzz(func(t *testing.T, file string) {
		check(t, file, importer.Files{}.Leads(strings.NewReader(file), importer.CSV))
		for line, err := range (importer.Files{}).Campaigns(strings.NewReader(file), importer.CSV) {
			if err == nil && line.End > int64(len(file)) {
				t.Fatalf("a line ends at %d of %d", line.End, len(file))
			}
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	for b.Loop() {
		benchmark(b, fullHeader+"\n"+strings.Repeat(fullRecord+"\n", 1000), importer.CSV)
	}
}

// Nobody is lost between blanks: of a line that is too long not all is looked at.
func TestALineOfBlanksThatIsTooLongIsNotTakenForABlankOne(t *testing.T) {
	t.Parallel()
	blanks := strings.Repeat(" ", 2*importer.MostLine)
	for _, c := range []struct {
		what, format, file string
		lines              int
		problems           map[int]string // by lines
	}{
		{"an object behind them", importer.NDJSON, blanks + `{"name":"A"}` + "\n" + `{"name":"B"}`, 2, map[int]string{1: tooLong}},
		{"an object before and behind them", importer.NDJSON, `{"name":"A"}` + blanks + `{"name":"B"}`, 1, map[int]string{1: tooLong}},
		{"no JSON behind them", importer.NDJSON, "\n" + blanks + "x\r\n", 2, map[int]string{2: tooLong}},
		{"nothing behind them", importer.NDJSON, blanks, 1, map[int]string{1: tooLong}},
		{"a record behind them", importer.CSV, "name\n" + blanks + "A\nB\n", 3, map[int]string{2: tooLong}},
		{"a quote before them", importer.CSV, "name\n\"A\n" + blanks + "B\nC\n", 4, map[int]string{
			2: "the line opens a quote that is never closed", 3: tooLong,
		}},
	} {
		last, found := 0, map[int]string{}
		for line, err := range (importer.Files{}).Leads(strings.NewReader(c.file), c.format) {
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			last = int(line.Number)
			for _, problem := range line.Draft.Problems {
				found[last] = problem.Message
			}
		}
		if diff := cmp.Diff(c.problems, found); diff != "" || last != c.lines {
			t.Errorf("%s: %d lines, %s", c.what, last, diff)
		}
	}
	for line, err := range (importer.Files{}).Suppressed(strings.NewReader(blanks+`{"email":"a@a.example"}`), importer.NDJSON) {
		if err != nil || len(line.Draft.Problems) != 1 || line.Draft.Problems[0].Code != fault.TooLong {
			t.Errorf("%+v, %v", line.Draft.Problems, err)
		}
	}
	longest := blanks[:importer.MostLine-1] + "A\r\n"
	if got, err := gather((importer.Files{}).Leads(strings.NewReader(longest), importer.NDJSON)); err != nil ||
		len(got) != 1 || len(got[0].Problems) != 1 || got[0].Problems[0].Code != fault.InvalidFormat {
		t.Errorf("a line of the greatest length: %+v, %v", got, err)
	}
}

const tooLong = "the line has more than 1048576 bytes"
