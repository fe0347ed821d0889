package metrics

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are all figures of one server. It is safe for use by many goroutines.
type Metrics struct {
	registry *prometheus.Registry
	requests requests
	accesses accesses
	limits   limits
	jobs     jobs
	attempts attempts
	claims   claims
	adapters adapters
	partners partners
	progress progress
	removals removals
}

// Collector is read at each scrape.
type Collector = prometheus.Collector

// New makes the figures of a server, of which nothing has happened yet, and adds collectors.
func New(others ...Collector) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(others...)
	into := promauto.With(registry)
	return &Metrics{
		registry: registry,
		requests: newRequests(into),
		accesses: newAccesses(into),
		limits:   newLimits(into),
		jobs:     newJobs(into),
		attempts: newAttempts(into),
		claims:   newClaims(into),
		adapters: newAdapters(into),
		partners: newPartners(into),
		progress: newProgress(into),
		removals: newRemovals(into),
	}
}

// Add adds a collector. It is called before the first scrape.
func (m *Metrics) Add(other Collector) { m.registry.MustRegister(other) }

// Page answers a scrape, in the format that the scraper prefers. A collector that fails leaves its own figures out, and
// is counted in promhttp_metric_handler_errors_total.
func (m *Metrics) Page() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry:          m.registry,
		ErrorHandling:     promhttp.ContinueOnError,
		EnableOpenMetrics: true,
	})
}

// Process describes the process: memory, processor time, open files, the garbage collector.
func Process() []Collector {
	return []Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
}

// Build reports the version of the program.
func Build(version, commit string) Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "holdco_build_info",
		Help:        "1; the labels describe the program.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go_version": runtime.Version()},
	})
	info.Set(1)
	return info
}
