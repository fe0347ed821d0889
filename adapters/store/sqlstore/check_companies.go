package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/company"
	"holdco/domain/doctor"
	"holdco/domain/id"
	"holdco/ports/store"
)

// Companies compares states with dates. A company that is being removed is listed nowhere, so this is where one is found whose removal
// does not come to its end.
func (c checks) Companies(ctx context.Context, at time.Time, differs func(store.Difference)) error {
	w := comparison{session: c.session, differs: differs}
	query := w.selectFrom("companies").Column("id", "status", "archived_at", "restorable_until", "deleted_by", "updated_at").Order("id")
	return w.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Company
		var status company.Status
		var archivedAt, restorableUntil *int64
		var deletedBy string
		var updatedAt int64
		if err := rows.Scan(&which, &status, &archivedAt, &restorableUntil, &deletedBy, &updatedAt); err != nil {
			return err
		}
		compare := func(rule string, isSet, shouldBe bool) {
			if isSet != shouldBe {
				differs(store.Difference{
					Rule: rule, About: string(which), Where: string(status), Kept: isKept(isSet), Should: isKept(shouldBe),
				})
			}
		}
		if !slices.Contains(company.Statuses, status) {
			differs(store.Difference{
				Rule: "company.status", About: string(which), Kept: string(status), Should: fmt.Sprint("one of ", company.Statuses),
			})
		}
		compare("company.archived_at", archivedAt != nil, status == company.Archived)
		compare("company.restorable_until", restorableUntil != nil, status == company.Archived)
		compare("company.deleted_by", deletedBy != "", status == company.Deleting)
		if took := at.Sub(instant(updatedAt)); status == company.Deleting && took > doctor.LongestDeletion {
			differs(store.Difference{
				Rule: "company.deleting", About: string(which), Kept: fmt.Sprint(took.Round(time.Minute)),
				Should: fmt.Sprint(doctor.LongestDeletion, " at most, while a server runs"), IsMild: true,
			})
		}
		return nil
	})
}

func isKept(isSet bool) string {
	if isSet {
		return "set"
	}
	return "none"
}

// staff compares the counts of teams, agents and slots with these.
func (a comparison) staff(ctx context.Context) error {
	for _, c := range []struct{ rule, table, column, of string }{
		{"company.teams", "companies", "team_count", "SELECT count(*) FROM teams WHERE teams.company_id = kept.id"},
		{
			"company.agents", "companies", "agent_count",
			"SELECT count(*) FROM agents WHERE agents.company_id = kept.id AND agents.status <> 'retired'",
		},
		{
			"team.agents", "teams", "agent_count",
			"SELECT count(*) FROM agents WHERE agents.team_id = kept.id AND agents.status <> 'retired'",
		},
		{"team.slots", "teams", "headcount", "SELECT count(*) FROM slots WHERE slots.team_id = kept.id"},
	} {
		owner := "company_id"
		if c.table == "companies" {
			owner = "id"
		}
		err := a.numbers(ctx, c.rule, plainly, addTo(c.table, c.column), a.raw(`SELECT id, n, should FROM (
				SELECT kept.id, kept.? AS n, (?) AS should FROM ? AS kept WHERE kept.? = ?
			) AS counted WHERE n <> should ORDER BY id`,
			bun.Ident(c.column), bun.Safe(c.of), bun.Ident(c.table), bun.Ident(owner), a.of))
		if err != nil {
			return err
		}
	}
	query := a.raw(`SELECT slots.id, slots.agent_id, coalesce(agents.slot_id, 'nobody') FROM slots
			LEFT JOIN agents ON agents.id = slots.agent_id
			WHERE slots.company_id = ? AND slots.agent_id <> '' AND (agents.id IS NULL OR agents.slot_id <> slots.id)
		UNION ALL
		SELECT agents.slot_id, coalesce(slots.agent_id, 'no slot'), agents.id FROM agents
			LEFT JOIN slots ON slots.id = agents.slot_id
			WHERE agents.company_id = ? AND agents.status <> 'retired' AND (slots.id IS NULL OR slots.agent_id <> agents.id)
		ORDER BY 1, 2`, a.of, a.of)
	return a.each(ctx, query, func(rows *sql.Rows) error {
		var which, kept, should string
		if err := rows.Scan(&which, &kept, &should); err != nil {
			return err
		}
		a.differs(store.Difference{Rule: "slot.agent", About: which, Kept: kept, Should: should})
		return nil
	})
}
