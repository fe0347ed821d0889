package replica_test

import (
	"slices"
	"testing"
	"time"

	"holdco/domain/replica"
)

func TestAReplicaThatIsSilentForHalfAMinuteIsGone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	all := []replica.Replica{
		{ID: "rep_1", Version: "v2", SeenAt: now},
		{ID: "rep_2", Version: "v1", SeenAt: now.Add(-30 * time.Second)},
		{ID: "rep_3", Version: "v0", SeenAt: now.Add(-30*time.Second - time.Millisecond)},
		{ID: "rep_4", Version: "v2", SeenAt: now.Add(time.Second)},
	}
	live := replica.Live(all, now)
	if len(live) != 3 || len(all) != 4 || !slices.Equal(replica.Versions(live), []string{"v1", "v2"}) {
		t.Errorf("%v", live)
	}
}
