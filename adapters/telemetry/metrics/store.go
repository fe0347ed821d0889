package metrics

import (
	"context"
	"database/sql"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"holdco/adapters/store/sqlstore"
)

// accesses times every access to the store. Its histograms are made beforehand, so that recording an access is one
// array lookup.
type accesses [sqlstore.Kinds][sqlstore.Outcomes]prometheus.Observer

var _ sqlstore.Observer = (*Metrics)(nil)

func newAccesses(into promauto.Factory) (a accesses) {
	duration := into.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "holdco_store_access_duration_seconds",
		Help:    "Time of single reads, views (several reads on one snapshot) and updates (units of work), until their outcome is known.",
		Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .01, .05, .25, 1, 5},
	}, []string{"kind", "outcome"})
	for kind := range sqlstore.Kinds {
		for outcome := range sqlstore.Outcomes {
			a[kind][outcome] = duration.WithLabelValues(sqlstore.Kind(kind).String(), sqlstore.Outcome(outcome).String())
		}
	}
	return a
}

// Begin implements sqlstore.Observer.
func (m *Metrics) Begin(ctx context.Context, _ sqlstore.Kind) context.Context { return ctx }

// End implements sqlstore.Observer.
func (m *Metrics) End(_ context.Context, kind sqlstore.Kind, outcome sqlstore.Outcome, took time.Duration) {
	m.accesses[kind][outcome].Observe(took.Seconds())
}

// Pool reports how the connections of a pool are used, as the metrics go_sql_*.
func Pool(name string, pool *sql.DB) Collector { return collectors.NewDBStatsCollector(pool, name) }

// Batches reports how well units of work share commits. Read returns how many batches were committed since the start, and
// how many units in them.
func Batches(read func() (batches, units int64)) Collector { return batches(read) }

// batches reads both figures at once: read one after the other, there could be more batches than units.
type batches func() (batches, units int64)

var (
	batchesTotal = prometheus.NewDesc("holdco_sqlite_batches_total",
		"Batches of units of work that were committed, each with one sync of the disk.", nil, nil)
	unitsTotal = prometheus.NewDesc("holdco_sqlite_units_total",
		"Units of work in the batches that were committed, those that were refused among them.", nil, nil)
)

// Describe implements Collector.
func (b batches) Describe(to chan<- *prometheus.Desc) { to <- batchesTotal; to <- unitsTotal }

// Collect implements Collector.
func (b batches) Collect(to chan<- prometheus.Metric) {
	batches, units := b()
	to <- prometheus.MustNewConstMetric(batchesTotal, prometheus.CounterValue, float64(batches))
	to <- prometheus.MustNewConstMetric(unitsTotal, prometheus.CounterValue, float64(units))
}
