package sqlstore

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

// companies implements store.Companies.
type companies struct {
	stored[id.Company, company.Company]
}

func companiesOf(s session) companies {
	return companies{stored[id.Company, company.Company]{s, companyTable}}
}

var companyTable = tableOf("companies", access.NoCompany(),
	asText("id", func(c *company.Company) *id.Company { return &c.ID }),
	asText("slug", func(c *company.Company) *string { return &c.Slug }).fixed(),
	asMillis(createdAt, func(c *company.Company) *time.Time { return &c.CreatedAt }).fixed(),
	asText("status", func(c *company.Company) *company.Status { return &c.Status }).inIndex(),
	asText("name", func(c *company.Company) *string { return &c.Name }),
	asText("description", func(c *company.Company) *string { return &c.Description }),
	asText("default_adapter", func(c *company.Company) *string { return &c.DefaultAdapter }),
	asText("fiscal_period", func(c *company.Company) *budget.Period { return &c.FiscalPeriod }),
	asInteger("budget_usd", func(c *company.Company) *money.USD { return &c.Budget.USD }),
	asText("budget_period", func(c *company.Company) *budget.Period { return &c.Budget.Period }),
	asInteger("reserve_percent", func(c *company.Company) *money.Percent { return &c.Budget.ReservePercent }),
	asInteger("team_count", func(c *company.Company) *int { return &c.TeamCount }),
	asInteger("agent_count", func(c *company.Company) *int { return &c.AgentCount }),
	asInteger("lease_epoch", func(c *company.Company) *int64 { return &c.LeaseEpoch }),
	asBoolean("work_paused", func(c *company.Company) *bool { return &c.WorkPaused }),
	asMillis("updated_at", func(c *company.Company) *time.Time { return &c.UpdatedAt }),
	asOptionalMillis("archived_at", func(c *company.Company) *time.Time { return &c.ArchivedAt }),
	asOptionalMillis("restorable_until", func(c *company.Company) *time.Time { return &c.RestorableUntil }),
	asText("deleted_by", func(c *company.Company) *event.Actor { return &c.DeletedBy }),
	asInteger("version", func(c *company.Company) *int64 { return &c.Version }),
)

var companyBySlug = prepare(func(b builder) fmt.Stringer {
	return companyTable.selects(b.db()).Where("slug = ?", b.arg(1))
})

func (c companies) BySlug(ctx context.Context, slug string) (company.Company, error) {
	return readOne(ctx, c.session, c.table, companyBySlug, slug)
}

func (c companies) List(
	ctx context.Context, filter store.CompanyFilter, after page.Position, size int,
) (page.Page[company.Company], error) {
	some := selection{words: filter.Words}
	if filter.Status != "" {
		some.where = append(some.where, condition{"status", string(filter.Status)})
	}
	if filter.Slug != nil {
		some.where = append(some.where, condition{"slug", *filter.Slug})
	}
	if filter.Within != nil {
		some.among = &among{"id", filter.Within}
	}
	return listSelected(ctx, c.session, c.table, some, after, size)
}

func (c companies) Add(ctx context.Context, added company.Company) error {
	err := c.stored.Add(ctx, added)
	if c.isDuplicate(err, "companies_slug") {
		return fault.New(fault.SlugInUse, "The slug %q is taken by another company.", added.Slug).With("slug", added.Slug)
	}
	return err
}

func (c companies) Save(ctx context.Context, saved company.Company) error {
	before, _ := c.locked(saved)
	if err := c.stored.Save(ctx, saved); err != nil || !before.WorkPaused || saved.WorkPaused {
		return err
	}
	return c.raiseWork(ctx, saved.ID)
}

// Remove removes a company. What webhooks have still to send of it is hidden from then on.
func (c companies) Remove(ctx context.Context, which id.Company) error {
	if err := c.stored.Remove(ctx, which); err != nil {
		return err
	}
	return removals{c.session}.begin(ctx, which)
}
