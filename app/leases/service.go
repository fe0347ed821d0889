package leases

import (
	"time"

	"holdco/app/aside"
	"holdco/domain/id"
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
	looks    aside.Calls
	served   served
	waiting  *waiting
	raised   chan struct{} // see store.Store.Raised
	deciding *deciding
}

// Settings are what the operator sets, and the bounds of one process.
type Settings struct {
	LeaseTime   time.Duration // unless a claim asks for another one
	MostWaiting int           // claims that wait at once in this process
}

var (
	_ inbound.Leases         = (*Service)(nil)
	_ inbound.AgentApprovals = (*Service)(nil)
)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs, entropy outbound.Entropy, settings Settings) *Service {
	made := &Service{
		store: s, ids: ids, entropy: entropy, settings: settings,
		looks: aside.New(mostLooks), served: served{agents: map[id.Agent]struct{}{}},
		waiting: newWaiting(settings.MostWaiting), raised: make(chan struct{}, 1),
		deciding: newDeciding(settings.MostWaiting),
	}
	s.Raised(made.raised)
	s.Raised(made.deciding.raised)
	return made
}
