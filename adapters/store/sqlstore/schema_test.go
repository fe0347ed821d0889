package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/domain/event"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// database is an empty database of one engine.
type database struct {
	sqlstore.Engine
	migrator *sqlstore.Migrator
	files    string // where its migrations are
	dialect  goose.Dialect
	writes   *sql.DB // to do what no store does
	schema   string  // the query for its schema
}

func openSQLite(t *testing.T) database {
	t.Helper()
	path := filepath.Join(t.TempDir(), "holdco.db")
	engine, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, UnitTimeout: time.Minute})
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	writes, err := sql.Open("sqlite", path)
	must(t, err)
	t.Cleanup(func() { must(t, writes.Close()) })
	return database{engine, engine.Migrator(), "../sqlite/migrations", goose.DialectSQLite3, writes, schemaOfSQLite}
}

func openPostgres(t *testing.T) database {
	t.Helper()
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: postgrestest.EmptyURL(t)})
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return database{engine, engine.Migrator(), "../postgres/migrations", goose.DialectPostgres, engine.DB().DB, schemaOfPostgres}
}

func TestSQLiteAndPostgresHaveTheSameSchema(t *testing.T) {
	t.Parallel()
	onSQLite, onPostgres := openSQLite(t).migratedSchema(t), openPostgres(t).migratedSchema(t)
	if diff := cmp.Diff(onSQLite, onPostgres); diff != "" {
		t.Errorf("-sqlite +postgres:\n%s", diff)
	}
	for _, line := range []string{ // so that the queries are not empty
		"migration 00002_webhooks.sql", "column companies.slug TEXT NOT NULL", "column queues.due_at INTEGER",
		"companies UNIQUE slug", "receipts PRIMARY KEY token_id, key", "slots FOREIGN KEY team_id REFERENCES teams id",
		"CREATE INDEX activity_unqueued ON activity seq WHERE unqueued = 1", "partners UNIQUE hash",
	} {
		if !slices.Contains(onSQLite, line) {
			t.Errorf("missing: %s", line)
		}
	}
}

// migratedSchema migrates a database and returns what it has then, a line each: migrations, columns, constraints, and
// indexes. The lines are the same for all engines, but for how a type is spelled.
func (d database) migratedSchema(t *testing.T) (lines []string) {
	t.Helper()
	migrations, err := d.migrator.Up(t.Context())
	must(t, err)
	for _, migration := range migrations {
		lines = append(lines, "migration "+migration.Name)
	}
	rows, err := d.writes.QueryContext(t.Context(), d.schema)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var line string
		must(t, rows.Scan(&line))
		lines = append(lines, plain(line))
	}
	must(t, rows.Err())
	slices.Sort(lines)
	return lines
}

// plain takes away how Postgres writes definitions down: its parentheses and quotes, and the types of its constants.
func plain(line string) string {
	line = strings.NewReplacer("(", " ", ")", " ", `"`, "", "::text", "", "public.", "", "USING btree", "").Replace(line)
	return strings.TrimSpace(regexp.MustCompile(`\s+`).ReplaceAllString(line, " "))
}

const schemaOfSQLite = `
	WITH tables AS (
		SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' AND name <> 'goose_db_version'
	)
	SELECT 'column ' || t.name || '.' || c.name || ' ' || c.type || iif(c."notnull", ' NOT NULL', '')
		FROM tables t, pragma_table_info(t.name) c
	UNION ALL
	SELECT t.name || ' PRIMARY KEY ' || group_concat(c.name, ', ' ORDER BY c.pk)
		FROM tables t, pragma_table_info(t.name) c WHERE c.pk > 0 GROUP BY t.name
	UNION ALL
	SELECT t.name || ' UNIQUE ' || group_concat(c.name, ', ' ORDER BY c.seqno)
		FROM tables t, pragma_index_list(t.name) i, pragma_index_info(i.name) c WHERE i.origin = 'u' GROUP BY t.name, i.name
	UNION ALL
	SELECT t.name || ' FOREIGN KEY ' || group_concat(f."from", ', ' ORDER BY f.seq)
			|| ' REFERENCES ' || f."table" || ' ' || group_concat(f."to", ', ' ORDER BY f.seq)
		FROM tables t, pragma_foreign_key_list(t.name) f GROUP BY t.name, f.id
	UNION ALL
	SELECT i.sql FROM tables t JOIN sqlite_schema i ON i.type = 'index' AND i.tbl_name = t.name WHERE i.sql IS NOT NULL`

const schemaOfPostgres = `
	WITH tables AS (
		SELECT oid, relname AS name FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'goose_db_version'
			AND relname NOT LIKE 'turns!___' ESCAPE '!' -- empty, and for locks that SQLite does without
	)
	SELECT 'column ' || t.name || '.' || c.column_name || ' '
			|| CASE
				WHEN c.data_type = 'text' AND c.collation_name = 'C' THEN 'TEXT'
				WHEN c.data_type = 'bigint' THEN 'INTEGER'
				ELSE c.data_type || coalesce(' COLLATE ' || c.collation_name, '')
			END
			|| CASE c.is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END
		FROM tables t JOIN information_schema.columns c ON c.table_schema = 'public' AND c.table_name = t.name
	UNION ALL
	SELECT t.name || ' ' || pg_get_constraintdef(c.oid)
		FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid WHERE c.contype IN ('p', 'u', 'f')
	UNION ALL
	SELECT pg_get_indexdef(i.indexrelid)
		FROM tables t JOIN pg_index i ON i.indrelid = t.oid
		WHERE NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u'))`

func TestActivityFromBeforeWebhooksIsKept(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) database{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepsActivity(t, open(t))
		})
	}
}

func keepsActivity(t *testing.T, d database) {
	t.Helper()
	d.migrateTo(t, 1)
	// The ids determine the order, whatever the physical order of the rows.
	const count = 50
	var want []string
	for i := range count {
		n := (i*37 + 5) % count
		row := []string{
			fmt.Sprintf("act_%03d", n), []string{"", "cmp_some"}[n%2], "company", "company.updated", "token:tok_some", "company",
			"cmp_some", `{"name":"It's \"Ä\" 🦆"}`, []string{"", `{"name":""}`}[n/2%2], fmt.Sprint(1_000_000_000_000 + n/3),
		}
		_, err := d.writes.ExecContext(t.Context(), "INSERT INTO activity VALUES ('"+
			strings.Join(doubled(row[:9]), "', '")+"', "+row[9]+")")
		must(t, err)
		want = append(want, strings.Join(append(row, "0"), "|"))
	}
	slices.Sort(want)

	applied, err := d.migrator.Up(t.Context())
	must(t, err)
	if len(applied) == 0 || applied[0].Version != 2 {
		t.Errorf("applied %v", applied)
	}
	kept := sqlstore.New(d.Engine, storetest.NewClock(), storetest.NewIDs(), d.migrator)
	must(t, kept.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Record(ctx, event.Event{Type: event.CompanyCreated, Actor: "system:test", Data: event.Fields{}})
	}))
	rows, err := d.writes.QueryContext(t.Context(), `
		SELECT id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unqueued
		FROM activity ORDER BY seq`)
	must(t, err)
	defer rows.Close()
	var got []string
	for rows.Next() {
		row, cells := make([]string, 11), make([]any, 11)
		for i := range row {
			cells[i] = &row[i]
		}
		must(t, rows.Scan(cells...))
		got = append(got, strings.Join(row, "|"))
	}
	must(t, rows.Err())
	if diff := cmp.Diff(want, got[:count]); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	if next := got[count:]; len(next) != 1 || !strings.Contains(next[0], string(event.CompanyCreated)) {
		t.Errorf("what was recorded then does not come last: %v", next)
	}
}

// doubled writes the quotes in texts as SQL does.
func doubled(texts []string) []string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strings.ReplaceAll(text, "'", "''")
	}
	return quoted
}

// migrateTo brings the schema to an older version than Migrator does.
func (d database) migrateTo(t *testing.T, version int64) {
	t.Helper()
	provider, err := goose.NewProvider(d.dialect, d.writes, os.DirFS(d.files), goose.WithDisableGlobalRegistry(true))
	must(t, err)
	_, err = provider.UpTo(t.Context(), version)
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keptWithoutCompany are the tables with a column company_id whose rows do not go with the company, and why.
var keptWithoutCompany = map[string]string{
	"webhooks":          "an endpoint is disabled, so that its last messages are sent",
	"removed_companies": "a row is made when the company is removed, and goes when nothing of it is left to be sent",
}

func TestEveryTableOfACompanyIsEmptiedWithIt(t *testing.T) {
	t.Parallel()
	emptied := sqlstore.OwnedTables()
	for _, line := range openSQLite(t).migratedSchema(t) {
		table, ok := strings.CutPrefix(line, "column ")
		if table, column, _ := strings.Cut(table, "."); ok && strings.HasPrefix(column, "company_id ") {
			if _, kept := keptWithoutCompany[table]; slices.Contains(emptied, table) == kept {
				t.Errorf("%s is emptied with a company: %t, want %t", table, kept, !kept)
			}
		}
		// A row that refers to one that is removed has to go before it.
		if from, to, ok := strings.Cut(line, " REFERENCES "); ok {
			from, _, _ = strings.Cut(from, " ")
			to, _, _ = strings.Cut(to, " ")
			if slices.Contains(emptied, to) && slices.Index(emptied, from) > slices.Index(emptied, to) {
				t.Errorf("%s is emptied after %s, to which it refers", from, to)
			}
		}
	}
}
