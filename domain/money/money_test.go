package money_test

import (
	"encoding/json"
	"errors"
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

func TestDollarsAreRoundedToTheNearestMillionth(t *testing.T) {
	t.Parallel()
	for number, want := range map[money.Number]money.USD{
		"0":                           0,
		"0.123456":                    123_456,
		"1.4020935000000005":          1_402_094,
		"0.30000000000000004":         300_000,
		"0.0000005":                   1,
		"0.00000049999999999":         0,
		"-0.0000005":                  -1,
		"1.5e-6":                      2,
		"1e-400":                      0,
		"9223372036854.7758070":       math.MaxInt64,
		"9223372036854.7758074":       math.MaxInt64,
		"12345678901234567890123e-22": 1_234_568,
	} {
		if got, err := money.RoundUSD(number); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", number, got, err, want)
		}
	}
	for number, want := range map[money.Number]error{
		"":                        money.ErrSyntax,
		"1.":                      money.ErrSyntax,
		"NaN":                     money.ErrSyntax,
		"1e400":                   money.ErrOutOfRange,
		"9223372036854.7758075":   money.ErrOutOfRange,
		"-9223372036854.7758075":  money.ErrOutOfRange,
		"92233720368547.75807000": money.ErrOutOfRange,
	} {
		if got, err := money.RoundUSD(number); !errors.Is(err, want) {
			t.Errorf("%q: %d, %v; want %v", number, got, err, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{1,25})?(e[+-]?[0-9])?`).Draw(t, "number")
		got, err := money.RoundUSD(money.Number(number))
		micros, _ := new(big.Rat).SetString(number)
		micros.Mul(micros, big.NewRat(1_000_000, 1))
		away := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(got)), micros)
		if beyond := micros.Abs(micros).Cmp(new(big.Rat).SetInt64(math.MaxInt64)) > 0; beyond && err == nil || !beyond && err != nil {
			t.Fatalf("%v", err)
		}
		if err == nil && away.Abs(away).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%s became %d millionths", number, got)
		}
	})
}
