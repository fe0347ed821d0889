package cli

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"holdco/domain/access"
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

// listAll makes the command that lists all resources of a kind. The group of commands is called like the resource.
func listAll[P any, R interface{ Fields() event.Fields }](
	a *app, open Opener[P], asJSON *bool, resource string,
	list func(port P, ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[R], error),
	head []string, row func(item R) []string,
) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   fmt.Sprintf("List all %ss, newest first", resource),
		Example: fmt.Sprintf("  holdco %s list\n  holdco %[1]s list --json", resource),
		Args:    noArgs,
		RunE: on(a, open, func(command *cobra.Command, port P, _ []string) error {
			found, err := gather(math.MaxInt, func(after page.Position, size int) (page.Page[R], error) {
				return list(port, command.Context(), a.caller, after, size)
			})
			if err != nil {
				return err
			}
			return printList(command.OutOrStdout(), *asJSON, found, head, row)
		}),
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
