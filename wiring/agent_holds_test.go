package wiring_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// apiHold is what a test looks at of the hold of an agent.
type apiHold struct {
	Hold *struct {
		Reason string
		Error  struct{ Code, Message string }
		Runs   int
		Trial  bool
	}
}

// hold reads the hold of the agent.
func (w worker) hold(t *testing.T) apiHold {
	t.Helper()
	return resttest.Data[apiHold](t, w.s.In(t).Get(w.path()))
}

func TestWhatIsWrongWithAnAgentUsesUpNoAttempts(t *testing.T) {
	t.Parallel()
	for code, trial := range map[string]bool{"authentication_failed": true, "rate_limited": false} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) { usesUpNoAttempts(t, s, code, trial) })
		})
	}
}

func usesUpNoAttempts(t *testing.T, s *instance, code string, trial bool) {
	t.Helper()
	acme, _, all := s.workers(t, 1)
	ada := all[0]
	var filed []apiIssue
	for range 20 {
		filed = append(filed, s.file(t, acme, ""))
	}
	lease := ada.claim(t, "")
	ada.ends(t, lease, "release", `"error":{"code":"`+code+`","message":"The key has expired."},"retryAfter":7200`)
	ada.idles(t)
	held := ada.hold(t).Hold
	if held == nil || held.Reason != code || held.Error.Message != "The key has expired." || held.Runs != 1 || held.Trial != trial {
		t.Fatalf("%s: %+v", code, held)
	}
	for _, one := range filed {
		if now := s.look(t, one); now.Status == "failed" || now.Attempt != 1 {
			t.Errorf("%s, attempt %d", now.Status, now.Attempt)
		}
	}

	waiting := ada.waiting(t)
	s.Post(ada.path()+"/release-hold", "").Is(t, 200, "")
	(<-waiting).Is(t, 200, "")
	if held := ada.hold(t).Hold; held != nil {
		t.Errorf("%+v", held)
	}
	for range len(filed) - 1 {
		ada.claim(t, "")
	}
	ada.idles(t)
	s.Post(ada.path()+"/release-hold", "").Is(t, 409, "invalid_transition")
}

func TestAnAgentWhoseRunsFailQuicklyIsHeld(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		for range 20 {
			s.file(t, acme, `,"maxAttempts":1`)
		}
		for n := range 5 {
			ada.ends(t, ada.claim(t, ""), "fail", fmt.Sprintf(`"error":{"code":"exit_1","message":"No. %d"}`, n+1))
		}
		ada.idles(t)
		held := ada.hold(t).Hold
		if held == nil || held.Reason != "repeated_failures" || held.Error.Message != "No. 5" || held.Runs != 5 || !held.Trial {
			t.Fatalf("%+v", held)
		}
		s.Post(ada.path()+"/release-hold", "").Is(t, 200, "")
		ada.ends(t, ada.claim(t, ""), "complete", "")
		ada.claim(t, "")
	})
}

func TestReleaseNeedsAWholeError(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		s.file(t, acme, "")
		ada := all[0]
		lease := ada.claim(t, "")
		ada.call(t, lease, "release", `"retryAfter":5`).Is(t, 422, "validation_failed")
		ada.ends(t, lease, "release", `"error":{"code":"other","message":"It has no effect."}`)
		ada.claim(t, "")
	})
}

// One expired key, or one spent window, and 20 issues that wait: the program says what is wrong, and no issue loses an attempt by it.
func TestAProgramThatCannotWorkLosesNoIssue(t *testing.T) {
	t.Parallel()
	const ends = `{"type":"result","subtype":"success","is_error":%t,"api_error_status":%s,"result":%q,"total_cost_usd":0,"usage":{}}`
	for reason, c := range map[string]struct {
		says string
		ends func(t *testing.T, s *instance, ada apiAgent)
	}{
		"authentication_failed": {
			`echo '` + fmt.Sprintf(ends, true, "401", "Invalid API key") + `'`,
			func(t *testing.T, s *instance, ada apiAgent) { s.Post(ada.path()+"/release-hold", "").Is(t, 200, "") },
		},
		"rate_limited": {
			`echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":RESETS,"rateLimitType":"five_hour"}}'
			echo '` + fmt.Sprintf(ends, true, "429", "The session limit is reached.") + `'`,
			func(_ *testing.T, s *instance, _ apiAgent) { s.clock.advance(3 * time.Hour) },
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) {
				acme, sales := s.crew(t, 1)
				resets := fmt.Sprint(s.clock.Now().Add(2 * time.Hour).Unix())
				script := `if ! test -e "$HOLDCO_WORKSPACE/../open"; then ` +
					strings.ReplaceAll(c.says, "RESETS", resets) + "; exit 1; fi\n" +
					`echo '` + fmt.Sprintf(ends, false, "null", "Done.") + `'`
				ada := s.runs(t, sales, shell(script, `,"usage":"claude-json","maxConcurrent":2`))
				var filed []apiIssue
				for range 20 {
					filed = append(filed, s.named(t, acme, ada, ""))
				}
				var held apiHold
				await(t, "the hold", func() bool {
					held = resttest.Data[apiHold](t, s.In(t).Get(ada.path()))
					return held.Hold != nil && scrape(t, s.url)["holdco_programs_running"] == 0
				})
				if held.Hold.Reason != reason || held.Hold.Error.Code != reason {
					t.Errorf("%+v", held.Hold)
				}
				for _, task := range filed {
					if now := s.look(t, task); now.Status == "failed" || now.Attempt != 1 {
						t.Errorf("%s, attempt %d", now.Status, now.Attempt)
					}
				}
				must(t, os.WriteFile(filepath.Join(s.workspace(acme), "issues", "open"), nil, 0o600))
				c.ends(t, s, ada)
				for _, task := range filed {
					if now := s.reaches(t, task, "review"); now.Attempt != 1 || string(now.Result) != `"Done."` {
						t.Errorf("attempt %d, %s", now.Attempt, now.Result)
					}
				}
			})
		})
	}
}
