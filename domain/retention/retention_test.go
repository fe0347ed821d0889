package retention_test

import (
	"errors"
	"testing"
	"time"

	"holdco/domain/event"
	"holdco/domain/retention"
)

const day = 24 * time.Hour

func TestWholeDaysAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value string
		least int
		want  time.Duration // of what is read; less than 0: it is refused
	}{
		{"off", 90, 0}, {"90d", 90, 90 * day}, {"2160h", 90, 90 * day}, {"24h", 1, day}, {"1d", 1, day}, {"36500d", 1, 36500 * day},
		{"89d", 90, -1}, {"2159h", 90, -1}, {"2161h", 90, -1}, {"0d", 0, 0}, {"0d", 1, -1}, {"-1d", 0, -1}, {"1", 0, -1}, {"", 0, -1},
		{"d", 0, -1}, {"h", 0, -1}, {"01d", 0, -1}, {"+1d", 0, -1}, {"1.5d", 0, -1}, {"1d2h", 0, -1}, {"3months", 0, -1}, {"Off", 0, -1},
		{"36501d", 1, -1}, {"876000h", 1, 36500 * day}, {"2000000000d", 1, -1}, {"99999999999d", 1, -1}, {"60m", 0, -1}, {" 1d", 0, -1},
	} {
		got, ok := retention.ParsePeriod(c.value, c.least)
		if ok != (c.want >= 0) || ok && time.Duration(got) != c.want {
			t.Errorf("%q, at least %d: %v, %t", c.value, c.least, got, ok)
		}
		if again, fine := retention.ParsePeriod(got.String(), 0); ok && (!fine || again != got) {
			t.Errorf("%q is spelled %s", c.value, got)
		}
	}
}

func TestOnlyWholeDaysCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ now, want string }{
		{"2026-04-11T00:00:00Z", "2026-04-09T00:00:00Z"},
		{"2026-04-11T23:59:59.999Z", "2026-04-09T00:00:00Z"},
		{"2026-04-11T01:00:00+02:00", "2026-04-08T00:00:00Z"}, // it is the day before in UTC
		{"2024-03-01T12:00:00Z", "2024-02-28T00:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := retention.Period(2 * day).Cutoff(now).Format(time.RFC3339); got != c.want {
			t.Errorf("%s: %s, want %s", c.now, got, c.want)
		}
	}
	if !retention.Off.Cutoff(time.Now()).IsZero() {
		t.Error("off has an instant")
	}
}

func TestEntriesOfAnAuditAreKeptAsLongAsBothTimesSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ activity, audit, want retention.Period }{
		{retention.Off, retention.Off, retention.Off},
		{retention.Off, retention.Period(365 * day), retention.Off},
		{retention.Period(90 * day), retention.Off, retention.Off},
		{retention.Period(90 * day), retention.Period(365 * day), retention.Period(365 * day)},
		{retention.Period(800 * day), retention.Period(365 * day), retention.Period(800 * day)},
	} {
		settings := retention.Settings{Activity: c.activity, Audit: c.audit}
		if got := settings.Of(retention.Audit); got != c.want || settings.Of(retention.Activity) != c.activity {
			t.Errorf("%s, %s: %s", c.activity, c.audit, got)
		}
	}
}

func TestWhatOfTheActivityMayGo(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC)
	old := before.Add(-time.Millisecond)
	for _, c := range []struct {
		of   retention.Entry
		kind retention.Kind
		want bool
	}{
		{retention.Entry{At: old, Category: "task", IsChained: true}, retention.Activity, true},
		{retention.Entry{At: before, Category: "task", IsChained: true}, retention.Activity, false},
		{retention.Entry{At: old, Category: "task"}, retention.Activity, false},
		{retention.Entry{At: old, Category: "task", IsChained: true, IsAwaited: true}, retention.Activity, false},
		{retention.Entry{At: old, Category: "task", IsChained: true}, retention.Audit, false},
		{retention.Entry{At: old, Category: "store", IsChained: true}, retention.Activity, false},
		{retention.Entry{At: old, Category: "store", IsChained: true}, retention.Audit, true},
		{retention.Entry{At: old, Category: "company", IsChained: true, IsAwaited: true}, retention.Audit, false},
		{retention.Entry{At: before, Category: "company", IsChained: true}, retention.Audit, false},
	} {
		if got := c.of.MayGo(c.kind, before); got != c.want {
			t.Errorf("%+v as %s: %t", c.of, c.kind, got)
		}
	}
	for _, category := range event.Categories() { // each entry is of one kind
		one := retention.Entry{At: old, Category: category, IsChained: true}
		if one.MayGo(retention.Activity, before) == one.MayGo(retention.Audit, before) {
			t.Errorf("%s is of both kinds, or of none", category)
		}
	}
}

func TestWhatOfRunsMayGo(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC)
	old := before.Add(-time.Millisecond)
	for _, c := range []struct {
		of   retention.Run
		want bool
	}{
		{retention.Run{EndedAt: old}, true}, {retention.Run{EndedAt: before}, false}, {retention.Run{}, false},
		{retention.Run{EndedAt: old, IssueIsOpen: true}, false},
	} {
		if got := c.of.MayGo(before); got != c.want {
			t.Errorf("%+v: %t", c.of, got)
		}
	}
}

func TestRoomIsCheckedAgainstABound(t *testing.T) {
	t.Parallel()
	if err := retention.CheckRoom(retention.LeastRoom); err != nil {
		t.Error(err)
	}
	if err := retention.CheckRoom(retention.LeastRoom - 1); !errors.Is(err, retention.ErrDiskLow) {
		t.Error(err)
	}
}

func TestAPassIsAnEventOfTheInstance(t *testing.T) {
	t.Parallel()
	got := retention.Pruned(retention.Runs, 7, time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC))
	if got.Type != event.StorePruned || got.Company != "" || got.Type.Category() != "store" ||
		string(got.Data.Append(nil)) != `{"kind":"runs","count":7,"before":"2026-04-11T00:00:00.000Z"}` {
		t.Errorf("%+v", got)
	}
}
