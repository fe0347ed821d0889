package budget

import (
	"math/bits"

	"holdco/domain/money"
)

// Share returns a percentage of an amount, rounded up.
func Share(of money.USD, percent money.Percent) money.USD {
	high, low := bits.Mul64(uint64(of), uint64(percent))
	quotient, rest := bits.Div64(high, low, uint64(whole))
	if rest > 0 {
		quotient++
	}
	return money.USD(quotient)
}

// Spendable is what the company may spend without its reserve.
func (b Budget) Spendable() money.USD { return b.USD - Share(b.USD, b.ReservePercent) }

// Used is how much of a limit is spent, in percent, rounded down to hundredths; nil if there is no limit, or one of nothing.
func Used(spent money.USD, of Limit) any {
	if !of.IsSet || of.USD == 0 {
		return nil
	}
	high, low := bits.Mul64(uint64(spent), uint64(whole))
	if high >= uint64(of.USD) { // more than can be shown
		return nil
	}
	quotient, _ := bits.Div64(high, low, uint64(of.USD))
	return money.Percent(quotient)
}
