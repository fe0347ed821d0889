package activity

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/ports/store"
)

// Chain is a job: it chains a portion of what was committed since the last one. It reads outside of its unit, which nothing that is
// being written has to wait for: entries never change, and of several who chain the same portion one succeeds.
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
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Activity().Extend(ctx, portion)
		return err
	})
	return err == nil && len(found) == portionSize, err
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

// scopeOf is a company, or all if there is none.
func scopeOf(of id.Company) *id.Company {
	if of == "" {
		return nil
	}
	return &of
}

// Verify implements inbound.Activity.
func (s *Service) Verify(ctx context.Context, caller access.Caller, of id.Company) (count int64, err error) {
	err = s.view(ctx, caller, scopeOf(of), func(ctx context.Context, r store.Reader) error {
		count, err = verify(ctx, r.Activity(), of)
		return err
	})
	return count, err
}

func verify(ctx context.Context, log store.ActivityReader, of id.Company) (count int64, err error) {
	var chain audit.Chain
	for after := (store.ChainPosition{}); ; {
		some, err := log.Chain(ctx, of, after, portionSize)
		if err != nil {
			return 0, err
		}
		for _, one := range some {
			item := audit.Item{ID: string(one.Entry), Link: one.Link}
			if one.Event != nil {
				if item.Canonical, err = canonical(*one.Event); err != nil {
					return 0, err
				}
			}
			if err := chain.Add(item); err != nil {
				return chain.Last().Number, err
			}
			after = one.Position()
		}
		if len(some) < portionSize {
			break
		}
	}
	heads, err := log.Heads(ctx, []id.Company{of})
	if err != nil {
		return 0, err
	}
	if err := chain.End(heads[of].Link); err != nil {
		return chain.Last().Number, err
	}
	extra, err := log.Unchained(ctx, of)
	if err == nil && extra != nil {
		err = audit.Finding{Harm: audit.Inserted, Entry: string(*extra)}
	}
	return chain.Last().Number, err
}
