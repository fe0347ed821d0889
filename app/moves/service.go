package moves

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/move"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Moves.
type Service struct{ Parts }

// Parts are what the use cases work with.
type Parts struct {
	Clock outbound.Clock
	IDs   outbound.IDs

	// Check refuses two URLs between which nothing can be moved.
	Check func(from, to string) error

	// Source and Target open the store at a URL.
	Source func(ctx context.Context, url string) (store.Moving, error)
	Target func(ctx context.Context, url string) (store.MovingTo, error)
}

var _ inbound.Moves = (*Service)(nil)

// New returns the use cases.
func New(parts Parts) *Service { return &Service{parts} }

// pair is a move between two stores that are held.
type pair struct {
	*Service
	from     store.Moving
	to       store.MovingTo
	mark     move.Mark // of the source
	tables   []move.Table
	progress func(now move.Progress)
}

// Move implements inbound.Moves.
func (s *Service) Move(ctx context.Context, caller access.Caller, wanted inbound.MoveWanted) (moved move.Moved, err error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return moved, err
	}
	if err := s.Check(wanted.From, wanted.To); err != nil {
		return moved, err
	}
	began := s.Clock.Now()
	p := &pair{Service: s, progress: wanted.Progress}
	defer func() { err = cmp.Or(err, p.close()) }() // after a failure, such as a full disk, to close fails for the same reason
	if err := p.open(ctx, wanted); err != nil {
		return moved, err
	}
	moved.From, moved.To, moved.Kept = p.from.Name(), p.to.Name(), wanted.KeepSource
	target, isTarget, err := p.begin(ctx)
	if err != nil {
		return moved, err
	}
	if p.mark.Done && !isTarget { // it ended, or else the target would have the mark
		if !wanted.KeepSource {
			return moved, p.mark.Refusal()
		}
		err = p.from.Unmark(ctx)
		moved.Unmarked, moved.Took = err == nil, s.Clock.Now().Sub(began)
		return moved, err
	}
	if !target.Done {
		if target.At, err = p.copy(ctx, target.At); err != nil {
			return moved, err
		}
		target.Done = true
		if err := p.finish(ctx, target); err != nil {
			return moved, err
		}
	}
	if moved.Tables, err = p.verify(ctx); err != nil {
		return moved, err
	}
	for _, table := range moved.Tables {
		moved.Rows += table.Rows
	}
	err = p.end(ctx, wanted.KeepSource)
	moved.Took = s.Clock.Now().Sub(began)
	return moved, err
}

// open opens both stores, and keeps all others from them.
func (p *pair) open(ctx context.Context, wanted inbound.MoveWanted) (err error) {
	if p.from, err = p.Source(ctx, wanted.From); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	if err := p.from.Hold(ctx); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	if err := p.from.Current(ctx); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	if p.to, err = p.Target(ctx, wanted.To); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if p.from.Identity() == p.to.Identity() {
		return fault.New(fault.InvalidParameter, "--from and --to are the same store.")
	}
	if err := p.to.Hold(ctx); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	return nil
}

func (p *pair) close() (err error) {
	if p.to != nil {
		err = p.to.Close()
	}
	if p.from != nil {
		err = errors.Join(err, p.from.Close())
	}
	return err
}

// begin marks both stores, unless they have the marks of this move. First the target: one that cannot be moved to is found before the
// source has a mark. Interrupted between the two, it is a target without rows, which any move can take: it gets the mark of that one, so
// that the other, if its source has a mark, does not go on in it.
func (p *pair) begin(ctx context.Context) (target move.Mark, isTarget bool, err error) {
	isMarked := false
	if p.mark, isMarked, err = p.from.Mark(ctx); err != nil {
		return target, false, err
	}
	if target, isTarget, err = p.to.Mark(ctx); err != nil {
		return target, false, err
	}
	isFresh := isTarget && !isMarked && target.Target && target.At == move.Place{}
	switch {
	case isMarked && p.mark.Target:
		return target, isTarget, fmt.Errorf("%s is not complete, because a move to it did not end; finish that, or undo it with "+
			`"holdco move --abandon --to URL"`, p.from.Name())
	case isTarget && !isFresh && (!isMarked || !target.Target || target.ID != p.mark.ID):
		return target, isTarget, fmt.Errorf("%s is a part of another move; finish that, or undo it with "+
			`"holdco move --abandon --to URL", or move into a store that is empty or new`, p.to.Name())
	case !isTarget && isMarked && p.mark.Other != p.to.Name():
		return target, isTarget, fmt.Errorf("%s is being moved to %s, or was; finish that, or undo it with \"holdco move --abandon\"",
			p.from.Name(), p.mark.Other)
	case !isTarget && isMarked && p.mark.Done:
		return target, isTarget, nil
	}
	if p.tables, err = p.from.Tables(ctx); err != nil {
		return target, isTarget, err
	}
	if !isMarked {
		p.mark = move.Mark{ID: fmt.Sprintf("%x", p.IDs.UUIDv7()), Other: p.to.Name()}
	}
	if !isTarget || isFresh {
		target = move.Mark{ID: p.mark.ID, Target: true, Other: p.from.Name()}
		set := p.to.Prepare
		if isFresh {
			set = p.to.SetMark
		}
		if err := set(ctx, target); err != nil {
			return target, true, fmt.Errorf("--to: %w", err)
		}
	}
	if err := p.sameTables(ctx); err != nil {
		return target, true, err
	}
	if !isMarked {
		err = p.from.SetMark(ctx, p.mark)
	}
	return target, true, err
}

// sameTables fails unless the target has the schema of the source.
func (p *pair) sameTables(ctx context.Context) error {
	if err := p.to.Current(ctx); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	others, err := p.to.Tables(ctx)
	if err != nil {
		return err
	}
	for _, table := range p.tables {
		if !slices.ContainsFunc(others, table.Equal) {
			return fmt.Errorf("the table %s is not the same in both stores", table.Name)
		}
	}
	if len(others) != len(p.tables) {
		return fmt.Errorf("the stores have %d and %d tables", len(p.tables), len(others))
	}
	return nil
}

// finish does what follows the last row.
func (p *pair) finish(ctx context.Context, target move.Mark) error {
	last, err := p.from.Sequences(ctx)
	if err != nil {
		return err
	}
	if err := p.to.Finish(ctx, last); err != nil {
		return err
	}
	return p.to.SetMark(ctx, target)
}

// end lets the target be used, and the source no longer, unless it is to be kept.
func (p *pair) end(ctx context.Context, keepsSource bool) error {
	p.mark.Done = true
	if err := p.from.SetMark(ctx, p.mark); err != nil {
		return err
	}
	if err := p.to.Unmark(ctx); err != nil {
		return err
	}
	if keepsSource {
		return p.from.Unmark(ctx)
	}
	return nil
}

func (p *pair) report(now move.Progress) {
	if p.progress != nil {
		p.progress(now)
	}
}

// Abandon implements inbound.Moves.
func (s *Service) Abandon(ctx context.Context, caller access.Caller, wanted inbound.MoveWanted) (done []string, err error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return nil, err
	}
	if wanted.IsConfigured && wanted.To != "" {
		return s.abandonFromConfigured(ctx, wanted)
	}
	if wanted.From != "" {
		undone, err := abandon(ctx, s.Source, wanted.From, unmark)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		done = append(done, undone)
	}
	if wanted.To != "" {
		undone, err := abandon(ctx, s.Target, wanted.To, drop)
		if err != nil {
			return done, fmt.Errorf("--to: %w", err)
		}
		done = append(done, undone)
	}
	return done, nil
}

// abandonFromConfigured empties the target of a move, and lets the configured store be used again if it is the source. First the target:
// its mark tells which store that is. If this is interrupted between the two, the source still has the name of the target.
func (s *Service) abandonFromConfigured(ctx context.Context, wanted inbound.MoveWanted) (done []string, err error) {
	var target move.Mark
	var isMarked bool
	var name string
	undone, err := abandon(ctx, s.Target, wanted.To, func(ctx context.Context, of store.MovingTo) (_ string, err error) {
		if target, isMarked, err = of.Mark(ctx); err != nil {
			return "", err
		}
		name = of.Name()
		return drop(ctx, of)
	})
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	done = append(done, undone)
	if s.Check(wanted.From, wanted.To) != nil {
		return done, nil //nolint:nilerr // the configured store cannot be the source, since it is the target, say
	}
	undone, err = abandon(ctx, s.Source, wanted.From, func(ctx context.Context, of store.Moving) (string, error) {
		mark, isSource, err := of.Mark(ctx)
		switch {
		case err != nil:
			return "", err
		case isSource && mark.IsOfMoveTo(name, target):
			return unmark(ctx, of)
		case isSource && !mark.Target:
			return fmt.Sprintf("%s stays as it is: it is being moved to %s, or was", of.Name(), mark.Other), nil
		case isMarked && target.Other == of.Name(): // --abandon --from came first
			return of.Name() + " can be used already", nil
		case isMarked:
			return fmt.Sprintf("%s was not being moved there, but %s was; unless that can be used again, name it by --from", of.Name(),
				target.Other), nil
		}
		return "", nil
	})
	if err != nil {
		return done, fmt.Errorf("whether the configured store can be used again is not known; if another one was being moved, name it by "+
			"--from: %w", err)
	}
	if undone != "" {
		done = append(done, undone)
	}
	return done, nil
}

// abandon opens and holds a store, and undoes what a move did to it.
func abandon[M store.Moving](
	ctx context.Context, open func(ctx context.Context, url string) (M, error), url string,
	undo func(ctx context.Context, of M) (string, error),
) (done string, err error) {
	of, err := open(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, of.Close()) }()
	if err := of.Hold(ctx); err != nil {
		return "", err
	}
	return undo(ctx, of)
}

// unmark lets a store be used again that was being moved, or was moved.
func unmark(ctx context.Context, of store.Moving) (string, error) {
	mark, isMarked, err := of.Mark(ctx)
	switch {
	case err != nil:
		return "", err
	case !isMarked:
		return of.Name() + " is not being moved, and was not", nil
	case mark.Target:
		return "", fmt.Errorf("%s is being moved to, and is not complete; name it by --to, and it loses its tables", of.Name())
	case mark.Done:
		return fmt.Sprintf("%s can be used again; what was written to %s since is not in it", of.Name(), mark.Other), of.Unmark(ctx)
	}
	return of.Name() + " can be used again", of.Unmark(ctx)
}

// drop empties a store that was being moved to.
func drop(ctx context.Context, of store.MovingTo) (string, error) {
	mark, isMarked, err := of.Mark(ctx)
	switch {
	case err != nil:
		return "", err
	case !isMarked:
		return of.Name() + " is not being moved to; a store that was moved can be used again when --from names it", nil
	case !mark.Target:
		return "", fmt.Errorf("%s is being moved, or was; name it by --from", of.Name())
	}
	return of.Name() + " is empty again", of.Drop(ctx)
}
