package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/store"
)

var companyRules = anyCompany.rules([]rule{
	{"figures keep all their 63 bits", companyKeepsFigures},
	{"a slug in use is refused, whatever the state of its holder", slugInUse},
	{"an id that is taken is a defect, not a slug in use", idInUse},
	{"a slug is matched exactly", slugIsExact},
	{"a unit saves a company there and back", savesTwice},
	{"a list has what meets every condition, newest first", companyList},
})

var anyCompany = aggregate[id.Company, company.Company]{
	of: func(r store.Reader) store.Getter[id.Company, company.Company] { return r.Companies() },
	in: func(tx store.Tx) store.Repository[id.Company, company.Company] { return tx.Companies() },
	new: func(f *fixture) company.Company {
		return f.newCompany(fmt.Sprintf("c-%x", f.ids.UUIDv7()))
	},
	list:   (*fixture).companyPages,
	remove: (*fixture).remove,
	full: func(f *fixture, c *company.Company) {
		at := f.clock.Now()
		c.Description, c.DefaultAdapter, c.FiscalPeriod = "What it does", "http", budget.Quarterly
		c.Budget = budget.Budget{USD: 1_500_250_001, Period: budget.Daily, ReservePercent: 12_50}
		c.TeamCount, c.AgentCount, c.WorkPaused, c.Version = 3, 2, true, 1<<53+1
		c.ArchivedAt, c.RestorableUntil, c.UpdatedAt = at.Add(time.Millisecond), at.Add(720*time.Hour), at.Add(999*time.Millisecond)
		c.DeletedBy, c.LeaseEpoch = "token:tok_somebody", 1<<53+1
	},
	edit: func(f *fixture, c *company.Company) {
		c.Name, c.Description, c.DefaultAdapter, c.FiscalPeriod = "New", "Text", "process", budget.Daily
		c.Budget = budget.Budget{USD: 5, Period: budget.Weekly, ReservePercent: 6}
		c.TeamCount, c.AgentCount, c.WorkPaused, c.Status, c.DeletedBy = 8, 9, false, company.Archived, ""
		c.LeaseEpoch = 7
		c.ArchivedAt, c.RestorableUntil, c.UpdatedAt = time.Time{}, time.Time{}, f.clock.Now().Add(time.Hour)
		c.Slug, c.CreatedAt = "other", f.clock.Now().Add(time.Hour)
	},
	permanent: []string{"Slug", "CreatedAt"},
	texts: func(c *company.Company, text string) {
		c.Name, c.Description, c.DefaultAdapter, c.DeletedBy = text, text, text, event.Actor(text)
	},
}

// savesTwice changes a column of an index, and changes it back.
func savesTwice(f *fixture) {
	changed := f.found("changed")
	f.update(func(ctx context.Context, tx store.Tx) error {
		next, err := tx.Companies().Lock(ctx, changed.ID)
		if err != nil {
			return err
		}
		for _, next.Status = range []company.Status{company.Archived, company.Active} {
			next.Version++
			if err := tx.Companies().Save(ctx, next); err != nil {
				return err
			}
		}
		return tx.Record(ctx, founded(next))
	})
	changed.Version += 2
	f.looksLike(changed)
}

// looksLike compares every way to read one company with want.
func (f *fixture) looksLike(want company.Company) {
	f.Helper()
	byID, err := f.store.Companies().Get(f.ctx, want.ID)
	f.ok(err)
	f.same(byID, want)
	bySlug, err := f.store.Companies().BySlug(f.ctx, want.Slug)
	f.ok(err)
	f.same(bySlug, want)
	listed, err := f.store.Companies().List(f.ctx, store.CompanyFilter{Slug: &want.Slug}, page.Position{}, 10)
	f.ok(err)
	f.same(listed, page.Page[company.Company]{Items: []company.Company{want}})
	f.update(func(ctx context.Context, tx store.Tx) error {
		locked, err := tx.Companies().Lock(ctx, want.ID)
		if err == nil {
			f.same(locked, want)
		}
		return err
	})
}

func companyKeepsFigures(f *fixture) {
	for i, figure := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		f.looksLike(f.found(fmt.Sprintf("figure-%d", i), func(c *company.Company) {
			c.Budget.USD, c.Budget.ReservePercent, c.Version = money.USD(figure), money.Percent(figure), figure
			c.TeamCount, c.AgentCount = int(figure), int(figure)
		}))
	}
}

func slugInUse(f *fixture) {
	for _, status := range []company.Status{company.Active, company.Archived, company.Deleting} {
		holder := f.found(string(status), withStatus(status))
		second := f.newCompany(string(status))
		f.refused(fault.SlugInUse, adding(second))
		_, err := f.store.Companies().Get(f.ctx, second.ID)
		f.code(err, fault.NotFound)
		f.looksLike(holder)
	}
}

func idInUse(f *fixture) {
	holder := f.found("first")
	second := f.newCompany("second")
	second.ID = holder.ID
	f.refused(fault.Internal, adding(second))
	f.looksLike(holder)
}

func slugIsExact(f *fixture) {
	f.found("acme-1")
	for _, other := range []string{"acme", "acme-1 ", "ACME-1", "acme_1", "acme%", "acme-", ""} {
		_, err := f.store.Companies().BySlug(f.ctx, other)
		f.code(err, fault.NotFound)
		listed, err := f.store.Companies().List(f.ctx, store.CompanyFilter{Slug: &other}, page.Position{}, 10)
		f.ok(err)
		f.same(len(listed.Items), 0)
	}
}

func companyList(f *fixture) {
	var all []company.Company
	statuses := []company.Status{company.Active, company.Archived, company.Deleting}
	for i := range 12 {
		if i%4 == 0 {
			f.clock.Advance(time.Millisecond) // so that four each are of one instant
		}
		all = append(all, f.found(fmt.Sprintf("c-%d", i), withStatus(statuses[i%len(statuses)]), func(c *company.Company) {
			c.Description = []string{"At the Straße", "ANYWHERE"}[i%2]
		}))
	}
	slices.SortFunc(all, newestCompanyFirst)

	some, none := "c-3", "c-99"
	for _, filter := range combinations(
		[]company.Status{"", company.Active, company.Archived, company.Deleting},
		[]*string{nil, &some, &none},
		[][]id.Company{nil, {}, {all[2].ID}, {all[0].ID, all[1].ID, all[5].ID, all[11].ID, "cmp_none", all[0].ID}},
	) {
		want := slices.DeleteFunc(slices.Clone(all), func(c company.Company) bool { return !meets(c, filter) })
		for _, size := range []int{1, 2, 3, len(all), page.MaxSize} {
			got := walk(f, size, func(after page.Position) (page.Page[company.Company], error) {
				return f.store.Companies().List(f.ctx, filter, after, size)
			})
			f.same(got, want)
		}
	}
}

func newestCompanyFirst(a, b company.Company) int {
	if byAge := b.CreatedAt.Compare(a.CreatedAt); byAge != 0 {
		return byAge
	}
	return strings.Compare(string(b.ID), string(a.ID))
}

func combinations(statuses []company.Status, slugs []*string, within [][]id.Company) []store.CompanyFilter {
	var filters []store.CompanyFilter
	for _, status := range statuses {
		for _, slug := range slugs {
			for _, ids := range within {
				for _, words := range []text.Words{nil, {"strasse", "c-"}} {
					filters = append(filters, store.CompanyFilter{Status: status, Slug: slug, Within: ids, Words: words})
				}
			}
		}
	}
	return filters
}

// meets is what CompanyFilter means.
func meets(c company.Company, filter store.CompanyFilter) bool {
	return (filter.Status == "" || filter.Status == c.Status) && filter.Words.In(c.Name, c.Slug, c.Description) &&
		(filter.Slug == nil || *filter.Slug == c.Slug) &&
		(filter.Within == nil || slices.Contains(filter.Within, c.ID))
}
