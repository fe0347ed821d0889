package money

import (
	"errors"

	"holdco/domain/fault"
)

// USD is an amount of US dollars in millionths: one dollar is 1,000,000. Its range is about 9.2 trillion dollars,
// positive and negative.
type USD int64

// Dollar is one US dollar.
const Dollar USD = 1_000_000

// ParseUSD parses dollars with at most 6 decimals. Its errors are those of Number.Scaled.
func ParseUSD(n Number) (USD, error) {
	micros, err := n.Scaled(6)
	return USD(micros), err
}

// ParseBetween parses dollars with at most 6 decimals, from one amount to another, both included. The paths of faults are path:
// fault.TooPrecise, fault.OutOfRange.
func ParseBetween(path string, sent Number, from, to USD) (USD, []fault.Field) {
	amount, err := ParseUSD(sent)
	switch {
	case errors.Is(err, ErrTooPrecise):
		return 0, []fault.Field{fault.Fieldf(path, fault.TooPrecise, "%s must have at most 6 decimals", path)}
	case err != nil || amount < from || amount > to:
		return 0, []fault.Field{fault.Fieldf(path, fault.OutOfRange, "%s must be from %s to %s", path, from, to)}
	}
	return amount, nil
}

// ParseCharge parses the dollars of a charge, from one amount to another, both included. Programs compute them in binary floats, so
// they can have any number of decimals: they are rounded up to the next millionth. So 3.3000000000000003, which is 1.1 times 3 there, is
// 3.300001, and no charge is less than what was said. The path of its fault is path: fault.OutOfRange.
func ParseCharge(path string, sent Number, from, to USD) (USD, []fault.Field) {
	below, above, err := sent.between(6)
	if err != nil || USD(below) < from || USD(above) > to {
		return 0, []fault.Field{fault.Fieldf(path, fault.OutOfRange, "%s must be from %s to %s", path, from, to)}
	}
	return USD(above), nil
}

// String formats the amount in dollars, in its shortest form: 1500, 0.25, -3.000001.
func (u USD) String() string { return Decimal(int64(u), 6) }

// MarshalJSON encodes the amount as a JSON number of dollars.
func (u USD) MarshalJSON() ([]byte, error) { return []byte(u.String()), nil }

// Percent is a percentage in hundredths: 12.5 % is 1250.
type Percent int64

// ParsePercent parses a percentage with at most 2 decimals. Its errors are those of Number.Scaled.
func ParsePercent(n Number) (Percent, error) {
	hundredths, err := n.Scaled(2)
	return Percent(hundredths), err
}

// String formats the percentage in its shortest form: 20, 12.5.
func (p Percent) String() string { return Decimal(int64(p), 2) }

// MarshalJSON encodes the percentage as a JSON number.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }
