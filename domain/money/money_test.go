package money_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/fault"
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

// What programs computed in binary floats is rounded up.
func TestChargesAreRoundedUpToTheMillionth(t *testing.T) {
	t.Parallel()
	const most = 1_000_000 * money.Dollar
	for number, want := range map[money.Number]money.USD{
		"0":                           0,
		"-0.0":                        0,
		"0.123456":                    123_456,
		"3.3000000000000003":          3_300_001,
		"0.30000000000000004":         300_001,
		"7.5e-7":                      1,
		"1e-400":                      1,
		"1.5e-6":                      2,
		"0.000001":                    1,
		"0.00000100":                  1,
		"999999.9999991":              most,
		"1e6":                         most,
		"12345678901234567890123e-22": 1_234_568,
	} {
		if got, wrong := money.ParseCharge("usd", number, 0, most); got != want || wrong != nil {
			t.Errorf("%s: %d, %v; want %d", number, got, wrong, want)
		}
	}
	for _, number := range []money.Number{
		"", "1.", "NaN", "-1e-9", "-0.0000011", "1000000.0000001", "1e400", "9223372036854.7758075", "-9223372036854.7758075",
	} {
		if got, wrong := money.ParseCharge("usd", number, 0, most); len(wrong) != 1 || wrong[0].Code != fault.OutOfRange {
			t.Errorf("%q: %d, %v", number, got, wrong)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{1,25})?(e[+-]?[0-9])?`).Draw(t, "number")
		got, wrong := money.ParseCharge("usd", money.Number(number), -most, most)
		micros, _ := new(big.Rat).SetString(number)
		micros.Mul(micros, big.NewRat(1_000_000, 1))
		bound := new(big.Rat).SetInt64(int64(most))
		if isBeyond := new(big.Rat).Abs(micros).Cmp(bound) > 0; isBeyond != (wrong != nil) {
			t.Fatalf("%v", wrong)
		}
		more := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(got)), micros)
		if wrong == nil && (more.Sign() < 0 || more.Cmp(big.NewRat(1, 1)) >= 0) {
			t.Fatalf("%s became %d millionths", number, got)
		}
	})
}
