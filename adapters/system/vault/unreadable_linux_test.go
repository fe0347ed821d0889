package vault_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"holdco/adapters/system/vault"
)

// asStranger runs what another user does with files, also as root.
func asStranger(t *testing.T, run func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		const nobody = 65534
		if os.Geteuid() == 0 {
			if err := syscall.Setfsuid(nobody); err != nil {
				done <- err
				return
			}
		}
		run()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// The key of another user, as root has made it say, is named with what to do.
func TestAKeyFileThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	closed := t.TempDir()
	inside := filepath.Join(closed, "key")
	if err := os.Mkdir(filepath.Join(closed, "none"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inside, nil, 0); err != nil {
		t.Fatal(err)
	}
	for parent := closed; parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o755); err != nil { //nolint:gosec // the other user has to come to it
			t.Fatal(err)
		}
	}
	for _, path := range []string{inside, filepath.Join(closed, "none", "key")} {
		asStranger(t, func() {
			_, err := vault.New(path).Unlock("0123456789abcdef", "")
			if err == nil || !strings.Contains(err.Error(), path+": permission denied; let the user that runs holdco read") {
				t.Errorf("%v", err)
			}
		})
	}
}
