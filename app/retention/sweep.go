package retention

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/audit"
	"holdco/domain/id"
	"holdco/domain/retention"
	"holdco/ports/store"
)

// perUnit is how many rows one unit of work looks at: removing so many entries, from all the indexes of the activity log, takes less
// than 50 ms.
const perUnit = 200

// old is how rows of a kind are found, which of them may go, and how.
type old[T any] struct {
	read   func(r store.RetentionReader, ctx context.Context, before time.Time, after T, most int) ([]T, error)
	mayGo  func(one T, before time.Time) bool
	bytes  func(one T) int64
	remove func(ctx context.Context, tx store.Tx, which []T) error
}

// sweep goes through the rows of a kind, oldest first. It looks at them before it begins a unit, so that rows which stay hold up no
// write, and again in the unit.
func sweep[T any](ctx context.Context, p *pass, of old[T]) error {
	for after := *new(T); ; {
		some, err := of.read(p.store.Retention(), ctx, p.Before, after, perUnit)
		if err != nil {
			return err
		}
		going := of.going(p, some)
		if len(going) > 0 && !p.isDry {
			if some, going, err = remove(ctx, p, of, after); err != nil {
				return err
			}
			p.counter(p.Kind, len(going))
			if err := rest(ctx); err != nil {
				return err
			}
		}
		p.Rows += int64(len(going))
		for _, one := range going {
			p.Bytes += of.bytes(one)
		}
		if len(some) < perUnit {
			return nil
		}
		after = some[len(some)-1]
	}
}

func (o old[T]) going(p *pass, some []T) (going []T) {
	for _, one := range some {
		if o.mayGo(one, p.Before) {
			going = append(going, one)
		}
	}
	return going
}

// remove removes what may go of the next rows, and returns both.
func remove[T any](ctx context.Context, p *pass, of old[T], after T) (some, gone []T, err error) {
	err = p.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		state, err := tx.Retention().Hold(ctx, p.Kind)
		if err != nil {
			return err
		}
		if some, err = of.read(tx.Retention(), ctx, p.Before, after, perUnit); err != nil {
			return err
		}
		if gone = of.going(p, some); len(gone) == 0 {
			return nil
		}
		if err := of.remove(ctx, tx, gone); err != nil {
			return err
		}
		state.Removed += int64(len(gone))
		return tx.Retention().Save(ctx, p.Kind, state)
	})
	return some, gone, err
}

func (s *Service) entries(kind retention.Kind) old[store.OldEntry] {
	return old[store.OldEntry]{
		read:   store.RetentionReader.Entries,
		mayGo:  func(one store.OldEntry, before time.Time) bool { return one.MayGo(kind, before) },
		bytes:  func(one store.OldEntry) int64 { return one.Bytes },
		remove: s.removeEntries,
	}
}

// removeEntries removes entries, for which a signed stub stands in each chain from then on.
func (s *Service) removeEntries(ctx context.Context, tx store.Tx, which []store.OldEntry) error {
	links := map[id.Company][]audit.Link{}
	for _, one := range which {
		links[one.Company] = append(links[one.Company], one.Link)
	}
	at, err := tx.StoreNow(ctx)
	if err != nil {
		return err
	}
	fingerprint, err := tx.InstanceKey().Fingerprint(ctx)
	if err != nil {
		return err
	}
	key, err := s.signer.SigningKey(fingerprint)
	if err != nil {
		return err
	}
	if err := tx.Retention().RemoveEntries(ctx, which); err != nil {
		return err
	}
	for of, some := range links {
		before := audit.Stub{Company: of}
		found, err := tx.Retention().Stub(ctx, of)
		if err != nil {
			return err
		}
		if found != nil {
			if err := found.Check(key); err != nil { // to extend it would be to sign what somebody else has put there
				return fmt.Errorf("nothing is removed from the chain of %q: %w; see \"holdco audit verify\"", of, err)
			}
			before = found.Stub
		}
		stub := audit.SignedStub{Stub: before.With(some, at)}
		if stub.Signature, err = s.signer.Sign(fingerprint, stub.Statement()); err != nil {
			return err
		}
		if err := tx.Retention().SaveStub(ctx, stub); err != nil {
			return err
		}
	}
	return nil
}

func checkpoints() old[store.OldCheckpoint] {
	return old[store.OldCheckpoint]{
		read:  store.RetentionReader.Checkpoints,
		mayGo: func(one store.OldCheckpoint, before time.Time) bool { return one.Of.MayGo(before) },
		bytes: func(one store.OldCheckpoint) int64 { return one.Bytes },
		remove: func(ctx context.Context, tx store.Tx, which []store.OldCheckpoint) error {
			return tx.Retention().RemoveCheckpoints(ctx, which)
		},
	}
}

func removedLeads() old[store.OldLead] {
	return old[store.OldLead]{
		read:  store.RetentionReader.RemovedLeads,
		mayGo: func(one store.OldLead, before time.Time) bool { return one.RemovedAt.Before(before) },
		bytes: func(store.OldLead) int64 { return 0 },
		remove: func(ctx context.Context, tx store.Tx, which []store.OldLead) error {
			return tx.Retention().RemoveLeads(ctx, which)
		},
	}
}
