package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/uptrace/bun"
)

// failing runs a statement in every way there is, and returns an error that is not the statement's.
func failing(t *testing.T, query string, args ...any) map[string]work {
	return map[string]work{
		"Exec": func(ctx context.Context, conn bun.IConn) error {
			_, err := conn.ExecContext(ctx, query, args...)
			must(t, err)
			return errRefused
		},
		"QueryRow": func(ctx context.Context, conn bun.IConn) error {
			var n int
			must(t, conn.QueryRowContext(ctx, query, args...).Scan(&n))
			return errRefused
		},
		"Query": func(ctx context.Context, conn bun.IConn) error {
			rows, err := conn.QueryContext(ctx, query, args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				continue
			}
			must(t, rows.Err())
			return errRefused
		},
	}
}

func TestAFailedUnitLeavesNothingHoweverItWrote(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"INSERT INTO notes (n) VALUES (?) RETURNING n",
		"\n\tinsert into notes (n) values (?) returning n",
		"WITH some AS (SELECT 1) INSERT INTO notes (n) SELECT ? FROM some RETURNING n",
		"UPDATE notes SET n = ? RETURNING n",
		"DELETE FROM notes WHERE n <> ? RETURNING n",
	} {
		notes := openNotes(t)
		must(t, notes.update(insert(1)))
		for way, unit := range failing(t, query, 7) {
			if err := notes.update(unit); !errors.Is(err, errRefused) {
				t.Errorf("%s by %s: got %v", query, way, err)
			}
			notes.expect(1)
		}
	}
}

func TestAFailedUnitLeavesNothingOfSeveralStatements(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	err := notes.update(failing(t, "INSERT INTO notes (n) VALUES (7); UPDATE notes SET n = 8 WHERE n = 9")["Exec"])
	if !errors.Is(err, errRefused) {
		t.Errorf("got %v", err)
	}
	notes.expect()
}

func TestAFailedUnitLeavesTheSchemaAlone(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	err := notes.update(func(ctx context.Context, conn bun.IConn) error {
		_, err := conn.ExecContext(ctx, "CREATE TABLE more (n INTEGER)")
		must(t, err)
		return errRefused
	})
	if !errors.Is(err, errRefused) {
		t.Errorf("got %v", err)
	}
	var tables int
	must(t, notes.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'more'").Scan(&tables))
	if tables != 0 {
		t.Error("the table is still there")
	}
}

func TestAFailedUnitThatChangedNoRowIsNotRolledBack(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"INSERT INTO notes (n) VALUES (?) ON CONFLICT DO NOTHING RETURNING n", "UPDATE notes SET n = 1 WHERE n > ? RETURNING n",
		"INSERT INTO notes (n) SELECT n FROM notes WHERE n > ? UNION ALL SELECT 7 UNION ALL SELECT 1", // fails at its second row
	} {
		synctest.Test(t, func(t *testing.T) {
			notes := openNotes(t)
			must(t, notes.update(insert(1)))
			before, _ := notes.Batches()
			release := notes.hold()
			refused := notes.start(func(ctx context.Context, conn bun.IConn) error {
				_, _ = conn.ExecContext(ctx, query, 1)
				return errRefused
			})
			neighbour := notes.start(insert(2))
			must(t, release())
			if err := <-refused; !errors.Is(err, errRefused) {
				t.Errorf("%s: got %v", query, err)
			}
			must(t, <-neighbour)
			if batches, _ := notes.Batches(); batches != before+1 {
				t.Errorf("%s: %d commits instead of one", query, batches-before)
			}
			notes.expect(0, 1, 2)
		})
	}
}

func TestAUnitThatLeavesItsRowsOpenHarmsNoOther(t *testing.T) {
	t.Parallel()
	notes := openNotes(t)
	must(t, notes.update(insert(1)))
	const query = "INSERT INTO notes (n) VALUES (?), (8) RETURNING n"
	var rows *sql.Rows
	for name, write := range map[string]work{
		"Query": func(ctx context.Context, conn bun.IConn) (err error) {
			rows, err = conn.QueryContext(ctx, query, 7) //nolint:sqlclosecheck // left open on purpose
			must(t, err)
			rows.Next()
			return rows.Err()
		},
		"QueryRow": func(ctx context.Context, conn bun.IConn) error { return conn.QueryRowContext(ctx, query, 7).Err() },
	} {
		err := notes.update(func(ctx context.Context, conn bun.IConn) error {
			must(t, write(ctx, conn))
			return errRefused
		})
		if !errors.Is(err, errRefused) {
			t.Errorf("%s: got %v", name, err)
		}
		notes.expect(1)
	}
	must(t, notes.update(insert(2)))
	notes.expect(1, 2)
	must(t, rows.Close())
}
