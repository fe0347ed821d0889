package price

import (
	"errors"
	"strings"

	"holdco/domain/money"
)

// Price is what one token costs, in picodollars: 10^-12 US dollars. So it is also what a million tokens cost, in millionths of a
// dollar.
type Price int64

// Most is the highest price: a dollar for one token. There are public lists with prices of half a dollar.
const Most Price = 1_000_000_000_000

// The errors of ParsePerToken and ParsePerMillion, beside those of money.Number.
var (
	errNegative = errors.New("it must not be negative")
	errTooHigh  = errors.New("it must be at most 1 USD per token, which is 1000000 per million")
)

// ParsePerToken parses dollars per token. They are rounded to whole picodollars, a half up.
func ParsePerToken(n money.Number) (Price, error) { return parse(n, 12) }

// ParsePerMillion parses dollars per million tokens. They are rounded as those of ParsePerToken.
func ParsePerMillion(n money.Number) (Price, error) { return parse(n, 6) }

func parse(n money.Number, scale int) (Price, error) {
	picodollars, err := n.Rounded(scale)
	switch {
	case errors.Is(err, money.ErrOutOfRange) && !strings.HasPrefix(string(n), "-"), picodollars > int64(Most):
		return 0, errTooHigh
	case errors.Is(err, money.ErrSyntax):
		return 0, errors.New("it must be a number such as 2.50")
	case strings.HasPrefix(string(n), "-"):
		return 0, errNegative
	}
	return Price(picodollars), err
}

// PerToken spells the price in dollars per token, exactly.
func (p Price) PerToken() string { return money.Decimal(int64(p), 12) }

// PerMillion is the price of a million tokens.
func (p Price) PerMillion() money.USD { return money.USD(p) }
