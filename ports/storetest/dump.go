package storetest

import (
	"database/sql"
	"slices"
	"testing"

	"holdco/ports/store"
)

// Opened is a store to be tested.
type Opened struct {
	store.Store

	// Dump returns every row of every table, by the name of the table, down to what no method of the store shows.
	Dump func() map[string][]string
}

// Dumping makes an Opened.Dump. The query lists the names of all tables.
func Dumping(t *testing.T, db *sql.DB, tables string) func() map[string][]string {
	return func() map[string][]string {
		t.Helper()
		dump := map[string][]string{}
		for _, table := range readRows(t, db, tables) {
			dump[table] = readRows(t, db, "SELECT * FROM "+table)
		}
		return dump
	}
}

// readRows returns the rows of a query as text, sorted.
func readRows(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for rows.Next() {
		cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line string
		for i, cell := range cells {
			if i > 0 {
				line += "|"
			}
			if line += cell.String; !cell.Valid {
				line += "NULL"
			}
		}
		found = append(found, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}
