// Package redistest gives tests a real Redis server that they may stop, start and pause.
//
// It runs the redis-server that is installed, on a free port, and ends with the process of the test, however that ends.
// Without one tests fail: an untested program may not work.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"holdco/adapters/system/processtest"
)

// Server is a server that one test has to itself. It keeps nothing when it stops.
type Server struct {
	Address string // host:port

	program string
	server  *exec.Cmd // nil while it does not run
	release func()    // of its guard
}

// password is asked for.
const password = "secret"

// New starts a server. It is gone at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := Prepare(t)
	s.Start(t)
	return s
}

// Prepare chooses the address of a server that does not run yet.
func Prepare(t testing.TB) *Server {
	t.Helper()
	processtest.CheckName(t, "Redis")
	logging.Disable()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("the tests need redis-server: install it (Debian: apt-get install redis-server)")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &Server{Address: listener.Addr().String(), program: program}
	must(t, listener.Close())
	t.Cleanup(func() { _ = s.end() })
	return s
}

// URL is what a client needs.
func (s *Server) URL() string { return "redis://:" + password + "@" + s.Address }

// Start starts the server, and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Address)
	must(t, err)
	server := exec.Command(s.program, "--bind", "127.0.0.1", "--port", port,
		"--requirepass", password, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	s.release, err = processtest.Guard(server, syscall.SIGKILL)
	must(t, err)
	must(t, server.Start())
	s.server = server

	const limit, often = 2 * time.Minute, 10 * time.Millisecond
	for began := time.Now(); ; time.Sleep(often) {
		if err = s.do(func(ctx context.Context, client *redis.Client) error { return client.Ping(ctx).Err() }); err == nil {
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("redis-server does not start: %v", errors.Join(err, s.end()))
		}
	}
}

// Kill ends the server at once.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	must(t, s.end())
}

// Pause keeps the server from answering, until Resume. Its connections stay.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	must(t, s.server.Process.Signal(syscall.SIGSTOP))
}

// Resume lets the server continue.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	must(t, s.server.Process.Signal(syscall.SIGCONT))
}

// end kills the server, if it runs, and waits until it has ended.
func (s *Server) end() error {
	if s.server == nil {
		return nil
	}
	err := s.server.Process.Kill()
	_ = s.server.Wait() // returns the signal
	s.release()
	s.server = nil
	return err
}

// Configure changes a setting of the running server.
func (s *Server) Configure(t testing.TB, setting, value string) {
	t.Helper()
	must(t, s.do(func(ctx context.Context, client *redis.Client) error {
		return client.ConfigSet(ctx, setting, value).Err()
	}))
}

// Refusals returns how many commands the server has refused because it is out of memory; see Configure with maxmemory.
func (s *Server) Refusals(t testing.TB) (count int) {
	t.Helper()
	must(t, s.do(func(ctx context.Context, client *redis.Client) error {
		stats, err := client.InfoMap(ctx, "errorstats").Result()
		if err != nil {
			return err
		}
		_, err = fmt.Sscanf(stats["Errorstats"]["errorstat_OOM"], "count=%d", &count)
		return err
	}))
	return count
}

// Keys returns the names of all keys with how long they still live; negative: for ever.
func (s *Server) Keys(t testing.TB) map[string]time.Duration {
	t.Helper()
	found := map[string]time.Duration{}
	must(t, s.do(func(ctx context.Context, client *redis.Client) error {
		names, err := client.Keys(ctx, "*").Result()
		for _, name := range names {
			left, leftErr := client.PTTL(ctx, name).Result()
			err = errors.Join(err, leftErr)
			found[name] = left
		}
		return err
	}))
	return found
}

// Age makes all keys as old as they will be when some time has passed.
func (s *Server) Age(t testing.TB, d time.Duration) {
	t.Helper()
	for name, left := range s.Keys(t) {
		must(t, s.do(func(ctx context.Context, client *redis.Client) error {
			return client.PExpire(ctx, name, left-d).Err() // what ended before now is removed
		}))
	}
}

func (s *Server) do(ask func(ctx context.Context, client *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: s.Address, Password: password, DialerRetries: 1, MaxRetries: -1})
	defer client.Close()
	return ask(ctx, client)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
