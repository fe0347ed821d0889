package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"

	"holdco/domain/audit"
	"holdco/ports/outbound"
)

// Vault is outbound.Vault by AES-256-GCM, outbound.Signer, and outbound.KeyFiles, with the key in a file. While it is being rotated there
// are two more files, .old with the former key and .new with the next one, before it takes the place of the key.
type Vault struct {
	path string

	mutex sync.RWMutex
	keys  map[string]loaded // by their fingerprints; nil while it is locked
}

// loaded is a key as it is used.
type loaded struct {
	seal cipher.AEAD
	sign ed25519.PrivateKey
}

var (
	_ outbound.Vault    = (*Vault)(nil)
	_ outbound.Signer   = (*Vault)(nil)
	_ outbound.KeyFiles = (*Vault)(nil)
)

// New makes a locked vault, whose key is in the file at a path.
func New(path string) *Vault { return &Vault{path: path} }

// Unlock implements outbound.Vault. A fingerprint is 16 hexadecimal digits.
func (v *Vault) Unlock(fingerprint, former string) (string, error) {
	key, err := readFile(v.path)
	isMissing := errors.Is(err, fs.ErrNotExist)
	if isMissing {
		err = nil
		if fingerprint == "" {
			key, err = makeAndRead(v.path)
		}
	}
	if err != nil {
		return "", err
	}
	found := fingerprintOf(key)
	if fingerprint == "" {
		return found, v.load(key)
	}
	old, err := readFile(v.oldPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := v.load(key, old); err != nil {
		return "", err
	}
	switch {
	case v.has(fingerprint) && (former == "" || v.has(former)):
		return fingerprint, nil
	case isMissing:
		return "", fmt.Errorf("the key file %s is missing: the secrets in the store are sealed "+
			"with the key that has the fingerprint %s; "+
			"put that file back", v.path, fingerprint)
	case v.has(fingerprint):
		return "", fmt.Errorf("the key file %s, with the fingerprint %s, is missing: the key is being rotated, "+
			"and some secrets in the store are sealed with the former one; put that file back", v.oldPath(), former)
	}
	return "", fmt.Errorf("the key file %s holds another key than the secrets in the store are sealed with: its fingerprint is %s, "+
		"not %s; put the right file in its place", v.path, found, fingerprint)
}

// load adds keys to those that are known; nil ones are none.
func (v *Vault) load(keys ...[]byte) error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	for _, key := range keys {
		if key == nil {
			continue
		}
		use, err := loadedOf(key)
		if err != nil {
			return err
		}
		if v.keys == nil {
			v.keys = map[string]loaded{}
		}
		v.keys[fingerprintOf(key)] = use
	}
	return nil
}

func (v *Vault) has(fingerprint string) bool {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	_, ok := v.keys[fingerprint]
	return ok
}

// known are the keys that were loaded.
func (v *Vault) known() map[string]loaded {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	return maps.Clone(v.keys)
}

// look loads the keys that are in the files now, for another process may have rotated them. It reports whether any is new. While the
// vault is locked it stays so.
func (v *Vault) look() bool {
	before := len(v.known())
	if before == 0 {
		return false
	}
	for _, path := range []string{v.path, v.oldPath()} {
		if key, err := readFile(path); err == nil { // otherwise the caller says that the key is not known
			_ = v.load(key)
		}
	}
	return len(v.known()) > before
}

// What the instance's key is used for. Each use has a key of its own, so that none can betray another.
const (
	forSealing     = "holdco: sealing of secrets, v1"
	forSigning     = "holdco: signing of the audit, v1"
	forFingerprint = "holdco: fingerprint of the key, v1\x00"
)

// sealedPrefix starts every sealed text, and is the version of its format.
const sealedPrefix = "v1:"

func loadedOf(key []byte) (use loaded, err error) {
	derived, err := hkdf.Key(sha256.New, key, nil, forSealing, keySize)
	if err != nil {
		return use, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return use, err
	}
	if use.seal, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return use, err
	}
	seed, err := hkdf.Key(sha256.New, key, nil, forSigning, ed25519.SeedSize)
	if err == nil {
		use.sign = ed25519.NewKeyFromSeed(seed)
	}
	return use, err
}

func fingerprintOf(key []byte) string {
	hash := sha256.Sum256(append([]byte(forFingerprint), key...))
	return hex.EncodeToString(hash[:8])
}

// Seal implements outbound.Vault: v1: and, in base64, the nonce, the encrypted secret and the tag. Two sealed texts of
// one secret differ.
func (v *Vault) Seal(fingerprint, owner, secret string) (string, error) {
	key, err := v.keyOf(fingerprint)
	if err != nil {
		return "", err
	}
	return sealedPrefix + base64.StdEncoding.EncodeToString(key.seal.Seal(nil, nil, []byte(secret), []byte(owner))), nil
}

func (v *Vault) keyOf(fingerprint string) (loaded, error) {
	if !v.has(fingerprint) {
		v.look()
	}
	if !v.has(fingerprint) {
		return loaded{}, fmt.Errorf("the key with the fingerprint %s is not in %s", fingerprint, v.path)
	}
	return v.known()[fingerprint], nil
}

// Sign implements outbound.Signer.
func (v *Vault) Sign(fingerprint string, statement []byte) (by audit.Signature, err error) {
	key, err := v.keyOf(fingerprint)
	if err != nil {
		return by, err
	}
	by.Key, err = v.SigningKey(fingerprint)
	by.Text = ed25519.Sign(key.sign, statement)
	return by, err
}

// SigningKey implements outbound.Signer.
func (v *Vault) SigningKey(fingerprint string) (ed25519.PublicKey, error) {
	key, err := v.keyOf(fingerprint)
	if err != nil {
		return nil, err
	}
	return ed25519.PublicKey(key.sign[ed25519.PrivateKeySize-ed25519.PublicKeySize:]), nil
}

// Open implements outbound.Vault.
func (v *Vault) Open(owner, sealed string) (string, error) {
	secret, _, err := v.open(owner, sealed)
	return secret, err
}

// Reseal implements outbound.Vault.
func (v *Vault) Reseal(fingerprint, owner, sealed string) (string, error) {
	secret, by, err := v.open(owner, sealed)
	if err != nil || by == fingerprint {
		return sealed, err
	}
	return v.Seal(fingerprint, owner, secret)
}

// open is Open, and returns the fingerprint of the key that fits.
func (v *Vault) open(owner, sealed string) (secret, by string, err error) {
	text, ok := strings.CutPrefix(sealed, sealedPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil {
		return "", "", fmt.Errorf("the sealed secret of %s is damaged, or from a newer Holdco", owner)
	}
	if len(v.known()) == 0 {
		return "", "", fmt.Errorf("the secret of %s needs the instance's key, and none was read from %s", owner, v.path)
	}
	for again := true; again; again = v.look() {
		for fingerprint, key := range v.known() {
			if secret, err := key.seal.Open(nil, nil, raw, []byte(owner)); err == nil {
				return string(secret), fingerprint, nil
			}
		}
	}
	return "", "", fmt.Errorf("the secret of %s was sealed with another key or for another owner, or is damaged", owner)
}
