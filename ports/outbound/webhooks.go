package outbound

import (
	"context"

	"holdco/domain/webhook"
)

// WebhookPoster sends the requests of webhooks.
type WebhookPoster interface {
	// Post signs a message, posts it, and returns the outcome, after webhook.Timeout at most. Errors are part of the
	// attempt. Canceling the context cancels the request.
	Post(ctx context.Context, message webhook.Message) webhook.Attempt
}

// Vault seals secrets (authenticated encryption) with the key of the instance. It starts locked.
type Vault interface {
	// Unlock loads the key that has the fingerprint, and fails when there is no such key. With an empty fingerprint it
	// loads the existing key, or makes one. It returns the fingerprint of the key, from which the key cannot be
	// derived.
	Unlock(fingerprint string) (string, error)

	// Seal encrypts a secret. Only Open with the same key and the same owner, an id, can decrypt it. It panics while
	// the vault is locked, and so does Open: programs that work with secrets unlock the vault first.
	Seal(owner, secret string) (sealed string)

	// Open decrypts a sealed secret. It fails when the key or the owner differs, or the text is damaged.
	Open(owner, sealed string) (secret string, err error)
}
