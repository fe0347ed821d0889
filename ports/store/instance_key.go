package store

import "context"

// InstanceKeyReader reads which key the secrets in the store are sealed with.
type InstanceKeyReader interface {
	// Fingerprint returns the fingerprint of the key, or "" when the store has none yet.
	Fingerprint(ctx context.Context) (string, error)

	// Former returns the fingerprint of the key before it, with which something may still be sealed, or "".
	Former(ctx context.Context) (string, error)
}

// InstanceKey binds the store to a key.
type InstanceKey interface {
	InstanceKeyReader

	// Bind stores the fingerprint of the key in a store that has none. Of two concurrent units one fails, and is retried.
	// It needs no event.
	Bind(ctx context.Context, fingerprint string) error

	// Hold is Fingerprint, and keeps every other unit from changing the key until this one ends: so what is sealed with it in this
	// unit is there for those that seal it anew.
	Hold(ctx context.Context) (string, error)

	// Rotate stores the fingerprint of another key; that of the present one becomes the former. There must be no former one.
	Rotate(ctx context.Context, to string) error

	// EndFormer forgets the former key. There must be one. It needs no event.
	EndFormer(ctx context.Context) error
}
