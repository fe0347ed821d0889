package sqlstore

import (
	"context"
	"database/sql"
	"reflect"
	"slices"

	"github.com/uptrace/bun"

	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/store"
)

var issueOrders = map[store.IssueSort]order[issue.Issue]{
	store.ByCreation: byCreation(issueTable),
	store.ByUpdate:   {table: issueTable, columns: []string{"updated_at"}},
	store.ByPriority: {table: issueTable, columns: []string{"rank", createdAt}},
	store.ByDueDate:  {table: issueTable, columns: []string{"due_order"}, ascending: true},
}

func (i issues) List(
	ctx context.Context, filter store.IssueFilter, after page.Position, size int,
) (page.Page[issue.Issue], error) {
	order := issueOrders[filter.Sort]
	switch {
	case filter.Words != nil:
		return i.search(filter).page(ctx, after, size)
	case filter.Sort == store.ByCreation && isExact(filter):
		return listPage(ctx, i.session, i.table, equalities(filter), after, size)
	case len(filter.Status) > 1:
		return i.merge(ctx, filter, after, size)
	}
	query, err := order.apply(i.matching(filter), after, size+1)
	if err == nil && filter.Label != "" && isOnlyLabel(filter) {
		query, err = i.newestLabelled(filter, after, size+1)
	}
	if err != nil {
		return page.Page[issue.Issue]{}, err
	}
	found, err := readAll(ctx, i.session, i.table, query)
	return page.Of(found, size, order.position), err
}

// merge reads a page of the issues in several states from the lists of each: an index sorts these, but not all of them together.
func (i issues) merge(
	ctx context.Context, filter store.IssueFilter, after page.Position, size int,
) (merged page.Page[issue.Issue], err error) {
	var found []issue.Issue
	states := slices.Compact(slices.Sorted(slices.Values(filter.Status))) // one that is given twice is listed once
	for status := range slices.Chunk(states, 1) {
		filter.Status = status
		of, err := i.List(ctx, filter, after, size+1)
		if err != nil {
			return merged, err
		}
		found = append(found, of.Items...)
	}
	order := issueOrders[filter.Sort]
	slices.SortFunc(found, order.compare)
	return page.Of(found[:min(len(found), size+1)], size, order.position), nil
}

// isExact reports whether equalities are all the conditions of a filter.
func isExact(filter store.IssueFilter) bool {
	return filter.Label == "" && filter.Since.IsZero() && filter.Until.IsZero() && len(filter.Status) < 2
}

// equalities are the conditions of a filter by which columns equal values.
func equalities(filter store.IssueFilter) []condition {
	where := []condition{{"company_id", string(filter.Company)}}
	if filter.Number != 0 {
		where = append(where, condition{"number", filter.Number})
	}
	if len(filter.Status) == 1 {
		where = append(where, condition{"status", string(filter.Status[0])})
	}
	if filter.Agent != "" {
		where = append(where, condition{"agent_id", string(filter.Agent)})
	}
	if filter.Team != "" {
		where = append(where, condition{"team_in_charge", string(filter.Team)})
	}
	if filter.Parent != nil {
		where = append(where, condition{"parent_id", string(*filter.Parent)})
	}
	if filter.Project != "" {
		where = append(where, condition{"project_id", string(filter.Project)})
	}
	if filter.Goal != "" {
		where = append(where, condition{"goal_id", string(filter.Goal)})
	}
	if filter.Workflow != "" {
		where = append(where, condition{"container_of", string(filter.Workflow)})
	}
	if filter.Priority != "" {
		where = append(where, condition{"rank", int64(filter.Priority.Rank())})
	}
	return where
}

// matching selects the issues that meet the conditions of a filter, but for its words.
func (i issues) matching(filter store.IssueFilter) *bun.SelectQuery {
	query := meeting(selectRows(i.session, i.table), equalities(filter))
	if len(filter.Status) > 1 {
		query = query.Where("status IN (?)", bun.List(filter.Status))
	}
	if !filter.Since.IsZero() {
		query = query.Where("created_at >= ?", millisFrom(filter.Since))
	}
	if !filter.Until.IsZero() {
		query = query.Where("created_at < ?", millisFrom(filter.Until))
	}
	if filter.Label != "" {
		query = query.Where("id IN (?)", i.labelled(filter))
	}
	return query
}

func (i issues) labelled(filter store.IssueFilter) *bun.SelectQuery {
	return i.selectFrom("issue_labels").Column("issue_id").Where("company_id = ?", filter.Company).Where("label = ?", filter.Label)
}

// isOnlyLabel reports whether the label is the only condition of a filter, in the order of creation.
func isOnlyLabel(filter store.IssueFilter) bool {
	return reflect.DeepEqual(filter, store.IssueFilter{Company: filter.Company, Label: filter.Label})
}

// newestLabelled is matching and apply for isOnlyLabel: it reads an index of labels, whose order is that of the list.
func (i issues) newestLabelled(filter store.IssueFilter, after page.Position, limit int) (*bun.SelectQuery, error) {
	order := issueOrders[store.ByCreation]
	some := i.labelled(filter)
	if !after.IsStart() {
		values, err := order.values(after)
		if err != nil {
			return nil, err
		}
		some = some.Where("(created_at, issue_id) < (?, ?)", values[0], after.ID)
	}
	some = some.OrderExpr("created_at DESC, issue_id DESC").Limit(int64(limit))
	return order.apply(selectRows(i.session, i.table).Where("id IN (?)", some), page.Position{}, limit)
}

// search looks for the words of a filter.
func (i issues) search(filter store.IssueFilter) search[issue.Issue] {
	return search[issue.Issue]{
		session: i.session, order: issueOrders[filter.Sort], words: filter.Words,
		some: func() *bun.SelectQuery { return i.matching(filter) },
	}
}

func (i issues) Count(ctx context.Context, filter store.IssueFilter, most int) (issue.Counts, error) {
	counts := issue.Counts{Of: map[issue.Status]int64{}}
	counted := 0
	if filter.Words != nil {
		_, more, err := i.search(filter).scan(ctx, page.Position{}, func(match issue.Issue) bool {
			if counted == most {
				return false
			}
			counted++
			counts.Of[match.Status]++
			return true
		})
		counts.Truncated = more
		return counts, err
	}
	some := i.matching(filter)
	query := i.engine.DB().NewSelect().Conn(i.conn).ColumnExpr("status").
		TableExpr("(?) AS matching", some.OrderExpr("created_at DESC, id DESC").Limit(int64(most+1)))
	err := i.each(ctx, query, func(rows *sql.Rows) error {
		var status issue.Status
		if err := rows.Scan(&status); err != nil {
			return err
		}
		if counted == most {
			counts.Truncated = true
			return nil
		}
		counted++
		counts.Of[status]++
		return nil
	})
	return counts, err
}
