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
	rest := string(n)
	rest, negative := strings.CutPrefix(rest, "-")
	exponent := 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		var err error
		if exponent, err = parseExponent(rest[at+1:]); err != nil {
			return 0, err
		}
		rest = rest[:at]
	}
	whole, fraction, dotted := strings.Cut(rest, ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, ErrSyntax
	}

	// The number is digits * 10^shift; make shift 0 by dropping or adding zeros.
	digits := strings.TrimLeft(whole+fraction, "0")
	shift := exponent - len(fraction) + scale
	for shift < 0 && strings.HasSuffix(digits, "0") {
		digits, shift = digits[:len(digits)-1], shift+1
	}
	switch {
	case digits == "":
		return 0, nil
	case shift < 0:
		return 0, ErrTooPrecise
	case len(digits)+shift > 19:
		return 0, ErrOutOfRange
	}
	value, err := strconv.ParseUint(digits+strings.Repeat("0", shift), 10, 64)
	if err != nil || value > math.MaxInt64 {
		return 0, ErrOutOfRange
	}
	if negative {
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

// shortest formats value / 10^scale without needless zeros.
func shortest(value int64, scale int) string {
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
