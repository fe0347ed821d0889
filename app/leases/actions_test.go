package leases_test

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/approval"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// chooser makes the choices of actions: one of 0 to n-1.
type chooser interface{ pick(what string, n int) int }

func oneOf[T any](c chooser, what string, list []T) T { return list[c.pick(what, len(list))] }

// action does something that may be refused, and returns how.
type action struct {
	name string
	do   func(w *world, c chooser) error
}

// actions are all that can happen. What happens more often is in it more often.
var actions = slices.Concat(
	slices.Repeat([]action{{"claim", (*world).claim}}, 5),
	slices.Repeat([]action{{"file", (*world).file}}, 4),
	slices.Repeat([]action{{"move", (*world).move}, {"call", (*world).call}, {"end", (*world).end}}, 4),
	[]action{
		{"patch", (*world).patch},
		{"again", (*world).again},
		{"agent", (*world).changeAgent},
		{"company", (*world).changeCompany},
		{"clock", (*world).moveClock},
		{"sweep", (*world).sweep},
		{"wake", (*world).wake},
		{"settle", (*world).settle},
		{"decide", (*world).decide},
		{"decide", (*world).decide},
	},
)

// some is one of the newest issues of a company, or "".
func (w *world) some(c chooser, of id.Company) (id.Issue, error) {
	found, err := w.store.Issues().List(w.ctx, store.IssueFilter{Company: of}, page.Position{}, 12)
	if err != nil || len(found.Items) == 0 {
		return "", err
	}
	return oneOf(c, "issue", found.Items).ID, nil
}

func (w *world) file(c chooser) error {
	o := oneOf(c, "company", w.offices)
	draft := issue.Draft{Title: new("Call")}
	draft.Priority = new(oneOf(c, "priority", []string{"low", "normal", "normal", "urgent"}))
	draft.MaxAttempts = new(int64(1 + c.pick("attempts", 3)))
	draft.RequiresReview = new(c.pick("review", 2) == 0)
	switch c.pick("to", 4) {
	case 0:
		draft.Agent = new(string(oneOf(c, "agent", o.agents)))
	case 1:
		draft.Team = new(string(oneOf(c, "team", o.teams)))
	}
	switch c.pick("needs", 10) {
	case 0, 1:
		parent, err := w.some(c, o.id)
		if err != nil {
			return err
		}
		if parent != "" {
			draft.Parent = new(new(string(parent)))
		}
	case 2, 3:
		var blockers []string
		for range 2 {
			blocker, err := w.some(c, o.id)
			if err != nil {
				return err
			}
			if blocker != "" {
				blockers = append(blockers, string(blocker))
			}
		}
		draft.BlockedBy = &blockers
	case 4:
		draft.NotBefore = new(new(w.clock.Now().Add(time.Duration(1+c.pick("delay", 100)) * time.Second)))
	}
	if c.pick("steps", 6) == 0 {
		draft.Agent, draft.Team, draft.Workflow = nil, nil, new(string(o.flow))
	}
	_, err := w.issues.Create(w.ctx, caller, o.id, draft, idempotency.Request{})
	return err
}

// decide decides an approval, or ends those that are overdue.
func (w *world) decide(c chooser) error {
	o := oneOf(c, "company", w.offices)
	filter := store.ApprovalFilter{Company: o.id, Status: []approval.Status{approval.Pending}}
	found, err := w.store.Approvals().List(w.ctx, filter, page.Position{}, 12)
	if err != nil {
		return err
	}
	verdict := approval.Verdict{Action: oneOf(c, "verdict", []approval.Action{approval.Approve, approval.Deny, ""}), Note: new("Why")}
	if verdict.Action == "" || len(found.Items) == 0 {
		return all(w, w.work.ExpireApprovals)
	}
	which := oneOf(c, "approval", found.Items).ID
	_, err = w.approvals.Decide(w.ctx, caller, o.id, which, verdict, precondition.Any(), idempotency.Request{})
	return err
}

func (w *world) move(c chooser) error {
	o := oneOf(c, "company", w.offices)
	which, err := w.some(c, o.id)
	if err != nil || which == "" {
		return err
	}
	move := inbound.IssueMove{
		Action: oneOf(c, "move", []issue.Action{
			issue.Assign, issue.Assign, issue.Unassign, issue.Cancel, issue.Cancel, issue.Accept, issue.Accept, issue.Reject, issue.Reject,
			issue.HandOff, issue.Retry,
		}),
		Note: issue.Note{Body: new("Why")},
	}
	if move.Action == issue.Assign {
		if c.pick("to", 2) == 0 {
			move.To.Agent = new(string(oneOf(c, "agent", o.agents)))
		} else {
			move.To.Team = new(string(oneOf(c, "team", o.teams)))
		}
	}
	_, err = w.issues.Move(w.ctx, caller, o.id, which, move, precondition.Any(), idempotency.Request{})
	return err
}

func (w *world) patch(c chooser) error {
	o := oneOf(c, "company", w.offices)
	which, err := w.some(c, o.id)
	if err != nil || which == "" {
		return err
	}
	var patch issue.Patch
	switch c.pick("field", 4) {
	case 0:
		patch.Priority = new(oneOf(c, "priority", []string{"low", "high"}))
	case 1:
		blocker, err := w.some(c, o.id)
		if err != nil {
			return err
		}
		patch.BlockedBy = &[]string{string(blocker)}
	case 2:
		patch.BlockedBy = &[]string{}
	default:
		patch.NotBefore = new(new(w.clock.Now().Add(time.Duration(c.pick("delay", 100)-10) * time.Second)))
	}
	_, err = w.issues.Update(w.ctx, caller, o.id, which, patch, precondition.Any())
	return err
}

func (w *world) claim(c chooser) error {
	o := oneOf(c, "company", w.offices)
	by := o.caller(c.pick("agent", len(o.agents)))
	sent := inbound.Claim{}
	if c.pick("key", 3) == 0 {
		sent.Key = fmt.Sprint("key-", c.pick("which key", 2))
	}
	if c.pick("lease time", 3) == 0 {
		sent.LeaseSeconds = new(int64(30))
	}
	granted, err := w.leases.Claim(w.ctx, by, sent)
	w.foreseen.claim(by, sent, granted, err)
	if err != nil || granted == nil {
		return err
	}
	w.said.mutex.Lock()
	defer w.said.mutex.Unlock()
	got := grant{by, granted.Run.ID, granted.Run.Lease.ID, granted.Run.Lease.Token}
	if !slices.Contains(w.said.granted, got) {
		w.said.granted = append(w.said.granted, got)
	}
	return nil
}

// someGrant is one of the leases that were granted last.
func (w *world) someGrant(c chooser) (grant, bool) {
	w.said.mutex.Lock()
	defer w.said.mutex.Unlock()
	if len(w.said.granted) == 0 {
		return grant{}, false
	}
	last := w.said.granted[max(0, len(w.said.granted)-8):]
	return last[len(last)-1-c.pick("lease", len(last))], true
}

// token is that of the lease, or one that another lease of the issue had or will have.
func (g grant) sent(c chooser) inbound.LeaseCall {
	token := g.token
	if c.pick("token", 12) == 11 {
		token = max(token+int64(2*c.pick("which token", 2)-1), 1)
	}
	return inbound.LeaseCall{Lease: g.lease, Token: &token}
}

func (w *world) call(c chooser) error {
	g, exists := w.someGrant(c)
	if !exists {
		return nil
	}
	call := g.sent(c)
	switch c.pick("call", 6) {
	case 0, 1:
		_, err := w.leases.Renew(w.ctx, g.by, call)
		w.foreseen.call(g, *call.Token, err)
		return err
	case 2:
		_, err := w.leases.Checkpoint(w.ctx, g.by, call, run.CheckpointDraft{Note: new("Half")})
		w.foreseen.call(g, *call.Token, err)
		return w.acknowledge(err, func(s *said) { s.noted[g.run]++ })
	case 3:
		_, err := w.leases.Comment(w.ctx, g.by, call, issue.Note{Body: new("Why?")})
		w.foreseen.call(g, *call.Token, err)
		return err
	case 4:
		_, err := w.leases.File(w.ctx, g.by, call, issue.Draft{Title: new("Part")})
		w.foreseen.call(g, *call.Token, err, fault.DependencyCycle, fault.ValidationFailed) // below what it works on
		return w.acknowledge(err, func(s *said) { s.filed[g.run]++ })
	default:
		charges := append(someCharges(c), someCharge(c))
		_, _, err := w.leases.Charge(w.ctx, g.by, call, charges)
		w.foreseen.charge(g, *call.Token, err)
		return w.acknowledge(err, func(s *said) { s.charge(g.run, charges) })
	}
}

// acknowledge notes what was done, if it was.
func (w *world) acknowledge(err error, note func(s *said)) error {
	if err == nil {
		w.said.mutex.Lock()
		defer w.said.mutex.Unlock()
		note(&w.said)
	}
	return err
}

// someCharges are up to two charges.
func someCharges(c chooser) (drafts []cost.Draft) {
	for range c.pick("charges", 3) {
		drafts = append(drafts, someCharge(c))
	}
	return drafts
}

// someCharge is one of a few. A key always means one amount.
func someCharge(c chooser) cost.Draft {
	n := 1 + c.pick("charge", 5)
	return cost.Draft{Key: new(fmt.Sprint("charge-", n)), Kind: new("tools"), USD: new(money.Number(fmt.Sprint(n)))}
}

func (s *said) charge(of id.Run, charges []cost.Draft) {
	if s.charged[of] == nil {
		s.charged[of] = map[string]money.USD{}
	}
	for _, one := range charges {
		s.charged[of][*one.Key], _ = money.ParseUSD(*one.USD)
	}
}

var endings = map[issue.Action]run.Status{
	issue.Complete: run.Succeeded, issue.Fail: run.Failed, issue.Release: run.Cancelled, issue.HandOff: run.Cancelled,
}

func (w *world) end(c chooser) error {
	g, exists := w.someGrant(c)
	if !exists {
		return nil
	}
	call := g.sent(c)
	sent := inbound.LeaseEnd{
		Action:  oneOf(c, "ending", []issue.Action{issue.Complete, issue.Complete, issue.Fail, issue.Fail, issue.Release, issue.HandOff}),
		Charges: someCharges(c),
	}
	switch sent.Action {
	case issue.Complete:
		sent.Result = []byte(`{"n":1}`)
	case issue.Fail:
		sent.Failure = run.FailureDraft{Code: new("broken"), Message: new("No."), RetryAfter: new(int64(60 * c.pick("delay", 2)))}
		sent.Failure.Retry = new(c.pick("retry", 4) > 0)
	case issue.HandOff:
		sent.Note.Body = new("Help")
	}
	call.Fingerprint = fmt.Sprint(sent.Action, " ", len(sent.Charges), " ", c.pick("body", 1000))
	ended, err := w.leases.End(w.ctx, g.by, call, sent)
	if err != nil || !ended.IsReplayed {
		w.foreseen.end(g, *call.Token, sent.Action, err)
	}
	if err != nil || ended.IsReplayed {
		return err
	}
	found, err := w.store.Runs().Get(w.ctx, g.run)
	if err != nil {
		return err
	}
	return w.acknowledge(nil, func(s *said) {
		s.charge(g.run, sent.Charges)
		s.endings = append(s.endings, ending{g, string(sent.Action), call.Fingerprint, ended.Answer, endings[sent.Action], found.Issue})
	})
}

// again repeats a call that ended a lease, which gets the first answer.
func (w *world) again(c chooser) error {
	w.said.mutex.Lock()
	if len(w.said.endings) == 0 {
		w.said.mutex.Unlock()
		return nil
	}
	e := oneOf(c, "ending", w.said.endings)
	w.said.mutex.Unlock()
	call := inbound.LeaseCall{Lease: e.lease, Token: &e.token, Fingerprint: e.fingerprint}
	got, err := w.leases.End(w.ctx, e.by, call, inbound.LeaseEnd{Action: issue.Action(e.action)})
	if err == nil && (!got.IsReplayed || got.Answer != e.answer) {
		return fmt.Errorf("the %s of %s is repeated: %+v, at first %s", e.action, e.lease, got, e.answer)
	}
	return err
}

func (w *world) changeAgent(c chooser) error {
	o := oneOf(c, "company", w.offices)
	which := oneOf(c, "agent", o.agents)
	change := w.agents.Pause
	switch c.pick("change", 10) {
	case 0:
		change = w.agents.Retire
	case 1, 2, 3, 4, 5:
		change = w.agents.Resume
	}
	_, err := change(w.ctx, caller, o.id, which, precondition.Any(), idempotency.Request{})
	return err
}

func (w *world) changeCompany(c chooser) (err error) {
	o := oneOf(c, "company", w.offices)
	switch c.pick("change", 6) {
	case 0:
		_, err = w.companies.Update(w.ctx, caller, o.id, company.Patch{WorkPaused: new(true)}, precondition.Any())
	case 1:
		_, err = w.companies.Update(w.ctx, caller, o.id, company.Patch{WorkPaused: new(false)}, precondition.Any())
	case 2, 3:
		_, err = w.companies.Archive(w.ctx, caller, o.id, precondition.Any(), idempotency.Request{})
	default:
		_, err = w.companies.Restore(w.ctx, caller, o.id, precondition.Any(), idempotency.Request{})
	}
	return err
}

func (w *world) moveClock(c chooser) error {
	w.clock.Advance(oneOf(c, "by", []time.Duration{
		time.Millisecond, time.Second, 10 * time.Second, 10 * time.Second, 31 * time.Second, 31 * time.Second, time.Minute, 6 * time.Minute,
		25 * time.Hour, -time.Second, -2 * time.Minute,
	}))
	return nil
}

// sweep lets so many seconds go by, and sweeps in each.
func (w *world) sweep(c chooser) error {
	for range oneOf(c, "sweeps", []int{1, 1, 2, 31, 62}) {
		sweep := func() error { return all(w, w.work.Sweep) }
		if w.foreseen != nil {
			sweep = w.foreseen.sweep
		}
		if err := sweep(); err != nil {
			return err
		}
		w.clock.Advance(time.Second)
	}
	return nil
}

func (w *world) wake(chooser) error {
	if err := all(w, w.work.WakeDue); err != nil {
		return err
	}
	found, err := w.store.Issues().Due(w.ctx, w.clock.Now())
	return none(w.foreseen, found, err)
}

func (w *world) settle(chooser) error {
	if err := all(w, w.work.Settle); err != nil {
		return err
	}
	found, err := w.store.Settlements().Pending(w.ctx, 10)
	return none(w.foreseen, found, err)
}

// isRefusal reports whether an error is one that actions may get: they try what is not possible.
func isRefusal(err error) bool {
	return slices.Contains([]fault.Code{
		fault.InvalidTransition, fault.ValidationFailed, fault.CompanyArchived, fault.StaleLease, fault.DependencyCycle,
		fault.TooManyOf, fault.IdempotencyConflict, fault.BudgetExhausted, fault.ImmutableField,
	}, fault.CodeOf(err))
}
