package budget

import (
	"errors"
	"strings"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/money"
)

// Most is the largest budget that can be set.
const Most = 1_000_000_000 * money.Dollar

// whole is 100 %.
// LeastReserve and MostReserve bound what a lease can be set to reserve for an issue that has no budget of its own.
const (
	LeastReserve money.USD = 1
	MostReserve            = 1_000_000 * money.Dollar
)

const whole money.Percent = 100_00

// Period is the time that a budget covers, in UTC: a calendar day, an ISO week, a month or a quarter.
type Period string

// The periods.
const (
	Daily     Period = "daily"
	Weekly    Period = "weekly"
	Monthly   Period = "monthly"
	Quarterly Period = "quarterly"
)

var periods = []Period{Daily, Weekly, Monthly, Quarterly}

// ParsePeriod parses a period. The paths of faults are path.
func ParsePeriod(path, text string) (Period, []fault.Field) {
	names := make([]string, len(periods))
	for i, period := range periods {
		if names[i] = string(period); names[i] == text {
			return period, nil
		}
	}
	return "", []fault.Field{fault.Fieldf(path, fault.UnknownValue, "%s must be one of %s", path, strings.Join(names, ", "))}
}

// Budget is the budget of a company for the current period, and the share of it that is reserved.
type Budget struct {
	USD            money.USD // 0 to Most
	Period         Period
	ReservePercent money.Percent // 0 to 100 %
}

// Fields returns the budget as the API shows it.
func (b Budget) Fields() event.Fields {
	return event.Fields{
		event.F("usd", b.USD),
		event.F("period", string(b.Period)),
		event.F("reservePercent", b.ReservePercent),
	}
}

// Change is what was sent of a budget; nil fields were absent.
type Change struct {
	USD            *money.Number
	Period         *string
	ReservePercent *money.Number
}

// Apply returns b with the change. Figures that cannot be represented are in invalid; those that can, but are no budget
// (usd below 0, reservePercent outside 0 to 100), are in outOfBounds. Paths start with "budget.".
func (b Budget) Apply(change Change) (next Budget, invalid, outOfBounds []fault.Field) {
	if change.USD != nil {
		amount, err := money.ParseUSD(*change.USD)
		switch {
		case isBelowZero(*change.USD, int64(amount), err):
			outOfBounds = append(outOfBounds, fault.Fieldf("budget.usd", fault.OutOfRange, "budget.usd must be 0 or more"))
		case errors.Is(err, money.ErrTooPrecise):
			invalid = append(invalid, fault.Fieldf("budget.usd", fault.TooPrecise, "budget.usd must have at most 6 decimals"))
		case err != nil || amount > Most:
			invalid = append(invalid, fault.Fieldf("budget.usd", fault.OutOfRange, "budget.usd must be at most %s", Most))
		}
		b.USD = amount
	}
	if change.Period != nil {
		var faults []fault.Field
		b.Period, faults = ParsePeriod("budget.period", *change.Period)
		invalid = append(invalid, faults...)
	}
	if change.ReservePercent != nil {
		percent, err := money.ParsePercent(*change.ReservePercent)
		switch {
		case errors.Is(err, money.ErrTooPrecise):
			invalid = append(invalid, fault.Fieldf("budget.reservePercent", fault.TooPrecise,
				"budget.reservePercent must have at most 2 decimals"))
		case err != nil || percent < 0 || percent > whole:
			outOfBounds = append(outOfBounds, fault.Fieldf("budget.reservePercent", fault.OutOfRange,
				"budget.reservePercent must be from 0 to 100"))
		}
		b.ReservePercent = percent
	}
	return b, invalid, outOfBounds
}

// isBelowZero reports whether an amount is negative, even if it is too large to be represented.
func isBelowZero(sent money.Number, parsed int64, err error) bool {
	return parsed < 0 || errors.Is(err, money.ErrOutOfRange) && strings.HasPrefix(string(sent), "-")
}
