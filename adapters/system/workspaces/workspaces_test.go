package workspaces_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"holdco/adapters/system/workspaces"
	"holdco/domain/fault"
	"holdco/domain/id"
)

var (
	first  = id.New[id.Company]([16]byte{15: 1})
	second = id.New[id.Company]([16]byte{15: 2})
)

func TestMakeMakesAPrivateDirectoryAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "not", "there", "yet")
	directories := workspaces.New(data)
	path := filepath.Join(data, "workspaces", string(first))
	for range 2 {
		if err := directories.Make(first); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "kept"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the directory is %v, %v", info.Mode(), err)
	}
}

func TestRemoveTakesTheWholeTreeAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	directories := workspaces.New(data)
	makeBoth(t, directories)
	locked := filepath.Join(data, "workspaces", string(first), "locked")
	writeFile(t, filepath.Join(locked, "inside", "file"))
	if err := os.Chmod(filepath.Join(locked, "inside"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := directories.Remove(first); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := directories.List(); err != nil || !slices.Equal(list, []id.Company{second}) {
		t.Errorf("left are %v, %v", list, err)
	}
}

func TestRemoveFollowsNoSymbolicLinks(t *testing.T) {
	t.Parallel()
	data, outside := t.TempDir(), t.TempDir()
	directories := workspaces.New(data)
	makeBoth(t, directories)
	treasure := filepath.Join(outside, "treasure")
	writeFile(t, treasure)
	if err := os.Symlink(outside, filepath.Join(data, "workspaces", string(first), "link")); err != nil {
		t.Fatal(err)
	}
	if err := directories.Remove(first); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(treasure); err != nil {
		t.Error(err)
	}
}

func TestAnIDThatIsNoneTouchesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	directories := workspaces.New(data)
	makeBoth(t, directories)
	for _, odd := range []id.Company{"", ".", "..", "../..", "/", "*", first + "/..", "cmp_", first + "\x00", "tm_" + first[4:]} {
		if err := directories.Remove(odd); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Remove(%q) = %v", odd, err)
		}
		if err := directories.Make(odd); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Make(%q) = %v", odd, err)
		}
	}
	if list, err := directories.List(); err != nil || !slices.Equal(list, []id.Company{first, second}) {
		t.Errorf("left are %v, %v", list, err)
	}
}

func TestListPassesOverWhatIsNoWorkspace(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	directories := workspaces.New(data)
	if list, err := directories.List(); err != nil || len(list) != 0 {
		t.Errorf("before anything is there: %v, %v", list, err)
	}
	makeBoth(t, directories)
	writeFile(t, filepath.Join(data, "workspaces", string(id.New[id.Company]([16]byte{15: 3}))))
	writeFile(t, filepath.Join(data, "workspaces", "lost+found", "file"))
	if list, err := directories.List(); err != nil || !slices.Equal(list, []id.Company{first, second}) {
		t.Errorf("List() = %v, %v", list, err)
	}
}

func TestADirectoryThatCannotBeUsedIsUnavailable(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	writeFile(t, filepath.Join(data, "workspaces"))
	directories := workspaces.New(data)
	_, listed := directories.List()
	for what, err := range map[string]error{
		"Make": directories.Make(first), "Remove": directories.Remove(first), "List": listed,
	} {
		if refused := fault.Of(err); refused == nil || refused.Code != fault.Unavailable || refused.Unwrap() == nil {
			t.Errorf("%s = %v", what, err)
		}
	}

	data = t.TempDir()
	writeFile(t, filepath.Join(data, "workspaces", string(first)))
	if err := workspaces.New(data).Make(first); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Make over a file = %v", err)
	}
}

func makeBoth(t *testing.T, directories *workspaces.Directories) {
	t.Helper()
	for _, company := range []id.Company{first, second} {
		if err := directories.Make(company); err != nil {
			t.Fatal(err)
		}
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADirectoryIsSetAsideWithAllThatIsInIt(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	directories := workspaces.New(data)
	for _, name := range []string{string(first), string(first) + ".1"} {
		work := filepath.Join(data, "workspaces", string(first), "work")
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := directories.SetAside(first); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(data, "workspaces", ".stray", name, "work")); err != nil {
			t.Error(err)
		}
		if found, err := directories.List(); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	}
	if err := directories.SetAside("../x"); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
	if err := directories.SetAside(second); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("one that is not there: %v", err)
	}
}
