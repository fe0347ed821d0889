package wiring_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdco/domain/money"
)

// stormAgent is a program that works for one agent after the other: when that is retired, or loses its company, it is hired anew.
type stormAgent struct {
	*stormCaller

	office *stormOffice
	agent  apiAgent
}

// stormLeaseHeld is a lease that was granted.
type stormLeaseHeld struct {
	lease, run, issue, agent string
	token                    int64
	office                   *stormOffice
	sent, came               time.Time     // the claim, and its first answer
	renewed                  time.Time     // when the last call was sent that was taken
	lasts                    time.Duration // without a call
	replays                  int
	reserved                 money.USD   // 0 if it is not known
	charge                   stormCharge // one that was acknowledged
}

func (h *stormLeaseHeld) String() string {
	at := func(t time.Time) string { return t.Format("04:05.000") }
	return fmt.Sprintf("%s (run %s, issue %s in %s, token %d, %s, sent %s, came %s, renewed %s)", h.lease, h.run, h.issue, h.office.Slug,
		h.token, h.agent, at(h.sent), at(h.came), at(h.renewed))
}

// What may refuse an agent at any time.
const (
	isGone     = "401 unauthorized"
	isArchived = "409 company_archived"
	isStale    = "409 stale_lease"
)

func (s *workStorm) newAgent(n int) *stormAgent { return &stormAgent{stormCaller: s.newCaller(n)} }

func (a *stormAgent) work() {
	for !a.isOver() {
		if a.agent.ID == "" && !a.beHired() {
			continue
		}
		held := a.claim()
		for range a.IntN(6) {
			if held == nil || !a.call(held) {
				held = nil
				break
			}
		}
		if held != nil {
			a.end(held)
		}
	}
}

// beHired hires an agent somewhere. It reports whether that worked.
func (a *stormAgent) beHired() bool {
	living, members := a.living(), ""
	if a.IntN(4) == 0 {
		members = fmt.Sprintf(`,"budget":{"perTaskUsd":0.%06d}`, 1+a.IntN(999_999))
	}
	if a.IntN(4) == 0 {
		members += `,"approvalPolicy":{"requires":["issue.complete","issue.create"]}`
	}
	return a.beHiredBy(living[a.IntN(len(living))], members)
}

// beHiredBy is beHired in a company, with more members of the draft.
func (a *stormAgent) beHiredBy(office *stormOffice, members string) bool {
	hirer := &stormCaller{a.workStorm, a.Rand, a.unique(), string(rootToken), 0}
	body := fmt.Sprintf(`{"teamId":%q,"name":%q,"role":"Engineer"%s}`, office.teams[a.IntN(len(office.teams))].ID, hirer.name, members)
	// The company may be archived, about to be deleted, or gone.
	r := hirer.ask("hire", http.MethodPost, office.path()+"/agents", body, hirer.name,
		isArchived, isRefused, isNotFound, isForgot)
	if !r.ok() {
		a.pause(50 * time.Millisecond)
		return false
	}
	hired := into[apiAgent](a.workStorm, r)
	note(a.workStorm, a.facts, stormFact{office.ID, hired.ID, "agent.hired", "token"}, true, 0)
	if hired.Token == "" { // a repeated answer does not show it
		r = hirer.ask("rotate", http.MethodPost, hired.path()+"/rotate-token", "", "", isArchived, isRefused, isNotFound)
		if !r.ok() {
			return false
		}
		hired.Token = into[apiAgent](a.workStorm, r).Token
	}
	a.office, a.agent, a.token = office, hired, hired.Token
	office.mutex.Lock()
	office.agents = append(office.agents, hired)
	office.mutex.Unlock()
	return true
}

// refused looks at an answer that may say that the agent is gone. It reports whether there was any other refusal.
func (a *stormAgent) refused(r stormReply) {
	if r.status == http.StatusUnauthorized && a.agent.ID != "" {
		a.mutex.Lock()
		leaves := a.leaving[a.agent.ID]
		a.mutex.Unlock()
		if !leaves && !a.office.doomed() {
			a.fault("the agent %s is let in no more", a.agent.ID)
		}
		a.agent = apiAgent{}
	}
	if r.code == "company_archived" {
		if !a.office.archives && !a.office.doomed() {
			a.fault("the company %s is archived", a.office.ID)
		}
		a.pause(20 * time.Millisecond)
	}
}

func (a *stormAgent) claim() *stormLeaseHeld {
	body, key, lasts := `{}`, "", stormLease
	switch a.IntN(6) {
	case 0:
		body = `{"wait":1}`
	case 1:
		body, key = `{"wait":2}`, a.unique()
	case 2:
		body, key, lasts = `{"leaseSeconds":30}`, a.unique(), 30*time.Second
	case 3:
		key = a.unique()
	}
	var r stormReply
	if key != "" && a.IntN(8) == 0 {
		r = a.claimTwice(body, key, lasts)
	} else {
		r = a.ask("claim", http.MethodPost, leases, body, key, isGone, isArchived)
	}
	switch {
	case r.status == http.StatusNoContent:
		a.pause(time.Duration(a.IntN(20)) * time.Millisecond)
		return nil
	case !r.ok():
		a.refused(r)
		return nil
	}
	held := a.granted(r, lasts)
	if key == "" && r.lost == 0 { // it is the answer to the grant itself
		held.reserved = a.reserves(r)
	}
	return held
}

// claimTwice claims under one key from two places: both get one lease, or the second after the end of the first.
func (a *stormAgent) claimTwice(body, key string, lasts time.Duration) stormReply {
	first, second := a.both("claim", http.MethodPost, leases, body, key, isGone, isArchived)
	if first.status == http.StatusOK && second.status == http.StatusOK {
		if second.sent.Before(first.sent) { // the lease runs from the first of them
			first, second = second, first
		}
		one, two := a.granted(first, lasts), a.granted(second, lasts)
		a.mutex.Lock()
		a.pairs = append(a.pairs, [2]string{one.lease, two.lease})
		a.mutex.Unlock()
	}
	if first.status == http.StatusOK {
		return first
	}
	return second
}

// granted notes a lease. One that was granted before is taken for a call on it.
func (a *stormAgent) granted(r stormReply, lasts time.Duration) *stormLeaseHeld {
	got := into[apiLease](a.workStorm, r)
	held := &stormLeaseHeld{
		lease: got.LeaseID, run: got.Run.ID, issue: got.Issue.ID, agent: a.agent.ID, token: got.FencingToken, office: a.office,
		sent: r.sent, came: r.came, renewed: r.sent, lasts: lasts,
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	before := a.grants[held.lease]
	if before == nil {
		a.grants[held.lease] = held
		return held
	}
	if before.run != held.run || before.token != held.token || before.agent != held.agent || before.issue != held.issue {
		a.faults = append(a.faults, fmt.Sprintf("one lease is granted as %+v and as %+v", before, held))
	}
	before.replays++
	return before
}

// call makes a call that leaves the lease live. It reports whether the agent still holds it.
func (a *stormAgent) call(held *stormLeaseHeld) bool {
	var r stormReply
	switch a.IntN(10) {
	case 0, 1:
		return a.took(held, a.ask("renew", http.MethodPost, held.at("renew"), held.body(""), "", isGone, isArchived, isStale))
	case 2, 3:
		return a.charge(held, "")
	case 4:
		r = a.writes("checkpoint", held.at("checkpoint"), held.body(`"note":"Half"`))
		note(a.workStorm, a.facts, stormFact{held.office.ID, held.run, "run.checkpointed", "agent:" + held.agent}, r.ok(), r.lost)
	case 5:
		text := a.unique()
		r = a.writes("comment", held.at("comment"), held.body(`"body":"`+text+`"`))
		note(a.workStorm, a.said, stormSaid{held.office.ID, text}, r.ok(), r.lost)
		note(a.workStorm, a.facts, stormFact{held.office.ID, held.issue, "issue.commented", "agent:" + held.agent}, r.ok(), r.lost)
	case 6:
		r = a.ask("context", http.MethodGet, held.at("context"), "", "", isGone)
		a.refused(r)
		return r.ok()
	case 7:
		return a.request(held, deployment, false)
	case 8:
		return a.conflicts(held)
	default:
		// The issue may be about to be cancelled, or may be at the bottom.
		r = a.writes("file", "/gateway/v1/issues", held.body(`"title":"Part","leaseId":"`+held.lease+`"`), "422 dependency_cycle",
			"409 budget_exhausted", "403 approval_required", "409 goal_closed", "409 project_archived")
		if r.ok() {
			made := into[apiIssue](a.workStorm, r)
			note(a.workStorm, a.facts, stormFact{held.office.ID, made.ID, "issue.created", "agent:" + held.agent}, true, 0)
			a.office.remember(made.ID)
		}
		if r.code == "approval_required" {
			return a.request(held, `"actionName":"issue.create","action":"File a part"`, false)
		}
		if slices.Contains([]string{"dependency_cycle", "budget_exhausted", "goal_closed", "project_archived"}, r.code) {
			return true
		}
	}
	return a.took(held, r)
}

// writes makes a call that has an effect each time, or one under a key, which has one however often it was sent.
func (a *stormAgent) writes(what, path, body string, refusals ...string) stormReply {
	refusals = append(refusals, isGone, isArchived, isStale)
	if a.IntN(2) == 0 {
		return a.ask(what, http.MethodPost, path, body, "", refusals...)
	}
	r := a.twice(what, path, body, a.unique(), append(refusals, isForgot)...)
	if r.ok() {
		r.lost = 0
	}
	return r
}

func (h *stormLeaseHeld) at(action string) string { return leases + "/" + h.lease + "/" + action }

func (h *stormLeaseHeld) body(members string) string {
	return apiLease{FencingToken: h.token}.body(members)
}

// took notes whether a call on a lease was taken. It reports whether the agent still holds it.
func (a *stormAgent) took(held *stormLeaseHeld, r stormReply) bool {
	if !r.ok() {
		a.lost(held, r)
		return false
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.accepted = append(a.accepted, stormCall{held, r.sent})
	held.renewed = r.sent
	return true
}

// lost looks at why a call was refused.
func (a *stormAgent) lost(held *stormLeaseHeld, r stormReply) {
	a.refused(r)
	reason, _ := r.details["reason"].(string)
	if r.code == "stale_lease" && !slices.Contains([]string{
		"company_archived", "agent_retired", "cancelled", "handed_off", "completed", "failed", "released", "expired", "budget", "parked",
	}, reason) {
		a.fault("the lease %+v is stale: %s", held, r.body)
	}
	if reason == "expired" && r.came.Sub(held.renewed) < held.lasts-stormSlack {
		a.fault("the lease %+v ran out after %s: %s", held, r.came.Sub(held.renewed), r.body)
	}
}

// someCharges are up to three charges with keys of their own, and their JSON.
func (a *stormAgent) someCharges(held *stormLeaseHeld) (made []stormCharge, text string) {
	var entries []string
	for range a.IntN(3) + 1 {
		one := stormCharge{held.run, a.unique(), 1 + a.Int64N([]int64{99, 9_999, 99_999, 599_999}[a.IntN(4)])}
		text := fmt.Sprintf(`"kind":%q,"usd":%s}`, []string{"tools", "llm", "runtimeServices"}[a.IntN(3)], inDollars(money.USD(one.micros)))
		if a.IntN(3) == 0 { // a model that nobody knows, at the fallback of the prices: 15 and 75 micro-dollars
			input, output := a.Int64N(10_000), 1+a.Int64N(1000)
			one.micros = 15*input + 75*output
			text = fmt.Sprintf(`"kind":"llm","model":"storm","tokens":{"input":%d,"output":%d}}`, input, output)
		}
		made = append(made, one)
		for range 1 + a.IntN(8)/7 { // the same twice counts once
			entries = append(entries, fmt.Sprintf(`{"key":%q,`, one.key)+text)
		}
	}
	return made, `"costs":[` + strings.Join(entries, ",") + `]`
}

// charge reports costs, sometimes again. It reports whether the agent still holds the lease.
func (a *stormAgent) charge(held *stormLeaseHeld, isLate string) bool {
	made, text := a.someCharges(held)
	var r stormReply
	if a.IntN(8) == 0 {
		r, _ = a.both("costs"+isLate, http.MethodPost, held.at("costs"), held.body(text), "", isGone)
	} else {
		r = a.ask("costs"+isLate, http.MethodPost, held.at("costs"), held.body(text), "", isGone)
	}
	for _, one := range made {
		note(a.workStorm, a.charges, one, r.ok(), r.lost)
	}
	if !r.ok() {
		a.lost(held, r)
		return false
	}
	held.charge = made[0]
	state := into[apiState](a.workStorm, r)
	if state.Late {
		return false
	}
	for _, one := range state.Entries {
		if !one.Duplicate {
			return a.took(held, r)
		}
	}
	return true // such charges are taken whether the lease has ended or not
}

// conflicts uses the key of a charge for another one, which is refused with all that comes with it. It reports whether the agent still
// holds the lease.
func (a *stormAgent) conflicts(held *stormLeaseHeld) bool {
	if held.charge.key == "" {
		return true
	}
	made, text := a.someCharges(held)
	other := fmt.Sprintf(`,{"key":%q,"kind":"tools","usd":%s}]`, held.charge.key, inDollars(money.USD(held.charge.micros+1)))
	r := a.ask("conflict", http.MethodPost, held.at("costs"), held.body(strings.TrimSuffix(text, "]")+other), "",
		isGone, "409 idempotency_conflict")
	for _, one := range made {
		note(a.workStorm, a.charges, one, false, 0)
	}
	if r.ok() {
		a.fault("a key was taken for two charges: %s", r.body)
	}
	a.refused(r)
	return r.code == "idempotency_conflict"
}

// reserves is what a lease that was just granted has reserved.
func (a *stormAgent) reserves(r stormReply) money.USD {
	got, remaining := into[apiLease](a.workStorm, r), noLimit
	if shown := into[budgetOf](a.workStorm, r).Budget.RemainingUsd; shown != "" {
		remaining = a.inMicros(shown.String())
	}
	limit := got.Issue.Budget.PerTaskUsd
	if limit == nil {
		limit = a.agent.Budget.PerTaskUsd
	}
	if limit == nil {
		return min(stormReserve, remaining)
	}
	left := a.inMicros(limit.String()) - a.inMicros(got.Issue.Budget.SpentUsd.String())
	if left <= 0 || left != remaining {
		a.fault("a lease may spend %s, and its issue has %s left: %s", remaining, left, r.body)
	}
	return left
}

// end ends a lease in some way, or lets it run out.
func (a *stormAgent) end(held *stormLeaseHeld) {
	action, members, costs := "", "", ""
	var made []stormCharge
	if a.IntN(3) == 0 {
		made, costs = a.someCharges(held)
		costs = "," + costs
	}
	switch n := a.IntN(100); {
	case n < 55:
		action, members = "complete", `"result":{"n":`+fmt.Sprint(n)+`}`+costs
	case n < 72:
		action, members = "fail", fmt.Sprintf(`"error":{"code":"broken","message":"No."},"retry":%v,"retryAfter":%d`, n > 58, n%2)+costs
	case n < 82:
		action, members = "release", `"note":"Stopping."`
		made = nil
	case n < 92:
		action, members = "handoff", `"note":"Which one?"`
		made = nil
	case n < 94:
		a.request(held, deployment, true)
		return
	case n < 97 && held.lasts == stormLease && time.Until(a.until) > stormLease:
		time.Sleep(stormLease*4/5 + time.Duration(a.Int64N(int64(stormLease/4)))) // it comes just in time, or too late
		action, members, made = "complete", "", nil
	case held.lasts == stormLease:
		return
	default:
		action, members = "release", ""
		made = nil
	}
	body := held.body(members)
	r := a.twice(action, held.at(action), body, "", isGone, isArchived, isStale, "403 approval_required")
	for _, one := range made {
		note(a.workStorm, a.charges, one, r.ok(), r.lost)
	}
	if r.code == "approval_required" {
		a.request(held, `"actionName":"issue.complete","action":"Complete it"`, true)
		return
	}
	if !r.ok() {
		if r.lost > 0 { // it may have been taken before the agent retired
			for _, what := range []string{"submitted", "completed", "requeued failed", "requeued released", "failed", "handed_off"} {
				note(a.workStorm, a.facts, stormFact{held.office.ID, held.issue, "issue." + what, "agent:" + held.agent}, false, r.lost)
			}
		}
		a.lost(held, r)
		return
	}
	if !r.isReplayed {
		a.took(held, r)
	}
	status := into[endedLease](a.workStorm, r).Issue.Status
	what := map[string]string{
		"complete review": "submitted", "complete done": "completed", "fail queued": "requeued failed", "fail failed": "failed",
		"release queued": "requeued released", "handoff handoff": "handed_off",
	}[action+" "+status]
	note(a.workStorm, a.facts, stormFact{held.office.ID, held.issue, "issue." + what, "agent:" + held.agent}, true, 0)
	a.mutex.Lock()
	e := stormEnding{held, held.at(action), body, action, string(r.data), status}
	a.endings = append(a.endings, e)
	a.mutex.Unlock()
	a.afterwards(e)
}

// endedLease is the answer to a call that ended a lease.
type endedLease struct {
	Issue apiIssue
	Run   apiRun
}

// afterwards does now and then what changes nothing more, but for costs.
func (a *stormAgent) afterwards(e stormEnding) {
	switch a.IntN(8) {
	case 0:
		a.repeat(e)
	case 1:
		r := a.ask("renew late", http.MethodPost, e.held.at("renew"), e.held.body(""), "", isGone, isArchived, isStale)
		if r.ok() {
			a.fault("%s was renewed after its %s: %s", e.held.lease, e.action, r.body)
		}
		a.refused(r)
	case 2:
		a.charge(e.held, " late")
	}
}

// giveBack releases the leases that the agent has, those of claims too that were never answered.
func (a *stormAgent) giveBack(refusals ...string) {
	r := a.ask("leases", http.MethodGet, leases, "", "", isGone)
	a.refused(r)
	if !r.ok() {
		return
	}
	for _, one := range into[[]apiLease](a.workStorm, r) {
		r := a.ask("release", http.MethodPost, one.path()+"/release", one.body(""), "", append(refusals, isStale)...)
		if r.ok() {
			r.lost = 0
		} // else one that was not answered may have been taken before the agent retired
		note(a.workStorm, a.facts, stormFact{a.office.ID, one.Issue.ID, "issue.requeued released", "agent:" + a.agent.ID}, r.ok(), r.lost)
	}
}

// repeat repeats the call that ended a lease.
func (a *stormAgent) repeat(e stormEnding) {
	r := a.ask("repeat", http.MethodPost, e.path, e.body, "", isGone)
	if r.ok() && (!r.isReplayed || string(r.data) != e.data) {
		a.fault("%s %s was answered %s, and then %v %s", e.path, e.body, e.data, r.isReplayed, r.data)
	}
	a.refused(r)
}
