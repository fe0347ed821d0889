package partial

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAFileGetsANameThatNoOtherHas(t *testing.T) {
	t.Parallel()
	for _, link := range []func(from, to string) error{
		os.Link, func(string, string) error { return syscall.EPERM }, // as on a file system without links
	} {
		folder := t.TempDir()
		from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		check(os.WriteFile(from, []byte("mine"), 0o600))
		check(os.WriteFile(to, []byte("another"), 0o600))
		if err := rename(from, to, link); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		check(os.Remove(to))
		check(rename(from, to, link))
		if content, err := os.ReadFile(to); err != nil || string(content) != "mine" {
			t.Errorf("%s, %v", content, err)
		}
		if _, err := os.Stat(from); !errors.Is(err, fs.ErrNotExist) {
			t.Error("it has its former name too")
		}
	}
}

// Who removes what a crash has left takes nothing that is being written, and nothing that only looks like it.
func TestCleanTakesWhatNobodyWritesAlone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	written, err := Create(path("b"))
	check(err)
	check(os.Mkdir(path("kept"), 0o700))
	check(os.WriteFile(path("kept/file"), nil, 0o600))
	check(os.Symlink(path("kept"), path(".b.partial-0000000000000000")))
	check(os.Mkdir(path(".b.partial-0000000000000001"), 0o700))
	check(os.WriteFile(path(".b.partial-0000000000000001/file"), nil, 0o600))
	check(os.Symlink(path("kept"), path(".b.partial-0000000000000001/link")))
	check(os.WriteFile(path(".b.partial-0000000000000002"), nil, 0o600))
	check(os.WriteFile(path(".b.partial-mine"), nil, 0o600))
	check(os.WriteFile(path("b.partial-0000000000000002"), nil, 0o600))
	check(Clean(folder))
	var left []string
	entries, err := os.ReadDir(folder)
	check(err)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	want := []string{".b.partial-0000000000000000", ".b.partial-mine", "b.partial-0000000000000002", "kept"}
	if len(left) != len(want)+1 { // and the one that is being written
		t.Errorf("%v are left", left)
	}
	for _, name := range append(want, "kept/file") {
		if _, err := os.Lstat(path(name)); err != nil {
			t.Error(err)
		}
	}
	check(written.Drop())
	check(written.Drop())
}
