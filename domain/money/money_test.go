package money_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/money"
)

func TestAmountsAreShownInTheirShortestForm(t *testing.T) {
	t.Parallel()
	for amount, want := range map[money.USD]string{
		0:                      "0",
		1:                      "0.000001",
		-1:                     "-0.000001",
		250_000:                "0.25",
		money.Dollar:           "1",
		1500 * money.Dollar:    "1500",
		-3*money.Dollar - 10:   "-3.00001",
		1_000_000_000_000_000:  "1000000000",
		math.MaxInt64:          "9223372036854.775807",
		math.MinInt64:          "-9223372036854.775808",
		12*money.Dollar + 5000: "12.005",
	} {
		if got, err := json.Marshal(amount); string(got) != want || err != nil {
			t.Errorf("%d millionths: %s, %v; want %s", int64(amount), got, err, want)
		}
	}
	for percent, want := range map[money.Percent]string{0: "0", 1: "0.01", 1250: "12.5", 2000: "20", 100_00: "100", -50: "-0.5"} {
		if got, err := json.Marshal(percent); string(got) != want || err != nil {
			t.Errorf("%d hundredths: %s, %v; want %s", int64(percent), got, err, want)
		}
	}
}

func TestAmountsSurviveTheirSpelling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := money.USD(rapid.Int64Min(-math.MaxInt64).Draw(t, "amount"))
		text := amount.String()
		if again, err := money.ParseUSD(money.Number(text)); again != amount || err != nil {
			t.Fatalf("%s is read as %d, %v", text, int64(again), err)
		}
		if exact, ok := new(big.Rat).SetString(text); !ok || exact.Cmp(big.NewRat(int64(amount), 1_000_000)) != 0 {
			t.Fatalf("%s is another number", text)
		}
		if strings.Contains(text, ".") && strings.TrimRight(text, "0.") != text {
			t.Fatalf("%s ends in needless zeros", text)
		}

		percent := money.Percent(amount)
		if again, err := money.ParsePercent(money.Number(percent.String())); again != percent || err != nil {
			t.Fatalf("%s is read as %d, %v", percent, int64(again), err)
		}
	})
}
