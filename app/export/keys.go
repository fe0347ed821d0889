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
	stored *Service
	sample func() *Service
}

var _ inbound.Exports = (*Keys)(nil)

// NewKeys returns the exports of all keys: stored, and for test keys a sample, which is made when the first of them is used.
func NewKeys(stored *Service, sample func() *lead.Sample, clock outbound.Clock) *Keys {
	return &Keys{stored, sync.OnceValue(func() *Service { return NewSampled(sample(), clock) })}
}

// Of returns what the key of a partner reads.
func (k *Keys) Of(p partner.Partner) inbound.Export {
	if p.Test {
		return k.sample()
	}
	return k.stored
}
