package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/doctor"
	"holdco/ports/store"
)

var _ store.Inspector = (*Engine)(nil)

// Open implements store.Inspector. That a standby is attached every user may know, and only some in which way.
func (e *Engine) Open(ctx context.Context, differs func(store.Difference)) (what string, err error) {
	var version, encoding, commit, readOnly, standbys, database string
	var number, attached int
	err = e.pool.QueryRowContext(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int,
			current_setting('server_encoding'), current_setting('synchronous_commit'), current_setting('transaction_read_only'),
			current_setting('synchronous_standby_names'), current_database(),
			(SELECT count(*) FROM pg_stat_replication WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum'))`).
		Scan(&version, &number, &encoding, &commit, &readOnly, &standbys, &database, &attached)
	if err != nil {
		return "", sqlstore.FailureOf(ctx, e, err)
	}
	const majors = 10_000
	for _, one := range []struct {
		isWrong            bool
		name, kept, should string
		isMild             bool
	}{
		{number/majors < oldestVersion, "server_version", version, fmt.Sprint(oldestVersion, " or newer"), false},
		{encoding != "UTF8", "server_encoding", encoding, "UTF8", false},
		{readOnly != "off", "transaction_read_only", readOnly, "off, as it is on the primary", false},
		{commit == "off", "synchronous_commit", commit, "on: else the last commits are lost with the server", true},
		{
			standbys != "" && attached == 0, "synchronous_standby_names", standbys, "a list of which one is attached: commits wait for it",
			true,
		},
	} {
		if one.isWrong {
			differs(store.Difference{Rule: "store.setting", About: one.name, Kept: one.kept, Should: one.should, IsMild: one.isMild})
		}
	}
	return fmt.Sprintf("PostgreSQL %s, database %s", version, database), nil
}

// Schema implements store.Inspector. The other schema is that of temporary tables: see asNew.
func (e *Engine) Schema(ctx context.Context, differs func(store.Difference)) error {
	kept, err := schemaOn(ctx, e.Conn(), "current_schema()::regnamespace")
	if err == nil {
		err = e.asNew(ctx, func(on conn) error {
			should, err := schemaOn(ctx, on, "pg_my_temp_schema()")
			if err == nil {
				kept.Compare(should, differs)
			}
			return err
		})
	}
	return sqlstore.FailureOf(ctx, e, err)
}

// schemaOn reads the schema of a namespace. Definitions name the namespace, which is left out, and so are the versions of the schema, which
// are the migrator's.
func schemaOn(ctx context.Context, on bun.IConn, namespace string) (sqlstore.Schema, error) {
	schema := sqlstore.Schema{}
	of := " WHERE t.relkind IN ('r', 'p') AND t.relname <> '" + sqlstore.SchemaVersions + "' AND t.relnamespace = " + namespace
	for _, query := range []string{
		`SELECT 'column ' || t.relname || '.' || c.attname, format_type(c.atttypid, c.atttypmod) ||
				CASE WHEN c.attnotnull THEN ' NOT NULL' ELSE '' END || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') ||
				CASE WHEN c.attidentity <> '' THEN ' IDENTITY' ELSE '' END ||
				coalesce(' COLLATE ' || (SELECT collname FROM pg_collation WHERE oid = c.attcollation AND collname <> 'default'), '')
			FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped
			LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = c.attnum` + of,
		`SELECT 'index ' || i.relname, regexp_replace(pg_get_indexdef(i.oid), ' ON (ONLY )?[^ ]+\.', ' ON ')
			FROM pg_class t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid` + of,
		`SELECT 'constraint ' || t.relname || '.' || c.conname,
				regexp_replace(pg_get_constraintdef(c.oid), 'REFERENCES [^ (]+\.', 'REFERENCES ')
			FROM pg_class t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('c', 'f', 'p', 'u')` + of,
	} {
		err := sqlstore.EachRow(ctx, on, func(rows *sql.Rows) error {
			var name, definition string
			err := rows.Scan(&name, &definition)
			schema[name] = definition
			return err
		}, query)
		if err != nil {
			return nil, err
		}
	}
	return schema, nil
}

// ownTables is the condition for a table t in pg_class to be one of the store.
func ownTables() (condition string, err error) {
	list, err := sqlstore.OwnTables(migrations, "migrations")
	return "t.relnamespace = current_schema()::regnamespace AND (t.relname IN (" + list + ") " +
		"OR starts_with(t.relname, '" + turns + "'))", err
}

// Integrity implements store.Inspector. Where the extension amcheck is installed, and the user may call it, it looks into the indexes too.
func (e *Engine) Integrity(ctx context.Context, differs func(store.Difference)) error {
	damaged := func(about, kept, should string, mend any) {
		differs(store.Difference{Rule: "store.integrity", About: about, Kept: kept, Should: should, Mend: mend})
	}
	ours, err := ownTables()
	if err != nil {
		return err
	}
	ours = " AND " + ours
	var indexes []string
	err = e.View(ctx, func(ctx context.Context, on bun.IConn) error {
		var isInstalled bool
		isIt := "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'amcheck')"
		return errors.Join(
			sqlstore.EachRow(ctx, on, func(rows *sql.Rows) error {
				var name string
				if err := rows.Scan(&name); err != nil {
					return err
				}
				damaged(name, "not validated", "validated", nil)
				return nil
			}, `SELECT t.relname || '.' || c.conname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
				WHERE NOT c.convalidated`+ours),
			sqlstore.EachRow(ctx, on, func(rows *sql.Rows) error {
				var name, quoted string
				if err := rows.Scan(&name, &quoted); err != nil {
					return err
				}
				damaged(name, "not valid", "valid", sqlstore.MendBy("REINDEX INDEX "+quoted))
				return nil
			}, `SELECT i.relname, i.oid::regclass::text FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid
				JOIN pg_class i ON i.oid = x.indexrelid WHERE NOT (x.indisvalid AND x.indisready)`+ours),
			on.QueryRowContext(ctx, isIt).Scan(&isInstalled),
			sqlstore.EachRow(ctx, on, func(rows *sql.Rows) error {
				var name string
				err := rows.Scan(&name)
				if isInstalled {
					indexes = append(indexes, name)
				}
				return err
			}, `SELECT i.oid::regclass::text FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
				JOIN pg_am m ON m.oid = i.relam WHERE m.amname = 'btree' AND x.indisvalid`+ours),
		)
	})
	for _, index := range indexes {
		if err != nil {
			break
		}
		err = e.lookInto(ctx, index, damaged)
	}
	return sqlstore.FailureOf(ctx, e, err)
}

// lookInto looks into an index. What it finds is an error of the statement, which would end a transaction.
func (e *Engine) lookInto(ctx context.Context, index string, damaged func(about, kept, should string, mend any)) error {
	_, err := e.pool.ExecContext(ctx, "SELECT bt_index_check($1::regclass)", index)
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return err
	}
	const indexCorrupted, insufficientPrivilege, undefinedTable = "XX002", "42501", "42P01"
	switch answer.Code {
	case insufficientPrivilege, undefinedTable:
		return nil
	case indexCorrupted:
		damaged(index, answer.Message, "no damage", sqlstore.MendBy("REINDEX INDEX "+index))
		return nil
	}
	return err
}

// Space implements store.Inspector. The server's disk is its own.
func (e *Engine) Space(ctx context.Context) (doctor.Space, error) {
	space := doctor.Space{Room: -1}
	err := e.pool.QueryRowContext(ctx, "SELECT pg_database_size(current_database())").Scan(&space.Store)
	return space, sqlstore.FailureOf(ctx, e, err)
}

// Tables implements store.Inspector.
func (e *Engine) Tables(ctx context.Context) (tables []doctor.TableSize, err error) {
	ours, err := ownTables()
	if err != nil {
		return nil, err
	}
	err = e.View(ctx, func(ctx context.Context, on bun.IConn) (err error) {
		tables, err = sqlstore.TableSizes(ctx, e.db, on, "SELECT t.relname, pg_total_relation_size(t.oid) FROM pg_class t "+
			"WHERE t.relkind = 'r' AND "+ours)
		return err
	})
	return tables, sqlstore.FailureOf(ctx, e, err)
}

// Leftovers implements store.Inspector.
func (e *Engine) Leftovers(ctx context.Context) ([]string, error) {
	names, err := leftovers(ctx, e.pool)
	return names, sqlstore.FailureOf(ctx, e, err)
}

// RemoveLeftover implements store.Inspector.
func (e *Engine) RemoveLeftover(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, restoring) {
		return fmt.Errorf("the schema %q is not that of a restoration", name)
	}
	return sqlstore.FailureOf(ctx, e, dropLeftover(ctx, e.migrating, name))
}

// TruncateLog implements store.Inspector. The server keeps its log itself.
func (e *Engine) TruncateLog(context.Context) error { return nil }

// GiveBack implements store.Inspector. The server uses its space again.
func (e *Engine) GiveBack(context.Context) error { return nil }
