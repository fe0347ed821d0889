package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/secret"
)

// SecretReader reads the secrets of companies.
type SecretReader interface {
	Getter[id.Secret, secret.Secret]

	// ByName returns the secret of a company that has a name, or fault.NotFound.
	ByName(ctx context.Context, of id.Company, name string) (secret.Secret, error)

	// List returns at most size secrets of a company that come after a position: newest first, and by descending id within one
	// instant.
	List(ctx context.Context, of id.Company, after page.Position, size int) (page.Page[secret.Secret], error)

	// Sealed returns the sealed value of a secret, or fault.NotFound.
	Sealed(ctx context.Context, of secret.Secret) (string, error)
}

// Secrets reads and changes secrets.
type Secrets interface {
	SecretReader

	// No two secrets of a company have one name. Save does not change the company, the name, CreatedAt and LastUsedAt.
	Repository[id.Secret, secret.Secret]

	// Keep keeps the sealed value of a secret, in place of the former one.
	Keep(ctx context.Context, of secret.Secret, sealed string) error

	// Touch moves the last use of secrets forward, never back. It needs no event.
	Touch(ctx context.Context, used map[id.Secret]time.Time) error

	// Remove removes a secret with its value.
	Remove(ctx context.Context, which secret.Secret) error
}
