package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/page"
)

// pageAfter reads the cursor and limit parameters of a list; query names the list and its filters.
func pageAfter(query string, cursor *Cursor, limit *Limit) (after page.Position, size int, err error) {
	size = page.DefaultSize
	if limit != nil {
		size = *limit
	}
	if cursor != nil {
		after, err = page.ParseCursor(query, *cursor)
	}
	return after, size, err
}

// listAnswer shows a page of a list, each item as view shows it.
func listAnswer[T, V any](query string, size int, found page.Page[T], view func(T) V) httpkit.Answer {
	return httpkit.Answer{
		Data: each(found.Items, view),
		Page: httpkit.PageOf(size, page.Cursor(query, found.Next)),
	}
}

// each turns every item of a list into something else. No items give an empty list, not none.
func each[T, V any](items []T, turn func(T) V) []V {
	turned := make([]V, len(items))
	for i, item := range items {
		turned[i] = turn(item)
	}
	return turned
}
