package inbound

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/domain/precondition"
)

// Partners is what can be done with partners and their keys. Everything needs Admin. An id that is none is
// fault.NotFound.
type Partners interface {
	List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[partner.Partner], error)
	Get(ctx context.Context, caller access.Caller, which id.Partner) (partner.Partner, error)

	// Create's faults are those of partner.New.
	Create(ctx context.Context, caller access.Caller, draft partner.Draft, once idempotency.Request) (IssuedPartner, error)

	// Update's faults are fault.PreconditionFailed and those of partner.Partner.Apply.
	Update(ctx context.Context, caller access.Caller, which id.Partner, patch partner.Patch, match precondition.Match) (partner.Partner, error)

	// Rotate gives a key a new value and keeps the old one alive for grace. The faults are those of
	// partner.Partner.Rotate.
	Rotate(ctx context.Context, caller access.Caller, which id.Partner, grace time.Duration, once idempotency.Request) (IssuedPartner, error)

	// Revoke ends a key for good; one that is revoked stays so. Its fault is fault.PreconditionFailed.
	Revoke(ctx context.Context, caller access.Caller, which id.Partner, match precondition.Match) (partner.Partner, error)
}

// PartnerAuthenticator tells which partner a request comes from, and which pages may send any.
type PartnerAuthenticator interface {
	// Authenticate returns the partner whose key has this value, or fault.Unauthorized. Whether a page may use the key is
	// for partner.Partner.AllowsOrigin to say.
	Authenticate(ctx context.Context, key string) (partner.Partner, error)

	// KnowsOrigin reports whether the origin is registered with any live key: what a preflight, which carries no key, can
	// be told.
	KnowsOrigin(ctx context.Context, origin string) (bool, error)
}

// IssuedPartner is a partner with the value of its key, which is shown this once.
type IssuedPartner struct {
	Partner partner.Partner
	Key     access.Value
}
