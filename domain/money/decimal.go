package money

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Number is a decimal number as it was written in JSON: text until it is scaled.
type Number string

// The errors of Number.Scaled.
var (
	ErrSyntax     = errors.New("not a decimal number")
	ErrTooPrecise = errors.New("too many decimals")
	ErrOutOfRange = errors.New("out of range")
)

// Scaled returns n times ten to the power of scale, exactly. Trailing zeros and exponents are fine, so 1.50, 15e-1 and
// 1.5 are the same number. It fails with ErrSyntax, ErrTooPrecise, or ErrOutOfRange (beyond 63 bits).
func (n Number) Scaled(scale int) (int64, error) {
	d, err := n.decimal()
	if err != nil {
		return 0, err
	}
	if d.exponent+scale < 0 && d.digits != "" {
		return 0, ErrTooPrecise
	}
	return d.shifted(scale)
}

// Ceil is Scaled for a number with any number of decimals: it is rounded up to the next whole number.
func (n Number) Ceil(scale int) (int64, error) {
	_, above, err := n.between(scale)
	return above, err
}

// between returns the whole numbers next to n times ten to the power of scale, which are the same if it is one.
func (n Number) between(scale int) (below, above int64, err error) {
	d, err := n.decimal()
	if err != nil {
		return 0, 0, err
	}
	excess := -(d.exponent + scale) // digits behind the point
	if excess <= 0 || d.digits == "" {
		below, err = d.shifted(scale)
		return below, below, err
	}
	d.digits, d.exponent = d.digits[:max(len(d.digits)-excess, 0)], -scale
	value, err := d.shifted(scale) // without what is behind the point
	switch {
	case err != nil:
		return 0, 0, err
	case value == math.MaxInt64 || value == -math.MaxInt64:
		return 0, 0, ErrOutOfRange
	case d.negative:
		return value - 1, value, nil
	}
	return value, value + 1, nil
}

// Rounded is Scaled for a number with any number of decimals: it is rounded to the nearest whole number, a half away from zero.
func (n Number) Rounded(scale int) (int64, error) {
	d, err := n.decimal()
	if err != nil {
		return 0, err
	}
	excess := -(d.exponent + scale) // digits behind the point
	if excess <= 0 {
		return d.shifted(scale)
	}
	if excess > len(d.digits) {
		return 0, nil
	}
	half := d.digits[len(d.digits)-excess] >= '5'
	d.digits, d.exponent = d.digits[:len(d.digits)-excess], -scale
	value, err := d.shifted(scale)
	switch {
	case err != nil || !half:
		return value, err
	case value == math.MaxInt64 || value == -math.MaxInt64:
		return 0, ErrOutOfRange
	case d.negative:
		return value - 1, nil
	}
	return value + 1, nil
}

// decimal is the number digits * 10^exponent. The digits neither begin nor end with a zero; zero has none.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

func (n Number) decimal() (decimal, error) {
	rest := string(n)
	rest, negative := strings.CutPrefix(rest, "-")
	exponent := 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		var err error
		if exponent, err = parseExponent(rest[at+1:]); err != nil {
			return decimal{}, err
		}
		rest = rest[:at]
	}
	whole, fraction, dotted := strings.Cut(rest, ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return decimal{}, ErrSyntax
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	shortened := strings.TrimRight(digits, "0")
	return decimal{negative, shortened, exponent - len(fraction) + len(digits) - len(shortened)}, nil
}

// shifted returns the number times ten to the power of scale, which is whole.
func (d decimal) shifted(scale int) (int64, error) {
	zeros := d.exponent + scale
	switch {
	case d.digits == "":
		return 0, nil
	case len(d.digits)+zeros > 19:
		return 0, ErrOutOfRange
	}
	value, err := strconv.ParseUint(d.digits+strings.Repeat("0", zeros), 10, 64)
	if err != nil || value > math.MaxInt64 {
		return 0, ErrOutOfRange
	}
	if d.negative {
		return -int64(value), nil
	}
	return int64(value), nil
}

// parseExponent parses the digits after an e. It clamps an absurd exponent to one that no number survives, so that it
// costs no memory.
func parseExponent(text string) (int, error) {
	const absurd = 1 << 20
	unsigned := strings.TrimPrefix(strings.TrimPrefix(text, "+"), "-")
	if unsigned == "" || len(text)-len(unsigned) > 1 || strings.Trim(unsigned, "0123456789") != "" {
		return 0, ErrSyntax
	}
	exponent, err := strconv.Atoi(text)
	if err != nil || exponent > absurd || exponent < -absurd {
		exponent = absurd
		if strings.HasPrefix(text, "-") {
			exponent = -absurd
		}
	}
	return exponent, nil
}

// Decimal formats value / 10^scale without needless zeros.
func Decimal(value int64, scale int) string {
	sign := ""
	magnitude := uint64(value)
	if value < 0 {
		sign, magnitude = "-", -magnitude
	}
	digits := strconv.FormatUint(magnitude, 10)
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, fraction := digits[:len(digits)-scale], strings.TrimRight(digits[len(digits)-scale:], "0")
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}
