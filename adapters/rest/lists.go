package rest

import (
	"holdco/adapters/httpkit"
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
		Data: views(found.Items, view),
		Page: httpkit.PageOf(size, page.Cursor(query, found.Next)),
	}
}

func views[T, V any](items []T, view func(T) V) []V {
	shown := make([]V, len(items))
	for i, item := range items {
		shown[i] = view(item)
	}
	return shown
}
