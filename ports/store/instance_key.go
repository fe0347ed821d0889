package store

import "context"

// InstanceKeyReader reads which key the secrets in the store are sealed with.
type InstanceKeyReader interface {
	// Fingerprint returns the fingerprint of the key, or "" when the store has none yet.
	Fingerprint(ctx context.Context) (string, error)
}

// InstanceKey binds the store to a key.
type InstanceKey interface {
	InstanceKeyReader

	// Bind stores the fingerprint of the key in a store that has none. Of two concurrent units one fails, and is retried.
	// It needs no event.
	Bind(ctx context.Context, fingerprint string) error
}
