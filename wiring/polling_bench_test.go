//go:build bench

package wiring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

// TestBenchPolling has agents wait for work in an empty company, then files issues one at a time. It prints what the wait costs the
// server, and how long it takes until somebody has an issue.
func TestBenchPolling(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		polls(t, startProcess(t, dataDir+t.TempDir()))
	})
	t.Run("postgres, two servers", func(t *testing.T) {
		database, key := databaseURL+postgrestest.URL(t), "HOLDCO_KEY_FILE="+filepath.Join(t.TempDir(), "key")
		first := startProcess(t, database, key, dataDir+t.TempDir())
		polls(t, first, startProcess(t, database, key, dataDir+t.TempDir()))
	})
}

const pollers, watchedFor, offered = 1000, 30 * time.Second, 200

// polls lets agents wait at the last of some servers, and files issues at the first.
func polls(t *testing.T, servers ...*process) {
	files, waits := servers[0], servers[len(servers)-1]
	s := &instance{Client: resttest.New(t, files.url, string(rootToken)), url: files.url}
	acme := s.create(t, draft(t, ""))
	var tokens []string
	for range pollers / 100 {
		sales := s.found(t, acme, `{"name":"Team `+strconv.Itoa(len(tokens))+`","headcount":100}`)
		for range 100 {
			tokens = append(tokens, s.hire(t, sales, "").Token)
		}
	}
	time.Sleep(3 * time.Second)
	memory := resident(t, waits)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 0, MaxIdleConnsPerHost: pollers}}
	granted := make(chan string, offered)
	var agents sync.WaitGroup
	for _, token := range tokens {
		agents.Go(func() {
			for ctx.Err() == nil {
				if issue := poll(ctx, client, waits.gatewayURL, token); issue != "" {
					granted <- issue
				}
			}
		})
	}
	time.Sleep(5 * time.Second)
	began, used := time.Now(), waits.used(t)
	time.Sleep(watchedFor)
	share, more := (waits.used(t)-used).Seconds()/time.Since(began).Seconds(), resident(t, waits)-memory
	t.Logf("%d agents that wait use %.1f %% of a core, and %.1f MB more memory than the %.1f MB before: %.1f kB each",
		pollers, 100*share, float64(more)/1e6, float64(memory)/1e6, float64(more)/1e3/pollers)

	var took []time.Duration
	given := map[string]bool{}
	for range offered {
		filed := time.Now()
		s.file(t, acme, "")
		issue := <-granted
		took = append(took, time.Since(filed))
		if given[issue] {
			t.Errorf("the issue %s was given twice", issue)
		}
		given[issue] = true
		time.Sleep(20 * time.Millisecond)
	}
	slices.Sort(took)
	t.Logf("from its request on an issue is with an agent after %s (half of them), %s (99 of 100), %s (all)",
		took[offered/2], took[offered*99/100], took[offered-1])
	stop()
	agents.Wait()
	if len(granted) > 0 {
		t.Errorf("%d issues more were given than were filed", len(granted))
	}
}

// poll claims, and returns the id of the issue, or nothing.
func poll(ctx context.Context, client *http.Client, gateway, token string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, gateway+leases, strings.NewReader(`{"wait":30}`))
	if err != nil {
		return ""
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	var got struct{ Data apiLease }
	body, _ := io.ReadAll(answer.Body)
	_ = json.Unmarshal(body, &got) // an answer without content is none
	return got.Data.Issue.ID
}

// used is the processor time of a process.
func (p *process) used(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	must(t, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	user, err := strconv.Atoi(fields[11])
	must(t, err)
	system, err := strconv.Atoi(fields[12])
	must(t, err)
	return time.Duration(user+system) * time.Second / 100 // ticks of Linux
}
