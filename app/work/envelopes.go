package work

import (
	"context"
	"slices"
	"time"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/store"
)

// CompanyEnvelope is the envelope of a company.
func CompanyEnvelope(of company.Company, account budget.Account) budget.Envelope {
	return budget.Envelope{
		Scope: budget.OfCompany, Set: budget.Of(of.Budget.USD), Reserve: of.Budget.ReservePercent, Period: of.Budget.Period,
		Account: account,
	}
}

// TeamEnvelope is the envelope of a team.
func TeamEnvelope(in company.Company, account budget.Account) budget.Envelope {
	return budget.Envelope{Scope: budget.OfTeam, Set: account.Limit, Period: in.Budget.Period, Account: account}
}

// AgentEnvelope is the envelope of an agent.
func AgentEnvelope(of agent.Agent, account budget.Account) budget.Envelope {
	return budget.Envelope{Scope: budget.OfAgent, Set: of.Budget.Daily, Period: budget.Daily, Account: account}
}

// EnvelopesOf are those of the lease of a run. Accounts are by their ids; what has none has spent nothing.
func EnvelopesOf(
	c company.Company, a agent.Agent, r run.Run, i issue.Issue, accounts map[string]budget.Account,
) budget.Envelopes {
	account := func(of string) budget.Account {
		found, exists := accounts[of]
		if !exists {
			found = budget.Account{ID: of, Company: c.ID}
		}
		return found
	}
	all := budget.Envelopes{
		CompanyEnvelope(c, account(string(c.ID))),
		TeamEnvelope(c, account(string(r.Team))),
		AgentEnvelope(a, account(string(a.ID))),
	}
	if r.Goal != "" {
		all = append(all, PurposeEnvelope(budget.OfGoal, account(string(r.Goal))))
	}
	if r.Project != "" {
		all = append(all, PurposeEnvelope(budget.OfProject, account(string(r.Project))))
	}
	if r.Workflow != "" {
		all = append(all, PurposeEnvelope(budget.OfWorkflow, account(string(r.Workflow))))
	}
	return append(all, IssueEnvelope(i, a.Budget.PerTask, r.Held, account(string(i.ID))))
}

// Begun is what a run on an issue would be granted under.
func Begun(a agent.Agent, i issue.Issue) run.Run {
	return run.Run{
		Company: i.Company, Agent: a.ID, Team: a.Team, Issue: i.ID, Goal: i.Goal, Project: i.Project, Workflow: i.Workflow,
	}
}

// PurposeEnvelope is the envelope of what an issue is for.
func PurposeEnvelope(scope budget.Scope, account budget.Account) budget.Envelope {
	return budget.Envelope{Scope: scope, Set: account.Limit, Period: budget.Always, Account: account}
}

// IssueEnvelope is the envelope of an issue, of which a lease has reserved an amount. Usual is the limit that it has without one of its
// own: that of the agent who works on it.
func IssueEnvelope(of issue.Issue, usual budget.Limit, held money.USD, account budget.Account) budget.Envelope {
	account.Period, account.Spent, account.Held = budget.Always, of.Spent, held
	set := of.PerTask
	if !set.IsSet {
		set = usual
	}
	return budget.Envelope{Scope: budget.OfIssue, Set: set, Period: budget.Always, Account: account}
}

// Current brings envelopes to an instant. What was not counted before is summed up.
func Current(ctx context.Context, r store.EnvelopeReader, all budget.Envelopes, at time.Time) error {
	for n, e := range all {
		if !e.IsCounted() {
			spent, err := r.Spent(ctx, e.Account.Company, e.Scope, e.Account.ID, e.Period.Start(at))
			if err != nil {
				return err
			}
			e = e.Recount(spent, at)
		}
		all[n] = e.At(at)
	}
	return nil
}

// EnvelopeNow is an envelope of a company, made of its account, as it is at an instant.
func EnvelopeNow(
	ctx context.Context, r store.EnvelopeReader, in id.Company, which string, of func(a budget.Account) budget.Envelope, at time.Time,
) (budget.Envelope, error) {
	accounts, err := r.Accounts(ctx, in, which)
	if err != nil {
		return budget.Envelope{}, err
	}
	all := budget.Envelopes{of(accounts[which])}
	err = Current(ctx, r, all, at)
	return all[0], err
}

// Keep stores envelopes that were others before, and records the levels that they have reached. If the company has spent its reserve
// too, it is to be told by Overspent.
func (u *Unit) Keep(ctx context.Context, before, next budget.Envelopes, at time.Time) (isOver bool, err error) {
	var changed []budget.Account
	for n := range next {
		e, passed := next[n].Reported(at)
		next[n] = e
		for _, level := range passed {
			isOver = isOver || level == budget.Catastrophic
			if err := u.tx.Record(ctx, e.Breach(level).By(u.actor)); err != nil {
				return false, err
			}
		}
		was := before[n].Account
		if e.Scope == budget.OfIssue { // the issue and its run have the figures
			if was.Fired == e.Account.Fired && was.HardAt.Equal(e.Account.HardAt) {
				continue
			}
			e.Account.Spent, e.Account.Held = 0, 0
		}
		if e.Account != was {
			changed = append(changed, e.Account)
		}
	}
	return isOver, u.tx.Envelopes().Save(ctx, changed)
}

// Rebudget follows from other limits or periods of envelopes, which are as they are from now on. If the company has spent its reserve
// too, the caller ends its leases.
func (u *Unit) Rebudget(ctx context.Context, at time.Time, next ...budget.Envelope) (isOver bool, err error) {
	before := slices.Clone(next)
	if err := Current(ctx, u.tx.Envelopes(), next, at); err != nil {
		return false, err
	}
	for n := range next {
		next[n] = next[n].Raised()
	}
	if isOver, err = u.Keep(ctx, before, next, at); err != nil {
		return isOver, err
	}
	return isOver, u.tx.Envelopes().Freed(ctx, u.of)
}

// RecountTeams follows from another kind of period of a company: what its teams have spent in that is summed up once and kept, for those
// with leases, whose calls read it without the turn that it takes to keep it. Others keep theirs with their next lease.
func (u *Unit) RecountTeams(ctx context.Context, next company.Company, at time.Time) error {
	teams, err := u.tx.Runs().TeamsAtWork(ctx, next.ID)
	if err != nil || len(teams) == 0 {
		return err
	}
	ids := make([]string, len(teams))
	for n, which := range teams {
		ids[n] = string(which)
	}
	accounts, err := u.tx.Envelopes().Accounts(ctx, u.of, ids...)
	if err != nil {
		return err
	}
	all := make(budget.Envelopes, len(ids))
	for n, which := range ids {
		all[n] = TeamEnvelope(next, accounts[which])
	}
	if err := Current(ctx, u.tx.Envelopes(), all, at); err != nil {
		return err
	}
	recounted := make([]budget.Account, len(all))
	for n, e := range all {
		recounted[n] = e.Account
	}
	return u.tx.Envelopes().Save(ctx, recounted)
}

// RebudgetPurpose is Rebudget for a goal, a project or a workflow.
func (u *Unit) RebudgetPurpose(ctx context.Context, scope budget.Scope, which string, before, next budget.Limit) error {
	if before == next {
		return nil
	}
	at, err := u.tx.StoreNow(ctx)
	if err != nil {
		return err
	}
	account, err := u.Account(ctx, which)
	if err != nil {
		return err
	}
	account.Limit = next
	_, err = u.Rebudget(ctx, at, PurposeEnvelope(scope, account))
	return err
}

// Account returns what is kept of one envelope.
func (u *Unit) Account(ctx context.Context, which string) (budget.Account, error) {
	found, err := u.tx.Envelopes().Accounts(ctx, u.of, which)
	return found[which], err
}

// ChargeLate adds what was charged after the lease has ended, or corrected, to what an issue has cost, which the unit has locked: it may
// have become too dear for a lease. What a running issue has cost follows from its charges.
func (u *Unit) ChargeLate(ctx context.Context, i issue.Issue, usd money.USD) error {
	if i.Status == issue.Running {
		return nil
	}
	return u.tx.Issues().Save(ctx, i.Charge(usd))
}

// Overspent ends all leases of the company, which has spent its reserve too.
func (u *Unit) Overspent(ctx context.Context, at time.Time) error {
	c, err := u.tx.Companies().Lock(ctx, u.of)
	if err != nil {
		return err
	}
	c = c.EndLeases(at)
	if err := u.tx.Companies().Save(ctx, c); err != nil {
		return err
	}
	return u.Revoke(ctx, c.LeaseEpoch, run.OverBudget)
}

// Revoke follows from an epoch of the company that has begun: the leases of the one before have ended for the reason.
func (u *Unit) Revoke(ctx context.Context, epoch int64, why run.Reason) error {
	if err := u.tx.Runs().Revoke(ctx, u.of, epoch, why); err != nil {
		return err
	}
	return u.Begin(ctx, store.Settlement{Kind: store.Revoke, Epoch: epoch})
}

// giveBack gives back what a run that ends has reserved and not spent. Claims that it was too dear for are woken.
func (u *Unit) giveBack(ctx context.Context, of run.Run) error {
	if of.Held == 0 {
		return nil
	}
	accounts, err := u.tx.Envelopes().Accounts(ctx, u.of, of.Envelopes()...)
	if err != nil {
		return err
	}
	var changed []budget.Account
	for _, account := range accounts {
		account.Held -= of.Held
		changed = append(changed, account)
	}
	if err := u.tx.Envelopes().Save(ctx, changed); err != nil {
		return err
	}
	return u.tx.Envelopes().Freed(ctx, u.of)
}

// ListEnvelopes returns the envelopes of a company that have a limit, after a position in some scopes, most at most.
func ListEnvelopes(
	ctx context.Context, r store.Reader, c company.Company, scopes []budget.Scope, after page.Position, most int, at time.Time,
) (found budget.Envelopes, err error) {
	last := after.ID
	if !after.IsStart() {
		from := -1
		if len(after.Values) == 1 {
			from = slices.Index(scopes, budget.Scope(after.Values[0]))
		}
		if from < 0 {
			return nil, page.ErrForeign
		}
		scopes = scopes[from:]
	}
	for _, scope := range scopes {
		var some budget.Envelopes
		switch {
		case len(found) == most:
		case scope != budget.OfCompany:
			some, err = r.Envelopes().Limited(ctx, c.ID, scope, last, most-len(found))
		case last == "":
			var accounts map[string]budget.Account
			accounts, err = r.Envelopes().Accounts(ctx, c.ID, string(c.ID))
			some = budget.Envelopes{CompanyEnvelope(c, accounts[string(c.ID)])}
		}
		if err != nil {
			return nil, err
		}
		for n := range some {
			if some[n].Period == "" {
				some[n].Period = c.Budget.Period
			}
		}
		found, last = append(found, some...), ""
	}
	return found, Current(ctx, r.Envelopes(), found, at)
}
