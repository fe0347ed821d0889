//go:build bench

package wiring_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/system"
	rules "holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
	"holdco/wiring"
)

// benchStore is a store that a benchmark fills and measures.
type benchStore struct {
	kind    string
	environ []string // of its server
	driver  string   // of database/sql, with the address
	address string
	tidyUp  func() // what the server would do by itself, were it not that of tests
}

// eachBenchStore runs a benchmark on a store of each kind.
func eachBenchStore(t *testing.T, measure func(t *testing.T, s benchStore)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		directory := t.TempDir()
		measure(t, benchStore{"sqlite", []string{dataDir + directory}, "sqlite", filepath.Join(directory, "holdco.db"), func() {}})
	})
	t.Run("postgres", func(t *testing.T) {
		url := postgrestest.URL(t)
		measure(t, benchStore{
			"postgres", []string{dataDir + t.TempDir(), databaseURL + url}, "pgx", url, func() { vacuum(t, url) },
		})
	})
}

// growth is how long something took with few rows, and with many.
type growth [2][]time.Duration

// printGrowthOf prints what is above the lines of growth.
func printGrowthOf(few, many int) {
	fmt.Printf("%-10s %-34s %12d %12d %7s\n", "store", "", few, many, "ratio")
}

// print prints the medians, and how many times the second is the first.
func (g growth) print(kind, what string) {
	slices.Sort(g[0])
	slices.Sort(g[1])
	few, many := g[0][len(g[0])/2], g[1][len(g[1])/2]
	fmt.Printf("%-10s %-34s %12s %12s %7.2f\n", kind, what, few.Round(time.Microsecond), many.Round(time.Microsecond),
		many.Seconds()/few.Seconds())
}

// What one request takes while the store grows. It should stay what it is.
func TestBenchLatencyOnSQLiteAndPostgres(t *testing.T) {
	const few, many, requests = 100, 100_000, 301
	fmt.Printf("\n%-10s %-10s %14s %14s\n", "store", "operation", "at 100", "at 100,000")
	for _, kind := range []string{"sqlite", "postgres"} {
		environ, tidyUp := []string{dataDir + t.TempDir()}, func() {}
		if kind == "postgres" {
			url := postgrestest.URL(t)
			environ, tidyUp = append(environ, databaseURL+url), func() { vacuum(t, url) }
		}
		server := assemble(t, environ...)
		s := &subject{url: serveHoldco(t, server)}
		took := map[string][]time.Duration{}
		for _, size := range []int{few, many} {
			s.ids = append(s.ids, foundMore(t, server, len(s.ids), size)...)
			tidyUp()
			for _, operation := range operations {
				took[operation.name] = append(took[operation.name], s.median(t, requests, operation.request))
			}
		}
		for _, operation := range operations {
			fmt.Printf("%-10s %-10s %14s %14s\n", kind, operation.name,
				took[operation.name][0].Round(time.Microsecond), took[operation.name][1].Round(time.Microsecond))
		}
	}
}

// How long a request that only looks something up takes beside eight reads that go through 100,000 companies each, again
// and again: at most a few milliseconds, because it waits neither for their connections nor long for a processor.
func TestBenchLookupsBesideSlowReadsOnSQLiteAndPostgres(t *testing.T) {
	const size, slow, requests = 100_000, 8, 2000
	whoami := func(*subject, int64) (string, string, string) { return http.MethodGet, "/v1/whoami", "" }
	fmt.Printf("\n%-10s %-24s %12s %12s\n", "store", "GET /v1/whoami", "median", "p99")
	for _, kind := range []string{"sqlite", "postgres"} {
		environ := []string{dataDir + t.TempDir()}
		if kind == "postgres" {
			environ = append(environ, databaseURL+postgrestest.URL(t))
		}
		server := assemble(t, environ...)
		s := &subject{url: serveHoldco(t, server)}
		foundMore(t, server, 0, size)
		show := func(what string) {
			took := s.times(t, requests, whoami)
			fmt.Printf("%-10s %-24s %12s %12s\n", kind, what,
				took[requests/2].Round(time.Microsecond), took[requests*99/100].Round(time.Microsecond))
		}
		show("alone")
		ctx, stop := context.WithCancel(t.Context())
		var reading sync.WaitGroup
		for range slow {
			reading.Go(func() {
				for ctx.Err() == nil {
					if err := readAll(ctx, server.Store); err != nil && ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
		show("beside slow reads")
		stop()
		reading.Wait()
	}
}

// readAll reads all companies in one snapshot.
func readAll(ctx context.Context, from store.Store) error {
	return from.View(ctx, func(ctx context.Context, r store.Reader) error {
		var after page.Position
		for {
			next, err := r.Companies().List(ctx, store.CompanyFilter{}, after, page.MaxSize)
			if err != nil || next.Next.IsStart() {
				return err
			}
			after = next.Next
		}
	})
}

// foundMore keeps companies in big units, past the API, until there are as many as asked for.
func foundMore(t *testing.T, server *wiring.Server, from, until int) (ids []string) {
	t.Helper()
	const unit = 1000
	for from < until {
		next := min(from+unit, until)
		var made []string
		must(t, server.Store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			made = nil
			for n := from; n < next; n++ {
				name, slug := "Company", fmt.Sprintf("c-%d", n)
				founding, created, err := rules.New(id.New[id.Company](system.IDs{}.UUIDv7()),
					rules.Draft{Name: &name, Slug: &slug}, []string{"process"}, system.IDs{}, tx.Now())
				if err != nil {
					return err
				}
				if err := tx.Companies().Add(ctx, founding.Company); err != nil {
					return err
				}
				if err := tx.Record(ctx, created.By("system:bench")); err != nil {
					return err
				}
				made = append(made, string(founding.Company.ID))
			}
			return nil
		}))
		ids = append(ids, made...)
		from = next
	}
	return ids
}

// How soon the program is ready on an empty store, and what it holds in memory: idle, and while the store grows under load.
func TestBenchProcess(t *testing.T) {
	folder, err := filepath.Abs("../bin") // make bench has built it
	must(t, err)
	t.Setenv("PATH", folder) // so that it is what startProcess finds

	var p *process
	var ready []time.Duration
	for range turns {
		began := time.Now()
		p = startProcess(t, append(busy, dataDir+t.TempDir())...)
		status, _, err := exchangeList(p.url + "/v1/companies")
		if err != nil || status != http.StatusOK {
			t.Fatalf("list: %d, %v", status, err)
		}
		ready = append(ready, time.Since(began))
	}
	slices.Sort(ready)
	time.Sleep(time.Second)
	fmt.Printf("\nready on an empty store after %s; resident %s idle\n", ready[turns/2].Round(time.Millisecond), residence(t, p))

	const many, rounds, long = 32, 3, 5 * time.Second
	s := &subject{url: p.url}
	s.fill(t)
	for round := range rounds {
		for _, operation := range operations {
			rate := s.rateOf(t, many, long, operation.request)
			fmt.Printf("round %d, %d clients, %-8s %7.0f/s; resident %s\n", round+1, many, operation.name, rate, residence(t, p))
		}
	}
}

// resident is what Linux says a process holds in memory, in bytes.
func resident(t *testing.T, p *process) int64 {
	t.Helper()
	return heldBy(t, p.Process.Pid, "VmRSS")
}

// residence shows what a process holds in memory, and how much of that is its own; the rest is pages of its program.
func residence(t *testing.T, p *process) string {
	t.Helper()
	return fmt.Sprintf("%d MiB (%d its own)", resident(t, p)>>20, heldBy(t, p.Process.Pid, "RssAnon")>>20)
}

// heldBy reads a number of bytes from the status of a process.
func heldBy(t *testing.T, pid int, name string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	held := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(status)
	kibibytes, err := strconv.ParseInt(string(held[1]), 10, 64)
	must(t, err)
	return kibibytes << 10
}
