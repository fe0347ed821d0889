package metrics_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/telemetry/metrics"
	"holdco/domain/ratelimit"
)

// observations are what happens for most requests, each with what it may cost.
func observations(m *metrics.Metrics) map[string]func() {
	ctx := context.Background()
	limiter := m.Limiter(generous{})
	return map[string]func(){
		"request": func() {
			m.Answered(ctx, httpkit.Exchange{Method: http.MethodGet, Route: "/v1/companies/:id", Status: 200, Took: time.Millisecond})
		},
		"access":  func() { m.End(m.Begin(ctx, sqlstore.Read), sqlstore.Read, sqlstore.Done, time.Millisecond) },
		"verdict": func() { limiter.Take(ctx, ratelimit.Key{Class: ratelimit.Read, Subject: "tok_1"}, 600) },
	}
}

type generous struct{}

// Take implements outbound.Limiter.
func (generous) Take(context.Context, ratelimit.Key, ratelimit.Limit) ratelimit.Verdict {
	return ratelimit.Verdict{Admitted: true}
}

func TestAnObservationAllocatesNothing(t *testing.T) {
	for name, observe := range observations(metrics.New()) {
		if got := testing.AllocsPerRun(1000, observe); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

func BenchmarkObservation(b *testing.B) {
	for name, observe := range observations(metrics.New()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(loop *testing.PB) {
				for loop.Next() {
					observe()
				}
			})
		})
	}
}

func TestAJobIsCountedHoweverItEnds(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	for _, run := range []func(context.Context) (bool, error){
		func(context.Context) (bool, error) { return true, nil },
		func(context.Context) (bool, error) { return false, errors.New("broken") },
		func(context.Context) (bool, error) { panic("broken") },
	} {
		func() {
			defer func() { _ = recover() }()
			more, err := m.Job("sweep", run)(t.Context())
			if more != (err == nil) {
				t.Errorf("%v, %v", more, err)
			}
		}()
	}
	text := page(t, m)
	for _, line := range []string{
		`holdco_job_runs_total{name="sweep",outcome="ok"} 1`,
		`holdco_job_runs_total{name="sweep",outcome="failed"} 2`,
		`holdco_job_duration_seconds_count{name="sweep"} 3`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the page lacks %s", line)
		}
	}
}

func TestStatusesAndMethodsThatAreNoneHaveOneSeries(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	for _, status := range []int{-1, 0, 99, 600, 1 << 30} {
		m.Answered(t.Context(), httpkit.Exchange{Method: "get", Status: status})
	}
	if line := `holdco_http_requests_total{method="other",route="unmatched",status="other"} 5`; !strings.Contains(page(t, m), line+"\n") {
		t.Errorf("the page lacks %s", line)
	}
}

func page(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Page().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	text, err := io.ReadAll(recorder.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
