package vault_test

import (
	"encoding/base64"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/adapters/system/vault"
)

// A key, and what was sealed with it once: a newer Holdco must still be able to read both.
const (
	keptKey         = "holdco-key-v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	keptFingerprint = "7f6f93549318d9a2"
	keptSealed      = "v1:EklZPeoaKxCPGRV4rt+Wm4SiaGBZTr/JCsrUQfBrwRCZokpVewA="
)

func TestWhatIsSealedOpensForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	one, other := newVault(t), newVault(t)
	rapid.Check(t, func(t *rapid.T) {
		owner, secret := rapid.String().Draw(t, "owner"), rapid.String().Draw(t, "secret")
		sealed := one.seal(owner, secret)
		if opened, err := one.Open(owner, sealed); err != nil || opened != secret {
			t.Fatalf("%q opens as %q, %v", secret, opened, err)
		}
		if sealed == one.seal(owner, secret) {
			t.Fatal("sealed twice alike")
		}
		if opened, err := one.Open(owner+"x", sealed); err == nil {
			t.Fatalf("another owner opens %q", opened)
		}
		if opened, err := other.Open(owner, sealed); err == nil {
			t.Fatalf("another key opens %q", opened)
		}
	})
}

func TestDamagedTextsDoNotOpenAndErrorsShowNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "whsec_very+secret"
	v := newVault(t)
	sealed := v.seal("whk_1", secret)
	damaged := []string{"", "v1:", "v1:AAAA", "v2" + sealed[2:], sealed[3:], " " + sealed, sealed + "AAAA", secret, "v1:" + secret}
	for i := range sealed {
		damaged = append(damaged, sealed[:i], sealed[:i]+"A"+sealed[i:])
		if changed := sealed[:i] + "B" + sealed[i+1:]; changed != sealed {
			damaged = append(damaged, changed)
		}
	}
	for _, text := range damaged {
		opened, err := v.Open("whk_1", text)
		if err == nil || opened != "" {
			t.Errorf("%q opens as %q", text, opened)
		} else if strings.Contains(err.Error(), "very+") || !strings.Contains(err.Error(), "whk_1") {
			t.Errorf("the error is: %v", err)
		}
	}
}

func TestASealedTextShowsNothingOfItsSecret(t *testing.T) {
	t.Parallel()
	sealed := newVault(t).seal("whk_1", "whsec_very+secret")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sealed, "v1:"))
	if err != nil || strings.Contains(string(raw), "whsec_") || strings.Contains(sealed, "whsec_") {
		t.Errorf("sealed as %q, %v", sealed, err)
	}
}

func TestAFingerprintTellsKeysApart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, first := unlock(t, filepath.Join(folder, "key"))
	if _, again := unlock(t, filepath.Join(folder, "key")); again != first {
		t.Errorf("the same key has the fingerprints %s and %s", first, again)
	}
	if _, other := unlock(t, filepath.Join(folder, "other")); other == first {
		t.Errorf("two keys have the fingerprint %s", other)
	}
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(first) {
		t.Errorf("the fingerprint is %s", first)
	}
}

func TestWhatWasSealedOnceOpensForEver(t *testing.T) {
	t.Parallel()
	v, fingerprint := unlock(t, writeFile(t, keptKey+"\n", 0o600))
	if opened, err := v.Open("whk_1", keptSealed); err != nil || opened != "whsec_kept" {
		t.Errorf("%q, %v; now it would be %s", opened, err, sealer{v, fingerprint}.seal("whk_1", "whsec_kept"))
	}
	if fingerprint != keptFingerprint {
		t.Errorf("the fingerprint is %s", fingerprint)
	}
}

// newVault is a vault with a new key.
func newVault(t *testing.T) sealer {
	t.Helper()
	v, fingerprint := unlock(t, filepath.Join(t.TempDir(), "key"))
	return sealer{v, fingerprint}
}

// sealer is a vault that seals with one key.
type sealer struct {
	*vault.Vault
	key string
}

func (s sealer) seal(owner, secret string) string {
	sealed, err := s.Seal(s.key, owner, secret)
	if err != nil {
		panic(err)
	}
	return sealed
}

// unlock opens a vault with the key in a file, which it makes when there is none, and returns the key's fingerprint.
func unlock(t *testing.T, path string) (*vault.Vault, string) {
	t.Helper()
	v := vault.New(path)
	fingerprint, err := v.Unlock("", "")
	if err != nil {
		t.Fatal(err)
	}
	return v, fingerprint
}
