package wiring_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/limits/redislimit/redistest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite/sqlitetest"
)

// figures are those of one scrape: the value of each series, spelled as name{label="value",...} with sorted labels. Of
// a histogram it is the number of observations.
type figures map[string]float64

// scrape reads the metrics at an address, as nobody in particular.
func scrape(t *testing.T, url string) figures {
	t.Helper()
	all, err := figuresAt(url)
	must(t, err)
	return all
}

func figuresAt(url string) (figures, error) {
	response, err := http.Get(url + "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the scrape was answered %s", response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, err
	}
	all := figures{}
	for name, family := range families {
		for _, metric := range family.Metric {
			all[name+spell(metric.Label)] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
				float64(metric.GetHistogram().GetSampleCount()+metric.GetSummary().GetSampleCount())
		}
	}
	return all, nil
}

func spell(labels []*dto.LabelPair) string {
	if len(labels) == 0 {
		return ""
	}
	spelled := make([]string, len(labels))
	for i, label := range labels {
		spelled[i] = fmt.Sprintf("%s=%q", label.GetName(), label.GetValue())
	}
	slices.Sort(spelled)
	return "{" + strings.Join(spelled, ",") + "}"
}

// since are the series of some names that are not what they were.
func (f figures) since(before figures, names ...string) figures {
	changed := figures{}
	for series, value := range f {
		name, _, _ := strings.Cut(series, "{")
		if slices.Contains(names, name) && value != before[series] {
			changed[series] = value - before[series]
		}
	}
	return changed
}

func (f figures) are(t *testing.T, want figures) {
	t.Helper()
	for series, value := range want {
		if f[series] != value {
			t.Errorf("%s is %v, want %v", series, f[series], value)
		}
	}
	for series, value := range f {
		if _, wanted := want[series]; !wanted {
			t.Errorf("%s is %v, want none", series, value)
		}
	}
}

// settled is the first scrape with the client's reading of the document: it knows the end from the length, maybe before the
// server has counted the request.
func settled(t *testing.T, url string) (now figures) {
	t.Helper()
	await(t, "the count of the document", func() bool {
		now = scrape(t, url)
		return now[requests+`{method="GET",route="/openapi.json",status="200"}`] == 1
	})
	return now
}

const requests, durations = "holdco_http_requests_total", "holdco_http_request_duration_seconds"

func TestRequestsAreCountedByRouteMethodAndStatus(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		before := settled(t, s.url)
		acme := s.create(t, draft(t, ""))
		s.Get(acme.path())
		s.Get(acme.path() + "?include=teams")
		send(s.Client, "HEAD", acme.path(), "")
		s.Get("/v1/companies/cmp_"+strings.Repeat("0", 26)).Is(t, 404, "not_found")
		send(s.Client, "PATCH", acme.path(), `{"name":""}`).Is(t, 422, "validation_failed")
		s.As("").Get("/v1/companies").Is(t, 401, "unauthorized")
		send(s.Client, "GET", "/v1/nothing", "").Is(t, 404, "not_found")
		send(s.Client, "GET", "/v1/companies/", "").Is(t, 404, "not_found")
		send(s.Client, "PUT", "/v1/companies", "").Is(t, 405, "method_not_allowed")
		send(s.Client, "PURGE", "/v1/companies", "").Is(t, 405, "method_not_allowed")
		send(s.Client, "OPTIONS", "/v1/companies", "")
		_, others := s.panicking(t, 1, func() resttest.Answer { return s.Post("/v1/companies", draft(t, "")) })
		s.Get("/readyz")
		after := scrape(t, s.url)

		after.since(before, requests).are(t, figures{
			requests + `{method="POST",route="/v1/companies",status="201"}`:      1,
			requests + `{method="GET",route="/v1/companies/:id",status="200"}`:   2,
			requests + `{method="HEAD",route="/v1/companies/:id",status="200"}`:  1,
			requests + `{method="GET",route="/v1/companies/:id",status="404"}`:   1,
			requests + `{method="PATCH",route="/v1/companies/:id",status="422"}`: 1,
			requests + `{method="GET",route="/v1/companies",status="401"}`:       1,
			requests + `{method="GET",route="unmatched",status="404"}`:           2,
			requests + `{method="PUT",route="unmatched",status="405"}`:           1,
			requests + `{method="other",route="unmatched",status="405"}`:         1,
			requests + `{method="OPTIONS",route="unmatched",status="204"}`:       1,
			requests + `{method="POST",route="/v1/companies",status="500"}`:      1,
			requests + `{method="POST",route="/v1/companies",status="409"}`:      float64(others),
			requests + `{method="GET",route="/readyz",status="200"}`:             1,
			requests + `{method="GET",route="/metrics",status="200"}`:            1, // the first of the two
		})
		after.since(before, durations).are(t, figures{
			durations + `{route="/v1/companies"}`:     3,
			durations + `{route="/v1/companies/:id"}`: 5,
			durations + `{route="unmatched"}`:         5,
			durations + `{route="/readyz"}`:           1,
			durations + `{route="/metrics"}`:          1,
		})
		if got := after["holdco_http_requests_in_flight"]; got != 1 { // the scrape itself
			t.Errorf("%v requests are in flight", got)
		}
		if got := after[`holdco_build_info{commit="none",go_version="`+runtime.Version()+`",version="v0.0.0-test"}`]; got != 1 {
			t.Error("the build is not reported")
		}
	})
}

func TestAccessesToTheStoreAreTimedByKindAndOutcome(t *testing.T) {
	t.Parallel()
	const accesses = "holdco_store_access_duration_seconds"
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, "")) // and the token is cached from now on
		for _, c := range []struct {
			ask  func()
			want string
		}{
			{func() { s.Get(acme.path()).Is(t, 200, "") }, `{kind="read",outcome="ok"}`},
			{func() { s.Get("/v1/companies/cmp_"+strings.Repeat("0", 26)).Is(t, 404, "not_found") }, `{kind="read",outcome="refused"}`},
			{func() { s.Get(acme.path()+"?include=teams").Is(t, 200, "") }, `{kind="view",outcome="ok"}`},
			{func() { s.Patch(acme.path(), `{"name":"B"}`).Is(t, 200, "") }, `{kind="update",outcome="ok"}`},
			{func() { s.Post("/v1/companies", named("acme")).Is(t, 409, "slug_in_use") }, `{kind="update",outcome="refused"}`},
			{func() { // the first reading is the authentication's
				s.panicking(t, 2, func() resttest.Answer { return s.Post("/v1/companies", named("acme")) })
			}, `{kind="update",outcome="defect"}`},
		} {
			before := scrape(t, s.url)
			// Jobs use the store too, and may meet the panic instead.
			await(t, c.want, func() bool {
				c.ask()
				return scrape(t, s.url).since(before, accesses)[accesses+c.want] >= 1
			})
		}
	})
}

func TestAPostgresThatIsDownCanBeSeenInMetrics(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	s := start(t, newClock(), dataDir+t.TempDir(), databaseURL+cluster.Database(t))
	before := scrape(t, s.url)
	cluster.Kill(t)
	s.Get("/v1/companies").Is(t, 503, "unavailable")
	after := scrape(t, s.url)
	if after[requests+`{method="GET",route="/v1/companies",status="503"}`] != 1 {
		t.Error("the refused request is not counted")
	}
	const lost = `holdco_store_access_duration_seconds{kind="read",outcome="unavailable"}`
	if after[lost] <= before[lost] || after[`go_sql_max_open_connections{db_name="pool"}`] != 20 {
		t.Errorf("%v lost accesses", after[lost])
	}
}

func TestCommitsOfTheEmbeddedStoreAreCounted(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	before := scrape(t, s.url)
	atOnce(8, func(i int) resttest.Answer { return s.Post("/v1/companies", named(fmt.Sprint("c-", i))) })
	after := scrape(t, s.url)
	batches := after["holdco_sqlite_batches_total"] - before["holdco_sqlite_batches_total"]
	units := after["holdco_sqlite_units_total"] - before["holdco_sqlite_units_total"]
	if units < 8 || batches < 1 || batches > units {
		t.Errorf("%v units in %v batches", units, batches)
	}
	if after[`go_sql_open_connections{db_name="writer"}`] != 1 || after[`go_sql_open_connections{db_name="readers"}`] < 1 {
		t.Errorf("%v", after)
	}
}

func TestNoLabelHoldsWhatAClientChose(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		traffic := func(round int) {
			acme := s.create(t, named(fmt.Sprint("company-", round)))
			token := s.issue(t, "read")
			s.As(token.Token).Get(acme.path()).Is(t, 200, "")
			s.Get(token.path()).Is(t, 200, "")
			for _, path := range []string{
				"/%d", "/v1/%d/x", "/v1/companies/%d", "/v1/companies//%d",
				"/v1/companies/a%%2F%d", "/v1/companies?slug=%d", "/é%d",
			} {
				send(s.Client, "GET", fmt.Sprintf(path, round), "")
			}
			send(s.Client, fmt.Sprint("METHOD", round), "/v1/companies", "")
			send(s.As(fmt.Sprint("token", round)), "GET", "/v1/companies", "")
			s.Delete(acme.path())
		}
		scrape(t, s.url)
		for round := range 3 {
			traffic(1000 + round)
		}
		before := scrape(t, s.url)
		for round := range 10 {
			traffic(2000 + round)
		}
		after := scrape(t, s.url)
		for series := range after {
			if _, ok := before[series]; !ok {
				t.Errorf("%s is new, though nothing new has happened", series)
			}
			if strings.HasPrefix(series, "holdco_") && chosen.MatchString(series) {
				t.Errorf("%s holds what a client chose", series)
			}
		}
		if len(after) > 300 {
			t.Errorf("there are %d series, not counting buckets", len(after))
		}
	})
}

// chosen is an id, or a part of the paths and names above.
var chosen = regexp.MustCompile(`_[0-9a-z]{26}|[12]0\d\d|é`)

func TestTheMetricsPageNeedsNoTokenAndKnowsGetAndHead(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	for _, c := range []struct {
		method, accept, coding string
		status                 int
		mediaType              string
	}{
		{"GET", "", "", 200, "text/plain; version=0.0.4"},
		{"HEAD", "", "", 200, "text/plain; version=0.0.4"},
		{"GET", "", "gzip", 200, "text/plain; version=0.0.4"},
		{"GET", "application/openmetrics-text;version=1.0.0", "", 200, "application/openmetrics-text; version=1.0.0"},
		{"POST", "", "", 405, "application/json"},
		{"DELETE", "", "", 405, "application/json"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, s.url+"/metrics", http.NoBody)
		must(t, err)
		request.Header.Set("Accept", c.accept)
		request.Header.Set("Accept-Encoding", c.coding)
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		body, err := io.ReadAll(response.Body)
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != c.status || !strings.HasPrefix(response.Header.Get("Content-Type"), c.mediaType) ||
			response.Header.Get("Content-Encoding") != c.coding || (len(body) == 0) != (c.method == "HEAD") {
			t.Errorf("%+v: %s, %d bytes, %v", c, response.Status, len(body), response.Header)
		}
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "route=/metrics ") && !strings.Contains(line, "level=DEBUG") {
			t.Errorf("scrapes fill the log: %s", line)
		}
	}
}

func TestMetricsMayHaveAListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := start(t, newClock(), dataDir+sqlitetest.Dir(t), "HOLDCO_METRICS_ADDR=127.0.0.1:0")
	_, rest, found := strings.Cut(s.said, "Metrics are at ")
	url, _, ended := strings.Cut(rest, "/metrics\n")
	if !found || !ended {
		t.Fatalf("the server said %q", s.said)
	}
	s.create(t, draft(t, ""))
	first, second := settled(t, url), scrape(t, url)
	if first[requests+`{method="POST",route="/v1/companies",status="201"}`] != 1 {
		t.Error("the request is not counted")
	}
	second.since(first, requests).are(t, figures{}) // scrapes are no requests of the API
	send(s.Client, "GET", "/metrics", "").Is(t, 404, "not_found")
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/companies": 404, "/openapi.json": 404, "/": 404} {
		response, err := http.Get(url + path)
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != want || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s is answered %s as %s", path, response.Status, response.Header.Get("Content-Type"))
		}
	}
	must(t, s.stop())
	if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
}

func TestATakenAddressOfTheMetricsStopsTheStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	server, done, err := open(t.Context(), t, newClock(), &record{}, dataDir+t.TempDir(), "HOLDCO_METRICS_ADDR="+taken.Addr().String())
	must(t, err)
	defer done()
	err = server.Run(t.Context(), io.Discard, true)
	if err == nil || !strings.Contains(err.Error(), "cannot listen on HOLDCO_METRICS_ADDR "+taken.Addr().String()) {
		t.Errorf("%v", err)
	}
}

func TestVerdictsOfTheLimiterAreCounted(t *testing.T) {
	t.Parallel()
	const verdicts = "holdco_limiter_verdicts_total"
	s := limited(t, "HOLDCO_RATE_READ=2", "HOLDCO_RATE_WRITE=off")
	before := scrape(t, s.url)
	for range 5 {
		s.Get("/v1/whoami")
	}
	s.create(t, draft(t, "")) // not counted, because it has no limit
	s.As("").Get("/v1/whoami").Is(t, 401, "unauthorized")
	after := scrape(t, s.url)
	after.since(before, verdicts).are(t, figures{
		verdicts + `{class="read",outcome="admitted"}`:           2,
		verdicts + `{class="read",outcome="refused"}`:            3,
		verdicts + `{class="authentication",outcome="admitted"}`: 1,
	})
	if after[requests+`{method="GET",route="/v1/whoami",status="429"}`] != 3 || after["holdco_limiter_shared"] != 0 {
		t.Errorf("%v", after.since(before, requests, "holdco_limiter_shared"))
	}
}

func TestTheLossOfRedisIsSeenInMetrics(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	s := limited(t, "HOLDCO_REDIS_URL="+redis.URL(), "HOLDCO_RATE_READ=1000000000")
	shares := func(shared, losses float64) func() bool {
		return func() bool {
			s.Get("/v1/whoami").Is(t, 200, "")
			now := scrape(t, s.url)
			return now["holdco_limiter_shared"] == shared && now["holdco_limiter_losses_total"] == losses
		}
	}
	await(t, "counting in Redis", shares(1, 0))
	redis.Kill(t)
	await(t, "the loss", shares(0, 1))
	redis.Start(t)
	await(t, "the return", shares(1, 1))
}

func TestRunsOfJobsAreCounted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const runs = `holdco_job_runs_total{name="remove deleted companies",outcome=`
		await(t, "a run", func() bool { return scrape(t, s.url)[runs+`"ok"}`] >= 1 })
		acme := s.create(t, draft(t, ""))
		unblock := s.obstruct(t)
		s.abandonedDelete(t, acme)
		await(t, "a failure", func() bool { return scrape(t, s.url)[runs+`"failed"}`] >= 1 })
		unblock()
	})
}

// The dashboard, the alerts and the manual may name no metric that is not there, and the manual names all of ours.
func TestTheDashboardTheAlertsAndTheManualNameTheMetricsThatExist(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_WRITE=2")
	s.create(t, draft(t, ""))
	s.reader(t, acmeOrigin).Get("leads").Is(t, 200, "")
	exported := map[string]bool{}
	for series := range scrape(t, s.url) {
		name, _, _ := strings.Cut(series, "{")
		exported[name] = true
	}
	const alerts, manual = "../adapters/telemetry/metrics/alerts.yaml", "../OPERATING.md"
	for _, file := range []string{"../adapters/telemetry/metrics/grafana.json", alerts, manual} {
		text, err := os.ReadFile(file)
		must(t, err)
		asked := regexp.MustCompile(`\b(holdco|go|process|promhttp)_[a-z_]*[a-z]\b`).FindAllString(string(text), -1)
		for _, name := range asked {
			if family := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); !exported[name] && !exported[family] {
				t.Errorf("%s asks for %s, which nobody exports", file, name)
			}
		}
		if len(asked) < 5 {
			t.Errorf("%s asks for %v alone", file, asked)
		}
	}

	text, err := os.ReadFile(manual)
	must(t, err)
	named := regexp.MustCompile("`\\w+`").FindAllString(string(text), -1)
	for name := range exported {
		if strings.HasPrefix(name, "holdco_") && !slices.Contains(named, "`"+name+"`") {
			t.Errorf("%s does not describe %s", manual, name)
		}
	}
	rules, err := os.ReadFile(alerts)
	must(t, err)
	for _, found := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !slices.Contains(named, "`"+found[1]+"`") {
			t.Errorf("%s does not describe the alert %s", manual, found[1])
		}
	}
}
