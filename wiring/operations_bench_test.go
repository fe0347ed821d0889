//go:build bench

package wiring_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/system"
	"holdco/app/work"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/store"
)

var operated = flag.Int("operated", 20_000, "how many leads, and how many issues, the store of TestBenchOperationsOnSQLiteAndPostgres has")

// operatedWrites is how many writes a second a store has to take beside its backup.
const operatedWrites = 500

// What it costs to operate a store: a backup beside 500 writes a second, a restoration, the checks of doctor, and a move to the other
// engine, as multiples of what cp and sync take for the files of the store.
func TestBenchOperationsOnSQLiteAndPostgres(t *testing.T) {
	bin, err := filepath.Abs("../bin") // make bench has built it
	must(t, err)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	files := t.TempDir()
	command(t, nil, "leads", "generate", "--count", strconv.Itoa(*operated), "--seed", "1", "--out", files)
	fmt.Printf("\n%d leads and as many issues\n", *operated)
	eachBenchStore(t, func(t *testing.T, s benchStore) {
		to := "sqlite://" + filepath.Join(t.TempDir(), "holdco.db")
		stored := func() string { return s.address }
		if s.kind == "sqlite" {
			to = postgrestest.EmptyURL(t)
		} else {
			stored = func() string { return folderOf(t, s.address) }
		}
		benchOperations(t, s, files, stored, to)
	})
}

func benchOperations(t *testing.T, s benchStore, files string, stored func() string, to string) {
	t.Helper()
	say := func(what, format string, args ...any) {
		fmt.Printf("%-10s %-34s "+format+"\n", slices.Concat([]any{s.kind, what}, args)...)
	}
	t.Run("fill", func(t *testing.T) { fillOperated(t, s.environ, files) }) // its server ends with it
	s.tidyUp()

	server := startProcess(t, slices.Concat(s.environ, busy)...)
	written := &paced{url: server.url}
	for n := range clients {
		written.ids = append(written.ids, makeOver(t, server.url, "/v1/companies", fmt.Sprintf(`{"name":"C","slug":"paced-%d"}`, n)))
	}
	alone := written.beside(t, func() { time.Sleep(5 * time.Second) })
	say("500 writes a second, alone", "%s", alone)
	copied, bytes := copyFiles(t, stored())
	say("cp and sync", "%s, %d MiB", copied.Round(10*time.Millisecond), bytes>>20)
	backup := filepath.Join(t.TempDir(), "b.tar.zst")
	saved := time.Duration(0)
	beside := written.beside(t, func() { saved = timed(func() { command(t, s.environ, "backup", backup) }) })
	say("500 writes a second, beside", "%s", beside)
	ofCopy := func(what string, took time.Duration) {
		say(what, "%s, %.2f of cp and sync", took.Round(10*time.Millisecond), took.Seconds()/copied.Seconds())
	}
	found, err := os.Stat(backup)
	must(t, err)
	ofCopy("backup, beside the writes", saved)
	say("its file", "%d MiB", found.Size()>>20)
	server.end(t)
	ofCopy("backup, alone", timed(func() { command(t, s.environ, "backup", "--force", backup) }))
	ofCopy("restore --replace", timed(func() { command(t, s.environ, "restore", "--replace", backup) }))
	s.tidyUp()

	var report struct{ Checks []tookCheck }
	looked := timed(func() { must(t, json.Unmarshal(command(t, s.environ, "doctor", "--timeout", "1h", "--json"), &report)) })
	slices.SortFunc(report.Checks, func(a, b tookCheck) int { return int(b.TookMs - a.TookMs) })
	var slowest []string
	for _, one := range report.Checks[:4] {
		slowest = append(slowest, fmt.Sprintf("%s %d ms", one.Name, one.TookMs))
	}
	say("doctor", "%s; %s", looked.Round(10*time.Millisecond), strings.Join(slowest, ", "))

	var moved struct{ Rows int64 }
	took := timed(func() { must(t, json.Unmarshal(command(t, s.environ, "move", "--to", to, "--json"), &moved)) })
	say("move to the other engine", "%d rows in %s: %.0f a second", moved.Rows, took.Round(10*time.Millisecond),
		float64(moved.Rows)/took.Seconds())
}

// tookCheck is how long a check of doctor took.
type tookCheck struct {
	Name   string
	TookMs int64
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// fillOperated makes a store with leads, and a company with as many issues, all of which is chained.
func fillOperated(t *testing.T, environ []string, files string) {
	t.Helper()
	command(t, environ, "migrate", "up")
	command(t, environ, "taxonomy", "import", filepath.Join(files, "taxonomy.json"))
	command(t, environ, "campaigns", "import", filepath.Join(files, "campaigns.ndjson"))
	command(t, environ, "leads", "import", filepath.Join(files, "leads.ndjson"))
	server := assemble(t, environ...)
	url := serveHoldco(t, server)
	of, ids := id.Company(makeOver(t, url, "/v1/companies", named("operated"))), system.IDs{}
	said := strings.Repeat("What is to be done. ", 10)
	for done := 0; done < *operated; done += 200 {
		must(t, server.Store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			if err := tx.Turn(ctx, of); err != nil {
				return err
			}
			unit := work.In(tx, ids, of, "token:tok_1")
			for n := done; n < min(*operated, done+200); n++ {
				draft := issue.Draft{Title: new(fmt.Sprint("Task ", n)), Settings: issue.Settings{Description: &said}}
				made, err := issue.New(id.New[id.Issue](ids.UUIDv7()), of, draft, "token:tok_1", nil, tx.Now())
				if err == nil {
					_, err = unit.File(ctx, made)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	// An export waits until all is chained; this one finds nothing to export.
	c, err := dial(url)
	must(t, err)
	defer c.conn.Close()
	must(t, c.exchange(http.MethodGet, "/v1/companies/"+string(of)+"/activity/export?action=team.deleted", ""))
}

// folderOf is where PostgreSQL keeps the files of a database.
func folderOf(t *testing.T, address string) string {
	t.Helper()
	db, err := sql.Open("pgx", address)
	must(t, err)
	defer db.Close()
	var folder string
	must(t, db.QueryRow(`SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database WHERE datname = current_database()`).
		Scan(&folder))
	return folder
}

// copyFiles says how long it takes to copy a file or a folder until it is on the disk, and how many bytes there are: the median of three.
func copyFiles(t *testing.T, path string) (took time.Duration, bytes int64) {
	t.Helper()
	var all []time.Duration
	for range 3 {
		into := filepath.Join(t.TempDir(), "copy")
		all = append(all, timed(func() {
			out, err := exec.Command("sh", "-c", `cp -r "$0" "$1" && find "$1" -type f -exec sync {} +`, path, into).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}))
		bytes = 0
		must(t, filepath.WalkDir(into, func(_ string, one os.DirEntry, err error) error {
			if err != nil || one.IsDir() {
				return err
			}
			found, err := one.Info()
			bytes += found.Size()
			return err
		}))
		must(t, os.RemoveAll(into))
	}
	slices.Sort(all)
	return all[1], bytes
}

// paced makes so many writes a second, whether those before are answered or not.
type paced struct {
	url string
	ids []string
}

// beside makes writes until something has ended, and says how long they took from the instant at which each was due.
func (p *paced) beside(t *testing.T, do func()) string {
	t.Helper()
	due, ended := make(chan time.Time, 100*operatedWrites), make(chan struct{})
	var mutex sync.Mutex
	var waits []time.Duration
	var writing sync.WaitGroup
	for _, of := range p.ids {
		c, err := dial(p.url)
		must(t, err)
		writing.Go(func() {
			defer c.conn.Close()
			for at := range due {
				body := fmt.Sprintf(`{"description":"%d"}`, at.UnixNano())
				if err := c.exchange(http.MethodPatch, "/v1/companies/"+of, body); err != nil {
					t.Error(err)
					return
				}
				mutex.Lock()
				waits = append(waits, time.Since(at))
				mutex.Unlock()
			}
		})
	}
	began := time.Now()
	writing.Go(func() {
		defer close(due)
		next := time.NewTicker(10 * time.Millisecond)
		defer next.Stop()
		for sent := 0; ; {
			select {
			case <-ended:
				return
			case <-next.C:
			}
			for ; sent < int(time.Since(began).Seconds()*operatedWrites); sent++ {
				due <- began.Add(time.Duration(sent) * time.Second / operatedWrites)
			}
		}
	})
	do()
	close(ended)
	writing.Wait()
	slices.Sort(waits)
	return fmt.Sprintf("%d waited for %s (median), %s (99 of 100), %s at most", len(waits), share(waits, 50), share(waits, 99),
		share(waits, 100))
}
