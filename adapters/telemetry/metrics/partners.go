package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"holdco/domain/id"
	"holdco/ports/inbound"
)

// partners are what the keys of partners were used for.
type partners struct{ requests, leads *prometheus.CounterVec }

func newPartners(into promauto.Factory) partners {
	return partners{
		requests: into.NewCounterVec(prometheus.CounterOpts{
			Name: "holdco_partner_requests_total",
			Help: "Requests of partners that were let through, by the id of the partner.",
		}, []string{"partner"}),
		leads: into.NewCounterVec(prometheus.CounterOpts{
			Name: "holdco_partner_leads_total",
			Help: "Leads that were sent to partners, by the id of the partner.",
		}, []string{"partner"}),
	}
}

// Partners returns an authenticator that counts what keys are used for.
func (m *Metrics) Partners(port inbound.PartnerAuthenticator) inbound.PartnerAuthenticator {
	return using{port, m.partners}
}

type using struct {
	inbound.PartnerAuthenticator
	partners partners
}

// Used implements inbound.PartnerAuthenticator.
func (u using) Used(which id.Partner, requests, leadsRead int64) {
	u.PartnerAuthenticator.Used(which, requests, leadsRead)
	u.partners.requests.WithLabelValues(string(which)).Add(float64(requests))
	u.partners.leads.WithLabelValues(string(which)).Add(float64(leadsRead))
}
