// Package browsertest gives tests a headless Chromium, the one that is installed.
package browsertest

import (
	"context"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"holdco/adapters/system/processtest"
)

// shellOfDebian is Chromium without what surrounds a page in a window. It takes a fifth less time of the processor for the same.
const shellOfDebian = "chromium-headless-shell"

// Open starts a browser and returns the context of its first tab. It is closed at the end of the test.
func Open(t testing.TB) context.Context {
	t.Helper()
	processtest.CheckName(t, "a browser")
	const limit = 15 * time.Minute // for all that the test does, on a slow and busy machine
	ctx, stop := context.WithTimeout(t.Context(), limit)
	t.Cleanup(stop)
	release := func() {}
	t.Cleanup(func() { release() })
	options := slices.Clone(chromedp.DefaultExecAllocatorOptions[:])
	if shell, err := exec.LookPath(shellOfDebian); err == nil {
		options = append(options, chromedp.ExecPath(shell))
	}
	ctx, stop = chromedp.NewExecAllocator(ctx, append(options,
		chromedp.NoSandbox, // root, as in a container, has none
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.ModifyCmdFunc(func(command *exec.Cmd) {
			guarded, err := processtest.Guard(command, syscall.SIGKILL)
			if err != nil {
				t.Error(err)
				return
			}
			release = guarded
		}),
	)...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser does not start: %v (Debian: apt-get install %s)", err, shellOfDebian)
	}
	return ctx
}
