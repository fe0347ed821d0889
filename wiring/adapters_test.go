package wiring_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// runs hires an agent that Holdco runs: with a program, or behind a URL.
func (s *instance) runs(t *testing.T, in team, config string) apiAgent {
	t.Helper()
	adapter := "process"
	if strings.Contains(config, `"url"`) {
		adapter = "http"
	}
	return s.hire(t, in, `,"adapter":"`+adapter+`","adapterConfig":`+config)
}

// shell is the configuration of an agent whose program is a shell script, with more members.
func shell(script, members string) string {
	command, _ := json.Marshal([]string{"sh", "-c", script})
	return fmt.Sprintf(`{"command":%s,"graceSeconds":1%s}`, command, members)
}

// crew makes a company with a team of so many slots.
func (s *instance) crew(t *testing.T, headcount int) (in company, of team) {
	t.Helper()
	in = s.create(t, draft(t, ""))
	return in, s.found(t, in, fmt.Sprintf(`{"name":"Sales","headcount":%d}`, headcount))
}

// reaches waits until an issue has a status.
func (s *instance) reaches(t *testing.T, at apiIssue, status string) (found apiIssue) {
	t.Helper()
	await(t, at.Title+" to become "+status, func() bool {
		found = s.look(t, at)
		return found.Status == status
	})
	return found
}

// newest returns the last run of an issue.
func (s *instance) newest(t *testing.T, of apiIssue) apiRun {
	t.Helper()
	answer := s.In(t).Get(of.path() + "/runs")
	answer.Is(t, 200, "")
	all := resttest.Data[[]apiRun](t, answer)
	if len(all) == 0 {
		t.Fatalf("%s has no run", of.Title)
	}
	return all[0]
}

// pid reads the number that a program wrote first.
func (s *instance) pid(t *testing.T, log string) (pid int) {
	t.Helper()
	await(t, "the pid", func() bool {
		answer := s.In(t).Get(log)
		line, _, isWhole := strings.Cut(string(answer.Body), "\n")
		pid, _ = strconv.Atoi(line)
		return answer.Status == 200 && isWhole
	})
	return pid
}

// ended returns the last run of an issue once it has ended.
func (s *instance) ended(t *testing.T, of apiIssue) (run apiRun) {
	t.Helper()
	await(t, "the end of the run", func() bool {
		run = s.newest(t, of)
		return run.Status != "running"
	})
	return run
}

func (s *instance) logOf(t *testing.T, of apiIssue, run apiRun) string {
	t.Helper()
	answer := s.In(t).Get(of.path() + "/runs/" + run.ID + "/log")
	answer.Is(t, 200, "")
	return string(answer.Body)
}

// isAlive reports whether a process runs. One that has ended, and nobody waits for, does not.
func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// named files an issue for an agent.
func (s *instance) named(t *testing.T, in company, of apiAgent, members string) apiIssue {
	t.Helper()
	return s.file(t, in, `,"assignedAgentId":"`+of.ID+`"`+members)
}

func TestAProgramEndsItsRunAsItEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 20)
		for name, c := range map[string]struct {
			script, members string
			status, want    string // of the issue; its result or its error
		}{
			"a result":                        {`echo noise; printf '{"n": 1e0}' > "$HOLDCO_RESULT_FILE"`, "", "review", `{"n":1e0}`},
			"a result that is no":             {`echo said; echo '{' > "$HOLDCO_RESULT_FILE"`, "", "failed", "result_unreadable"},
			"a result that is a link":         {`echo 1 > x; ln -s ../x "$HOLDCO_RESULT_FILE"`, "", "failed", "result_unreadable"},
			"a result with a byte order mark": {`printf '\357\273\277{"a":1}' > "$HOLDCO_RESULT_FILE"`, "", "review", `{"a":1}`},
			"output":                          {`printf 'one\ntwo\n'; echo noise >&2`, "", "review", `"one\ntwo"`},
			"its token":                       {`echo "$HOLDCO_AGENT_TOKEN"`, "", "review", `"[run token]"`},
			"nothing":                         {`exec 0<&-; exit 0`, "", "review", `null`},
			"an exit code": {
				`echo because; exit 3`, "", "failed", "exit_3 The program ended with exit code 3. It wrote:\nbecause",
			},
			"a signal": {`kill -9 $$`, "", "failed", "signal_9 The signal 9 ended the program."},
			"a reported error": {
				`echo '{"type":"result","subtype":"error_max_turns","is_error":true,"total_cost_usd":0.25,"usage":{}}'`,
				`,"usage":"claude-json"`, "failed", "reported_error",
			},
			"a workspace that it broke": {
				`rm -rf "$HOLDCO_WORKSPACE"; ln -s / "$HOLDCO_WORKSPACE"; exit 1`, `again`, "failed", "workspace",
			},
			"a result that is too large": {
				`head -c 262145 /dev/zero | tr '\0' 1 > "$HOLDCO_RESULT_FILE"; echo said`, "", "failed",
				"result_too_large The result file has more than 262144 bytes. What is larger belongs in other files of the workspace.",
			},
			"the gateway": {
				`ask POST "/gateway/v1/leases/$HOLDCO_LEASE_ID/complete" "{\"fencingToken\":$HOLDCO_FENCING_TOKEN,\"result\":7}"; exit 1`,
				"", "review", `7`,
			},
		} {
			attempts := 1
			if c.members == "again" {
				attempts, c.members = 2, ""
			}
			ada := s.runs(t, sales, shell(c.script, c.members))
			task := s.named(t, acme, ada, fmt.Sprintf(`,"maxAttempts":%d`, attempts))
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if attempts > 1 {
					await(t, "the second attempt", func() bool { return s.look(t, task).Attempt == attempts })
					s.clock.advance(11 * time.Second) // beyond the delay
				}
				ended := s.reaches(t, task, c.status)
				got := string(ended.Result)
				if c.status == "failed" {
					failure := failureOf(t, ended)
					got = failure.Code + " " + failure.Message
				}
				if !strings.Contains(c.want, " ") {
					got, _, _ = strings.Cut(got, " ")
				}
				if got != c.want {
					t.Errorf("%q; want %q", got, c.want)
				}
				s.ended(t, task)
			})
		}
	})
}

func TestAProgramHasWhatItNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		above := s.file(t, acme, `,"notBefore":"`+s.ahead(t, time.Hour)+`"`)
		ada := s.runs(t, sales, shell(`pwd; env | sort; cat; cat "$HOLDCO_MCP_FILE" "$HOLDCO_CONTEXT_FILE"`,
			`,"cwd":"a/b","env":{"COLOR":"two words"}`))
		task := s.named(t, acme, ada, `,"description":"With care.","parentId":"`+above.ID+`"`)
		s.reaches(t, task, "review")
		run := s.newest(t, task)
		log := s.logOf(t, task, run)
		workspace := filepath.Join(s.workspace(acme), "issues", task.ID)
		names := map[string]string{
			"COLOR": "two words", "HOLDCO_GATEWAY_URL": s.gatewayURL, "HOLDCO_MCP_URL": s.gatewayURL + "/gateway/mcp",
			"HOLDCO_AGENT_TOKEN": "[run token]", "HOLDCO_COMPANY_ID": acme.ID, "HOLDCO_AGENT_ID": ada.ID, "HOLDCO_ISSUE_ID": task.ID,
			"HOLDCO_ISSUE_NUMBER": strconv.Itoa(task.Number), "HOLDCO_RUN_ID": run.ID, "HOLDCO_FENCING_TOKEN": "1", "HOLDCO_ATTEMPT": "1",
			"HOLDCO_LEASE_ID": "", "HOLDCO_WORKSPACE": workspace, "HOLDCO_CONTEXT_FILE": workspace + "/.holdco/context.json",
			"HOLDCO_MCP_FILE": workspace + "/.holdco/mcp.json", "HOLDCO_RESULT_FILE": workspace + "/.holdco/result.json",
			"PATH": "", "HOME": "", "LANG": "", "TZ": "", "TMPDIR": "", "PWD": "", "OLDPWD": "", "SHLVL": "", "_": "",
		}
		lines := strings.Split(log, "\n")
		if got, err := filepath.EvalSymlinks(lines[0]); err != nil || got != resolved(t, filepath.Join(workspace, "a", "b")) {
			t.Errorf("it runs in %s, %v", lines[0], err)
		}
		for _, line := range lines[1:] {
			if line == "# Issue 2: Write" {
				break
			}
			name, value, _ := strings.Cut(line, "=")
			want, isKnown := names[name]
			if !isKnown || want != "" && resolved(t, value) != resolved(t, want) {
				t.Errorf("the environment has %s", line)
			}
			delete(names, name)
		}
		for _, name := range []string{"COLOR", "HOLDCO_LEASE_ID", "HOLDCO_AGENT_TOKEN", "PATH"} {
			if _, isMissing := names[name]; isMissing {
				t.Errorf("the environment has no %s:\n%s", name, log)
			}
		}
		for _, part := range []string{"# Issue 2: Write", "With care.", "- 1: Write (", `"mcpServers"`, `"description":"With care."`} {
			if !strings.Contains(log, part) {
				t.Errorf("the program does not get %s:\n%s", part, log)
			}
		}
	})
}

func failureOf(t *testing.T, of apiIssue) (failure struct{ Code, Message string }) {
	t.Helper()
	must(t, json.Unmarshal(of.Error, &failure))
	return failure
}

// resolved is a path without symbolic links. What is no path stays as it is.
func resolved(t *testing.T, path string) string {
	t.Helper()
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	return path
}

func TestTheLogOfARunIsReadInPartsAndFollowed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		ada := s.runs(t, sales, shell(`echo first; until test -e go; do sleep 0.05; done; echo second >&2; touch went`, ""))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "running")
		run := s.newest(t, task)
		path := task.path() + "/runs/" + run.ID + "/log"
		await(t, "the first line", func() bool { return string(s.In(t).Get(path).Body) == "first\n" })

		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path+"?follow=true", http.NoBody)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+string(rootToken))
		followed, err := http.DefaultClient.Do(request)
		must(t, err)
		defer followed.Body.Close()
		must(t, os.WriteFile(filepath.Join(s.workspace(acme), "issues", task.ID, "go"), nil, 0o600))
		all, err := io.ReadAll(followed.Body)
		if string(all) != "first\nsecond\n" || err != nil || followed.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("followed: %q, %v, %v", all, err, followed.Header)
		}
		s.reaches(t, task, "review")
		if log := s.logOf(t, task, run); log != "first\nsecond\n" {
			t.Errorf("%q", log)
		}
		part := s.In(t).Send(resttest.Request{Method: http.MethodGet, Path: path, Header: map[string]string{"Range": "bytes=6-8"}})
		if part.Status != 206 || string(part.Body) != "sec" {
			t.Errorf("%d %q", part.Status, part.Body)
		}
		s.In(t).Send(resttest.Request{Method: http.MethodGet, Path: path + "?follow=maybe", Wrong: true}).Is(t, 400, "invalid_parameter")
		s.In(t).Get(strings.Replace(path, run.ID, "run_01h455vb4pex5vsknk084sn02q", 1)).Is(t, 404, "not_found")
		bob := s.hire(t, sales, "")
		other := s.named(t, acme, bob, "")
		held := worker{s.agent(t, bob.Token), bob, s}.claim(t, "")
		s.In(t).Get(other.path()+"/runs/"+held.Run.ID+"/log").Is(t, 404, "not_found")
	})
}

func TestAProgramIsStoppedWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		ada := s.runs(t, sales, shell(`trap '' TERM; echo $$; sleep 600 & wait; sleep 600`, ""))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "running")
		run := s.newest(t, task)
		path := task.path() + "/runs/" + run.ID + "/log"
		pid := s.pid(t, path)
		s.In(t).Post(task.path()+"/cancel", `{"reason":"Enough"}`).Is(t, 200, "")
		await(t, "the end of the program", func() bool { return !isAlive(pid) })
		if got := s.look(t, task).Status; got != "cancelled" {
			t.Errorf("the issue is %s", got)
		}
	})
}

func TestAProgramThatTakesTooLongFails(t *testing.T) {
	t.Parallel()
	s := start(t, newClock(), dataDir+t.TempDir())
	acme, sales := s.crew(t, 1)
	ada := s.runs(t, sales, shell(`sleep 600`, `,"timeoutSeconds":10`))
	task := s.named(t, acme, ada, `,"maxAttempts":1`)
	if ended := s.reaches(t, task, "failed"); failureOf(t, ended).Code != "timeout" {
		t.Errorf("%s", ended.Error)
	}
}

func TestAnAdapterThatFailsGivesTheIssueBackAndIsTriedLater(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		ada := s.runs(t, sales, `{"command":["/there/is/no/such/program"]}`)
		task := s.named(t, acme, ada, "")
		failures := func(of apiAgent) int {
			return resttest.Data[apiAgent](t, s.In(t).Get(of.path())).Stats.AdapterFailures
		}
		await(t, "a failure", func() bool { return failures(ada) == 1 })
		run := s.ended(t, task)
		if run.Status != "cancelled" || run.Error.Code != "adapter_failed" || !strings.Contains(run.Error.Message, "/there/is/no") {
			t.Errorf("%+v %+v", run, run.Error)
		}
		if got := s.look(t, task); got.Status != "queued" || got.Attempt != 1 {
			t.Errorf("%+v", got)
		}
		// The clock stands still: it is not tried again before that goes on.
		s.clock.advance(6 * time.Second)
		await(t, "another failure", func() bool { return failures(ada) == 2 })
		s.In(t).Patch(ada.path(), `{"adapterConfig":{"command":["true"]}}`).Is(t, 200, "")
		s.clock.advance(6 * time.Minute)
		s.reaches(t, task, "review")
		await(t, "the end of failures", func() bool { return failures(ada) == 0 })
		await(t, "the end of the program", func() bool { return scrape(t, s.url)["holdco_programs_running"] == 0 })
		const starts = `holdco_adapter_starts_total{adapter="process",outcome=`
		if now := scrape(t, s.url); now[starts+`"failed"}`] != 2 || now[starts+`"succeeded"}`] != 1 {
			t.Errorf("%v failures and %v successes are counted", now[starts+`"failed"}`], now[starts+`"succeeded"}`])
		}
	})
}

func TestAnAgentRunsNoMoreProgramsThanItMay(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), append(environ, "HOLDCO_MAX_PROCESSES=3")...)
		acme, sales := s.crew(t, 3)
		wait := shell(`until test -e "$HOLDCO_WORKSPACE/../go"; do sleep 0.05; done`, `,"maxConcurrent":2`)
		ada, bob := s.runs(t, sales, wait), s.runs(t, sales, wait)
		var all []apiIssue
		for range 4 {
			all = append(all, s.named(t, acme, ada, ""), s.named(t, acme, bob, ""))
		}
		running := func() (of map[string]int) {
			of = map[string]int{}
			for _, task := range all {
				if now := s.look(t, task); now.Status == "running" {
					of[or(now.AssignedAgentID)]++
					of[""]++
				}
			}
			return of
		}
		await(t, "three programs", func() bool { return running()[""] == 3 })
		if now := running(); now[""] != 3 || now[ada.ID] > 2 || now[bob.ID] > 2 {
			t.Errorf("%v", now)
		}
		must(t, os.WriteFile(filepath.Join(s.workspace(acme), "issues", "go"), nil, 0o600))
		for _, task := range all {
			s.reaches(t, task, "review")
		}
	})
}

func TestProgramsAreStoppedWithTheServerAndTheirIssuesGivenBack(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		ada := s.runs(t, sales, shell(`test -e again && exit; touch again; echo $$; exec sleep 600`, ""))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "running")
		run := s.newest(t, task)
		path := task.path() + "/runs/" + run.ID + "/log"
		pid := s.pid(t, path)
		s = s.again(t)
		if isAlive(pid) {
			t.Error("the program runs on")
		}
		s.reaches(t, task, "review")
		if first := s.runOf(t, apiLease{Issue: task, Run: run}); first.Status != "cancelled" || first.Error.Code != "released" {
			t.Errorf("%+v %+v", first, first.Error)
		}
	})
}

func TestAServerThatStopsKillsProgramsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		clock := newClock()
		clock.longestStop = 100 * time.Millisecond
		s := start(t, clock, environ...)
		acme, sales := s.crew(t, 1)
		const stubborn = `test -e again && exit; touch again; trap '' TERM; echo $$; sleep 600; sleep 600`
		ada := s.runs(t, sales, strings.Replace(shell(stubborn, ""), `"graceSeconds":1`, `"graceSeconds":300`, 1))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "running")
		run := s.newest(t, task)
		pid := s.pid(t, task.path()+"/runs/"+run.ID+"/log")

		body, sends := io.Pipe() // of a request that takes its time
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/companies", body)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+string(rootToken))
		request.Header.Set("Content-Type", "application/json")
		status := make(chan int)
		go func() {
			defer close(status)
			if answer, err := http.DefaultClient.Do(request); err == nil {
				_ = answer.Body.Close()
				status <- answer.StatusCode
			}
		}()
		must(t, writes(sends, `{"name":`))
		await(t, "the request", func() bool { return scrape(t, s.url)["holdco_http_requests_in_flight"] > 1 })
		stopped := make(chan error)
		go func() { stopped <- s.stop() }()
		stops(t, pid)
		must(t, errors.Join(writes(sends, `"Later","slug":"later"}`), sends.Close()))
		if got := <-status; got != 201 {
			t.Errorf("the request that was under way is answered %d", got)
		}
		must(t, <-stopped)
		if log := s.log.String(); strings.Contains(log, "WARN") || strings.Contains(log, "ERROR") {
			t.Error(log)
		}
		holders := filepath.Join(strings.TrimPrefix(environ[0], dataDir), "holders")
		if left, err := os.ReadDir(holders); err != nil || len(left) != 1 || left[0].Name() != "lock" {
			t.Errorf("left are %v, %v", left, err)
		}
		s = start(t, clock, environ...)
		if done := s.reaches(t, task, "review"); done.Attempt != 1 {
			t.Errorf("%+v", done)
		}
		if first := s.runOf(t, apiLease{Issue: task, Run: run}); first.Status != "cancelled" || first.Error.Code != "released" {
			t.Errorf("%+v %+v", first, first.Error)
		}
	})
}

func writes(to io.Writer, text string) error {
	_, err := io.WriteString(to, text)
	return err
}

func TestWhatAProgramMakesAfterItsCompanyIsDeletedIsRemoved(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 1)
		const again = `trap 'while test -e "$HOLDCO_WORKSPACE"; do sleep 0.05; done; mkdir -p "$HOLDCO_WORKSPACE"; touch "$MADE"; exit' TERM
			echo $$; sleep 600 & wait`
		made := filepath.Join(t.TempDir(), "made")
		config := shell(again, `,"env":{"MADE":"`+made+`"}`)
		ada := s.runs(t, sales, strings.Replace(config, `"graceSeconds":1`, `"graceSeconds":300`, 1))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "running")
		s.pid(t, task.path()+"/runs/"+s.newest(t, task).ID+"/log")
		s.In(t).Delete(acme.path()).Is(t, 200, "")
		await(t, "the directory that the program makes again", func() bool { return exists(t, made) })
		await(t, "the end of the directory", func() bool { return !exists(t, s.workspace(acme)) })
	})
}

func TestTheProgramsOfAServerThatWasKilledAreEnded(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		process := startProcess(t, environ...)
		s := &instance{Client: resttest.New(t, process.url, string(rootToken)), url: process.url, environ: environ}
		acme, sales := s.crew(t, 1)
		// What the program started lives in a session of its own.
		const detached = `setsid sh -c 'trap "" TERM; echo $$; sleep 600; sleep 600' & wait`
		ada := s.runs(t, sales, shell(`test -e again && exit; touch again; `+detached, ""))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "running")
		run := s.newest(t, task)
		path := task.path() + "/runs/" + run.ID + "/log"
		pid := s.pid(t, path)
		process.kill()
		if !isAlive(pid) {
			t.Fatal("the program ended with the server")
		}
		process = startProcess(t, environ...)
		s = &instance{Client: resttest.New(t, process.url, string(rootToken)), url: process.url, environ: environ}
		s.reaches(t, task, "review") // the lease would last for five minutes more
		if isAlive(pid) {
			t.Error("the program runs on")
		}
		first := s.runOf(t, apiLease{Issue: task, Run: run})
		if first.Status != "cancelled" || first.Error.Code != "server_stopped" {
			t.Errorf("%+v %+v", first, first.Error)
		}
		if log := s.logOf(t, task, run); log != strconv.Itoa(pid)+"\n" {
			t.Errorf("%q", log)
		}
	})
}

func TestAnAgentBehindAURLCompletesTakesOnOrRefuses(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), append(environ, "HOLDCO_WEBHOOK_ALLOW_PRIVATE=true")...)
		acme, sales := s.crew(t, 2)
		there := listen(t)
		there.does(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"status":"completed","result":{"n":1},"costs":[{"key":"a","kind":"tools","usd":0.5}]}`)
		})
		ada := s.runs(t, sales, `{"url":"`+there.url+`/work"}`)
		task := s.named(t, acme, ada, "")
		if ended := s.reaches(t, task, "review"); string(ended.Result) != `{"n":1}` || ended.Budget.SpentUsd != "0.5" {
			t.Errorf("%+v", ended)
		}
		first := there.receipts()[0]
		key := sha256.Sum256([]byte(ada.Token))
		first.verify(t, "whsec_"+base64.StdEncoding.EncodeToString(key[:]))
		var offered struct {
			apiLease

			RunToken, GatewayURL string
		}
		must(t, json.Unmarshal(first.body, &offered))
		if first.id != offered.Run.ID || offered.Issue.ID != task.ID || offered.GatewayURL != s.gatewayURL {
			t.Errorf("%s", first.body)
		}

		there.answers(202)
		task = s.named(t, acme, ada, "")
		await(t, "the offer", func() bool { return len(there.receipts()) == 2 })
		must(t, json.Unmarshal(there.receipts()[1].body, &offered))
		itself := worker{s.agent(t, offered.RunToken), ada, s}
		itself.ends(t, offered.apiLease, "complete", `"result":2`)
		if ended := s.reaches(t, task, "review"); string(ended.Result) != "2" {
			t.Errorf("%+v", ended)
		}

		there.answers(500)
		task = s.named(t, acme, ada, "")
		await(t, "a failure", func() bool {
			return resttest.Data[apiAgent](t, s.In(t).Get(ada.path())).Stats.AdapterFailures == 1
		})
		if run := s.ended(t, task); run.Error.Code != "adapter_failed" || !strings.Contains(run.Error.Message, "500") {
			t.Errorf("%+v %+v", run, run.Error)
		}
		there.does(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"status":"done","costs":[{"key":"a","kind":"tools","usd":1}]}`)
		})
		s.clock.advance(6 * time.Second)
		await(t, "an answer that is refused", func() bool {
			return resttest.Data[apiAgent](t, s.In(t).Get(ada.path())).Stats.AdapterFailures == 2
		})
		if run := s.ended(t, task); !strings.Contains(run.Error.Message, "status") || run.CostReported {
			t.Errorf("%+v %+v", run, run.Error)
		}
		there.does(func(w http.ResponseWriter, _ *http.Request) { // a bad charge does not throw the work away
			_, _ = io.WriteString(w, `{"status":"completed","costs":[`+
				`{"key":"a","kind":"tools","usd":-1},{"key":"b","kind":"tools","usd":2}]}`)
		})
		s.clock.advance(11 * time.Second)
		await(t, "work that is done", func() bool { return s.ended(t, task).Status == "succeeded" })
		if run := s.ended(t, task); run.CostUsd != "2" || !strings.Contains(run.Error.Message, "costs.0.usd") {
			t.Errorf("%+v %+v", run, run.Error)
		}
	})
}

func TestWhatAReceiverCostAfterItsLeaseEndedIsTakenOnce(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), append(environ, "HOLDCO_WEBHOOK_ALLOW_PRIVATE=true")...)
		acme, sales := s.crew(t, 1)
		there, ended := listen(t), make(chan struct{})
		const costs = `"costs":[{"key":"a","kind":"tools","usd":0.5}]`
		there.does(func(w http.ResponseWriter, _ *http.Request) {
			<-ended
			_, _ = io.WriteString(w, `{"status":"completed",`+costs+`}`)
		})
		ada := s.runs(t, sales, `{"url":"`+there.url+`"}`)
		task := s.named(t, acme, ada, "")
		await(t, "the offer", func() bool { return len(there.receipts()) == 1 })
		s.In(t).Post(task.path()+"/cancel", `{"reason":"Enough"}`).Is(t, 200, "")
		close(ended)
		await(t, "the charge", func() bool { return s.look(t, task).Budget.SpentUsd != "0" })

		var offered struct {
			apiLease

			RunToken string
		}
		must(t, json.Unmarshal(there.receipts()[0].body, &offered))
		again := worker{s.agent(t, offered.RunToken), ada, s}.state(t, offered.apiLease, "costs", costs)
		if len(again.Entries) != 1 || !again.Entries[0].Duplicate || !again.Late {
			t.Errorf("told once more: %+v", again)
		}
		next := s.named(t, acme, ada, "") // which the agent gets when it is done with the first
		await(t, "the next offer", func() bool { return len(there.receipts()) == 2 })
		s.reaches(t, next, "review")
		if run := s.newest(t, task); run.Status != "cancelled" || run.CostUsd != "0.5" || !run.CostReported {
			t.Errorf("%+v", run)
		}
		if now := s.look(t, task); now.Status != "cancelled" || now.Budget.SpentUsd != "0.5" {
			t.Errorf("%+v", now)
		}
		if now := resttest.Data[apiAgent](t, s.In(t).Get(ada.path())).Stats; now.AdapterFailures != 0 {
			t.Errorf("%+v", now)
		}
	})
}

func TestAFailureThatTheAgentToldTheGatewayIsCountedOnce(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), append(environ, "HOLDCO_WEBHOOK_ALLOW_PRIVATE=true")...)
		acme, sales := s.crew(t, 2)
		const failure = `"error":{"code":"mine","message":"It is broken."},"retryAfter":0`
		script := `test -e again && exit; touch again
			ask POST "/gateway/v1/leases/$HOLDCO_LEASE_ID/fail" "{\"fencingToken\":$HOLDCO_FENCING_TOKEN,` +
			strings.ReplaceAll(failure, `"`, `\"`) + `}"; exit 1`
		there := listen(t)
		there.does(func(w http.ResponseWriter, _ *http.Request) {
			all := there.receipts()
			if len(all) > 1 {
				_, _ = io.WriteString(w, `{"status":"completed"}`)
				return
			}
			var offered struct {
				apiLease

				RunToken string
			}
			if err := json.Unmarshal(all[0].body, &offered); err != nil {
				t.Error(err)
			}
			s.agent(t, offered.RunToken).Post(offered.path()+"/fail", offered.body(failure))
			w.WriteHeader(http.StatusInternalServerError)
		})
		for what, config := range map[string]string{"program": shell(script, ""), "receiver": `{"url":"` + there.url + `"}`} {
			ada := s.runs(t, sales, config)
			task := s.named(t, acme, ada, "")
			done := s.reaches(t, task, "review")
			answer := s.In(t).Get(task.path() + "/runs")
			answer.Is(t, 200, "")
			all := resttest.Data[[]apiRun](t, answer)
			if done.Attempt != 2 || len(all) != 2 || all[1].Status != "failed" || all[1].Error.Code != "mine" {
				t.Errorf("the %s: attempt %d; %s", what, done.Attempt, answer.Body)
			}
			if now := resttest.Data[apiAgent](t, s.In(t).Get(ada.path())).Stats; now.AdapterFailures != 0 {
				t.Errorf("the %s: %+v", what, now)
			}
		}
	})
}

func TestTheTokenOfARunLetsInToItsLeaseAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada := all[0]
		s.file(t, acme, "")
		s.file(t, acme, "")
		answer := ada.In(t).Post(leases, `{"runToken":true}`)
		answer.Is(t, 200, "")
		held := resttest.Data[struct {
			apiLease

			RunToken string
		}](t, answer)
		other := ada.claim(t, `{"runToken":false}`)
		itself := worker{s.agent(t, held.RunToken), ada.apiAgent, s}
		itself.In(t).Post(leases, "").Is(t, 403, "insufficient_scope")
		itself.call(t, other, "renew", "").Is(t, 404, "not_found")
		itself.In(t).Get(other.path()).Is(t, 404, "not_found")
		if listed := resttest.Data[[]apiLease](t, itself.In(t).Get(leases)); len(listed) != 1 || listed[0].LeaseID != held.LeaseID {
			t.Errorf("%+v", listed)
		}
		reads := []string{
			"/gateway/v1/me", "/gateway/v1/agents", "/gateway/v1/issues/" + other.Issue.ID, leases, held.path() + "/context",
		}
		for _, path := range append(reads, held.path()) {
			itself.In(t).Get(path).Is(t, 200, "")
		}
		itself.state(t, held.apiLease, "checkpoint", `"note":"half"`)
		itself.ends(t, held.apiLease, "complete", "")
		replayed := itself.call(t, held.apiLease, "complete", "")
		if replayed.Is(t, 200, ""); replayed.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%v", replayed.Header)
		}
		stale(t, itself.call(t, held.apiLease, "renew", ""), "completed", "review")
		itself.state(t, held.apiLease, "costs", `"costs":[{"key":"k","kind":"tools","usd":1}]`)
		for _, path := range reads {
			itself.In(t).Get(path).Is(t, 401, "unauthorized")
		}
		s.clock.advance(25 * time.Hour)
		itself.call(t, held.apiLease, "costs", `"costs":[{"key":"l","kind":"tools","usd":1}]`).Is(t, 401, "unauthorized")
	})
}

func TestAClaimUnderItsKeyGetsANewTokenOfTheRun(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		s.file(t, acme, "")
		claim := func() (token string, lease apiLease) {
			answer := all[0].In(t).Send(resttest.Request{
				Method: http.MethodPost, Path: leases, Body: `{"runToken":true}`, Header: map[string]string{"Idempotency-Key": "one"},
			})
			answer.Is(t, 200, "")
			held := resttest.Data[struct {
				apiLease

				RunToken string
			}](t, answer)
			return held.RunToken, held.apiLease
		}
		old, lease := claim()
		token, same := claim()
		if old == token || same.LeaseID != lease.LeaseID {
			t.Errorf("%s, then %s", lease.LeaseID, same.LeaseID)
		}
		s.agent(t, old).In(t).Get("/gateway/v1/me").Is(t, 401, "unauthorized")
		s.agent(t, token).In(t).Get("/gateway/v1/me").Is(t, 200, "")
	})
}
