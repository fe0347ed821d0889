package wiring_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/partner/partnertest"
	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/leads/samples"
)

// What a test key reads is what a key reads of a store that holds the same leads, whatever is asked; while there are none it is there too.
func TestATestKeyReadsTheSampleAsIfItWereStored(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		f := &guideFiles{t: t, dir: dir, environ: environ}
		f.run("migrate", "up")
		server := startProcess(t, environ...)
		made := func(flags ...string) *partnertest.Client {
			var issued struct{ Key string }
			text := f.run(append([]string{"partner", "create", "--json", "--name", "Acme", "--origin", acmeOrigin}, flags...)...)
			must(t, json.Unmarshal([]byte(text), &issued))
			if isTest := strings.HasPrefix(issued.Key, "hcp_test_"); isTest != slices.Contains(flags, "--test") {
				t.Errorf("%s of %v", issued.Key, flags)
			}
			return partnertest.New(t, server.exportURL, issued.Key)
		}
		test, stored := made("--test"), made()
		if got := test.Get("leads").Pagination.Total; got != 1000 || stored.Get("leads").Pagination.Total != 0 {
			t.Fatalf("%d leads of the sample while there are none", got)
		}
		importSample(t, f)
		await(t, "the index", func() bool { return stored.Get("leads").Pagination.Total == 1000 })

		narrowed := []string{
			"--industry", "ind_food-and-drink", "--industry", "ind_telegraphy", "--campaign", "cam_c3te82kyaxofr6", "--no-contacts",
		}
		for _, keys := range [][2]*partnertest.Client{
			{test, stored}, {made(append(narrowed, "--test")...), made(narrowed...)},
			{made(append(narrowed[:4:4], "--test")...), made(narrowed[:4]...)},
		} {
			if keys[0] != test {
				namesOwnCampaignsAlone(t, keys[0])
			}
			for _, path := range sampledPaths(t, stored) {
				of, want := keys[0].Get(path), keys[1].Get(path)
				if diff := cmp.Diff(undated(want.Body), undated(of.Body)); diff != "" || of.Status != want.Status {
					t.Errorf("%s: %d %d %s", path, of.Status, want.Status, diff)
				}
				if list, isList := strings.CutPrefix(path, "leads?"); isList && !strings.Contains(path, "page") {
					if diff := cmp.Diff(keys[1].Stream("leads?"+list), keys[0].Stream("leads?"+list)); diff != "" {
						t.Errorf("stream of %s: %s", list, diff)
					}
					if diff := cmp.Diff(followed(t, keys[1], list), followed(t, keys[0], list)); diff != "" {
						t.Errorf("feed of %s: %s", list, diff)
					}
				}
			}
		}
	})
}

// namesOwnCampaignsAlone fails if a lead names a campaign that the key does not see.
func namesOwnCampaignsAlone(t *testing.T, key *partnertest.Client) {
	t.Helper()
	var shown, seen []string
	for _, line := range key.Stream("leads") {
		var one struct {
			Campaigns []string `json:"campaign_ids"`
		}
		must(t, json.Unmarshal([]byte(line), &one))
		shown = append(shown, one.Campaigns...)
	}
	seen = key.Get("campaigns?per_page=100").IDs(t)
	for _, one := range shown {
		if !slices.Contains(seen, one) {
			t.Errorf("%s is in a lead, and not among %v", one, seen)
		}
	}
}

// sampledPaths are what is asked of both.
func sampledPaths(t *testing.T, stored *partnertest.Client) []string {
	paths := []string{
		"leads?per_page=100", "leads?per_page=100&page=7", "leads?page=999", "leads?industry_id=ind_health,ind_food-and-drink",
		"leads?vertical_id=vrt_dentists", "leads?enrichment_level=deep,none&has_website=true", "leads?has_website=false",
		"leads?min_google_rating=4.5", "leads?max_google_rating=0", "leads?campaign_id=cam_c3te82kyaxofr6", "leads?domain=shops.example",
		"leads?email=info%2Bleads@everything.example", "leads?ids=cmp_odd-arabic,cmp_odd-letter,cmp_none", "leads?campaign_id=cam_none",
		"leads?created_before=2025-06-01", "leads/cmp_none", "campaigns?per_page=7&page=2", "campaigns?has_leads=true&min_leads=30",
		"campaigns?status=active", "campaigns?industry_id=ind_health&since=2026-01-01", "campaigns?vertical_id=vrt_none", "taxonomy",
	}
	for _, line := range stored.Stream("leads")[900:] {
		var one struct{ ID string }
		must(t, json.Unmarshal([]byte(line), &one))
		paths = append(paths, "leads/"+one.ID)
	}
	return paths
}

// undated is an answer without the instant at which intelligence was imported.
func undated(body []byte) string {
	return regexp.MustCompile(`(\]),"updated_at":"[^"]+"\}`).ReplaceAllString(string(body), "$1}")
}

// followed reads the feed to its end, and returns the leads and names, sorted.
func followed(t *testing.T, key *partnertest.Client, filter string) (lines []string) {
	t.Helper()
	if strings.Contains(filter, "since") {
		return nil
	}
	cursor := ""
	for more := true; more; {
		var page struct {
			Data       []json.RawMessage
			Pagination struct {
				More bool
				Next string `json:"next_cursor"`
			}
		}
		must(t, json.Unmarshal(key.Get("leads/changes?per_page=90&"+filter+cursor).Body, &page))
		for _, one := range page.Data {
			lines = append(lines, string(one))
		}
		more, cursor = page.Pagination.More, "&cursor="+page.Pagination.Next
	}
	slices.Sort(lines)
	return lines
}

// importSample imports what the sample is made of, but for the leads that were removed.
func importSample(t *testing.T, f *guideFiles) {
	t.Helper()
	odd, err := os.ReadFile("../adapters/leads/samples/odd.ndjson")
	must(t, err)
	set := samples.New(1020-bytes.Count(odd, []byte("\n")), 1)
	var leads, taxonomy, campaigns bytes.Buffer
	must(t, set.Leads(&leads))
	must(t, set.Taxonomy(&taxonomy))
	must(t, set.Campaigns(&campaigns))
	there := strings.SplitAfterN(leads.String(), "\n", 21)[20] + string(odd)
	f.run("taxonomy", "import", f.write("taxonomy.json", taxonomy.String()))
	f.run("campaigns", "import", "--keep-timestamps", f.write("campaigns.ndjson", campaigns.String()))
	f.run("leads", "import", "--keep-timestamps", f.write("leads.ndjson", there))
	must(t, os.Remove(filepath.Join(f.dir, "leads.ndjson")))
}

func TestATestKeyIsAKeyInAllElse(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		s.keepTaxonomy(t, "Health")
		s.keepLeads(t, 1, 3, "Lead")
		made := s.Post("/v1/partners", `{"name":"Acme Data","origins":["`+acmeOrigin+`"],"test":true}`)
		made.Is(t, 201, "")
		shown := resttest.Data[apiPartner](t, made)
		path, key := shown.path(), shown.Key
		if !shown.Test || !strings.HasPrefix(key, "hcp_test_") || shown.Hint != "hcp_test_..."+key[len(key)-4:] {
			t.Errorf("%s", made.Data)
		}
		send(s.Client, "PATCH", path, `{"test":false}`).Is(t, 422, "immutable_field")
		send(s.Client, "POST", "/v1/partners", `{"name":"A","origins":["https://a.b"],"test":"yes"}`).Is(t, 422, "validation_failed")

		reader := s.readerWith(t, key)
		if me := string(reader.Get("me").Data); !strings.Contains(me, `"test":true`) || !strings.Contains(me, `"requests_per_minute":`) {
			t.Error(me)
		}
		reader.Get("leads", "Origin", "https://evil.example").Is(t, 403, "origin_not_allowed")
		reader.Get("leads/"+leadID(1)).Is(t, 404, "not_found")
		if lines := reader.Stream("leads"); len(lines) != 1000 || slices.ContainsFunc(lines, func(l string) bool {
			return strings.Contains(l, leadID(1))
		}) {
			t.Errorf("%d lines", len(lines))
		}
		removed := reader.Get("leads/removed?per_page=100")
		ids := removed.IDs(t)
		if len(ids) != 20 || removed.Pagination.Total != 20 {
			t.Fatalf("%s", removed.Body)
		}
		reader.Get("leads/"+ids[0]).Is(t, 404, "not_found")
		reader.Get("leads?after="+ids[0], "Accept", "application/x-ndjson").Is(t, 200, "")
		told := reader.Get("leads/changes?since=2026-10-03&per_page=100&wait=0")
		if got := told.IDs(t); !slices.Equal(got, ids) || !strings.Contains(string(told.Data), `"change":"removed"`) {
			t.Errorf("%s", told.Body)
		}
		if got := reader.Get("leads/changes?since=2100-01-01").IDs(t); len(got) != 0 {
			t.Errorf("%v", got)
		}
		tag := reader.Get("leads").Header.Get("ETag")
		reader.Get("leads", "If-None-Match", tag).Is(t, 304, "")

		rotated := s.Post(path+"/rotate", "")
		rotated.Is(t, 200, "")
		if next := resttest.Data[apiPartner](t, rotated).Key; !strings.HasPrefix(next, "hcp_test_") {
			t.Error(next)
		} else if got := s.readerWith(t, next).Get("leads").Pagination.Total; got != 1000 {
			t.Errorf("%d leads", got)
		}
		s.Delete(path).Is(t, 200, "")
		reader.Get("leads").Is(t, 401, "unauthorized")
	})
}
