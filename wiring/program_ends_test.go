package wiring_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// What Claude Code prints, as much of it as counts: a call of the model while it works, and its end.
const (
	claudeCall = `{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5",` +
		`"content":[{"type":"text","text":"Working."}],"usage":{"input_tokens":100000,"output_tokens":10000,` +
		`"cache_read_input_tokens":0,"cache_creation_input_tokens":0}},"parent_tool_use_id":null,"session_id":"s1"}`
	claudeEnd = `{"type":"result","subtype":"success","is_error":false,"result":"All done.","session_id":"s1","total_cost_usd":%s,` +
		`"usage":{"input_tokens":100000,"output_tokens":10000,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}}`
	callUsd = "0.45" // by the price of the model: 3 and 15 dollars per million tokens
)

func claudeSays(n int) string { return "echo '" + fmt.Sprintf(claudeCall, n) + "'\n" }

func claudeEnds(usd string) string { return "echo '" + fmt.Sprintf(claudeEnd, usd) + "'\n" }

// eachRunner runs a test with an agent that the server runs, and with one that the command "work" runs. The script is that of the
// program, and members are more of its configuration.
func eachRunner(
	t *testing.T, script, members, flags string, test func(t *testing.T, s *instance, acme company, ada apiAgent),
) {
	t.Helper()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales := s.crew(t, 2)
		t.Run("process", func(t *testing.T) {
			t.Parallel()
			test(t, s, acme, s.runs(t, sales, shell(script, members)))
		})
		t.Run("work", func(t *testing.T) {
			t.Parallel()
			ada := s.hire(t, sales, "")
			s.works(t, s.gatewayURL, ada.Token, filepath.Join(t.TempDir(), "work"), flags, script)
			test(t, s, acme, ada)
		})
	})
}

const completeIt = `ask POST "/gateway/v1/leases/$HOLDCO_LEASE_ID/complete" "{\"fencingToken\":$HOLDCO_FENCING_TOKEN,\"result\":7}"
	`

func TestAProgramThatEndsItsLeaseItselfSaysWhatItCostAfterwards(t *testing.T) {
	t.Parallel()
	// It is not stopped by SIGTERM alone: whoever kills it loses its last words.
	script := "trap '' TERM\n" + completeIt + "sleep 2\n" + claudeEnds("0.75")
	eachRunner(t, script, `,"usage":"claude-json"`, "--usage claude-json", func(t *testing.T, s *instance, acme company, ada apiAgent) {
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "review")
		await(t, "the charge", func() bool { return s.newest(t, task).CostReported })
		if run := s.newest(t, task); run.CostUsd != "0.75" || run.Status != "succeeded" {
			t.Errorf("%+v", run)
		}
		if now := s.look(t, task); string(now.Result) != "7" || now.Budget.SpentUsd != "0.75" {
			t.Errorf("%+v", now)
		}
	})
}

func TestAProgramThatStaysAfterItsLeaseEndedIsStopped(t *testing.T) {
	t.Parallel()
	script := "echo $$ > pid; cp pid ../../../pid.$HOLDCO_ISSUE_ID\n" + completeIt + "exec sleep 600"
	eachRunner(t, script, `,"graceAfterEnd":0`, "--grace-after-end 0", func(t *testing.T, s *instance, acme company, ada apiAgent) {
		first, second := s.named(t, acme, ada, ""), s.named(t, acme, ada, "")
		s.reaches(t, first, "review")
		s.reaches(t, second, "review") // which begins when the first program has ended
	})
}

func TestAProgramThatHasSaidItIsDoneHasSucceeded(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]string{
		"it stays": "trap '' TERM; sleep 600; sleep 600", "it says a signal ended it": "exit 143", "a signal ends it": "kill -9 $$",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := claudeSays(1) + claudeEnds("0.5") + after
			members, flags := `,"usage":"claude-json","graceAfterEnd":1`, "--usage claude-json --grace-after-end 1"
			eachRunner(t, script, members, flags, func(t *testing.T, s *instance, acme company, ada apiAgent) {
				task := s.named(t, acme, ada, "")
				if ended := s.reaches(t, task, "review"); string(ended.Result) != `"All done."` || ended.Budget.SpentUsd != "0.5" {
					t.Errorf("%+v", ended)
				}
				if run := s.newest(t, task); run.Status != "succeeded" || run.CostUsd != "0.5" {
					t.Errorf("%+v", run)
				}
			})
		})
	}
}

// A program that is stopped, killed or whose issue is cancelled never says what it cost in all. What it has shown is charged.
func TestAProgramThatIsKilledIsChargedForWhatItHasShown(t *testing.T) {
	t.Parallel()
	script := claudeSays(1) + claudeSays(2) + "touch ../../../shown.$HOLDCO_ISSUE_ID; "
	for name, c := range map[string]struct {
		rest, members, status string
		act                   func(t *testing.T, s *instance, task apiIssue)
	}{
		"it is killed": {"kill -9 $$", "", "failed", nil},
		"it fails":     {"exit 1", "", "failed", nil},
		"it times out": {"exec sleep 600", `,"timeoutSeconds":10`, "failed", nil},
		"the cancelled": {"exec sleep 600", "", "cancelled", func(t *testing.T, s *instance, task apiIssue) {
			t.Helper()
			s.reaches(t, task, "running")
			run := s.newest(t, task)
			await(t, "what it shows", func() bool {
				return strings.Contains(string(s.In(t).Get(task.path()+"/runs/"+run.ID+"/log").Body), "msg_2")
			})
			s.In(t).Post(task.path()+"/cancel", `{"reason":"Enough"}`).Is(t, 200, "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, sales := s.crew(t, 1)
				ada := s.runs(t, sales, shell(script+c.rest, `,"usage":"claude-json"`+c.members))
				task := s.named(t, acme, ada, `,"maxAttempts":1`)
				if c.act != nil {
					c.act(t, s, task)
				}
				s.reaches(t, task, c.status)
				await(t, "the charge", func() bool { return s.newest(t, task).CostReported })
				if run := s.newest(t, task); run.CostUsd != "0.9" || run.Tokens.Output != 20000 {
					t.Errorf("%+v", run)
				}
			})
		})
	}
}

// A budget stops a program while it runs: what it has shown is charged whenever its lease is renewed.
func TestABudgetStopsAProgramThatRuns(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), append(environ, "HOLDCO_LEASE_TIME=5s")...)
		acme := s.create(t, draft(t, `"budget":{"usd":0.5,"reservePercent":20}`))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		script := claudeSays(1) + claudeSays(2) + "trap '' TERM; sleep 600; sleep 600"
		ada := s.runs(t, sales, shell(script, `,"usage":"claude-json"`))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "handoff")
		if run := s.newest(t, task); run.Status != "cancelled" || run.Error.Code != "budget" || run.CostUsd != "0.9" {
			t.Errorf("%+v %+v", run, run.Error)
		}
		await(t, "the end of the program", func() bool { return scrape(t, s.url)["holdco_programs_running"] == 0 })
	})
}

// A server that is killed can charge nothing. The next one reads in the log what its programs have shown.
func TestTheProgramsOfAServerThatWasKilledAreCharged(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		process := startProcess(t, environ...)
		s := &instance{Client: resttest.New(t, process.url, string(rootToken)), url: process.url, environ: environ}
		acme, sales := s.crew(t, 1)
		script := "test -e again && exit; touch again; echo $$\n" + claudeSays(1) + claudeSays(2) + "exec sleep 600"
		ada := s.runs(t, sales, shell(script, `,"usage":"claude-json"`))
		task := s.named(t, acme, ada, "")
		s.reaches(t, task, "running")
		run := s.newest(t, task)
		await(t, "what it shows", func() bool {
			return strings.Contains(string(s.In(t).Get(task.path()+"/runs/"+run.ID+"/log").Body), "msg_2")
		})
		process.kill()
		process = startProcess(t, environ...)
		s = &instance{Client: resttest.New(t, process.url, string(rootToken)), url: process.url, environ: environ}
		s.reaches(t, task, "review")
		if first := s.runOf(t, apiLease{Issue: task, Run: run}); first.CostUsd != "0.9" || first.Error.Code != "server_stopped" {
			t.Errorf("%+v", first)
		}
	})
}
