package store

import (
	"context"

	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/text"
)

// CompanyReader reads companies.
type CompanyReader interface {
	Getter[id.Company, company.Company]

	// BySlug returns the company with a slug, in any state, or fault.NotFound.
	BySlug(ctx context.Context, slug string) (company.Company, error)

	// List returns at most size of the companies that match, after the position after: newest first, and by descending id
	// within one instant. A page by words can have fewer, even none, while another follows: it looks at MostSearched companies at
	// most.
	List(ctx context.Context, filter CompanyFilter, after page.Position, size int) (page.Page[company.Company], error)
}

// ResolveCompany looks companies up in one view of the store, or in a unit of work.
func ResolveCompany(ctx context.Context, companies CompanyReader) company.Resolve {
	return func(reference string) (id.Company, bool, error) {
		var found company.Company
		var err error
		switch which, isID := id.Parse[id.Company](reference); {
		case isID:
			found, err = companies.Get(ctx, which)
		case text.IsSlug(reference):
			found, err = companies.BySlug(ctx, reference)
		default:
			return "", false, nil
		}
		if fault.CodeOf(err) == fault.NotFound {
			return "", false, nil
		}
		return found.ID, err == nil, err
	}
}

// CompanyFilter says which companies a list holds: those that meet every condition that is set.
type CompanyFilter struct {
	Status company.Status // "": any
	Slug   *string        // nil: any
	Within []id.Company   // nil: any; empty: none
	Words  text.Words     // in the name, the slug or the description; nil: any
}

// Companies reads and changes companies.
type Companies interface {
	CompanyReader

	// Add fails with fault.SlugInUse if the slug is taken. Save does not change the slug and CreatedAt, which are permanent. It
	// raises the work revision when WorkPaused ends.
	Repository[id.Company, company.Company]

	// Empty removes some of what belongs to a company, and reports whether nothing but the company itself is left, from where
	// it began on, and how far it came. An answer kept in a receipt is blanked, not removed, and counts as a row. What webhooks have
	// still to send is left to Removals, with the events that come after any of these.
	Empty(ctx context.Context, which id.Company, some Emptying) (reached int, done bool, err error)

	// Remove removes a company that Empty has emptied. Its slug is free again.
	Remove(ctx context.Context, which id.Company) error
}

// Emptying says how much of what belongs to a company is removed at once.
type Emptying struct {
	Most   int         // rows
	Enough func() bool // no more, once it reports true; it is asked after each hundred rows, or less; nil: never
	From   int         // what an Empty before has reached, so that this one does not look for what that removed; 0: all
}
