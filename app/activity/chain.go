package activity

import (
	"context"
	"crypto/ed25519"
	"errors"
	"math"
	"slices"

	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/ports/store"
)

// Chain is a job: it chains a portion of what was committed since the last one. It reads outside of its unit, which nothing that is
// being written has to wait for: entries never change, and of several who chain the same portion one succeeds. The others begin anew,
// and so does one whose company has been removed meanwhile.
func (s *Service) Chain(ctx context.Context) (more bool, err error) {
	log := s.store.Activity()
	from, err := log.Chained(ctx)
	if err != nil {
		return false, err
	}
	found, err := log.Follow(ctx, nil, from, store.Last, portionSize)
	if err != nil || len(found) == 0 {
		return false, err
	}
	portion := store.ChainedPortion{From: from, To: found[len(found)-1].Place}
	if portion.Links, err = s.links(ctx, found); err != nil {
		return false, err
	}
	isChained := false
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		isChained, err = tx.Activity().Extend(ctx, portion)
		return err
	})
	return err == nil && (!isChained || len(found) == portionSize), err
}

// links are those of events that have none yet and whose companies exist.
func (s *Service) links(ctx context.Context, of []store.Placed) (links []store.ChainedLink, err error) {
	var entries []id.Entry
	var companies []id.Company
	isNamed := map[id.Company]bool{}
	for _, one := range of {
		entries = append(entries, one.ID)
		if !isNamed[one.Company] {
			isNamed[one.Company] = true
			companies = append(companies, one.Company)
		}
	}
	log := s.store.Activity()
	done, err := log.Links(ctx, entries) // after a move of the store
	if err != nil {
		return nil, err
	}
	heads, err := log.Heads(ctx, companies)
	if err != nil {
		return nil, err
	}
	for _, one := range of {
		head, exists := heads[one.Company]
		if _, isDone := done[one.ID]; isDone || !exists {
			continue
		}
		form, err := canonical(one.Event)
		if err != nil {
			return nil, err
		}
		head.Link = head.Link.Next(form)
		heads[one.Company] = head
		links = append(links, store.ChainedLink{Company: one.Company, Entry: one.ID, Link: head.Link})
	}
	return links, nil
}

func canonical(one event.Event) ([]byte, error) {
	return audit.Canonical(event.Entry{Event: one}.Fields().Append(nil))
}

// catchUp chains what was committed so far. That it fails is for the job to say: what is chained is right all the same.
func (s *Service) catchUp(ctx context.Context) {
	for more := true; more; {
		more, _ = s.Chain(ctx)
	}
}

// scopeOf is a company, or all if there is none.
func scopeOf(of id.Company) *id.Company {
	if of == "" {
		return nil
	}
	return &of
}

// Head implements inbound.Activity.
func (s *Service) Head(ctx context.Context, caller access.Caller, of *id.Company) (signed audit.Signed, err error) {
	if err := s.view(ctx, caller, of, func(context.Context, store.Reader) error { return nil }); err != nil {
		return signed, err
	}
	s.catchUp(ctx)
	var chain id.Company
	if of != nil {
		chain = *of
	}
	var key string
	err = s.view(ctx, caller, of, func(ctx context.Context, r store.Reader) error {
		found, err := r.Activity().Heads(ctx, []id.Company{chain})
		if err != nil {
			return err
		}
		signed.Head = audit.Head{Company: chain, Link: found[chain].Link, At: found[chain].At}
		if signed.Stub, err = r.Retention().Stub(ctx, chain); err != nil {
			return err
		}
		key, err = r.InstanceKey().Fingerprint(ctx)
		return err
	})
	if err == nil {
		signed.Signature, err = s.signer.Sign(key, signed.Statement())
	}
	return signed, err
}

// Verify implements inbound.Activity. It reads portion by portion: entries and links never change. What retention removes meanwhile is
// found missing: then it begins anew, with the stub that stands for it.
func (s *Service) Verify(
	ctx context.Context, caller access.Caller, of id.Company, keys []ed25519.PublicKey, known ...audit.Link,
) (last audit.Verified, err error) {
	for {
		var stub *audit.SignedStub
		if stub, last, err = s.verify(ctx, caller, of, keys, known); !errors.As(err, new(audit.Finding)) {
			return last, err
		}
		now, failed := s.store.Retention().Stub(ctx, of)
		if failed != nil {
			return last, failed
		}
		if now == nil || stub != nil && stub.Count == now.Count {
			return last, err
		}
	}
}

// stub is what stands for removed entries in a chain. It is signed by the instance, or by one of some keys that it had.
func (s *Service) stub(ctx context.Context, r store.Reader, of id.Company, keys []ed25519.PublicKey) (*audit.SignedStub, error) {
	found, err := r.Retention().Stub(ctx, of)
	if err != nil || found == nil {
		return nil, err
	}
	fingerprint, err := r.InstanceKey().Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	own, err := s.signer.SigningKey(fingerprint)
	switch {
	case err == nil:
		keys = append(slices.Clone(keys), own)
	case len(keys) == 0: // the key is elsewhere: then the stub is taken as it is
		keys = []ed25519.PublicKey{found.Key}
	}
	return found, found.Check(keys...)
}

func (s *Service) verify(
	ctx context.Context, caller access.Caller, of id.Company, keys []ed25519.PublicKey, known []audit.Link,
) (stub *audit.SignedStub, last audit.Verified, err error) {
	var head audit.Link
	var length int64
	var until store.Place
	err = s.view(ctx, caller, scopeOf(of), func(ctx context.Context, r store.Reader) (err error) {
		if length, err = r.Activity().Length(ctx, of); err != nil { // before the head, which others move on
			return err
		}
		found, err := r.Activity().Heads(ctx, []id.Company{of})
		if err != nil {
			return err
		}
		head = found[of].Link
		if stub, err = s.stub(ctx, r, of, keys); err != nil {
			return err
		}
		until, err = r.Activity().Chained(ctx)
		return err
	})
	if err != nil {
		return stub, last, err
	}
	var chain audit.Chain
	chain.Expect(known...)
	if stub != nil {
		chain.Allow(stub.Stub)
	}
	if err := s.followChain(ctx, &chain, of, max(length, head.Number)); err != nil {
		return stub, chain.Verified(), err
	}
	if err := chain.EndAt(head); err != nil {
		return stub, chain.Verified(), err
	}
	return stub, chain.Verified(), s.allChained(ctx, of, until)
}

// followChain adds the links of a chain to chain, up to a number.
func (s *Service) followChain(ctx context.Context, chain *audit.Chain, of id.Company, until int64) error {
	for after := (store.ChainPosition{}); ; {
		some, err := s.store.Activity().Chain(ctx, of, after, portionSize)
		if err != nil {
			return err
		}
		for _, one := range some {
			if after = one.Position(); after.Number > until {
				return nil
			}
			item := audit.Item{ID: string(one.Entry), Link: one.Link}
			if one.Event != nil {
				if item.Canonical, err = canonical(*one.Event); err != nil {
					return err
				}
			}
			if err := chain.Add(item); err != nil {
				return err
			}
		}
		if len(some) < portionSize {
			return nil
		}
	}
}

// allChained fails with a Finding for the first entry up to a place that is in no chain: somebody inserted it.
func (s *Service) allChained(ctx context.Context, of id.Company, until store.Place) error {
	for after := (store.Place{Transaction: math.MinInt64}); ; { // before all, also those that someone has put before the first
		some, err := s.store.Activity().Follow(ctx, &of, after, until, portionSize)
		if err != nil || len(some) == 0 {
			return err
		}
		ids := make([]id.Entry, len(some))
		for n, one := range some {
			ids[n] = one.ID
		}
		links, err := s.store.Activity().Links(ctx, ids)
		if err != nil {
			return err
		}
		for _, one := range ids {
			if _, ok := links[one]; !ok {
				return audit.Finding{Harm: audit.Inserted, Entry: string(one)}
			}
		}
		after = some[len(some)-1].Place
	}
}
