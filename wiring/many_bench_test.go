//go:build bench

package wiring_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
)

// One company gets 100,000 issues over the API and is then deleted, while others write beside it. A POST should cost the same
// from the first to the last, and the deletion should delay nobody by more than one of its units, of 50 ms at most. The server
// is a process of its own, which is killed in the middle of the deletion.
func TestBenchManyFiled(t *testing.T) {
	const issues, few, killed = 100_000, 10_000, 3 * time.Second
	directories := t.TempDir()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(directories, kind)
			environ := slices.Concat(busy, []string{dataDir + dir})
			size, tidyUp := func() int64 { return sizeOf(t, filepath.Join(dir, "holdco.db")) }, func() {}
			if kind == "postgres" {
				url := postgrestest.URL(t)
				environ = append(environ, databaseURL+url)
				size, tidyUp = func() int64 { return databaseSize(t, url) }, func() { vacuum(t, url) }
			}
			say := func(what, format string, args ...any) {
				fmt.Printf("%-10s %-34s "+format+"\n", slices.Concat([]any{kind, what}, args)...)
			}
			server := startProcess(t, environ...)
			beside := &subject{url: server.url}
			for n := range 100 {
				beside.ids = append(beside.ids, makeOver(t, server.url, "/v1/companies", fmt.Sprintf(`{"name":"C","slug":"c-%d"}`, n)))
			}
			patch := func() float64 { return beside.rateOf(t, filers, time.Second, operations[3].request) }
			f := newFiling(t, server.url)

			var patches []float64
			for filed := 0; filed < issues; filed += few {
				f.file(t, few)
				patches = append(patches, patch())
				tidyUp() // as autovacuum does
			}
			final := len(f.rates) - 1
			first, last := f.took[:few], f.took[len(f.took)-few:]
			say("issues a second, of each 10,000", "%.0f", f.rates)
			say("patches of companies a second", "%.0f", patches)
			say("the first 10,000 issues", "%s; %.1f patches each", first, patches[0]/f.rates[0])
			say("the last 10,000 issues", "%s; %.1f patches each", last, patches[final]/f.rates[final])
			say("last to first", "median %.2f, p99 %.2f; in patches %.2f", last.ratio(first, 0.5), last.ratio(first, 0.99),
				patches[final]/f.rates[final]/(patches[0]/f.rates[0]))

			full := size()
			w := watch(t, server.url, 3*time.Second)
			say("writes of others, alone", "%s", w)
			stop := w.start(t, server.url)
			began := time.Now()
			unanswered := server.url + f.path
			go func() { _, _, _ = exchange(http.MethodDelete, unanswered, "") }()
			await(t, "the mark", func() bool { return statusOf(t, server.url+f.path) == "deleting" })
			say("marked", "after %s", time.Since(began).Round(time.Millisecond))
			time.Sleep(time.Until(began.Add(killed)))
			server.kill()
			stop()
			say("writes of others, until the kill", "%s", w)
			say("issues left then", "%d", issuesLeft(t, kind, environ, f.company))
			server = startProcess(t, environ...)
			stop = w.start(t, server.url)
			began = time.Now()
			status, _, err := exchange(http.MethodDelete, server.url+f.path, "")
			must(t, err)
			say("DELETE again", "%d after %s", status, time.Since(began).Round(time.Millisecond))
			await(t, "the deletion", func() bool { return statusOf(t, server.url+f.path) == "" })
			say("removed", "after %s before the kill and %s after the next start", killed, time.Since(began).Round(10*time.Millisecond))
			stop()
			say("writes of others, beside", "%s", w)
			tidyUp()
			tidyUp() // Postgres uses the pages of an index that were emptied a vacuum later
			removed := size()
			g := newFiling(t, server.url)
			g.file(t, few)
			tidyUp()
			say("size in MiB", "%d full, %d removed, %d with %d new issues", full>>20, removed>>20, size()>>20, few)
		})
	}
}

// filers is how many clients file issues at once.
const filers = 8

// filing is a company that gets issues.
type filing struct {
	url, company, path string
	agents, teams      []string

	took  span      // of each POST of an issue, in their order
	rates []float64 // a second, of issues, of each call of file
}

var nextSlug atomic.Int64

func newFiling(t *testing.T, url string) *filing {
	t.Helper()
	f := &filing{url: url}
	f.company = makeOver(t, url, "/v1/companies", named(fmt.Sprintf("many-%d", nextSlug.Add(1))))
	f.path = "/v1/companies/" + f.company
	for n := range 4 {
		team := makeOver(t, url, f.path+"/teams", fmt.Sprintf(`{"name":"Team %d","headcount":5}`, n))
		f.teams = append(f.teams, team)
		for range 5 {
			f.agents = append(f.agents, makeOver(t, url, f.path+"/agents", `{"name":"Agent","role":"Worker","teamId":"`+team+`"}`))
		}
	}
	return f
}

// makeOver makes something over the API and returns its id.
func makeOver(t *testing.T, url, path, body string) string {
	t.Helper()
	status, made, err := exchange(http.MethodPost, url+path, body)
	must(t, err)
	if status != http.StatusCreated {
		t.Fatalf("POST %s: %d", path, status)
	}
	return made.Data.ID
}

// file files issues over several connections at once.
func (f *filing) file(t *testing.T, count int) {
	t.Helper()
	began, of := time.Now(), len(f.took)
	f.took = append(f.took, make(span, count)...)
	var next atomic.Int64
	var working sync.WaitGroup
	for n := range filers {
		working.Go(func() {
			if err := f.client(f.took[of:], &next, rand.New(rand.NewPCG(uint64(of), uint64(n)))); err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	f.rates = append(f.rates, float64(count)/time.Since(began).Seconds())
}

func (f *filing) client(took span, next *atomic.Int64, random *rand.Rand) error {
	conn, err := dial(f.url)
	if err != nil {
		return err
	}
	defer conn.conn.Close()
	var roots, made []string
	for n := next.Add(1) - 1; n < int64(len(took)); n = next.Add(1) - 1 {
		body, isChild := f.issue(roots, made, random)
		began := time.Now()
		if err := conn.exchange(http.MethodPost, f.path+"/issues", body); err != nil {
			return fmt.Errorf("%w: %s", err, conn.answer.Bytes())
		}
		took[n] = time.Since(began)
		_, rest, _ := bytes.Cut(conn.answer.Bytes(), []byte(`"id":"`))
		which, _, _ := bytes.Cut(rest, []byte(`"`))
		if made = append(made, string(which)); !isChild {
			roots = append(roots, string(which))
		}
		if n%10 == 0 {
			path := f.path + "/issues/" + string(which) + "/comments"
			if err := conn.exchange(http.MethodPost, path, `{"body":"This is urgent."}`); err != nil {
				return err
			}
		}
	}
	return nil
}

// issue is a draft: of four issues one has a parent, of five one an agent and one a team, of eight one has blockers.
func (f *filing) issue(roots, made []string, random *rand.Rand) (body string, isChild bool) {
	draft := map[string]any{
		"title":       fmt.Sprint("Call number ", random.IntN(1_000_000)),
		"description": strings.Repeat("What there is to say about it. ", 1+random.IntN(10)),
		"priority":    []string{"low", "normal", "high", "urgent"}[random.IntN(4)],
		"labels":      []string{fmt.Sprint("label ", random.IntN(20)), fmt.Sprint("label ", 20+random.IntN(20))}[:random.IntN(3)],
	}
	switch random.IntN(5) {
	case 0:
		draft["assignedAgentId"] = f.agents[random.IntN(len(f.agents))]
	case 1:
		draft["assignedTeamId"] = f.teams[random.IntN(len(f.teams))]
	}
	if isChild = len(roots) > 0 && random.IntN(4) == 0; isChild {
		draft["parentId"] = roots[random.IntN(len(roots))]
	}
	if len(made) > 0 && random.IntN(8) == 0 {
		blockers := []string{made[random.IntN(len(made))], made[random.IntN(len(made))], made[random.IntN(len(made))]}[:1+random.IntN(3)]
		slices.Sort(blockers)
		draft["blockedBy"] = slices.Compact(blockers)
	}
	text, _ := json.Marshal(draft)
	return string(text), isChild
}

// span is how long requests took.
type span []time.Duration

func (s span) at(part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

func (s span) ratio(to span, part float64) float64 {
	return s.at(part).Seconds() / to.at(part).Seconds()
}

func (s span) String() string {
	return fmt.Sprintf("median %s, p99 %s, longest %s, of %d", s.at(0.5).Round(10*time.Microsecond),
		s.at(0.99).Round(10*time.Microsecond), s.at(1).Round(10*time.Microsecond), len(s))
}

// observed are writes of two clients to another company, one after the other each.
type observed struct {
	company string
	took    span
}

// watch makes a company and observes writes to it for a while.
func watch(t *testing.T, url string, while time.Duration) *observed {
	t.Helper()
	w := &observed{company: newFiling(t, url).company}
	stop := w.start(t, url)
	time.Sleep(while)
	stop()
	return w
}

func (w *observed) String() string { return w.took.String() }

// start begins to write, and forgets what was observed before. What fails because the server is killed does not count.
func (w *observed) start(t *testing.T, url string) (stop func()) {
	t.Helper()
	w.took = nil
	var done atomic.Bool
	var mutex sync.Mutex
	var writing sync.WaitGroup
	path := "/v1/companies/" + w.company
	for n := range 2 {
		conn, err := dial(url)
		must(t, err)
		writing.Go(func() {
			defer conn.conn.Close()
			for m := 0; !done.Load(); m++ {
				method, to, body := http.MethodPatch, path, fmt.Sprintf(`{"description":"%d"}`, m)
				if n == 1 {
					method, to, body = http.MethodPost, path+"/issues", `{"title":"Beside"}`
				}
				began := time.Now()
				if conn.exchange(method, to, body) != nil {
					return
				}
				mutex.Lock()
				w.took = append(w.took, time.Since(began))
				mutex.Unlock()
				time.Sleep(time.Millisecond)
			}
		})
	}
	return func() {
		done.Store(true)
		writing.Wait()
	}
}

// statusOf is the status of a company; empty: there is none.
func statusOf(t *testing.T, url string) string {
	t.Helper()
	_, got, err := exchange(http.MethodGet, url, "")
	must(t, err)
	return got.Data.Status
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	found, err := os.Stat(path)
	must(t, err)
	return found.Size()
}

func databaseSize(t *testing.T, url string) (size int64) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow("SELECT pg_database_size(current_database())").Scan(&size))
	return size
}

// issuesLeft is how many issues of a company are in the store of a server that does not run.
func issuesLeft(t *testing.T, kind string, environ []string, company string) (rows int) {
	t.Helper()
	driver, url := "pgx", strings.TrimPrefix(environ[len(environ)-1], databaseURL)
	if kind == "sqlite" {
		driver, url = "sqlite", "file:"+filepath.Join(strings.TrimPrefix(environ[len(environ)-1], dataDir), "holdco.db")
	}
	db, err := sql.Open(driver, url)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow("SELECT count(*) FROM issues WHERE company_id = '"+company+"'").Scan(&rows))
	return rows
}
