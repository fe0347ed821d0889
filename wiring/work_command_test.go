package wiring_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// working is the command "work" as a process of its own.
type working struct {
	*exec.Cmd

	said   record
	ended  chan struct{}
	folder string // of its workspaces
}

// works starts the command for an agent, with flags that are separated by spaces. Its program is a shell script.
func (s *instance) works(t *testing.T, at, token, folder, flags, script string) *working {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	args := slices.Concat([]string{"work", "--agent-token-file", file, "--workspaces", folder, "--gateway-url", at, "--grace", "1"},
		strings.Fields(flags), []string{"--", "sh", "-c", script})
	w := &working{Cmd: exec.Command("holdco", args...), ended: make(chan struct{}), folder: folder}
	w.Stdout, w.Stderr = &w.said, &w.said
	must(t, w.Start())
	t.Cleanup(w.kill)
	go func() {
		_ = w.Wait()
		close(w.ended)
	}()
	return w
}

// exits waits for the end of the command and checks its exit code and what it printed.
func (w *working) exits(t *testing.T, code int, said ...string) {
	t.Helper()
	select {
	case <-w.ended:
	case <-time.After(time.Minute):
		t.Fatalf("it goes on: %s", &w.said)
	}
	if got := w.ProcessState.ExitCode(); got != code {
		t.Errorf("it ended with %d: %s", got, &w.said)
	}
	for _, line := range said {
		if !strings.Contains(w.said.String(), line) {
			t.Errorf("it does not say %q: %s", line, &w.said)
		}
	}
	if secrets := secret.FindAllString(w.said.String(), -1); secrets != nil {
		t.Errorf("it printed secrets: %v", secrets)
	}
}

func (w *working) kill() {
	_ = w.Process.Kill()
	<-w.ended
}

// pid reads the number that the program of the last run of an issue wrote first.
func (w *working) pid(t *testing.T, s *instance, of apiIssue) (pid int) {
	t.Helper()
	s.reaches(t, of, "running")
	run := s.newest(t, of)
	await(t, "the pid", func() bool {
		written, _ := os.ReadFile(filepath.Join(w.folder, "workspaces", run.CompanyID, "logs", run.ID+".log"))
		line, _, isWhole := strings.Cut(string(written), "\n")
		pid, _ = strconv.Atoi(line)
		return isWhole
	})
	return pid
}

// stops waits until a process has ended.
func stops(t *testing.T, pid int) {
	t.Helper()
	await(t, "the end of the program", func() bool { return !isAlive(pid) })
}

func TestWorkOnAnotherMachineEndsAsTheProgramEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		ada := s.hire(t, sales, "")
		once := func(token, flags, script string) *working {
			return s.works(t, s.gatewayURL, token, filepath.Join(t.TempDir(), "work"), "--once "+flags, script)
		}
		once(ada.Token, "", "exit 1").exits(t, 0, "Ada ("+ada.ID+") of Acme works.\n", "There is nothing to do.\n")

		task := s.named(t, acme, ada, `,"description":"With care."`)
		once(ada.Token, "--usage holdco-json --env COLOR=two", `grep -q 'With care.' && test "$COLOR" = two && pwd > here
			echo '{"holdco":{"cost":{"key":"a","kind":"tools","usd":0.5}}}'; printf '{"n": 1}' > "$HOLDCO_RESULT_FILE"
			ask GET /gateway/v1/me`,
		).exits(t, 0, "#1 Write, attempt 1\n", "#1 Write: completed\n")
		if done := s.look(t, task); done.Status != "review" || string(done.Result) != `{"n":1}` || done.Budget.SpentUsd != "0.5" {
			t.Errorf("%+v", done)
		}

		task = s.named(t, acme, ada, `,"maxAttempts":1`)
		once(ada.Token, "", `echo because; exit 3`).exits(t, 0, "#2 Write: failed: The program ended with exit code 3.")
		if failure := failureOf(t, s.look(t, task)); failure.Code != "exit_3" || !strings.HasSuffix(failure.Message, "\nbecause") {
			t.Errorf("%+v", failure)
		}

		task = s.named(t, acme, ada, "")
		once(ada.Token, "--cwd a/b --env PATH=/nowhere", "").exits(t, 1, `#3 Write: released: `, "holdco: ")
		if given := s.look(t, task); given.Status != "queued" || given.Attempt != 1 {
			t.Errorf("%+v", given)
		}
		once("hca_0000000000000000000000000000000000000000000000000", "", "").exits(t, 2, "must hold the token of an agent")
		once(ada.Token, "--timeout 5 --stdin letter", "").exits(t, 2, "--timeout must be from 10 to 86400", "--stdin must be one of")
		once(ada.Token, "--lease-time 5", "").exits(t, 2, "--lease-time must be from 30 to 3600 (validation_failed)")
		s.In(t).Post(ada.path()+"/retire", "").Is(t, 200, "")
		once(ada.Token, "", "").exits(t, 1, "unauthorized", "must hold the token of an agent of "+s.gatewayURL)
	})
}

func TestWorkOnAnotherMachineFinishesWhatRunsWhenTheTokenOfTheAgentEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		ada := s.hire(t, sales, "")
		mark := filepath.Join(t.TempDir(), "go")
		work := s.works(t, s.gatewayURL, ada.Token, t.TempDir(), "", `echo $$; until test -e `+mark+`; do sleep 0.05; done`)
		task := s.named(t, acme, ada, "")
		work.pid(t, s, task)
		s.In(t).Post(ada.path()+"/rotate-token", "").Is(t, 200, "")
		must(t, os.WriteFile(mark, nil, 0o600))
		work.exits(t, 1, "#1 Write: completed\n", "unauthorized")
		if done := s.look(t, task); done.Status != "review" || done.Attempt != 1 {
			t.Errorf("%+v", done)
		}
	})
}

func TestWorkOnAnotherMachineIsStopped(t *testing.T) {
	t.Parallel()
	const detached = `setsid sh -c 'trap "" TERM; echo $$; sleep 600; sleep 600' & wait`
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		ada := s.hire(t, sales, "")
		folder := t.TempDir()
		work := s.works(t, s.gatewayURL, ada.Token, folder, "", detached)

		task := s.named(t, acme, ada, "")
		pid := work.pid(t, s, task)
		s.In(t).Post(task.path()+"/cancel", `{"reason":"Enough"}`).Is(t, 200, "")
		stops(t, pid)

		task = s.named(t, acme, ada, "")
		pid = work.pid(t, s, task)
		must(t, work.Process.Signal(syscall.SIGTERM))
		work.exits(t, 0, "#1 Write: its lease had ended: cancelled\n", "#2 Write: released\n")
		if given := s.look(t, task); given.Status != "queued" || given.Attempt != 1 || isAlive(pid) {
			t.Errorf("%+v; it is alive: %t", given, isAlive(pid))
		}

		work = s.works(t, s.gatewayURL, ada.Token, folder, "", detached)
		pid = work.pid(t, s, task)
		work.kill()
		if !isAlive(pid) {
			t.Fatal("the program ended with the command")
		}
		s.works(t, s.gatewayURL, ada.Token, folder, "--once", "").exits(t, 0, "An earlier process was killed", "There is nothing to do.")
		if isAlive(pid) {
			t.Error("the program runs on")
		}
	})
}

// It is stopped while the answer to its claim is on its way.
func TestWorkOnAnotherMachineThatIsStoppedGivesBackWhatItClaimedLast(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		ada := s.hire(t, sales, "")
		server, err := url.Parse(s.gatewayURL)
		must(t, err)
		granted := make(chan struct{})
		var claims atomic.Int64
		proxy := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) },
			ModifyResponse: func(answer *http.Response) error {
				if answer.Request.URL.Path == leases && answer.StatusCode == http.StatusOK && claims.Add(1) == 1 {
					close(granted)
					<-answer.Request.Context().Done()
				}
				return nil
			},
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		})
		t.Cleanup(proxy.Close)
		task := s.named(t, acme, ada, "")
		work := s.works(t, proxy.URL, ada.Token, t.TempDir(), "", "exit 1")
		<-granted
		must(t, work.Process.Signal(syscall.SIGTERM))
		work.exits(t, 0, "#1 Write: released\n")
		if now := s.look(t, task); now.Status != "queued" || now.Attempt != 1 || claims.Load() != 2 {
			t.Errorf("after %d claims: %+v", claims.Load(), now)
		}
		if run := s.newest(t, task); run.Status != "cancelled" || run.Error.Code != "released" || run.FencingToken != 1 {
			t.Errorf("%+v", run)
		}
	})
}

// The first answers of each kind are lost, and the server is restarted while the program runs.
func TestWorkOnAnotherMachineOutlivesTheServer(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		ada := s.hire(t, sales, "")
		var server atomic.Pointer[url.URL]
		serve := func() {
			at, err := url.Parse(s.gatewayURL)
			must(t, err)
			server.Store(at)
		}
		serve()
		var greetings, claims, endings atomic.Int64
		proxy := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server.Load()) },
			ModifyResponse: func(answer *http.Response) error {
				var answers *atomic.Int64
				switch path := answer.Request.URL.Path; {
				case strings.HasSuffix(path, "/me"):
					answers = &greetings
				case path == leases:
					answers = &claims
				case strings.HasSuffix(path, "/complete"):
					answers = &endings
				}
				if answers != nil && answer.StatusCode == http.StatusOK && answers.Add(1) == 1 {
					return errors.New("the line is cut")
				}
				return nil
			},
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		})
		t.Cleanup(proxy.Close)

		task := s.named(t, acme, ada, "")
		work := s.works(t, proxy.URL, ada.Token, t.TempDir(), "", `echo $$; until test -e ../go; do sleep 0.05; done; printf done`)
		work.pid(t, s, task)
		s = s.again(t)
		serve()
		must(t, os.WriteFile(filepath.Join(work.folder, "workspaces", acme.ID, "issues", "go"), nil, 0o600))
		done := s.reaches(t, task, "review")
		next := s.named(t, acme, ada, "")
		s.reaches(t, next, "review")
		await(t, "both ends", func() bool { return strings.Contains(work.said.String(), "#2 Write: completed") })
		must(t, work.Process.Signal(syscall.SIGTERM))
		work.exits(t, 0, "trying again\n", "The gateway answers again.\n", "#1 Write, attempt 1\n", "#1 Write: completed\n")
		if !strings.HasSuffix(string(done.Result), `done"`) || done.Attempt != 1 {
			t.Errorf("%+v", done)
		}
		if claims.Load() != 3 || endings.Load() != 3 { // with those that were lost
			t.Errorf("%d claims and %d endings were answered", claims.Load(), endings.Load())
		}
	})
}
