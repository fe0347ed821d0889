package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Index is the status of the index of leads.
type Index struct {
	Ready bool // whether it answers, and not the store
	Leads int64
	Bytes uint64        // of memory
	Built time.Duration // how long it took to read all leads
}

// LeadIndex reports the status of the index of leads.
func LeadIndex(read func() Index) Collector {
	return leadIndex{
		read: read,
		ready: prometheus.NewDesc("holdco_lead_index_ready",
			"1 while searches for leads are answered from memory, 0 while by the store.", nil, nil),
		leads: prometheus.NewDesc("holdco_lead_index_leads", "Leads in the index.", nil, nil),
		bytes: prometheus.NewDesc("holdco_lead_index_bytes", "Memory that the index takes.", nil, nil),
		built: prometheus.NewDesc("holdco_lead_index_build_seconds", "How long it took to read all leads.", nil, nil),
	}
}

type leadIndex struct {
	read func() Index

	ready, leads, bytes, built *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (i leadIndex) Describe(into chan<- *prometheus.Desc) {
	into <- i.ready
	into <- i.leads
	into <- i.bytes
	into <- i.built
}

// Collect implements prometheus.Collector.
func (i leadIndex) Collect(into chan<- prometheus.Metric) {
	now := i.read()
	ready := 0.0
	if now.Ready {
		ready = 1
	}
	into <- prometheus.MustNewConstMetric(i.ready, prometheus.GaugeValue, ready)
	into <- prometheus.MustNewConstMetric(i.leads, prometheus.GaugeValue, float64(now.Leads))
	into <- prometheus.MustNewConstMetric(i.bytes, prometheus.GaugeValue, float64(now.Bytes))
	into <- prometheus.MustNewConstMetric(i.built, prometheus.GaugeValue, now.Built.Seconds())
}
