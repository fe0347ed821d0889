package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"holdco/domain/fault"
)

// Observer is told of every access to a store: a single read outside of any unit, a view, or an update with all its
// repetitions. What is read within a view or an update is a part of it. Many accesses go on at the same time.
type Observer interface {
	// Begin may put what End needs into the context in which the access runs.
	Begin(ctx context.Context, kind Kind) context.Context
	End(ctx context.Context, kind Kind, outcome Outcome, took time.Duration)
}

// Kind is a kind of access.
type Kind int

// The kinds of access.
const (
	Read Kind = iota
	View
	Update
	Kinds int = iota // how many there are
)

func (k Kind) String() string { return [...]string{"read", "view", "update"}[k] }

// Outcome is how an access ended.
type Outcome int

// The outcomes of an access.
const (
	Done     Outcome = iota
	Refused                 // a fault: not found, a conflict, a rule
	Canceled                // who asked did not wait for it
	Lost                    // the store was unavailable, or took too long
	Broken                  // a defect, a panic among them
	Outcomes int     = iota // how many there are
)

func (o Outcome) String() string {
	return [...]string{"ok", "refused", "canceled", "unavailable", "defect"}[o]
}

func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled):
		return Canceled
	case fault.CodeOf(err) == fault.Unavailable, errors.Is(err, context.DeadlineExceeded):
		return Lost
	case fault.Of(err) != nil, errors.Is(err, sql.ErrNoRows):
		return Refused
	}
	return Broken
}

// observers are all that watch a store; most often nobody or one.
type observers []Observer

// watch makes an access and tells of it.
func (o observers) watch(ctx context.Context, kind Kind, access func(ctx context.Context) error) error {
	if o == nil {
		return access(ctx)
	}
	began, outcome := time.Now(), Broken
	for _, observer := range o {
		ctx = observer.Begin(ctx, kind)
	}
	defer func() { // after a panic too
		took := time.Since(began)
		for _, observer := range o {
			observer.End(ctx, kind, outcome, took)
		}
	}()
	err := access(ctx)
	outcome = outcomeOf(err)
	return err
}
