//go:build shots

package wiring_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The pictures in the README: the demo's company, as it looks after 30 days. "make shots" takes them.
func TestShotsOfTheDemoInABrowser(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"migrate", "up"}, {"demo", "--history", "30d"}} {
		command := exec.Command("holdco", args...)
		command.Env = append(os.Environ(), dataDir+dir)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	now := &clock{}
	now.ms.Store(time.Now().UnixMilli())
	s := start(t, now, dataDir+dir, "HOLDCO_MAX_PROCESSES=0")
	tab := s.enter(t, string(rootToken), "/c/demo")
	for _, page := range []struct{ name, path, shows string }{
		{"overview", "/c/demo", "What happened last"},
		{"inbox", "/c/demo/inbox", "Cancel the issue"},
		{"issues", "/c/demo/issues?view=board", "In review"},
	} {
		tab.Go(page.path)
		tab.See(page.shows)
		time.Sleep(2 * time.Second) // what is asked for late
		tab.Shoot(filepath.Join("..", "testdata", "dashboard", page.name+".png"))
	}
}
