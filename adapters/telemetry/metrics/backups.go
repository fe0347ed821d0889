package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"holdco/domain/backup"
)

// backups are the figures of scheduled backups.
type backups struct {
	state    func(ctx context.Context) (backup.Schedule, error)
	failures func() int64
	period   time.Duration

	last, bytes, failed, every *prometheus.Desc
}

// Backups reports scheduled backups: the last one of all replicas together, how many have failed in this process, and how often it makes
// them; 0: never. While the store is down, scrapes omit the last one.
func Backups(state func(ctx context.Context) (backup.Schedule, error), failures func() int64, period time.Duration) Collector {
	return backups{
		state: state, failures: failures, period: period,
		last: prometheus.NewDesc("holdco_backup_last_success_timestamp_seconds",
			"When the last scheduled backup began that succeeded; 0 when none has.", nil, nil),
		bytes:  prometheus.NewDesc("holdco_backup_last_bytes", "Size of that backup.", nil, nil),
		failed: prometheus.NewDesc("holdco_backup_failures_total", "Scheduled backups that failed.", nil, nil),
		every:  prometheus.NewDesc("holdco_backup_period_seconds", "How often a backup is made; 0 when none is.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (b backups) Describe(into chan<- *prometheus.Desc) {
	into <- b.last
	into <- b.bytes
	into <- b.failed
	into <- b.every
}

// Collect implements prometheus.Collector.
func (b backups) Collect(into chan<- prometheus.Metric) {
	into <- prometheus.MustNewConstMetric(b.failed, prometheus.CounterValue, float64(b.failures()))
	into <- prometheus.MustNewConstMetric(b.every, prometheus.GaugeValue, b.period.Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), backlogLimit)
	defer cancel()
	state, err := b.state(ctx)
	if err != nil {
		return
	}
	last := 0.0
	if !state.DoneAt.IsZero() {
		last = float64(state.DoneAt.UnixMilli()) / 1000
	}
	into <- prometheus.MustNewConstMetric(b.last, prometheus.GaugeValue, last)
	into <- prometheus.MustNewConstMetric(b.bytes, prometheus.GaugeValue, float64(state.Bytes))
}
