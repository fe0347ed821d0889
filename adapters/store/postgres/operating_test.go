package postgres_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"holdco/adapters/store/postgres/postgrestest"
)

// Operators end what the query of the document finds: it may name no connection of another store, in another database say.
func TestTheDocumentFindsTheConnectionsOfOneStore(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../../OPERATING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(document), "SELECT pid, client_addr,")
	text, _, isThere := strings.Cut(after, ";\n```")
	if !isThere {
		t.Fatal("OPERATING.md has no such query")
	}
	address, other := postgrestest.URL(t), postgrestest.URL(t)
	server(t, other)
	find := func() (pids []int32) {
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		rows, err := conn.Query(t.Context(), "SELECT DISTINCT pid FROM (SELECT pid, client_addr,"+text+") found")
		if err != nil {
			t.Fatal(err)
		}
		pids, err = pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			t.Fatal(err)
		}
		return pids
	}
	if found := find(); len(found) > 0 {
		t.Errorf("%v are of another store", found)
	}
	server(t, address)
	if len(find()) == 0 {
		t.Error("the connections of the server are not found")
	}
}
