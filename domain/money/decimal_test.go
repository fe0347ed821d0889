package money_test

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/money"
)

func TestScaledReadsEverySpellingOfANumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number money.Number
		scale  int
		want   int64
	}{
		{"0", 6, 0},
		{"-0", 6, 0},
		{"-0.000", 6, 0},
		{"0e999999999", 6, 0},
		{"0.00e-999999999", 6, 0},
		{"1", 6, 1_000_000},
		{"-1", 6, -1_000_000},
		{"1.5", 6, 1_500_000},
		{"1.50", 6, 1_500_000},
		{"15e-1", 6, 1_500_000},
		{"0.15E+1", 6, 1_500_000},
		{"0.000001", 6, 1},
		{"0.0000010000000000000000000000000", 6, 1},
		{"1e-6", 6, 1},
		{"10e-7", 6, 1},
		{"1000000000000000000000000e-24", 6, 1_000_000},
		{"0.000000000000000000000001e24", 6, 1_000_000},
		{"12.5", 2, 1250},
		{"7", 0, 7},
		{"9223372036854.775807", 6, math.MaxInt64},
		{"-9223372036854.775807", 6, -math.MaxInt64},
	} {
		if got, err := c.number.Scaled(c.scale); got != c.want || err != nil {
			t.Errorf("%s by 10^%d: %d, %v; want %d", c.number, c.scale, got, err, c.want)
		}
	}
}

func TestScaledRefusesWhatItCannotHold(t *testing.T) {
	t.Parallel()
	for number, want := range map[money.Number]error{
		"":                      money.ErrSyntax,
		"-":                     money.ErrSyntax,
		"--1":                   money.ErrSyntax,
		"+1":                    money.ErrSyntax,
		".5":                    money.ErrSyntax,
		"5.":                    money.ErrSyntax,
		"1.2.3":                 money.ErrSyntax,
		"1e":                    money.ErrSyntax,
		"1e+":                   money.ErrSyntax,
		"1e+-2":                 money.ErrSyntax,
		"1e2.5":                 money.ErrSyntax,
		"1e2e3":                 money.ErrSyntax,
		"0x10":                  money.ErrSyntax,
		"1_000":                 money.ErrSyntax,
		" 1":                    money.ErrSyntax,
		"NaN":                   money.ErrSyntax,
		"Infinity":              money.ErrSyntax,
		"١":                     money.ErrSyntax,
		"0.0000001":             money.ErrTooPrecise,
		"1e-7":                  money.ErrTooPrecise,
		"1e-999999999":          money.ErrTooPrecise,
		"-1e-99999999999999999": money.ErrTooPrecise,
		"9223372036854.775808":  money.ErrOutOfRange,
		"-9223372036854.775808": money.ErrOutOfRange,
		"1e13":                  money.ErrOutOfRange,
		"1e999999999":           money.ErrOutOfRange,
		"-1e99999999999999999":  money.ErrOutOfRange,
	} {
		if got, err := number.Scaled(6); !errors.Is(err, want) {
			t.Errorf("%q: %d, %v; want %v", number, got, err, want)
		}
	}
}

func TestScaledIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,25})?(e[+-]?[0-9]{1,2})?`).Draw(t, "number")
		scale := rapid.IntRange(0, 9).Draw(t, "scale")
		got, err := money.Number(number).Scaled(scale)

		exact, _ := new(big.Rat).SetString(number)
		exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
		switch {
		case !exact.IsInt():
			if !errors.Is(err, money.ErrTooPrecise) {
				t.Fatalf("%d, %v; want ErrTooPrecise", got, err)
			}
		case exact.Num().BitLen() > 63:
			if !errors.Is(err, money.ErrOutOfRange) {
				t.Fatalf("%d, %v; want ErrOutOfRange", got, err)
			}
		case err != nil || got != exact.Num().Int64():
			t.Fatalf("%d, %v; want %v", got, err, exact.Num())
		}
	})
}

func TestAnAbsurdExponentCostsNothing(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for range 1000 {
		_, _ = money.Number("1e999999999").Scaled(6)
		_, _ = money.Number("1e-999999999").Scaled(6)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("2000 numbers took %v", took)
	}
}
