package usage_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/money"
	"holdco/domain/usage"
)

// flatPrices are a millionth of a dollar for each token.
type flatPrices struct{ isKnown bool }

func (f flatPrices) Price(_ string, t cost.Tokens, _ int64) (money.USD, bool) {
	return money.USD(t.Input + t.Output + t.CacheRead + t.CacheWrite), f.isKnown
}

func (flatPrices) Revision() int64 { return 1 }

// charger charges what is due, as a runner does, whose calls sometimes fail.
type charger struct {
	parser  *usage.Parser
	prices  cost.Prices
	entries []cost.Entry
	failed  []cost.Draft // due in a call whose outcome was not known: they are due again
}

func (c *charger) charge(t *rapid.T) {
	for limit := rapid.IntRange(1, 4).Draw(t, "limit"); ; {
		due := c.parser.Due(limit)
		if c.failed != nil && !cmp.Equal(due[:min(len(due), len(c.failed))], c.failed[:min(len(due), len(c.failed))]) {
			t.Fatalf("%+v are due after %+v failed", due, c.failed)
		}
		c.failed = nil
		if len(due) == 0 {
			return
		}
		if len(due) > limit {
			t.Fatalf("%d are due at once", len(due))
		}
		if rapid.IntRange(0, 3).Draw(t, "fate") == 0 {
			c.failed = due
			return
		}
		var problems fault.Problems
		entries := cost.Parse(due, c.prices, &problems)
		if len(problems) > 0 {
			t.Fatalf("%+v: %v", due, problems)
		}
		for _, entry := range entries {
			if slices.ContainsFunc(c.entries, func(e cost.Entry) bool { return e.Key == entry.Key }) {
				t.Fatalf("%s is charged twice", entry.Key)
			}
		}
		c.entries = append(c.entries, entries...)
		c.parser.Charged(entries...)
		c.parser.Charged(entries...) // it may be told twice
	}
}

// run writes lines in pieces of any size, and charges what is due at any moment.
func (c *charger) run(t *rapid.T, lines []string) {
	for rest := strings.Join(lines, "\n") + "\n"; rest != ""; {
		n := min(len(rest), rapid.SampledFrom([]int{1, 20, 300, 5000}).Draw(t, "piece"))
		c.parser.Write([]byte(rest[:n]))
		rest = rest[n:]
		if rapid.IntRange(0, 2).Draw(t, "when") == 0 {
			c.charge(t)
		}
	}
}

// end charges the rest.
func (c *charger) end(t *rapid.T) {
	c.parser.Report(noon)
	for {
		before := len(c.entries)
		if c.charge(t); c.failed == nil && before == len(c.entries) {
			return
		}
	}
}

func (c *charger) sum() (usd money.USD, tokens cost.Tokens, ofTokens money.USD) {
	for _, entry := range c.entries {
		usd, tokens = usd+entry.USD, tokens.Plus(entry.Tokens)
		if entry.Revision > 0 {
			ofTokens += entry.USD
		}
	}
	return usd, tokens, ofTokens
}

func drawTokens(t *rapid.T) cost.Tokens {
	n := rapid.Int64Range(0, 1000)
	return cost.Tokens{Input: n.Draw(t, "input"), Output: n.Draw(t, "output"), CacheRead: n.Draw(t, "read"), CacheWrite: n.Draw(t, "write")}
}

func claudeUsage(u cost.Tokens) string {
	return fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}`,
		u.Input, u.Output, u.CacheRead, u.CacheWrite)
}

// Whatever is charged when, Claude Code costs what its result says, or, if that is more, what was charged by tokens before. If it is
// killed, it costs what it had shown.
func TestClaudeCostsWhatItSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prices := flatPrices{isKnown: rapid.Bool().Draw(t, "is known")}
		c := charger{parser: usage.NewParser(usage.ClaudeJSON, usage.Options{}), prices: prices}
		var lines []string
		shown := map[string]cost.Tokens{}
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			id := fmt.Sprintf("m%d", rapid.IntRange(0, 6).Draw(t, "id"))
			tokens := drawTokens(t)
			lines = append(lines, fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"model-%s","usage":%s}}`,
				id, id[1:], claudeUsage(tokens)))
			was := shown[id]
			shown[id] = cost.Tokens{
				Input: max(was.Input, tokens.Input), Output: max(was.Output, tokens.Output),
				CacheRead: max(was.CacheRead, tokens.CacheRead), CacheWrite: max(was.CacheWrite, tokens.CacheWrite),
			}
		}
		var stream cost.Tokens
		for _, tokens := range shown {
			stream = stream.Plus(tokens)
		}
		isKilled := rapid.Bool().Draw(t, "is killed")
		total, all := money.USD(rapid.Int64Range(0, 30_000).Draw(t, "total")), stream.Plus(drawTokens(t))
		if !isKilled {
			lines = append(lines, fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"total_cost_usd":%s,"usage":%s}`,
				total, claudeUsage(all)))
		}
		c.run(t, lines)
		c.end(t)
		usd, tokens, ofTokens := c.sum()
		if want, _ := prices.Price("", stream, 1); isKilled && (usd != want || tokens != stream) {
			t.Fatalf("killed: %v for %+v, want %v for %+v", usd, tokens, want, stream)
		}
		if !isKilled && (usd != max(total, ofTokens) || tokens != all) {
			t.Fatalf("%v for %+v, %v of tokens, want %v for %+v", usd, tokens, ofTokens, total, all)
		}
	})
}

// When the price of its model is not known, tokens of Claude wait for its dollars after the first charge.
func TestTokensWithoutAPriceWaitForDollars(t *testing.T) {
	t.Parallel()
	message := func(id string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"m","usage":{"input_tokens":100}}}`+"\n", id)
	}
	parse := func(parser *usage.Parser, prices cost.Prices) (entries []cost.Entry) {
		var problems fault.Problems
		entries = cost.Parse(parser.Due(10), prices, &problems)
		parser.Charged(entries...)
		return entries
	}
	for _, isKilled := range []bool{false, true} {
		parser := usage.NewParser(usage.ClaudeJSON, usage.Options{})
		parser.Write([]byte(message("1")))
		if entries := parse(parser, flatPrices{}); len(entries) != 1 || entries[0].USD != 100 || entries[0].Key != "usage-1" {
			t.Errorf("%+v", entries)
		}
		parser.Write([]byte(message("2") + message("3")))
		if entries := parse(parser, flatPrices{}); len(entries) > 0 {
			t.Errorf("%+v", entries)
		}
		want := cost.Entry{Key: "usage-2", Kind: cost.LLM, USD: 150, Tokens: cost.Tokens{Input: 200}, Calls: 2}
		if isKilled {
			want.Model, want.USD, want.Unpriced, want.Revision = "m", 200, true, 1
		} else {
			parser.Write([]byte(`{"type":"result","is_error":false,"total_cost_usd":0.00025,"usage":{"input_tokens":300}}`))
		}
		parser.Report(noon)
		if diff := cmp.Diff([]cost.Entry{want}, parse(parser, flatPrices{})); diff != "" {
			t.Error(diff)
		}
		if entries := parse(parser, flatPrices{}); len(entries) > 0 {
			t.Errorf("%+v", entries)
		}
	}
}

// Opencode costs what its steps say, each rounded up, and where they say no dollars, their tokens are charged.
func TestOpencodeCostsWhatItsStepsSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prices := flatPrices{isKnown: rapid.Bool().Draw(t, "is known")}
		c := charger{parser: usage.NewParser(usage.OpencodeJSON, usage.Options{}), prices: prices}
		var lines []string
		var want money.USD
		var all cost.Tokens
		for range rapid.IntRange(0, 10).Draw(t, "steps") {
			tokens, usd := drawTokens(t), "0"
			reasoning := rapid.Int64Range(0, 50).Draw(t, "reasoning")
			if rapid.Bool().Draw(t, "has dollars") {
				usd = rapid.StringMatching(`0\.00[0-9]{1,12}[1-9]`).Draw(t, "usd")
			}
			lines = append(lines, fmt.Sprintf(
				`{"type":"step_finish","part":{"reason":"stop","cost":%s,`+
					`"tokens":{"input":%d,"output":%d,"reasoning":%d,"cache":{"read":%d,"write":%d}}}}`,
				usd, tokens.Input, tokens.Output, reasoning, tokens.CacheRead, tokens.CacheWrite))
			tokens.Output += reasoning
			all = all.Plus(tokens)
			if usd == "0" {
				amount, _ := flatPrices{}.Price("", tokens, 1)
				want += amount
				continue
			}
			micros, _ := new(big.Rat).SetString(usd)
			micros.Mul(micros, big.NewRat(1_000_000, 1))
			whole := new(big.Int).Div(new(big.Int).Add(micros.Num(), new(big.Int).Sub(micros.Denom(), big.NewInt(1))), micros.Denom())
			want += money.USD(whole.Int64())
		}
		c.run(t, lines)
		c.end(t)
		if usd, tokens, _ := c.sum(); usd != want || tokens != all {
			t.Fatalf("%v for %+v, want %v for %+v", usd, tokens, want, all)
		}
	})
}

// A thread of Codex is charged for what is new since its last report, which may be one of an earlier run. If it starts to count again,
// it is charged for all that it reports.
func TestThreadsOfCodexAreChargedForWhatIsNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		threads := map[string]cost.Tokens{}
		names := []string{"a", "b", "c"}
		runs := rapid.IntRange(1, 3).Draw(t, "runs")
		for n := range runs {
			c := charger{parser: usage.NewParser(usage.CodexJSON, usage.Options{Threads: threads}), prices: flatPrices{}}
			before := maps.Clone(threads)
			counts, used := maps.Clone(threads), cost.Tokens{}
			var lines []string
			for range rapid.IntRange(0, 6).Draw(t, "turns") {
				name, more := rapid.SampledFrom(names).Draw(t, "thread"), drawTokens(t)
				total := counts[name].Plus(more)
				if n == runs-1 && rapid.IntRange(0, 4).Draw(t, "counts again") == 0 {
					more.Input, more.Output = 0, 0 // less than before, if there was something
					if counts[name].Output > 0 {
						total = more
					} else {
						total = counts[name].Plus(more)
					}
				}
				counts[name], used = total, used.Plus(more)
				lines = append(lines, fmt.Sprintf(`{"type":"thread.started","thread_id":%q}`, name), `{"type":"turn.started"}`, fmt.Sprintf(
					`{"type":"turn.completed","usage":{"input_tokens":%d,"cached_input_tokens":%d,`+
						`"cache_write_input_tokens":%d,"output_tokens":%d}}`,
					total.Input+total.CacheRead+total.CacheWrite, total.CacheRead, total.CacheWrite, total.Output))
			}
			c.run(t, lines)
			c.end(t)
			if _, tokens, _ := c.sum(); tokens != used || !maps.Equal(before, threads) {
				t.Fatalf("%+v is charged, want %+v", tokens, used)
			}
			for _, entry := range c.entries { // what the store adds up
				threads[entry.Session] = threads[entry.Session].Plus(entry.Tokens)
			}
		}
	})
}

// What a line says is charged once, under its key.
func TestLinesForHoldcoAreChargedOnceEach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := charger{parser: usage.NewParser(usage.HoldcoJSON, usage.Options{}), prices: flatPrices{}}
		var lines []string
		keys := map[string]bool{}
		for n := range rapid.IntRange(0, 20).Draw(t, "lines") {
			key := ""
			if rapid.Bool().Draw(t, "has a key") {
				name := fmt.Sprintf("k%d", rapid.IntRange(0, 5).Draw(t, "key"))
				key, keys[name] = fmt.Sprintf(`"key":%q,`, name), true
			} else {
				keys[fmt.Sprint("#", n)] = true
			}
			lines = append(lines, fmt.Sprintf(`{"holdco":{"cost":{%s"kind":"tools","usd":7.5e-7}}}`, key))
		}
		c.run(t, lines)
		c.end(t)
		if usd, _, _ := c.sum(); usd != money.USD(len(keys)) || len(c.entries) != len(keys) {
			t.Fatalf("%d charges of %v, want %d", len(c.entries), usd, len(keys))
		}
	})
}

// What is more than one charge can hold comes in several.
func TestManyTokensComeInSeveralCharges(t *testing.T) {
	t.Parallel()
	turn := func(thread string, input int64) string {
		return fmt.Sprintf(`{"type":"thread.started","thread_id":%q}`+"\n"+
			`{"type":"turn.completed","usage":{"input_tokens":%d}}`+"\n", thread, input)
	}
	charges := chargesOf(t, reported(usage.CodexJSON, turn("a", cost.MostTokens)+turn("b", cost.MostTokens)+turn("c", 5)))
	if len(charges) != 3 || charges[1].Tokens.Input != cost.MostTokens || charges[2].Tokens.Input != 5 {
		t.Errorf("%+v", charges)
	}
}
