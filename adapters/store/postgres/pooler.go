package postgres

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"holdco/adapters/store/sqlstore"
)

// A pooler in transaction mode gives each transaction of a connection another session of the server. So nothing may be left in a session:
// no prepared statement, no parameter, and no lock. Each transaction brings its own, in the batch that begins it, which takes no more
// round trips than BEGIN alone.

// errNoSession refuses what needs a session, without a way to get one.
var errNoSession = errors.New("to migrate needs a session of its own, which HOLDCO_DATABASE_POOLER=transaction does not give: " +
	"set HOLDCO_DATABASE_MIGRATE_URL to a URL that leads straight to the server")

// withoutSession lets connections leave nothing in a session.
func withoutSession(config *pgx.ConnConfig) {
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // with the unnamed statement, which ends with its execution
	config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0
}

// openings begin a transaction and set its limits. They end with the table that a restoration takes first, so that none comes between what
// the transaction reads and its end. None of them takes a snapshot.
func (e *Engine) openings(begin string) []string {
	all := []string{begin}
	for _, name := range slices.Sorted(maps.Keys(e.limits)) {
		if name != "plan_cache_mode" { // no statement is prepared
			all = append(all, "SET LOCAL "+name+" = "+e.limits[name])
		}
	}
	if e.fence != nil && e.fence.seen() != 0 {
		all = append(all, "LOCK TABLE "+sqlstore.SchemaVersions+" IN ACCESS SHARE MODE")
	}
	return all
}

// Parameters that no server has, so that to ask for one is refused with its name.
const (
	whileRestoring = "holdco.is_being_restored"
	afterRestoring = "holdco.was_restored"
	whileMoving    = "holdco.is_being_moved" // or was
)

// admission fails while the store is being restored, or when it was: it does for a transaction what enter does for a connection.
func (e *Engine) admission() string {
	if e.fence == nil {
		return "SELECT 1"
	}
	return e.fence.admission()
}

// admit adds the admission to the first batch: after the locks, which take no snapshot, because a turn has to be taken before.
func (u *unit) admit() {
	at := u.opening
	for at < len(u.pending.QueuedQueries) && strings.HasPrefix(u.pending.QueuedQueries[at].SQL, "LOCK TABLE ") {
		at++
	}
	u.pending.QueuedQueries = slices.Insert(u.pending.QueuedQueries, at, &pgx.QueuedQuery{SQL: u.engine.admission()})
}

// refusal makes of the failure of an admission what it means.
func (e *Engine) refusal(err error) error {
	const undefinedObject = "42704"
	var answer *pgconn.PgError
	if e.fence == nil || !errors.As(err, &answer) || answer.Code != undefinedObject {
		return err
	}
	switch {
	case strings.Contains(answer.Message, whileRestoring):
		return errRestoring
	case strings.Contains(answer.Message, afterRestoring):
		e.fence.end()
		return errRestored
	case strings.Contains(answer.Message, whileMoving):
		e.fence.end()
		return errMarked
	}
	return err
}

// isStartupRefused reports whether a pooler has refused a parameter of the session.
func isStartupRefused(answer *pgconn.PgError) bool {
	return answer.Code == "08P01" && strings.HasPrefix(answer.Message, "unsupported startup parameter")
}

// isUnprepared reports whether a statement was prepared in another session than that in which it ran.
func isUnprepared(answer *pgconn.PgError) bool {
	const undefined, duplicate, violation = "26000", "42P05", "08P01"
	return answer.Code == undefined || answer.Code == duplicate ||
		answer.Code == violation && strings.HasPrefix(answer.Message, "bind message supplies")
}

// errSharesSessions is found before anything was left in a session that belongs to others too.
const errSharesSessions = unfit("this is a pooler in transaction mode: set HOLDCO_DATABASE_POOLER=transaction")

// checkSessions fails if connections have no session of their own, though they should. A server says which session it begins, and a
// pooler makes that up.
func (e *Engine) checkSessions(ctx context.Context) (err error) {
	first, err := e.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer first.Close()
	before, err := sessionOf(ctx, first)
	var said int64
	if err == nil {
		err = onConn(first, func(conn *pgx.Conn) error { said = int64(conn.PgConn().PID()); return nil })
	}
	if err != nil || before == said {
		return err
	}
	second, err := e.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer second.Close()
	other, err := sessionOf(ctx, second)
	if err != nil {
		return err
	}
	after, err := sessionOf(ctx, first)
	if err != nil || before != other && before == after {
		return err
	}
	for _, conn := range []*sql.Conn{first, second} { // the pooler keeps the sessions, with the locks that were taken
		_, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock_all()")
	}
	return errSharesSessions
}

// findGeneration fails if the store is not the one that was seen before, or is being moved, or was.
func (e *Engine) findGeneration(ctx context.Context) error {
	var found int64
	if err := e.pool.QueryRowContext(ctx, "SELECT "+generation).Scan(&found); err != nil || e.fence == nil {
		return err
	}
	if err := e.fence.see(found); err != nil {
		return err
	}
	conn, err := e.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return onConn(conn, func(conn *pgx.Conn) error {
		mark, isMarked, err := readMark(ctx, conn)
		if isMarked {
			return mark.Refusal()
		}
		return err
	})
}

// errMarked refuses a unit in whose store somebody has put a mark. It does not read which one, unlike a start.
var errMarked = errors.New("the store is being moved, or was; a start says to where")

func sessionOf(ctx context.Context, conn *sql.Conn) (pid int64, err error) {
	err = conn.QueryRowContext(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return pid, err
}

// checkDirect fails if the two URLs do not lead to one database.
func (e *Engine) checkDirect(ctx context.Context) error {
	const which = "SELECT pg_postmaster_start_time()::text || ' ' || oid::text FROM pg_database WHERE datname = current_database()"
	var found [2]string
	for i, pool := range []*sql.DB{e.pool, e.migrating} {
		if err := pool.QueryRowContext(ctx, which, pgx.QueryExecModeSimpleProtocol).Scan(&found[i]); err != nil {
			return err
		}
	}
	if found[0] != found[1] {
		return unfit("HOLDCO_DATABASE_MIGRATE_URL leads to another database than HOLDCO_DATABASE_URL")
	}
	return nil
}
