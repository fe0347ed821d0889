package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/store"
)

// claimStatements are the prepared statements of Claimable, by the number of keys and the portion of each.
var claimStatements sync.Map

// firstClaims is the statement that finds the first issues under so many keys, most of each: the arguments are the company and the
// keys. Each key is one range of an index in the order of the claim.
func firstClaims(keys, most int) *prepared {
	shape := [2]int{keys, most}
	if statement, ok := claimStatements.Load(shape); ok {
		return statement.(*prepared)
	}
	statement := prepare(func(b builder) fmt.Stringer {
		columns := strings.Join(issueTable.names(), ", ")
		ranges := make([]string, keys)
		for n := range ranges {
			ranges[n] = fmt.Sprintf("SELECT * FROM (SELECT %s FROM issues WHERE company_id = %s AND claim_key = %s AND claimable = 1 "+
				"ORDER BY rank DESC, number LIMIT %d) AS key_%d",
				columns, b.engine.Placeholder(1), b.engine.Placeholder(n+2), most, n)
		}
		return sqlText("SELECT " + columns + " FROM (" + strings.Join(ranges, " UNION ALL ") + ") AS firsts ORDER BY rank DESC, number")
	})
	stored, _ := claimStatements.LoadOrStore(shape, statement)
	return stored.(*prepared)
}

func (i issues) Claimable(ctx context.Context, of id.Company, keys []string, most int) (found []issue.Issue, err error) {
	args := []any{string(of)}
	for _, key := range keys {
		args = append(args, key)
	}
	row := i.table.scanner()
	err = i.rows(ctx, func(rows *sql.Rows) error {
		one, err := row.scan(rows)
		found = append(found, one)
		return err
	}, firstClaims(len(keys), most), args...)
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

func (i issues) CommentsSince(ctx context.Context, on id.Issue, after time.Time, but event.Actor) (int, error) {
	count, err := i.count(ctx, i.selectFrom("issue_comments").Where("issue_id = ?", on).
		Where("created_at > ?", millis(after)).Where("author <> ?", but))
	return int(count), err
}
