package storetest

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/replica"
	"holdco/ports/store"
)

var replicaRules = []rule{
	{"servers are listed as they began, each with what it said last, until it leaves or is forgotten", replicasAreListed},
}

func beating(said replica.Replica) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Replicas().Beat(ctx, said) }
}

func leaving(which id.Replica) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Replicas().Leave(ctx, which) }
}

func forgetting(before time.Time) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Replicas().Forget(ctx, before) }
}

func (f *fixture) newReplica() replica.Replica {
	at := f.clock.Now()
	return replica.Replica{ID: id.New[id.Replica](f.ids.UUIDv7()), Version: "v1.2.3", Since: at, SeenAt: at}
}

func someReplica(f *fixture) unit { return beating(f.newReplica()) }

func (f *fixture) replicaWrites() map[string]writeCase {
	kept, old := f.newReplica(), f.newReplica()
	old.SeenAt = old.SeenAt.Add(-time.Minute)
	f.update(beating(kept))
	f.update(beating(old))
	return map[string]writeCase{
		"Replicas.Beat":   {notes, beating(f.newReplica())},
		"Replicas.Leave":  {notes, leaving(kept.ID)},
		"Replicas.Forget": {notes, forgetting(kept.SeenAt)},
	}
}

func replicasAreListed(f *fixture) {
	is := func(want ...replica.Replica) {
		f.Helper()
		got, err := f.store.Replicas().List(f.ctx)
		f.ok(err)
		f.same(got, want)
	}
	is()
	first, second := f.newReplica(), f.newReplica()
	second.Since = second.Since.Add(-time.Minute)
	f.update(beating(first))
	f.update(beating(second))
	is(second, first)
	second.Version, second.SeenAt = "it's \"Ä\"", second.SeenAt.Add(time.Hour)
	f.update(beating(second))
	is(second, first)
	f.update(forgetting(first.SeenAt))
	is(second, first)
	f.update(forgetting(first.SeenAt.Add(time.Millisecond)))
	is(second)
	f.update(leaving(first.ID))
	is(second)
	f.update(leaving(second.ID))
	is()
}
