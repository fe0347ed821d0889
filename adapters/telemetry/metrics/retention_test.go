package metrics_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"holdco/adapters/telemetry/metrics"
	"holdco/domain/retention"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// kept is a store of which passes over runs were made until an instant.
type kept struct {
	store.Store
	done time.Time
}

func (k kept) Sizes(context.Context) (store.Sizes, error) { return store.Sizes{Data: 7}, nil }

func (k kept) Retention() store.RetentionReader { return passes{done: k.done} }

type passes struct {
	store.RetentionReader
	done time.Time
}

func (p passes) State(context.Context, retention.Kind) (retention.State, error) {
	return retention.State{Done: p.done}, nil
}

type movable struct{ now time.Time }

func (m *movable) Now() time.Time { return m.now }

func TestWhatIsOldEnoughIsOverdueBeforeTheFirstPassToo(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	noon := time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		done time.Time
		want string
	}{
		"no pass yet":         {time.Time{}, "259200"},
		"a pass of today":     {noon.Add(3 * day).Truncate(day).Add(-90 * day), "0"},
		"a pass of yesterday": {noon.Add(2 * day).Truncate(day).Add(-90 * day), "43200"},
	} {
		clock := &movable{noon}
		room := func() (outbound.Room, error) { return outbound.Room{Free: 5, Size: 9}, nil }
		files := func() map[string]int64 { return map[string]int64{"workspaces": 3, "backups": 4} }
		m := metrics.New(metrics.Usage(kept{done: c.done}, retention.Settings{Runs: retention.Period(90 * day)}, clock, room, files))
		clock.now = noon.Add(3 * day)
		text := page(t, m)
		for _, line := range []string{
			`holdco_retention_overdue_seconds{kind="runs"} ` + c.want, `holdco_store_bytes{part="db"} 7`,
			`holdco_store_bytes{part="workspaces"} 3`, `holdco_store_bytes{part="backups"} 4`,
		} {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("%s: the page lacks %s", name, line)
			}
		}
	}
}
