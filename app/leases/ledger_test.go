package leases_test

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"time"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/money"
)

// ledger is the money of one company as the rules say that it is. It keeps what happened, and nothing that follows from that: whatever
// it is asked, it adds up again.
type ledger struct {
	company id.Company
	usd     money.USD
	percent money.Percent
	period  budget.Period
	limits  map[string]budget.Limit   // as they were set for teams, agents (in a day), goals, projects and issues
	perTask map[id.Agent]budget.Limit // of the issues of an agent that have none
	marks   map[string]mark
	runs    []*stint
	bills   []*bill
}

// mark is what was reported of an envelope in a period, and what the reserve gave in it.
type mark struct {
	period budget.Period
	start  time.Time
	fired  int
	hardAt time.Time
	topups money.USD
}

// stint is a run.
type stint struct {
	grant

	issue   id.Issue
	goal    id.Goal
	project id.Project
	held    money.USD
	isOpen  bool
	endedAt time.Time
	sent    map[string]cost.Draft // charges by key
}

// bill is a cost entry.
type bill struct {
	id      id.Cost
	of      *stint
	at      time.Time
	usd     money.USD
	kind    cost.Kind
	model   string
	tokens  cost.Tokens
	calls   int64
	adjusts *bill
}

// pot is an envelope.
type pot struct {
	scope budget.Scope
	id    string
	agent id.Agent // of an issue: whose limit it has without one of its own
}

func (l *ledger) whole() pot { return pot{scope: budget.OfCompany, id: string(l.company)} }

// pots are the envelopes of a lease.
func (l *ledger) pots(of *stint) []pot {
	all := []pot{l.whole(), {scope: budget.OfTeam, id: string(of.by.Team)}, {scope: budget.OfAgent, id: string(of.by.ID)}}
	if of.goal != "" {
		all = append(all, pot{scope: budget.OfGoal, id: string(of.goal)})
	}
	if of.project != "" {
		all = append(all, pot{scope: budget.OfProject, id: string(of.project)})
	}
	return append(all, pot{budget.OfIssue, string(of.issue), of.by.ID})
}

// isIn reports whether what a run costs counts in an envelope.
func (p pot) isIn(of *stint) bool {
	switch p.scope {
	case budget.OfCompany:
		return true
	case budget.OfTeam:
		return p.id == string(of.by.Team)
	case budget.OfAgent:
		return p.id == string(of.by.ID)
	case budget.OfGoal:
		return p.id == string(of.goal)
	case budget.OfProject:
		return p.id == string(of.project)
	default:
		return p.id == string(of.issue)
	}
}

func (l *ledger) periodOf(p pot) budget.Period {
	switch p.scope {
	case budget.OfCompany, budget.OfTeam:
		return l.period
	case budget.OfAgent:
		return budget.Daily
	}
	return budget.Always
}

// startOf goes back day by day until the period begins.
func startOf(period budget.Period, now time.Time) time.Time {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	begins := map[budget.Period]func() bool{
		budget.Daily:     func() bool { return true },
		budget.Weekly:    func() bool { return day.Weekday() == time.Monday },
		budget.Monthly:   func() bool { return day.Day() == 1 },
		budget.Quarterly: func() bool { return day.Day() == 1 && (day.Month()-1)%3 == 0 },
	}[period]
	if begins == nil {
		return time.Time{}
	}
	for !begins() {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

// endOf goes on day by day until the next period begins.
func endOf(period budget.Period, now time.Time) time.Time {
	for day := startOf(budget.Daily, now).AddDate(0, 0, 1); ; day = day.AddDate(0, 0, 1) {
		if startOf(period, day).Equal(day) {
			return day
		}
	}
}

func (l *ledger) mark(p pot, now time.Time) mark {
	period := l.periodOf(p)
	start := startOf(period, now)
	if m := l.marks[p.id]; m.period == period && m.start.Equal(start) {
		return m
	}
	return mark{period: period, start: start}
}

func (l *ledger) spent(p pot, now time.Time) (sum money.USD) {
	start := startOf(l.periodOf(p), now)
	for _, one := range l.bills {
		if p.isIn(one.of) && !one.at.Before(start) {
			sum += one.usd
		}
	}
	return sum
}

func (l *ledger) held(p pot) (sum money.USD) {
	for _, one := range l.runs {
		if p.isIn(one) {
			sum += one.held
		}
	}
	return sum
}

func (l *ledger) reserve(now time.Time) money.USD {
	share := new(big.Int).Mul(big.NewInt(int64(l.usd)), big.NewInt(int64(l.percent)))
	whole, rest := share.QuoRem(share, big.NewInt(100_00), new(big.Int))
	reserve := money.USD(whole.Int64())
	if rest.Sign() > 0 {
		reserve++
	}
	return max(0, reserve-l.mark(l.whole(), now).topups)
}

// set is the limit as it was set.
func (l *ledger) set(p pot) budget.Limit {
	switch own, isSet := l.limits[p.id]; {
	case p.scope == budget.OfCompany:
		return budget.Of(l.usd)
	case isSet && own.IsSet:
		return own
	case p.scope == budget.OfIssue:
		return l.perTask[p.agent]
	}
	return budget.Limit{}
}

func (l *ledger) limit(p pot, now time.Time) budget.Limit {
	limit := l.set(p)
	switch {
	case !limit.IsSet:
	case p.scope == budget.OfCompany:
		limit.USD -= l.reserve(now)
	case p.scope == budget.OfTeam:
		limit.USD += l.mark(p, now).topups
	}
	return limit
}

func (l *ledger) available(p pot, now time.Time) budget.Limit { return l.leastLeft([]pot{p}, 0, now) }

// leastLeft is the smallest that any envelope has for a lease that holds an amount.
func (l *ledger) leastLeft(all []pot, held money.USD, now time.Time) (least budget.Limit) {
	for _, p := range all {
		has := l.limit(p, now)
		has.USD += held - l.spent(p, now) - l.held(p)
		if has.IsSet && (!least.IsSet || has.USD < least.USD) {
			least = budget.Of(max(0, has.USD))
		}
	}
	return least
}

// level is how many of the levels are reached.
func (l *ledger) level(p pot, now time.Time) int {
	limit, spent := l.limit(p, now), l.spent(p, now)
	switch {
	case !limit.IsSet || limit.USD == 0 && spent == 0:
		return 0
	case p.scope == budget.OfCompany && spent >= l.usd:
		return 3
	case spent >= limit.USD:
		return 2
	case 5*spent >= 4*limit.USD:
		return 1
	}
	return 0
}

// need is what a lease reserves, and whether it is granted.
func (l *ledger) need(of *stint, now time.Time) (money.USD, bool) {
	all := l.pots(of)
	its, least := all[len(all)-1], l.leastLeft(all, 0, now)
	if limit := l.limit(its, now); limit.IsSet {
		need := limit.USD - l.spent(its, now)
		return need, need > 0 && need <= least.USD
	}
	need := money.USD(100_000)
	if least.IsSet {
		need = min(need, least.USD)
	}
	return need, need > 0
}

// breach is a level that is reported.
type breach struct {
	of            string
	level         string
	limit, spent  money.USD
	isOfTheWorkOf budget.Scope
}

// report notes which levels the envelopes have reached, and returns those that were not reported in the period.
func (l *ledger) report(all []pot, now time.Time) (passed []breach) {
	for _, p := range all {
		m, level := l.mark(p, now), l.level(p, now)
		switch {
		case level < 2:
			m.hardAt = time.Time{}
		case m.hardAt.IsZero():
			m.hardAt = now
		}
		for ; m.fired < level; m.fired++ {
			passed = append(passed, breach{p.id, string(budget.Levels[m.fired+1]), l.set(p).USD, l.spent(p, now), p.scope})
		}
		l.marks[p.id] = m
	}
	return passed
}

// rebudget is report for envelopes with another limit: levels that are not reached any more can be reported again.
func (l *ledger) rebudget(all []pot, now time.Time) []breach {
	for _, p := range all {
		l.forget(p, now)
	}
	return l.report(all, now)
}

// granted is report for a new lease: an issue without a limit has that of its agent, which may be another than before.
func (l *ledger) granted(of *stint, now time.Time) []breach {
	all := l.pots(of)
	if its := all[len(all)-1]; !l.limits[its.id].IsSet {
		l.forget(its, now)
	}
	return l.report(all, now)
}

// forget lets levels be reported again that are not reached.
func (l *ledger) forget(p pot, now time.Time) {
	m := l.mark(p, now)
	m.fired = min(m.fired, l.level(p, now))
	l.marks[p.id] = m
}

// endTopups takes back what the reserve gave, because the kind of period is another now.
func (l *ledger) endTopups() {
	for which, m := range l.marks {
		m.topups = 0
		l.marks[which] = m
	}
}

// finishBy is when the leases under envelopes have to end; zero: no limit is reached.
func (l *ledger) finishBy(all []pot, now time.Time) (first time.Time) {
	for _, p := range all {
		if m := l.mark(p, now); l.level(p, now) >= 2 && !m.hardAt.IsZero() {
			if by := m.hardAt.Add(10 * time.Minute); first.IsZero() || by.Before(first) {
				first = by
			}
		}
	}
	return first
}

func (l *ledger) teamsSum(but id.Team, teams []id.Team) (sum money.USD) {
	for _, which := range teams {
		if which != but {
			sum += l.limits[string(which)].USD
		}
	}
	return sum
}

// add adds a charge.
func (l *ledger) add(one *bill) {
	one.of.held -= min(one.usd, one.of.held)
	l.bills = append(l.bills, one)
}

// within are the bills of a range that meet a condition.
func (l *ledger) within(start, end time.Time, is func(of *stint) bool) (found []*bill) {
	for _, one := range l.bills {
		if !one.at.Before(start) && one.at.Before(end) && is(one.of) {
			found = append(found, one)
		}
	}
	return found
}

// sumsBy adds bills up by a key. Sums of nothing are left out.
func sumsBy(bills []*bill, key func(one *bill) string) map[string]cost.Sum {
	sums := map[string]cost.Sum{}
	for _, one := range bills {
		sum := sums[key(one)]
		switch one.kind {
		case cost.LLM:
			sum.LLM += one.usd
		case cost.Tools:
			sum.Tools += one.usd
		default:
			sum.RuntimeServices += one.usd
		}
		sum.Tokens.Input += one.tokens.Input
		sum.Tokens.Output += one.tokens.Output
		sum.Tokens.CacheRead += one.tokens.CacheRead
		sum.Tokens.CacheWrite += one.tokens.CacheWrite
		sum.Calls += one.calls
		sums[key(one)] = sum
	}
	return something(sums)
}

func something(sums map[string]cost.Sum) map[string]cost.Sum {
	found := maps.Clone(sums)
	maps.DeleteFunc(found, func(_ string, sum cost.Sum) bool { return sum == cost.Sum{} })
	if found == nil {
		found = map[string]cost.Sum{}
	}
	return found
}

// net is what an entry costs with its corrections.
func (l *ledger) net(of *bill) money.USD {
	sum := of.usd
	for _, one := range l.bills {
		if one.adjusts == of {
			sum += one.usd
		}
	}
	return sum
}

// newest are all bills, newest first.
func (l *ledger) newest() []*bill {
	return slices.SortedFunc(slices.Values(l.bills), func(a, b *bill) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.id, a.id))
	})
}

// forecast is the expected, the low and the high figure, how many days they are based on, and when the limit is reached.
func (l *ledger) forecast(now time.Time) (f cost.Forecast) {
	start, end := startOf(l.period, now), endOf(l.period, now)
	f.Period = cost.Range{Start: start, End: end, Label: string(l.period)}
	f.Limit, f.Spent = l.limit(l.whole(), now), l.spent(l.whole(), now)
	const day = 24 * time.Hour
	var days []*big.Int
	for at := start; !at.Add(day).After(now); at = at.Add(day) {
		var sum money.USD
		for _, one := range l.within(at, at.Add(day), func(*stint) bool { return true }) {
			sum += one.usd
		}
		days = append(days, big.NewInt(int64(sum)))
	}
	f.BasisDays = len(days)
	floor := func(of *big.Rat) *big.Int { return new(big.Int).Div(of.Num(), of.Denom()) }
	left, spent := big.NewRat(end.Sub(now).Milliseconds(), day.Milliseconds()), new(big.Rat).SetInt64(int64(f.Spent))
	to := func(rate *big.Int) money.USD { // spent and what a rate per day comes to
		more := new(big.Rat).Mul(new(big.Rat).SetInt(rate), left)
		return money.USD(floor(more.Add(more, spent)).Int64())
	}
	rate := new(big.Int)
	if n := big.NewInt(int64(len(days))); len(days) > 0 {
		for _, d := range days {
			rate.Add(rate, d)
		}
		mean := new(big.Rat).SetFrac(rate, n)
		variance := new(big.Rat)
		for _, d := range days {
			off := new(big.Rat).Sub(new(big.Rat).SetInt(d), mean)
			variance.Add(variance, off.Mul(off, off))
		}
		deviation := new(big.Int).Sqrt(floor(variance.Quo(variance, new(big.Rat).SetInt(n))))
		rate = floor(mean)
		f.Low, f.High = f.Spent, to(new(big.Int).Add(rate, deviation))
		if rate.Cmp(deviation) > 0 {
			f.Low = to(new(big.Int).Sub(rate, deviation))
		}
	} else {
		gone := big.NewRat(max(now.Sub(start), time.Hour).Milliseconds(), day.Milliseconds())
		rate = floor(new(big.Rat).Quo(spent, gone))
		f.Low, f.High = f.Spent, to(new(big.Int).Mul(rate, big.NewInt(2)))
	}
	f.Expected = to(rate)
	if f.Spent >= f.Limit.USD {
		f.ExhaustedAt = now
	} else if rate.Sign() > 0 {
		wait := new(big.Rat).SetFrac(big.NewInt(int64(f.Limit.USD-f.Spent)), rate)
		wait.Mul(wait, new(big.Rat).SetInt64(day.Milliseconds()))
		if ms := floor(wait); ms.Cmp(big.NewInt(end.Sub(now).Milliseconds())) < 0 {
			f.ExhaustedAt = now.Add(time.Duration(ms.Int64()) * time.Millisecond)
		}
	}
	return f
}

// tokenPrices are what the ledger charges for tokens of a model, in 10^-12 dollars: input, output, cached input that is read and written.
// Others cost the fallback, 15 and 75 dollars per million.
var tokenPrices = map[string][4]int64{"odd": {123_457, 7_000_001, 12_345, 333_333}, "cheap": {1, 1, 1, 1}}

func priceOf(model string, tokens cost.Tokens) money.USD {
	prices, isKnown := tokenPrices[model]
	if !isKnown {
		prices = [4]int64{15_000_000, 75_000_000, 15_000_000, 15_000_000}
	}
	sum := new(big.Int)
	for n, count := range []int64{tokens.Input, tokens.Output, tokens.CacheRead, tokens.CacheWrite} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(count), big.NewInt(prices[n])))
	}
	whole, rest := sum.QuoRem(sum, big.NewInt(1_000_000), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return money.USD(whole.Int64())
}

// mayHave is the stint that a claim of an agent would begin.
func mayHave(by agent.Caller, which id.Issue, goal id.Goal, project id.Project) *stint {
	return &stint{grant: grant{by: by}, issue: which, goal: goal, project: project, isOpen: true, sent: map[string]cost.Draft{}}
}
