package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/move"
)

// Every connection shares a lock of the store for as long as it lives, and a restoration, which takes it alone, is refused meanwhile. So
// whatever a connection sends goes to the store that it was opened on, however it is cut off. The restoration may come between two
// connections: then the second finds that the store is another, and is closed before it is used.
const storeLock = "hashtextextended('holdco store ' || coalesce(current_schema(), ''), 0)"

// generation is by what one store differs from the one that is restored in its place; 0: it has no schema yet.
const generation = "coalesce(to_regclass(quote_ident(current_schema()) || '." + sqlstore.SchemaVersions + "')::oid::bigint, 0)"

var (
	errRestoring = errors.New("the store is being restored; start again when that is done")
	errRestored  = errors.New("the store was restored; start again")
)

// isFenced reports whether an error is that of a connection that was not let through.
func isFenced(err error) bool {
	return errors.Is(err, errRestoring) || errors.Is(err, errRestored) || errors.Is(err, errMarked) || move.IsRefusal(err)
}

// fence knows which store the connections of an engine are on.
type fence struct {
	mu         sync.Mutex
	generation int64         // that was seen; 0: none
	restored   chan struct{} // closed when another was seen
}

func newFence() *fence { return &fence{restored: make(chan struct{})} }

// enter lets a new connection take the lock, or closes it.
func (f *fence) enter(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	err := f.admit(ctx, conn)
	if err != nil {
		_ = conn.Close(ctx) // database/sql never saw it
	}
	return err
}

// admit reads the generation by a statement that begins when the lock is there: its snapshot may not be older.
func (f *fence) admit(ctx context.Context, conn *pgx.Conn) error {
	results, err := conn.PgConn().Exec(ctx, "SELECT pg_try_advisory_lock_shared("+storeLock+"); SELECT "+generation).ReadAll()
	if err != nil {
		return err
	}
	locked, err := only(results[0])
	if err != nil {
		return err
	}
	mark, isMarked, err := readMark(ctx, conn)
	switch {
	case err != nil:
		return err
	case isMarked:
		f.end() // what is in memory is of a store that nobody may use
		return mark.Refusal()
	case locked != "t":
		return errRestoring
	}
	found, err := only(results[1])
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(found, 10, 64)
	if err != nil {
		return err
	}
	return f.see(number)
}

// readMark reads the mark of the store, by a statement that begins when the lock is there, or could not be had. A store without a schema
// has none, nor one whose tables a restoration exchanges; who may not read it can use nothing of the store either.
func readMark(ctx context.Context, conn *pgx.Conn) (mark move.Mark, isMarked bool, err error) {
	const read = "SET LOCAL lock_timeout = '200ms'; SELECT is_target, done, other FROM " + sqlstore.MarkTable
	results, err := conn.PgConn().Exec(ctx, read).ReadAll()
	var answer *pgconn.PgError
	if errors.As(err, &answer) && slices.Contains([]string{undefinedTable, lockNotAvailable, notPermitted}, answer.Code) {
		return mark, false, nil
	}
	if err != nil || len(results) != 2 || len(results[1].Rows) == 0 {
		return mark, false, err
	}
	row := results[1].Rows[0]
	return move.Mark{Target: string(row[0]) == "1", Done: string(row[1]) == "1", Other: string(row[2])}, true, nil
}

const undefinedTable, lockNotAvailable, notPermitted = "42P01", "55P03", "42501"

// only is the text of a result with one value.
func only(result *pgconn.Result) (string, error) {
	if result.Err != nil || len(result.Rows) != 1 || len(result.Rows[0]) != 1 {
		return "", fmt.Errorf("take the lock of the store: %w", errors.Join(result.Err, errors.New("an answer without a value")))
	}
	return string(result.Rows[0][0]), nil
}

// see fails if a generation that a connection with the lock has read is not the one that was seen before. A store gets its first when it is
// migrated.
func (f *fence) see(found int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.generation {
	case found:
		return nil
	case 0:
		f.generation = found
		return nil
	}
	f.close()
	return errRestored
}

// end lets whoever has the store know that it is another one, or nobody's.
func (f *fence) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close()
}

func (f *fence) close() {
	select {
	case <-f.restored:
	default:
		close(f.restored)
	}
}

// seen returns the generation; 0: none was seen.
func (f *fence) seen() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.generation
}

// admission is the statement by which a transaction, rather than a connection, shares the lock of the store. The generation is looked up
// when the statement runs, whatever its snapshot is, and stays as it is because the transaction has locked that table.
func (f *fence) admission() string {
	known := f.seen()
	if known == 0 {
		return "SELECT 1" // there is no schema yet, and nothing that could be restored in its place
	}
	return "SELECT CASE WHEN NOT pg_try_advisory_xact_lock_shared(" + storeLock + ") THEN current_setting('" + whileRestoring + "') " +
		"WHEN " + generation + " <> " + strconv.FormatInt(known, 10) + " THEN current_setting('" + afterRestoring + "') " +
		"WHEN EXISTS (SELECT FROM " + sqlstore.MarkTable + ") THEN current_setting('" + whileMoving + "') END"
}
