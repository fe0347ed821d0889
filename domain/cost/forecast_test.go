package cost_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/money"
)

func TestAForecastGoesOnAsThePeriodWent(t *testing.T) {
	t.Parallel()
	spend := func(days map[string]money.USD) map[string]cost.Sum {
		sums := map[string]cost.Sum{}
		for day, usd := range days {
			sums[day] = cost.Sum{Tools: usd}
		}
		return sums
	}
	for _, c := range []struct {
		name, now, end string
		period         budget.Period
		limit          money.USD
		spent          map[string]money.USD
		want           cost.Forecast
		exhausted      string
	}{
		{
			name: "nothing spent on the first instant", now: "2028-02-01T00:00:00Z", period: budget.Monthly, limit: 10,
			want: cost.Forecast{},
		},
		{
			name: "half of a day", now: "2028-02-28T12:00:00Z", period: budget.Daily, limit: 100,
			spent: map[string]money.USD{"2028-02-28": 31},
			want:  cost.Forecast{Spent: 31, Expected: 62, Low: 31, High: 93}, // 62 a day
		},
		{
			name: "a minute is taken for an hour", now: "2028-02-28T00:01:00Z", period: budget.Daily, limit: 1000,
			spent: map[string]money.USD{"2028-02-28": 10}, // 240 a day, for 1439 minutes
			want:  cost.Forecast{Spent: 10, Expected: 249, Low: 10, High: 489},
		},
		{
			name: "days that differ, one without costs, in a leap year", now: "2028-02-04T12:00:00Z", period: budget.Monthly, limit: 1000,
			spent: map[string]money.USD{"2028-02-01": 10, "2028-02-03": 20, "2028-02-04": 4},
			// mean 10, deviation isqrt(200/3) = 8, 25.5 days left
			want: cost.Forecast{Spent: 34, Expected: 289, Low: 85, High: 493, BasisDays: 3},
		},
		{
			name: "a deviation beyond the mean", now: "2028-02-03T00:00:00Z", period: budget.Monthly, limit: 1000,
			spent: map[string]money.USD{"2028-02-01": 1, "2028-02-02": 0},
			want:  cost.Forecast{Spent: 1, Expected: 1, Low: 1, High: 1, BasisDays: 2}, // 0.5 a day, rounded down
		},
		{
			name: "the limit is reached in the period", now: "2026-12-30T00:00:00Z", period: budget.Weekly, limit: 50,
			spent: map[string]money.USD{"2026-12-28": 20, "2026-12-29": 20},
			want:  cost.Forecast{Spent: 40, Expected: 140, Low: 140, High: 140, BasisDays: 2}, exhausted: "2026-12-30T12:00:00Z",
		},
		{
			name: "the limit is spent", now: "2026-12-30T00:00:00Z", period: budget.Weekly, limit: 40,
			spent: map[string]money.USD{"2026-12-28": 20, "2026-12-29": 20},
			want:  cost.Forecast{Spent: 40, Expected: 140, Low: 140, High: 140, BasisDays: 2}, exhausted: "2026-12-30T00:00:00Z",
		},
		{
			name: "the limit is reached when the period ends", now: "2026-12-30T00:00:00Z", period: budget.Weekly, limit: 140,
			spent: map[string]money.USD{"2026-12-28": 20, "2026-12-29": 20},
			want:  cost.Forecast{Spent: 40, Expected: 140, Low: 140, High: 140, BasisDays: 2},
		},
		{
			name: "a quarter", now: "2028-04-01T00:00:00Z", period: budget.Quarterly, limit: 1,
			want: cost.Forecast{},
		},
		{
			name: "more than there is", now: "2028-01-01T01:00:00Z", period: budget.Quarterly, limit: math.MaxInt64,
			spent:     map[string]money.USD{"2028-01-01": math.MaxInt64 / 2},
			want:      cost.Forecast{Spent: math.MaxInt64 / 2, Low: math.MaxInt64 / 2, Expected: math.MaxInt64, High: math.MaxInt64},
			exhausted: "2028-01-01T02:00:00Z",
		},
	} {
		now := utc(t, c.now)
		got := cost.Foresee(c.period, budget.Of(c.limit), spend(c.spent), now)
		start := c.period.Start(now)
		c.want.Period = cost.Range{Start: start, End: c.period.End(start), Label: string(c.period)}
		c.want.Limit = budget.Of(c.limit)
		if c.exhausted != "" {
			c.want.ExhaustedAt = utc(t, c.exhausted)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(time.Time.Equal)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}
