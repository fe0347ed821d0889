package postgres

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"holdco/domain/backup"
)

// This file brings rows into the empty tables of a restored schema, which nobody else sees. References between tables, and the indexes of
// tables with many rows, are made when all rows are there: that costs less than to keep them row by row, and several are made at once.

// loaders is how many sessions work on the schema at once. With the one that has the locks there are four, as in any other process.
const loaders = 3

// batchBytes is about how many bytes of rows go into a statement. A table with fewer keeps its indexes meanwhile.
const batchBytes = 1 << 20

// lineBytes bounds a row: PostgreSQL takes no larger text.
const lineBytes = 1 << 30

// postponed is what is made when the rows are there.
type postponed struct {
	tables     map[string]bool // with many rows
	indexes    []statement     // in any order, several at once
	uniques    []statement     // which make constraints of them
	references []statement     // which need those
}

// statement is one about a table.
type statement struct{ table, text string }

// dropReferences drops the references between tables, which are then loaded in any order.
func (r *restoration) dropReferences(ctx context.Context) error {
	r.later = postponed{tables: map[string]bool{}}
	return r.session(ctx, func(conn *pgx.Conn) error {
		found, err := triples(ctx, conn, `
			SELECT relname, format('ALTER TABLE %I DROP CONSTRAINT %I', relname, conname),
				format('ALTER TABLE %I ADD CONSTRAINT %I %s', relname, conname, pg_get_constraintdef(c.oid))
			FROM pg_constraint c JOIN pg_class t ON t.oid = conrelid
			WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY relname, conname`)
		for _, one := range found {
			r.later.references = append(r.later.references, statement{one[0], one[2]})
			if err == nil {
				_, err = conn.Exec(ctx, one[1])
			}
		}
		return err
	})
}

// dropIndexes drops the indexes of a table, with the constraints that they are for.
func (r *restoration) dropIndexes(ctx context.Context, table string) error {
	r.later.tables[table] = true
	return r.session(ctx, func(conn *pgx.Conn) error {
		found, err := triples(ctx, conn, `
			SELECT pg_get_indexdef(i.oid),
				CASE WHEN c.oid IS NULL THEN format('DROP INDEX %I', i.relname)
					ELSE format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, conname) END,
				CASE contype WHEN 'p' THEN format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY USING INDEX %2$I', t.relname, conname)
					WHEN 'u' THEN format('ALTER TABLE %I ADD CONSTRAINT %I UNIQUE USING INDEX %2$I', t.relname, conname) ELSE '' END
			FROM pg_index x JOIN pg_class i ON i.oid = indexrelid JOIN pg_class t ON t.oid = indrelid
			LEFT JOIN pg_constraint c ON conindid = i.oid AND contype IN ('p', 'u')
			WHERE t.relname = $1 AND t.relnamespace = current_schema()::regnamespace ORDER BY i.relname`, table)
		for _, one := range found {
			r.later.indexes = append(r.later.indexes, statement{table, one[0]})
			if one[2] != "" {
				r.later.uniques = append(r.later.uniques, statement{table, one[2]})
			}
			if err == nil {
				_, err = conn.Exec(ctx, one[1])
			}
		}
		return err
	})
}

// triples returns the rows of a query, which have three columns of text.
func triples(ctx context.Context, conn *pgx.Conn, query string, args ...any) ([][3]string, error) {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (found [3]string, err error) {
		return found, row.Scan(&found[0], &found[1], &found[2])
	})
}

// makePostponed makes what was dropped: it fails if rows are there twice, or refer to none.
func (r *restoration) makePostponed(ctx context.Context) error {
	if err := r.inSessions(ctx, loaders, r.later.indexes); err != nil {
		return err
	}
	return r.inSessions(ctx, 1, slices.Concat(r.later.uniques, r.later.references))
}

// analyze lets the server know what is in tables.
func (r *restoration) analyze(ctx context.Context, tables []string) error {
	var large []statement
	var small []string
	for _, table := range tables {
		if r.later.tables[table] {
			large = append(large, statement{table, "ANALYZE " + quoted(table)})
		} else {
			small = append(small, quoted(table))
		}
	}
	return r.inSessions(ctx, loaders, append(large, statement{"the other tables", "ANALYZE " + strings.Join(small, ", ")}))
}

// inSessions runs statements in so many sessions at once.
func (r *restoration) inSessions(ctx context.Context, sessions int, statements []statement) error {
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan statement, len(statements))
	for _, one := range statements {
		queue <- one
	}
	close(queue)
	for range min(sessions, len(statements)) {
		group.Go(func() error {
			return r.session(ctx, func(conn *pgx.Conn) error {
				for one := range queue {
					if _, err := conn.Exec(ctx, one.text); err != nil {
						return orBroken(one.table, err)
					}
				}
				return nil
			})
		})
	}
	return group.Wait()
}

// session runs what works on the schema alone. Its commits are not waited for: that of Switch is, which is on the disk after them, and is
// not made if the server, or the one that took its place, may have lost some, because then the connection with the locks is lost too.
func (r *restoration) session(ctx context.Context, run func(conn *pgx.Conn) error) error {
	conn, err := r.inside.migrating.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return onConn(conn, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SET synchronous_commit = off"); err != nil {
			return err
		}
		return run(conn)
	})
}

// orBroken says that a backup is broken where that is why its rows are refused.
func orBroken(table string, err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && (answer.Code[:2] == "22" || answer.Code[:2] == "23") { // the data, or its integrity
		return backup.Broken("the rows of %s cannot be restored: %s", table, answer.Message)
	}
	return err
}

// load brings the rows of a table in, each a line of JSON.
func (r *restoration) load(ctx context.Context, table string, from io.Reader) error {
	lines := &batches{of: table, from: bufio.NewReaderSize(from, 64<<10)}
	first, err := lines.next()
	if err != nil || first == nil {
		return err
	}
	second, err := lines.next()
	if err != nil {
		return err
	}
	columns, err := r.columns(ctx, table)
	if err != nil {
		return err
	}
	if second == nil {
		return r.session(ctx, func(conn *pgx.Conn) error { return insert(ctx, conn, table, columns, first) })
	}
	if err := r.dropIndexes(ctx, table); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan []byte)
	group.Go(func() (err error) {
		defer close(queue)
		for _, batch := range [][]byte{first, second} {
			if !send(ctx, queue, batch) {
				return ctx.Err()
			}
		}
		for {
			batch, err := lines.next()
			if err != nil || batch == nil {
				return err
			}
			if !send(ctx, queue, batch) {
				return ctx.Err()
			}
		}
	})
	for range loaders {
		group.Go(func() error {
			return r.session(ctx, func(conn *pgx.Conn) error {
				for batch := range queue {
					if err := insert(ctx, conn, table, columns, batch); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return group.Wait()
}

// send reports whether somebody took a batch.
func send(ctx context.Context, queue chan<- []byte, batch []byte) bool {
	select {
	case queue <- batch:
		return true
	case <-ctx.Done():
		return false
	}
}

// columns returns the names of a table's columns, sorted.
func (r *restoration) columns(ctx context.Context, table string) (names []string, err error) {
	err = r.session(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `SELECT column_name::text FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = $1`, table)
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	slices.Sort(names)
	return names, err
}

// insert inserts a batch of rows into a table with these columns, sorted.
func insert(ctx context.Context, conn *pgx.Conn, table string, columns []string, batch []byte) error {
	made, err := copyTextOf(table, batch)
	if err != nil {
		return err
	}
	names := made.columns()
	if !slices.Equal(slices.Sorted(slices.Values(names)), columns) {
		return backup.Broken("the rows of %s have the columns %q instead of %q", table, names, columns)
	}
	for i, name := range names {
		names[i] = quoted(name)
	}
	_, err = conn.PgConn().CopyFrom(ctx, bytes.NewReader(made.rows),
		"COPY "+quoted(table)+" ("+strings.Join(names, ", ")+") FROM STDIN")
	return orBroken(table, err)
}

// batches cuts lines into batches of whole lines.
type batches struct {
	of   string // the table
	from *bufio.Reader
}

// next returns the next lines; nil: there are no more.
func (b *batches) next() (lines []byte, err error) {
	lines = make([]byte, 0, batchBytes+batchBytes/4)
	begun := 0 // where the line that is being read begins
	for err == nil && (len(lines) < batchBytes || begun < len(lines)) {
		var some []byte
		some, err = b.from.ReadSlice('\n')
		lines = append(lines, some...)
		switch {
		case err == nil:
			begun = len(lines)
		case errors.Is(err, bufio.ErrBufferFull):
			err = nil
		}
		if len(lines)-begun > lineBytes {
			return nil, backup.Broken("a row of %s has more than %d bytes", b.of, lineBytes)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, nil
	}
	return lines, nil
}
