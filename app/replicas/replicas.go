// Package replicas lets servers on one store know of each other.
package replicas

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/replica"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service says of one server that it runs.
type Service struct {
	store store.Store
	said  replica.Replica
}

// New returns the use case of a server that begins now.
func New(s store.Store, ids outbound.IDs, version string) *Service {
	return &Service{store: s, said: replica.Replica{ID: id.New[id.Replica](ids.UUIDv7()), Version: version}}
}

// Run is a job: it says that the server runs, and forgets those that have not said so for long.
func (s *Service) Run(ctx context.Context) (more bool, err error) {
	var at time.Time
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		if at, err = tx.StoreNow(ctx); err != nil {
			return err
		}
		said := s.said
		said.SeenAt = at
		if said.Since.IsZero() {
			said.Since = at
		}
		if err := tx.Replicas().Beat(ctx, said); err != nil {
			return err
		}
		return tx.Replicas().Forget(ctx, at.Add(-replica.ForgottenAfter))
	})
	if err == nil && s.said.Since.IsZero() {
		s.said.Since = at
	}
	return false, err
}

// Leave says that the server stops, after the last Run.
func (s *Service) Leave(ctx context.Context) error {
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		return tx.Replicas().Leave(ctx, s.said.ID)
	})
}
