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
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
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

	overviews *cache.Cache[inbound.Seen[dashboard.Overview]]
	inboxes   *cache.Cache[inbound.Seen[dashboard.Inbox]]
	healths   *cache.Cache[inbound.Seen[dashboard.Health]]
	costs     *cache.Cache[inbound.Seen[cost.Glance]]
	orgs      *cache.Cache[inbound.Seen[dashboard.Org]]
	entries   *cache.Cache[inbound.Seen[dashboard.Entries]]
}

var _ inbound.Dashboard = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, clock outbound.Clock) *Service {
	return &Service{
		store: s, clock: clock,
		overviews: cache.For[inbound.Seen[dashboard.Overview]](keptFor),
		inboxes:   cache.For[inbound.Seen[dashboard.Inbox]](keptFor),
		healths:   cache.For[inbound.Seen[dashboard.Health]](keptFor),
		costs:     cache.For[inbound.Seen[cost.Glance]](keptFor),
		orgs:      cache.For[inbound.Seen[dashboard.Org]](keptFor),
		entries:   cache.For[inbound.Seen[dashboard.Entries]](keptFor),
	}
}

// Overview returns a company at a glance.
func (s *Service) Overview(ctx context.Context, caller access.Caller, of id.Company) (inbound.Seen[dashboard.Overview], error) {
	return see(ctx, s, s.overviews, caller, of, view.overview)
}

// Inbox returns what waits for a person in a company.
func (s *Service) Inbox(ctx context.Context, caller access.Caller, of id.Company) (inbound.Seen[dashboard.Inbox], error) {
	return see(ctx, s, s.inboxes, caller, of, view.inbox)
}

// Health returns how the agents of a company are.
func (s *Service) Health(ctx context.Context, caller access.Caller, of id.Company) (inbound.Seen[dashboard.Health], error) {
	return see(ctx, s, s.healths, caller, of, func(v view, ctx context.Context) (dashboard.Health, error) {
		return v.Dashboards().Health(ctx, of, v.now)
	})
}

// Activity returns what happened last in a company.
func (s *Service) Activity(ctx context.Context, caller access.Caller, of id.Company) (inbound.Seen[dashboard.Entries], error) {
	return see(ctx, s, s.entries, caller, of, func(v view, ctx context.Context) (dashboard.Entries, error) {
		return v.latest(ctx, dashboard.MostEntries)
	})
}

// AllInboxes returns a page of what waits for a person in the companies that the caller may see, or in one of them.
func (s *Service) AllInboxes(
	ctx context.Context, caller access.Caller, query inbound.InboxQuery,
) (found page.Page[dashboard.Item], err error) {
	if query.Company != "" {
		err = caller.NeedsIn(access.Read, query.Company)
	} else {
		err = caller.Needs(access.Read)
	}
	if err != nil {
		return found, err
	}
	within, everywhere := caller.Within()
	if query.Company != "" {
		within, everywhere = []id.Company{query.Company}, false
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		now, err := r.StoreNow(ctx)
		if err != nil {
			return err
		}
		if everywhere {
			found, err = r.Dashboards().Inbox(ctx, nil, now, query.After, query.Size)
			return err
		}
		var items []dashboard.Item
		for _, of := range within {
			c, err := r.Companies().Get(ctx, of)
			if err != nil && (query.Company != "" || fault.CodeOf(err) != fault.NotFound) {
				return err
			}
			if err != nil || query.Company == "" && c.Status != company.Active {
				continue
			}
			some, err := r.Dashboards().Inbox(ctx, &of, now, query.After, query.Size+1)
			if err != nil {
				return err
			}
			items = append(items, some.Items...)
		}
		found = dashboard.InOrder(items, query.Size)
		return nil
	})
	return found, err
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

func (v view) inbox(ctx context.Context) (inbox dashboard.Inbox, err error) {
	if inbox.InboxCounts, err = v.Dashboards().InboxCounts(ctx, v.company.ID, v.now); err != nil {
		return inbox, err
	}
	found, err := v.Dashboards().Inbox(ctx, &v.company.ID, v.now, page.Position{}, dashboard.MostShown)
	inbox.Items, inbox.IsTruncated = found.Items, !found.Next.IsStart()
	return inbox, err
}

func (v view) latest(ctx context.Context, most int) (dashboard.Entries, error) {
	found, err := v.Reader.Activity().List(ctx, store.ActivityFilter{Company: &v.company.ID}, page.Position{}, most)
	entries := make(dashboard.Entries, len(found.Items))
	for n, one := range found.Items {
		entries[n].Event = one
	}
	return entries, err
}

func (v view) overview(ctx context.Context) (o dashboard.Overview, err error) {
	o = dashboard.Overview{Company: v.company, At: v.now, InFlight: map[id.Team]int64{}}
	for _, part := range []func(ctx context.Context, o *dashboard.Overview) error{v.people, v.tasks, v.money, v.rest} {
		if err := part(ctx, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (v view) people(ctx context.Context, o *dashboard.Overview) (err error) {
	if o.Teams, err = v.Teams().OfCompany(ctx, v.company.ID, dashboard.MostShown); err != nil {
		return err
	}
	o.Health, err = v.Dashboards().Health(ctx, v.company.ID, v.now)
	return err
}

func (v view) tasks(ctx context.Context, o *dashboard.Overview) error {
	all, err := v.Issues().Tally(ctx, store.Tally{Company: v.company.ID})
	if err != nil {
		return err
	}
	o.Tasks = all.Of
	counts, err := v.Dashboards().Tasks(ctx, v.company.ID, dashboard.Since(v.now))
	if err != nil {
		return err
	}
	o.Days = counts.OfDays
	for team, of := range counts.OfTeams {
		for _, status := range dashboard.InFlight {
			o.InFlight[team] += of[status]
		}
	}
	return nil
}

func (v view) money(ctx context.Context, o *dashboard.Overview) (err error) {
	if o.Cost, err = v.costs(ctx); err != nil {
		return err
	}
	of := store.CostsOf{Company: v.company.ID, Scope: budget.OfCompany, ID: string(v.company.ID)}
	shown := cost.Until(v.now, dashboard.Since(v.now))
	o.Spent, err = v.Costs().Sums(ctx, of, shown.Split(cost.ByDay.Units(budget.OfCompany)...), cost.ByDay)
	return err
}

func (v view) rest(ctx context.Context, o *dashboard.Overview) (err error) {
	if o.Inbox, err = v.Dashboards().InboxCounts(ctx, v.company.ID, v.now); err != nil {
		return err
	}
	o.Recent, err = v.latest(ctx, dashboard.EntriesShown)
	return err
}
