package inbound

import (
	"context"

	"holdco/domain/access"
)

// Keys are the use cases of the key that seals the secrets in the store.
type Keys interface {
	// Rotate needs Admin. It puts a new key in the place of the present one, seals everything with it, and ends the former key. If a
	// rotation was interrupted it goes on with that instead. It fails while another process rotates the key.
	Rotate(ctx context.Context, caller access.Caller) (KeyRotation, error)
}

// KeyRotation is what a rotation of the key did.
type KeyRotation struct {
	Fingerprint string // of the present key
	Sealed      int    // how many secrets were sealed with it here
	IsContinued bool   // the rotation had been interrupted
}
