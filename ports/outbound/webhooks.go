package outbound

import (
	"context"

	"holdco/domain/webhook"
)

// WebhookPoster makes attempts.
type WebhookPoster interface {
	// Post signs a message and posts it, and returns what came of it after webhook.Timeout at most. It never fails: what
	// went wrong is in the attempt. A context that ends breaks the attempt off.
	Post(ctx context.Context, message webhook.Message) webhook.Attempt
}

// Vault seals secrets with the instance's key. It is locked at first.
type Vault interface {
	// Unlock takes the key that has the fingerprint, and fails when there is no such key. An empty fingerprint takes the
	// key that there is, or makes one. It returns the key's fingerprint, from which the key cannot be found.
	Unlock(fingerprint string) (string, error)

	// Seal returns a secret so that only Open with the same key and the same owner, an id, can read it.
	Seal(owner, secret string) (sealed string)

	// Open returns what was sealed. It fails when the key or the owner is another, or the text is damaged.
	Open(owner, sealed string) (secret string, err error)
}
