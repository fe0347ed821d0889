package lead_test

import (
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/lead"
)

func TestTheLeastRatingIsAnyDecimalRoundedUp(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]lead.Rating{
		"0":                                   0,
		"5":                                   500,
		"4.2":                                 420,
		"4.25":                                425,
		"4.250000":                            425,
		"4.2500001":                           426,
		"4.251":                               426,
		"4.991":                               500,
		"5.0000":                              500,
		"0.001":                               1,
		"0.000":                               0,
		"00":                                  0,
		"004.50":                              450,
		strings.Repeat("0", 100) + "3":        300,
		"3." + strings.Repeat("0", 1000):      300,
		"3." + strings.Repeat("0", 1e6):       300,
		"0." + strings.Repeat("9", 100):       100,
		"4.2" + strings.Repeat("0", 99):       420,
		"4.2" + strings.Repeat("0", 99) + "1": 421,
	} {
		if got, ok := lead.ParseMinRating(text); got != want || !ok {
			t.Errorf("%.40s: %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestWhatIsNoLeastRatingIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", ".", "5.", ".5", "-0", "-1", "+1", "5.01", "5.000001", "6", "10", "500", "1e0", "4,5", "1.2.3", "0x1", "1_0", " 4",
		"4 ", "4\n",
		"4\x00", "NaN", "Inf", "٣", "4.٣", "four", "null", "true", "9223372036854775807", "18446744073709551616", "92233720368547758.08",
		strings.Repeat("9", 1e6), "5." + strings.Repeat("0", 1000) + "1", "4.5/5",
	} {
		if got, ok := lead.ParseMinRating(text); ok || got != 0 {
			t.Errorf("%.40q is read as %d", text, got)
		}
		if got, ok := lead.ParseMaxRating(text); ok || got != 0 {
			t.Errorf("%.40q is read as the most, %d", text, got)
		}
	}
}

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// exactly is what ParseMinRating should give.
func exactly(text string) (lead.Rating, bool) {
	if !decimal.MatchString(text) {
		return 0, false
	}
	hundredths, _ := new(big.Rat).SetString(text)
	hundredths.Mul(hundredths, big.NewRat(100, 1))
	if hundredths.Cmp(big.NewRat(500, 1)) > 0 {
		return 0, false
	}
	up, rest := new(big.Int).QuoRem(hundredths.Num(), hundredths.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		up.Add(up, big.NewInt(1))
	}
	return lead.Rating(up.Int64()), true
}

func TestTheLeastRatingIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`0{0,3}[0-9](\.[0-9]{1,30})?`).Draw(t, "text")
		got, ok := lead.ParseMinRating(text)
		if want, wanted := exactly(text); got != want || ok != wanted {
			t.Fatalf("%d, %v; want %d, %v", got, ok, want, wanted)
		}
		most, ok := lead.ParseMaxRating(text)
		if want, wanted := exactly(text); ok != wanted || most > want || want > most+1 || wanted && (want == most) != isWhole(text) {
			t.Fatalf("%d, %v is the most; the least is %d, %v", most, ok, want, wanted)
		}
	})
}

// isWhole reports whether a decimal number has no more than hundredths.
func isWhole(text string) bool {
	number, _ := new(big.Rat).SetString(text)
	return number.Mul(number, big.NewRat(100, 1)).IsInt()
}

func FuzzParseMinRating(f *testing.F) {
	for _, text := range []string{"4.25", "5.000", "0.0000000001", "", "1e3", "-1", "99999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := lead.ParseMinRating(text)
		if want, wanted := exactly(text); got != want || ok != wanted {
			t.Fatalf("%q: %d, %v; want %d, %v", text, got, ok, want, wanted)
		}
	})
}
