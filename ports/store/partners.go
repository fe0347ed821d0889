package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/partner"
)

// PartnerReader reads partners.
type PartnerReader interface {
	// Get returns a partner, revoked and expired ones too, or fault.NotFound.
	Get(ctx context.Context, which id.Partner) (partner.Partner, error)

	// ByHash returns the partner whose key has or had a value with this hash (access.Value.Hash), or fault.NotFound.
	// Whether the value still lets anybody in is for partner.Partner.Accepts to say.
	ByHash(ctx context.Context, hash string) (partner.Partner, error)

	// List returns at most size partners, revoked and expired ones too, from behind after on: newest first, and by
	// descending id within one instant.
	List(ctx context.Context, after page.Position, size int) (page.Page[partner.Partner], error)

	// Origins returns the origins of all partners whose keys are neither revoked nor expired at the given instant, each
	// once, in the order of texts.
	Origins(ctx context.Context, at time.Time) ([]string, error)
}

// Partners reads and changes partners.
type Partners interface {
	PartnerReader

	// Lock is Get, and keeps every other unit from changing the partner until this one ends.
	Lock(ctx context.Context, which id.Partner) (partner.Partner, error)

	// Add keeps a new partner.
	Add(ctx context.Context, p partner.Partner) error

	// Save replaces a partner that was locked in this unit. It leaves LastUsedAt alone.
	Save(ctx context.Context, p partner.Partner) error

	// Touch moves LastUsedAt of each partner forward to the given instant, never back; partners that are gone are passed
	// over. It is bookkeeping: no business change, no event, no new version.
	Touch(ctx context.Context, used map[id.Partner]time.Time) error
}
