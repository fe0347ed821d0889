package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/backup"
	"holdco/ports/store"
)

// Source implements store.Source for a database.
type Source struct{ engine *Engine }

var _ store.Source = Source{}

// Source returns the source of backups of the database.
func (e *Engine) Source() Source { return Source{engine: e} }

// snapshot is a copy of a database: one transaction, in which it is read when it is written.
type snapshot struct {
	conn     *sql.Conn
	manifest backup.Manifest
	rows     map[string]int64
	parts    []backup.Sum
}

// Bytes implements store.Source: what tables take without their indexes.
func (s Source) Bytes(ctx context.Context) (bytes int64, err error) {
	err = s.engine.migrating.QueryRowContext(ctx, "SELECT coalesce(sum(pg_table_size(oid)), 0) FROM pg_class "+
		"WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace").Scan(&bytes)
	return bytes, err
}

// Free implements store.Source. A copy needs no room.
func (s Source) Free() (bytes int64, isKnown bool, err error) { return 0, false, nil }

// Copy implements store.Source.
func (s Source) Copy(ctx context.Context, _ string) (_ store.Copy, err error) {
	conn, err := s.engine.migrating.Conn(ctx) // of the pool without timeouts
	if err != nil {
		return nil, explainBackup(err)
	}
	c := &snapshot{conn: conn, rows: map[string]int64{}}
	defer func() {
		if err != nil {
			err = errors.Join(explainBackup(sqlstore.ExplainRights(err)), c.Close())
		}
	}()
	// Who reads the backup may be slow. A pooler gives the transaction a session that has timeouts.
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + withoutTimeouts(endless, true)
	if _, err := conn.ExecContext(ctx, begin, pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, err
	}
	if err := c.look(ctx); err != nil {
		return nil, err
	}
	return c, c.measure(ctx)
}

// look reads what is in the database.
func (c *snapshot) look(ctx context.Context) (err error) {
	m := &c.manifest
	m.Engine = backup.Postgres
	tables, err := tablesIn(ctx, c.conn, "current_schema()")
	if err != nil {
		return err
	}
	if !slices.Contains(tables, sqlstore.SchemaVersions) {
		return errors.New("the store has no schema yet; there is nothing to back up")
	}
	if m.Schema, err = sqlstore.SchemaVersion(ctx, c.conn); err != nil {
		return err
	}
	if newest, err := newestSchema(); err != nil || m.Schema > newest {
		return cmp.Or(err, sqlstore.ErrNewer(m.Schema, newest))
	}
	if m.Key, m.FormerKey, err = sqlstore.KeysOf(ctx, c.conn, m.Schema); err != nil {
		return err
	}
	// The mark of a restoration is left out: the next one is settled anew, and the table may be there before its migration.
	for _, table := range tables {
		if table != sqlstore.SchemaVersions && table != sqlstore.RestorationTable && !isTurn(table) {
			m.Tables = append(m.Tables, table)
		}
	}
	m.Sequences, err = sequences(ctx, c.conn)
	return err
}

// isTurn reports whether a table is empty, and for locks alone: see turnTables.
func isTurn(table string) bool { return strings.HasPrefix(table, turns) }

// turns begins the names of the tables for locks.
const turns = "turns_"

func newestSchema() (int64, error) { return sqlstore.NewestOf(migrations, "migrations") }

// queryer is a connection or a pool.
type queryer interface {
	sqlstore.Queryer
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// tablesIn returns those tables of a schema that migrations make: none before those to which it refers. Those of other programs are left
// out.
func tablesIn(ctx context.Context, on queryer, schema string) (tables []string, err error) {
	known, err := sqlstore.TablesOf(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	pairs, err := pairsOf(ctx, on, `
		SELECT t.relname, coalesce((
			SELECT string_agg(DISTINCT other.relname, ' ') FROM pg_constraint c JOIN pg_class other ON other.oid = c.confrelid
			WHERE c.conrelid = t.oid AND c.contype = 'f' AND c.confrelid <> t.oid
		), '')
		FROM pg_class t WHERE t.relkind = 'r' AND t.relnamespace = `+schema+`::regnamespace ORDER BY t.relname`)
	if err != nil {
		return nil, err
	}
	refersTo := map[string][]string{}
	for _, pair := range pairs {
		if name := pair[0]; slices.Contains(known, name) || name == sqlstore.SchemaVersions || isTurn(name) {
			refersTo[name] = strings.Fields(pair[1])
		}
	}
	return sqlstore.InOrder(refersTo)
}

// pairsOf returns the rows of a query, which have two columns of text.
func pairsOf(ctx context.Context, on queryer, query string) (pairs [][2]string, err error) {
	rows, err := on.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var pair [2]string
		if err := rows.Scan(&pair[0], &pair[1]); err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return pairs, rows.Err()
}

// identities are the columns that number their rows, with their sequences.
const identities = `
	SELECT c.table_name || '.' || c.column_name, pg_get_serial_sequence(quote_ident(c.table_name), c.column_name)
	FROM information_schema.columns c
	WHERE c.table_schema = current_schema() AND c.is_identity = 'YES' AND c.table_name <> '` + sqlstore.SchemaVersions + `'`

// sequences returns the last numbers that were given. They may be later than the snapshot, which does no harm.
func sequences(ctx context.Context, on queryer) (map[string]int64, error) {
	pairs, err := pairsOf(ctx, on, identities)
	if err != nil {
		return nil, err
	}
	last := map[string]int64{}
	for _, pair := range pairs {
		var number int64
		query := "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM " + pair[1]
		if err := on.QueryRowContext(ctx, query).Scan(&number); err != nil {
			return nil, err
		}
		last[pair[0]] = number
	}
	return last, nil
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// measure finds the sizes of the parts: the head of an entry says its size. What COPY sends afterwards is the same, because both read the
// same snapshot.
func (c *snapshot) measure(ctx context.Context) error {
	for _, table := range c.manifest.Tables {
		part := backup.Sum{Name: backup.RowsName(table)}
		query := "SELECT count(*), coalesce(sum(octet_length(row_to_json(t)::text) + 1), 0)::bigint FROM " + quoted(table) + " t"
		if err := c.conn.QueryRowContext(ctx, query).Scan(&part.Rows, &part.Bytes); err != nil {
			return err
		}
		c.parts = append(c.parts, part)
		c.rows[table] = part.Rows
		c.manifest.Bytes += part.Bytes
	}
	return nil
}

func (c *snapshot) Manifest() backup.Manifest { return c.manifest }
func (c *snapshot) Rows() map[string]int64    { return c.rows }
func (c *snapshot) Parts() []backup.Sum       { return c.parts }

// asLines is the form of COPY in which a row of JSON is a line as it is: JSON has no control characters, so nothing is quoted.
const asLines = ` (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')`

// Write implements store.Copy.
func (c *snapshot) Write(ctx context.Context, part backup.Sum, to io.Writer) error {
	table := backup.TableOf(part.Name)
	return explainBackup(onConn(c.conn, func(conn *pgx.Conn) error {
		_, err := conn.PgConn().CopyTo(ctx, to, "COPY (SELECT row_to_json(t) FROM "+quoted(table)+" t) TO STDOUT"+asLines)
		return err
	}))
}

// explainBackup says what an operator can do about a server that has broken off a backup.
func explainBackup(err error) error { return explainBroken(err, "there is no backup") }

// onConn runs what only the driver can do.
func onConn(conn *sql.Conn, run func(conn *pgx.Conn) error) error {
	return conn.Raw(func(driver any) error { return run(driver.(*stdlib.Conn).Conn()) })
}

// Check implements store.Copy. The server has read every row, and no constraint may be one that was never validated.
func (c *snapshot) Check(ctx context.Context) error {
	var unfit string
	err := c.conn.QueryRowContext(ctx, `
		SELECT coalesce((
			SELECT conname FROM pg_constraint WHERE NOT convalidated AND connamespace = current_schema()::regnamespace LIMIT 1
		), '')`).Scan(&unfit)
	if err == nil && unfit != "" {
		err = fmt.Errorf("the constraint %s of the store was never validated", strconv.Quote(unfit))
	}
	return explainBackup(err)
}

// Close implements store.Copy.
func (c *snapshot) Close() error {
	if transactionStatus(c.conn) != idle {
		_, _ = c.conn.ExecContext(context.Background(), "ROLLBACK") // nothing was written
	}
	return cleaned(c.conn.Close())
}
