package vault_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdco/adapters/system/vault"
)

// nextKey is what takes the place of keptKey.
const nextKey = "holdco-key-v1:HxwdHh8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRo="

// files writes the files of a key, "" for none, and returns the path of the key.
func files(t *testing.T, key, next, old string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	for name, content := range map[string]string{"": key, ".new": next, ".old": old} {
		if content == "" {
			continue
		}
		if err := os.WriteFile(path+name, []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func fingerprintOf(t *testing.T, key string) string {
	t.Helper()
	found, err := vault.New(files(t, key, "", "")).Unlock("", "")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAKeyIsReplacedFromWhereverItWasInterrupted(t *testing.T) {
	t.Parallel()
	next := fingerprintOf(t, nextKey)
	for name, path := range map[string]string{
		"prepared":              files(t, keptKey, nextKey, ""),
		"the former is kept":    files(t, keptKey, nextKey, keptKey),
		"the new one is placed": files(t, nextKey, "", keptKey),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := vault.New(path)
			if _, err := v.Unlock(keptFingerprint, ""); err != nil {
				t.Fatal(err)
			}
			if rotating, err := v.IsRotating(); !rotating || err != nil {
				t.Errorf("rotating: %t, %v", rotating, err)
			}
			for range 2 {
				if found, err := v.Promote(keptFingerprint); found != next || err != nil {
					t.Errorf("promoted %s, %v", found, err)
				}
			}
			for file, want := range map[string]string{"": nextKey, ".old": keptKey} {
				if content, err := os.ReadFile(path + file); err != nil || string(content) != want+"\n" {
					t.Errorf("the file %q holds %q, %v", file, content, err)
				}
			}
			if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the next key is still there: %v", err)
			}
			if again, err := v.Reseal(next, "whk_1", keptSealed); err != nil || again == keptSealed {
				t.Errorf("sealed anew as %q, %v", again, err)
			} else if same, err := v.Reseal(next, "whk_1", again); err != nil || same != again {
				t.Errorf("sealed anew twice: %q, %v", same, err)
			} else if opened, err := v.Open("whk_1", again); err != nil || opened != "whsec_kept" {
				t.Errorf("opened %q, %v", opened, err)
			}
			for range 2 {
				if err := v.EndFormer(); err != nil {
					t.Error(err)
				}
			}
			if rotating, err := v.IsRotating(); rotating || err != nil {
				t.Errorf("rotating: %t, %v", rotating, err)
			}
		})
	}
}

func TestTheNextKeyIsMadeOnceForWhomTheKeyIs(t *testing.T) {
	t.Parallel()
	path := files(t, keptKey, "", "")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	v := vault.New(path)
	if err := v.Prepare(); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path + ".new")
	if err != nil || strings.Contains(string(first), keptKey) {
		t.Errorf("the next key is %q, %v", first, err)
	}
	if err := v.Prepare(); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(path + ".new"); string(second) != string(first) {
		t.Errorf("the next key became %q, %v", second, err)
	}
	if info, err := os.Stat(path + ".new"); err != nil || info.Mode() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if err := vault.New(files(t, "", "", "")).Prepare(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a key: %v", err)
	}
}

func TestARunningVaultFindsAKeyThatAnotherProcessMade(t *testing.T) {
	t.Parallel()
	path := files(t, keptKey, "", "")
	running, rotating := vault.New(path), vault.New(path)
	if _, err := running.Unlock(keptFingerprint, ""); err != nil {
		t.Fatal(err)
	}
	if err := rotating.Prepare(); err != nil {
		t.Fatal(err)
	}
	next, err := rotating.Promote(keptFingerprint)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rotating.Seal(next, "a", "b"); err == nil {
		t.Error("a locked vault seals")
	}
	sealed, err := running.Seal(next, "whk_1", "value")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vault.New(path).Open("whk_1", sealed); err == nil || !strings.Contains(err.Error(), "none was read from "+path) {
		t.Errorf("without a key: %v", err)
	}
	another := vault.New(path)
	if _, err := another.Unlock(next, keptFingerprint); err != nil {
		t.Fatal(err)
	}
	if opened, err := another.Open("whk_1", sealed); opened != "value" || err != nil {
		t.Errorf("%q, %v", opened, err)
	}
}

func TestWhileTheKeyIsRotatedBothKeysMustBeThere(t *testing.T) {
	t.Parallel()
	next := fingerprintOf(t, nextKey)
	both := files(t, nextKey, "", keptKey)
	for bound, former := range map[string]string{next: keptFingerprint, keptFingerprint: ""} {
		if found, err := vault.New(both).Unlock(bound, former); found != bound || err != nil {
			t.Errorf("bound to %s: %s, %v", bound, found, err)
		}
	}
	missing := files(t, nextKey, "", "")
	if _, err := vault.New(missing).Unlock(next, keptFingerprint); err == nil || !strings.Contains(err.Error(), missing+".old") {
		t.Errorf("without the former: %v", err)
	}
	if _, err := vault.New(missing).Unlock(keptFingerprint, ""); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("with another key: %v", err)
	}
	rubbish := vault.New(files(t, nextKey, "", "rubbish"))
	if _, err := rubbish.Unlock(next, ""); err == nil || !strings.Contains(err.Error(), ".old is damaged") {
		t.Errorf("with a damaged former: %v", err)
	}
}

func TestFilesThatDoNotFitStopARotation(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"the key is not the store's": files(t, nextKey, keptKey, ""),
		"another former":             files(t, keptKey, nextKey, nextKey),
		"no key":                     files(t, "", nextKey, ""),
		"a copy of another host":     files(t, nextKey, "", ""),
	} {
		if _, err := vault.New(path).Promote(keptFingerprint); err == nil {
			t.Errorf("%s: promoted", name)
		}
		if _, err := os.Stat(path + ".new"); err != nil && name != "a copy of another host" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOneProcessRotatesAtATime(t *testing.T) {
	t.Parallel()
	path := files(t, keptKey, "", "")
	unlock, isFree, err := vault.New(path).Lock()
	if !isFree || err != nil {
		t.Fatal(isFree, err)
	}
	if _, isFree, err := vault.New(path).Lock(); isFree || err != nil {
		t.Errorf("a second one: %t, %v", isFree, err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, isFree, err = vault.New(path).Lock()
	if !isFree || err != nil {
		t.Fatal(isFree, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestWhatAKilledProcessHasDraftedGoesWithTheFormerKey(t *testing.T) {
	t.Parallel()
	path := files(t, nextKey, "", keptKey)
	folder := filepath.Dir(path)
	stays := []string{".key-", ".key-12x", ".key.pub-12", ".keys-12", "key"}
	for _, name := range append([]string{".key-12", ".key.old-3", ".key.new-456"}, stays[:4]...) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(keptKey), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := vault.New(path).EndFormer(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(stays) {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	for _, name := range stays {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}
