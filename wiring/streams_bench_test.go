//go:build bench

package wiring_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
)

// TestBenchStreams has readers follow what happens in a company, while issues are filed at a steady pace. It prints what the streams
// cost the server, which is what the same writes cost without them less, and how long it takes until an entry is with its readers.
func TestBenchStreams(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		s := startProcess(t, dataDir+t.TempDir(), "HOLDCO_SQLITE_SYNC=normal")
		streams(t, s, s)
	})
	t.Run("postgres", func(t *testing.T) {
		s := startProcess(t, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t))
		streams(t, s, s)
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		database, key := databaseURL+postgrestest.URL(t), "HOLDCO_KEY_FILE="+filepath.Join(t.TempDir(), "key")
		writes := startProcess(t, database, key, dataDir+t.TempDir())
		streams(t, writes, startProcess(t, database, key, dataDir+t.TempDir()))
	})
}

// There are so many readers, and so many issues a second. Of the readers some take the time.
const streamReaders, issuesPerSecond, timedReaders, streamedFor = 500, 100, 10, 20 * time.Second

// streams files issues at one server, and follows them at another, which can be the same.
func streams(t *testing.T, writes, reads *process) {
	f := newFiling(t, writes.url)
	pace := &pace{path: f.path + "/issues", url: writes.url}
	cost := func() float64 {
		used, began := reads.used(t), time.Now()
		pace.file(t, streamedFor)
		return (reads.used(t) - used).Seconds() / time.Since(began).Seconds()
	}
	pace.file(t, 3*time.Second) // until all is warm
	alone, memory := cost(), resident(t, reads)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	var begun, came atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streamReaders}}
	for n := range streamReaders {
		all.Go(func() {
			request, _ := http.NewRequestWithContext(ctx, http.MethodGet, reads.url+f.path+"/activity/stream", nil)
			request.Header.Set("Authorization", "Bearer "+string(rootToken))
			answer, err := client.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			var note func(title int)
			if n < timedReaders {
				note = pace.note
			}
			came.Add(countEntries(answer.Body, &begun, note))
		})
	}
	await(t, "all streams", func() bool { return begun.Load() == streamReaders })
	filed := pace.next.Load()
	pace.took = nil
	beside := cost()
	time.Sleep(time.Second)
	more := resident(t, reads) - memory
	stop()
	all.Wait()
	if want := (pace.next.Load() - filed) * streamReaders; came.Load() != want {
		t.Errorf("%d entries came, not %d", came.Load(), want)
	}
	t.Logf("%.0f issues a second cost %.1f %% of a core, with %d streams %.1f %%: the streams cost %.1f %%, and %.1f MB of memory",
		pace.rate, 100*alone, streamReaders, 100*beside, 100*(beside-alone), float64(more)/1e6)
	t.Logf("from the request on, an entry is with a reader: %s", pace.took)
}

// countEntries reads a stream until it ends, and counts its entries.
func countEntries(from io.Reader, begun *atomic.Int64, note func(title int)) (count int64) {
	lines := bufio.NewReader(from)
	for isFirst := true; ; isFirst = false {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return count
		}
		if isFirst {
			begun.Add(1)
		}
		if !bytes.HasPrefix(line, []byte("data: ")) {
			continue
		}
		count++
		if note == nil {
			continue
		}
		_, rest, _ := bytes.Cut(line, []byte(`"title":"`))
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		if title, err := strconv.Atoi(string(text)); err == nil {
			note(title)
		}
	}
}

// pace files issues at a steady pace, each with its number as its title.
type pace struct {
	path, url string
	next      atomic.Int64
	rate      float64 // a second, the last time

	mutex sync.Mutex
	sent  []time.Time // by title
	took  span        // until an issue was with a reader
}

func (p *pace) note(title int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.took = append(p.took, time.Since(p.sent[title]))
}

func (p *pace) file(t *testing.T, while time.Duration) {
	t.Helper()
	began, first := time.Now(), p.next.Load()
	var working sync.WaitGroup
	for n := range 4 {
		working.Go(func() {
			conn, err := dial(p.url)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.conn.Close()
			for m := 0; ; m++ {
				due := began.Add(time.Duration(4*m+n) * time.Second / issuesPerSecond)
				if due.Sub(began) >= while {
					return
				}
				time.Sleep(time.Until(due))
				p.mutex.Lock()
				title := len(p.sent)
				p.sent = append(p.sent, time.Now())
				p.mutex.Unlock()
				p.next.Add(1)
				if err := conn.exchange(http.MethodPost, p.path, fmt.Sprintf(`{"title":"%d"}`, title)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
	p.rate = float64(p.next.Load()-first) / time.Since(began).Seconds()
}
