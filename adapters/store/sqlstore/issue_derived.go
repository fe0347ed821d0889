package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/store"
)

// derive writes what follows from the change of an issue; before is nil for a new one.
func (i issues) derive(ctx context.Context, before, after *issue.Issue) error {
	if err := i.tally(ctx, before, after); err != nil {
		return err
	}
	if before == nil || !slices.Equal(before.Labels, after.Labels) {
		if err := i.label(ctx, before, after); err != nil {
			return err
		}
	}
	if before == nil || !slices.Equal(before.BlockedBy, after.BlockedBy) || before.OpenBlockers != after.OpenBlockers {
		if err := i.block(ctx, before, after); err != nil {
			return err
		}
	}
	if after.IsClaimable() && (before == nil || !before.IsClaimable() || before.ClaimKey() != after.ClaimKey()) {
		return i.raiseWork(ctx, after.Company)
	}
	return nil
}

// tallyKey is the key of a row of tallies.
type tallyKey struct{ scope, of, status string }

// containers is behind the name of a scope whose rows count containers alone.
const containers = " containers"

func tallyKeys(of *issue.Issue) []tallyKey {
	status := string(of.Status)
	keys := []tallyKey{{"company", string(of.Company), status}}
	if need := of.Need(); need != issue.NoNeed {
		keys = append(keys, tallyKey{"need", string(of.Company), string(need)})
	}
	if team := of.TeamInCharge(); team != "" {
		keys = append(keys, tallyKey{"team", string(team), status})
	}
	if of.Agent != "" {
		keys = append(keys, tallyKey{"agent", string(of.Agent), status})
	}
	// Containers are no work of their own: what is for a project or a goal has a tally without them.
	kind := ""
	if of.IsContainer {
		kind = containers
	}
	if of.Project != "" {
		keys = append(keys, tallyKey{"project" + kind, string(of.Project), status})
	}
	if of.Goal != "" { // apart by the projects: see goals.Work
		keys = append(keys, tallyKey{"goal" + kind, string(of.Goal) + "/" + string(of.Project), status})
	}
	return keys
}

// addToTallies are by how many rows are added to: twice as many as there are scopes, at most.
var addToTallies = preparedFor[int]{prepare: func(rows int) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		const columns = 5
		values := make([]string, rows)
		for n := range values {
			of := make([]string, columns)
			for at := range of {
				of[at] = b.engine.Placeholder(n*columns + at + 1)
			}
			values[n] = "(" + strings.Join(of, ", ") + ")"
		}
		return sqlText("INSERT INTO tallies (company_id, scope, scope_id, status, n) VALUES " + strings.Join(values, ", ") +
			" ON CONFLICT (company_id, scope, scope_id, status) DO UPDATE SET n = tallies.n + excluded.n")
	})
}}

var addToDay = prepare(func(b builder) fmt.Stringer {
	return sqlText(fmt.Sprintf("INSERT INTO day_tallies (company_id, day, what, n) VALUES (%s, %s, %s, %s) "+
		"ON CONFLICT (company_id, day, what) DO UPDATE SET n = day_tallies.n + excluded.n",
		b.engine.Placeholder(1), b.engine.Placeholder(2), b.engine.Placeholder(3), b.engine.Placeholder(4)))
})

// tally counts the issue under its state.
func (i issues) tally(ctx context.Context, before, after *issue.Issue) error {
	changes := map[tallyKey]int64{}
	if before != nil {
		for _, key := range tallyKeys(before) {
			changes[key]--
		}
	}
	for _, key := range tallyKeys(after) {
		changes[key]++
	}
	var rows [][]any
	for key, n := range changes {
		if n != 0 {
			rows = append(rows, []any{string(after.Company), key.scope, key.of, key.status, n})
		}
	}
	slices.SortFunc(rows, func(a, b []any) int { // the same order in every unit
		return cmp.Or(cmp.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(string), b[2].(string)),
			cmp.Compare(a[3].(string), b[3].(string)))
	})
	if len(rows) > 0 {
		if err := i.later(ctx, addToTallies.of(len(rows)), slices.Concat(rows...)...); err != nil {
			return err
		}
	}
	day, isCounted := dayOf(after)
	if !isCounted || before != nil && before.Status == after.Status {
		return nil
	}
	return i.later(ctx, addToDay, string(after.Company), day.day, day.what, int64(1))
}

// dayKey is the key of a row of day_tallies.
type dayKey struct{ day, what string }

// dayOf is the day on which an issue is counted, if it is.
func dayOf(i *issue.Issue) (dayKey, bool) {
	isCounted := i.Status == issue.Done || i.Status == issue.Failed
	return dayKey{i.FinishedAt.Format(time.DateOnly), string(i.Status)}, isCounted
}

// label replaces the rows by which issues are found by their labels.
func (i issues) label(ctx context.Context, before, after *issue.Issue) error {
	if before != nil && len(before.Labels) > 0 {
		_, err := i.exec(ctx, i.engine.DB().NewDelete().Conn(i.conn).Table("issue_labels").Where("issue_id = ?", after.ID))
		if err != nil {
			return err
		}
	}
	rows := make([][]any, len(after.Labels))
	for n, label := range after.Labels {
		rows[n] = []any{string(after.ID), label, string(after.Company), millis(after.CreatedAt)}
	}
	return i.runRows(ctx, addLabels, rows)
}

var addLabels = prepare(func(b builder) fmt.Stringer {
	return sqlText("INSERT INTO issue_labels (issue_id, label, company_id, created_at) " + b.engine.Rows([]any{"", "", "", int64(0)}))
})

// block replaces the rows by which an issue is found by its blockers. Those that are not done now are open.
func (i issues) block(ctx context.Context, before, after *issue.Issue) error {
	if before != nil && len(before.BlockedBy) > 0 {
		_, err := i.exec(ctx, i.engine.DB().NewDelete().Conn(i.conn).Table("issue_blockers").Where("issue_id = ?", after.ID))
		if err != nil {
			return err
		}
	}
	if len(after.BlockedBy) == 0 {
		return nil
	}
	_, err := i.exec(ctx, addBlockers(i.engine, after).Conn(i.conn))
	return err
}

func addBlockers(engine Engine, of *issue.Issue) *bun.RawQuery {
	blockers := issuesByIDs(engine, of.Company, of.BlockedBy).ColumnExpr("?, id, company_id", of.ID).
		ColumnExpr("CASE WHEN status = ? THEN 0 ELSE 1 END", issue.Done)
	return engine.DB().NewRaw("INSERT INTO issue_blockers (issue_id, blocker_id, company_id, is_open) ?", blockers)
}

var raiseRevision = prepare(func(b builder) fmt.Stringer {
	return sqlText("INSERT INTO work_revisions (company_id, revision) VALUES (" + b.engine.Placeholder(1) + ", 1) " +
		"ON CONFLICT (company_id) DO UPDATE SET revision = work_revisions.revision + 1")
})

// raiseWork raises the work revision of a company, which wakes waiting claims.
func (s session) raiseWork(ctx context.Context, of id.Company) error {
	s.unit.raises = true
	return s.later(ctx, raiseRevision, string(of))
}

var tallyOf = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("tallies").Column("status", "n").Where("company_id = ?", b.arg(1)).
		Where("scope IN (?, ?)", b.arg(2), b.arg(4)).Where("scope_id = ?", b.arg(3))
})

// tallyOfGoal is tallyOf for a range of scopes.
var tallyOfGoal = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("tallies").Column("status", "n").Where("company_id = ?", b.arg(1)).
		Where("scope IN ('goal', 'goal"+containers+"')").Where("scope_id >= ?", b.arg(2)).Where("scope_id < ?", b.arg(3))
})

func (i issues) Tally(ctx context.Context, of store.Tally) (issue.Counts, error) {
	counts := issue.Counts{Of: map[issue.Status]int64{}}
	var status string
	var n int64
	add := func() { counts.Of[issue.Status(status)] += n }
	scope, which := "company", string(of.Company)
	switch {
	case of.Goal != "":
		const slash, afterSlash = "/", "0"
		err := i.scanRows(ctx, []any{&status, &n}, add, tallyOfGoal, which, string(of.Goal)+slash, string(of.Goal)+afterSlash)
		return counts, err
	case of.Project != "":
		scope, which = "project", string(of.Project)
	case of.Agent != "":
		scope, which = "agent", string(of.Agent)
	case of.Team != "":
		scope, which = "team", string(of.Team)
	}
	err := i.scanRows(ctx, []any{&status, &n}, add,
		tallyOf, string(of.Company), scope, which, scope+containers)
	return counts, err
}
