package outbound

import (
	"crypto/ed25519"

	"holdco/domain/audit"
)

// Vault seals secrets (authenticated encryption) with keys of the instance: the present one and, while it is being rotated, the former
// one. It starts locked. It is safe for concurrent use.
type Vault interface {
	// Unlock loads the keys that have fingerprints, and fails when one is not there; former may be empty. With an empty fingerprint
	// it loads the existing key, or makes one. It returns the fingerprint of the key, from which the key cannot be derived.
	Unlock(fingerprint, former string) (string, error)

	// Seal encrypts a secret with the key that has a fingerprint. Only Open with the same key and the same owner, an id or the like,
	// can decrypt it. It fails when there is no such key, as while the vault is locked.
	Seal(fingerprint, owner, secret string) (sealed string, err error)

	// Open decrypts a sealed secret. It fails when no key fits, the owner differs, or the text is damaged.
	Open(owner, sealed string) (secret string, err error)

	// Reseal seals a sealed secret with the key that has a fingerprint. It returns the text as it is if it is sealed so already.
	Reseal(fingerprint, owner, sealed string) (string, error)
}

// Signer signs with keys that are derived from those of Vault, by Ed25519. It is safe for concurrent use.
type Signer interface {
	// Sign signs a statement with the signing key of the key that has a fingerprint. It fails when there is no such key, as while the
	// vault is locked.
	Sign(fingerprint string, statement []byte) (audit.Signature, error)

	// SigningKey returns the public half of that signing key.
	SigningKey(fingerprint string) (ed25519.PublicKey, error)
}

// KeyFiles are the files of the keys of the instance, which a rotation changes step by step. Each step can be repeated, by another
// process too. In between, Vault finds every key that is needed.
type KeyFiles interface {
	// Lock keeps other processes from changing the files until unlock is called; isFree is false if one of them does.
	Lock() (unlock func() error, isFree bool, err error)

	// IsRotating reports whether a rotation has begun and not ended.
	IsRotating() (bool, error)

	// Prepare makes the next key, unless there is one.
	Prepare() error

	// Promote makes the next key, if there is one, the present, whose fingerprint it returns, and the present the former one, which
	// must have the fingerprint bound.
	Promote(bound string) (fingerprint string, err error)

	// EndFormer removes the former key, if there is one.
	EndFormer() error

	// Exposed returns the files that others than their owner, and who may read them of its group, can use, each with its mode.
	Exposed() ([]string, error)

	// Fingerprints returns those of the key and of the former one, as far as they are there, whoever can use their files.
	Fingerprints() ([]string, error)

	// Protect leaves them to their owner.
	Protect() error
}
