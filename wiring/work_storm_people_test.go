package wiring_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"holdco/domain/money"
)

// stormPerson is somebody who does what people do, in one company after the other.
type stormPerson struct{ *stormCaller }

// What may refuse a person at any time in a company that is archived or deleted now and then.
const (
	isNotFound = "404 not_found"
	isRefused  = "409 invalid_transition" // as is any change of a company that is being deleted
	isForgot   = "409 idempotency_conflict"
	isInvalid  = "422 validation_failed" // it names what has gone meanwhile
)

func (p *stormPerson) work() {
	for !p.isOver() {
		living := p.living()
		office := living[p.IntN(len(living))]
		switch n := p.IntN(100); {
		case n < 30, !office.hasIssues():
			p.file(office)
		case n < 48:
			p.review(office)
		case n < 54:
			p.unblock(office)
		case n < 61:
			p.decide(office)
		case n < 63:
			p.rule(office)
		case n < 66:
			p.adjust(office)
		case n < 68:
			p.plan(office)
		case n < 71:
			p.rebudget(office)
		case n < 76:
			p.move(office, p.someIssue(office), "assign", p.assignment(office), "issue.assigned")
		case n < 79:
			p.move(office, p.someIssue(office), "unassign", "", "issue.requeued unassigned")
		case n < 84:
			p.move(office, p.someIssue(office), "cancel", `{"reason":"No more."}`, "issue.cancelled")
		case n < 87:
			p.move(office, p.someIssue(office), "handoff", `{"note":"Wait."}`, "issue.handed_off")
		case n < 91:
			p.retry(office)
		case n < 93:
			p.comment(office)
		case n < 96:
			p.patch(office)
		case n < 98:
			p.pauseAndResume(office)
		case n < 99:
			p.pauseWork(office)
		default:
			p.retire(office)
		}
	}
}

// send sends a POST request under a key of its own, and looks whether the company may refuse it.
func (p *stormPerson) send(what string, office *stormOffice, path, body string, refusals ...string) stormReply {
	refusals = append(refusals, isArchived, isRefused, isNotFound, isForgot)
	r := p.twice(what, path, body, p.unique(), refusals...)
	p.suits(what, office, r)
	return r
}

// suits checks that a company which refuses to be changed may do so.
func (p *stormPerson) suits(what string, office *stormOffice, r stormReply) {
	switch {
	case r.code == "company_archived" && !office.archives && !office.doomed(),
		(r.code == "not_found" || r.code == "idempotency_conflict") && !office.doomed():
		p.fault("%s in %s: %s", what, office.Slug, r.body)
	case r.code == "company_archived":
		p.pause(20 * time.Millisecond)
	}
}

func (o *stormOffice) hasIssues() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return len(o.issues) > 0
}

func (p *stormPerson) someIssue(office *stormOffice) string {
	office.mutex.Lock()
	defer office.mutex.Unlock()
	return office.issues[p.IntN(len(office.issues))]
}

// someAgent is one of those that were hired last, or nobody.
func (p *stormPerson) someAgent(office *stormOffice) (apiAgent, bool) {
	office.mutex.Lock()
	defer office.mutex.Unlock()
	if len(office.agents) == 0 {
		return apiAgent{}, false
	}
	last := office.agents[max(0, len(office.agents)-12):]
	return last[p.IntN(len(last))], true
}

func (p *stormPerson) assignment(office *stormOffice) string {
	if ada, exists := p.someAgent(office); exists && p.IntN(2) == 0 {
		return `{"agentId":"` + ada.ID + `"}`
	}
	return `{"teamId":"` + office.teams[p.IntN(len(office.teams))].ID + `"}`
}

func (p *stormPerson) file(office *stormOffice) {
	members := []string{
		fmt.Sprintf(`"title":%q,"requiresReview":%v,"maxAttempts":%d`, p.unique(), p.IntN(2) == 0, 1+p.IntN(3)),
		`"priority":"` + []string{"low", "normal", "high", "urgent"}[p.IntN(4)] + `"`,
	}
	switch p.IntN(4) {
	case 0:
		members = append(members, `"assignedTeamId":"`+office.teams[p.IntN(len(office.teams))].ID+`"`)
	case 1:
		if ada, exists := p.someAgent(office); exists {
			members = append(members, `"assignedAgentId":"`+ada.ID+`"`)
		}
	}
	needs := p.IntN(8)
	if needs < 2 && !office.hasIssues() {
		needs = 2
	}
	switch needs {
	case 0:
		members = append(members, `"parentId":"`+p.someIssue(office)+`"`)
	case 1:
		members = append(members, `"blockedBy":["`+p.someIssue(office)+`","`+p.someIssue(office)+`"]`)
	case 2:
		members = append(members, `"notBefore":"`+time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)+`"`)
	}
	if p.IntN(3) == 0 {
		members = append(members, `"budget":{"perTaskUsd":`+inDollars(1+money.USD(p.Int64N(2*int64(money.Dollar))))+`}`)
	}
	members = append(members, p.purpose(office)...)
	r := p.send("create", office, office.path()+"/issues", "{"+strings.Join(members, ",")+"}",
		slices.Concat([]string{isInvalid, "422 dependency_cycle"}, isNotIntended)...)
	if r.ok() {
		made := into[apiIssue](p.workStorm, r)
		note(p.workStorm, p.facts, stormFact{office.ID, made.ID, "issue.created", "token"}, true, 0)
		office.remember(made.ID)
	}
}

// move moves an issue, which tells one event of it.
func (p *stormPerson) move(office *stormOffice, issue, action, body, event string) {
	r := p.send(action, office, office.path()+"/issues/"+issue+"/"+action, body, isInvalid)
	if r.ok() || action != "cancel" { // an issue below one that is cancelled tells the same
		note(p.workStorm, p.facts, stormFact{office.ID, issue, event, "token"}, r.ok(), 0)
	}
}

// some lists a few issues in a state.
func (p *stormPerson) some(office *stormOffice, query string) []apiIssue {
	r := p.ask("list", http.MethodGet, office.path()+"/issues?"+query, "", "", isNotFound)
	if !r.ok() {
		p.suits("list", office, r)
		return nil
	}
	return into[[]apiIssue](p.workStorm, r)
}

// review accepts and rejects, one by one or many at once.
func (p *stormPerson) review(office *stormOffice) {
	found := p.some(office, "status=review&limit=10")
	if len(found) > 1 && p.IntN(3) == 0 {
		p.acceptAll(office, found)
		return
	}
	for _, one := range found[:min(len(found), 3)] {
		if p.IntN(4) == 0 {
			p.move(office, one.ID, "reject", `{"note":"Again."}`, "issue.rejected")
		} else {
			p.move(office, one.ID, "accept", "", "issue.completed")
		}
	}
}

func (p *stormPerson) acceptAll(office *stormOffice, found []apiIssue) {
	ids := make([]string, len(found))
	for n, one := range found {
		ids[n] = `"` + one.ID + `"`
	}
	r := p.ask("bulk", http.MethodPost, office.path()+"/issues/bulk", `{"action":"accept","ids":[`+strings.Join(ids, ",")+`]}`, p.unique(),
		isArchived, isRefused, isNotFound, isForgot)
	p.suits("bulk", office, r)
	if !r.ok() {
		for _, one := range found {
			// A repeat may be refused after some of it was done; package http repeats what has a key too.
			note(p.workStorm, p.facts, stormFact{office.ID, one.ID, "issue.completed", "token"}, false, 1)
		}
		return
	}
	for _, outcome := range into[[]apiOutcome](p.workStorm, r) {
		note(p.workStorm, p.facts, stormFact{office.ID, outcome.ID, "issue.completed", "token"}, outcome.OK, 0)
	}
}

// unblock gives back what was handed to people.
func (p *stormPerson) unblock(office *stormOffice) {
	for _, one := range p.some(office, "status=handoff&limit=5") {
		p.move(office, one.ID, "assign", p.assignment(office), "issue.assigned")
	}
}

func (p *stormPerson) retry(office *stormOffice) {
	for _, one := range p.some(office, "status=failed,cancelled&limit=3") {
		r := p.send("retry", office, office.path()+"/issues/"+one.ID+"/retry", "",
			slices.Concat([]string{isInvalid, "422 dependency_cycle"}, isNotIntended)...)
		if r.ok() {
			made := into[apiIssue](p.workStorm, r)
			note(p.workStorm, p.facts, stormFact{office.ID, made.ID, "issue.created", "token"}, true, 0)
			office.remember(made.ID)
		}
	}
}

func (p *stormPerson) comment(office *stormOffice) {
	text, issue := p.unique(), p.someIssue(office)
	r := p.send("say", office, office.path()+"/issues/"+issue+"/comments", `{"body":"`+text+`"}`)
	note(p.workStorm, p.said, stormSaid{office.ID, text}, r.ok(), 0)
	note(p.workStorm, p.facts, stormFact{office.ID, issue, "issue.commented", "token"}, r.ok(), 0)
}

// patch has no key: what was not answered may have been taken each time.
func (p *stormPerson) patch(office *stormOffice) {
	issue := p.someIssue(office)
	r := p.ask("patch", http.MethodPatch, office.path()+"/issues/"+issue, `{"title":"`+p.unique()+`","priority":"high"}`, "",
		isArchived, isRefused, isNotFound)
	p.suits("patch", office, r)
	note(p.workStorm, p.facts, stormFact{office.ID, issue, "issue.updated title", "token"}, r.ok(), r.lost)
}

func (p *stormPerson) pauseAndResume(office *stormOffice) {
	ada, exists := p.someAgent(office)
	if !exists {
		return
	}
	for _, action := range []string{"pause", "resume"} {
		r := p.send(action, office, ada.path()+"/"+action, "")
		note(p.workStorm, p.facts, stormFact{office.ID, ada.ID, "agent." + action + "d", "token"}, r.ok(), 0)
	}
}

func (p *stormPerson) pauseWork(office *stormOffice) {
	for _, isPaused := range []bool{true, false} {
		body := fmt.Sprintf(`{"workPaused":%v}`, isPaused)
		r := p.ask("pause work", http.MethodPatch, office.path(), body, "", isArchived, isRefused, isNotFound)
		p.suits("pause work", office, r)
	}
}

func (p *stormPerson) retire(office *stormOffice) {
	ada, exists := p.someAgent(office)
	if !exists {
		return
	}
	p.mutex.Lock()
	p.leaving[ada.ID] = true
	p.mutex.Unlock()
	r := p.send("retire", office, ada.path()+"/retire", "")
	note(p.workStorm, p.facts, stormFact{office.ID, ada.ID, "agent.retired", "token"}, r.ok(), 0)
}

// found founds a company with two teams and a limit, or returns nil.
func (c *stormCaller) found(slug string, limit money.USD) *stormOffice {
	budget, sent := rich, time.Now()
	if limit != noLimit {
		budget = fmt.Sprintf(`{"usd":%s,"reservePercent":%d,"period":"daily"}`, inDollars(limit), stormReservePercent)
	}
	r := c.ask("found", http.MethodPost, "/v1/companies",
		`{"name":"A","slug":"`+slug+`","budget":`+budget+`,"startingTeams":[`+
			`{"name":"Sales","headcount":500},{"name":"Support","headcount":500}]}`, c.unique())
	if !r.ok() {
		return nil
	}
	made := into[company](c.workStorm, r)
	office := &stormOffice{company: made, teams: made.Teams}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.offices = append(c.offices, office)
	if limit != noLimit {
		c.limits[made.ID] = []stormLimit{{sent: sent, came: sent, usd: limit}}
	}
	return office
}

// archiveAndRestore leaves the company active in the end.
func (s *workStorm) archiveAndRestore(office *stormOffice) {
	c := s.newCaller(1001)
	for !s.isOver() {
		s.pause(time.Duration(500+c.IntN(1000)) * time.Millisecond)
		for _, action := range []string{"archive", "restore"} {
			r := c.twice(action, office.path()+"/"+action, "", c.unique())
			note(s, s.facts, stormFact{office.ID, office.ID, "company." + action + "d", "token"}, r.ok(), 0)
			if action == "archive" {
				s.pause(time.Duration(c.IntN(400)) * time.Millisecond)
			}
		}
	}
}

// foundAndDelete founds a company now and then, and deletes the one before.
func (s *workStorm) foundAndDelete() {
	c := s.newCaller(1002)
	old := s.offices[2]
	var books sync.WaitGroup
	defer books.Wait()
	for n := 3; ; n++ {
		s.pause(time.Duration(1000+c.IntN(1500))*time.Millisecond + 10*s.slowness)
		if s.isOver() {
			return
		}
		next := c.found(fmt.Sprintf("office-%d", n), 5*money.Dollar)
		if next != nil {
			books.Go(func() { s.keepBooks(next, 1100+n) })
		}
		old.mutex.Lock()
		old.isDoomed = true
		old.mutex.Unlock()
		c.ask("delete", http.MethodDelete, old.path(), "", "", isNotFound)
		if old = next; old == nil {
			return
		}
	}
}
