// Package instance is the use case that shows what a running Holdco is.
package instance

import (
	"context"
	"strconv"
	"time"

	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/instance"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// keptFor is how long counts of one revision of the leads are used: a store counts them one by one.
const keptFor = time.Minute

// Service is the application's inbound.Instance.
type Service struct {
	store    store.Store
	migrator outbound.Migrator
	clock    outbound.Clock
	signer   outbound.Signer
	setup    instance.Setup

	leads *cache.Cache[instance.Leads]
}

var _ inbound.Instance = (*Service)(nil)

// New returns the use case.
func New(
	s store.Store, migrator outbound.Migrator, clock outbound.Clock, signer outbound.Signer, setup instance.Setup,
) *Service {
	return &Service{s, migrator, clock, signer, setup, cache.For[instance.Leads](keptFor)}
}

// Get implements inbound.Instance.
func (s *Service) Get(ctx context.Context, caller access.Caller) (found instance.Instance, err error) {
	found = instance.Instance{Setup: s.setup, Now: s.clock.Now()}
	schema, err := s.migrator.Status(ctx)
	if err != nil {
		return found, err
	}
	found.Schema = schema.Version
	fingerprint, err := s.store.InstanceKey().Fingerprint(ctx)
	if err != nil {
		return found, err
	}
	key, err := s.signer.SigningKey(fingerprint)
	if err != nil {
		return found, err
	}
	found.PublicKey = audit.SpellKey(key)
	if caller.NeedsEverywhere(access.Admin) == nil {
		state, err := s.store.Leads().State(ctx)
		if err != nil {
			return found, err
		}
		revision := strconv.FormatInt(int64(state.Revision), 10)
		counts, err := s.leads.Get(ctx, revision, found.Now, func() (instance.Leads, error) { return s.count(ctx) })
		if err != nil {
			return found, err
		}
		found.Leads = &counts
	}
	return found, nil
}

func (s *Service) count(ctx context.Context) (counts instance.Leads, err error) {
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		leads, err := r.Leads().Search(ctx, lead.Query{Size: 1})
		if err != nil {
			return err
		}
		campaigns, err := r.Campaigns().IDs(ctx)
		if err != nil {
			return err
		}
		taxonomy, err := r.Taxonomy().Get(ctx)
		counts = instance.Leads{
			Leads: leads.Total, Campaigns: int64(len(campaigns)), Industries: int64(len(taxonomy.Industries)),
			Verticals: int64(len(taxonomy.Verticals)),
		}
		return err
	})
	return counts, err
}
