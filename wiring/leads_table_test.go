package wiring_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/http/partner/partnertest"
	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/leads/samples"
	"holdco/adapters/store/sqlite/sqlitetest"
)

// odd are leads that a table must not change.
const odd = `{"id":"cmp_odd-1","name":"=HYPERLINK(\"https://evil.example\")","phone":"+4930123456","email":"+x@odd.example"}
{"id":"cmp_odd-2","name":"'=1, 'n \"b\"","email":"'-y@odd.example","contacts":[` +
	`{"name":"-A","title":"@"},{"name":"''+B","is_primary_lead":true},` +
	`{"name":"C, D","email":"=c@odd.example"},{"name":"=D"},{"name":"E\\","title":"\"\"","email":"e@odd.example"}]}
{"id":"cmp_odd-3","name":"'","social_media":{"tiktok":"https://t.example/=1,2"},"google_rating":0}
`

// What is exported as a table changes nothing where it comes from, and makes the same leads elsewhere: by the command, and as partners
// read it.
func TestATableOfLeadsIsImportedAsTheSameLeads(t *testing.T) {
	t.Parallel()
	const many = 1200 // more than are read at once
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), environ...)
		set, dir := samples.New(many, 1), t.TempDir()
		keep := func(name, text string) string {
			path := filepath.Join(dir, name)
			must(t, os.WriteFile(path, []byte(text), 0o600))
			return path
		}
		var text bytes.Buffer
		must(t, set.Taxonomy(&text))
		taxonomy := keep("t.json", text.String())
		text.Reset()
		must(t, set.Campaigns(&text))
		campaigns := keep("c.ndjson", text.String())
		text.Reset()
		must(t, set.Leads(&text))
		leads := keep("l.ndjson", text.String()+odd)
		holdco := func(environ []string, args ...string) string {
			t.Helper()
			command := exec.Command("holdco", args...)
			command.Env = slices.Concat(os.Environ(), environ)
			command.Stderr = t.Output()
			out, err := command.Output()
			if err != nil {
				t.Errorf("holdco %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		for _, args := range [][]string{{"taxonomy", "import", taxonomy}, {"campaigns", "import", campaigns}, {"leads", "import", leads}} {
			holdco(environ, args...)
		}
		await(t, "index of the leads", func() bool { return s.index.Status().Leads == many+3 })

		exported := holdco(environ, "leads", "export", "--format", "csv")
		if got := strings.Count(exported, "\n"); got != many+4 {
			t.Errorf("%d lines", got)
		}
		partner := s.reader(t, acmeOrigin)
		if read := partner.Get("leads?format=csv"); string(read.Body) != exported {
			t.Error("partners read another table than the command exports")
		}
		table := keep("table.csv", exported)
		if out := holdco(environ, "leads", "import", table, "--strict"); !strings.Contains(out, fmt.Sprintf("unchanged  %d\n", many+3)) {
			t.Errorf("into the same store: %s", out)
		}

		elsewhere := []string{dataDir + sqlitetest.Dir(t)}
		for _, args := range [][]string{
			{"taxonomy", "import", taxonomy}, {"campaigns", "import", campaigns},
			{"leads", "import", table, "--strict", "--keep-timestamps"},
		} {
			holdco(elsewhere, args...)
		}
		if holdco(environ, "leads", "export") != holdco(elsewhere, "leads", "export") {
			t.Error("another store has other leads")
		}
	})
}

func TestPartnersChooseFieldsAndTheFormOfLeads(t *testing.T) {
	t.Parallel()
	stocked(t, func(t *testing.T, s *instance, partner *partnertest.Client) {
		const want = `{"id":"cmp_000015","name":"Lead 15","google_rating":0.5,` +
			`"industry":{"id":"ind_health","name":"Health","slug":"health"}}`
		one := partner.Get("leads/" + leadID(15) + "?fields=industry,name,google_rating")
		if string(one.Data) != want {
			t.Errorf("%s", one.Data)
		}
		first := partner.Get("leads?has_website=true&per_page=5&fields=name")
		next := partner.Get("leads?has_website=true&per_page=100&fields=contacts&cursor=" + *first.Pagination.NextCursor)
		if first.Pagination.Total != 20 || next.Pagination.Total != 20 || len(first.IDs(t)) != 5 || len(next.IDs(t)) != 15 {
			t.Errorf("%+v, then %+v", first.Pagination, next.Pagination)
		}
		tag := first.Header.Get("ETag")
		partner.Get("leads?has_website=true&per_page=5&fields=name", "If-None-Match", tag).Is(t, 304, "")
		partner.Get("leads?has_website=true&per_page=5&fields=email", "If-None-Match", tag).Is(t, 200, "")

		table := partner.Get("leads?fields=google_rating,name&min_google_rating=0", "Accept", "text/csv").Lines()
		if len(table) != 13 || table[0] != "id,name,google_rating" || table[3] != "cmp_000015,Lead 15,0.5" {
			t.Errorf("%d lines: %v", len(table), table)
		}
		rest := partner.Get("leads?format=csv&fields=google_rating,name&min_google_rating=0&after=" + leadID(15)).Lines()
		if !slices.Equal(rest, table[4:]) {
			t.Errorf("after a lead: %v", rest)
		}

		narrowed := resttest.Data[apiPartner](t, s.Post("/v1/partners", `{"name":"B","origins":["https://b.example"],"contacts":false}`))
		reader := s.readerWith(t, narrowed.Key)
		if got := reader.Get("leads/" + leadID(1) + "?fields=contacts"); string(got.Data) != `{"id":"cmp_000001","contacts":[]}` {
			t.Errorf("%s", got.Data)
		}
		got := string(reader.Get("leads?format=csv").Body)
		if strings.Contains(got, "Ada") || !strings.Contains(got, "hello@lead1.example") {
			t.Errorf("%s", got)
		}
	})
}
