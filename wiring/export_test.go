package wiring_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/partner/partnertest"
	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/limits/redislimit/redistest"
	"holdco/adapters/store/postgres/postgrestest"
)

// stocked runs a test against a server on each store that holds a taxonomy, a campaign and 60 leads.
func stocked(t *testing.T, test func(t *testing.T, s *instance, partner *partnertest.Client)) {
	t.Helper()
	eachStore(t, func(t *testing.T, s *instance) {
		s.keepTaxonomy(t, "Health")
		s.keepLeads(t, 1, 60, "Lead")
		test(t, s, s.reader(t, acmeOrigin))
	})
}

func TestPartnersReadAllThereIs(t *testing.T) {
	t.Parallel()
	stocked(t, func(t *testing.T, _ *instance, partner *partnertest.Client) {
		one := partner.Get("leads/" + leadID(15))
		one.Is(t, 200, "")
		for _, part := range []string{
			`"name":"Lead 15"`, `"website":"lead15.example"`, `"google_rating":0.5`,
			`"industry":{"id":"ind_health","name":"Health","slug":"health"}`,
			`"vertical":null`, `"is_primary_lead":true`, `"updated_at":"2026-04-11T12:00:00`,
		} {
			if !strings.Contains(string(one.Data), part) {
				t.Errorf("no %s in %s", part, one.Data)
			}
		}
		const filter = "has_website=true&min_google_rating=0&campaign_id=cam_spring&industry_id=ind_health" +
			"&enrichment_level=deep&since=2026-04-11"
		page := partner.Get("leads?" + filter + "&per_page=3")
		if got := page.IDs(t); !slices.Equal(got, []string{leadID(15), leadID(30), leadID(45)}) || page.Pagination.Total != 4 ||
			page.Pagination.TotalPages != 2 {
			t.Errorf("%s", page.Body)
		}
		next := partner.Get("leads?cursor=" + *page.Pagination.NextCursor + "&" + filter)
		if !slices.Equal(next.IDs(t), []string{leadID(60)}) {
			t.Errorf("%s", next.Body)
		}
		for _, none := range []string{
			"campaign_id=cam_none", "industry_id=ind_arts", "vertical_id=vrt_none",
			"since=2027-01-01", "enrichment_level=none", "min_google_rating=4.9",
		} {
			if got := partner.Get("leads?" + none); got.Pagination.Total != 0 || got.Pagination.TotalPages != 0 || len(got.IDs(t)) != 0 {
				t.Errorf("%s: %s", none, got.Body)
			}
		}
		if got := partner.Get("leads?page=9223372036854775807"); got.Status != 200 || got.Pagination.Total != 60 || len(got.IDs(t)) != 0 {
			t.Errorf("%s", got.Body)
		}
		campaigns := partner.Get("campaigns?status=active&industry_id=ind_health&geography_id=geo_berlin&has_leads=true&min_leads=60")
		if !strings.Contains(string(campaigns.Data), `"lead_count":60`) || campaigns.Pagination.Total != 1 {
			t.Errorf("%s", campaigns.Body)
		}
		taxonomy := partner.Get("taxonomy")
		if text := string(taxonomy.Data); !strings.Contains(text, `"vin_dentists"`) || strings.Contains(text, "ind_arts") {
			t.Error(text)
		}
		for _, path := range []string{"leads/cmp_none", "leads/ind_health", "leads/" + strings.Repeat("x", 200)} {
			partner.Get(path).Is(t, 404, "not_found")
		}
	})
}

func TestALeadThatChangesComesAgainAndOneThatGoesIsTold(t *testing.T) {
	t.Parallel()
	stocked(t, func(t *testing.T, s *instance, partner *partnertest.Client) {
		all := partner.Get("leads?per_page=100")
		all.Is(t, 200, "")
		since := s.clock.Now()
		s.clock.advance(time.Minute)
		s.keepLeads(t, 7, 8, "Changed")
		s.clock.advance(time.Minute)
		s.removeLeads(t, 9, 10)

		changed := partner.Get("leads?since=" + since.Add(time.Second).Format(time.RFC3339))
		if got := changed.IDs(t); !slices.Equal(got, []string{leadID(7), leadID(8)}) {
			t.Errorf("%v", got)
		}
		removed := partner.Get("leads/removed?since=2026-04-11T12:02:00Z&per_page=1")
		if removed.Pagination.Total != 2 || !strings.Contains(string(removed.Data),
			`{"id":"cmp_000009","removed_at":"2026-04-11T12:02:00.000Z"}`) {
			t.Errorf("%s", removed.Body)
		}
		rest := partner.Get("leads/removed?since=2026-04-11T12:02:00Z&cursor=" + *removed.Pagination.NextCursor)
		if got := rest.IDs(t); !slices.Equal(got, []string{leadID(10)}) || rest.Pagination.Page != nil ||
			rest.Pagination.NextCursor != nil {
			t.Errorf("%s", rest.Body)
		}
		partner.Get("leads/"+leadID(9)).Is(t, 404, "not_found")
		if got := partner.Stream("leads"); len(got) != 58 || !strings.Contains(got[57], `"name":"Changed 8"`) {
			t.Errorf("%d lines, the last is %s", len(got), got[len(got)-1])
		}
		s.keepLeads(t, 9, 9, "Back")
		if got := partner.Get("leads/removed").IDs(t); !slices.Equal(got, []string{leadID(10)}) {
			t.Errorf("%v", got)
		}
	})
}

func TestCursorsNeitherSkipNorRepeatWhileLeadsChange(t *testing.T) {
	t.Parallel()
	stocked(t, func(t *testing.T, s *instance, partner *partnertest.Client) {
		seen := map[string]int{}
		cursor := ""
		for number := 0; ; number++ {
			page := partner.Get("leads?per_page=10" + cursor)
			for _, one := range page.IDs(t) {
				seen[one]++
			}
			if page.Pagination.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *page.Pagination.NextCursor
			if number == 1 {
				s.clock.advance(time.Second)
				s.keepLeads(t, 1, 5, "Changed") // which were seen, and come again at the end
				s.removeLeads(t, 20, 21)        // one that was seen, and one that was not
			}
		}
		for n := 1; n <= 60; n++ {
			want := 1
			switch {
			case n <= 5:
				want = 2
			case n == 21:
				want = 0
			}
			if got := seen[leadID(n)]; got != want {
				t.Errorf("%s was seen %d times, want %d", leadID(n), got, want)
			}
		}
	})
}

func TestAnAnswerIsSparedUntilSomethingChanges(t *testing.T) {
	t.Parallel()
	stocked(t, func(t *testing.T, s *instance, partner *partnertest.Client) {
		paths := []string{"leads", "leads?page=2&has_website=true", "leads/removed", "campaigns", "taxonomy", "leads/" + leadID(1)}
		tags := map[string]string{}
		for _, path := range paths {
			tags[path] = partner.Get(path).Header.Get("ETag")
		}
		s.clock.advance(time.Minute)
		stamp := partner.Get("leads").Header.Get("Last-Modified")
		if stamp != "Sat, 11 Apr 2026 12:00:00 GMT" {
			t.Errorf("Last-Modified: %q", stamp)
		}
		check := func(want map[string]int) {
			t.Helper()
			for _, path := range paths {
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					answer := partner.Send(partnertest.Request{Method: method, Path: path,
						Header: map[string]string{"If-None-Match": tags[path]}})
					if answer.Status != want[path] {
						t.Errorf("%s %s: %d, want %d", method, path, answer.Status, want[path])
					}
				}
			}
		}
		all := map[string]int{}
		for _, path := range paths {
			all[path] = 304
		}
		check(all)
		partner.Get("leads", "If-Modified-Since", stamp).Is(t, 304, "")

		s.keepLeads(t, 2, 2, "Changed")
		partner.Get("leads", "If-Modified-Since", stamp).Is(t, 200, "")
		for _, path := range paths[:4] {
			all[path] = 200
		}
		check(all)
		s.keepTaxonomy(t, "Wellness")
		for _, path := range paths {
			all[path] = 200
		}
		check(all)
		if shown := partner.Get("leads/" + leadID(1)); !strings.Contains(string(shown.Data), `"name":"Wellness"`) {
			t.Errorf("%s", shown.Data)
		}
	})
}

func TestAPartnersKeyOpensTheExportAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.admit(t)
		partner := s.readerWith(t, made.Key)
		partner.Get("leads").Is(t, 200, "")
		s.As(made.Key).Get("/v1/whoami").Is(t, 401, "unauthorized")
		partner.As(string(rootToken)).Get("leads").Is(t, 401, "unauthorized")
		partner.As("").Get("taxonomy").Is(t, 401, "unauthorized")
		partner.Wrong("/v1/companies").Is(t, 404, "not_found")
		s.Send(resttest.Request{Method: http.MethodGet, Path: "/api/external/leads", Wrong: true}).Is(t, 404, "not_found")

		rotated := resttest.Data[apiPartner](t, s.Post(made.path()+"/rotate", `{"graceSeconds":60}`)).Key
		partner.Get("leads").Is(t, 200, "")
		partner.As(rotated).Get("leads").Is(t, 200, "")
		s.clock.advance(time.Minute)
		partner.Get("leads").Is(t, 401, "unauthorized")
		s.Delete(made.path()).Is(t, 200, "")
		partner.As(rotated).Get("leads").Is(t, 401, "unauthorized")
	})
}

func TestPagesComeFromTheOriginsOfTheirKey(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.admit(t)
		partner := s.readerWith(t, made.Key)
		other := s.reader(t, "https://other.example")
		preflight := func(origin string) partnertest.Answer {
			return partner.As("").Send(partnertest.Request{Method: http.MethodOptions, Path: "leads", Wrong: true,
				Header: map[string]string{
					"Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization",
				}})
		}
		allowed := func(answer partnertest.Answer) string { return answer.Header.Get("Access-Control-Allow-Origin") }
		if answer := partner.Get("leads", "Origin", acmeOrigin); answer.Status != 200 || allowed(answer) != acmeOrigin {
			t.Errorf("%d %v", answer.Status, answer.Header)
		}
		for _, origin := range []string{"https://other.example", "https://evil.example", "null", acmeOrigin + ":443"} {
			answer := partner.Get("leads", "Origin", origin)
			answer.Is(t, 403, "origin_not_allowed")
			if allowed(answer) != "" {
				t.Errorf("%v", answer.Header)
			}
		}
		other.Get("leads", "Origin", "https://other.example").Is(t, 200, "")
		if answer := preflight(acmeOrigin); answer.Status != 204 || allowed(answer) != acmeOrigin ||
			answer.Header.Get("Access-Control-Max-Age") != "600" {
			t.Errorf("%d %v", answer.Status, answer.Header)
		}
		if answer := preflight("https://evil.example"); answer.Status != 204 || allowed(answer) != "" {
			t.Errorf("%d %v", answer.Status, answer.Header)
		}
		s.Patch(made.path(), `{"origins":["https://next.example"]}`).Is(t, 200, "")
		partner.Get("leads", "Origin", acmeOrigin).Is(t, 403, "origin_not_allowed")
		partner.Get("leads", "Origin", "https://next.example").Is(t, 200, "")
		if answer := preflight(acmeOrigin); allowed(answer) != "" {
			t.Errorf("%v", answer.Header)
		}
	})
}

func TestAStreamHoldsAllAndContinuesWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		s.keepTaxonomy(t, "Health")
		s.keepLeads(t, 1, 5000, "Lead")
		partner := s.reader(t, acmeOrigin)
		all := partner.Stream("leads")
		if len(all) != 5000 || !strings.Contains(all[4999], leadID(5000)) {
			t.Fatalf("%d lines", len(all))
		}
		if got := partner.Stream("leads?has_website=true&after=" + leadID(3000)); len(got) != 666 ||
			!strings.Contains(got[0], leadID(3003)) {
			t.Errorf("%d lines", len(got))
		}
		partner.Wrong("leads?after=cmp_never", "Accept", "application/x-ndjson").Blames(t, "after")

		response := partner.Open(partnertest.Request{Path: "leads",
			Header: map[string]string{"Accept": "application/x-ndjson", "Accept-Encoding": "gzip"}})
		defer response.Body.Close()
		reader, err := gzip.NewReader(response.Body)
		must(t, err)
		text, err := io.ReadAll(reader)
		if err != nil || strings.TrimSuffix(string(text), "\n") != strings.Join(all, "\n") {
			t.Errorf("compressed: %d bytes, %v", len(text), err)
		}

		s.clock.advance(time.Minute)
		s.keepLeads(t, 2500, 2500, "Changed")
		rest := partner.Stream("leads?after=" + leadID(2500))
		if len(rest) != 2501 || !strings.Contains(rest[0], leadID(2501)) || !strings.Contains(rest[2500], "Changed 2500") {
			t.Errorf("%d lines after a lead that moved", len(rest))
		}
		s.removeLeads(t, 2400)
		if rest = partner.Stream("leads?after=" + leadID(2400)); len(rest) != 2600 || !strings.Contains(rest[0], leadID(2401)) {
			t.Errorf("%d lines after a lead that was removed", len(rest))
		}
	})
}

func TestAStoppingServerLetsAStreamEnd(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		s.keepTaxonomy(t, "Health")
		s.keepLeads(t, 1, 20_000, "Lead")
		partner := s.reader(t, acmeOrigin)
		response := partner.Open(partnertest.Request{Path: "leads", Header: map[string]string{"Accept": "application/x-ndjson"}})
		defer response.Body.Close()
		lines := bufio.NewReader(response.Body)
		_, err := lines.ReadString('\n')
		must(t, err)
		stopped := make(chan error, 1)
		go func() { stopped <- s.stop() }()
		await(t, "the end of the listener", func() bool {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.exportURL, "http://"))
			return err != nil || conn.Close() != nil
		})
		count := 1
		for ; err == nil; count++ {
			_, err = lines.ReadString('\n')
		}
		if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || count-1 != 20_000 {
			t.Errorf("%d lines, then %v", count-1, err)
		}
		must(t, <-stopped)
	})
}

func TestTheKeyOfAPartnerHasItsLimit(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_PARTNER=3")
	one, other := s.reader(t, acmeOrigin), s.reader(t, acmeOrigin)
	for _, c := range []struct {
		request partnertest.Request
		status  int
	}{
		{partnertest.Request{Path: "leads"}, 200},
		{partnertest.Request{Path: "leads", Header: map[string]string{"If-None-Match": "*"}}, 304},
		{partnertest.Request{Path: "leads", Header: map[string]string{"Origin": "https://evil.example"}}, 403},
		{partnertest.Request{Path: "leads", Header: map[string]string{"Accept": "application/x-ndjson"}}, 429},
		{partnertest.Request{Method: http.MethodHead, Path: "taxonomy"}, 429},
	} {
		answer := one.Send(c.request)
		if answer.Status != c.status || answer.Header.Get("RateLimit-Limit") != "3" {
			t.Errorf("%+v: %d %v", c.request, answer.Status, answer.Header)
		}
	}
	refused := one.Get("leads")
	refused.Is(t, 429, "rate_limited")
	if refused.Header.Get("Retry-After") != "60" || refused.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("%v", refused.Header)
	}
	other.Get("leads").Is(t, 200, "")
	s.Get("/v1/whoami").Is(t, 200, "")
	s.clock.advance(time.Minute)
	one.Get("leads").Is(t, 200, "")
}

func TestServersOnOneRedisCountTheKeyOfAPartnerTogether(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	environ := []string{
		databaseURL + postgrestest.URL(t), "HOLDCO_KEY_FILE=" + filepath.Join(t.TempDir(), "key"),
		"HOLDCO_REDIS_URL=" + redis.URL(), "HOLDCO_RATE_PARTNER=10",
	}
	one, other := limited(t, environ...), limited(t, environ...)
	made := one.admit(t)
	clients := []*partnertest.Client{one.readerWith(t, made.Key), other.readerWith(t, made.Key)}
	statuses := map[int]int{}
	for n := range 30 {
		statuses[clients[n%2].Get("taxonomy").Status]++
	}
	if statuses[200] != 10 || statuses[429] != 20 {
		t.Errorf("the answers were %v", statuses)
	}
}

func TestKeysOfPartnersCannotBeGuessedAtSpeed(t *testing.T) {
	t.Parallel()
	s := limited(t)
	partner := s.reader(t, acmeOrigin)
	for range 60 {
		partner.As("hcp_guess").Get("leads").Is(t, 401, "unauthorized")
	}
	partner.As("hcp_guess").Get("leads").Is(t, 429, "rate_limited")
	partner.Get("leads").Is(t, 200, "")
}

func TestTheExportIsCountedByRoute(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_PARTNER=100")
	partner := s.reader(t, acmeOrigin)
	before := scrape(t, s.url)
	partner.Get("leads/cmp_none").Is(t, 404, "not_found")
	partner.Get("leads/removed").Is(t, 200, "")
	want := figures{}
	for _, counted := range []struct{ route, status string }{{"/api/external/leads/:id", "404"}, {"/api/external/leads/removed", "200"}} {
		want[fmt.Sprintf(`holdco_http_requests_total{method="GET",route=%q,status=%q}`, counted.route, counted.status)] = 1
	}
	want[`holdco_limiter_verdicts_total{class="partner",outcome="admitted"}`] = 2
	await(t, "the count", func() bool {
		since := scrape(t, s.url).since(before, "holdco_http_requests_total", "holdco_limiter_verdicts_total")
		for series, value := range want {
			if since[series] != value {
				return false
			}
		}
		return true
	})
}

func TestTheExportIsTurnedOffByAnEmptyAddress(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_PARTNER_ADDR=")
	if s.exportURL != "" {
		t.Errorf("it listens on %s", s.exportURL)
	}
	s.Get("/v1/partners").Is(t, 200, "")
}

func TestPagesOfNamedOriginsMayUseTheAPI(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_CORS_ORIGINS=https://a.example,https://b.example")
	for origin, allowed := range map[string]bool{
		"https://a.example": true, "https://b.example": true,
		"https://c.example": false, "null": false,
	} {
		for _, c := range []struct {
			method, path string
			status       int
		}{{"GET", "/v1/whoami", 200}, {"OPTIONS", "/v1/companies", 204}, {"GET", "/v1/nothing", 404}} {
			answer := s.Send(resttest.Request{Method: c.method, Path: c.path, Wrong: true, Header: map[string]string{
				"Origin": origin, "Access-Control-Request-Method": "POST",
			}})
			header := answer.Header
			if answer.Status != c.status || (header.Get("Access-Control-Allow-Origin") == origin) != allowed ||
				!slices.Contains(header.Values("Vary"), "Origin") {
				t.Errorf("%s %s from %s: %d %v", c.method, c.path, origin, answer.Status, header)
			}
			methods := header.Get("Access-Control-Allow-Methods")
			if (methods == "GET, HEAD, POST, PATCH, DELETE") != (allowed && c.method == "OPTIONS") {
				t.Errorf("%s %s from %s may use %q", c.method, c.path, origin, methods)
			}
		}
	}
	plain := limited(t)
	answer := plain.Send(resttest.Request{Method: "GET", Path: "/v1/whoami", Header: map[string]string{"Origin": "https://a.example"}})
	if answer.Status != 200 || answer.Header.Get("Access-Control-Allow-Origin") != "" ||
		slices.Contains(answer.Header.Values("Vary"), "Origin") {
		t.Errorf("%d %v", answer.Status, answer.Header)
	}
}
