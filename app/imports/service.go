package imports

import (
	"context"
	"errors"
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service implements inbound.Imports.
type Service struct {
	store store.Store
	clock outbound.Clock
}

var _ inbound.Imports = (*Service)(nil)

// New returns the use cases on a store.
func New(s store.Store, clock outbound.Clock) *Service { return &Service{store: s, clock: clock} }

// catalog is what lines may refer to. Nothing of it ever goes, so it holds for a whole import.
func (s *Service) catalog(ctx context.Context) (lead.Catalog, error) {
	var catalog lead.Catalog
	err := s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		taxonomy, err := r.Taxonomy().Get(ctx)
		if err != nil {
			return err
		}
		campaigns, err := r.Campaigns().IDs(ctx)
		catalog = taxonomy.Catalog(campaigns)
		return err
	})
	return catalog, err
}

// errNothing ends a unit in which nothing turns out to differ: it must leave no revision behind.
var errNothing = errors.New("nothing differs")

// update runs a unit of work that may do nothing, by errNothing. What is in order is finished even when ctx ends: units
// are short. It returns how long the unit took once it was its turn.
func (s *Service) update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) (took time.Duration, err error) {
	var begun time.Time
	err = retry(ctx, func() error {
		return s.store.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx store.Tx) error {
			begun = s.clock.Now()
			return write(ctx, tx)
		})
	})
	if err != nil && !errors.Is(err, errNothing) {
		return 0, err
	}
	return s.clock.Now().Sub(begun), nil
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// retry does again what failed because the store was not available. Nothing is done twice: what was kept without
// anybody knowing does not differ any more.
func retry(ctx context.Context, do func() error) error {
	const longest = 2 * time.Second
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		err := do()
		if fault.CodeOf(err) != fault.Unavailable || pause > longest {
			return err
		}
		if sleep(ctx, pause); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// rejected is the report of a line, under the id that was sent, or else the one that its content makes.
func rejected(number int64, sent, made string, problems fault.Problems) *inbound.RejectedLine {
	const longest = 100
	which := sent
	if whole := problems[0].Path == ""; which == "" && !whole {
		which = made
	}
	return &inbound.RejectedLine{Number: number, ID: strings.ToValidUTF8(which[:min(len(which), longest)], ""), Fields: problems}
}
