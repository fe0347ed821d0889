package issue_test

import (
	"fmt"
	"testing"
	"time"

	"holdco/domain/id"
	"holdco/domain/issue"
)

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	for attempt, want := range map[int]time.Duration{
		1: 10 * time.Second, 2: time.Minute, 3: 10 * time.Minute, 4: 10 * time.Minute, 50: 10 * time.Minute,
	} {
		distinct := map[time.Duration]bool{}
		for n := range 100 {
			which := id.Issue(fmt.Sprint("iss_", n))
			delay := issue.RetryDelay(which, attempt)
			if delay < want*9/10 || delay > want*11/10 {
				t.Errorf("after attempt %d: %s, want %s and a tenth either way", attempt, delay, want)
			}
			if again := issue.RetryDelay(which, attempt); again != delay {
				t.Errorf("after attempt %d: %s, and %s when asked again", attempt, delay, again)
			}
			distinct[delay] = true
		}
		if len(distinct) < 50 {
			t.Errorf("after attempt %d: 100 issues have %d distinct delays", attempt, len(distinct))
		}
	}
}
