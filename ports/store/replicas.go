package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/replica"
)

// LiveReplicas returns the servers that run on a store, by its clock.
func LiveReplicas(ctx context.Context, s Store) (live []replica.Replica, err error) {
	err = s.View(ctx, func(ctx context.Context, r Reader) error {
		now, err := r.StoreNow(ctx)
		if err != nil {
			return err
		}
		all, err := r.Replicas().List(ctx)
		live = replica.Live(all, now)
		return err
	})
	return live, err
}

// ReplicaReader reads which servers have said that they run.
type ReplicaReader interface {
	// List returns all that are kept, in the order in which they began.
	List(ctx context.Context) ([]replica.Replica, error)
}

// Replicas changes them. Its writes need no event.
type Replicas interface {
	ReplicaReader

	// Beat keeps what a server says of itself, in the place of what it said before.
	Beat(ctx context.Context, said replica.Replica) error

	// Leave removes a server, if it is kept.
	Leave(ctx context.Context, which id.Replica) error

	// Forget removes those that were last seen before an instant.
	Forget(ctx context.Context, before time.Time) error
}
