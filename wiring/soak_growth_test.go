//go:build soak

package wiring_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// soakGrowth is what was measured while nobody was killed.
type soakGrowth struct {
	mutex    sync.Mutex
	requests []soakRequest // in all parts of the soak
	servers  [][]soakSample
	rows     []soakRow
	rests    []soakRest
}

// soakRequest is an answer that a client got, and how long it took.
type soakRequest struct {
	at   time.Time
	took time.Duration
}

// soakSample is what a process held at an instant.
type soakSample struct {
	at                                time.Time
	memory, heap, goroutines, handles float64
	wal, logged                       float64
}

// A soakBound says how much more than in the middle third something may be in the last one: a share of it, and on top of that an
// amount, for what is small varies much. The machine may have others who use it, so answers may take much longer.
type soakBound struct{ share, amount float64 }

var soakBounds = map[string]soakBound{
	"memory, MiB":             {0.15, 12},
	"live and dead heap, MiB": {0.25, 12},
	"goroutines":              {0.15, 25},
	"handles":                 {0.10, 15},
	"write-ahead log, MiB":    {0.50, 16},
	"log, KiB a minute":       {0.30, 100},
	"half of the answers, ms": {0.75, 20},
	"99 of 100 answers, ms":   {2.00, 1000},
	"goroutines at rest":      {0, 15},
	"handles at rest":         {0, 45}, // the connections to the store stay open for a while
}

// soakRow is a line of the table: the medians of three thirds, or for answers what so many of them took at most.
type soakRow struct {
	of, what string
	thirds   [3]float64
}

// allowed is how much it may be in the last third.
func (r soakRow) allowed() float64 {
	b, isBounded := soakBounds[r.what]
	if !isBounded { // it tells whether the others can be compared
		return math.Inf(1)
	}
	return r.thirds[1]*(1+b.share) + b.amount
}

// soakRest is what a server held when all clients had gone, and after it was started again.
type soakRest struct {
	of, what   string
	was, fresh float64
}

// answered notes how long an answer took. Those that wait for something are left out.
func (g *soakGrowth) answered(what string, took time.Duration) {
	if slices.Contains([]string{"claim", "wait"}, what) {
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.requests = append(g.requests, soakRequest{time.Now(), took})
}

// sample measures until the soak is over.
func (g *soakGrowth) sample(s *soak) {
	g.servers = make([][]soakSample, len(s.servers))
	for said := time.Now(); !s.isOver(); s.pause(soakSamples) {
		for n := range s.servers {
			if one, err := s.measure(n); err == nil {
				g.servers[n] = append(g.servers[n], one)
			} else if !s.isOver() {
				s.fault("a server is not to be measured: %v", err)
			}
		}
		if time.Since(said) > time.Minute {
			said = time.Now()
			s.say("nobody is killed")
		}
	}
}

const mebibyte = 1 << 20

// measure looks at the process of a server.
func (s *soak) measure(n int) (soakSample, error) {
	p := s.servers[n].Load()
	got := soakSample{at: time.Now(), logged: float64(s.sizeOf(s.logOf(n)))}
	if s.cluster == nil {
		got.wal = float64(s.sizeOf(filepath.Join(strings.TrimPrefix(s.environ[0], dataDir), "holdco.db-wal"))) / mebibyte
	}
	figures, err := figuresAt(p.url)
	if err != nil {
		return got, err
	}
	got.goroutines = figures["go_goroutines"]
	got.heap = figures["go_memstats_heap_inuse_bytes"] / mebibyte
	process := fmt.Sprintf("/proc/%d/", p.Process.Pid)
	open, err := os.ReadDir(process + "fd")
	if err != nil {
		return got, err
	}
	got.handles = float64(len(open))
	status, err := os.ReadFile(process + "status")
	if err != nil {
		return got, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			got.memory = kib / 1024
			return got, err
		}
	}
	return got, fmt.Errorf("%sstatus names no memory", process)
}

// sizeOf is the size of a file, 0 if there is none.
func (s *soak) sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// compare makes the table, and finds what is more in the last third than it may be. A calm of less than 3 minutes is not compared: a
// process that has just begun grows.
func (g *soakGrowth) compare(s *soak) {
	third := s.until.Sub(s.steady) / 3
	which := func(at time.Time) int { return min(2, int(at.Sub(s.steady)/third)) }
	of := func(n int, value func(one soakSample) float64) (medians [3]float64) {
		var values [3][]float64
		for _, one := range g.servers[n] {
			values[which(one.at)] = append(values[which(one.at)], value(one))
		}
		for k := range values {
			medians[k] = at(values[k], 0.5)
		}
		return medians
	}
	for n := range g.servers {
		name := fmt.Sprintf("server %d", n+1)
		g.rows = append(g.rows,
			soakRow{name, "memory, MiB", of(n, func(one soakSample) float64 { return one.memory })},
			soakRow{name, "live and dead heap, MiB", of(n, func(one soakSample) float64 { return one.heap })},
			soakRow{name, "goroutines", of(n, func(one soakSample) float64 { return one.goroutines })},
			soakRow{name, "handles", of(n, func(one soakSample) float64 { return one.handles })})
		if s.cluster == nil {
			g.rows = append(g.rows, soakRow{name, "write-ahead log, MiB", of(n, func(one soakSample) float64 { return one.wal })})
		}
		var logged [3]float64
		for k := range logged {
			var first, last soakSample
			for _, one := range g.servers[n] {
				if which(one.at) == k {
					if first.at.IsZero() {
						first = one
					}
					last = one
				}
			}
			if passed := last.at.Sub(first.at); passed > 0 {
				logged[k] = (last.logged - first.logged) / 1024 / passed.Minutes()
			}
		}
		g.rows = append(g.rows, soakRow{name, "log, KiB a minute", logged})
	}
	var took [3][]float64
	for _, one := range g.requests {
		if one.at.After(s.steady) && one.at.Before(s.until) {
			took[which(one.at)] = append(took[which(one.at)], float64(one.took.Microseconds())/1000)
		}
	}
	var half, most, rate [3]float64
	for k := range took {
		half[k], most[k], rate[k] = at(took[k], 0.5), at(took[k], 0.99), float64(len(took[k]))/third.Seconds()
	}
	g.rows = append(g.rows, soakRow{"clients", "half of the answers, ms", half}, soakRow{"clients", "99 of 100 answers, ms", most},
		soakRow{"clients", "requests a second", rate})
	const least = 3 * time.Minute
	for _, row := range g.rows {
		if s.until.Sub(s.steady) >= least && row.thirds[2] > row.allowed() {
			s.fault("%s: %s grew from %.1f to %.1f; allowed is %.1f", row.of, row.what, row.thirds[1], row.thirds[2], row.allowed())
		}
	}
	for _, one := range g.rests {
		if b := soakBounds[one.what]; one.was > one.fresh+b.amount {
			s.fault("%s has %.0f %s; after a start it has %.0f", one.of, one.was, one.what, one.fresh)
		}
	}
}

// at is the value below which a share of all are; 0 if there are none.
func at(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[int(math.Round(share*float64(len(values)-1)))]
}

// rest measures the servers that nobody asks for anything any more, and then again after they were stopped and started.
func (s *soak) rest(t *testing.T) {
	t.Helper()
	s.http.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	s.receiver.CloseClientConnections()
	least := func(n int) (least soakSample) {
		for range 10 {
			time.Sleep(time.Second)
			one, err := s.measure(n)
			must(t, err)
			if least.at.IsZero() {
				least = one
			}
			least.goroutines, least.handles = min(least.goroutines, one.goroutines), min(least.handles, one.handles)
		}
		return least
	}
	for n := range s.servers {
		was := least(n)
		s.terminate(n)
		s.start(t, n)
		fresh, name := least(n), fmt.Sprintf("server %d", n+1)
		s.calm.rests = append(s.calm.rests, soakRest{name, "goroutines at rest", was.goroutines, fresh.goroutines},
			soakRest{name, "handles at rest", was.handles, fresh.handles})
	}
}

// print prints the table.
func (g *soakGrowth) print() {
	fmt.Printf("\nWithout kills, by thirds of the time; more than allowed in the last one is a fault:\n\n")
	fmt.Printf("  %-9s %-26s %10s %10s %10s %10s\n", "", "", "first", "middle", "last", "allowed")
	for _, row := range g.rows {
		allowed := "-"
		if limit := row.allowed(); !math.IsInf(limit, 1) {
			allowed = fmt.Sprintf("%.1f", limit)
		}
		fmt.Printf("  %-9s %-26s %10.1f %10.1f %10.1f %10s\n", row.of, row.what, row.thirds[0], row.thirds[1], row.thirds[2], allowed)
	}
	fmt.Printf("\n  %-9s %-26s %10s %10s %10s\n", "", "", "was", "restarted", "allowed")
	for _, one := range g.rests {
		fmt.Printf("  %-9s %-26s %10.0f %10.0f %10.0f\n", one.of, one.what, one.was, one.fresh, one.fresh+soakBounds[one.what].amount)
	}
}
