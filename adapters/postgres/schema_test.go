package postgres_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The engines have the same migrations, and each says the same on both: tables, columns, constraints and indexes. What
// may differ is how a type is spelled, that a SQLite table is strict, and how full Postgres makes its pages.
func TestMigrationsAreThoseOfSQLite(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(readMigrations(t, "../sqlite/migrations"), readMigrations(t, "migrations")); diff != "" {
		t.Errorf("-sqlite +postgres:\n%s", diff)
	}
}

// readMigrations returns the statements of each file in the words of standard SQL.
func readMigrations(t *testing.T, folder string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations in %s: %v", folder, err)
	}
	standard := strings.NewReplacer(`TEXT COLLATE "C"`, "TEXT", "BIGINT", "INTEGER", ") STRICT;", ");")
	fullness := regexp.MustCompile(` WITH \(fillfactor = \d+\);.*`)
	space := regexp.MustCompile(`[ \t]+`)
	migrations := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plain := space.ReplaceAllString(fullness.ReplaceAllString(standard.Replace(string(text)), ";"), " ")
		migrations[filepath.Base(file)] = strings.Split(plain, "\n")
	}
	return migrations
}
