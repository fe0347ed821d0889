package goals

import (
	"context"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// reader reads goals or projects, and what is done for them.
type reader[I id.ID, T any] interface {
	store.Getter[I, T]
	Work(ctx context.Context, of id.Company, which []I) (map[I]goal.Work, error)
}

// writer is a reader that changes them.
type writer[I id.ID, T any] interface {
	reader[I, T]
	store.Repository[I, T]
}

// purposes are the use cases that goals and projects have in common.
type purposes[I id.ID, T goal.Kind[I]] struct {
	store store.Store
	ids   outbound.IDs
	scope budget.Scope
	from  func(r store.Reader) reader[I, T]
	in    func(tx store.Tx) writer[I, T]
}

// list shows a page that is read in a company.
func (p purposes[I, T]) list(
	ctx context.Context, caller access.Caller, of id.Company, read func(ctx context.Context, r store.Reader) (page.Page[T], error),
) (shown page.Page[goal.Shown[I, T]], err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return shown, err
	}
	err = store.ViewIn(ctx, p.store, of, func(ctx context.Context, r store.Reader) error {
		found, err := read(ctx, r)
		if err != nil {
			return err
		}
		shown.Next = found.Next
		shown.Items, err = show(ctx, p.from(r), of, found.Items...)
		return err
	})
	return shown, err
}

// Get returns one.
func (p purposes[I, T]) Get(
	ctx context.Context, caller access.Caller, of id.Company, which I,
) (shown goal.Shown[I, T], err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return shown, err
	}
	err = p.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		found, err := store.GetIn(ctx, p.from(r), of, which)
		if err != nil {
			return err
		}
		shown, err = showOne(ctx, p.from(r), found)
		return err
	})
	return shown, err
}

func show[I id.ID, T goal.Kind[I]](ctx context.Context, in reader[I, T], of id.Company, found ...T) ([]goal.Shown[I, T], error) {
	which := make([]I, len(found))
	for n, one := range found {
		which[n] = one.Key()
	}
	done, err := in.Work(ctx, of, which)
	shown := make([]goal.Shown[I, T], len(found))
	for n, one := range found {
		shown[n] = goal.Shown[I, T]{Of: one, Work: done[one.Key()]}
	}
	return shown, err
}

func showOne[I id.ID, T goal.Kind[I]](ctx context.Context, in reader[I, T], found T) (goal.Shown[I, T], error) {
	shown, err := show(ctx, in, found.Owner(), found)
	return shown[0], err
}

// create adds what is made in a unit.
func (p purposes[I, T]) create(
	ctx context.Context, caller access.Caller, of id.Company, once idempotency.Request,
	draft func(ctx context.Context, tx store.Tx, newID I) (T, event.Event, error),
) (shown goal.Shown[I, T], err error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return shown, err
	}
	newID := id.New[I](p.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: once, Company: of}
	return store.CreateIn(ctx, p.store, request, func(ctx context.Context, tx store.Tx, _ company.Company) (goal.Shown[I, T], error) {
		made, created, err := draft(ctx, tx, newID)
		if err != nil {
			return shown, err
		}
		if err := p.in(tx).Add(ctx, made); err != nil {
			return shown, err
		}
		return goal.Shown[I, T]{Of: made}, tx.Record(ctx, created.By(caller.Actor))
	})
}

// change saves what a move makes of one, and then does what follows from that, if it is not nil. What is returned shows both.
func (p purposes[I, T]) change(
	ctx context.Context, caller access.Caller, request store.Request, which I,
	move func(ctx context.Context, tx store.Tx, current goal.Shown[I, T]) (T, *event.Event, error),
	follow func(ctx context.Context, unit *work.Unit) error,
) (shown goal.Shown[I, T], err error) {
	if err := caller.NeedsIn(access.Write, request.Company); err != nil {
		return shown, err
	}
	request.Actor = caller.Actor
	return store.WriteIn(ctx, p.store, request, store.ByID(which), p.in,
		func(ctx context.Context, tx store.Tx, _ company.Company, current T) (goal.Shown[I, T], error) {
			shown, err := showOne(ctx, p.in(tx), current)
			if err != nil {
				return shown, err
			}
			next, happened, err := move(ctx, tx, shown)
			if err != nil || happened == nil {
				return shown, err
			}
			unit := work.In(tx, p.ids, request.Company, request.Actor)
			if err := unit.RebudgetPurpose(ctx, p.scope, string(which), current.Limit(), next.Limit()); err != nil {
				return shown, err
			}
			if err := p.in(tx).Save(ctx, next); err != nil {
				return shown, err
			}
			shown.Of = next
			if err := tx.Record(ctx, happened.By(request.Actor)); err != nil || follow == nil {
				return shown, err
			}
			if err := follow(ctx, unit); err != nil {
				return shown, err
			}
			return showOne(ctx, p.in(tx), next)
		})
}
