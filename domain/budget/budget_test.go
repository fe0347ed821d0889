package budget_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdco/domain/budget"
	"holdco/domain/fault"
	"holdco/domain/money"
)

var before = budget.Budget{USD: 10 * money.Dollar, Period: budget.Monthly, ReservePercent: 20_00}

func TestAChangeKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change budget.Change
		want   budget.Budget
	}{
		{"nothing", budget.Change{}, before},
		{"usd", budget.Change{USD: new(money.Number("2.5"))}, budget.Budget{USD: 2_500_000, Period: budget.Monthly, ReservePercent: 20_00}},
		{"period", budget.Change{Period: new("daily")}, budget.Budget{USD: before.USD, Period: budget.Daily, ReservePercent: 20_00}},
		{"reserve", budget.Change{ReservePercent: new(money.Number("0"))}, budget.Budget{USD: before.USD, Period: budget.Monthly}},
		{
			"all",
			budget.Change{USD: new(money.Number("1e9")), Period: new("weekly"), ReservePercent: new(money.Number("99.99"))},
			budget.Budget{USD: budget.Most, Period: budget.Weekly, ReservePercent: 99_99},
		},
	} {
		got, invalid, outOfBounds := before.Apply(c.change)
		if got != c.want || invalid != nil || outOfBounds != nil {
			t.Errorf("%s: %+v, %v, %v; want %+v", c.name, got, invalid, outOfBounds, c.want)
		}
	}
}

func TestFiguresHaveBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number               money.Number
		usd, outOfBoundsUSD  string
		reserve, outOfBounds string
	}{
		{number: "0"},
		{number: "-0.00"},
		{number: "100"},
		{number: "1.250000"},
		{number: "0.01"},
		{number: "0.000001", reserve: fault.TooPrecise},
		{number: "0.0000001", usd: fault.TooPrecise, reserve: fault.TooPrecise},
		{number: "1e-999999999", usd: fault.TooPrecise, reserve: fault.TooPrecise},
		{number: "100.01", outOfBounds: fault.OutOfRange},
		{number: "1e9", outOfBounds: fault.OutOfRange},
		{number: "1000000000.000001", usd: fault.OutOfRange, reserve: fault.TooPrecise},
		{number: "1e999999999", usd: fault.OutOfRange, outOfBounds: fault.OutOfRange},
		{number: "-0.01", outOfBoundsUSD: fault.OutOfRange, outOfBounds: fault.OutOfRange},
		{number: "-1e999999999", outOfBoundsUSD: fault.OutOfRange, outOfBounds: fault.OutOfRange},
	} {
		_, invalid, outOfBounds := before.Apply(budget.Change{USD: &c.number})
		checkField(t, c.number, invalid, "budget.usd", c.usd)
		checkField(t, c.number, outOfBounds, "budget.usd", c.outOfBoundsUSD)

		_, invalid, outOfBounds = before.Apply(budget.Change{ReservePercent: &c.number})
		checkField(t, c.number, invalid, "budget.reservePercent", c.reserve)
		checkField(t, c.number, outOfBounds, "budget.reservePercent", c.outOfBounds)
	}
}

func TestAllThatIsWrongWithAChangeIsReported(t *testing.T) {
	t.Parallel()
	_, invalid, outOfBounds := before.Apply(budget.Change{
		USD: new(money.Number("1e10")), Period: new("yearly"), ReservePercent: new(money.Number("101")),
	})
	if len(invalid) != 2 || invalid[0].Path != "budget.usd" || invalid[1].Path != "budget.period" || len(outOfBounds) != 1 {
		t.Errorf("%v, %v", invalid, outOfBounds)
	}
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]budget.Period{
		"daily": budget.Daily, "weekly": budget.Weekly, "monthly": budget.Monthly, "quarterly": budget.Quarterly,
		"": "", "Daily": "", "yearly": "", " daily": "",
	} {
		got, faults := budget.ParsePeriod("fiscalPeriod", text)
		if got != want || (faults == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, faults)
		}
		if faults != nil && (faults[0].Code != fault.UnknownValue ||
			!strings.Contains(faults[0].Message, "daily, weekly, monthly, quarterly")) {
			t.Errorf("%q: %v", text, faults)
		}
	}
}

func TestABudgetIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(before.Fields())
	if want := `{"usd":10,"period":"monthly","reservePercent":20}`; string(got) != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// checkField checks that there is one fault with this code, or none when the code is empty.
func checkField(t *testing.T, number money.Number, got []fault.Field, path, code string) {
	t.Helper()
	if code == "" && got == nil || len(got) == 1 && got[0].Path == path && got[0].Code == code {
		return
	}
	t.Errorf("%s of %s: %v; want %q", path, number, got, code)
}
