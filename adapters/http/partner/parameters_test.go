package partner_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestAMistypedParameterIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const lines = "application/x-ndjson"
	for _, c := range []struct{ path, parameter, accept string }{
		{path: "leads?x=1", parameter: "x"},
		{path: "leads?Page=1", parameter: "Page"},
		{path: "leads?page", parameter: "page"},
		{path: "leads?page=", parameter: "page"},
		{path: "leads?page=0", parameter: "page"},
		{path: "leads?page=-1", parameter: "page"},
		{path: "leads?page=1.0", parameter: "page"},
		{path: "leads?page=9223372036854775808", parameter: "page"},
		{path: "leads?page=1&page=1", parameter: "page"},
		{path: "leads?per_page=0", parameter: "per_page"},
		{path: "leads?per_page=101", parameter: "per_page"},
		{path: "leads?page=1&cursor=x", parameter: "page"},
		{path: "leads?cursor=", parameter: "cursor"},
		{path: "leads?campaign_id=cam_", parameter: "campaign_id"},
		{path: "leads?campaign_id=ind_1", parameter: "campaign_id"},
		{path: "leads?campaign_id=cam_%C3%A4", parameter: "campaign_id"},
		{path: "leads?industry_id=vrt_1", parameter: "industry_id"},
		{path: "leads?vertical_id=dentists", parameter: "vertical_id"},
		{path: "leads?has_website=TRUE", parameter: "has_website"},
		{path: "leads?has_website=1", parameter: "has_website"},
		{path: "leads?min_google_rating=6", parameter: "min_google_rating"},
		{path: "leads?min_google_rating=5.001", parameter: "min_google_rating"},
		{path: "leads?min_google_rating=-1", parameter: "min_google_rating"},
		{path: "leads?min_google_rating=NaN", parameter: "min_google_rating"},
		{path: "leads?min_google_rating=1e0", parameter: "min_google_rating"},
		{path: "leads?enrichment_level=Deep", parameter: "enrichment_level"},
		{path: "leads?since=yesterday", parameter: "since"},
		{path: "leads?since=2026-04-31", parameter: "since"},
		{path: "leads?since=2026-4-1", parameter: "since"},
		{path: "leads?since=2026-04-11T10:42:17", parameter: "since"},
		{path: "leads?since=2026-04-11T10:42:17,5Z", parameter: "since"},
		{path: "leads?since=2026-04-11T10:42:60Z", parameter: "since"},
		{path: "leads?since=2026-04-11T1:42:00Z", parameter: "since"},
		{path: "leads?since=2026-04-11T10:42:17%2B24:00", parameter: "since"},
		{path: "leads?since=2026-04-11T10:42:17+02:00", parameter: "since"},
		{path: "leads?since=9999-12-31T23:59:59-23:59", parameter: "since"},
		{path: "leads?=1", parameter: ""},
		{path: "leads?after=cmp_x", parameter: "after"},
		{path: "leads?after=cmp_x", parameter: "after", accept: lines},
		{path: "leads?after=cam_x", parameter: "after", accept: lines},
		{path: "leads?page=1", parameter: "page", accept: lines},
		{path: "leads?per_page=10", parameter: "per_page", accept: lines},
		{path: "leads?cursor=x", parameter: "cursor", accept: lines},
		{path: "leads?min_google_rating=6", parameter: "min_google_rating", accept: lines},
		{path: "leads?max_google_rating=5.001", parameter: "max_google_rating"},
		{path: "leads?campaign_id=cam_1,", parameter: "campaign_id"},
		{path: "leads?industry_id=,ind_1", parameter: "industry_id"},
		{path: "leads?vertical_id=vrt_1,,vrt_2", parameter: "vertical_id"},
		{path: "leads?vertical_id=vrt_1,%20vrt_2", parameter: "vertical_id"},
		{path: "leads?vertical_id=vrt_1,ind_2", parameter: "vertical_id"},
		{path: "leads?enrichment_level=deep,Basic", parameter: "enrichment_level"},
		{path: "leads?ids=" + strings.Repeat("cmp_1,", 100) + "cmp_1", parameter: "ids"},
		{path: "leads?ids=acme", parameter: "ids", accept: lines},
		{path: "leads?domain=acme", parameter: "domain"},
		{path: "leads?domain=a.example,b.example", parameter: "domain"},
		{path: "leads?domain=info@acme.example", parameter: "domain"},
		{path: "leads?domain=https://anna:1@acme.example/", parameter: "domain"},
		{path: "leads?email=acme.example", parameter: "email"},
		{path: "leads?email=ada+news@acme.example", parameter: "email"},
		{path: "leads?updated_before=tomorrow", parameter: "updated_before"},
		{path: "leads?created_before=", parameter: "created_before"},
		{path: "leads/removed?since=2026", parameter: "since"},
		{path: "leads/removed?has_website=true", parameter: "has_website"},
		{path: "leads/" + string(leadID(1)) + "?page=1", parameter: "page"},
		{path: "campaigns?status=Active", parameter: "status"},
		{path: "campaigns?geography_id=ind_1", parameter: "geography_id"},
		{path: "campaigns?has_leads=yes", parameter: "has_leads"},
		{path: "campaigns?min_leads=-1", parameter: "min_leads"},
		{path: "campaigns?min_leads=1.5", parameter: "min_leads"},
		{path: "campaigns?campaign_id=cam_1", parameter: "campaign_id"},
		{path: "campaigns?since=soon", parameter: "since"},
		{path: "campaigns?per_page=101", parameter: "per_page"},
		{path: "taxonomy?since=2026-04-11", parameter: "since"},
	} {
		answer := w.Wrong(c.path, "Accept", c.accept)
		answer.Blames(t, c.parameter)
		if strings.Contains(c.path, "17+02") && !strings.Contains(answer.Error.Message, "%2B") {
			t.Error(answer.Error.Message)
		}
		if strings.Contains(c.path, "9999-") && answer.Error.Message != "since must not be after 9999-12-31T23:59:59.999Z." ||
			strings.Contains(c.path, "?=") && answer.Error.Message != "A parameter in the query has no name." {
			t.Error(answer.Error.Message)
		}
	}
	for _, header := range []string{"If-None-Match", "If-Modified-Since"} {
		w.Wrong("leads", header, "").Blames(t, header)
	}
}

func TestParametersMeanWhatTheySay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.UTC()
	}
	for query, want := range map[string]lead.Filter{
		"":                     {},
		"campaign_id=cam_none": {Campaigns: []id.Campaign{"cam_none"}},
		"industry_id=ind_health&vertical_id=vrt_x-1_Y": {Industries: []id.Industry{health}, Verticals: []id.Vertical{"vrt_x-1_Y"}},
		"campaign_id=cam_b,cam_a,cam_b":                {Campaigns: []id.Campaign{"cam_b", "cam_a", "cam_b"}},
		"vertical_id=vrt_a%2Cvrt_b":                    {Verticals: []id.Vertical{"vrt_a", "vrt_b"}},
		"enrichment_level=deep,none,deep":              {Enrichments: []lead.Enrichment{lead.Deep, lead.None, lead.Deep}},
		"ids=cmp_a,cmp_b":                              {IDs: []id.Lead{"cmp_a", "cmp_b"}},
		"domain=HTTPS://www.Acme.example/x":            {Domain: "acme.example"},
		"domain=b%C3%BCcher.example":                   {Domain: "xn--bcher-kva.example"},
		"email=Ada%2Bnews@Acme.example":                {Email: "ada+news@acme.example"},
		"email=Info@B%C3%BCcher.example":               {Email: "info@xn--bcher-kva.example"},
		"max_google_rating=5":                          {MaxRating: new(lead.MostRating)},
		"max_google_rating=4.509":                      {MaxRating: new(lead.Rating(450))},
		"updated_before=2026-04-11":                    {UpdatedBefore: at("2026-04-11T00:00:00Z")},
		"created_before=2026-04-11T00:00:00.0001Z":     {CreatedBefore: at("2026-04-11T00:00:00.001Z")},
		"updated_before=0000-01-01":                    {UpdatedBefore: time.Time{}.Add(time.Millisecond)},
		"created_before=0001-01-01":                    {CreatedBefore: time.Time{}.Add(time.Millisecond)},
		"has_website=true":                             {HasWebsite: new(true)},
		"has_website=false":                            {HasWebsite: new(false)},
		"min_google_rating=0":                          {MinRating: new(lead.Rating(0))},
		"min_google_rating=4.501":                      {MinRating: new(lead.Rating(451))},
		"enrichment_level=none":                        {Enrichments: []lead.Enrichment{lead.None}},
		"since=2026-04-11":                             {Since: at("2026-04-11T00:00:00Z")},
		"since=2026-04-11T02:00:00%2B02:00":            {Since: at("2026-04-11T00:00:00Z")},
		"since=2026-04-11T00:00:00.0001Z":              {Since: at("2026-04-11T00:00:00.001Z")},
		"since=0001-01-01T00:00:00%2B01:00":            {},
		"since=2026-04-11t00:00:00z":                   {Since: at("2026-04-11T00:00:00Z")},
		"since=2026-04-11T00:00:00%2B00:00":            {Since: at("2026-04-11T00:00:00Z")},
		"since=0000-01-01":                             {},
	} {
		w.Get("leads?"+query).Is(t, 200, "")
		if diff := cmp.Diff(want, w.export.saw.Filter); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	for query, want := range map[string]int{
		"": 2, "status=active": 1, "since=2026-04-11T10:42:18Z": 1, "since=2026-04-11T10:42:19Z": 0,
		"has_leads=false": 1, "min_leads=1250": 1,
		"min_leads=9223372036854775807": 0, "geography_id=geo_berlin": 1, "vertical_id=vrt_none": 0,
	} {
		if got := w.Get("campaigns?" + query); len(got.IDs(t)) != want || got.Pagination.Total != int64(want) {
			t.Errorf("%s: %s", query, got.Body)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, query := range []string{
		"page=2&per_page=3", "since=2026-04-11T02:00:00%2B02:00", "since=2026-04-11",
		"min_google_rating=4.55", "campaign_id=cam_1&has_website=false", "cursor=abc",
		"page=9223372036854775807&per_page=100",
	} {
		f.Add(query)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, query string) {
		request := httptest.NewRequestWithContext(t.Context(), "GET", "/api/external/leads", nil)
		request.URL.RawQuery = query
		request.Header.Set("Authorization", "Bearer "+key)
		recorder := httptest.NewRecorder()
		w.api.ServeHTTP(recorder, request)
		if recorder.Code != 200 && recorder.Code != 400 {
			t.Errorf("%q: %d %s", query, recorder.Code, recorder.Body)
		}
	})
}
