package budget_test

import (
	"testing"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/money"
)

func TestALimitIsAnAmountOrNone(t *testing.T) {
	t.Parallel()
	for sent, want := range map[money.Number]budget.Limit{
		"0": budget.Of(0), "0.000001": budget.Of(1), "1e3": budget.Of(1000 * money.Dollar), "1000000000": budget.Of(budget.Most),
	} {
		if got, wrong := budget.ParseLimit("budget", budget.LimitDraft{USD: &sent}); got != want || wrong != nil {
			t.Errorf("%s: %+v, %v", sent, got, wrong)
		}
	}
	for sent, code := range map[money.Number]string{
		"-0.000001": fault.OutOfRange, "1000000000.000001": fault.OutOfRange, "1e400": fault.OutOfRange, "-1e400": fault.OutOfRange,
		"0.0000001": fault.TooPrecise,
	} {
		got, wrong := budget.ParseLimit("budget", budget.LimitDraft{USD: &sent})
		if got != (budget.Limit{}) || len(wrong) != 1 || wrong[0].Path != "budget.usd" || wrong[0].Code != code {
			t.Errorf("%s: %+v, %v", sent, got, wrong)
		}
	}
}

func TestALimitNeedsAnAmount(t *testing.T) {
	t.Parallel()
	_, wrong := budget.ParseLimit("budget", budget.LimitDraft{})
	if len(wrong) != 1 || wrong[0].Path != "budget.usd" || wrong[0].Code != fault.Required {
		t.Errorf("%v", wrong)
	}
}

func TestALimitIsShownInDollars(t *testing.T) {
	t.Parallel()
	shown := event.Fields{budget.Limit{}.Field("a"), budget.Of(0).Field("b"), budget.Of(1_500_000).Field("c")}
	if got, want := string(shown.Append(nil)), `{"a":null,"b":0,"c":1.5}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
