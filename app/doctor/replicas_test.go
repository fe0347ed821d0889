package doctor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	found "holdco/domain/doctor"
)

func TestServersOfTwoVersionsAreAWarning(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		is := func(severity found.Severity, says string) {
			t.Helper()
			got := result(t, w.examine(t, false), "replicas")
			if got.Severity() != severity || !strings.Contains(got.Message(), says) {
				t.Errorf("%s: %s; want %s, %q", got.Severity(), got.Message(), severity, says)
			}
		}
		is(found.OK, "servers: 0")
		now := w.clock.Now()
		for n, version := range []string{"v1", "v2"} {
			w.exec(t, fmt.Sprintf("INSERT INTO replicas (id, program, since, seen_at) VALUES ('rep_%d', '%s', %d, %d)", n, version,
				now.Add(-time.Hour).UnixMilli(), now.Add(time.Duration(n)*time.Second).UnixMilli()))
		}
		is(found.Warning, "2 servers run, of the versions v1, v2; finish the update")
		w.clock.Advance(30*time.Second + time.Millisecond)
		is(found.OK, "servers: 1; rep_1, v2, since 2")
	})
}
