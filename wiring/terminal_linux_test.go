package wiring_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminal is a command that runs on one.
type terminal struct {
	*exec.Cmd

	keyboard *os.File
	mutex    sync.Mutex
	shown    bytes.Buffer
	closed   chan struct{} // when nothing more will be shown
}

// onTerminal starts a command on a terminal of its own, on which it also writes.
func onTerminal(t *testing.T, environ []string, args ...string) *terminal {
	t.Helper()
	on := &terminal{Cmd: exec.Command("holdco", args...), closed: make(chan struct{})}
	on.Env = slices.Concat(os.Environ(), environ)
	var err error
	on.keyboard, err = pty.Start(on.Cmd)
	must(t, err)
	t.Cleanup(func() {
		_ = on.Process.Kill()
		_ = on.keyboard.Close()
	})
	go func() {
		defer close(on.closed)
		_, _ = io.Copy(on, on.keyboard)
	}()
	return on
}

func (on *terminal) Write(shown []byte) (int, error) {
	on.mutex.Lock()
	defer on.mutex.Unlock()
	return on.shown.Write(shown)
}

// screen is all that was shown.
func (on *terminal) screen() string {
	on.mutex.Lock()
	defer on.mutex.Unlock()
	return on.shown.String()
}

// types waits until the terminal does not show any more what is typed, and types.
func (on *terminal) types(t *testing.T, line string) {
	t.Helper()
	await(t, "a hidden prompt", func() bool {
		state, err := unix.IoctlGetTermios(int(on.keyboard.Fd()), unix.TCGETS)
		must(t, err)
		return state.Lflag&unix.ECHO == 0
	})
	_, err := io.WriteString(on.keyboard, line)
	must(t, err)
}

// ends waits for the end, and returns what was shown.
func (on *terminal) ends(t *testing.T, isSuccess bool) string {
	t.Helper()
	err := on.Wait()
	<-on.closed
	if (err == nil) != isSuccess {
		t.Errorf("%v: %s", err, on.screen())
	}
	return on.screen()
}

func TestASecretThatIsTypedIsNotShown(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for _, value := range []string{"hunter2 hunter2", "høntær2 \"$HOME\" `x`", strings.Repeat("hunter2", 500)} {
			on := onTerminal(t, s.environ, "secret", "set", acme.Slug, "anthropic")
			on.types(t, value+"\n")
			shown := on.ends(t, true)
			if !strings.Contains(shown, "The value of anthropic, which is not shown: ") || strings.Contains(shown, "nter2") ||
				strings.Contains(shown, "nt\xc3") {
				t.Errorf("the terminal shows %q", shown)
			}
			if got := s.reveals(t, acme); got != value {
				t.Errorf("%q was typed, and %q is kept", value, got)
			}
		}
		before := s.reveals(t, acme)
		for typed, want := range map[string]string{
			"\n":                             "the value must not be empty",
			"-----BEGIN\nxx\nxx\n-----END\n": "the value has more than one line",
			strings.Repeat("x", 5000) + "\n": "longer than a line of a terminal, 4094 bytes",
		} {
			on := onTerminal(t, s.environ, "secret", "set", acme.Slug, "anthropic")
			on.types(t, typed)
			if shown := on.ends(t, false); !strings.Contains(shown, want) || strings.Contains(shown, "xx") {
				t.Errorf("the terminal shows %q, want %q", shown, want)
			}
		}
		if got := s.reveals(t, acme); got != before {
			t.Errorf("%q is kept", got)
		}
	})
}
