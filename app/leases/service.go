package leases

import (
	"time"

	"holdco/app/aside"
	"holdco/app/cache"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Leases.
type Service struct {
	store    store.Store
	ids      outbound.IDs
	entropy  outbound.Entropy
	settings Settings
	prices   *cache.Prices
	looks    aside.Calls
	served   served
	waiting  *waiting
	raised   chan struct{} // see store.Store.Raised
	deciding *deciding
}

// Settings are what the operator sets, and the bounds of one process.
type Settings struct {
	LeaseTime   time.Duration // unless a claim asks for another one
	Reserve     money.USD     // what a lease reserves on an issue without a limit
	MostWaiting int           // claims that wait at once in this process
}

var (
	_ inbound.Leases         = (*Service)(nil)
	_ inbound.AgentApprovals = (*Service)(nil)
)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs, entropy outbound.Entropy, settings Settings, prices *cache.Prices) *Service {
	made := &Service{
		store: s, ids: ids, entropy: entropy, settings: settings, prices: prices,
		looks: aside.New(mostLooks), served: served{agents: map[id.Agent]struct{}{}},
		waiting: newWaiting(settings.MostWaiting), raised: make(chan struct{}, 1),
		deciding: newDeciding(settings.MostWaiting),
	}
	s.Raised(made.raised)
	s.Raised(made.deciding.raised)
	return made
}
