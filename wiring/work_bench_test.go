//go:build bench

package wiring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/system"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/store"
	"holdco/wiring"
)

// crew is agents at work, in one company or in several.
type crew struct {
	*subject
	server  *wiring.Server
	gateway string
	agents  []hand
}

// hand is one agent.
type hand struct{ token, company, team string }

func newCrew(t *testing.T, agents, companies int, environ ...string) *crew {
	t.Helper()
	server := assemble(t, append(environ, "HOLDCO_RATE_GATEWAY=off")...)
	gateway := httptest.NewServer(server.Gateway)
	t.Cleanup(gateway.Close)
	c := &crew{subject: &subject{url: serveHoldco(t, server)}, server: server, gateway: gateway.URL}
	for n := range companies {
		made := c.make(t, "/v1/companies", fmt.Sprintf(`{"name":"Company","slug":"work-%d","budget":{"usd":1000000}}`, n))
		c.ids = append(c.ids, made.ID)
		team := c.make(t, "/v1/companies/"+made.ID+"/teams", fmt.Sprintf(`{"name":"Team","headcount":%d}`, agents/companies))
		for range agents / companies {
			hired := c.make(t, "/v1/companies/"+made.ID+"/agents", `{"name":"Agent","role":"Worker","teamId":"`+team.ID+`"}`)
			c.agents = append(c.agents, hand{hired.Token, made.ID, team.ID})
		}
	}
	return c
}

type madeOf struct{ ID, Token string }

// make makes something over the API.
func (c *crew) make(t *testing.T, path, body string) (made madeOf) {
	t.Helper()
	conn, err := dial(c.url)
	must(t, err)
	defer conn.conn.Close()
	must(t, conn.exchange(http.MethodPost, path, body))
	var answer struct{ Data madeOf }
	must(t, json.Unmarshal(conn.answer.Bytes(), &answer))
	return answer.Data
}

// file adds issues to a company, many in each unit of work.
func (c *crew) file(t *testing.T, of id.Company, count int, alter func(n int, i *issue.Issue)) {
	t.Helper()
	ids := system.IDs{}
	for done := 0; done < count; done += 100 {
		must(t, c.server.Store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			if err := tx.Turn(ctx, of); err != nil {
				return err
			}
			for n := done; n < min(count, done+100); n++ {
				made, err := issue.New(id.New[id.Issue](ids.UUIDv7()), of, issue.Draft{
					Title: new("Task"), Settings: issue.Settings{RequiresReview: new(false)},
				}, "token:tok_1", nil, tx.Now())
				if err != nil {
					return err
				}
				if made.Number, err = tx.Issues().NextNumber(ctx, of); err != nil {
					return err
				}
				if alter != nil {
					alter(n, &made)
				}
				if err := tx.Issues().Add(ctx, made); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// statusWithoutLease is one state after the other, but for the one that needs a lease.
func statusWithoutLease(n int) issue.Status {
	if status := issue.Statuses[n%len(issue.Statuses)]; status != issue.Running {
		return status
	}
	return issue.Queued
}

// lease is what a claim answered.
type lease struct {
	Data struct {
		LeaseID      string
		FencingToken int64
	}
}

func (w hand) claim(c *connection) (path, token string, err error) {
	c.bearer = w.token
	if err := c.exchange(http.MethodPost, "/gateway/v1/leases", "{}"); err != nil {
		return "", "", err
	}
	var got lease
	if err := json.Unmarshal(c.answer.Bytes(), &got); err != nil {
		return "", "", fmt.Errorf("there was nothing to claim: %w", err)
	}
	return "/gateway/v1/leases/" + got.Data.LeaseID, fmt.Sprintf(`{"fencingToken":%d`, got.Data.FencingToken), nil
}

// cycle claims an issue, makes a checkpoint, reports a cost, and completes the issue.
func (w hand) cycle(c *connection) error {
	path, token, err := w.claim(c)
	if err != nil {
		return err
	}
	for _, call := range []struct{ action, more string }{
		{"checkpoint", `,"note":"Half of it."}`}, {"costs", `,"costs":[{"key":"1","kind":"llm","usd":0.01}]}`},
		{"complete", `,"result":{"done":true}}`},
	} {
		if err := c.exchange(http.MethodPost, path+"/"+call.action, token+call.more); err != nil {
			return err
		}
	}
	return nil
}

// cycles keeps all agents busy for one turn, and returns how many cycles a second they made.
func (c *crew) cycles(t *testing.T) float64 {
	t.Helper()
	var done atomic.Int64
	var busy sync.WaitGroup
	began := time.Now()
	for _, agent := range c.agents {
		busy.Go(func() {
			conn, err := dial(c.gateway)
			if err == nil {
				defer conn.conn.Close()
				for err == nil && time.Since(began) < turn {
					err = agent.cycle(conn)
					done.Add(1)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	busy.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// A cycle in changes of companies that the same program makes in the same time.
func TestBenchWork(t *testing.T) {
	directories := t.TempDir()
	fmt.Printf("%-10s %10s %10s %10s %20s\n", "store", "companies", "patches/s", "cycles/s", "patches per cycle")
	for _, c := range []struct {
		store     string
		companies int
	}{{"sqlite", 1}, {"postgres", 16}, {"postgres", 1}} {
		name := fmt.Sprintf("%s-%d", c.store, c.companies)
		t.Run(name, func(t *testing.T) {
			environ := []string{dataDir + filepath.Join(directories, name)}
			tidyUp := func() {}
			if c.store == "postgres" {
				url := postgrestest.URL(t)
				environ, tidyUp = append(environ, databaseURL+url), func() { vacuum(t, url) }
			}
			agents := newCrew(t, clients, c.companies, environ...)
			patched := &subject{url: agents.url}
			patched.fill(t)
			for _, of := range agents.ids {
				agents.file(t, id.Company(of), 8000/c.companies, nil)
			}
			tidyUp()
			var patches, cycles, ratios [turns]float64
			for n := range turns {
				patches[n], cycles[n] = patched.rate(t, operations[3].request), agents.cycles(t)
				ratios[n] = patches[n] / cycles[n]
			}
			for _, figures := range [][]float64{patches[:], cycles[:], ratios[:]} {
				slices.Sort(figures)
			}
			fmt.Printf("%-10s %10d %10.0f %10.0f %20.1f\n", c.store, c.companies, patches[turns/2], cycles[turns/2], ratios[turns/2])
		})
	}
}

// Claims and lists with many issues, as multiples of their time with few.
func TestBenchManyIssues(t *testing.T) {
	const few, many = 100, 200_000
	eachBenchStore(t, func(t *testing.T, s benchStore) {
		agents := newCrew(t, 2, 2, s.environ...)
		for n, count := range []int{few, many} {
			agents.file(t, id.Company(agents.agents[n].company), count, func(n int, i *issue.Issue) {
				i.Status = statusWithoutLease(n)
				i.Labels, i.Priority = []string{fmt.Sprint("label ", n%10)}, []issue.Priority{issue.Low, issue.Normal, issue.High}[n%3]
			})
		}
		s.tidyUp()
		printGrowthOf(few, many)
		ratio := func(name string, took func(n int) time.Duration) {
			var of growth
			for range 300 {
				for n := range of {
					of[n] = append(of[n], took(n))
				}
			}
			of.print(s.kind, name)
		}
		var gateway, api [2]*connection
		for n := range gateway {
			var err error
			gateway[n], err = dial(agents.gateway)
			must(t, err)
			api[n], err = dial(agents.url)
			must(t, err)
			defer gateway[n].conn.Close()
			defer api[n].conn.Close()
		}
		ratio("claim", func(n int) time.Duration {
			began := time.Now()
			path, token, err := agents.agents[n].claim(gateway[n])
			took := time.Since(began)
			must(t, err)
			must(t, gateway[n].exchange(http.MethodPost, path+"/release", token+"}"))
			return took
		})
		for _, query := range []string{
			"", "?status=review", "?status=queued,done", "?label=label%203", "?priority=high", "?parent=null",
			"?sort=updated", "?sort=priority", "?sort=due", "?since=2020-01-01T00:00:00Z", "?until=2036-01-01T00:00:00Z",
		} {
			ratio("list "+query, func(n int) time.Duration {
				began := time.Now()
				must(t, api[n].exchange(http.MethodGet, "/v1/companies/"+agents.agents[n].company+"/issues"+query, ""))
				return time.Since(began)
			})
		}
		ratio("counts", func(n int) time.Duration {
			began := time.Now()
			must(t, api[n].exchange(http.MethodGet, "/v1/companies/"+agents.agents[n].company+"/issues/counts", ""))
			return time.Since(began)
		})
	})
}
