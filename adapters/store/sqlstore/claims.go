package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/store"
)

// claimShape is how many keys Claimable looks under, and for how many issues of each at most.
type claimShape struct{ keys, most int }

// firstClaims are the statements that find the first issues under some keys: the arguments are the company and the keys. Each key is
// one range of an index in the order of the claim.
var firstClaims = preparedFor[claimShape]{prepare: func(of claimShape) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		return firstsUnder(b, of)
	})
}}

func firstsUnder(b builder, of claimShape) sqlText {
	columns := strings.Join(issueTable.names(), ", ")
	ranges := make([]string, of.keys)
	for n := range ranges {
		ranges[n] = fmt.Sprintf("SELECT * FROM (SELECT %s FROM issues WHERE company_id = %s AND claim_key = %s AND claimable = 1 "+
			"ORDER BY rank DESC, number LIMIT %d) AS key_%d",
			columns, b.engine.Placeholder(1), b.engine.Placeholder(n+2), of.most, n)
	}
	return sqlText("SELECT " + columns + " FROM (" + strings.Join(ranges, " UNION ALL ") + ") AS firsts ORDER BY rank DESC, number")
}

// firstArgs are the arguments of firstClaims.
func firstArgs(of id.Company, keys []string) []any {
	args := []any{string(of)}
	for _, key := range keys {
		args = append(args, key)
	}
	return args
}

func (i issues) Claimable(ctx context.Context, of id.Company, keys []string, most int) (found []issue.Issue, err error) {
	found, err = readEach(ctx, i.session, i.table, firstClaims.of(claimShape{len(keys), most}), firstArgs(of, keys)...)
	if i.unit != nil {
		for _, one := range found {
			i.hasLocked(string(one.ID), one)
		}
	}
	return found, err
}

// dearIssues is what is read of issues that may be too dear.
var dearIssues = issueTable.part("id", "company_id", "priority", "number", "parent_id", "project_id", "goal_id", "workflow_id",
	"per_task_usd", "kept_usd")

// firstsOfGroups finds the budget groups of the claimable issues under a key of a company, by steps from one to the next along an index,
// and the first issues of each, packed.
var firstsOfGroups = fmt.Sprintf(`
	WITH RECURSIVE groups (name) AS (
		SELECT (SELECT min(budget_group) FROM issues WHERE company_id = ?0 AND claim_key = ?1 AND claimable = 1)
		UNION ALL
		SELECT (SELECT min(budget_group) FROM issues
			WHERE company_id = ?0 AND claim_key = ?1 AND claimable = 1 AND budget_group > groups.name)
		FROM groups WHERE groups.name IS NOT NULL
	)
	SELECT (SELECT %s FROM (
		SELECT %s FROM issues WHERE company_id = ?0 AND claim_key = ?1 AND claimable = 1 AND budget_group = groups.name
		ORDER BY rank DESC, number LIMIT ?3
	) AS issues) FROM groups WHERE name IS NOT NULL LIMIT ?2`, dearIssues.packs(), strings.Join(dearIssues.names(), ", "))

func (i issues) ClaimableByBudget(ctx context.Context, of id.Company, keys []string, groups, most int) (found []issue.Issue, err error) {
	for _, key := range keys {
		var packed []string
		if err := i.scan(ctx, i.engine.DB().NewRaw(firstsOfGroups, of, key, groups, most).Conn(i.conn), &packed); err != nil {
			return nil, err
		}
		for _, some := range packed {
			firsts, err := dearIssues.unpack(&some)
			if err != nil {
				return nil, err
			}
			found = append(found, firsts...)
		}
	}
	slices.SortStableFunc(found, func(a, b issue.Issue) int {
		return cmp.Or(b.Priority.Rank()-a.Priority.Rank(), cmp.Compare(a.Number, b.Number))
	})
	return found, nil
}

func (i issues) ClaimableKeys(ctx context.Context, of id.Company, keys []string) (map[string]int, error) {
	counts := map[string]int{}
	for some := range slices.Chunk(keys, store.Portion) {
		values, args := make([]string, len(some)), make([]any, len(some))
		for n, key := range some {
			values[n], args[n] = "(?)", key
		}
		first := i.selectFrom("issues").ColumnExpr("1").Where("company_id = ?", of).Where("claim_key = wanted.column1").
			Where("claimable = 1").Limit(store.Portion)
		query := i.engine.DB().NewSelect().Conn(i.conn).ColumnExpr("column1").
			ColumnExpr("(?)", i.engine.DB().NewSelect().ColumnExpr("count(*)").TableExpr("(?) AS first", first)).
			TableExpr("(VALUES "+strings.Join(values, ", ")+") AS wanted", args...) // both engines name its column column1
		var key string
		var n int
		err := i.each(ctx, query, func(rows *sql.Rows) error {
			err := rows.Scan(&key, &n)
			if n > 0 {
				counts[key] = n
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func (i issues) Revisions(ctx context.Context, of []id.Company) (map[id.Company]int64, error) {
	var rows []struct {
		CompanyID id.Company
		Revision  int64
	}
	err := i.scan(ctx, i.selectFrom("work_revisions").Column("company_id", "revision").Where("company_id IN (?)", bun.List(of)), &rows)
	revisions := make(map[id.Company]int64, len(rows))
	for _, row := range rows {
		revisions[row.CompanyID] = row.Revision
	}
	return revisions, err
}

// What a call on a lease, or a claim, has to know of its agent and its company. To read a column costs more than it looks.
var (
	workingAgents = agentTable.part("id", "company_id", "team_id", "status", "hash", "requires", "per_task_usd", "daily_usd",
		"adapter_failures", "adapter_retry_at", "guard")
	workingCompanies = companyTable.part("id", "status", "lease_epoch", "work_paused", "budget_usd", "budget_period", "reserve_percent")
	runningIssues    = issueTable.part("id", "status", "parent_id", "project_id", "goal_id", "per_task_usd", "kept_usd")
)

// agentAtWork finds an agent; the argument is its id.
var agentAtWork = prepare(func(b builder) fmt.Stringer { return working(b, 1) })

func working(b builder, agent int) *bun.SelectQuery {
	open := b.db().NewSelect().Table("runs").ColumnExpr("count(*)").Where("agent_id = agents.id").Where("ended_at IS NULL")
	return b.db().NewSelect().Table("agents").Join("JOIN companies ON companies.id = agents.company_id").
		ColumnExpr("?, ?, (?)", workingAgents.allColumns(), workingCompanies.allColumns(), open).
		Where("agents.id = ?", b.arg(agent))
}

// agentWithFirst are the statements that find an agent with the first issue under some keys, by how many keys there are, and nothing
// if there is no such issue. The arguments are those of firstClaims, and the id of the agent.
var agentWithFirst = preparedFor[int]{prepare: func(keys int) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		children := b.db().NewSelect().TableExpr("issues AS child").ColumnExpr("1").
			Where("child.company_id = first.company_id").Where("child.parent_id = first.id")
		comments := b.db().NewSelect().Table("issue_comments").ColumnExpr("1").Where("issue_id = first.id")
		archived := inArchived(b, "first")
		accounts := accountTable.packed(b).
			Where("envelopes.id IN (companies.id, agents.team_id, agents.id, first.id, first.goal_id, first.project_id, first.workflow_id)")
		return working(b, keys+2).
			Join("CROSS JOIN (?) AS first", bun.Safe(firstsUnder(b, claimShape{keys, 1})+" LIMIT 1")).
			ColumnExpr("?, ?, ?, ?, (?)", issueTable.columnsOf("first"), exists(children), exists(comments), archived, accounts)
	})
}}

// inArchived is whether the project of an issue is archived, as an integer.
func inArchived(b builder, of string) bun.Safe {
	return exists(b.db().NewSelect().Table("projects").ColumnExpr("1").Where("projects.id = "+of+".project_id").
		Where("projects.status = ?", goal.Archived))
}

// exists is whether a query finds something, as an integer.
func exists(query *bun.SelectQuery) bun.Safe {
	return bun.Safe("CASE WHEN EXISTS (" + query.String() + ") THEN 1 ELSE 0 END")
}

func (a agents) AtWork(ctx context.Context, which id.Agent, of id.Company, keys []string) (found store.AtWork, err error) {
	by, its, first := workingAgents.scanner(), workingCompanies.scanner(), issueTable.scanner()
	var open, hasChildren, hasComments, isEnding int64
	var accounts *string
	columns := slices.Concat(by.dests, its.dests, []any{&open})
	withFirst := slices.Concat(columns, first.dests, []any{&hasChildren, &hasComments, &isEnding, &accounts})
	err = a.row(ctx, withFirst, a.table.missing, agentWithFirst.of(len(keys)), append(firstArgs(of, keys), string(which))...)
	switch {
	case err == nil:
		found.First = &store.FirstIssue{HasChildren: hasChildren == 1, HasComments: hasComments == 1, IsEnding: isEnding == 1}
		if found.First.Issue, err = first.value(); err == nil && a.unit != nil {
			issuesOf(a.session).hasLocked(string(found.First.Issue.ID), found.First.Issue)
		}
		if err == nil {
			found.Accounts, err = accountsByID(accounts)
		}
	case fault.CodeOf(err) == fault.NotFound:
		err = a.row(ctx, columns, a.table.missing, agentAtWork, string(which))
	}
	if err != nil {
		return found, err
	}
	found.OpenRuns = int(open)
	if found.Agent, err = by.value(); err == nil {
		found.Company, err = its.value()
	}
	return found, err
}

// callShape is what a call wants to know of its lease.
type callShape struct {
	isEnd bool
	keys  int // how many charges it looks for by their keys: 0, 1 or several
}

// several keys are in one list, which takes longer to search than one key.
const several = 2

func callShapeOf(isEnd bool, keys []string) callShape {
	return callShape{isEnd, min(len(keys), several)}
}

// lockedLeases are the statements that find and lock a lease. The arguments are the lease, who made comments that are not pending, and
// the key or the list of keys if there are any.
var lockedLeases = preparedFor[callShape]{prepare: func(of callShape) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		found := lockedLease(b, of.issues())
		if of.isEnd {
			found = found.ColumnExpr("?", exists(b.db().NewSelect().Table("issue_blockers").ColumnExpr("1").
				Where("blocker_id = issues.id").Where("is_open = 1")))
		}
		charges := b.db().NewSelect().Table("cost_entries").Where("run_id = runs.id")
		switch of.keys {
		case 1:
			found = found.ColumnExpr("?", exists(charges.ColumnExpr("1").Where("key = ?", b.arg(3))))
		case several:
			// A count for each key: in a join, Postgres may read all charges of the run.
			charges = charges.ColumnExpr("count(*)").Where("key = listed.value")
			charged := b.db().NewSelect().ColumnExpr("1").TableExpr(b.engine.Listed(3)).Where("(?) > 0", charges)
			found = found.ColumnExpr("?", exists(charged))
		}
		return found
	})
}}

// issues is what is read of the issue.
func (s callShape) issues() *table[issue.Issue] {
	if s.isEnd {
		return issueTable
	}
	return runningIssues
}

// lockedLease is what all lockedLeases have in common, with these columns of the issue.
func lockedLease(b builder, issues *table[issue.Issue]) *bun.SelectQuery {
	pending := b.db().NewSelect().Table("issue_comments").ColumnExpr("count(*)").Where("issue_id = runs.issue_id").
		Where("created_at > runs.context_at").Where("author <> ?", b.arg(2))
	accounts := accountTable.packed(b).
		Where("envelopes.id IN (runs.company_id, runs.team_id, runs.agent_id, runs.issue_id, " +
			"runs.goal_id, runs.project_id, runs.workflow_id)")
	return b.engine.ForUpdateOf(b.db().NewSelect().Table("runs").Join("JOIN agents ON agents.id = runs.agent_id").
		Join("JOIN companies ON companies.id = runs.company_id").Join("JOIN issues ON issues.id = runs.issue_id").
		ColumnExpr("?, ?, ?", runTable.allColumns(), workingAgents.allColumns(), workingCompanies.allColumns()).
		ColumnExpr("?, (?), ?, (?)", issues.allColumns(), pending, inArchived(b, "issues"), accounts).
		Where("runs.lease_id = ?", b.arg(1)), "runs")
}

func (r runs) LockForCall(ctx context.Context, which id.Lease, but event.Actor, keys ...string) (store.LockedLease, error) {
	return r.lockFor(ctx, callShapeOf(false, keys), which, but, keys)
}

func (r runs) LockForEnd(ctx context.Context, which id.Lease, but event.Actor, keys ...string) (store.LockedLease, error) {
	found, err := r.lockFor(ctx, callShapeOf(true, keys), which, but, keys)
	if err == nil {
		issuesOf(r.session).hasLocked(string(found.Issue.ID), found.Issue)
	}
	return found, err
}

func (r runs) lockFor(
	ctx context.Context, shape callShape, which id.Lease, but event.Actor, keys []string,
) (found store.LockedLease, err error) {
	args := []any{string(which), string(but)}
	row, by, its, of := runTable.scanner(), workingAgents.scanner(), workingCompanies.scanner(), shape.issues().scanner()
	var pending, isEnding, blocks, charged int64
	var accounts *string
	columns := slices.Concat(row.dests, by.dests, its.dests, of.dests, []any{&pending, &isEnding, &accounts})
	if shape.isEnd {
		columns = append(columns, &blocks)
	}
	switch shape.keys {
	case 1:
		columns, args = append(columns, &charged), append(args, keys[0])
	case several:
		list, err := r.engine.List(keys)
		if err != nil {
			return found, err
		}
		columns, args = append(columns, &charged), append(args, list)
	}
	r.engine.NowNext(r.conn)
	if err := r.row(ctx, columns, noLease, lockedLeases.of(shape), args...); err != nil {
		return found, err
	}
	found.Pending, found.IsEnding, found.Blocks, found.Charged = int(pending), isEnding == 1, blocks == 1, charged == 1
	if found.Run, err = row.value(); err == nil {
		r.hasLocked(string(found.Run.ID), found.Run)
		found.Agent, err = by.value()
	}
	if err == nil {
		found.Company, err = its.value()
	}
	if err == nil {
		found.Issue, err = of.value()
	}
	if err == nil {
		r.unit.read[rowKey{workingAgents.name, string(found.Agent.ID)}] = true
		found.Accounts, err = accountsByID(accounts)
	}
	return found, err
}
