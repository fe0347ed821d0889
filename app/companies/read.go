package companies

import (
	"context"
	"slices"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// List returns a page of the companies that the caller may see.
func (s *Service) List(ctx context.Context, caller access.Caller, list inbound.CompanyList) (page.Page[company.Company], error) {
	if err := caller.Needs(access.Read); err != nil {
		return page.Page[company.Company]{}, err
	}
	if list.Slug != nil && !text.IsSlug(*list.Slug) {
		return page.Page[company.Company]{}, nil // no company has it
	}
	filter := store.CompanyFilter{Status: list.Status, Slug: list.Slug, Words: list.Words}
	if within, everywhere := caller.Within(); !everywhere {
		filter.Within = within
	}
	found, err := s.store.Companies().List(ctx, filter, list.After, list.Size)
	found.Items = slices.DeleteFunc(found.Items, func(c company.Company) bool { return !c.IsListed() })
	return found, err
}

// nameHolder adds the company that has the slug to fault.SlugInUse, if the caller may read that company. It reads after
// the unit of work has failed, because Postgres executes no more statements in a failed transaction.
func (s *Service) nameHolder(ctx context.Context, caller access.Caller, slug string, refusal *fault.Error) error {
	holder, err := s.store.Companies().BySlug(ctx, slug)
	if err != nil || caller.NeedsIn(access.Read, holder.ID) != nil { // it may be gone by now
		return refusal
	}
	return refusal.With("companyId", string(holder.ID))
}

// Get returns one company.
func (s *Service) Get(ctx context.Context, caller access.Caller, which id.Company) (company.Company, error) {
	if err := caller.NeedsIn(access.Read, which); err != nil {
		return company.Company{}, err
	}
	return s.store.Companies().Get(ctx, which)
}

// GetWith reads a company and what belongs to it from one snapshot.
func (s *Service) GetWith(
	ctx context.Context, caller access.Caller, which id.Company, parts inbound.CompanyParts,
) (found inbound.CompanyWithParts, err error) {
	if err := caller.NeedsIn(access.Read, which); err != nil {
		return found, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		found = inbound.CompanyWithParts{}
		if found.Company, err = r.Companies().Get(ctx, which); err != nil {
			return err
		}
		if parts.Teams {
			if found.Teams, err = r.Teams().OfCompany(ctx, which, inbound.MostParts); err != nil {
				return err
			}
		}
		if parts.Agents {
			if found.Agents, err = r.Agents().OfCompany(ctx, which, inbound.MostParts); err != nil {
				return err
			}
		}
		if parts.Workflows {
			if found.Workflows, err = r.Workflows().OfCompany(ctx, which, inbound.MostParts); err != nil {
				return err
			}
		}
		if parts.Budgets {
			at, err := r.StoreNow(ctx)
			if err != nil {
				return err
			}
			scopes := budget.Scopes[:len(budget.Scopes)-1] // without issues
			found.Budgets, err = work.ListEnvelopes(ctx, r, found.Company, scopes, page.Position{}, inbound.MostParts, at)
			return err
		}
		return nil
	})
	return found, err
}
