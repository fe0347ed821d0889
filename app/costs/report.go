package costs

import (
	"context"
	"time"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Report returns what something has cost in a range.
func (s *Service) Report(ctx context.Context, caller access.Caller, of inbound.CostsOf) (report cost.Report, err error) {
	err = s.view(ctx, caller, of.Company, access.Read, of.Since, of.Until, func(ctx context.Context, v view) error {
		report, err = v.report(ctx, of)
		return err
	})
	return report, err
}

// Forecast returns what the company will probably spend in the current period.
func (s *Service) Forecast(ctx context.Context, caller access.Caller, of id.Company) (forecast cost.Forecast, err error) {
	err = s.view(ctx, caller, of, access.Read, "", "", func(ctx context.Context, v view) error {
		period := v.company.Budget.Period
		perDay, err := v.sums(ctx, v.all(budget.OfCompany, string(of)), cost.Current(period, v.now), cost.ByDay)
		if err != nil {
			return err
		}
		its, err := v.envelope(ctx, string(of), func(a budget.Account) budget.Envelope { return work.CompanyEnvelope(v.company, a) })
		forecast = cost.Foresee(period, its.Limit(), perDay, v.now)
		return err
	})
	return forecast, err
}

// view reads the costs of a company on one snapshot.
type view struct {
	store.Reader

	company company.Company
	now     time.Time // by the clock of the store, as entries have it
}

// view reads on one snapshot, if the caller may. The company must exist. The parameters of a range must have their form, which is
// checked first.
func (s *Service) view(
	ctx context.Context, caller access.Caller, of id.Company, needs access.Permission, since, until string,
	read func(ctx context.Context, v view) error,
) error {
	if err := caller.NeedsIn(needs, of); err != nil {
		return err
	}
	if err := cost.CheckRange(since, until); err != nil {
		return err
	}
	return s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		v := view{Reader: r}
		if v.company, err = r.Companies().Get(ctx, of); err != nil {
			return err
		}
		if v.now, err = r.StoreNow(ctx); err != nil {
			return err
		}
		return read(ctx, v)
	})
}

func (v view) all(scope budget.Scope, which string) store.CostsOf {
	return store.CostsOf{Company: v.company.ID, Scope: scope, ID: which}
}

func (v view) sums(ctx context.Context, of store.CostsOf, in cost.Range, by cost.Key) (map[string]cost.Sum, error) {
	return v.Costs().Sums(ctx, of, in.Split(by.Units(of.Scope)...), by)
}

// envelope is one that is made of its account, as it is now.
func (v view) envelope(ctx context.Context, which string, of func(a budget.Account) budget.Envelope) (budget.Envelope, error) {
	return work.EnvelopeNow(ctx, v.Envelopes(), v.company.ID, which, of, v.now)
}

// use is the use of an envelope, as it is now.
func (v view) use(ctx context.Context, which string, of func(a budget.Account) budget.Envelope) (cost.Use, error) {
	e, err := v.envelope(ctx, which, of)
	return cost.UseOf(e), err
}

// subject is what a report is about.
type subject struct {
	id     string
	use    cost.Use
	begins time.Time      // if the whole lifetime is shown unless a range is asked for; zero: the current period is
	within *store.CostsOf // what it is divided into; nil: nothing
}

func (v view) report(ctx context.Context, of inbound.CostsOf) (report cost.Report, err error) {
	about, err := v.subject(ctx, of)
	if err != nil {
		return report, err
	}
	report = cost.Report{Scope: of.Scope, ID: about.id, Use: about.use}
	sums, isWhole := v.all(of.Scope, about.id), !about.begins.IsZero() && of.Since == "" && of.Until == ""
	if isWhole {
		report.Range = cost.Until(v.now, about.begins)
	} else if report.Range, err = cost.ParseRange(of.Since, of.Until, cost.Current(v.company.Budget.Period, v.now), v.now); err != nil {
		return report, err
	}
	switch {
	case isWhole && of.Scope == budget.OfIssue:
		report.Models, err = v.Costs().Lifetime(ctx, sums)
	case isWhole:
		report.Models, err = v.sums(ctx, sums, cost.Ever(v.now), cost.ByModel)
	default:
		report.Models, err = v.sums(ctx, sums, report.Range, cost.ByModel)
	}
	if err != nil {
		return report, err
	}
	report.Total = cost.Total(report.Models)
	delete(report.Models, "") // what no model was named for
	if about.within != nil {
		if report.Members, err = v.sums(ctx, *about.within, report.Range, cost.ByID); err != nil {
			return report, err
		}
	}
	if report.IsTrend = !isWhole; report.IsTrend {
		report.PerDay, err = v.sums(ctx, sums, report.Range.Trend(), cost.ByDay)
	}
	return report, err
}

// subject finds what a report is about.
func (v view) subject(ctx context.Context, of inbound.CostsOf) (found subject, err error) {
	switch of.Scope {
	case budget.OfTeam:
		return v.team(ctx, of.ID)
	case budget.OfAgent:
		return v.agent(ctx, of.ID)
	case budget.OfProject:
		return v.project(ctx, of.ID)
	case budget.OfIssue:
		return v.issue(ctx, of.ID)
	case budget.OfRun:
		return v.run(ctx, of.ID)
	default:
		found = subject{id: string(v.company.ID), within: new(v.all(budget.OfTeam, ""))}
		found.use, err = v.use(ctx, found.id, func(a budget.Account) budget.Envelope { return work.CompanyEnvelope(v.company, a) })
		return found, err
	}
}

func (v view) team(ctx context.Context, which string) (found subject, err error) {
	t, err := store.FindTeam(ctx, v.Teams(), v.company.ID, which)
	if err != nil {
		return found, err
	}
	agents := v.all(budget.OfAgent, "")
	agents.Team = t.ID
	found = subject{id: string(t.ID), within: &agents}
	found.use, err = v.use(ctx, found.id, func(a budget.Account) budget.Envelope { return work.TeamEnvelope(v.company, a) })
	return found, err
}

func (v view) agent(ctx context.Context, which string) (found subject, err error) {
	parsed, _ := id.Parse[id.Agent](which)
	a, err := store.GetIn(ctx, v.Agents(), v.company.ID, parsed)
	if err != nil {
		return found, err
	}
	found.id = string(a.ID)
	found.use, err = v.use(ctx, found.id, func(kept budget.Account) budget.Envelope { return work.AgentEnvelope(a, kept) })
	return found, err
}

// project finds a project, whose limit is for all time.
func (v view) project(ctx context.Context, which string) (found subject, err error) {
	parsed, _ := id.Parse[id.Project](which)
	p, err := store.GetIn(ctx, v.Projects(), v.company.ID, parsed)
	if err != nil {
		return found, err
	}
	found.id = string(p.ID)
	found.use, err = v.use(ctx, found.id, func(a budget.Account) budget.Envelope { return work.PurposeEnvelope(budget.OfProject, a) })
	return found, err
}

// issue finds an issue, whose limit is its own or that of its agent, for all time.
func (v view) issue(ctx context.Context, which string) (found subject, err error) {
	parsed, _ := id.Parse[id.Issue](which)
	i, err := store.GetIn(ctx, v.Issues(), v.company.ID, parsed)
	if err != nil {
		return found, err
	}
	held, err := v.held(ctx, i)
	if err != nil {
		return found, err
	}
	usual := budget.Limit{}
	if i.Agent != "" {
		by, err := v.Agents().Get(ctx, i.Agent)
		if err != nil {
			return found, err
		}
		usual = by.Budget.PerTask
	}
	its := work.IssueEnvelope(i, usual, held, budget.Account{})
	return subject{id: string(i.ID), use: cost.UseOf(its), begins: i.CreatedAt}, nil
}

// held is what the lease on an issue has reserved and not spent.
func (v view) held(ctx context.Context, of issue.Issue) (money.USD, error) {
	if of.Status != issue.Running {
		return 0, nil
	}
	open, err := v.Runs().OpenOf(ctx, of.ID)
	_, err = store.Exists(err)
	return open.Held, err
}

func (v view) run(ctx context.Context, which string) (found subject, err error) {
	parsed, _ := id.Parse[id.Run](which)
	r, err := store.GetIn(ctx, v.Runs(), v.company.ID, parsed)
	return subject{id: string(r.ID), begins: r.StartedAt}, err
}
