package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/replica"
)

// replicas implements store.Replicas.
type replicas struct{ session }

func replicasOf(s session) replicas { return replicas{s} }

const seenAt = "seen_at"

var replicaTable = tableOf("replicas", errors.New("there is no such server"),
	asText("id", func(r *replica.Replica) *id.Replica { return &r.ID }),
	asText("program", func(r *replica.Replica) *string { return &r.Version }),
	asMillis("since", func(r *replica.Replica) *time.Time { return &r.Since }),
	asMillis(seenAt, func(r *replica.Replica) *time.Time { return &r.SeenAt }),
)

var (
	allReplicas = prepare(func(b builder) fmt.Stringer {
		return replicaTable.selects(b.db()).OrderExpr("since, id")
	})
	removeReplica = prepare(func(b builder) fmt.Stringer {
		return b.db().NewDelete().Table(replicaTable.name).Where("id = ?", b.arg(1))
	})
	forgetReplicas = prepare(func(b builder) fmt.Stringer {
		return b.db().NewDelete().Table(replicaTable.name).Where("? < ?", bun.Ident(seenAt), b.arg(1))
	})
)

func (r replicas) List(ctx context.Context) ([]replica.Replica, error) {
	return readEach(ctx, r.session, replicaTable, allReplicas)
}

func (r replicas) Beat(ctx context.Context, said replica.Replica) error {
	args := append(replicaTable.values(&said, replicaTable.saved), string(said.ID))
	if kept, err := r.exec(ctx, r.run(replicaTable.saves.of(0), args...)); err != nil || kept > 0 {
		return err
	}
	return exactlyOne(r.exec(ctx, r.run(replicaTable.insert, replicaTable.inserted(&said)...)))
}

func (r replicas) Leave(ctx context.Context, which id.Replica) error {
	_, err := r.exec(ctx, r.run(removeReplica, string(which)))
	return err
}

func (r replicas) Forget(ctx context.Context, before time.Time) error {
	_, err := r.exec(ctx, r.run(forgetReplicas, millis(before)))
	return err
}
