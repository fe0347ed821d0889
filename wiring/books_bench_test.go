//go:build bench

package wiring_test

import (
	"bufio"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"holdco/adapters/system"
	"holdco/app/work"
	"holdco/domain/budget"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/ports/store"
	"holdco/wiring"
)

// books are what a company has paid for: entries by agents in teams, spread over the days before now.
type books struct {
	server  *wiring.Server
	company id.Company
	teams   []id.Team
	agents  []id.Agent
	drawn   *rand.Rand
}

var bookEntries = flag.Int("books", 1_000_000, "how many cost entries there are at the larger company of TestBenchBooks")

const (
	bookDays      = 90
	bookTeams     = 20
	bookAgents    = 1000
	chargesPerRun = 20
)

var bookModels = []string{"claude-opus", "claude-sonnet", "claude-haiku", "gpt-large", "gpt-small"}

// keep makes entries, an hour at a time, as charges make them.
func (b *books) keep(t *testing.T, entries int) {
	t.Helper()
	ids, hours := system.IDs{}, bookDays*24
	begin := time.Now().UTC().Truncate(time.Hour).Add(-time.Duration(hours-1) * time.Hour)
	type working struct {
		run   id.Run
		issue id.Issue
		left  int
	}
	at := make([]working, len(b.agents))
	for hour := range hours {
		start, span := begin.Add(time.Duration(hour)*time.Hour), time.Hour
		if hour == hours-1 {
			span = time.Since(start)
		}
		added := make([]cost.Entry, entries*(hour+1)/hours-entries*hour/hours)
		for n := range added {
			who := b.drawn.IntN(len(b.agents))
			its := &at[who]
			if its.left == 0 {
				*its = working{id.New[id.Run](ids.UUIDv7()), id.New[id.Issue](ids.UUIDv7()), chargesPerRun}
			}
			its.left--
			added[n] = cost.Entry{
				ID: id.New[id.Cost](ids.UUIDv7()), Company: b.company, Issue: its.issue, Run: its.run, Agent: b.agents[who],
				Team: b.teams[who%len(b.teams)], Key: fmt.Sprintf("call-%d", its.left),
				Kind: cost.LLM, USD: money.USD(b.drawn.IntN(100_000)), Model: bookModels[who/len(b.teams)%len(bookModels)],
				Tokens: cost.Tokens{Input: b.drawn.Int64N(10_000), Output: b.drawn.Int64N(1000), CacheRead: b.drawn.Int64N(50_000)},
				Calls:  1, Revision: 1, At: start.Add(time.Duration(b.drawn.Int64N(int64(span)))).Truncate(time.Millisecond),
			}
		}
		must(t, b.server.Store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			if err := tx.Turn(ctx, b.company); err != nil {
				return err
			}
			return tx.Runs().AddCharges(ctx, added)
		}))
	}
}

// count keeps the accounts of the company and its teams, as the first charges would have.
func (b *books) count(t *testing.T) {
	t.Helper()
	must(t, b.server.Store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if err := tx.Turn(ctx, b.company); err != nil {
			return err
		}
		c, err := tx.Companies().Get(ctx, b.company)
		if err != nil {
			return err
		}
		ids := []string{string(b.company)}
		for _, team := range b.teams {
			ids = append(ids, string(team))
		}
		kept, err := tx.Envelopes().Accounts(ctx, b.company, ids...)
		if err != nil {
			return err
		}
		all := budget.Envelopes{work.CompanyEnvelope(c, kept[string(b.company)])}
		for _, team := range b.teams {
			all = append(all, work.TeamEnvelope(c, kept[string(team)]))
		}
		if err := work.Current(ctx, tx.Envelopes(), all, time.Now()); err != nil {
			return err
		}
		accounts := make([]budget.Account, len(all))
		for n, e := range all {
			accounts[n] = e.Account
		}
		return tx.Envelopes().Save(ctx, accounts)
	}))
}

// What it takes to read the costs of a company with a million entries, or more, as multiples of one with ten thousand; how fast they are
// exported; and how much room the sums take.
func TestBenchBooks(t *testing.T) {
	const few = 10_000
	eachBenchStore(t, func(t *testing.T, s benchStore) {
		server := assemble(t, s.environ...)
		c := &crew{subject: &subject{url: serveHoldco(t, server)}, server: server}
		var all [2]*books
		for n, entries := range []int{few, *bookEntries} {
			b := &books{server: server, drawn: rand.New(rand.NewPCG(uint64(n), 0))}
			founded := c.make(t, "/v1/companies", fmt.Sprintf(`{"name":"Books","slug":"books-%d","budget":{"usd":100000000}}`, n))
			b.company = id.Company(founded.ID)
			path := "/v1/companies/" + string(b.company)
			for range bookTeams {
				team := c.make(t, path+"/teams", fmt.Sprintf(`{"name":"Team %d","headcount":%d,"budget":{"usd":1000}}`,
					len(b.teams), bookAgents))
				b.teams = append(b.teams, id.Team(team.ID))
			}
			for n := range bookAgents {
				hired := c.make(t, path+"/agents", fmt.Sprintf(`{"name":"Agent","role":"Worker","teamId":%q}`, b.teams[n%bookTeams]))
				b.agents = append(b.agents, id.Agent(hired.ID))
			}
			began := time.Now()
			b.keep(t, entries)
			fmt.Printf("%-10s made %d entries in %s\n", s.kind, entries, time.Since(began).Round(time.Second))
			b.count(t)
			all[n] = b
		}
		s.tidyUp()
		printGrowthOf(few, *bookEntries)
		for _, query := range []string{
			"/costs", "/budgets", "/costs/forecast", "/costs?since=30d", "/costs?since=last_quarter", "/costs?since=24h",
			"/costs/teams/TEAM", "/costs/agents/AGENT", "/costs/entries",
		} {
			compareBooks(t, c, all, s.kind, query)
		}
		exportBooks(t, c, all[1], s.kind)
		weighBooks(t, s.kind, s.driver, s.address, few+int64(*bookEntries))
	})
}

// compareBooks prints how long a request takes with few entries and with many.
func compareBooks(t *testing.T, c *crew, all [2]*books, kind, query string) {
	t.Helper()
	const repeats = 60
	conn, err := dial(c.url)
	must(t, err)
	defer conn.conn.Close()
	var took growth
	for range repeats {
		for n, b := range all {
			path := strings.NewReplacer("TEAM", string(b.teams[0]), "AGENT", string(b.agents[0])).Replace(query)
			began := time.Now()
			must(t, conn.exchange(http.MethodGet, "/v1/companies/"+string(b.company)+path, ""))
			took[n] = append(took[n], time.Since(began))
		}
	}
	took.print(kind, query)
}

// exportBooks reads all entries, and prints how fast, and what this process holds in the meantime.
func exportBooks(t *testing.T, c *crew, b *books, kind string) {
	t.Helper()
	for _, format := range []string{"jsonl", "csv"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			c.url+"/v1/companies/"+string(b.company)+"/costs/export?format="+format, http.NoBody)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+string(rootToken))
		request.Header.Set("Accept-Encoding", "identity") // as curl does
		began := time.Now()
		answer, err := http.DefaultClient.Do(request)
		must(t, err)
		lines, held := 0, []string{}
		in := bufio.NewReaderSize(answer.Body, 1<<20)
		for {
			_, err := in.ReadSlice('\n')
			if err == io.EOF {
				break
			}
			must(t, err)
			if lines++; lines%(*bookEntries/5) == 0 {
				held = append(held, fmt.Sprint(heldBy(t, os.Getpid(), "VmRSS")>>20))
			}
		}
		must(t, answer.Body.Close())
		took := time.Since(began)
		fmt.Printf("%-10s exported %d lines of %s in %s: %.0f a second; this process held %s MiB meanwhile\n", kind, lines, format,
			took.Round(time.Millisecond), float64(lines)/took.Seconds(), strings.Join(held, ", "))
	}
}

// weighBooks prints how much room entries and sums take, with their indexes.
func weighBooks(t *testing.T, kind, driver, address string, entries int64) {
	t.Helper()
	db, err := sql.Open(driver, address)
	must(t, err)
	defer db.Close()
	var entryBytes, sumBytes int64
	for _, table := range []string{"cost_entries", "cost_hours", "cost_days", "cost_months", "cost_totals"} {
		query := "SELECT pg_total_relation_size($1), (SELECT count(*) FROM " + table + ")"
		if driver == "sqlite" {
			query = "SELECT sum(pgsize), (SELECT count(*) FROM " + table +
				") FROM dbstat WHERE aggregate = TRUE AND name IN (SELECT name FROM sqlite_master WHERE tbl_name = $1)"
		}
		var bytes, rows int64
		must(t, db.QueryRow(query, table).Scan(&bytes, &rows))
		fmt.Printf("%-10s %-12s %9d rows: %6.1f bytes for each entry\n", kind, table, rows, float64(bytes)/float64(entries))
		if table == "cost_entries" {
			entryBytes = bytes
		} else {
			sumBytes += bytes
		}
	}
	fmt.Printf("%-10s sums take %.3f of what the entries take\n", kind, float64(sumBytes)/float64(entryBytes))
}
