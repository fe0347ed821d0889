package metrics

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"holdco/adapters/http/httpkit"
)

// requests are the figures of one listener.
type requests struct {
	answered *series[answer, exchanges]
	inFlight prometheus.Gauge
}

// answer is what is counted together.
type answer struct {
	route, method string
	status        int // 0 for what is none
}

// exchanges are those with one answer.
type exchanges struct {
	answered prometheus.Counter
	duration prometheus.Observer // of their route
}

func newRequests(into promauto.Factory) requests {
	answered := into.NewCounterVec(prometheus.CounterOpts{
		Name: "holdco_http_requests_total",
		Help: "Requests that were answered, those of probes and scrapes among them.",
	}, []string{"route", "method", "status"})
	duration := into.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "holdco_http_request_duration_seconds",
		Help:    "Time from the arrival of a request to the end of its answer.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"route"})
	return requests{
		answered: newSeries(func(of answer) exchanges {
			status := other
			if of.status != 0 {
				status = strconv.Itoa(of.status)
			}
			return exchanges{answered.WithLabelValues(of.route, of.method, status), duration.WithLabelValues(of.route)}
		}),
		inFlight: into.NewGauge(prometheus.GaugeOpts{
			Name: "holdco_http_requests_in_flight",
			Help: "Requests that are being answered.",
		}),
	}
}

// InFlight makes a handler count the requests that it is answering.
func (m *Metrics) InFlight(handler http.Handler) http.Handler {
	return promhttp.InstrumentHandlerInFlight(m.requests.inFlight, handler)
}

const (
	unmatched = "unmatched" // the route of requests that have none: unknown paths and methods
	other     = "other"     // methods that the API does not use, and statuses that are none
)

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// Answered counts and times an exchange.
func (m *Metrics) Answered(_ context.Context, e httpkit.Exchange) {
	of := answer{e.Route, e.Method, e.Status}
	if of.route == "" {
		of.route = unmatched
	}
	if !slices.Contains(methods, of.method) {
		of.method = other
	}
	if of.status < 100 || of.status > 599 {
		of.status = 0
	}
	same := m.requests.answered.of(of)
	same.answered.Inc()
	same.duration.Observe(e.Took.Seconds())
}
