package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"holdco/domain/ratelimit"
	"holdco/ports/outbound"
)

// limits are the figures of the limiter.
type limits struct {
	verdicts *series[verdict, prometheus.Counter]
	shared   prometheus.Gauge
	losses   prometheus.Counter
}

// verdict is what is counted together.
type verdict struct {
	class    ratelimit.Class
	admitted bool
}

func newLimits(into promauto.Factory) limits {
	verdicts := into.NewCounterVec(prometheus.CounterOpts{
		Name: "holdco_limiter_verdicts_total",
		Help: "Requests that were counted against a limit, by class and by whether they were admitted.",
	}, []string{"class", "outcome"})
	return limits{
		verdicts: newSeries(func(of verdict) prometheus.Counter {
			outcome := "refused"
			if of.admitted {
				outcome = "admitted"
			}
			return verdicts.WithLabelValues(string(of.class), outcome)
		}),
		shared: into.NewGauge(prometheus.GaugeOpts{
			Name: "holdco_limiter_shared",
			Help: "1 while requests are counted in Redis, together with other replicas; 0 while this process counts by itself.",
		}),
		losses: into.NewCounter(prometheus.CounterOpts{
			Name: "holdco_limiter_losses_total",
			Help: "How often Redis was lost.",
		}),
	}
}

// Limiter returns a limiter whose verdicts are counted.
func (m *Metrics) Limiter(limiter outbound.Limiter) outbound.Limiter {
	return counted{limiter, m.limits.verdicts}
}

// Sharing records that requests are counted in Redis.
func (m *Metrics) Sharing() { m.limits.shared.Set(1) }

// LostRedis records that Redis is lost, until Sharing.
func (m *Metrics) LostRedis() {
	m.limits.shared.Set(0)
	m.limits.losses.Inc()
}

type counted struct {
	outbound.Limiter
	verdicts *series[verdict, prometheus.Counter]
}

// Take implements outbound.Limiter.
func (c counted) Take(ctx context.Context, key ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	v := c.Limiter.Take(ctx, key, limit)
	c.verdicts.of(verdict{key.Class, v.Admitted}).Inc()
	return v
}
