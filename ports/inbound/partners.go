package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/domain/precondition"
)

// Partners are the use cases of partners and their keys. All of them need Admin. An unknown id is fault.NotFound.
type Partners interface {
	List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[partner.Partner], error)
	Get(ctx context.Context, caller access.Caller, which id.Partner) (partner.Partner, error)

	// Create's faults are those of partner.New.
	Create(ctx context.Context, caller access.Caller, draft partner.Draft, once idempotency.Request) (IssuedPartner, error)

	// Update's faults are fault.PreconditionFailed and those of partner.Partner.Apply.
	Update(
		ctx context.Context, caller access.Caller, which id.Partner, patch partner.Patch, match precondition.Match,
	) (partner.Partner, error)

	// Unknown returns the ids of campaigns and of industries that a key is narrowed to and that are not there. They may be mistyped, or
	// imported later: until then the key sees nothing of them. Of a test key, which reads a sample, there are none.
	Unknown(ctx context.Context, caller access.Caller, of partner.Partner) ([]string, error)

	// Rotate gives a key a new value and accepts the old one for the grace of the rotation. The faults are
	// fault.PreconditionFailed and those of partner.Partner.Rotate.
	Rotate(
		ctx context.Context, caller access.Caller, which id.Partner, rotation access.Rotation,
		match precondition.Match, once idempotency.Request,
	) (IssuedPartner, error)

	// Revoke ends a key for good; it is idempotent. Its fault is fault.PreconditionFailed.
	Revoke(ctx context.Context, caller access.Caller, which id.Partner, match precondition.Match) (partner.Partner, error)
}

// PartnerAuthenticator authenticates the requests of partners, and checks the origins of their pages (CORS).
type PartnerAuthenticator interface {
	// Authenticate returns the partner whose key has this value, or fault.Unauthorized. partner.Partner.AllowsOrigin
	// says whether a page may use the key.
	Authenticate(ctx context.Context, key string) (partner.Partner, error)

	// HasOrigin reports whether the origin is registered with any live key. A CORS preflight, which carries no key,
	// is answered by it.
	HasOrigin(ctx context.Context, origin string) (bool, error)

	// Used notes that a key was used, for so many requests and so many leads that were sent: see partner.Usage. It is written down later.
	Used(which id.Partner, requests, leadsRead int64)
}

// IssuedPartner is a partner with the value of its key, which is shown only once.
type IssuedPartner struct {
	Partner partner.Partner
	Key     access.Value
}
