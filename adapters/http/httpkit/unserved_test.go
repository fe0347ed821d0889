package httpkit

import (
	"fmt"
	"testing"
	"time"
)

func TestOfRequestsThatCannotBeServedOneLineASecondTellsForEachCause(t *testing.T) {
	t.Parallel()
	var u unserved
	noon := time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		said  string
		after time.Duration
		want  int
	}{
		{"dial 127.0.0.1:1: refused", 0, 1},
		{"dial 127.0.0.1:2: refused", 0, 0},
		{"the disk is full", 0, 1},
		{"dial 127.0.0.1:3: refused", 999 * time.Millisecond, 0},
		{"dial 127.0.0.1:4: refused", time.Second, 3},
		{"dial 127.0.0.1:5: refused", time.Second, 0},
		{"the disk is full", time.Hour, 1},
		{"dial 127.0.0.1:6: refused", time.Hour, 2},
	} {
		if got := u.note(c.said, noon.Add(c.after)); got != c.want {
			t.Errorf("%q after %s: %d requests, want %d", c.said, c.after, got, c.want)
		}
	}
}

func TestCausesThatAreOverAreForgotten(t *testing.T) {
	t.Parallel()
	var u unserved
	now := time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	for n := range 1000 {
		now = now.Add(unservedPause)
		if got := u.note(fmt.Sprintf("%c%c", 'a'+n%26, 'a'+n/26), now); got != 1 {
			t.Fatalf("%d: %d", n, got)
		}
	}
	if len(u.causes) > mostCauses {
		t.Errorf("%d are remembered", len(u.causes))
	}
}
