package price_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/cost"
	"holdco/domain/money"
	"holdco/domain/price"
)

func TestPricesAreReadAsDecimals(t *testing.T) {
	t.Parallel()
	for number, want := range map[money.Number]price.Price{
		"0": 0, "3e-06": 3_000_000, "0.000003": 3_000_000, "1.5E-5": 15_000_000, "2.75e-07": 275_000, "1": price.Most,
		"0.0000000000005": 1, "0.00000000000049999": 0, "1.0000000000004": price.Most, "1e-400": 0,
	} {
		if got, err := price.ParsePerToken(number); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", number, got, err, want)
		}
	}
	for number, want := range map[money.Number]price.Price{"3": 3_000_000, "0.0000005": 1, "2.5": 2_500_000, "1000000": price.Most} {
		if got, err := price.ParsePerMillion(number); got != want || err != nil {
			t.Errorf("%s per million: %d, %v; want %d", number, got, err, want)
		}
	}
	const negative, high = "it must not be negative", "it must be at most 1 USD per token, which is 1000000 per million"
	for number, want := range map[money.Number]string{
		"-1": negative, "-0.0000000000000001": negative, "-1e400": negative, "1.000000000001": high, "1e400": high, "7": high,
		"": "it must be a number such as 2.50", "NaN": "it must be a number such as 2.50", "1,5": "it must be a number such as 2.50",
	} {
		if got, err := price.ParsePerToken(number); err == nil || err.Error() != want {
			t.Errorf("%q: %d, %v; want %s", number, got, err, want)
		}
	}
}

func TestAPriceIsSpelledExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPrice.Draw(t, "price")
		if again, err := price.ParsePerToken(money.Number(p.PerToken())); again != p || err != nil {
			t.Fatalf("%d is spelled %s, which is %d, %v", p, p.PerToken(), again, err)
		}
		if again, err := price.ParsePerMillion(money.Number(p.PerMillion().String())); again != p || err != nil {
			t.Fatalf("%d is %s per million, which is %d, %v", p, p.PerMillion(), again, err)
		}
	})
}

var (
	anyPrice  = rapid.OneOf(rapid.Just(price.Price(0)), rapid.Just(price.Most), rapid.Map(rapid.Int64Range(0, int64(price.Most)), priceOf))
	anyTokens = rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 400_000), rapid.Int64Range(0, cost.MostTokens),
		rapid.Just(int64(cost.MostTokens)))
)

func priceOf(n int64) price.Price { return price.Price(n) }

// The amount is that of exact arithmetic on integers of any size, rounded up once.
func TestAnAmountIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		steps := func(name string, base bool) (s price.Steps) {
			if base || rapid.Bool().Draw(t, name+" has a base") {
				s = price.Steps{{Price: anyPrice.Draw(t, name)}}
			}
			if rapid.Bool().Draw(t, name+" has a step") {
				s = append(s, price.Step{Above: 128_000, Price: anyPrice.Draw(t, name+" above 128k")})
			}
			if rapid.Bool().Draw(t, name+" has another") {
				s = append(s, price.Step{Above: 200_000, Price: anyPrice.Draw(t, name+" above 200k")})
			}
			return s
		}
		m := price.Model{
			ID: "m", Input: steps("input", true), Output: steps("output", true),
			CacheRead: steps("cacheRead", false), CacheWrite: steps("cacheWrite", false),
		}
		tokens := cost.Tokens{
			Input: anyTokens.Draw(t, "in"), Output: anyTokens.Draw(t, "out"),
			CacheRead: anyTokens.Draw(t, "read"), CacheWrite: anyTokens.Draw(t, "write"),
		}
		calls := rapid.Int64Range(1, 2).Draw(t, "calls")
		table := price.Initial()
		table.Models = []price.Model{m}
		got, isKnown := table.Index().Price("m", tokens, calls)
		if want := amountOf(m, tokens, calls); !isKnown || want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("%v of %+v in %d calls cost %d, want %v", tokens, m, calls, int64(got), want)
		}
	})
}

// amountOf is the rule again, in the plainest way.
func amountOf(m price.Model, tokens cost.Tokens, calls int64) *big.Int {
	each := func(steps, otherwise price.Steps) *big.Int {
		found := int64(-1)
		for _, from := range []price.Steps{steps, otherwise} {
			for _, step := range from {
				isLong := calls == 1 && tokens.Input+tokens.CacheRead+tokens.CacheWrite > step.Above
				if step.Above == 0 || isLong {
					found = int64(step.Price)
				}
			}
			if found >= 0 {
				break
			}
		}
		return big.NewInt(found)
	}
	sum := new(big.Int)
	for _, part := range []struct {
		tokens int64
		price  *big.Int
	}{
		{tokens.Input, each(m.Input, nil)}, {tokens.Output, each(m.Output, nil)},
		{tokens.CacheRead, each(m.CacheRead, m.Input)}, {tokens.CacheWrite, each(m.CacheWrite, m.Input)},
	} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(part.tokens), part.price))
	}
	sum.Add(sum, big.NewInt(999_999))
	return sum.Div(sum, big.NewInt(1_000_000))
}

func TestLongCallsCostMore(t *testing.T) {
	t.Parallel()
	index := price.Initial().Index()
	for _, c := range []struct {
		tokens cost.Tokens
		calls  int64
		want   money.USD
	}{
		{cost.Tokens{Input: 200_000, Output: 1000}, 1, 200_000*3 + 1000*15},
		{cost.Tokens{Input: 200_001, Output: 1000}, 1, 200_001*6 + 22_500},
		{cost.Tokens{Input: 200_001, Output: 1000}, 2, 200_001*3 + 1000*15},
		{cost.Tokens{Input: 1, CacheRead: 100_000, CacheWrite: 100_000}, 1, 6 + 60_000 + 750_000},
		{cost.Tokens{Input: 0, CacheRead: 100_000, CacheWrite: 100_000}, 1, 30_000 + 375_000},
		{cost.Tokens{CacheRead: 1}, 1, 1}, // 0.3 millionths
	} {
		if got, isKnown := index.Price("claude-sonnet-4-5", c.tokens, c.calls); got != c.want || !isKnown {
			t.Errorf("%v in %d calls: %d, %t; want %d", c.tokens, c.calls, int64(got), isKnown, int64(c.want))
		}
	}
}
