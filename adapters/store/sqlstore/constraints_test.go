package sqlstore_test

import (
	"testing"

	"holdco/adapters/store/sqlstore"
)

// engines open an empty database of each kind.
var engines = map[string]func(*testing.T) database{"sqlite": openSQLite, "postgres": openPostgres}

func TestTheEnginesNameTheConstraintThatFailed(t *testing.T) {
	t.Parallel()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			d.migratedSchema(t)
			const insertCompany = "INSERT INTO companies (id, slug, name, description, default_adapter, fiscal_period, budget_usd, " +
				"budget_period, reserve_percent, team_count, agent_count, status, created_at, updated_at, deleted_by, version) VALUES "
			const rest = ", '', '', '', '', 0, '', 0, 0, 0, '', 0, 0, '', 1)"
			const insertTeam = "INSERT INTO teams (id, company_id, name, name_key, slug, headcount, agent_count, created_at, updated_at) " +
				"VALUES "
			for _, step := range []struct{ text, violates string }{
				{insertCompany + "('cmp_1', 'acme'" + rest, ""},
				{insertCompany + "('cmp_1', 'other'" + rest, "companies_pkey"},
				{insertCompany + "('cmp_2', 'acme'" + rest, "companies_slug"},
				{insertTeam + "('tm_1', 'cmp_1', '', 'a', 'a', 0, 0, 0, 0)", ""},
				{insertTeam + "('tm_2', 'cmp_1', '', 'a', 'b', 0, 0, 0, 0)", "teams_company_id_name_key"},
				{insertTeam + "('tm_2', 'cmp_1', '', 'b', 'a', 0, 0, 0, 0)", "teams_company_id_slug"},
				{"INSERT INTO receipts VALUES ('tok', 'key', '', '', '', 0)", ""},
				{"INSERT INTO receipts VALUES ('tok', 'key', '', '', '', 0)", "receipts_pkey"},
				{"INSERT INTO outbox VALUES (1, 7)", "outbox_pkey"},
				{"UPDATE companies SET slug = 'acme'", ""},
			} {
				_, err := d.writes.ExecContext(t.Context(), step.text)
				if (err == nil) != (step.violates == "") {
					t.Fatalf("%s: %v", step.text, err)
				}
				if failure, constraint := d.Classify(err); err != nil && (failure != sqlstore.Duplicate || constraint != step.violates) {
					t.Errorf("%v: got failure %d of %q, want %q", err, failure, constraint, step.violates)
				}
			}
		})
	}
}

// The engines agree on these names only while Postgres' own are made by the rule of sqlstore.Engine.Classify.
func TestUniqueConstraintsAreNamedAfterTheirColumnsOnSQLiteAndPostgres(t *testing.T) {
	t.Parallel()
	d := openPostgres(t)
	d.migratedSchema(t)
	rows, err := d.writes.QueryContext(t.Context(), `
		SELECT i.relname, t.relname || CASE WHEN x.indisprimary THEN '_pkey' ELSE
			(SELECT string_agg('_' || a.attname, '' ORDER BY k.place)
			FROM unnest(x.indkey) WITH ORDINALITY AS k (number, place)
			JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number) END
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
		WHERE x.indisunique AND t.relnamespace = 'public'::regnamespace AND t.relname <> 'goose_db_version'`)
	must(t, err)
	defer rows.Close()
	count := 0
	for ; rows.Next(); count++ {
		var got, want string
		must(t, rows.Scan(&got, &want))
		if got != want {
			t.Errorf("%s should be named %s", got, want)
		}
	}
	must(t, rows.Err())
	if count < 10 {
		t.Errorf("%d unique constraints", count)
	}
}
