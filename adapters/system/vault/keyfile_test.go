package vault_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"holdco/adapters/system/vault"
)

func TestAKeyFileIsMadeForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "not", "there")
	path := filepath.Join(folder, "key")
	if _, err := vault.New(path).Unlock(keptFingerprint, ""); err == nil || !strings.Contains(err.Error(), path+" is missing") {
		t.Errorf("without the file that is bound: %v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new key was made in its place: %v", err)
	}
	unlock(t, path)
	for path, want := range map[string]fs.FileMode{path: 0o600, folder: fs.ModeDir | 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, %v", path, info.Mode(), err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil || !regexp.MustCompile(`^holdco-key-v1:[A-Za-z0-9+/]{43}=\n$`).Match(content) {
		t.Errorf("the file holds %q, %v", content, err)
	}
	unlock(t, path)
	if again, err := os.ReadFile(path); err != nil || string(again) != string(content) {
		t.Errorf("the file was changed: %q, %v", again, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestOfManyAtOnceAllHaveTheSameKey(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(folder, "key")
	fingerprints := make([]string, 32)
	var makers sync.WaitGroup
	for i := range fingerprints {
		makers.Go(func() {
			var err error
			if fingerprints[i], err = vault.New(path).Unlock("", ""); err != nil {
				t.Error(err)
			}
		})
	}
	makers.Wait()
	for _, fingerprint := range fingerprints {
		if fingerprint != fingerprints[0] || fingerprint == "" {
			t.Errorf("fingerprints %v", fingerprints)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestAnotherKeyThanTheBoundOneIsRefused(t *testing.T) {
	t.Parallel()
	path := writeFile(t, keptKey, 0o600)
	_, err := vault.New(path).Unlock("0123456789abcdef", "")
	if err == nil || !strings.Contains(err.Error(), path+" holds another key") || !strings.Contains(err.Error(), keptFingerprint) {
		t.Errorf("%v", err)
	}
}

func TestTheLineMayEndAsEditorsEndIt(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "\n", "\r\n", "\n\n", " \n"} {
		if found, err := vault.New(writeFile(t, keptKey+end, 0o600)).Unlock("", ""); err != nil || found != keptFingerprint {
			t.Errorf("with %q: %s, %v", end, found, err)
		}
	}
}

func TestAKeyFileThatIsOpenToStrangersIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o600, 0o400, 0o700, 0o440, 0o640} {
		if _, err := vault.New(writeFile(t, keptKey, mode)).Unlock(keptFingerprint, ""); err != nil {
			t.Errorf("%v: %v", mode, err)
		}
	}
	for _, mode := range []fs.FileMode{0o604, 0o644, 0o620, 0o666, 0o660} {
		path := writeFile(t, keptKey, mode)
		for _, bound := range []string{"", keptFingerprint} {
			if _, err := vault.New(path).Unlock(bound, ""); err == nil || !strings.HasSuffix(err.Error(), "run: chmod 600 "+path) {
				t.Errorf("%v: %v", mode, err)
			}
		}
	}
}

func TestAKeyFileIsTakenFromStrangers(t *testing.T) {
	t.Parallel()
	for mode, isExposed := range map[fs.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o620: true} {
		path := writeFile(t, keptKey, mode)
		keys := vault.New(path)
		found, err := keys.Exposed()
		if err != nil || len(found) > 0 != isExposed || isExposed && !strings.HasPrefix(found[0], path+" (mode 0") {
			t.Errorf("%v: %v, %v", mode, found, err)
		}
		if err := keys.Protect(); err != nil {
			t.Error(err)
		}
		want := mode
		if isExposed {
			want = 0o600
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%v: it is %v, %v", mode, info.Mode(), err)
		}
	}
	none := vault.New(filepath.Join(t.TempDir(), "key"))
	if found, err := none.Exposed(); err != nil || found != nil || none.Protect() != nil {
		t.Errorf("of no file: %v, %v", found, err)
	}
}

func TestWhatIsNoKeyIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	line := keptKey[:len(keptKey)-1]
	for _, content := range []string{
		"", "\n", "holdco-key-v1:", line, line[:30], line + "*", keptKey + "A", keptKey + "\n" + keptKey, keptKey + "=",
		line[:30] + "\n" + keptKey[30:], "holdco-key-v2:" + keptKey[14:], keptKey[14:], "# a key\n" + keptKey, "\ufeff" + keptKey,
		"holdco-key-v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh==", "holdco-key-v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=",
		keptKey + strings.Repeat("\n", 2000),
	} {
		path := writeFile(t, content, 0o600)
		for _, bound := range []string{"", keptFingerprint} {
			_, err := vault.New(path).Unlock(bound, "")
			if err == nil || !strings.Contains(err.Error(), path+" is damaged") || strings.Contains(err.Error(), "AAECAw") {
				t.Errorf("%q: %v", content, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != content {
			t.Errorf("%q became %q, %v", content, after, err)
		}
	}
}

func TestOtherThingsThanFilesAreRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		folder: folder + " is a folder; the key needs the name of a file, such as " + filepath.Join(folder, "key"),
		pipe:   "the key file " + pipe + " is not a regular file",
	} {
		if _, err := vault.New(path).Unlock("", ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAFolderThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "", 0o600)
	dangling := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "gone"), dangling); err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(file, "key"), filepath.Join(file, "deeper", "key"), dangling}
	if os.Geteuid() != 0 { // whom no mode holds up
		closed := t.TempDir()
		if err := os.Chmod(closed, 0o500); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(closed, "key"))
	}
	for _, path := range paths {
		if _, err := vault.New(path).Unlock("", ""); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func writeFile(t *testing.T, content string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}
