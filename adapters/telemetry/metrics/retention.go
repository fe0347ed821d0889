package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"holdco/domain/retention"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// removals are what was removed because it was old enough.
type removals struct {
	rows *series[retention.Kind, prometheus.Counter]
}

func newRemovals(into promauto.Factory) removals {
	rows := into.NewCounterVec(prometheus.CounterOpts{
		Name: "holdco_retention_removed_total",
		Help: "Rows that this server removed because they were old enough, and logs of runs.",
	}, []string{"kind"})
	r := removals{newSeries(func(of retention.Kind) prometheus.Counter { return rows.WithLabelValues(string(of)) })}
	for _, of := range append(append([]retention.Kind{}, retention.Kinds...), retention.Others...) {
		r.rows.of(of)
	}
	return r
}

// Removed counts rows that were removed.
func (m *Metrics) Removed(of retention.Kind, rows int) { m.removals.rows.of(of).Add(float64(rows)) }

// usage is what the store and the workspaces take of a disk, and how far what is old enough is removed.
type usage struct {
	store store.Store
	keep  retention.Settings
	clock outbound.Clock
	room  func() (outbound.Room, error)

	files func() map[string]int64
	since time.Time

	bytes, free, size, overdue *prometheus.Desc
}

// Usage reports what the store takes, what other files take, by what they are, what is free of the disk with the data directory, and for
// how long what is old enough has waited to be removed: before the first pass, since this was called. What cannot be told is omitted.
func Usage(
	s store.Store, keep retention.Settings, clock outbound.Clock, room func() (outbound.Room, error), files func() map[string]int64,
) Collector {
	return usage{
		store: s, keep: keep, clock: clock, room: room, files: files, since: clock.Now(),
		bytes: prometheus.NewDesc("holdco_store_bytes",
			"Bytes that are taken: db by the store, log by the write-ahead log of SQLite, and here workspaces by those of companies, "+
				"and backups by those that servers made in the folder of backups.",
			[]string{"part"}, nil),
		free: prometheus.NewDesc("holdco_disk_free_bytes", "Bytes that are free of the disk with the data directory.", nil, nil),
		size: prometheus.NewDesc("holdco_disk_size_bytes", "Bytes that this disk has.", nil, nil),
		overdue: prometheus.NewDesc("holdco_retention_overdue_seconds",
			"For how long what is old enough of a kind has waited to be removed; before the first pass, since the start.",
			[]string{"kind"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (u usage) Describe(into chan<- *prometheus.Desc) {
	into <- u.bytes
	into <- u.free
	into <- u.size
	into <- u.overdue
}

// Collect implements prometheus.Collector.
func (u usage) Collect(into chan<- prometheus.Metric) {
	gauge := func(of *prometheus.Desc, value float64, labels ...string) {
		into <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
	}
	for part, bytes := range u.files() {
		gauge(u.bytes, float64(bytes), part)
	}
	if room, err := u.room(); err == nil {
		gauge(u.free, float64(room.Free))
		gauge(u.size, float64(room.Size))
	}
	ctx, cancel := context.WithTimeout(context.Background(), backlogLimit)
	defer cancel()
	sizes, err := u.store.Sizes(ctx)
	if err != nil {
		return
	}
	gauge(u.bytes, float64(sizes.Data), "db")
	if sizes.HasLog {
		gauge(u.bytes, float64(sizes.Log), "log")
	}
	for _, of := range retention.Kinds {
		before := u.keep.Of(of).Cutoff(u.clock.Now())
		if before.IsZero() {
			continue
		}
		state, err := u.store.Retention().State(ctx, of)
		if err != nil {
			continue
		}
		now, overdue := u.clock.Now(), time.Duration(0)
		switch {
		case state.Done.IsZero():
			overdue = now.Sub(u.since)
		case state.Done.Before(before): // it could go since midnight, or since the midnights before
			overdue = before.Sub(state.Done) - 24*time.Hour + now.Sub(now.Truncate(24*time.Hour))
		}
		gauge(u.overdue, overdue.Seconds(), string(of))
	}
}
