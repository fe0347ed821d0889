package wiring_test

import (
	"fmt"
	"testing"

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
