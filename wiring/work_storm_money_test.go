package wiring_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdco/domain/money"
)

// stormReserve is what a lease reserves on an issue without a limit: the default of the setting.
const stormReserve = money.Dollar / 10

// noLimit stands for a budget that is not set.
const noLimit = money.USD(math.MaxInt64)

// stormLimit is one setting of a budget: it applied at some instant from when it was sent until it was answered.
type stormLimit struct {
	sent, came time.Time // came is zero while there is no answer
	usd        money.USD // noLimit: none; of a topup what it adds
	isTopup    bool
}

// stormReservePercent is the share of the budgets of companies that is kept back.
const stormReservePercent = 5

// mostAllowed is the most that the settings of one budget can have allowed to spend at an instant. Those of issues apart, budgets are
// only raised.
func mostAllowed(settings []stormLimit, isCompany bool, at time.Time) money.USD {
	var most, topups money.USD
	isSet := false
	for _, one := range settings {
		switch {
		case one.sent.After(at.Add(stormSlack)):
		case one.isTopup:
			topups += one.usd
		default:
			most = max(most, one.usd)
			isSet = isSet || !one.came.IsZero() && one.came.Before(at.Add(-stormSlack)) // before, there was no limit
		}
	}
	if !isSet || most == noLimit {
		return noLimit
	}
	if isCompany {
		return most - max(0, most*stormReservePercent/100-topups)
	}
	return most + topups
}

// sets sends a setting of a budget by send, and writes it down.
func (c *stormCaller) sets(of string, usd money.USD, isTopup bool, send func() stormReply) stormReply {
	c.mutex.Lock()
	at := len(c.limits[of])
	c.limits[of] = append(c.limits[of], stormLimit{sent: time.Now(), usd: usd, isTopup: isTopup})
	c.mutex.Unlock()
	r := send()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case r.ok():
		c.limits[of][at].came = r.came
	case isTopup:
		c.limits[of][at].usd = 0
	case r.lost == 0:
		c.limits[of][at].usd = 0 // it was refused
	}
	return r
}

// inDollars is an amount in JSON.
func inDollars(amount money.USD) string {
	if amount == noLimit {
		return "null"
	}
	return fmt.Sprintf("%d.%06d", amount/money.Dollar, amount%money.Dollar)
}

// inMicros reads an amount of an answer.
func (s *workStorm) inMicros(text string) money.USD {
	amount, err := money.ParseUSD(money.Number(text))
	if err != nil {
		s.fault("%q is no amount: %v", text, err)
	}
	return amount
}

// keepBooks raises the budgets of a company that run out, sets some, and gives its reserve away, until the storm is over. Nobody else
// sets them.
func (s *workStorm) keepBooks(office *stormOffice, n int) {
	p := &stormPerson{s.newCaller(n)}
	for !p.isOver() && !office.doomed() {
		p.pause(time.Duration(50+p.IntN(250)) * time.Millisecond)
		r := p.ask("budgets", http.MethodGet, office.path()+"/budgets?limit=200", "", "", isNotFound)
		if !r.ok() {
			return // the company is gone
		}
		for _, e := range into[[]apiEnvelope](s, r) {
			if e.Level == "hard" || e.Level == "catastrophic" {
				p.raise(office, e)
			}
		}
		switch p.IntN(6) {
		case 0:
			p.limit(office)
		case 1:
			p.topUp(office)
		}
	}
}

// raise lets a budget that is spent or held have more. One of an agent that its team has not is removed for good.
func (p *stormPerson) raise(office *stormOffice, e apiEnvelope) {
	if p.IntN(3) == 0 || e.Level == "hard" && e.Scope == "company" && p.IntN(3) > 0 {
		return // it stays as it is for a while
	}
	more := p.inMicros(e.SpentUsd.String()) + p.inMicros(e.HeldUsd.String()) + money.USD(1+p.Int64N(10*int64(money.Dollar)))
	switch e.Scope {
	case "company":
		next := max(more*100/(100-stormReservePercent), p.lastSet(office.ID)+1)
		p.setBudget(office, office.ID, "", `{"budget":{"usd":%s}}`, next)
	case "team":
		p.setBudget(office, e.ScopeID, "/teams/"+e.ScopeID, `{"budget":{"usd":%s}}`, max(more, p.lastSet(e.ScopeID)+1))
	case "agent":
		r := p.setBudget(office, e.ScopeID, "/agents/"+e.ScopeID, `{"budget":{"dailyUsd":%s}}`, max(more, p.lastSet(e.ScopeID)+1))
		if r.code == "team_budget_exceeded" {
			p.setBudget(office, e.ScopeID, "/agents/"+e.ScopeID, `{"budget":{"dailyUsd":%s}}`, noLimit)
		}
	case "goal", "project":
		p.setBudget(office, e.ScopeID, "/"+e.Scope+"s/"+e.ScopeID, `{"budget":{"usd":%s}}`, max(more, p.lastSet(e.ScopeID)+1))
	}
}

func (p *stormPerson) setBudget(office *stormOffice, of, path, body string, usd money.USD) stormReply {
	return p.sets(of, usd, false, func() stormReply {
		r := p.ask("set budget", http.MethodPatch, office.path()+path, fmt.Sprintf(body, inDollars(usd)), "",
			isArchived, isRefused, isNotFound, "422 budget_invalid", "422 team_budget_exceeded", "409 goal_closed", "409 project_archived")
		p.suits("set budget", office, r)
		return r
	})
}

// lastSet is the largest amount that a budget was set to; noLimit if it is not to be set any more.
func (s *workStorm) lastSet(of string) (most money.USD) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, one := range s.limits[of] {
		if !one.isTopup {
			most = max(most, one.usd)
		}
	}
	return most
}

// limit gives a team or an agent that has none a budget.
func (p *stormPerson) limit(office *stormOffice) {
	if p.IntN(2) == 0 {
		of := office.teams[p.IntN(len(office.teams))]
		if p.lastSet(of.ID) == 0 {
			p.setBudget(office, of.ID, "/teams/"+of.ID, `{"budget":{"usd":%s}}`, 1+money.USD(p.Int64N(10*int64(money.Dollar))))
		}
		return
	}
	if ada, exists := p.someAgent(office); exists && p.lastSet(ada.ID) == 0 {
		p.setBudget(office, ada.ID, "/agents/"+ada.ID, `{"budget":{"dailyUsd":%s}}`, 1+money.USD(p.Int64N(int64(money.Dollar))))
	}
}

// topUp gives some of the reserve to a team.
func (p *stormPerson) topUp(office *stormOffice) {
	team, usd := office.teams[p.IntN(len(office.teams))], 1+money.USD(p.Int64N(int64(money.Dollar)/2))
	p.sets(office.ID, usd, true, func() stormReply {
		return p.sets(team.ID, usd, true, func() stormReply {
			body := fmt.Sprintf(`{"teamId":%q,"usd":%s}`, team.ID, inDollars(usd))
			r := p.send("top up", office, office.path()+"/costs/topup", body, "422 reserve_exhausted")
			note(p.workStorm, p.facts, stormFact{office.ID, team.ID, "team.budget.topup", "token"}, r.ok(), 0)
			return r
		})
	})
}

// stormAdjustment is a correction, by its reason.
type stormAdjustment struct {
	company, entry, reason string
	micros                 int64
}

// adjust corrects one of the newest charges.
func (p *stormPerson) adjust(office *stormOffice) {
	r := p.ask("entries", http.MethodGet, office.path()+"/costs/entries?limit=20", "", "", isNotFound)
	if !r.ok() {
		p.suits("entries", office, r)
		return
	}
	entries := into[[]apiCost](p.workStorm, r)
	entries = slices.DeleteFunc(entries, func(e apiCost) bool { return e.Adjusts != nil })
	if len(entries) == 0 {
		return
	}
	one := entries[p.IntN(len(entries))]
	made := stormAdjustment{office.ID, one.ID, p.unique(), p.Int64N(400_000) - 300_000}
	if made.micros < 0 {
		made.micros = max(made.micros, -int64(p.inMicros(one.Usd.String())))
	}
	if made.micros == 0 {
		return
	}
	sign, amount := "", money.USD(made.micros)
	if amount < 0 {
		sign, amount = "-", -amount
	}
	body := fmt.Sprintf(`{"entryId":%q,"usd":%s%s,"reason":%q}`, one.ID, sign, inDollars(amount), made.reason)
	answer := p.send("adjust", office, office.path()+"/costs/adjust", body, isInvalid) // others may have corrected it too
	note(p.workStorm, p.adjustments, made, answer.ok(), 0)
}

// stormPurpose is a goal or a project.
type stormPurpose struct{ kind, id string }

// plan makes goals and projects, and ends old ones.
func (p *stormPerson) plan(office *stormOffice) {
	office.mutex.Lock()
	purposes := slices.Clone(office.purposes)
	office.mutex.Unlock()
	if len(purposes) < 4 {
		p.intend(office, purposes)
		return
	}
	old := purposes[p.IntN(2)]
	if old.kind == "goal" {
		r := p.send("close", office, office.path()+"/goals/"+old.id+"/close", `{"outcome":"achieved"}`)
		note(p.workStorm, p.facts, stormFact{office.ID, old.id, "goal.closed", "token"}, r.ok(), 0)
	} else {
		cancels := p.IntN(3) > 0
		r := p.send("end project", office, office.path()+"/projects/"+old.id+"/archive",
			fmt.Sprintf(`{"cancelOpenIssues":%v}`, cancels), "409 project_not_empty")
		note(p.workStorm, p.facts, stormFact{office.ID, old.id, "project.archived", "token"}, r.ok(), 0)
		if !r.ok() {
			return
		}
	}
	office.mutex.Lock()
	defer office.mutex.Unlock()
	office.purposes = slices.DeleteFunc(office.purposes, func(one stormPurpose) bool { return one == old })
}

func (p *stormPerson) intend(office *stormOffice, before []stormPurpose) {
	kind, members := "project", ""
	if p.IntN(2) == 0 {
		kind = "goal"
	} else if at := slices.IndexFunc(before, func(one stormPurpose) bool { return one.kind == "goal" }); at >= 0 && p.IntN(2) == 0 {
		members = `,"goalId":"` + before[at].id + `"`
	}
	limit := noLimit
	if p.IntN(2) == 0 {
		limit = 1 + money.USD(p.Int64N(5*int64(money.Dollar)))
		members += `,"budget":{"usd":` + inDollars(limit) + `}`
	}
	sent := time.Now()
	r := p.send("intend", office, office.path()+"/"+kind+"s", `{"title":"`+p.unique()+`"`+members+`}`, isInvalid, "409 goal_closed")
	if !r.ok() {
		return
	}
	made := stormPurpose{kind, into[apiGoal](p.workStorm, r).ID}
	note(p.workStorm, p.facts, stormFact{office.ID, made.id, kind + ".created", "token"}, true, 0)
	p.mutex.Lock()
	if limit != noLimit {
		p.limits[made.id] = append(p.limits[made.id], stormLimit{sent: sent, came: sent, usd: limit})
	}
	p.mutex.Unlock()
	office.mutex.Lock()
	defer office.mutex.Unlock()
	office.purposes = append(office.purposes, made)
}

// purpose is what an issue may be for: members of its draft, or nothing.
func (p *stormPerson) purpose(office *stormOffice) (members []string) {
	office.mutex.Lock()
	defer office.mutex.Unlock()
	for _, one := range office.purposes {
		if p.IntN(6) == 0 && !slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(m, `"`+one.kind) }) {
			members = append(members, `"`+one.kind+`Id":"`+one.id+`"`)
		}
	}
	return members
}

// What may refuse an issue that is for something.
var isNotIntended = []string{"409 goal_closed", "409 project_archived"}

// rebudget changes what an issue is for, or what it may cost.
func (p *stormPerson) rebudget(office *stormOffice) {
	issue, members := p.someIssue(office), p.purpose(office)
	var limit money.USD
	if len(members) == 0 || p.IntN(2) == 0 {
		limit = 1 + money.USD(p.Int64N(2*int64(money.Dollar)))
		members = append(members, `"budget":{"perTaskUsd":`+inDollars(limit)+`}`)
	}
	send := func() stormReply {
		r := p.ask("rebudget", http.MethodPatch, office.path()+"/issues/"+issue, "{"+strings.Join(members, ",")+"}", "",
			slices.Concat([]string{isArchived, isRefused, isNotFound, isInvalid}, isNotIntended)...)
		p.suits("rebudget", office, r)
		return r
	}
	if limit > 0 {
		p.sets(issue, limit, false, send)
	} else {
		send()
	}
}

// deployment is what agents ask for.
const deployment = `"actionName":"deploy.shop","action":"Deploy the shop"`

// remind keeps the newest approvals at hand.
func (o *stormOffice) remind(approval string) {
	const most = 12
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.approvals = append(o.approvals, approval)
	o.approvals = o.approvals[max(0, len(o.approvals)-most):]
}

// stormDecisions are what people decide, with what becomes of the approval and what it tells.
var stormDecisions = []struct{ action, body, status, event string }{
	{"approve", `{"note":"Yes"}`, "approved", "approval.approved"},
	{"approve-with-edits", `{"edits":{"when":"at night"}}`, "approved_with_edits", "approval.approved"},
	{"deny", `{"note":"No"}`, "denied", "approval.denied"},
}

// decide decides one of the newest approvals, asks about it, or lets two people decide it at once.
func (p *stormPerson) decide(office *stormOffice) {
	office.mutex.Lock()
	if len(office.approvals) == 0 {
		office.mutex.Unlock()
		return
	}
	which := office.approvals[p.IntN(len(office.approvals))]
	office.mutex.Unlock()
	path := office.path() + "/approvals/" + which
	if p.IntN(4) == 0 {
		r := p.send("question", office, path+"/comment", `{"body":"Why?"}`)
		note(p.workStorm, p.facts, stormFact{office.ID, which, "approval.commented", "token"}, r.ok(), 0)
		return
	}
	verdict := func(by *stormPerson) bool {
		d := stormDecisions[by.IntN(len(stormDecisions))]
		r := by.send(d.action, office, path+"/"+d.action, d.body)
		note(p.workStorm, p.facts, stormFact{office.ID, which, d.event, "token"}, r.ok(), 0)
		if r.ok() {
			p.mutex.Lock()
			p.decided[which] = append(p.decided[which], d.status)
			p.mutex.Unlock()
		}
		return r.ok()
	}
	if p.IntN(4) > 0 {
		verdict(p)
		return
	}
	other := &stormPerson{p.newCaller(3000 + p.IntN(1_000_000_000))}
	came := make(chan bool, 1)
	go func() { came <- verdict(other) }()
	if one, two := verdict(p), <-came; one && two {
		p.fault("two people decided %s", which)
	}
}

// rule makes a rule that decides for a while.
func (p *stormPerson) rule(office *stormOffice) {
	decision := []string{"approve", "deny"}[p.IntN(2)]
	r := p.send("rule", office, office.path()+"/approval-rules", `{"actionName":"deploy.*","maxUsd":0.5,"decision":"`+decision+`"}`)
	if !r.ok() {
		return
	}
	made := into[apiApproval](p.workStorm, r).ID
	note(p.workStorm, p.facts, stormFact{office.ID, made, "approval.rule.created", "token"}, true, 0)
	p.pause(time.Duration(p.IntN(200)) * time.Millisecond)
	gone := p.ask("end rule", http.MethodDelete, office.path()+"/approval-rules/"+made, "", "", isArchived, isRefused, isNotFound)
	if gone.code == "company_archived" {
		p.suits("end rule", office, gone)
	}
}

// request asks for an approval. It reports whether the agent still holds the lease.
func (a *stormAgent) request(held *stormLeaseHeld, members string, isPark bool) bool {
	if a.IntN(2) == 0 {
		members += fmt.Sprintf(`,"cost":{"usd":0.%02d}`, a.IntN(100))
	}
	if isPark {
		members += `,"park":true`
	}
	body := held.body(members)
	r := a.twice("request", held.at("approval"), body, a.unique(),
		isGone, isArchived, isStale, isForgot, "409 budget_exhausted", "422 too_many")
	if !r.ok() {
		if r.code == "budget_exhausted" || r.code == "too_many" {
			return true
		}
		a.lost(held, r)
		return false
	}
	asked := into[apiApproval](a.workStorm, r)
	note(a.workStorm, a.facts, stormFact{held.office.ID, asked.ID, "approval.requested", "agent:" + held.agent}, true, 0)
	held.office.remind(asked.ID)
	if !asked.Parked {
		return a.took(held, r) && (a.IntN(2) == 0 || a.await(held, asked.ID))
	}
	if !r.isReplayed {
		a.took(held, r)
	}
	note(a.workStorm, a.facts, stormFact{held.office.ID, held.issue, "issue.handed_off parked", "agent:" + held.agent}, true, 0)
	e := stormEnding{held, held.at("approval"), body, "park", string(r.data), "handoff"}
	a.mutex.Lock()
	a.endings = append(a.endings, e)
	a.mutex.Unlock()
	a.afterwards(e)
	return false
}

// await waits for a decision, which keeps the lease, and answers a question. It reports whether the agent is still there.
func (a *stormAgent) await(held *stormLeaseHeld, approval string) bool {
	path := "/gateway/v1/approvals/" + approval
	r := a.ask("wait", http.MethodGet, path+"?wait=1", "", "", isGone)
	if !r.ok() {
		a.refused(r)
		return false
	}
	if into[apiApproval](a.workStorm, r).Status != "asked_question" {
		return true
	}
	r = a.twice("answer", path+"/answer", `{"body":"Because."}`, a.unique(), isGone, isArchived, isStale, isForgot, isRefused)
	note(a.workStorm, a.facts, stormFact{held.office.ID, approval, "approval.commented", "agent:" + held.agent}, r.ok(), 0)
	if !r.ok() && r.code != "invalid_transition" {
		a.lost(held, r)
		return false
	}
	return true
}
