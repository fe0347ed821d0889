package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"holdco/ports/outbound"
	"holdco/ports/store"
)

// difference is how far the clock of the store is from that of this machine.
type difference struct {
	store   store.Store
	clock   outbound.Clock
	seconds *prometheus.Desc
}

// Difference reports how far the clock of the store is ahead of another. While the store is down, scrapes omit it.
func Difference(s store.Store, clock outbound.Clock) Collector {
	return difference{store: s, clock: clock, seconds: prometheus.NewDesc("holdco_clock_difference_seconds",
		"How far the clock of the store is ahead of that of this machine.", nil, nil)}
}

// Describe implements prometheus.Collector.
func (d difference) Describe(into chan<- *prometheus.Desc) { into <- d.seconds }

// Collect implements prometheus.Collector. How long the answer takes is no difference: the clock is read before and after.
func (d difference) Collect(into chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogLimit)
	defer cancel()
	before := d.clock.Now()
	kept, err := d.store.StoreNow(ctx)
	if err != nil {
		return
	}
	ahead := 0.0
	switch after := d.clock.Now(); {
	case kept.Before(before):
		ahead = kept.Sub(before).Seconds()
	case kept.After(after):
		ahead = kept.Sub(after).Seconds()
	}
	into <- prometheus.MustNewConstMetric(d.seconds, prometheus.GaugeValue, ahead)
}
