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
	close  func()
}

var _ inbound.Exports = (*Keys)(nil)

// NewKeys returns the exports of all keys: stored, and for test keys a sample, which is made when the first of them is used.
func NewKeys(stored *Service, sample func() *lead.Sample, clock outbound.Clock) *Keys {
	closing := make(chan struct{})
	stored.watch.closing = closing
	sampled := sync.OnceValue(func() *Service {
		made := NewSampled(sample(), clock)
		made.watch.closing = closing
		return made
	})
	return &Keys{stored, sampled, sync.OnceFunc(func() { close(closing) })}
}

// Close ends the wait of all who wait for changes, and lets none wait any more.
func (k *Keys) Close() { k.close() }

// Of returns what the key of a partner reads.
func (k *Keys) Of(p partner.Partner) inbound.Export {
	if p.Test {
		return k.sample()
	}
	return k.stored
}
