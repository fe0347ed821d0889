package cost_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/fault"
)

const millisecond = time.Millisecond

func utc(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func TestNamesOfRangesFollowTheCalendar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ now, since, until, from, to, label string }{
		{"2028-03-01T10:30:00Z", "", "", "2028-03-01T00:00:00Z", "now", "monthly"},
		{"2028-03-01T10:30:00Z", "1h", "", "2028-03-01T09:30:00Z", "now", "1h"},
		{"2028-03-01T10:30:00Z", "24h", "", "2028-02-29T10:30:00Z", "now", "24h"}, // a leap day
		{"2028-03-01T10:30:00Z", "7d", "", "2028-02-23T10:30:00Z", "now", "7d"},
		{"2028-03-01T10:30:00Z", "30d", "", "2028-01-31T10:30:00Z", "now", "30d"},
		{"2028-03-01T10:30:00Z", "today", "", "2028-03-01T00:00:00Z", "now", "today"},
		{"2028-03-01T10:30:00Z", "yesterday", "", "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z", "yesterday"},
		{"2027-03-01T10:30:00Z", "yesterday", "", "2027-02-28T00:00:00Z", "2027-03-01T00:00:00Z", "yesterday"},
		{"2028-03-01T10:30:00Z", "last_month", "", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", "last_month"},
		{"2028-01-01T00:00:00Z", "this_month", "", "2028-01-01T00:00:00Z", "now", "this_month"},
		{"2028-01-01T00:00:00Z", "yesterday", "", "2027-12-31T00:00:00Z", "2028-01-01T00:00:00Z", "yesterday"},
		{"2028-01-01T00:00:00Z", "last_month", "", "2027-12-01T00:00:00Z", "2028-01-01T00:00:00Z", "last_month"},
		{"2028-01-01T00:00:00Z", "last_quarter", "", "2027-10-01T00:00:00Z", "2028-01-01T00:00:00Z", "last_quarter"},
		{"2028-01-01T00:00:00Z", "this_quarter", "", "2028-01-01T00:00:00Z", "now", "this_quarter"},
		{"2028-06-30T23:59:59.999Z", "this_quarter", "", "2028-04-01T00:00:00Z", "now", "this_quarter"},
		{"2028-05-15T00:00:00Z", "last_quarter", "", "2028-01-01T00:00:00Z", "2028-04-01T00:00:00Z", "last_quarter"},
		{"2027-01-01T12:00:00Z", "this_week", "", "2026-12-28T00:00:00Z", "now", "this_week"}, // Friday of week 53 of 2026
		{"2027-01-03T23:59:59Z", "this_week", "", "2026-12-28T00:00:00Z", "now", "this_week"}, // Sunday
		{"2027-01-04T00:00:00Z", "this_week", "", "2027-01-04T00:00:00Z", "now", "this_week"}, // Monday
		{"2027-01-04T00:00:00Z", "last_week", "", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z", "last_week"},
		{"2028-03-01T10:30:00Z", "2028-02-29T01:00:00+02:00", "", "2028-02-28T23:00:00Z", "now", "custom"},
		{"2028-03-01T10:30:00Z", "2028-02-28T00:00:00.0000001Z", "2028-02-29T00:00:00.0009Z", "2028-02-28T00:00:00.001Z",
			"2028-02-29T00:00:00.001Z", "custom"},
		{"2028-03-01T10:30:00Z", "last_month", "2028-02-15T00:00:00Z", "2028-02-01T00:00:00Z", "2028-02-15T00:00:00Z", "custom"},
		{"2028-03-01T10:30:00Z", "last_quarter", "last_month", "2027-10-01T00:00:00Z", "2028-03-01T00:00:00Z", "custom"},
		{"2028-03-01T10:30:00Z", "last_month", "24h", "2028-02-01T00:00:00Z", "2028-02-29T10:30:00Z", "custom"},
		{"2028-03-05T10:30:00Z", "", "2028-03-03T00:00:00Z", "2028-03-01T00:00:00Z", "2028-03-03T00:00:00Z", "custom"},
		{"2028-03-05T10:30:00Z", "yesterday", "today", "2028-03-04T00:00:00Z", "now", "custom"},
		{"2028-03-05T10:30:00Z", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "3000-01-01T00:00:00Z", "custom"},
	} {
		now := utc(t, c.now)
		want := cost.Range{Start: utc(t, c.from), End: now.Add(millisecond), Label: c.label, UntilNow: c.to == "now"}
		if c.to != "now" {
			want.End = utc(t, c.to)
		}
		got, err := cost.ParseRange(c.since, c.until, cost.Current(budget.Monthly, now), now)
		if err != nil || got != want {
			t.Errorf("from %q until %q at %s: %v, %v; want %v", c.since, c.until, c.now, got, err, want)
		}
		if err := cost.CheckRange(c.since, c.until); err != nil {
			t.Error(err)
		}
	}
}

func TestRangesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	now := utc(t, "2028-03-05T10:30:00Z")
	for _, c := range []struct {
		since, until, parameter string
		isForm                  bool
	}{
		{"tomorrow", "", "since", true}, {"24H", "", "since", true}, {"2028-02-30T00:00:00Z", "", "since", true},
		{"2028-02-28", "", "since", true}, {"", "2h", "until", true}, {"2028-02-28T00:00:00 02:00", "", "since", true},
		{"2028-03-05T10:30:00.001Z", "", "since", false},
		{"today", "yesterday", "until", false}, {"1h", "24h", "until", false},
		{"2028-03-01T00:00:00Z", "2028-03-01T00:00:00Z", "until", false}, {"", "2028-03-01T00:00:00Z", "until", false},
	} {
		_, err := cost.ParseRange(c.since, c.until, cost.Current(budget.Monthly, now), now)
		f := fault.Of(err)
		if f == nil || f.Code != fault.InvalidParameter || f.Details["parameter"] != c.parameter {
			t.Errorf("from %q until %q: %v", c.since, c.until, err)
		}
		if isForm := cost.CheckRange(c.since, c.until) != nil; isForm != c.isForm {
			t.Errorf("the form of %q and %q is wrong: %t", c.since, c.until, isForm)
		}
	}
}

func TestARangeIsSplitIntoWholeUnitsAndTwoShortEnds(t *testing.T) {
	t.Parallel()
	least := map[cost.Unit]time.Duration{cost.Hours: time.Hour, cost.Days: 24 * time.Hour, cost.Months: 31 * 24 * time.Hour}
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]time.Time{
			time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC), time.Date(2027, 12, 31, 23, 0, 0, 0, time.UTC),
			time.Date(2028, 5, 1, 0, 0, 0, 0, time.UTC),
		}).Draw(t, "base")
		unit := rapid.SampledFrom([]time.Duration{millisecond, time.Hour, 24 * time.Hour})
		start := base.Add(unit.Draw(t, "unit") * time.Duration(rapid.IntRange(-50, 50).Draw(t, "n")))
		end := start.Add(unit.Draw(t, "unit") * time.Duration(rapid.IntRange(1, 1000).Draw(t, "n")))
		units := rapid.SampledFrom([][]cost.Unit{nil, {cost.Hours}, {cost.Days, cost.Months}, cost.Units}).Draw(t, "units")
		untilNow := rapid.Bool().Draw(t, "untilNow")
		at, lastStart, broken, count := start, end, time.Duration(0), map[cost.Unit]int{}
		for _, piece := range (cost.Range{Start: start, End: end, UntilNow: untilNow}).Split(units...) {
			if !piece.Start.Equal(at) || !piece.Start.Before(piece.End) {
				t.Fatalf("%v does not follow %v", piece, at)
			}
			at = piece.End
			count[piece.Unit]++
			if piece.Unit == cost.Moments {
				broken += piece.End.Sub(piece.Start)
				continue
			}
			for _, of := range []time.Time{piece.Start, piece.End} {
				if !piece.Unit.Start(of).Equal(of) {
					t.Fatalf("%v are no whole units", piece)
				}
			}
			starts := piece.Starts()
			if lastStart = starts[len(starts)-1]; !starts[0].Equal(piece.Start) || !lastStart.Before(piece.End) {
				t.Fatalf("%v starts at %v", piece, starts)
			}
		}
		isInLast := untilNow && lastStart.Before(end) && at.After(end)
		if !at.Equal(end) && !isInLast {
			t.Fatalf("the pieces end at %v, not at %v", at, end)
		}
		if units != nil && (broken >= 2*least[units[0]] || count[cost.Moments] > 2 || count[cost.Hours] > 2 || count[cost.Months] > 1) {
			t.Fatalf("%v of moments, %v", broken, count)
		}
	})
}

func TestATrendHasTheLastDays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, start string }{
		{"2028-03-01T10:00:00Z", "2028-03-02T00:00:00Z", "2028-03-01T10:00:00Z"},
		{"2020-01-01T10:00:00Z", "2028-03-02T00:00:00Z", "2027-01-27T00:00:00Z"},
		{"2020-01-01T10:00:00Z", "2028-03-02T00:00:00.001Z", "2027-01-28T00:00:00Z"},
	} {
		of := cost.Range{Start: utc(t, c.from), End: utc(t, c.to)}
		if got := of.Trend(); !got.Start.Equal(utc(t, c.start)) || got.End != of.End {
			t.Errorf("%v: %v", of, got)
		}
	}
}
