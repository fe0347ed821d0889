package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/secret"
)

// Secrets are the use cases of secrets. All are about the secrets of one company: an unknown secret is fault.NotFound, and so is one
// of another company, and a company that the caller may not know of. Nobody gets a value. Writes fail with fault.CompanyArchived or
// fault.InvalidTransition while the company takes no changes.
type Secrets interface {
	// List needs Read. It returns a page of the secrets, newest first.
	List(ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int) (page.Page[secret.Secret], error)

	// Get needs Read.
	Get(ctx context.Context, caller access.Caller, of id.Company, name string) (secret.Secret, error)

	// Company needs Admin. It finds a company by its id or its slug.
	Company(ctx context.Context, caller access.Caller, which string) (id.Company, error)

	// Set needs Admin. It makes a secret, or gives it another value, and what else was sent. The faults are those of secret.New.
	Set(ctx context.Context, caller access.Caller, of id.Company, name string, draft secret.Draft, value []byte) (secret.Secret, error)

	// Rotate needs Admin. It gives a secret another value.
	Rotate(ctx context.Context, caller access.Caller, of id.Company, name string, value []byte) (secret.Secret, error)

	// Update needs Admin. It changes what was sent, and leaves the value.
	Update(ctx context.Context, caller access.Caller, of id.Company, name string, draft secret.Draft) (secret.Secret, error)

	// Remove needs Admin. It returns the secret as it was last.
	Remove(ctx context.Context, caller access.Caller, of id.Company, name string) (secret.Secret, error)
}
