package store

import (
	"context"
	"time"

	"holdco/domain/company"
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

// Owned is an aggregate that belongs to a company.
type Owned interface {
	Versioned
	Owner() id.Company
}

// UpdateIn runs every write to what belongs to request.Company: it takes the turn of the company, claims the idempotency key, and
// locks the company, which it passes to write.
func UpdateIn[T any](
	ctx context.Context, s Store, request Request, write func(ctx context.Context, tx Tx, of company.Company) (T, error),
) (T, error) {
	var result T
	err := s.Update(ctx, func(ctx context.Context, tx Tx) (err error) {
		if err := tx.Turn(ctx, request.Company); err != nil {
			return err
		}
		result, err = once(ctx, tx, request.Once, request.Company, func(ctx context.Context, tx Tx) (T, error) {
			of, err := tx.Companies().Lock(ctx, request.Company)
			if err != nil {
				var none T
				return none, err
			}
			return write(ctx, tx, of)
		})
		return err
	})
	return result, err
}

// ChangeIn is Change for what belongs to request.Company, which must take changes. What belongs to another company is not found.
// Move may change other rows of the company.
func ChangeIn[I id.ID, T Owned, R Repository[I, T]](
	ctx context.Context, s Store, request Request, which I, in func(Tx) R,
	move func(ctx context.Context, tx Tx, of company.Company, current T) (T, *event.Event, error),
) (T, error) {
	return UpdateIn(ctx, s, request, func(ctx context.Context, tx Tx, of company.Company) (T, error) {
		current, err := LockIn(ctx, in(tx), request, of, which)
		if err != nil {
			return current, err
		}
		next, happened, err := move(ctx, tx, of, current)
		if err != nil || happened == nil {
			return current, err
		}
		if err := in(tx).Save(ctx, next); err != nil {
			return current, err
		}
		return next, tx.Record(ctx, happened.By(request.Actor))
	})
}

// LockIn locks what belongs to a company and is to be changed: it must exist, have the version of request, and the company must
// take changes.
func LockIn[I id.ID, T Owned](ctx context.Context, in Repository[I, T], request Request, of company.Company, which I) (T, error) {
	current, err := in.Lock(ctx, which)
	if err == nil && current.Owner() != of.ID {
		current, err = in.Lock(ctx, "") // nothing has the empty id: not found
	}
	if err != nil {
		return current, err
	}
	if err := request.Match.Check(current.CurrentVersion()); err != nil {
		return current, err
	}
	return current, of.Allows(company.Update)
}

// GetIn is Get for what belongs to a company. What belongs to another one is not found.
func GetIn[I id.ID, T Owned](ctx context.Context, from Getter[I, T], of id.Company, which I) (T, error) {
	found, err := from.Get(ctx, which)
	if err == nil && found.Owner() != of {
		return from.Get(ctx, "")
	}
	return found, err
}
