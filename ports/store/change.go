package store

import (
	"context"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
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
	Company id.Company          // whose data the answer contains, and who owns what CreateIn and those below it write; empty: none
	Begins  Beginning           // how a unit of Do begins; those of CreateIn and those below it have the turn of Company
}

// Beginning is how a unit of work begins.
type Beginning int

// How a unit of work can begin.
const (
	Serializable Beginning = iota // as Update says
	InTurn                        // with the turn of a company: see Tx.Turn
	OnSnapshot                    // see Tx.OnSnapshot
)

// Create is the shape of writes that make an aggregate of the instance: claim the idempotency key, ask the domain, insert, record the
// event.
func Create[I id.ID, T any, R Repository[I, T]](
	ctx context.Context, s Store, request Request, in func(Tx) R,
	create func(ctx context.Context, tx Tx) (T, event.Event, error),
) (T, error) {
	return Do(ctx, s, request, func(ctx context.Context, tx Tx) (T, error) {
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

// Change is the shape of writes to one aggregate of the instance: claim the idempotency key, lock the aggregate, check If-Match, ask the
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
	return Do(ctx, s, request, func(ctx context.Context, tx Tx) (T, error) {
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

// Owned is what belongs to a company.
type Owned interface{ Owner() id.Company }

// OwnedAggregate is Owned with a version.
type OwnedAggregate interface {
	Owned
	Versioned
}

// updateIn is the shape of every write to what belongs to request.Company: take the turn of the company, lock the company, claim
// the idempotency key, and write, unless the company is being deleted: then some of its rows are gone, and others are not. Write
// refuses changes of an archived company, after it has found what is to be changed.
func updateIn[T any](
	ctx context.Context, s Store, request Request, write func(ctx context.Context, tx Tx, of company.Company) (T, error),
) (T, error) {
	var result T
	err := s.Update(ctx, func(ctx context.Context, tx Tx) (err error) {
		if err := tx.Turn(ctx, request.Company); err != nil {
			return err
		}
		// The company is read first, and missed last: the answer to a repeated request may outlive it.
		of, missing := tx.Companies().Lock(ctx, request.Company)
		if missing != nil && fault.CodeOf(missing) != fault.NotFound {
			return missing
		}
		result, err = once(ctx, tx, request.Once, request.Company, func(ctx context.Context, tx Tx) (T, error) {
			var none T
			if missing != nil {
				return none, missing
			}
			if of.Status == company.Deleting {
				return none, of.Allows(company.Update)
			}
			return write(ctx, tx, of)
		})
		return err
	})
	return result, err
}

// CreateIn is the shape of writes that make something in request.Company: take its turn, lock it, claim the idempotency key,
// refuse if it is archived, create.
func CreateIn[T any](
	ctx context.Context, s Store, request Request, create func(ctx context.Context, tx Tx, of company.Company) (T, error),
) (T, error) {
	return updateIn(ctx, s, request, func(ctx context.Context, tx Tx, of company.Company) (T, error) {
		if err := of.Allows(company.Update); err != nil {
			var none T
			return none, err
		}
		return create(ctx, tx, of)
	})
}

// ChangeIn is the shape of writes to one aggregate of request.Company: take the turn of the company, lock it, claim the
// idempotency key, find and lock the aggregate, check If-Match, refuse if the company is archived, ask move, save, record the
// event. What belongs to another company is not found. Move may change other rows of the company.
func ChangeIn[I id.ID, T OwnedAggregate, R Repository[I, T]](
	ctx context.Context, s Store, request Request, find func(ctx context.Context, tx Tx) (I, error), in func(Tx) R,
	move func(ctx context.Context, tx Tx, of company.Company, current T) (T, *event.Event, error),
) (T, error) {
	return WriteIn(ctx, s, request, find, in, func(ctx context.Context, tx Tx, of company.Company, current T) (T, error) {
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

// RemoveIn is ChangeIn for a move that removes the aggregate. It returns the aggregate as it was last.
func RemoveIn[I id.ID, T OwnedAggregate, R Locker[I, T]](
	ctx context.Context, s Store, request Request, find func(ctx context.Context, tx Tx) (I, error), in func(Tx) R,
	remove func(ctx context.Context, tx Tx, of company.Company, current T) (event.Event, error),
) (T, error) {
	return WriteIn(ctx, s, request, find, in, func(ctx context.Context, tx Tx, of company.Company, current T) (T, error) {
		removed, err := remove(ctx, tx, of, current)
		if err != nil {
			return current, err
		}
		return current, tx.Record(ctx, removed.By(request.Actor))
	})
}

// WriteIn is ChangeIn for a write that saves and records by itself.
func WriteIn[I id.ID, T OwnedAggregate, U any, R Locker[I, T]](
	ctx context.Context, s Store, request Request, find func(ctx context.Context, tx Tx) (I, error), in func(Tx) R,
	write func(ctx context.Context, tx Tx, of company.Company, current T) (U, error),
) (U, error) {
	return updateIn(ctx, s, request, func(ctx context.Context, tx Tx, of company.Company) (U, error) {
		current, err := lockIn(ctx, tx, request, of, find, in(tx))
		if err != nil {
			var none U
			return none, err
		}
		return write(ctx, tx, of, current)
	})
}

// ByID finds what a client names by its id.
func ByID[I id.ID](which I) func(ctx context.Context, tx Tx) (I, error) {
	return func(context.Context, Tx) (I, error) { return which, nil }
}

func lockIn[I id.ID, T OwnedAggregate](
	ctx context.Context, tx Tx, request Request, of company.Company, find func(ctx context.Context, tx Tx) (I, error),
	in Locker[I, T],
) (current T, err error) {
	which, err := find(ctx, tx)
	if err != nil {
		return current, err
	}
	if current, err = in.Lock(ctx, which); err == nil && current.Owner() != of.ID {
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

// ViewIn is View for what belongs to a company, which must exist.
func ViewIn(ctx context.Context, s Store, of id.Company, read func(ctx context.Context, r Reader) error) error {
	return s.View(ctx, func(ctx context.Context, r Reader) error {
		if _, err := r.Companies().Get(ctx, of); err != nil {
			return err
		}
		return read(ctx, r)
	})
}

// Exists reports whether something was found.
func Exists(err error) (bool, error) {
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// GetIn is Get for what belongs to a company. What belongs to another one is not found.
func GetIn[I id.ID, T Owned](ctx context.Context, from Getter[I, T], of id.Company, which I) (T, error) {
	found, err := from.Get(ctx, which)
	if err == nil && found.Owner() != of {
		return from.Get(ctx, "")
	}
	return found, err
}
