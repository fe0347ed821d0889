package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"holdco/ports/outbound"
)

// Vault is outbound.Vault by AES-256-GCM, with the key in a file.
type Vault struct {
	path string
	seal cipher.AEAD // nil while it is locked
}

var _ outbound.Vault = (*Vault)(nil)

// New makes a locked vault, whose key is in the file at a path.
func New(path string) *Vault { return &Vault{path: path} }

// Unlock implements outbound.Vault. A fingerprint is 16 hexadecimal digits.
func (v *Vault) Unlock(fingerprint string) (string, error) {
	key, err := readFile(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		if fingerprint != "" {
			return "", fmt.Errorf("the key file %s is missing: the secrets in the store are sealed "+
				"with the key that has the fingerprint %s; "+
				"put that file back", v.path, fingerprint)
		}
		key, err = makeAndRead(v.path)
	}
	if err != nil {
		return "", err
	}
	found := fingerprintOf(key)
	if fingerprint != "" && fingerprint != found {
		return "", fmt.Errorf("the key file %s holds another key than the secrets in the store are sealed with: its fingerprint is %s, "+
			"not %s; put the right file in its place", v.path, found, fingerprint)
	}
	v.seal, err = sealing(key)
	return found, err
}

// What the instance's key is used for. Each use has a key of its own, so that none can betray another.
const (
	forSealing     = "holdco: sealing of secrets, v1"
	forFingerprint = "holdco: fingerprint of the key, v1\x00"
)

// sealedPrefix starts every sealed text, and is the version of its format.
const sealedPrefix = "v1:"

func sealing(key []byte) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, forSealing, keySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func fingerprintOf(key []byte) string {
	hash := sha256.Sum256(append([]byte(forFingerprint), key...))
	return hex.EncodeToString(hash[:8])
}

// Seal implements outbound.Vault: v1: and, in base64, the nonce, the encrypted secret and the tag. Two sealed texts of
// one secret differ.
func (v *Vault) Seal(owner, secret string) string {
	return sealedPrefix + base64.StdEncoding.EncodeToString(v.seal.Seal(nil, nil, []byte(secret), []byte(owner)))
}

// Open implements outbound.Vault.
func (v *Vault) Open(owner, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, sealedPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil {
		return "", fmt.Errorf("the sealed secret of %s is damaged, or from a newer Holdco", owner)
	}
	secret, err := v.seal.Open(nil, nil, raw, []byte(owner))
	if err != nil {
		return "", fmt.Errorf("the secret of %s was sealed with another key or for another owner, or is damaged", owner)
	}
	return string(secret), nil
}
