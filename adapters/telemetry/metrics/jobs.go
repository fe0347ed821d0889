package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// jobs are the figures of the work in the background. Their label is not called job, for Prometheus gives every series
// a label of that name.
type jobs struct {
	runs     *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newJobs(into promauto.Factory) jobs {
	return jobs{
		runs: into.NewCounterVec(prometheus.CounterOpts{
			Name: "holdco_job_runs_total",
			Help: "Runs of the jobs in the background, by how they ended.",
		}, []string{"name", "outcome"}),
		duration: into.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "holdco_job_duration_seconds",
			Help:    "Time of single runs of the jobs in the background.",
			Buckets: []float64{.001, .01, .1, 1, 10, 60},
		}, []string{"name"}),
	}
}

// Job returns a job that is counted and timed under a name.
func (m *Metrics) Job(name string, run func(ctx context.Context) (more bool, err error)) func(ctx context.Context) (more bool, err error) {
	ok, failed := m.jobs.runs.WithLabelValues(name, "ok"), m.jobs.runs.WithLabelValues(name, "failed")
	duration := m.jobs.duration.WithLabelValues(name)
	return func(ctx context.Context) (more bool, err error) {
		began, outcome := time.Now(), failed
		defer func() { // after a panic too
			outcome.Inc()
			duration.Observe(time.Since(began).Seconds())
		}()
		if more, err = run(ctx); err == nil {
			outcome = ok
		}
		return more, err
	}
}
