package imports

import (
	"context"
	"errors"
	"strings"
	"time"

	"holdco/app/retries"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service implements inbound.Imports.
type Service struct {
	store   store.Store
	clock   outbound.Clock
	ids     outbound.IDs
	entropy outbound.Entropy
	vault   outbound.Vault
}

var _ inbound.Imports = (*Service)(nil)

// New returns the use cases on a store.
func New(s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy, vault outbound.Vault) *Service {
	return &Service{store: s, clock: clock, ids: ids, entropy: entropy, vault: vault}
}

// catalog reads what lines may refer to. Nothing is ever removed from it, so one read serves a whole import.
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

// errNothing rolls back a unit that found nothing to change, so that it uses up no revision.
var errNothing = errors.New("nothing differs")

// timing is how long a unit of work waited for its turn, how long it took then, and whether no server runs on the store.
type timing struct {
	wait, work time.Duration
	isAlone    bool
}

// update runs a unit of work, which may end with errNothing. It ignores cancellation, because units are short, and retries.
func (s *Service) update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) (took timing, err error) {
	var asked, begun time.Time
	err = retries.WhileUnavailable(ctx, retries.For(patience), func() error {
		asked = s.clock.Now()
		return s.store.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx store.Tx) error {
			begun = s.clock.Now()
			return write(ctx, tx)
		})
	})
	if err != nil && !errors.Is(err, errNothing) {
		return timing{}, err
	}
	return timing{wait: begun.Sub(asked), work: s.clock.Now().Sub(begun), isAlone: s.isAlone(ctx)}, nil
}

// isAlone reports whether no server says in the store that it runs. If the store cannot be read, one may.
func (s *Service) isAlone(ctx context.Context) bool {
	live, err := store.LiveReplicas(ctx, s.store)
	return err == nil && len(live) == 0
}

// patience is how long an import waits for a store that is unavailable. It can be tried again: what was committed before the
// connection was lost counts as unchanged then.
const patience = 3 * time.Second

// rejected reports a line under the id that was sent, or else the id derived from its content.
func rejected(at place, sent, made string, problems fault.Problems) *lead.ReportedLine {
	const longest = 100
	which := sent
	if whole := problems[0].Path == ""; which == "" && !whole {
		which = made
	}
	return &lead.ReportedLine{
		Number: at.number, Item: at.item, ID: strings.ToValidUTF8(which[:min(len(which), longest)], ""),
		Outcome: lead.LineRejected, Problems: problems,
	}
}
