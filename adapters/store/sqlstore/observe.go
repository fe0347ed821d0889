package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"holdco/domain/fault"
)

// Observer gets every access to a store reported: a single read, a view, or an update with all its retries. Reads within a
// view or an update are part of it. Accesses are concurrent.
type Observer interface {
	// Begin may return a context with what End needs. The access runs with it.
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
	Canceled                // the caller canceled it
	Lost                    // the store was unavailable, or timed out
	Broken                  // a defect or a panic
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

// observers are the observers of a store, mostly none or one.
type observers []Observer

// watch runs an access and reports it.
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
