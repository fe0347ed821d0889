package cost

import (
	"math"
	"math/big"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/instant"
	"holdco/domain/money"
)

// Forecast is what a company will probably have spent at the end of the current period.
type Forecast struct {
	Period              Range // as a whole
	Spent               money.USD
	Expected, Low, High money.USD
	BasisDays           int          // how many whole days it is based on
	Limit               budget.Limit // what may be spent in the period
	ExhaustedAt         time.Time    // when that will probably be spent; zero: not in the period
}

// Foresee makes a forecast for the current period of a budget from what was spent on each of its days, of which those that are missing
// cost nothing. Expected is Spent and, for the days that are left, a part of a day too, the mean of the days that are over. Low and High
// take one standard deviation of these days from the mean, or add it; Low is at least Spent. On the first day the rate is that since
// midnight, of an hour at least, Low is Spent, and High takes twice the rate. ExhaustedAt goes by the mean. All figures are rounded
// down. Amounts that cannot be represented are the most that can.
func Foresee(period budget.Period, limit budget.Limit, perDay map[string]Sum, now time.Time) Forecast {
	start := period.Start(now)
	f := Forecast{
		Period: Range{Start: start, End: period.End(start), Label: string(period)}, Spent: Total(perDay).USD(), Limit: limit,
		BasisDays: int(now.Sub(start) / day),
	}
	left, whole := milliseconds(f.Period.End.Sub(now)), milliseconds(day)
	spent := big.NewInt(int64(f.Spent))
	plus := func(perDay *big.Int) money.USD { // spent + perDay * left
		more := new(big.Int).Mul(perDay, left)
		return clamped(more.Add(more.Quo(more, whole), spent))
	}
	var rate *big.Int
	if f.BasisDays > 0 {
		var deviation *big.Int
		rate, deviation = meanAndDeviation(start, f.BasisDays, perDay)
		f.Low, f.High = f.Spent, plus(new(big.Int).Add(rate, deviation))
		if below := new(big.Int).Sub(rate, deviation); below.Sign() > 0 {
			f.Low = plus(below)
		}
	} else {
		rate = new(big.Int).Mul(spent, whole)
		rate.Quo(rate, milliseconds(max(now.Sub(start), time.Hour)))
		f.Low, f.High = f.Spent, plus(new(big.Int).Lsh(rate, 1))
	}
	f.Expected = plus(rate)
	f.ExhaustedAt = f.exhausted(rate, now)
	return f
}

// meanAndDeviation are the mean and the population standard deviation of what the first days cost.
func meanAndDeviation(start time.Time, days int, perDay map[string]Sum) (mean, deviation *big.Int) {
	n, sum, squares := big.NewInt(int64(days)), new(big.Int), new(big.Int)
	for d := range days {
		spent := big.NewInt(int64(perDay[start.AddDate(0, 0, d).Format(time.DateOnly)].USD()))
		sum.Add(sum, spent)
		squares.Add(squares, new(big.Int).Mul(spent, spent))
	}
	variance := new(big.Int).Mul(n, squares) // times n squared
	variance.Sub(variance, new(big.Int).Mul(sum, sum))
	variance.Quo(variance, new(big.Int).Mul(n, n))
	return new(big.Int).Quo(sum, n), variance.Sqrt(variance)
}

// exhausted is when the limit will be spent at a rate per day from now on.
func (f Forecast) exhausted(rate *big.Int, now time.Time) time.Time {
	switch {
	case !f.Limit.IsSet:
		return time.Time{}
	case f.Spent >= f.Limit.USD:
		return now
	case rate.Sign() <= 0:
		return time.Time{}
	}
	wait := big.NewInt(int64(f.Limit.USD - f.Spent))
	wait.Quo(wait.Mul(wait, milliseconds(day)), rate)
	if wait.Cmp(milliseconds(f.Period.End.Sub(now))) >= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(wait.Int64()) * time.Millisecond)
}

func milliseconds(of time.Duration) *big.Int { return big.NewInt(of.Milliseconds()) }

func clamped(amount *big.Int) money.USD {
	if !amount.IsInt64() {
		return math.MaxInt64
	}
	return money.USD(amount.Int64())
}

// Fields returns the forecast as the API shows it.
func (f Forecast) Fields() event.Fields {
	return event.Fields{
		event.F("period", f.Period.fields()),
		event.F("spentUsd", f.Spent),
		event.F("expectedUsd", f.Expected),
		event.F("lowUsd", f.Low),
		event.F("highUsd", f.High),
		event.F("basisDays", f.BasisDays),
		f.Limit.Field("budgetUsd"),
		event.F("exhaustedAt", instant.Optional(f.ExhaustedAt)),
	}
}
