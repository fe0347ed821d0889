package cli

import (
	"io"

	"holdco/domain/event"
	"holdco/domain/page"
)

// gather reads a list, page by page, until it ends or there are most items.
func gather[T any](most int, list func(after page.Position, size int) (page.Page[T], error)) ([]T, error) {
	var items []T
	for after := (page.Position{}); ; {
		found, err := list(after, min(most-len(items), page.MaxSize))
		if err != nil {
			return nil, err
		}
		items = append(items, found.Items...)
		if after = found.Next; after.IsStart() || len(items) >= most {
			return items, nil
		}
	}
}

// printList prints items as a JSON array, or as a table under a head.
func printList[T interface{ Fields() event.Fields }](
	out io.Writer, asJSON bool, items []T, head []string, row func(item T) []string,
) error {
	objects, rows := []event.Fields{}, [][]string{head}
	for _, item := range items {
		objects, rows = append(objects, item.Fields()), append(rows, row(item))
	}
	if asJSON {
		return printJSON(out, objects)
	}
	return printTable(out, rows)
}
