package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/store"
)

// searched is what a list can be searched for words in.
type searched interface {
	HasWords(words text.Words) bool
}

// search is a list of the rows that have words. Those are compared here, so that both engines find the same: a page looks at the rows
// that an index leaves, store.MostSearched at most.
type search[T searched] struct {
	session
	order order[T]
	some  func() *bun.SelectQuery // the rows that meet all other conditions
	words text.Words
}

// page reads a page. It can be short, even empty, while another follows.
func (s search[T]) page(ctx context.Context, after page.Position, size int) (page.Page[T], error) {
	var found []T
	last, more, err := s.scan(ctx, after, func(match T) bool {
		found = append(found, match)
		return len(found) <= size
	})
	result := page.Of(found, size, s.order.position)
	if len(found) <= size && more {
		result.Next = last
	}
	return result, err
}

// portionOfSearch is how many rows a search reads at once: Postgres sends all that were asked for, even if the search ends before.
const portionOfSearch = 1000

// errEnough ends a scan.
var errEnough = errors.New("enough was found")

// scan calls take with the rows that have the words, until it returns false or store.MostSearched were looked at. It returns the
// position of the last that it looked at, and whether there may be more.
func (s search[T]) scan(
	ctx context.Context, after page.Position, take func(match T) bool,
) (last page.Position, more bool, err error) {
	last = after
	for looked := 0; looked < store.MostSearched; looked += portionOfSearch {
		query, err := s.order.apply(s.some(), last, portionOfSearch)
		if err != nil {
			return last, false, err
		}
		rows, row := 0, s.order.table.scanner()
		err = s.each(ctx, query, func(found *sql.Rows) error {
			one, err := row.scan(found)
			if err != nil {
				return err
			}
			rows++
			last = s.order.position(one)
			if one.HasWords(s.words) && !take(one) {
				return errEnough
			}
			return nil
		})
		switch {
		case errors.Is(err, errEnough):
			return last, true, nil
		case err != nil || rows < portionOfSearch:
			return last, false, err
		}
	}
	return last, true, nil
}

// selection says which rows a list holds: those that meet every condition that is set.
type selection struct {
	where []condition
	among *among     // nil: any
	words text.Words // nil: any
}

// among is a filter of a list: the column has one of the values, of which there can be none.
type among struct {
	column string
	values any // a slice
}

// inStates selects rows by one of some states; none: by any.
func inStates[S ~string](where []condition, states []S, words text.Words) selection {
	switch len(states) {
	case 0:
		return selection{where: where, words: words}
	case 1:
		return selection{where: append(where, condition{"status", string(states[0])}), words: words}
	}
	return selection{where: where, among: &among{"status", states}, words: words}
}

// listSelected reads a page of the rows of a selection, newest first.
func listSelected[T searched](
	ctx context.Context, s session, t *table[T], of selection, after page.Position, size int,
) (page.Page[T], error) {
	switch {
	case of.words != nil:
		return searchOf(s, t, of).page(ctx, after, size)
	case of.among != nil:
		return queryPage(ctx, s, t, selecting(s, t, of), after, size)
	}
	return listPage(ctx, s, t, of.where, after, size)
}

// searchOf looks for the words of a selection.
func searchOf[T searched](s session, t *table[T], of selection) search[T] {
	return search[T]{
		session: s, order: byCreation(t), words: of.words, some: func() *bun.SelectQuery { return selecting(s, t, of) },
	}
}

// selecting is a query of the rows of a selection, whatever their words.
func selecting[T any](s session, t *table[T], of selection) *bun.SelectQuery {
	query := meeting(selectRows(s, t), of.where)
	if of.among != nil {
		query = query.Where("? IN (?)", bun.Ident(of.among.column), bun.List(of.among.values))
	}
	return query
}
