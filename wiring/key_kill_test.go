package wiring_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// However a rotation of the key is killed, it goes on: when it is called again, when a server starts, or where one runs. Servers read
// and seal secrets all the while.
func TestARotationOfTheKeyThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		const secretCount, hookCount = 6, 60
		k := &keyKill{environ: environ, key: filepath.Join(strings.TrimPrefix(environ[0], dataDir), "key")}
		k.serve(t)
		acme, sales := k.crew(t, 1)
		var env, shown, values []string
		for n := range secretCount {
			name, value := fmt.Sprint("N", n), fmt.Sprintf("value-%d-%d", n, rand.Int64())
			set := k.holdco("secret", "set", acme.ID, name)
			set.Stdin = strings.NewReader(value)
			if said, err := set.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			env = append(env, fmt.Sprintf(`%q:{"secret":%q}`, name, name))
			shown, values = append(shown, "$"+name), append(values, value)
		}
		// What it prints is hidden from the result, so it says whether what it got is right.
		script := `test "` + strings.Join(shown, " ") + `" = "` + strings.Join(values, " ") + `" && printf '"all"' >"$HOLDCO_RESULT_FILE"`
		ada := k.runs(t, sales, shell(script, `,"env":{`+strings.Join(env, ",")+`}`))
		hooks := 0
		for ; hooks < hookCount; hooks++ {
			k.In(t).Post("/v1/webhooks", `{"url":"https://example.com","enabled":false}`).Is(t, 201, "")
		}

		interrupted, most := map[string]int{}, map[string]int{"called": 4, "started": 4, "left to a server": 1}
		for round, way := 0, "left to a server"; way != ""; round++ {
			task := k.named(t, acme, ada, "")
			if k.isKilled(t) {
				interrupted[way]++
			}
			// It is sealed with the key of the moment.
			k.In(t).Post("/v1/webhooks", `{"url":"https://example.com","enabled":false}`).Is(t, 201, "")
			hooks++
			switch way {
			case "called":
				k.rotate(t)
			case "started":
				k.server.kill()
				k.serve(t)
			}
			await(t, "the end of the rotation when it is "+way, func() bool { return !k.isRotating(t) })
			if ended := k.reaches(t, task, "review"); string(ended.Result) != `"all"` {
				t.Errorf("round %d: the secrets are %s", round, ended.Result)
			}
			for _, run := range resttest.Data[[]apiRun](t, k.In(t).Get(task.path()+"/runs")) {
				if run.Error != nil && run.Error.Code == "adapter_failed" {
					t.Errorf("round %d: %+v", round, run.Error)
				}
			}
			way = ""
			for one, times := range most {
				if interrupted[one] < times {
					way = one
				}
			}
		}
		// Each is opened before it is sealed anew.
		if said, want := k.rotate(t), fmt.Sprintf("rotated: %d encrypted texts", hooks+secretCount); !strings.Contains(said, want) {
			t.Errorf("%s, want %s", said, want)
		}
		if left, err := filepath.Glob(k.key + "?*"); err != nil || len(left) != 1 || left[0] != k.key+".lock" {
			t.Errorf("left are %v, %v", left, err)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(k.key), ".key*")); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
		t.Logf("interrupted: %v", interrupted)
	})
}

// keyKill is a server beside which the key is rotated by processes that are killed.
type keyKill struct {
	*instance

	server  *process
	environ []string
	key     string // the path of its file
}

func (k *keyKill) serve(t *testing.T) {
	t.Helper()
	k.server = startProcess(t, slices.Concat(k.environ, []string{"HOLDCO_SQLITE_SYNC=normal"})...)
	k.instance = &instance{Client: resttest.New(t, k.server.url, string(rootToken)), environ: k.environ}
}

// holdco is a command that has not been started.
func (k *keyKill) holdco(args ...string) *exec.Cmd {
	command := exec.Command("holdco", args...)
	command.Env = slices.Concat(os.Environ(), k.environ, []string{"HOLDCO_SQLITE_SYNC=normal"})
	return command
}

// rotate rotates the key, or goes on with that, unless a server is at it.
func (k *keyKill) rotate(t *testing.T) (said string) {
	t.Helper()
	await(t, "a rotation", func() bool {
		out, err := k.holdco("key", "rotate").CombinedOutput()
		if said = string(out); err != nil && !strings.Contains(said, "another process is rotating the key") {
			t.Fatalf("%v: %s", err, said)
		}
		return err == nil
	})
	return said
}

// isKilled rotates the key in a process that is killed when it has begun, soon after. It reports whether that was before it ended.
func (k *keyKill) isKilled(t *testing.T) bool {
	t.Helper()
	command := k.holdco("key", "rotate")
	must(t, command.Start())
	var failed error
	ended := make(chan struct{})
	go func() {
		failed = command.Wait()
		close(ended)
	}()
	for hasBegun := false; !hasBegun; {
		select {
		case <-ended:
			must(t, failed)
			return false
		case <-time.After(200 * time.Microsecond):
			hasBegun = k.isRotating(t)
		}
	}
	time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
	_ = command.Process.Kill()
	<-ended
	return k.isRotating(t)
}

// isRotating reports whether the files say that a rotation has begun and not ended.
func (k *keyKill) isRotating(t *testing.T) bool {
	t.Helper()
	return exists(t, k.key+".new") || exists(t, k.key+".old")
}
