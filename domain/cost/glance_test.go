package cost_test

import (
	"testing"
	"time"

	"holdco/domain/budget"
	"holdco/domain/cost"
)

func TestAGlanceIsOfTodayAndOfThePeriod(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	perDay := map[string]cost.Sum{"2026-04-10": {Tools: 2_000_000}, "2026-04-11": {LLM: 500_000}}
	use := usedUp(budget.OfCompany, 100_000_000, 0, 2_500_000)
	forecast := cost.Foresee(budget.Monthly, use.Limit, perDay, now)
	glance := cost.GlanceAt(now, forecast, use, perDay,
		map[string]cost.Sum{"tm_1": {LLM: 500_000}, "tm_2": {Tools: 2_000_000}}, nil)
	const none = `"tokens":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"calls":0}`
	want := `{"today":0.5,"thisPeriod":2.5,"budget":100,"remaining":97.5,"forecastEndOfPeriod":` + forecast.Expected.String() +
		`,"byTeam":[{"teamId":"tm_2","usd":2,` + none + `,{"teamId":"tm_1","usd":0.5,` + none + `],"byAgent":[]}`
	if got := string(glance.Fields().Append(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := cost.GlanceAt(now.AddDate(0, 0, 1), forecast, use, perDay, nil, nil).Today; got != 0 {
		t.Errorf("on a day without costs: %s", got)
	}
}
