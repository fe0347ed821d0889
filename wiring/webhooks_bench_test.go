//go:build bench

package wiring_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
)

// How fast webhooks are sent to a receiver of its own process, and what that costs the requests beside it. Holdco is a
// process too: on a machine of few processors the three share them.
func TestBenchWebhooks(t *testing.T) {
	eachSendingProcess := func(measure func(t *testing.T, store string, start func() *process)) {
		t.Run("sqlite", func(t *testing.T) {
			measure(t, "sqlite", func() *process { return startProcess(t, allowPrivate, dataDir+t.TempDir()) })
		})
		t.Run("postgres", func(t *testing.T) {
			measure(t, "postgres", func() *process {
				return startProcess(t, allowPrivate, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t))
			})
		})
	}
	fmt.Printf("%-10s %-14s %12s\n", "store", "receiver", "messages/s")
	eachSendingProcess(func(t *testing.T, store string, start func() *process) {
		for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
			server, to := start(), startReceiver(t, delay)
			fmt.Printf("%-10s %-14s %12.0f\n", store, "after "+delay.String(), drainRate(t, server, to))
			server.kill()
		}
	})
	fmt.Printf("%-10s %12s %14s %7s %12s\n", "store", "patches/s", "with webhooks", "ratio", "messages/s")
	eachSendingProcess(func(t *testing.T, store string, start func() *process) {
		server := start()
		patchesBeside(t, store, server, startReceiver(t, 0))
		server.kill()
	})
}

var patch = operations[3].request

// drainRate is how many messages a second are sent of a backlog of changes of a thousand companies.
func drainRate(t *testing.T, server *process, to *receiverProcess) float64 {
	t.Helper()
	s := &subject{url: server.url}
	s.fill(t)
	to.shut(t)
	hook(t, server, to)
	const changes = 6000
	var done atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			c, err := dial(s.url)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.conn.Close()
			for done.Add(1) <= changes {
				if err := c.exchange(patch(s, s.number.Add(1))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	began := time.Now()
	to.open(t)
	for to.count(t) < changes {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d of %d messages came within a minute", to.count(t), changes)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return changes / time.Since(began).Seconds()
}

// patchesBeside prints how many patches a second there are without webhooks, and while each patch is sent.
func patchesBeside(t *testing.T, store string, server *process, to *receiverProcess) {
	t.Helper()
	const turns = 5
	s := &subject{url: server.url}
	s.fill(t)
	path := "/v1/webhooks/" + hook(t, server, to)
	enable := func(enabled bool) {
		status, _, err := exchange(http.MethodPatch, server.url+path, fmt.Sprintf(`{"enabled":%v}`, enabled))
		if err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	var without, with, messages float64
	for range turns {
		enable(false)
		without += s.rate(t, patch) / turns
		enable(true)
		before, began := to.count(t), time.Now()
		with += s.rate(t, patch) / turns
		messages += float64(to.count(t)-before) / time.Since(began).Seconds() / turns
		time.Sleep(time.Second) // what is left is sent
	}
	fmt.Printf("%-10s %12.0f %14.0f %7.2f %12.0f\n", store, without, with, with/without, messages)
}

func hook(t *testing.T, server *process, to *receiverProcess) string {
	t.Helper()
	status, made, err := exchange(http.MethodPost, server.url+"/v1/webhooks", `{"url":"`+to.url+`"}`)
	if err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	return made.Data.ID
}

// receiverProcess is a receiver of webhooks as a process of its own.
type receiverProcess struct{ url string }

func init() { commands["receiver"] = receive }

// receive counts what is posted to it, and answers after a delay, but only while it is open.
func receive() {
	delay, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	var count atomic.Int64
	var gate sync.RWMutex
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		gate.RLock()
		defer gate.RUnlock()
		time.Sleep(delay)
		count.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("PUT /shut", func(http.ResponseWriter, *http.Request) { gate.Lock() })
	mux.HandleFunc("PUT /open", func(http.ResponseWriter, *http.Request) { gate.Unlock() })
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, count.Load()) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	panic(http.Serve(listener, mux))
}

func startReceiver(t *testing.T, delay time.Duration) *receiverProcess {
	t.Helper()
	command := exec.Command("receiver", delay.String())
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	return &receiverProcess{url: strings.TrimSpace(line)}
}

func (r *receiverProcess) ask(t *testing.T, method, path string) string {
	t.Helper()
	request, err := http.NewRequest(method, r.url+path, nil)
	must(t, err)
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return string(text)
}

func (r *receiverProcess) shut(t *testing.T) { r.ask(t, http.MethodPut, "/shut") }
func (r *receiverProcess) open(t *testing.T) { r.ask(t, http.MethodPut, "/open") }

func (r *receiverProcess) count(t *testing.T) int {
	t.Helper()
	count, err := strconv.Atoi(r.ask(t, http.MethodGet, "/count"))
	must(t, err)
	return count
}
