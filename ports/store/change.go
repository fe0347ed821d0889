package store

import (
	"context"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
)

// Versioned is an aggregate whose version grows by one with every change.
type Versioned interface{ CurrentVersion() int64 }

// Request is who requests a write, and on what conditions.
type Request struct {
	Actor   event.Actor         // who is recorded with the event
	Match   precondition.Match  // the version that the client has seen: If-Match
	Once    idempotency.Request // the Idempotency-Key; its Answer gets the aggregate
	Company id.Company          // whose data the answer contains; empty: none
}

// Create runs every write that makes an aggregate: claim the idempotency key, ask the domain, insert, record the
// event.
func Create[I id.ID, T any, R Repository[I, T]](
	ctx context.Context, s Store, request Request, in func(Tx) R,
	create func(ctx context.Context, tx Tx) (T, event.Event, error),
) (T, error) {
	return UpdateOnce(ctx, s, request.Once, request.Company, func(ctx context.Context, tx Tx) (T, error) {
		made, created, err := create(ctx, tx)
		if err != nil {
			return made, err
		}
		if err := in(tx).Add(ctx, made); err != nil {
			return made, err
		}
		return made, tx.Record(ctx, created.By(request.Actor))
	})
}

// Change runs every write to one aggregate: claim the idempotency key, lock the aggregate, check If-Match, ask the
// domain, save, record the event. If the domain returns no event, nothing has changed, and nothing is saved.
func Change[I id.ID, T Versioned, R Repository[I, T]](
	ctx context.Context, s Store, request Request, which I, in func(Tx) R,
	move func(current T, at time.Time) (T, *event.Event, error),
) (T, error) {
	return ChangeReading(ctx, s, request, which, in, func(_ context.Context, tx Tx, current T) (T, *event.Event, error) {
		return move(current, tx.Now())
	})
}

// ChangeReading is Change for a move that depends on more than the aggregate, and reads that from the store.
func ChangeReading[I id.ID, T Versioned, R Repository[I, T]](
	ctx context.Context, s Store, request Request, which I, in func(Tx) R,
	move func(ctx context.Context, tx Tx, current T) (T, *event.Event, error),
) (T, error) {
	return UpdateOnce(ctx, s, request.Once, request.Company, func(ctx context.Context, tx Tx) (T, error) {
		current, err := in(tx).Lock(ctx, which)
		if err != nil {
			return current, err
		}
		if err := request.Match.Check(current.CurrentVersion()); err != nil {
			return current, err
		}
		next, happened, err := move(ctx, tx, current)
		if err != nil || happened == nil {
			return current, err
		}
		if err := in(tx).Save(ctx, next); err != nil {
			return current, err
		}
		return next, tx.Record(ctx, happened.By(request.Actor))
	})
}
