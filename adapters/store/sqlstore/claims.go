package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"holdco/domain/event"
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
		columns := strings.Join(issueTable.names(), ", ")
		ranges := make([]string, of.keys)
		for n := range ranges {
			ranges[n] = fmt.Sprintf("SELECT * FROM (SELECT %s FROM issues WHERE company_id = %s AND claim_key = %s AND claimable = 1 "+
				"ORDER BY rank DESC, number LIMIT %d) AS key_%d",
				columns, b.engine.Placeholder(1), b.engine.Placeholder(n+2), of.most, n)
		}
		return sqlText("SELECT " + columns + " FROM (" + strings.Join(ranges, " UNION ALL ") + ") AS firsts ORDER BY rank DESC, number")
	})
}}

func (i issues) Claimable(ctx context.Context, of id.Company, keys []string, most int) (found []issue.Issue, err error) {
	args := []any{string(of)}
	for _, key := range keys {
		args = append(args, key)
	}
	found, err = readEach(ctx, i.session, i.table, firstClaims.of(claimShape{len(keys), most}), args...)
	if i.unit != nil {
		for _, one := range found {
			i.hasLocked(string(one.ID), one)
		}
	}
	return found, err
}

// mostCounted bounds how many issues ClaimableKeys counts for some keys.
const mostCounted = 1000

func (i issues) ClaimableKeys(ctx context.Context, of id.Company, keys []string) (map[string]int, error) {
	counts := map[string]int{}
	for some := range slices.Chunk(keys, store.Portion) {
		first := i.selectFrom("issues").Column("claim_key").Where("company_id = ?", of).Where("claim_key IN (?)", bun.List(some)).
			Where("claimable = 1").Limit(mostCounted)
		query := i.engine.DB().NewSelect().Conn(i.conn).ColumnExpr("claim_key, count(*)").TableExpr("(?) AS first", first).
			Group("claim_key")
		var key string
		var n int
		err := i.each(ctx, query, func(rows *sql.Rows) error {
			err := rows.Scan(&key, &n)
			counts[key] = n
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
	workingAgents    = agentTable.part("id", "company_id", "team_id", "status", "hash", "requires")
	workingCompanies = companyTable.part("id", "status", "lease_epoch", "work_paused")
)

var agentAtWork = prepare(func(b builder) fmt.Stringer {
	live := b.db().NewSelect().Table("runs").ColumnExpr("count(*)").Where("agent_id = agents.id").Where("ended_at IS NULL")
	return b.db().NewSelect().Table("agents").Join("JOIN companies ON companies.id = agents.company_id").
		ColumnExpr("?, ?, (?)", workingAgents.allColumns(), workingCompanies.allColumns(), live).Where("agents.id = ?", b.arg(1))
})

func (a agents) AtWork(ctx context.Context, which id.Agent) (found store.AtWork, err error) {
	row, of := workingAgents.scanner(), workingCompanies.scanner()
	var live int64
	if err := a.row(ctx, slices.Concat(row.dests, of.dests, []any{&live}), a.table.missing, agentAtWork, string(which)); err != nil {
		return found, err
	}
	found.Live = int(live)
	if found.Agent, err = row.value(); err == nil {
		found.Company, err = of.value()
	}
	return found, err
}

var holdLease = prepare(func(b builder) fmt.Stringer {
	pending := b.db().NewSelect().Table("issue_comments").ColumnExpr("count(*)").Where("issue_id = runs.issue_id").
		Where("created_at > runs.context_at").Where("author <> ?", b.arg(2))
	return b.engine.ForUpdateOf(b.db().NewSelect().Table("runs").Join("JOIN agents ON agents.id = runs.agent_id").
		Join("JOIN companies ON companies.id = runs.company_id").Join("JOIN issues ON issues.id = runs.issue_id").
		ColumnExpr("?, ?, ?", runTable.allColumns(), workingAgents.allColumns(), workingCompanies.allColumns()).
		ColumnExpr("issues.status, issues.parent_id, (?)", pending).Where("runs.lease_id = ?", b.arg(1)), "runs")
})

func (r runs) Hold(ctx context.Context, which id.Lease, but event.Actor) (found store.Held, err error) {
	r.engine.NowNext(r.conn)
	row, by, of := runTable.scanner(), workingAgents.scanner(), workingCompanies.scanner()
	var status, parent string
	var pending int64
	columns := slices.Concat(row.dests, by.dests, of.dests, []any{&status, &parent, &pending})
	if err := r.row(ctx, columns, noLease, holdLease, string(which), string(but)); err != nil {
		return found, err
	}
	found.Status, found.Parent, found.Pending = issue.Status(status), id.Issue(parent), int(pending)
	if found.Run, err = row.value(); err == nil {
		r.hasLocked(string(found.Run.ID), found.Run)
		found.Agent, err = by.value()
	}
	if err == nil {
		found.Company, err = of.value()
	}
	return found, err
}
