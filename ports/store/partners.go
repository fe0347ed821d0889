package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/partner"
)

// PartnerReader reads partners.
type PartnerReader interface {
	Getter[id.Partner, partner.Partner]
	Lister[partner.Partner]

	// ByHash returns the partner whose key has or had a value with this hash (access.Value.Hash), or fault.NotFound.
	// partner.Partner.Accepts decides whether the value is still valid.
	ByHash(ctx context.Context, hash string) (partner.Partner, error)

	// Origins returns the origins of all partners whose keys are neither revoked nor expired at the given instant, each
	// once, sorted.
	Origins(ctx context.Context, at time.Time) ([]string, error)
}

// Partners reads and changes partners.
type Partners interface {
	PartnerReader
	Repository[id.Partner, partner.Partner] // Save does not change the usage

	// Use adds to the usage of each partner, as partner.Usage.Plus does; partners that do not exist are skipped. It needs no event,
	// and the version stays.
	Use(ctx context.Context, used map[id.Partner]partner.Usage) error
}
