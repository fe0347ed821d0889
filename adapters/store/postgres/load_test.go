package postgres_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/backup"
	"holdco/domain/fault"
)

// copied are the rows of a store, by the name of their part, and how many there are by table.
func copied(t *testing.T, address string) (parts map[string][]byte, rows map[string]int64) {
	t.Helper()
	engine := open(t, address)
	taken, err := engine.Source().Copy(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	parts = map[string][]byte{}
	for _, part := range taken.Parts() {
		var to bytes.Buffer
		if err := taken.Write(t.Context(), part, &to); err != nil {
			t.Fatal(err)
		}
		parts[part.Name] = to.Bytes()
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	return parts, taken.Rows()
}

// A table with many rows gets its indexes and its references after them. The store is as if they had always been there, and what they
// forbid is refused.
func TestManyRowsAreRestoredWithTheirConstraintsOnPostgres(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	execute := func(statement string) {
		query[int64](t, address, "WITH done AS ("+statement+" RETURNING 1) SELECT count(*) FROM done")
	}
	const many = 5000
	execute(`INSERT INTO activity
		(id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unqueued, position)
		SELECT 'act_' || n, 'cmp_' || n % 7, 'task', 'issue.created', 'system:test', 'issue', 'iss_' || n, repeat('a, "ä"\n', n % 300) ||
			repeat(',', n / 4999 * 300000), '', n, 0, nullif(n, 5) FROM generate_series(1, 5000) n`)
	for n, odd := range []string{
		`\N`, `\.`, "\\N", "\t\n\r\b\f\v\x01\x7f", `\u0041 \\u0041`, `null`, `{"a":[1,null]}`, `/"`, "😀\u2028",
	} {
		query[int64](t, address, "WITH done AS (UPDATE activity SET data = $1 WHERE id = $2 RETURNING 1) SELECT count(*) FROM done",
			odd, fmt.Sprint("act_", 100+n))
	}
	execute(`INSERT INTO companies (id, slug, name, description, default_adapter, fiscal_period, budget_usd, budget_period,
		reserve_percent, team_count, agent_count, status, created_at, updated_at, deleted_by, version)
		VALUES ('cmp_1', 'acme', 'Acme', '', '', 'month', 5, 'month', 0, 0, 0, 'active', 1, 1, '', 1)`)
	execute("INSERT INTO audit_heads (chain, company_id, number, entry_id, hash, chained_at) VALUES ('cmp_1', 'cmp_1', 1, 'act_1', '', 1)")
	parts, rows := copied(t, address)
	activity, companies := backup.RowsName("activity"), backup.RowsName("companies")
	if rows["activity"] != many || len(parts[activity]) < 3<<20 {
		t.Fatalf("%d entries of %d bytes in all", rows["activity"], len(parts[activity]))
	}
	state := func() []string {
		return append(query[[]string](t, address, `SELECT array_agg(text ORDER BY text) FROM (
			SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
			UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || convalidated FROM pg_constraint
				WHERE connamespace = 'public'::regnamespace
			UNION ALL SELECT 'unfit ' || indexrelid::regclass FROM pg_index WHERE NOT indisvalid) AS all_of (text)`),
			query[string](t, address, "SELECT md5(string_agg(a::text, ',' ORDER BY seq)) FROM activity a"))
	}
	before := state()
	take := func(change map[string][]byte) error {
		r := mustBegin(t, address)
		defer func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}()
		for name, content := range parts {
			if other, isChanged := change[name]; isChanged {
				content = other
			}
			if err := r.Take(t.Context(), name, bytes.NewReader(content)); err != nil {
				return err
			}
		}
		counted := map[string]int64{}
		for table, count := range rows {
			counted[table] = count
			if content, isChanged := change[backup.RowsName(table)]; isChanged {
				counted[table] = int64(bytes.Count(content, []byte("\n")))
			}
		}
		if _, err := r.Open(t.Context(), counted); err != nil {
			return err
		}
		_, err := r.Switch(t.Context())
		return err
	}
	for what, change := range map[string]map[string][]byte{
		"could not create unique index": {activity: slices.Concat(parts[activity], slices.Collect(bytes.Lines(parts[activity]))[0])},
		"violates foreign key":          {companies: nil},
		"violates not-null":             {activity: bytes.Replace(parts[activity], []byte(`"id":"act_4000"`), []byte(`"id":null`), 1)},
		"invalid input syntax":          {activity: bytes.Replace(parts[activity], []byte(`"at":4321`), []byte(`"at":"x"`), 1)},
		"null value in column":          {activity: bytes.Replace(parts[activity], []byte(`"at":4321`), []byte(`"at":null`), 1)},
		"is not JSON":                   {activity: bytes.Replace(parts[activity], []byte(`"at":4321`), []byte(`"at":`), 1)},
		"other columns than the first":  {activity: bytes.Replace(parts[activity], []byte(`"at":4321`), []byte(`"it":4321`), 1)},
		"have the columns":              {activity: bytes.ReplaceAll(parts[activity], []byte(`"at":`), []byte(`"it":`))},
		"is no object":                  {activity: slices.Concat(parts[activity], []byte("[]\n"))},
	} {
		if err := take(change); fault.CodeOf(err) != fault.InvalidFile || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if got := state(); !slices.Equal(got, before) {
			t.Errorf("%s: it is another store", what)
		}
	}
	if left := query[int64](t, address, "SELECT count(*) FROM pg_namespace WHERE starts_with(nspname, 'holdco')"); left != 0 {
		t.Errorf("%d schemas are left", left)
	}
	if err := take(nil); err != nil {
		t.Fatal(err)
	}
	if got := state(); !slices.Equal(got, before) {
		t.Errorf("it is\n%s\nand was\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
	if got := query[int64](t, address, "SELECT reltuples::bigint FROM pg_class WHERE oid = 'public.activity'::regclass"); got != many {
		t.Errorf("the server knows of %d rows", got)
	}
}
