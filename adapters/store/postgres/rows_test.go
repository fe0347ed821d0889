package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/uptrace/bun"
)

// However many rows a statement has, it writes each cell of each, also one without a value.
func TestRowsAreWrittenHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	engine := counters(t)
	const columns = "name, value, due"
	if _, err := engine.DB().ExecContext(t.Context(), "CREATE TABLE noted (name text, value bigint, due bigint)"); err != nil {
		t.Fatal(err)
	}
	due := int64(11)
	for many := range 20 {
		rows, want := make([][]any, many), ""
		for n := range rows {
			rows[n] = []any{fmt.Sprintf("%d - %d", many, n), int64(n), []*int64{nil, &due}[n%2]}
			want += fmt.Sprintf("%d - %d/%d/%s ", many, n, n, []string{"none", "11"}[n%2])
		}
		err := engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
			text := "INSERT INTO noted (" + columns + ") " + engine.Rows([]any{"", int64(0), (*int64)(nil)})
			return engine.RunRows(ctx, conn, text, rows)
		})
		if err != nil {
			t.Fatal(many, err)
		}
		var got string
		err = engine.DB().QueryRowContext(t.Context(), `
			SELECT coalesce(string_agg(name || '/' || value || '/' || coalesce(due::text, 'none') || ' ', '' ORDER BY value), '')
			FROM noted WHERE name LIKE ?`, fmt.Sprintf("%d - %%", many)).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%d rows: %q, want %q: %v", many, got, want, err)
		}
	}
}
