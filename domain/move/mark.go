package move

import (
	"errors"
	"fmt"
)

// Mark is what a store keeps of a move that it is a part of. While it has one, nothing else may open the store.
type Mark struct {
	ID     string // of the move: the same in both stores
	Target bool   // this is the store that is moved to
	Done   bool   // of a source: it was moved; of a target: all rows were copied
	Other  string // the name of the other store
	At     Place  // of a target
}

// IsOfMoveTo reports whether the mark is that of the source of the move to a store, which has a name and the mark target; its zero value:
// it has none any more, because that move was being undone. A move that ended is another matter: both stores may be in use.
func (m Mark) IsOfMoveTo(name string, target Mark) bool {
	if target.ID != "" {
		return !m.Target && m.ID == target.ID
	}
	return !m.Target && !m.Done && m.Other == name
}

// Place is how far the rows were copied: all those of the tables before Table, and those of Table up to the one with the key After.
type Place struct {
	Table string // empty: nothing was copied
	After string // the key, encoded; empty: there is none
	Rows  int64  // that were copied
}

// ErrMoving refuses whoever opens a store that is being moved.
var ErrMoving = errors.New(`this store is being moved; finish with "holdco move", or undo with "holdco move --abandon"`)

// errMoved is why a store that was moved is not opened.
type errMoved struct{ to string }

func (e errMoved) Error() string {
	return fmt.Sprintf("this store was moved to %s; set HOLDCO_DATABASE_URL to that one", e.to)
}

// Refusal is why a store with the mark is not opened.
func (m Mark) Refusal() error {
	if m.Done && !m.Target {
		return errMoved{m.Other}
	}
	return ErrMoving
}

// IsRefusal reports whether an error is that of a store with a mark.
func IsRefusal(err error) bool { return errors.Is(err, ErrMoving) || errors.As(err, new(errMoved)) }
