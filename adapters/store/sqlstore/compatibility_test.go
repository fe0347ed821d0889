package sqlstore_test

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"holdco/adapters/store/sqlstore"
)

func TestAProgramWorksWithANewerSchemaThatSaysSo(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) database{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			_, err := d.migrator.Up(t.Context())
			must(t, err)
			own, err := d.migrator.Status(t.Context())
			must(t, err)
			ready := sqlstore.New(d.Engine, nil, nil, d.migrator).Ready
			exec := func(statement string) {
				t.Helper()
				_, err := d.writes.ExecContext(t.Context(), statement)
				must(t, err)
			}
			exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, TRUE)")
			for from, refused := range map[int64]bool{own.Version: false, own.CompatibleFrom: false, own.Version + 1: true, 999: true} {
				exec(fmt.Sprintf("UPDATE schema_compatibility SET compatible_from = %d", from))
				applied, upErr := d.migrator.Up(t.Context())
				found, statusErr := d.migrator.Status(t.Context())
				for what, err := range map[string]error{"up": upErr, "status": statusErr, "ready": ready(t.Context())} {
					if refused && (err == nil || !strings.Contains(err.Error(), "run a newer holdco")) || !refused && err != nil {
						t.Errorf("%s on a schema that works from version %d on: %v", what, from, err)
					}
				}
				if !refused && (found.Version != 999 || found.CompatibleFrom != from || len(found.Pending()) > 0 || len(applied) > 0) {
					t.Errorf("from %d: %+v; applied %v", from, found, applied)
				}
			}
			exec("DELETE FROM schema_compatibility")
			if err := ready(t.Context()); err == nil || !strings.Contains(err.Error(), "run a newer holdco") {
				t.Errorf("a schema that does not say so: %v", err)
			}
		})
	}
}

// takesAway is what may keep the release before from working: what it reads is gone, or what it writes is refused.
var takesAway = regexp.MustCompile(`(?i)\b(DROP (TABLE|COLUMN|VIEW)|RENAME|SET NOT NULL|ALTER COLUMN \w+ TYPE|` +
	`ADD CONSTRAINT|CREATE UNIQUE)\b`)

func TestMigrationsThatTakeAwaySayWithWhichProgramsTheSchemaWorks(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../sqlite/migrations", "../postgres/migrations"} {
		names, err := fs.Glob(os.DirFS(folder), "*.sql")
		must(t, err)
		for _, name := range names {
			text, err := os.ReadFile(folder + "/" + name)
			must(t, err)
			version, err := goose.NumericComponent(name)
			must(t, err)
			says := fmt.Sprintf("UPDATE schema_compatibility SET compatible_from = %d", version)
			if version > 39 && takesAway.Match(text) && !strings.Contains(string(text), says) {
				t.Errorf("%s/%s has %q, which the release before may not work with; it has to say: %s;",
					folder, name, takesAway.Find(text), says)
			}
		}
	}
}

func TestMigrationsSayWhichTablesTheyWriteAnew(t *testing.T) {
	t.Parallel()
	schema, err := openSQLite(t).migrator.Status(t.Context())
	must(t, err)
	found := map[string][]string{}
	for _, one := range schema.Migrations {
		if one.Rewrites == nil {
			t.Errorf("%s: null instead of a list", one.Name)
		}
		if len(one.Rewrites) > 0 && one.Version < 37 {
			found[one.Name] = one.Rewrites
		}
	}
	want := map[string][]string{
		"00002_webhooks.sql": {"activity"}, "00006_forms.sql": {"lead_entries"}, "00017_sweeps.sql": {"runs"},
		"00019_budgets.sql": {"issues", "runs"}, "00026_project_costs.sql": {"cost_entries"}, "00029_activity.sql": {"activity"},
		"00030_inbox.sql": {"issues"}, "00031_audit_chain.sql": {"activity"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}
