package sqlstore

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

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
type companies struct{ session }

func (c companies) Get(ctx context.Context, which id.Company) (company.Company, error) {
	return c.find(ctx, c.texts.companyByID, string(which))
}

func (c companies) BySlug(ctx context.Context, slug string) (company.Company, error) {
	return c.find(ctx, c.texts.companyBySlug, slug)
}

func (c companies) Lock(ctx context.Context, which id.Company) (company.Company, error) {
	locked, err := c.find(ctx, c.texts.companyLocked, string(which))
	if err == nil {
		c.ledger.statuses[which] = locked.Status
	}
	return locked, err
}

func (c companies) find(ctx context.Context, text, key string) (company.Company, error) {
	var found companyRow
	if err := c.row(ctx, found.columns(), access.NoCompany(), text, key); err != nil {
		return company.Company{}, err
	}
	return found.value()
}

func byID(query *bun.SelectQuery, which any) *bun.SelectQuery {
	return query.Where("id = ?", which).Limit(1)
}
func bySlug(query *bun.SelectQuery, slug any) *bun.SelectQuery { return query.Where("slug = ?", slug) }
func byStatus(query *bun.SelectQuery, status any) *bun.SelectQuery {
	return query.Where("status = ?", status)
}

func (c companies) List(ctx context.Context, filter store.CompanyFilter, after page.Position, size int) (page.Page[company.Company], error) {
	if filter.Status != "" && filter.Slug == nil && filter.Within == nil && size == page.DefaultSize {
		return c.listByStatus(ctx, filter.Status, after)
	}
	var rows []companyRow
	query := c.selects(&rows)
	if filter.Status != "" {
		query = byStatus(query, filter.Status)
	}
	if filter.Slug != nil {
		query = bySlug(query, *filter.Slug)
	}
	if filter.Within != nil {
		query = query.Where("id IN (?)", bun.List(filter.Within))
	}
	return newestPage(ctx, c.session, &rows, query, "created_at", after, size)
}

// listByStatus is List for what most lists ask. The size is a part of the texts: SQLite compiles a statement anew when its
// limit is an argument.
func (c companies) listByStatus(ctx context.Context, status company.Status, after page.Position) (page.Page[company.Company], error) {
	text, args := c.texts.companiesByStatus, []any{string(status)}
	if !after.IsStart() {
		at, err := positionTime(after)
		if err != nil {
			return page.Page[company.Company]{}, err
		}
		text, args = c.texts.companiesByStatusAfter, []any{string(status), at, after.ID}
	}
	rows := make([]companyRow, 0, page.DefaultSize+1)
	err := c.rows(ctx, func(found *sql.Rows) error {
		rows = append(rows, companyRow{})
		return found.Scan(rows[len(rows)-1].columns()...)
	}, text, args...)
	if err != nil {
		return page.Page[company.Company]{}, err
	}
	return pageOf[company.Company](rows, page.DefaultSize)
}

func (c companies) Add(ctx context.Context, added company.Company) error {
	row := companyRowOf(added)
	_, err := c.change(ctx, write{c.conn, c.texts.companyInsert, arguments(row.columns())})
	if err != nil && c.engine.Classify(err) == Duplicate {
		return fault.New(fault.SlugInUse, "The slug %q is taken by another company.", added.Slug).With("slug", added.Slug)
	}
	return err
}

func (c companies) Save(ctx context.Context, saved company.Company) error {
	text, from := c.texts.companyEdit, indexedColumns
	if saved.Status != c.ledger.statuses[saved.ID] {
		text, from = c.texts.companySave, permanentColumns
	}
	row := companyRowOf(saved)
	c.ledger.statuses[saved.ID] = saved.Status
	return c.changeOne(ctx, write{c.conn, text, append(arguments(row.columns()[from:]), string(row.ID), row.Version-1)})
}

func (c companies) Remove(ctx context.Context, which id.Company) error {
	if err := c.changeOne(ctx, c.deletes((*companyRow)(nil)).Where("id = ?", which)); err != nil {
		return err
	}
	return removals(c).begin(ctx, which)
}

type companyRow struct {
	bun.BaseModel `bun:"table:companies"`

	ID              id.Company     `bun:"id,pk"`
	Slug            string         `bun:"slug"`
	CreatedAt       int64          `bun:"created_at"`
	Status          company.Status `bun:"status"`
	Name            string         `bun:"name"`
	Description     string         `bun:"description"`
	DefaultAdapter  string         `bun:"default_adapter"`
	FiscalPeriod    budget.Period  `bun:"fiscal_period"`
	BudgetUSD       money.USD      `bun:"budget_usd"`
	BudgetPeriod    budget.Period  `bun:"budget_period"`
	ReservePercent  money.Percent  `bun:"reserve_percent"`
	TeamCount       int64          `bun:"team_count"`
	AgentCount      int64          `bun:"agent_count"`
	UpdatedAt       int64          `bun:"updated_at"`
	ArchivedAt      *int64         `bun:"archived_at"`
	RestorableUntil *int64         `bun:"restorable_until"`
	DeletedBy       event.Actor    `bun:"deleted_by"`
	Version         int64          `bun:"version"`
}

// The columns in front never change, but for the status. They are what the indexes are made of: an engine writes to
// those of every column that an UPDATE names.
const (
	permanentColumns = 3
	indexedColumns   = 4
)

func (r *companyRow) columns() []any {
	return []any{
		(*string)(&r.ID), &r.Slug, &r.CreatedAt, (*string)(&r.Status), &r.Name, &r.Description, &r.DefaultAdapter,
		(*string)(&r.FiscalPeriod), (*int64)(&r.BudgetUSD), (*string)(&r.BudgetPeriod), (*int64)(&r.ReservePercent), &r.TeamCount,
		&r.AgentCount, &r.UpdatedAt, &r.ArchivedAt, &r.RestorableUntil, (*string)(&r.DeletedBy), &r.Version,
	}
}

func companyRowOf(c company.Company) companyRow {
	return companyRow{
		ID:              c.ID,
		Slug:            c.Slug,
		Name:            c.Name,
		Description:     c.Description,
		DefaultAdapter:  c.DefaultAdapter,
		FiscalPeriod:    c.FiscalPeriod,
		BudgetUSD:       c.Budget.USD,
		BudgetPeriod:    c.Budget.Period,
		ReservePercent:  c.Budget.ReservePercent,
		TeamCount:       int64(c.TeamCount),
		AgentCount:      int64(c.AgentCount),
		Status:          c.Status,
		CreatedAt:       millis(c.CreatedAt),
		UpdatedAt:       millis(c.UpdatedAt),
		ArchivedAt:      optionalMillis(c.ArchivedAt),
		RestorableUntil: optionalMillis(c.RestorableUntil),
		DeletedBy:       c.DeletedBy,
		Version:         c.Version,
	}
}

func (r companyRow) value() (company.Company, error) {
	return company.Company{
		ID:             r.ID,
		Slug:           r.Slug,
		Name:           r.Name,
		Description:    r.Description,
		DefaultAdapter: r.DefaultAdapter,
		FiscalPeriod:   r.FiscalPeriod,
		Budget: budget.Budget{
			USD:            r.BudgetUSD,
			Period:         r.BudgetPeriod,
			ReservePercent: r.ReservePercent,
		},
		TeamCount:       int(r.TeamCount),
		AgentCount:      int(r.AgentCount),
		Status:          r.Status,
		CreatedAt:       instant(r.CreatedAt),
		UpdatedAt:       instant(r.UpdatedAt),
		ArchivedAt:      optionalInstant(r.ArchivedAt),
		RestorableUntil: optionalInstant(r.RestorableUntil),
		DeletedBy:       r.DeletedBy,
		Version:         r.Version,
	}, nil
}

func (r companyRow) position() page.Position { return place(r.CreatedAt, string(r.ID)) }
