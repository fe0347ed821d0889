// Package redistest gives tests a real Redis server that they may stop, start and hold.
//
// It runs the redis-server that is installed, on a free port, and ends with the process of the test, however that ends.
// Without one tests fail: what was not tested is not known to work.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// Server is a server that one test has to itself. It keeps nothing when it stops.
type Server struct {
	Address string // host:port

	program string
	keeper  *exec.Cmd // runs while the server does
	orders  io.WriteCloser
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

// keep passes orders, the names of signals, on to a server. When the pipe that they come through is closed, by order or
// because the process that made it has died, the server is killed.
const keep = `trap "" INT TERM HUP
"$@" >/dev/null 2>&1 </dev/null &
server=$!
while read -r signal; do kill -s "$signal" $server; done
kill -s KILL $server 2>/dev/null
wait $server`

// Start starts the server, and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Address)
	must(t, err)
	s.keeper = exec.Command("/bin/sh", "-c", keep, "sh", s.program, "--bind", "127.0.0.1", "--port", port,
		"--requirepass", password, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	s.keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the signals of the terminal are not for it
	s.orders, err = s.keeper.StdinPipe()
	must(t, err)
	must(t, s.keeper.Start())

	const limit, often = 30 * time.Second, 10 * time.Millisecond
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

// Hold keeps the server from answering, until Release. Its connections stay.
func (s *Server) Hold(t testing.TB) { s.order(t, "STOP") }

// Release lets the server go on.
func (s *Server) Release(t testing.TB) { s.order(t, "CONT") }

func (s *Server) order(t testing.TB, signal string) {
	t.Helper()
	_, err := fmt.Fprintln(s.orders, signal)
	must(t, err)
}

// end kills the server, if it runs, and waits until it is gone.
func (s *Server) end() error {
	if s.keeper == nil {
		return nil
	}
	err := s.orders.Close()
	_ = s.keeper.Wait() // it tells of the signal
	s.keeper = nil
	return err
}

// Configure changes a setting of the running server.
func (s *Server) Configure(t testing.TB, setting, value string) {
	t.Helper()
	must(t, s.do(func(ctx context.Context, client *redis.Client) error {
		return client.ConfigSet(ctx, setting, value).Err()
	}))
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
