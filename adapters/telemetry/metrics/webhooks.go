package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"holdco/domain/webhook"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// attempts times the attempts of webhooks by what came of them.
type attempts struct{ succeeded, refused, unanswered prometheus.Observer }

func newAttempts(into promauto.Factory) attempts {
	duration := into.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "holdco_webhook_attempt_duration_seconds",
		Help:    "Time of single attempts to deliver an event, until the endpoint answered or was given up.",
		Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 15},
	}, []string{"outcome"})
	return attempts{
		succeeded:  duration.WithLabelValues("succeeded"),
		refused:    duration.WithLabelValues("refused"),
		unanswered: duration.WithLabelValues("unanswered"),
	}
}

// Poster returns a poster whose attempts are counted and timed.
func (m *Metrics) Poster(poster outbound.WebhookPoster) outbound.WebhookPoster {
	return timed{poster, m.attempts}
}

type timed struct {
	outbound.WebhookPoster
	attempts attempts
}

// Post implements outbound.WebhookPoster.
func (t timed) Post(ctx context.Context, message webhook.Message) webhook.Attempt {
	attempt := t.WebhookPoster.Post(ctx, message)
	observer := t.attempts.refused
	switch {
	case attempt.Succeeded():
		observer = t.attempts.succeeded
	case attempt.Status == 0:
		observer = t.attempts.unanswered
	}
	observer.Observe(attempt.Latency.Seconds())
	return attempt
}

// backlog is what webhooks have still to do, as the store reports at each scrape.
type backlog struct {
	read  func(ctx context.Context) (store.Backlog, error)
	clock outbound.Clock

	unqueued, pending, overdue *prometheus.Desc
}

// backlogLimit is how long a scrape waits for the store.
const backlogLimit = 2 * time.Second

// Backlog reports what webhooks have still to do, on all replicas together. While the store is down, scrapes omit it.
func Backlog(read func(ctx context.Context) (store.Backlog, error), clock outbound.Clock) Collector {
	return backlog{
		read: read, clock: clock,
		unqueued: prometheus.NewDesc("holdco_webhook_events_unqueued", "Events that have no position in the outbox of webhooks yet.",
			nil, nil),
		pending: prometheus.NewDesc("holdco_webhook_deliveries_pending",
			"Deliveries that wait for another attempt, and tests; those to disabled endpoints too.", nil, nil),
		overdue: prometheus.NewDesc("holdco_webhook_overdue_seconds",
			"How long the queue that waits longest, of all enabled endpoints, has been due; 0 when none is.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (b backlog) Describe(into chan<- *prometheus.Desc) {
	into <- b.unqueued
	into <- b.pending
	into <- b.overdue
}

// Collect implements prometheus.Collector.
func (b backlog) Collect(into chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogLimit)
	defer cancel()
	waiting, err := b.read(ctx)
	if err != nil {
		return
	}
	var overdue time.Duration
	if !waiting.DueSince.IsZero() {
		overdue = max(0, b.clock.Now().Sub(waiting.DueSince))
	}
	into <- prometheus.MustNewConstMetric(b.unqueued, prometheus.GaugeValue, float64(waiting.Unqueued))
	into <- prometheus.MustNewConstMetric(b.pending, prometheus.GaugeValue, float64(waiting.Pending))
	into <- prometheus.MustNewConstMetric(b.overdue, prometheus.GaugeValue, overdue.Seconds())
}
