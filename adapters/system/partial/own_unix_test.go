//go:build unix

package partial_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"holdco/adapters/system/partial"
)

func TestWhatRootMadeBelongsToAnother(t *testing.T) {
	t.Parallel()
	want := os.Geteuid()
	as, made := t.TempDir(), filepath.Join(t.TempDir(), "made")
	if want == 0 {
		want = 12345
		check(t, os.Chown(as, want, want))
	}
	check(t, os.Mkdir(made, 0o700))
	file := filepath.Join(made, "file")
	check(t, os.WriteFile(file, nil, 0o600))
	elsewhere := filepath.Join(as, "elsewhere")
	check(t, os.WriteFile(elsewhere, nil, 0o600))
	link := filepath.Join(made, "link")
	check(t, os.Symlink(elsewhere, link))
	check(t, partial.Own(made, as))
	for path, want := range map[string]int{made: want, file: want, link: want, elsewhere: os.Geteuid()} {
		found, err := os.Lstat(path)
		check(t, err)
		if got := found.Sys().(*syscall.Stat_t).Uid; int(got) != want {
			t.Errorf("%s belongs to %d, not to %d", path, got, want)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
