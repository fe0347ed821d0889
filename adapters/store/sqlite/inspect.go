package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gofrs/flock"
	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/doctor"
	"holdco/ports/store"
)

var _ store.Inspector = (*Engine)(nil)

// inspect reads on one snapshot.
func (e *Engine) inspect(ctx context.Context, read func(ctx context.Context, on bun.IConn) error) error {
	err := e.View(ctx, read)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Open implements store.Inspector. That a commit is as safe as it has to be was compared when the database was opened.
func (e *Engine) Open(ctx context.Context, differs func(store.Difference)) (what string, err error) {
	var version, encoding, journal string
	err = e.inspect(ctx, func(ctx context.Context, on bun.IConn) error {
		return errors.Join(
			on.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version),
			on.QueryRowContext(ctx, "PRAGMA encoding").Scan(&encoding),
			on.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal),
		)
	})
	if err != nil {
		return "", err
	}
	for _, one := range []struct{ name, kept, should string }{
		{"encoding", encoding, "UTF-8"}, // texts are compared and cut by their bytes
		{"journal_mode", journal, "wal"},
	} {
		if one.kept != one.should {
			differs(store.Difference{Rule: "store.setting", About: one.name, Kept: one.kept, Should: one.should})
		}
	}
	return fmt.Sprintf("SQLite %s, %s", version, e.path), nil
}

// Schema implements store.Inspector. The other schema is that of a new store in memory.
func (e *Engine) Schema(ctx context.Context, differs func(store.Difference)) (err error) {
	fresh, err := Open(ctx, Options{Path: Memory})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	if _, err := fresh.migrator.Up(ctx); err != nil {
		return err
	}
	var schemas [2]sqlstore.Schema
	for n, of := range []*Engine{e, fresh} {
		err := of.inspect(ctx, func(ctx context.Context, on bun.IConn) (err error) {
			schemas[n], err = schemaOn(ctx, on)
			return err
		})
		if err != nil {
			return err
		}
	}
	schemas[0].Compare(schemas[1], differs)
	return nil
}

// schemaOn reads a schema. The versions of it are the migrator's own, and what begins with sqlite_ is SQLite's.
func schemaOn(ctx context.Context, on bun.IConn) (sqlstore.Schema, error) {
	const ours = "type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.name <> '" + sqlstore.SchemaVersions + "'"
	schema := sqlstore.Schema{}
	add := func(rows *sql.Rows) error {
		var name, definition string
		err := rows.Scan(&name, &definition)
		schema[name] = definition
		return err
	}
	return schema, errors.Join(
		sqlstore.EachRow(ctx, on, add, `SELECT 'column ' || t.name || '.' || c.name,
				c.type || CASE WHEN c."notnull" THEN ' NOT NULL' ELSE '' END ||
				coalesce(' DEFAULT ' || c.dflt_value, '') || CASE WHEN c.pk > 0 THEN ' PRIMARY KEY ' || c.pk ELSE '' END
			FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.`+ours),
		// An index that a constraint has made has no text, and a name with a number.
		sqlstore.EachRow(ctx, on, add, `SELECT CASE WHEN s.sql IS NULL THEN 'constraint of ' || t.name || ' on ' ||
					(SELECT group_concat(x.name, ', ') FROM pragma_index_info(s.name) x)
					ELSE 'index ' || s.name END, coalesce(s.sql, 'UNIQUE')
			FROM sqlite_schema t JOIN sqlite_schema s ON s.type = 'index' AND s.tbl_name = t.name WHERE t.`+ours),
		sqlstore.EachRow(ctx, on, add, `SELECT 'reference from ' || t.name || '.' || f."from", f."table" || '.' || f."to"
			FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.`+ours),
	)
}

// ofIndex finds the name of an index in what the check of SQLite says: that it lacks a row, say, or has one too many.
var ofIndex = regexp.MustCompile(`(?:missing from|in) index (\S+)$`)

// Integrity implements store.Inspector, by the checks of SQLite.
func (e *Engine) Integrity(ctx context.Context, differs func(store.Difference)) error {
	damaged := func(about, kept string, mend any) {
		differs(store.Difference{Rule: "store.integrity", About: about, Kept: kept, Should: "no damage", Mend: mend})
	}
	indexes := map[string]bool{}
	err := e.inspect(ctx, func(ctx context.Context, on bun.IConn) error {
		err := sqlstore.EachRow(ctx, on, func(rows *sql.Rows) error {
			var said string
			if err := rows.Scan(&said); err != nil || said == "ok" {
				return err
			}
			for line := range strings.SplitSeq(said, "\n") { // what is wrong with pages comes in one row
				found := ofIndex.FindStringSubmatch(line)
				switch {
				case strings.HasPrefix(line, "***"): // a heading
				case found == nil:
					damaged(filepath.Base(e.path), line, nil)
				case !indexes[found[1]]: // it is made anew once, however many rows are wrong
					indexes[found[1]] = true
					damaged(found[1], line, sqlstore.MendBy(`REINDEX "`+strings.ReplaceAll(found[1], `"`, `""`)+`"`))
				}
			}
			return nil
		}, "PRAGMA integrity_check")
		if err != nil {
			return err
		}
		return sqlstore.EachRow(ctx, on, func(rows *sql.Rows) error {
			var table, parent string
			var row *int64
			var number int
			if err := rows.Scan(&table, &row, &parent, &number); err != nil {
				return err
			}
			damaged(table, fmt.Sprintf("a row refers to one of %s that is not there", parent), nil)
			return nil
		}, "PRAGMA foreign_key_check")
	})
	if isDamage(err) {
		damaged(filepath.Base(e.path), err.Error(), nil)
		return nil
	}
	return err
}

// Space implements store.Inspector.
func (e *Engine) Space(ctx context.Context) (doctor.Space, error) {
	space := doctor.Space{Room: -1, Where: filepath.Dir(e.path)}
	err := e.inspect(ctx, func(ctx context.Context, on bun.IConn) error {
		var page, pages, free, mode int64
		err := errors.Join(
			on.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page),
			on.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages),
			on.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free),
			on.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode),
		)
		space.Store, space.Free, space.KeepsFree = page*pages, page*free, mode != incremental
		return err
	})
	if log, logErr := os.Stat(e.path + "-wal"); logErr == nil { // it ends with the last connection
		space.Log = log.Size()
	}
	return space, err
}

// Tables implements store.Inspector.
func (e *Engine) Tables(ctx context.Context) (tables []doctor.TableSize, err error) {
	ours, err := sqlstore.OwnTables(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	err = e.inspect(ctx, func(ctx context.Context, on bun.IConn) (err error) {
		tables, err = sqlstore.TableSizes(ctx, e.db, on, `SELECT s.tbl_name, sum(d.pgsize)
			FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
			WHERE d.aggregate = TRUE AND s.tbl_name IN (`+ours+`) GROUP BY 1`)
		return err
	})
	return tables, err
}

// Leftovers implements store.Inspector. A restoration works beside the file.
func (e *Engine) Leftovers(context.Context) ([]string, error) { return nil, nil }

// RemoveLeftover implements store.Inspector.
func (e *Engine) RemoveLeftover(context.Context, string) error { return nil }

// TruncateLog implements store.Inspector.
func (e *Engine) TruncateLog(ctx context.Context) error {
	db, err := openFile(e.path, "rw", busyTimeout(checkpointWait))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = truncateLog(ctx, db) // if others keep it from that, the log is as long as before, which who looks again sees
	return err
}

// GiveBack implements store.Inspector. It has the lock of a server meanwhile, and writes all in one transaction.
func (e *Engine) GiveBack(ctx context.Context) (err error) {
	lock := flock.New(e.path + ".lock")
	if locked, err := lock.TryLock(); err != nil || !locked {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	db, err := openFile(e.path, "rw", busyTimeout(waitTimeout))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{fmt.Sprintf("PRAGMA auto_vacuum = %d", incremental), "VACUUM"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return cmp.Or(ctx.Err(), explain(e.path, err))
		}
	}
	return checkpoint(ctx, db)
}
