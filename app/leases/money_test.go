package leases_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"holdco/app/cache"
	"holdco/app/prices"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/price"
	"holdco/domain/run"
	"holdco/domain/team"
	"holdco/ports/inbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// history is what happens to the money of a company, step by step, beside a ledger that says what has to come of it.
type history struct {
	*testing.T
	*ledger

	w            *world
	o            *office
	pick         *rand.Rand
	goals        []id.Goal
	projects     []id.Project
	isArchived   bool
	isRebudgeted bool              // by the last step: agents are likely to be told
	issues       map[id.Issue]bool // that were filed
	lastEvent    id.Entry
	passed       []breach // what the step has to report
	isOver       bool     // whether the step ends all leases
	ended        []*stint // by the step
	trace        []string
}

func (w *world) history(t *testing.T, seed uint64) *history {
	t.Helper()
	h := &history{
		T: t, w: w, o: w.offices[0], pick: rand.New(rand.NewPCG(seed, 0)), issues: map[id.Issue]bool{},
		ledger: &ledger{
			company: w.offices[0].id, usd: 1_000_000 * money.Dollar, limits: map[string]budget.Limit{},
			perTask: map[id.Agent]budget.Limit{}, marks: map[string]mark{}, period: budget.Monthly,
		},
	}
	set := prices.New(w.store, &cache.Prices{})
	for model, of := range tokenPrices {
		draft := price.Draft{}
		for n, to := range []**money.Number{&draft.Input, &draft.Output, &draft.CacheRead, &draft.CacheWrite} {
			*to = number(money.USD(of[n]))
		}
		must[price.Model](t)(set.Set(w.ctx, caller, model, draft))
	}
	for n := range 2 {
		made := must[goal.ShownGoal](t)(w.goals.Create(w.ctx, caller, h.o.id, goal.Draft{PurposeDraft: goal.PurposeDraft{
			Title: new(fmt.Sprint("Goal ", n)),
		}}, idempotency.Request{}))
		h.goals = append(h.goals, made.Of.ID)
		project := must[goal.ShownProject](t)(w.projects.Create(w.ctx, caller, h.o.id, goal.ProjectDraft{PurposeDraft: goal.PurposeDraft{
			Title: new(fmt.Sprint("Project ", n)),
		}}, idempotency.Request{}))
		h.projects = append(h.projects, project.Of.ID)
	}
	of := must[company.Company](t)(w.store.Companies().Get(w.ctx, h.o.id))
	h.percent, h.period = of.Budget.ReservePercent, of.Budget.Period
	h.reported()
	return h
}

// number is an amount as it is sent.
func number(of money.USD) *money.Number {
	sign := ""
	if of < 0 {
		sign, of = "-", -of
	}
	return new(money.Number(fmt.Sprintf("%s%d.%06d", sign, of/money.Dollar, of%money.Dollar)))
}

func (h *history) now() time.Time { return h.w.clock.Now() }

func (h *history) chance(percent int) bool { return h.pick.IntN(100) < percent }

func any1[T any](h *history, list []T) T { return list[h.pick.IntN(len(list))] }

// upTo is an amount, often an odd one.
func (h *history) upTo(most money.USD) money.USD {
	switch h.pick.IntN(6) {
	case 0:
		return most
	case 1:
		return money.USD(h.pick.Int64N(3))
	case 2:
		return money.USD(h.pick.Int64N(int64(most)/10 + 1))
	}
	return money.USD(h.pick.Int64N(int64(most) + 1))
}

// steps are all that can happen. What happens more often is in it more often.
var steps = slices.Concat(
	slices.Repeat([]func(h *history) string{(*history).claim}, 8),
	slices.Repeat([]func(h *history) string{(*history).charge}, 10),
	slices.Repeat([]func(h *history) string{(*history).end, (*history).move, (*history).file}, 4),
	slices.Repeat([]func(h *history) string{(*history).renew, (*history).renew, (*history).adjust, (*history).topup, (*history).time}, 2),
	[]func(h *history) string{
		(*history).budgetOfCompany, (*history).budgetOfCompany, (*history).budgetOfTeam, (*history).budgetOfAgent,
		(*history).budgetOfPurpose, (*history).budgetOfIssue, (*history).archive,
	},
)

// goOn makes steps, each between two checks.
func (h *history) goOn(count int) {
	h.Helper()
	for n := range count {
		h.passed, h.isOver, h.ended = nil, false, nil
		next := any1(h, steps)
		switch {
		case h.isArchived && h.chance(30):
			next = (*history).archive
		case len(h.open()) == 0 && h.chance(30):
			next = (*history).claim
		case h.isRebudgeted && h.chance(80):
			next = (*history).renew
		}
		h.isRebudgeted = false
		step := next(h)
		h.trace = append(h.trace, fmt.Sprintf("%d %s %s", n, h.now().Format(time.RFC3339), step))
		h.check(n%50 == 49)
		if h.Failed() {
			h.Fatalf("after\n%s", strings.Join(h.trace[max(0, len(h.trace)-30):], "\n"))
		}
	}
}

// is checks whether an action was refused, and how.
func (h *history) is(what string, err error, want fault.Code) bool {
	h.Helper()
	if h.isArchived && what != "charge" && want == "" {
		want = fault.CompanyArchived
	}
	if got := fault.CodeOf(err); got != want && (!h.isArchived || what == "charge" || got != fault.CompanyArchived) {
		h.Errorf("%s: %v, want %q", what, err, want)
	}
	return err == nil
}

func (h *history) file() string {
	if len(h.waiting()) > 25 {
		return "file nothing"
	}
	draft := issue.Draft{Title: new("Task")}
	draft.Priority, draft.MaxAttempts = new(any1(h, []string{"low", "normal", "urgent"})), new(int64(20))
	draft.RequiresReview = new(h.chance(50))
	switch h.pick.IntN(4) {
	case 0:
		draft.Agent = new(string(any1(h, h.o.agents)))
	case 1:
		draft.Team = new(string(any1(h, h.o.teams)))
	}
	if h.chance(40) {
		draft.Project = new(new(string(any1(h, h.projects))))
	}
	if h.chance(40) {
		draft.Goal = new(new(string(any1(h, h.goals))))
	}
	limit := h.limitUpTo(2 * money.Dollar)
	if limit.IsSet {
		draft.PerTask = new(number(limit.USD))
	}
	made, err := h.w.issues.Create(h.w.ctx, caller, h.o.id, draft, idempotency.Request{})
	if h.is("file", err, "") {
		h.limits[string(made.ID)], h.issues[made.ID] = limit, true
	}
	return fmt.Sprintf("file %s %+v: %v", made.ID, limit, err)
}

func (h *history) limitUpTo(most money.USD) budget.Limit {
	if h.chance(60) {
		return budget.Limit{}
	}
	return budget.Of(h.upTo(most))
}

func sent(limit budget.Limit) *money.Number {
	if !limit.IsSet {
		return nil
	}
	return number(limit.USD)
}

// waiting are the issues that agents may take, in the order in which they do.
func (h *history) waiting() []issue.Issue {
	h.Helper()
	filter := store.IssueFilter{Company: h.o.id, Status: []issue.Status{issue.Queued, issue.Assigned}}
	b := books{issues: map[id.Issue]issue.Issue{}}
	for _, i := range everything(h, func(after page.Position) (page.Page[issue.Issue], error) {
		return h.w.store.Issues().List(h.w.ctx, filter, after, page.MaxSize)
	}) {
		b.issues[i.ID] = i
	}
	return b.mayBeLeased()
}

func (h *history) claim() string {
	by := h.o.caller(h.pick.IntN(len(h.o.agents)))
	var want *stint
	var held money.USD
	for _, i := range h.waiting() {
		if mayTake(agent.Agent{ID: by.ID, Team: by.Team}, i) {
			next := mayHave(by, i.ID, i.Goal, i.Project)
			if need, isGranted := h.need(next, h.now()); isGranted {
				want, held = next, need
				break
			}
		}
	}
	granted, err := h.w.leases.Claim(h.w.ctx, by, inbound.Claim{LeaseSeconds: new(int64(600))})
	switch {
	case !h.is("claim", err, ""):
	case (granted == nil) != (want == nil):
		h.Errorf("the claim got %+v, want %+v", granted, want)
	case granted != nil:
		want.held = held
		if granted.Issue.ID != want.issue || granted.Run.Held != held {
			h.Errorf("the claim got %s, which holds %s, want %s with %s", granted.Issue.ID, granted.Run.Held, want.issue, held)
		}
		want.run, want.lease, want.token = granted.Run.ID, granted.Run.Lease.ID, granted.Run.Lease.Token
		h.runs = append(h.runs, want)
		h.passed = h.granted(want, h.now())
		h.left(want, granted.Budget)
		return fmt.Sprintf("claim of %s: %s under %s holds %s", by.ID, want.issue, want.run, held)
	}
	return fmt.Sprintf("claim of %s: none, %v", by.ID, err)
}

// left checks what an agent is told of its budgets. When its lease has ended, it does not matter any more.
func (h *history) left(of *stint, got inbound.LeaseBudget) {
	h.Helper()
	if !of.isOpen {
		return
	}
	all, level := h.pots(of), 0
	want := inbound.LeaseBudget{Remaining: h.leastLeft(all, of.held, h.now()), FinishBy: h.finishBy(all, h.now())}
	for _, p := range all {
		level = max(level, h.level(p, h.now()))
	}
	if want.Level = budget.Levels[level]; got != want {
		h.Errorf("the agent of %s is told %+v, want %+v", of.run, got, want)
	}
}

// open are the runs that have not ended.
func (l *ledger) open() (found []*stint) {
	for _, one := range l.runs {
		if one.isOpen {
			found = append(found, one)
		}
	}
	return found
}

// someRun is an open one, or one of the last ones.
func (h *history) someRun(openPercent int) *stint {
	if open := h.open(); len(open) > 0 && h.chance(openPercent) {
		return any1(h, open)
	}
	if len(h.runs) == 0 {
		return nil
	}
	return any1(h, h.runs[max(0, len(h.runs)-10):])
}

func (of *stint) call() inbound.LeaseCall {
	return inbound.LeaseCall{Lease: of.lease, Token: &of.token}
}

// someCharge is a new charge, one that was sent before, or another one under the same key.
func (h *history) someCharge(of *stint) cost.Draft {
	keys := slices.Sorted(maps.Keys(of.sent))
	if len(keys) > 0 && h.chance(15) {
		again := of.sent[any1(h, keys)]
		if h.chance(25) && again.USD != nil {
			again.USD = number(h.upTo(money.Dollar))
		}
		return again
	}
	draft := cost.Draft{Key: new(fmt.Sprint("key-", h.pick.IntN(1000)))}
	draft.Kind = new(string(any1(h, []cost.Kind{cost.LLM, cost.LLM, cost.Tools, cost.RuntimeServices})))
	if *draft.Kind == string(cost.LLM) && h.chance(60) {
		draft.Model = new(any1(h, []string{"odd", "cheap", "unheard-of"}))
		count := func() *int64 {
			if h.chance(20) {
				return nil
			}
			return new(h.pick.Int64N(3_000))
		}
		draft.Tokens = &cost.TokensDraft{Input: count(), Output: count(), CacheRead: count(), CacheWrite: count()}
		if h.chance(30) {
			draft.Calls = new(1 + h.pick.Int64N(5))
		}
		if h.chance(80) {
			return draft
		}
	}
	draft.USD = number(h.upTo(any1(h, []money.USD{30_000, 100_000, money.Dollar})))
	if h.chance(1) {
		draft.USD = number(cost.Most)
	}
	return draft
}

// billOf is what comes of a charge, but for its id.
func billOf(of *stint, draft cost.Draft, at time.Time) *bill {
	value := func(of *int64, or int64) int64 {
		if of == nil {
			return or
		}
		return *of
	}
	made := &bill{of: of, at: at, kind: cost.Kind(*draft.Kind), calls: value(draft.Calls, 1)}
	if draft.Model != nil {
		made.model = *draft.Model
	}
	if t := draft.Tokens; t != nil {
		made.tokens = cost.Tokens{
			Input: value(t.Input, 0), Output: value(t.Output, 0), CacheRead: value(t.CacheRead, 0), CacheWrite: value(t.CacheWrite, 0),
		}
	}
	if draft.USD != nil {
		made.usd, _ = money.ParseUSD(*draft.USD)
	} else {
		made.usd = priceOf(made.model, made.tokens)
	}
	return made
}

// bill says what has to come of charges: the bill of each, nil for one that was sent before, or that all are refused.
func (h *history) bill(of *stint, drafts []cost.Draft) (made []*bill, isConflict bool) {
	known := maps.Clone(of.sent)
	for _, draft := range drafts {
		before, isKnown := known[*draft.Key]
		known[*draft.Key] = draft
		switch {
		case !isKnown:
			made = append(made, billOf(of, draft, h.now()))
			continue
		case gocmp.Diff(before, draft) != "":
			was, is := billOf(of, before, h.now()), billOf(of, draft, h.now())
			isSame := (before.USD == nil) == (draft.USD == nil) && was.usd == is.usd && was.kind == is.kind && was.model == is.model &&
				was.tokens == is.tokens && was.calls == is.calls
			isConflict = isConflict || !isSame
		}
		made = append(made, nil)
	}
	return made, isConflict
}

// count counts charges that were taken. Entries are what they were told to be; nil: they were not.
func (h *history) count(of *stint, drafts []cost.Draft, made []*bill, entries []inbound.ChargeOutcome) {
	h.Helper()
	if entries == nil {
		for _, one := range must[[]costEntry](h)(h.w.store.Runs().Charges(h.w.ctx, of.run, keysOf(drafts))) {
			for n, draft := range drafts {
				if *draft.Key == one.Key && made[n] != nil {
					made[n].id = one.ID
				}
			}
		}
	}
	for n, one := range made {
		of.sent[*drafts[n].Key] = drafts[n]
		if entries != nil {
			got := entries[n]
			if got.IsDuplicate != (one == nil) || one != nil && (got.Entry.USD != one.usd || !got.Entry.At.Equal(one.at)) {
				h.Errorf("%s: charge %d is %+v, want %+v", of.run, n, got, one)
			}
			if one != nil {
				one.id = entries[n].Entry.ID
			}
		}
		if one != nil {
			h.add(one)
		}
	}
}

func keysOf(drafts []cost.Draft) (keys []string) {
	for _, draft := range drafts {
		keys = append(keys, *draft.Key)
	}
	return keys
}

// follow is what follows from charges and ends: levels are passed, and with the last one all leases end.
func (h *history) follow(passed []breach) {
	h.passed = append(h.passed, passed...)
	for _, one := range passed {
		h.isOver = h.isOver || one.level == string(budget.Catastrophic)
	}
	if h.isOver {
		h.ended = append(h.ended, h.open()...)
	}
}

func (h *history) charge() string {
	of := h.someRun(95)
	if of == nil {
		return "charge nothing"
	}
	drafts := []cost.Draft{h.someCharge(of)}
	for h.chance(30) {
		drafts = append(drafts, h.someCharge(of))
	}
	made, isConflict := h.bill(of, drafts)
	want := fault.Code("")
	switch {
	case !of.isOpen && h.now().Sub(of.endedAt) > 24*time.Hour:
		want = fault.StaleLease
	case isConflict:
		want = fault.IdempotencyConflict
	}
	state, outcomes, err := h.w.leases.Charge(h.w.ctx, of.by, of.call(), drafts)
	if h.is("charge", err, want) {
		held := of.held
		h.count(of, drafts, made, outcomes)
		if of.held != held || slices.ContainsFunc(made, func(one *bill) bool { return one != nil && one.usd != 0 }) {
			h.follow(h.report(h.pots(of), h.now()))
		}
		for _, one := range outcomes {
			if !of.isOpen && !one.IsDuplicate && !one.Entry.Late {
				h.Errorf("%+v is not late", one)
			}
		}
		h.left(of, state.Budget)
	}
	return fmt.Sprintf("charge on %s: %d %v", of.run, len(drafts), err)
}

// isLive reports whether a lease can be used, as far as time goes.
func (h *history) isLive(of *stint) bool {
	if !of.isOpen || h.isArchived {
		return false
	}
	found := must[[]inbound.Lease](h)(h.w.leases.List(h.w.ctx, of.by))
	return slices.ContainsFunc(found, func(one inbound.Lease) bool { return one.Run.ID == of.run })
}

func (h *history) renew() string {
	of := h.someRun(100)
	if of == nil || !h.isLive(of) {
		return "renew nothing"
	}
	state, err := h.w.leases.Renew(h.w.ctx, of.by, of.call())
	if h.is("renew", err, "") {
		h.left(of, state.Budget)
	}
	return fmt.Sprintf("renew %s: %v", of.run, err)
}

func (h *history) end() string {
	of := h.someRun(100)
	if of == nil || !h.isLive(of) {
		return "end nothing"
	}
	end := inbound.LeaseEnd{Action: any1(h, []issue.Action{issue.Complete, issue.Fail, issue.Release, issue.HandOff})}
	switch end.Action {
	case issue.Fail:
		end.Failure = run.FailureDraft{Code: new("broken"), Message: new("No.")}
	case issue.HandOff:
		end.Note.Body = new("Help")
	}
	for range h.pick.IntN(3) {
		end.Charges = append(end.Charges, h.someCharge(of))
	}
	made, isConflict := h.bill(of, end.Charges)
	want := fault.Code("")
	if isConflict {
		want = fault.IdempotencyConflict
	}
	held := of.held
	_, err := h.w.leases.End(h.w.ctx, of.by, of.call(), end)
	if h.is("end", err, want) {
		h.count(of, end.Charges, made, nil)
		of.held, of.isOpen = 0, false
		h.ended = append(h.ended, of)
		if held > 0 || slices.ContainsFunc(made, func(one *bill) bool { return one != nil && one.usd != 0 }) {
			h.follow(h.report(h.pots(of), h.now()))
		}
	}
	return fmt.Sprintf("%s %s: %d charges %v", end.Action, of.run, len(end.Charges), err)
}

// move lets a person do something with one of the last issues that were worked on.
func (h *history) move() string {
	of := h.someRun(20)
	if of == nil {
		return "move nothing"
	}
	move := inbound.IssueMove{Note: issue.Note{Body: new("Why")}}
	switch i := must[issue.Issue](h)(h.w.store.Issues().Get(h.w.ctx, of.issue)); {
	case i.Status == issue.Handoff:
		move.Action, move.To.Team = issue.Assign, new(string(any1(h, h.o.teams)))
	case i.Status == issue.Review:
		move.Action = any1(h, []issue.Action{issue.Accept, issue.Reject, issue.Reject})
	case h.chance(20):
		move.Action = issue.Cancel
	default:
		return "move nothing"
	}
	_, err := h.w.issues.Move(h.w.ctx, caller, h.o.id, of.issue, move, precondition.Any(), idempotency.Request{})
	if err == nil && move.Action == issue.Cancel {
		for _, one := range h.open() {
			if one.issue == of.issue {
				h.ended = append(h.ended, one)
			}
		}
	}
	return fmt.Sprintf("%s %s: %v", move.Action, of.issue, err)
}

func (h *history) budgetOfCompany() string {
	change, usd, percent, period := budget.Change{}, h.usd, h.percent, h.period
	if h.chance(70) {
		usd = h.upTo(40 * money.Dollar)
		if h.chance(60) {
			usd += h.spent(h.whole(), h.now())
		}
		change.USD = number(usd)
	}
	if h.chance(30) {
		percent = money.Percent(any1(h, []int{1, 12_50, 20_00, 33_33, 100_00, h.pick.IntN(100_01)}))
		change.ReservePercent = new(money.Number(fmt.Sprintf("%d.%02d", percent/100, percent%100)))
	}
	if h.chance(50) {
		period = any1(h, []budget.Period{budget.Daily, budget.Weekly, budget.Monthly, budget.Quarterly})
		change.Period = new(string(period))
	}
	next := &ledger{company: h.company, usd: usd, percent: percent, period: period, marks: map[string]mark{}}
	want := fault.Code("")
	isChanged := usd != h.usd || percent != h.percent || period != h.period
	if isChanged && h.teamsSum("", h.o.teams) > usd-next.reserve(h.now()) {
		want = fault.BudgetInvalid
	}
	patch := company.Patch{Settings: company.Settings{Budget: &change}}
	_, err := h.w.companies.Update(h.w.ctx, caller, h.o.id, patch, precondition.Any())
	if h.is("budget of the company", err, want) && isChanged {
		if period != h.period {
			h.endTopups()
		}
		h.usd, h.percent, h.period, h.isRebudgeted = usd, percent, period, true
		h.follow(h.rebudget([]pot{h.whole()}, h.now()))
	}
	return fmt.Sprintf("company %s, %d, %s: %v", usd, percent, period, err)
}

func (h *history) budgetOfTeam() string {
	which, limit := any1(h, h.o.teams), h.limitUpTo(15*money.Dollar)
	patch := team.Patch{}
	patch.Budget = new((*budget.LimitDraft)(nil))
	if limit.IsSet {
		*patch.Budget = &budget.LimitDraft{USD: number(limit.USD)}
	}
	alone := &ledger{company: h.company, usd: h.usd, percent: h.percent, period: h.period, marks: map[string]mark{}}
	want, isChanged := fault.Code(""), limit != h.limits[string(which)]
	if isChanged && limit.IsSet && h.teamsSum(which, h.o.teams)+limit.USD > h.usd-alone.reserve(h.now()) {
		want = fault.BudgetInvalid
	}
	_, err := h.w.teams.Update(h.w.ctx, caller, h.o.id, string(which), patch, precondition.Any())
	if h.is("budget of a team", err, want) && isChanged {
		h.limits[string(which)] = limit
		h.follow(h.rebudget([]pot{{scope: budget.OfTeam, id: string(which)}}, h.now()))
	}
	return fmt.Sprintf("team %s %+v: %v", which, limit, err)
}

func (h *history) budgetOfAgent() string {
	n := h.pick.IntN(len(h.o.agents))
	which, in := h.o.agents[n], h.o.of[n]
	daily, perTask := h.limits[string(which)], h.perTask[which]
	change := agent.BudgetChange{}
	if h.chance(60) {
		daily = h.limitUpTo(3 * money.Dollar)
		change.Daily = new(sent(daily))
	}
	if h.chance(60) {
		perTask = h.limitUpTo(money.Dollar)
		change.PerTask = new(sent(perTask))
	}
	isChanged := daily != h.limits[string(which)] || perTask != h.perTask[which]
	want, sum := fault.Code(""), daily.USD
	for m, other := range h.o.agents {
		if m != n && h.o.of[m] == in {
			sum += h.limits[string(other)].USD
		}
	}
	days := int64(endOf(h.period, h.now()).Sub(startOf(h.period, h.now())) / (24 * time.Hour))
	if its := h.limits[string(in)]; isChanged && its.IsSet && daily.IsSet && sum*money.USD(days) > its.USD {
		want = fault.TeamBudgetExceeded
	}
	patch := agent.Patch{Settings: agent.Settings{Budget: &change}}
	_, err := h.w.agents.Update(h.w.ctx, caller, h.o.id, which, patch, precondition.Any())
	if h.is("budget of an agent", err, want) && isChanged {
		changed := []pot{{scope: budget.OfAgent, id: string(which)}}
		if perTask != h.perTask[which] {
			for _, of := range h.runs {
				if of.isOpen && of.by.ID == which && !h.limits[string(of.issue)].IsSet {
					changed = append(changed, pot{budget.OfIssue, string(of.issue), which})
				}
			}
		}
		h.limits[string(which)], h.perTask[which] = daily, perTask
		h.follow(h.rebudget(changed, h.now()))
	}
	return fmt.Sprintf("agent %s daily %+v, per task %+v: %v", which, daily, perTask, err)
}

func (h *history) budgetOfPurpose() string {
	limit := h.limitUpTo(10 * money.Dollar)
	outline := goal.PurposeDraft{Budget: new(sent(limit))}
	var p pot
	var err error
	if h.chance(50) {
		which := any1(h, h.goals)
		p = pot{scope: budget.OfGoal, id: string(which)}
		_, err = h.w.goals.Update(h.w.ctx, caller, h.o.id, which, goal.Draft{PurposeDraft: outline}, precondition.Any())
	} else {
		which := any1(h, h.projects)
		p = pot{scope: budget.OfProject, id: string(which)}
		_, err = h.w.projects.Update(h.w.ctx, caller, h.o.id, which, goal.ProjectDraft{PurposeDraft: outline}, precondition.Any())
	}
	if h.is("budget of a purpose", err, "") && limit != h.limits[p.id] {
		h.limits[p.id] = limit
		h.follow(h.rebudget([]pot{p}, h.now()))
	}
	return fmt.Sprintf("%s %+v: %v", p.id, limit, err)
}

func (h *history) budgetOfIssue() string {
	of := h.someRun(70)
	if of == nil {
		return "budget of nothing"
	}
	limit := h.limitUpTo(2 * money.Dollar)
	patch := issue.Patch{Settings: issue.Settings{PerTask: new(sent(limit))}}
	i := must[issue.Issue](h)(h.w.store.Issues().Get(h.w.ctx, of.issue))
	want := fault.Code("")
	if i.Status.IsFinal() {
		want = fault.InvalidTransition
	}
	_, err := h.w.issues.Update(h.w.ctx, caller, h.o.id, of.issue, patch, precondition.Any())
	if before := h.limits[string(of.issue)]; h.is("budget of an issue", err, want) && limit != before {
		h.limits[string(of.issue)] = limit
		h.follow(h.rebudget([]pot{{budget.OfIssue, string(of.issue), i.Agent}}, h.now()))
	}
	return fmt.Sprintf("issue %s %+v: %v", of.issue, limit, err)
}

func (h *history) topup() string {
	which, amount := any1(h, h.o.teams), 1+h.upTo(3*money.Dollar)
	left := h.reserve(h.now())
	want := fault.Code("")
	if amount > left {
		want = fault.ReserveExhausted
	}
	given, err := h.w.budgets.Topup(h.w.ctx, caller, h.o.id, inbound.TopupDraft{Team: new(string(which)), USD: number(amount)},
		idempotency.Request{})
	if h.is("topup", err, want) {
		both := []pot{h.whole(), {scope: budget.OfTeam, id: string(which)}}
		for _, p := range both {
			m := h.mark(p, h.now())
			m.topups += amount
			h.marks[p.id] = m
		}
		if given.Company.ReserveLeft() != h.reserve(h.now()) || given.Amount != amount {
			h.Errorf("%+v leaves %s, want %s", given, given.Company.ReserveLeft(), h.reserve(h.now()))
		}
		h.follow(h.rebudget(both, h.now()))
	}
	return fmt.Sprintf("topup of %s with %s of %s: %v", which, amount, left, err)
}

func (h *history) adjust() string {
	if len(h.bills) == 0 {
		return "adjust nothing"
	}
	of := any1(h, h.bills[max(0, len(h.bills)-30):])
	net := h.net(of)
	amount := any1(h, []money.USD{-net, -net - 1, -h.upTo(max(net, 0)), h.upTo(money.Dollar), cost.Most - net, cost.Most - net + 1})
	if amount > 100*money.Dollar && h.chance(90) {
		amount = 1
	}
	want := fault.Code("")
	if of.adjusts != nil || amount == 0 || net+amount < 0 || net+amount > cost.Most || amount > cost.Most {
		want = fault.ValidationFailed
	}
	made, err := h.w.costs.Adjust(h.w.ctx, caller, h.o.id, cost.AdjustmentDraft{
		Entry: new(string(of.id)), USD: number(amount), Reason: new("Wrong."),
	}, idempotency.Request{})
	if h.is("adjust", err, want) {
		h.bills = append(h.bills, &bill{id: made.ID, of: of.of, at: of.at, usd: amount, kind: of.kind, model: of.model, adjusts: of})
		h.follow(h.report(h.pots(of.of), h.now()))
	}
	return fmt.Sprintf("adjust %s, which costs %s, by %s: %v", of.id, net, amount, err)
}

func (h *history) archive() string {
	var err error
	switch {
	case h.isArchived:
		_, err = h.w.companies.Restore(h.w.ctx, caller, h.o.id, precondition.Any(), idempotency.Request{})
		h.isArchived = false
	case h.chance(40):
		_, err = h.w.companies.Archive(h.w.ctx, caller, h.o.id, precondition.Any(), idempotency.Request{})
		h.ended, h.isArchived = append(h.ended, h.open()...), true
	}
	if err != nil {
		h.Errorf("%v", err)
	}
	return fmt.Sprint("archived: ", h.isArchived)
}

// time goes on, and leases run out.
func (h *history) time() string {
	now := h.now()
	by := any1(h, []time.Duration{
		time.Millisecond, time.Second, 17 * time.Second, time.Minute, 3 * time.Minute, 3 * time.Minute, 5 * time.Minute, time.Hour,
		5 * time.Hour, 25 * time.Hour, startOf(budget.Daily, now).AddDate(0, 0, 1).Sub(now),
		endOf(budget.Weekly, now).Sub(now) - time.Millisecond,
	})
	if h.chance(5) {
		by = endOf(any1(h, []budget.Period{budget.Monthly, budget.Quarterly}), now).Sub(now)
	}
	if h.isArchived { // it can be restored for some days only
		by = min(by, time.Hour)
	}
	h.w.clock.Advance(by)
	for range 2 { // the first may begin a grace
		if err := all(h.w, h.w.work.Sweep); err != nil {
			h.Errorf("%v", err)
		}
		if h.chance(50) {
			h.w.clock.Advance(time.Minute)
		}
	}
	for _, one := range h.open() {
		if !must[run.Run](h)(h.w.store.Runs().Get(h.w.ctx, one.run)).IsOpen() {
			h.ended = append(h.ended, one)
		}
	}
	return fmt.Sprintf("time goes on by %s", by)
}

func TestMoneyIsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			clock, ids := storetest.NewClock(), storetest.NewIDs()
			s, end := onSQLite(t, clock, ids)
			t.Cleanup(func() {
				if err := end(); err != nil {
					t.Error(err)
				}
			})
			must[*world](t)(newWorld(t.Context(), s, clock, ids)).history(t, seed).goOn(stepsOf(1000))
		})
	}
}

func TestMoneyIsWhatTheRulesSayOnPostgres(t *testing.T) {
	t.Parallel()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	must[*world](t)(newWorld(t.Context(), onPostgres(t, clock, ids), clock, ids)).history(t, 7).goOn(stepsOf(1000))
}

// TestAnotherPeriodCountsAtOnce: what an agent is told of its team is of the period that the company has now.
func TestAnotherPeriodCountsAtOnce(t *testing.T) {
	t.Parallel()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	s, end := onSQLite(t, clock, ids)
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	w := must[*world](t)(newWorld(t.Context(), s, clock, ids))
	o, by := w.offices[0], w.offices[0].caller(0)
	set := team.Patch{Settings: team.Settings{Budget: new(&budget.LimitDraft{USD: new(money.Number("10"))})}}
	must[team.Team](t)(w.teams.Update(w.ctx, caller, o.id, string(by.Team), set, precondition.Any()))
	claim := func() inbound.LeaseCall {
		must[issue.Issue](t)(w.issues.Create(w.ctx, caller, o.id, issue.Draft{
			Title: new("Task"), Agent: new(string(by.ID)),
		}, idempotency.Request{}))
		granted := must[*inbound.Lease](t)(w.leases.Claim(w.ctx, by, inbound.Claim{}))
		return inbound.LeaseCall{Lease: granted.Run.Lease.ID, Token: &granted.Run.Lease.Token}
	}
	charges := []cost.Draft{{Key: new("a"), Kind: new("tools"), USD: new(money.Number("9.9"))}}
	if _, _, err := w.leases.Charge(w.ctx, by, claim(), charges); err != nil {
		t.Fatal(err)
	}
	clock.Advance(24 * time.Hour)
	call := claim()
	must[company.Company](t)(w.companies.Update(w.ctx, caller, o.id, company.Patch{Settings: company.Settings{
		Budget: &budget.Change{Period: new("daily")},
	}}, precondition.Any()))
	accounts := must[map[string]budget.Account](t)(s.Envelopes().Accounts(w.ctx, o.id, string(by.Team)))
	if kept := accounts[string(by.Team)]; kept.Period != budget.Daily { // or each call on the lease would sum up what was spent
		t.Errorf("%+v is kept", kept)
	}
	state := must[inbound.LeaseState](t)(w.leases.Renew(w.ctx, by, call))
	if want := (inbound.LeaseBudget{Remaining: budget.Of(10 * money.Dollar), Level: budget.None}); state.Budget != want {
		t.Errorf("%+v, want %+v", state.Budget, want)
	}
}

func stepsOf(most int) int {
	if testing.Short() {
		return most / 5
	}
	return most
}
