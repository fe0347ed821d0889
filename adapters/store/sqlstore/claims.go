package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

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
	return readEach(ctx, i.session, i.table, firstClaims.of(claimShape{len(keys), most}), args...)
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

var commentsSince = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("issue_comments").ColumnExpr("count(*)").Where("issue_id = ?", b.arg(1)).
		Where("created_at > ?", b.arg(2)).Where("author <> ?", b.arg(3))
})

func (i issues) CommentsSince(ctx context.Context, on id.Issue, after time.Time, but event.Actor) (int, error) {
	var count int64
	err := i.row(ctx, []any{&count}, nil, commentsSince, string(on), millis(after), string(but))
	return int(count), err
}
