package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/uptrace/bun"

	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/ports/store"
)

// checks implements store.Checks. What is compared is in the files check_....go.
type checks struct{ session }

// mend is what a store.Difference has to mend it, in a unit of work that has the turn of the company. It adds what was missing to
// what is there by then, or derives that anew: every other unit since the comparison has changed what is derived by as much as what it
// is derived from.
type mend func(ctx context.Context, in session) error

func (c checks) Budgets(ctx context.Context, of id.Company, differs func(store.Difference)) error {
	return comparison{c.session, of, differs}.budgets(ctx)
}

func (c checks) Issues(ctx context.Context, of id.Company, differs func(store.Difference)) error {
	return comparison{c.session, of, differs}.issues(ctx)
}

func (c checks) Staff(ctx context.Context, of id.Company, differs func(store.Difference)) error {
	return comparison{c.session, of, differs}.staff(ctx)
}

func (c checks) Mend(ctx context.Context, of id.Company, version int64, some []store.Difference) (isDone bool, err error) {
	rows, err := c.change(ctx, c.engine.DB().NewUpdate().Conn(c.conn).Table("companies").Set("version = version + 1").
		Where("id = ?", of).Where("version = ?", version).Where("status <> ?", company.Deleting))
	if err != nil || rows == 0 {
		return false, err
	}
	if err := c.MendAny(ctx, some); err != nil {
		return false, err
	}
	return true, nil
}

func (c checks) MendAny(ctx context.Context, some []store.Difference) error {
	for _, one := range some {
		by, ok := one.Mend.(mend)
		if !ok {
			return fmt.Errorf("%s of %s has no mend of this store, but a %T", one.Rule, one.About, one.Mend)
		}
		if err := by(ctx, c.session); err != nil {
			return err
		}
	}
	return nil
}

// MendBy mends what an Engine has found as a store.Inspector, by a statement that changes no rows.
func MendBy(statement string) any {
	return mend(func(ctx context.Context, in session) error {
		in.use()
		_, err := in.conn.ExecContext(ctx, statement)
		return in.failure(ctx, err)
	})
}

// comparison is one that is under way.
type comparison struct {
	session
	of      id.Company
	differs func(store.Difference)
}

// all runs the parts of a comparison.
func all(ctx context.Context, parts ...func(ctx context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each is session.each for as long as ctx allows.
func (a comparison) each(ctx context.Context, query fmt.Stringer, scan func(rows *sql.Rows) error) error {
	a.use()
	rows, err := a.conn.QueryContext(ctx, query.String())
	if err == nil {
		err = scanEach(rows, scan)
	}
	return a.failure(ctx, err)
}

func (a comparison) raw(query string, args ...any) *bun.RawQuery {
	return a.engine.DB().NewRaw(query, args...)
}

// numbers reports the numbers of rows that are not what they should be. The query selects for each of them an id, the kept and the
// right number.
func (a comparison) numbers(
	ctx context.Context, rule string, shown func(int64) string, by func(which string, more int64) mend, query fmt.Stringer,
) error {
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var which string
		var kept, should int64
		if err := rows.Scan(&which, &kept, &should); err != nil {
			return err
		}
		found := store.Difference{Rule: rule, About: which, Kept: shown(kept), Should: shown(should)}
		if by != nil {
			found.Mend = by(which, should-kept)
		}
		a.differs(found)
		return nil
	})
}

func plainly(n int64) string { return fmt.Sprint(n) }

// addTo mends a number of a row by what is missing. The row gets another version, as Mend gives the company one.
func addTo(table, column string) func(which string, more int64) mend {
	return func(which string, more int64) mend {
		return func(ctx context.Context, in session) error {
			update := in.engine.DB().NewUpdate().Conn(in.conn).Table(table).Where("id = ?", which).
				Set("? = ? + ?", bun.Ident(column), bun.Ident(column), more)
			if table != "companies" {
				update = update.Set("version = version + 1")
			}
			return in.changeOne(ctx, update)
		}
	}
}
