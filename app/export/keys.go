package export

import (
	"sync"

	"holdco/domain/lead"
	"holdco/domain/partner"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// Keys is the application's inbound.Exports.
type Keys struct {
	real   *Service
	sample func() *Service
}

var _ inbound.Exports = (*Keys)(nil)

// NewKeys returns the exports of all keys: real, and for test keys a sample, which is made when the first of them is used.
func NewKeys(real *Service, sample func() *lead.Sample, clock outbound.Clock) *Keys {
	return &Keys{real, sync.OnceValue(func() *Service { return NewSampled(sample(), clock) })}
}

// Of returns what the key of a partner reads.
func (k *Keys) Of(p partner.Partner) inbound.Export {
	if p.Test {
		return k.sample()
	}
	return k.real
}
