//go:build bench

package wiring_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/id"
)

// charger is an agent with a lease, on which it reports what its work costs.
type charger struct {
	hand
	path, token string
	made        atomic.Int64
}

// chargers give each agent a lease.
func (c *crew) chargers(t *testing.T) []*charger {
	t.Helper()
	conn, err := dial(c.gateway)
	must(t, err)
	defer conn.conn.Close()
	var all []*charger
	for _, agent := range c.agents {
		path, token, err := agent.claim(conn)
		must(t, err)
		all = append(all, &charger{hand: agent, path: path, token: token})
	}
	return all
}

// charge reports charges in one call.
func (c *charger) charge(conn *connection, charges int) error {
	body := strings.Builder{}
	body.WriteString(c.token + `,"costs":[`)
	for n := range charges {
		if n > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"key":"%d","kind":"llm","model":"gpt-4o","tokens":{"input":20,"output":10}}`, c.made.Add(1))
	}
	body.WriteString(`]}`)
	conn.bearer = c.hand.token
	return conn.exchange(http.MethodPost, c.path+"/costs", body.String())
}

// charges keeps all chargers busy for one turn, and returns how many calls a second they made.
func (c *crew) charges(t *testing.T, all []*charger, charges int) float64 {
	t.Helper()
	var done atomic.Int64
	var busy sync.WaitGroup
	began := time.Now()
	for _, one := range all {
		busy.Go(func() {
			conn, err := dial(c.gateway)
			if err == nil {
				defer conn.conn.Close()
				for err == nil && time.Since(began) < turn {
					err = one.charge(conn, charges)
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

// Calls with one charge and with a hundred, in changes of companies that the same program makes in the same time.
func TestBenchCharges(t *testing.T) {
	directories := t.TempDir()
	fmt.Printf("%-10s %9s %9s %9s %9s %9s %18s %14s\n", "store", "companies", "patches/s", "one/s", "100/s", "32 at 1/s",
		"patches per charge", "100 to one")
	for _, c := range []struct {
		store     string
		companies int
	}{{"sqlite", 1}, {"postgres", 16}, {"postgres", 1}} {
		name := fmt.Sprintf("%s-%d", c.store, c.companies)
		t.Run(name, func(t *testing.T) {
			environ := []string{dataDir + filepath.Join(directories, name)}
			if c.store == "postgres" {
				environ = append(environ, databaseURL+postgrestest.URL(t))
			}
			agents := newCrew(t, 2*clients, c.companies, environ...)
			patched := &subject{url: agents.url}
			patched.fill(t)
			for _, of := range agents.ids {
				agents.file(t, id.Company(of), 100, nil)
			}
			all := agents.chargers(t)
			var sixteen []*charger // of all companies
			for n := 0; n < len(all); n += 2 {
				sixteen = append(sixteen, all[n])
			}
			var patches, one, hundred, crowd, ratios, larger [turns]float64
			for n := range turns {
				patches[n], one[n] = patched.rate(t, operations[3].request), agents.charges(t, sixteen, 1)
				hundred[n], crowd[n] = agents.charges(t, sixteen, 100), agents.charges(t, all, 1)
				ratios[n], larger[n] = patches[n]/one[n], one[n]/hundred[n]
			}
			for _, figures := range [][]float64{patches[:], one[:], hundred[:], crowd[:], ratios[:], larger[:]} {
				slices.Sort(figures)
			}
			const middle = turns / 2
			fmt.Printf("%-10s %9d %9.0f %9.0f %9.0f %9.0f %18.1f %14.1f\n", c.store, c.companies, patches[middle], one[middle],
				hundred[middle], crowd[middle], ratios[middle], larger[middle])
		})
	}
}
