package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdco/adapters/store/postgres"
	"holdco/adapters/system/processtest"
)

// Pooler is a PgBouncer before a server.
type Pooler struct {
	folder  string
	host    string
	process *exec.Cmd
	release func() // of its guard
}

// Pooling says how a Pooler works.
type Pooling struct {
	Mode  string // transaction or session
	Conns int    // to the server, for each database; 0: 20
	Takes string // parameters of the start that it passes over, separated by commas
}

// Ignored are the parameters that Holdco sends when it knows of no pooler.
const Ignored = "lock_timeout,statement_timeout,idle_in_transaction_session_timeout,plan_cache_mode,enable_seqscan,jit"

// NewPooler starts a pooler before the server of an address. It is gone at the end of the test.
func NewPooler(t testing.TB, address string, how Pooling) *Pooler {
	t.Helper()
	processtest.CheckName(t, "Postgres")
	p, err := newPooler(address, how)
	must(t, err)
	t.Cleanup(p.remove)
	return p
}

// URL is the address of a database as it is reached through the pooler.
func (p *Pooler) URL(address string) string {
	through, err := url.Parse(address)
	if err != nil {
		return address // no URL, so it will be refused as such
	}
	through.Host = p.host
	return through.String()
}

// Options are those for a database, through a pooler if HOLDCO_TEST_POSTGRES_POOLER names its mode.
func Options(t testing.TB, address string) postgres.Options {
	t.Helper()
	if os.Getenv("HOLDCO_TEST_POSTGRES_POOLER") == "" {
		return postgres.Options{URL: address}
	}
	pooler, err := sharedPooler()
	must(t, err)
	if os.Getenv("HOLDCO_TEST_POSTGRES_POOLER") == "session" {
		return postgres.Options{URL: pooler.URL(address)}
	}
	return postgres.Options{URL: pooler.URL(address), Pooled: true, DirectURL: address}
}

// sharedPooler is before the server that all tests of this process share.
var sharedPooler = sync.OnceValues(func() (*Pooler, error) {
	server, err := shared()
	if err != nil {
		return nil, err
	}
	return newPooler(server.url, Pooling{Mode: os.Getenv("HOLDCO_TEST_POSTGRES_POOLER"), Takes: Ignored})
})

func newPooler(address string, how Pooling) (_ *Pooler, err error) {
	program, err := findPooler()
	if err != nil {
		return nil, err
	}
	server, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	p := &Pooler{}
	if p.folder, err = processtest.TempDir(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(p.folder))
		}
	}()
	const attempts = 5 // for somebody may take the port before the pooler does
	for range attempts {
		if err = p.configure(server, how); err != nil {
			break
		}
		if err = p.start(program, address); err == nil {
			break
		}
	}
	return p, err
}

func (p *Pooler) configure(server *pgx.ConnConfig, how Pooling) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.host = listener.Addr().String()
	_, port, err := net.SplitHostPort(p.host)
	if err = errors.Join(err, listener.Close()); err != nil {
		return err
	}
	conns := how.Conns
	if conns == 0 {
		conns = 20
	}
	users, settings := filepath.Join(p.folder, "users"), p.settings()
	text := fmt.Sprintf(`[databases]
* = host=%s port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = plain
auth_file = %s
pool_mode = %s
default_pool_size = %d
max_client_conn = 2000
server_idle_timeout = 5
server_tls_sslmode = disable
ignore_startup_parameters = %s
`, server.Host, server.Port, port, users, how.Mode, conns, how.Takes)
	known := fmt.Sprintf("%q %q\n", server.User, server.Password)
	return errors.Join(
		os.WriteFile(users, []byte(known), 0o600), os.WriteFile(settings, []byte(text), 0o600),
		giveAway(p.folder, users, settings),
	)
}

func (p *Pooler) settings() string { return filepath.Join(p.folder, "pgbouncer.ini") }

func (p *Pooler) start(program, address string) error {
	name := filepath.Join(p.folder, "log")
	log, err := os.Create(name) // the pooler gets it open, so it may belong to the user of this process
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	p.process = exec.Command(program, p.settings())
	p.process.Dir, p.process.SysProcAttr = p.folder, asServerUser()
	p.process.Stdout, p.process.Stderr = log, log
	if p.release, err = processtest.Guard(p.process, syscall.SIGKILL); err != nil {
		return err
	}
	if err := p.process.Start(); err != nil {
		return err
	}
	const limit, often = time.Minute, 20 * time.Millisecond
	for began := time.Now(); time.Since(began) < limit; time.Sleep(often) {
		if err = execute(p.URL(address), "SELECT 1"); err == nil {
			return nil
		}
		said, _ := os.ReadFile(name)
		if bytes.Contains(said, []byte("FATAL")) || bytes.Contains(said, []byte("Address already in use")) {
			err = fmt.Errorf("PgBouncer does not start:\n%s", said)
			break
		}
	}
	p.end()
	return err
}

func (p *Pooler) end() {
	_ = p.process.Process.Kill()
	_ = p.process.Wait()
	p.release()
}

// remove ends the pooler, and removes its files.
func (p *Pooler) remove() {
	p.end()
	_ = os.RemoveAll(p.folder)
}

// findPooler finds the program, which Debian keeps where only root looks for programs.
func findPooler() (string, error) {
	if found, err := exec.LookPath("pgbouncer"); err == nil {
		return found, nil
	}
	if _, err := os.Stat("/usr/sbin/pgbouncer"); err == nil {
		return "/usr/sbin/pgbouncer", nil
	}
	return "", errors.New("the tests need PgBouncer: install it (Debian: apt-get install pgbouncer)")
}
