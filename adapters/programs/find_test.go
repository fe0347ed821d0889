package programs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdco/adapters/programs"
)

// executable writes an executable into a new folder, and returns its path.
func executable(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

func TestAProgramIsFoundWhereItWouldBeStarted(t *testing.T) {
	t.Parallel()
	p := programs.New(programs.Options{DataDir: t.TempDir()})
	path := executable(t, "coder", "exit 0")
	variables := map[string]string{"PATH": "/nowhere:" + filepath.Dir(path)}
	for _, name := range []string{"coder", path} {
		if found, err := p.Find(name, variables); found != path || err != nil {
			t.Errorf("%s: %s, %v", name, found, err)
		}
	}
	if _, err := p.Find("coder", nil); err == nil || err.Error() != `There is no program "coder" in PATH.` {
		t.Errorf("%v", err)
	}
	must(t, os.Chmod(path, 0o600))
	if _, err := p.Find("coder", variables); err == nil || !strings.Contains(err.Error(), "is not executable") {
		t.Errorf("%v", err)
	}
}

func TestAProgramSaysItsVersion(t *testing.T) {
	t.Parallel()
	p := programs.New(programs.Options{DataDir: t.TempDir()})
	for text, want := range map[string]string{
		`[ "$1" = --version ] && echo "1.2 $COLOR"; echo more`: "1.2 red",
		"echo 2.0 >&2":                       "2.0",
		"head -c 300 /dev/zero | tr '\\0' x": strings.Repeat("x", 200),
		"exit 0":                             "coder --version printed nothing.",
		"echo broken; exit 3":                "coder --version failed with exit code 3: broken.",
		"exit 4":                             "coder --version failed: exit status 4.",
	} {
		version, err := p.Version(t.Context(), executable(t, "coder", text), map[string]string{"COLOR": "red"})
		if err != nil {
			version = err.Error()
		}
		if version != want {
			t.Errorf("%s: %q", text, version)
		}
	}
	if p.IsRoot() != (os.Geteuid() == 0) {
		t.Error("it does not know who it is")
	}
}
