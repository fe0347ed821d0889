//go:build bench

package wiring_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
)

// imported is how many leads are imported.
const imported = 200_000

// What an import costs over a bare program that inserts the same rows into the same tables, one after the other, a thousand in
// a transaction;
// and how long writes of the API wait beside it.
func TestBenchImports(t *testing.T) {
	bin, err := filepath.Abs("../bin") // make bench has built it
	must(t, err)
	t.Setenv("PATH", bin)
	files := t.TempDir()
	command(t, nil, "leads", "generate", "--count", strconv.Itoa(imported), "--seed", "1", "--out", files)
	t.Run("sqlite", func(t *testing.T) {
		benchImports(t, files, func() importable {
			folder := t.TempDir()
			file := "file:" + filepath.Join(folder,
				"holdco.db") + "?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(5000)"
			return importable{environ: []string{dataDir + folder}, driver: "sqlite", address: file}
		})
	})
	t.Run("postgres", func(t *testing.T) {
		benchImports(t, files, func() importable {
			address := postgrestest.URL(t)
			return importable{environ: []string{dataDir + t.TempDir(), databaseURL + address}, driver: "pgx", address: address}
		})
	})
}

// importable is a store that leads are imported into.
type importable struct {
	environ         []string
	driver, address string
}

func benchImports(t *testing.T, files string, empty func() importable) {
	t.Helper()
	kind := strings.TrimPrefix(t.Name(), "TestBenchImports/")
	into := func() importable {
		on := empty()
		command(t, on.environ, "migrate", "up")
		command(t, on.environ, "taxonomy", "import", filepath.Join(files, "taxonomy.json"))
		command(t, on.environ, "campaigns", "import", filepath.Join(files, "campaigns.ndjson"))
		return on
	}
	leads := filepath.Join(files, "leads.ndjson")

	beside := into()
	p := startProcess(t, beside.environ...)
	importing := exec.Command("holdco", "leads", "import", leads)
	importing.Env = append(os.Environ(), beside.environ...)
	began := time.Now()
	must(t, importing.Start())
	ended := make(chan error, 1)
	go func() { ended <- importing.Wait() }()
	waits, err := writesUntil(t, p.url, ended)
	must(t, err)
	fmt.Printf("%s: beside %d writes of the API %.0f a second; these waited for %s (median), %s (99 of 100), %s at most\n", kind,
		len(waits), imported/time.Since(began).Seconds(), share(waits, 50), share(waits, 99), share(waits, 100))

	// After the other import: a server of PostgreSQL that has just been made fills the first files of its log with zeros.
	alone := into()
	began = time.Now()
	command(t, alone.environ, "leads", "import", leads)
	ours := imported / time.Since(began).Seconds()
	theirs := imported / bareInsert(t, alone, into()).Seconds()
	fmt.Printf("%s: %d leads imported, %.0f a second; a bare insert of the same rows: %.0f; ratio %.2f\n", kind, imported, ours, theirs,
		ours/theirs)
}

// writesUntil creates companies, each a hundredth of a second after the one before, and returns how long each took, sorted.
func writesUntil(t *testing.T, address string, ended <-chan error) (waits []time.Duration, _ error) {
	t.Helper()
	c, err := dial(address)
	must(t, err)
	defer c.conn.Close()
	c.bearer = string(rootToken)
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	for {
		select {
		case err := <-ended:
			slices.Sort(waits)
			return waits, err
		case <-next.C:
		}
		began := time.Now()
		must(t, c.exchange(http.MethodPost, "/v1/companies", fmt.Sprintf(`{"name":"Acme","slug":"acme-%d"}`, len(waits))))
		waits = append(waits, time.Since(began))
	}
}

// share is how long so many of a hundred waits took at most.
func share(sorted []time.Duration, percent int) time.Duration {
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)].Round(100 * time.Microsecond)
}

// bareInsert inserts what one store holds of leads into the tables of another.
func bareInsert(t *testing.T, from, into importable) time.Duration {
	t.Helper()
	source, target := opened(t, from), opened(t, into)
	tables := map[string][]string{
		"leads":        {"key", "id", "revision", "updated_at", "labels", "rating", "digest", "created_at"},
		"lead_entries": {"key", "entry"},
	}
	held := map[string][][]any{}
	for table, columns := range tables {
		held[table] = rowsOf(t, source, table, columns)
	}
	const batch = 1000
	began := time.Now()
	for at := 0; at < imported; at += batch {
		tx, err := target.Begin()
		must(t, err)
		for table, columns := range tables {
			insert, err := tx.Prepare("INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + placeholders(into,
				len(columns)) + ")")
			must(t, err)
			for _, row := range held[table][at : at+batch] {
				_, err := insert.Exec(row...)
				must(t, err)
			}
			must(t, insert.Close()) //nolint:sqlclosecheck // in the loop, before the next one
		}
		must(t, tx.Commit())
	}
	return time.Since(began)
}

func opened(t *testing.T, on importable) *sql.DB {
	t.Helper()
	db, err := sql.Open(on.driver, on.address)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

func rowsOf(t *testing.T, db *sql.DB, table string, columns []string) (all [][]any) {
	t.Helper()
	rows, err := db.Query("SELECT " + strings.Join(columns, ", ") + " FROM " + table + " ORDER BY key")
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		must(t, rows.Scan(into...))
		all = append(all, row)
	}
	must(t, rows.Err())
	if len(all) != imported {
		t.Fatalf("%s has %d rows", table, len(all))
	}
	return all
}

// placeholders are those of n arguments.
func placeholders(on importable, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "?"
		if on.driver == "pgx" {
			all[i] = "$" + strconv.Itoa(i+1)
		}
	}
	return strings.Join(all, ", ")
}
