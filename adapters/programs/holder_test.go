package programs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/programs"
)

func TestAHolderHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	first, second := w.Holder(), open(t, w.data)
	if again := w.Holder(); again != first || second.Holder() == first {
		t.Errorf("the names are %q, %q and %q", first, again, second.Holder())
	}
	for _, p := range []*programs.Programs{w.Programs, second} {
		if names, err := p.Ended(); len(names) > 0 || err != nil {
			t.Errorf("two that live: %v, %v", names, err)
		}
	}
	if err := second.Forget(first); err == nil || err.Error() != "The process "+first+" has not ended." {
		t.Errorf("forgetting one that lives: %v", err)
	}
	for _, odd := range []string{"", "..", "lock", "../workspaces", strings.Repeat("/", 26)} {
		if err := w.Forget(odd); err == nil {
			t.Errorf("Forget(%q) succeeds", odd)
		}
	}
	must(t, w.Forget(strings.Repeat("a", 26)))
}

func TestAHolderThatIsNotForgottenIsFoundAfterItsEnd(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := programs.New(programs.Options{DataDir: data})
	name := p.Holder()
	must(t, p.Close())
	next := programs.New(programs.Options{DataDir: data})
	if names, err := next.Ended(); err != nil || !slices.Equal(names, []string{name}) {
		t.Errorf("ended have %v, %v", names, err)
	}
	must(t, next.Forget(name))
	if names, err := next.Ended(); err != nil || len(names) > 0 {
		t.Errorf("once it is forgotten, ended have %v, %v", names, err)
	}
}

func TestAHolderThatIsForgottenLeavesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := programs.New(programs.Options{DataDir: data})
	if names, err := p.Ended(); len(names) > 0 || err != nil {
		t.Errorf("at first: %v, %v", names, err)
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) > 0 {
		t.Errorf("before anything was done there are %v, %v", entries, err)
	}
	program := script("true")
	program.Run = runOf(t)
	running, err := p.Start(program)
	must(t, err)
	exit(t, running)
	must(t, p.Forget(p.Holder()))
	for range 2 {
		must(t, p.Close())
	}
	if entries, err := os.ReadDir(filepath.Join(data, "holders")); err != nil || len(entries) != 1 || entries[0].Name() != "lock" {
		t.Errorf("left are %v, %v", entries, err)
	}
	program.Run = runOf(t, "late")
	if _, err := p.Start(program); err == nil ||
		err.Error() != "The program cannot be noted in the data directory: this process is ending." {
		t.Errorf("after the end: %v", err)
	}
	must(t, programs.New(programs.Options{DataDir: t.TempDir()}).Close())
}

func TestWhatAKilledHolderLeavesIsKilled(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	name, pid, kill := w.another("sleep")
	if names, err := w.Ended(); len(names) > 0 || err != nil || !runs(pid) {
		t.Fatalf("while it lives: %v, %v", names, err)
	}
	kill()
	if !runs(pid) {
		t.Fatal("its program does not live on")
	}
	for range 2 { // until it is forgotten
		if names, err := w.Ended(); !slices.Equal(names, []string{name}) || err != nil {
			t.Fatalf("after its end: %v, %v", names, err)
		}
		if runs(pid) {
			t.Error("its program lives on")
		}
	}
	must(t, w.Forget(name))
	if names, err := w.Ended(); len(names) > 0 || err != nil {
		t.Errorf("after it is forgotten: %v, %v", names, err)
	}
	must(t, w.Forget(name))
}

func TestAProcessThatGotTheIDOfAProgramIsLeftAlone(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(text string) string{
		"another start": func(text string) string { return strings.Replace(text, `"Started":"`, `"Started":"1`, 1) },
		"another boot":  func(text string) string { return strings.Replace(text, `"Boot":"`, `"Boot":"x`, 1) },
		"no process":    func(string) string { return `{"Boot":"` },
		"nothing":       func(string) string { return "" },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newPrograms(t)
			name, _, kill := w.another("sleep")
			bystander := newPrograms(t) // a process group of its own, under another run
			program := own("sleep", nil)
			program.Run = runOf(t, "bystander "+what)
			running, pid := bystander.first(program)
			notes, err := filepath.Glob(filepath.Join(bystander.data, "holders", "*", string(program.Run)))
			if err != nil || len(notes) != 1 {
				t.Fatal(notes, err)
			}
			note, err := os.ReadFile(notes[0])
			must(t, err)
			kill()
			must(t, os.WriteFile(filepath.Join(w.data, "holders", name, string(w.id)), []byte(change(string(note))), 0o600))
			if names, err := w.Ended(); !slices.Equal(names, []string{name}) || err != nil {
				t.Errorf("Ended() = %v, %v", names, err)
			}
			if !runs(pid) {
				t.Error("the other process was killed")
			}
			must(t, os.WriteFile(filepath.Join(w.data, "holders", name, string(w.id)), note, 0o600))
			if _, err := w.Ended(); err != nil || runs(pid) { // the same, with what is true of it
				t.Errorf("the process that was noted lives on, %v", err)
			}
			exit(t, running)
		})
	}
}

func TestHoldersOnOtherHostsAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	name, pid, kill := w.another("sleep")
	kill()
	path := filepath.Join(w.data, "holders", name, "host")
	here, err := os.ReadFile(path)
	must(t, err)
	for text, ended := range map[string]bool{
		`{"Machine":"other","Boot":"other"}`: false,
		`{"Machine":"other","Boot":""}`:      false,
		`{"Mach`:                             true, // killed before it started anything
	} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if ended {
			must(t, os.Rename(filepath.Join(w.data, "holders", name, string(w.id)), filepath.Join(w.data, "note")))
		}
		if names, err := w.Ended(); (len(names) > 0) != ended || err != nil || !runs(pid) {
			t.Errorf("on %s: %v, %v", text, names, err)
		}
		if ended {
			must(t, os.Rename(filepath.Join(w.data, "note"), filepath.Join(w.data, "holders", name, string(w.id))))
		}
	}
	must(t, os.WriteFile(path, here, 0o600))
	if names, err := w.Ended(); !slices.Equal(names, []string{name}) || err != nil || runs(pid) {
		t.Errorf("here: %v, %v", names, err)
	}
}

func TestTwoHoldersLeaveEachOthersProgramsAlone(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	name, theirs, kill := w.another("sleep")
	program := own("sleep", nil)
	program.Run = runOf(t, "ours")
	running, ours := w.first(program)
	for range 3 {
		if names, err := w.Ended(); len(names) > 0 || err != nil {
			t.Errorf("Ended() = %v, %v", names, err)
		}
	}
	if !runs(ours) || !runs(theirs) {
		t.Error("a program was killed")
	}
	kill()
	if names, err := w.Ended(); !slices.Equal(names, []string{name}) || err != nil || runs(theirs) || !runs(ours) {
		t.Errorf("Ended() = %v, %v", names, err)
	}
	running.Stop()
	exit(t, running)
}
