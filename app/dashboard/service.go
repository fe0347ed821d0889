// Package dashboard has the use cases of what a company looks like as a whole.
package dashboard

import (
	"context"
	"time"

	"holdco/app/cache"
	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/dashboard"
	"holdco/domain/id"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// keptFor is how long what was read of a company answers those who ask for it.
const keptFor = time.Second

// Service is the application's inbound.Dashboard.
type Service struct {
	store store.Store
	clock outbound.Clock
	costs *cache.Cache[inbound.Seen[cost.Glance]]
	orgs  *cache.Cache[inbound.Seen[dashboard.Org]]
}

var _ inbound.Dashboard = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, clock outbound.Clock) *Service {
	return &Service{
		store: s, clock: clock,
		costs: cache.For[inbound.Seen[cost.Glance]](keptFor), orgs: cache.For[inbound.Seen[dashboard.Org]](keptFor),
	}
}

// Costs returns what a company costs.
func (s *Service) Costs(ctx context.Context, caller access.Caller, of id.Company) (inbound.Seen[cost.Glance], error) {
	return see(ctx, s, s.costs, caller, of, view.costs)
}

// Org returns who works for a company.
func (s *Service) Org(ctx context.Context, caller access.Caller, of id.Company) (inbound.Seen[dashboard.Org], error) {
	return see(ctx, s, s.orgs, caller, of, view.org)
}

// view reads a company on one snapshot.
type view struct {
	store.Reader

	company company.Company
	now     time.Time // by the clock of the store
}

// see reads something of a company, unless that was read a moment ago.
func see[T any](
	ctx context.Context, s *Service, kept *cache.Cache[inbound.Seen[T]], caller access.Caller, of id.Company,
	read func(v view, ctx context.Context) (T, error),
) (inbound.Seen[T], error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return inbound.Seen[T]{}, err
	}
	return kept.Get(ctx, string(of), s.clock.Now(), func() (seen inbound.Seen[T], err error) {
		err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
			v := view{Reader: r}
			if v.company, err = r.Companies().Get(ctx, of); err != nil {
				return err
			}
			if v.now, err = r.StoreNow(ctx); err != nil {
				return err
			}
			seen.At = v.now
			seen.It, err = read(v, ctx)
			return err
		})
		return seen, err
	})
}

func (v view) costs(ctx context.Context) (glance cost.Glance, err error) {
	period := v.company.Budget.Period
	of := func(a budget.Account) budget.Envelope { return work.CompanyEnvelope(v.company, a) }
	its, err := work.EnvelopeNow(ctx, v.Envelopes(), v.company.ID, string(v.company.ID), of, v.now)
	if err != nil {
		return glance, err
	}
	perDay, err := v.sums(ctx, budget.OfCompany, string(v.company.ID), cost.ByDay)
	if err != nil {
		return glance, err
	}
	teams, err := v.sums(ctx, budget.OfTeam, "", cost.ByID)
	if err != nil {
		return glance, err
	}
	agents, err := v.sums(ctx, budget.OfAgent, "", cost.ByID)
	forecast := cost.Foresee(period, its.Limit(), perDay, v.now)
	return cost.GlanceAt(v.now, forecast, cost.UseOf(its), perDay, teams, agents), err
}

// sums sums the costs of the current period.
func (v view) sums(ctx context.Context, scope budget.Scope, which string, by cost.Key) (map[string]cost.Sum, error) {
	of := store.CostsOf{Company: v.company.ID, Scope: scope, ID: which}
	return v.Costs().Sums(ctx, of, cost.Current(v.company.Budget.Period, v.now).Split(by.Units(scope)...), by)
}

func (v view) org(ctx context.Context) (org dashboard.Org, err error) {
	teams, err := v.Teams().OfCompany(ctx, v.company.ID, dashboard.MostShown)
	if err != nil {
		return org, err
	}
	agents, err := v.Agents().OfCompany(ctx, v.company.ID, dashboard.MostShown)
	return dashboard.OrgOf(v.company, teams, agents), err
}
