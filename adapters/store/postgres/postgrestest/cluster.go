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
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/system/processtest"
)

// Cluster is a server that one test has to itself. Its user is a superuser; its password is asked for.
type Cluster struct {
	URL string // of the database postgres

	bin     string // the folder of the server's programs
	folder  string // of all its files
	port    int
	more    []string  // settings, as arguments of the server
	server  *exec.Cmd // nil while it does not run
	release func()    // of its guard
}

const superuser, password = "holdco", "secret"

// NewCluster makes a server and starts it, with settings such as "autovacuum=on" in place of the ones that suit short tests. It is gone
// at the end of the test.
func NewCluster(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	processtest.CheckName(t, "Postgres")
	c, err := newCluster(settings...)
	must(t, err)
	t.Cleanup(c.remove)
	return c
}

// Database makes a database with the schema of this program and returns its address.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	const name = "holdco"
	must(t, execute(c.URL, "CREATE DATABASE "+name))
	address := withDatabase(c.URL, name)
	must(t, migrate(address))
	return address
}

// Execute runs one statement as the superuser.
func (c *Cluster) Execute(t testing.TB, statement string) {
	t.Helper()
	must(t, execute(c.URL, statement))
}

// Stop stops the server in an orderly way, without waiting for those who are connected.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	must(t, c.end(syscall.SIGINT))
}

// Kill stops the server as a crash would.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	must(t, c.end(syscall.SIGQUIT))
}

// Start starts the server again, under its old address, and waits until it accepts connections.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	must(t, c.start())
}

// newCluster makes a cluster and starts it. It ends with this process at the latest, and its files with it.
func newCluster(settings ...string) (*Cluster, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin}
	for _, one := range settings {
		c.more = append(c.more, "-c", one)
	}
	if c.folder, err = processtest.TempDir(); err != nil {
		return nil, err
	}
	if err := c.make(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.folder))
	}
	const attempts = 5 // for somebody may take the port before the server does
	for range attempts {
		if err = c.choosePort(); err != nil {
			break
		}
		if err = c.start(); err == nil {
			return c, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(c.folder))
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// make lets initdb make the files, which belong to the user that the server runs as.
func (c *Cluster) make() error {
	secret := filepath.Join(c.folder, "password")
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return err
	}
	if err := giveAway(c.folder, secret); err != nil {
		return err
	}
	initdb := c.command("initdb", "--pgdata", c.data(), "--username", superuser,
		"--auth", "password", "--pwfile", secret, "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	release, err := processtest.Guard(initdb, syscall.SIGKILL)
	if err != nil {
		return err
	}
	defer release()
	if said, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, said)
	}
	return nil
}

// command prepares a program of the server to run as the server's user.
func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.folder
	cmd.SysProcAttr = asServerUser()
	return cmd
}

func (c *Cluster) choosePort() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c.port = listener.Addr().(*net.TCPAddr).Port
	address := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, password),
		Host:     listener.Addr().String(),
		Path:     "postgres",
		RawQuery: "sslmode=disable",
	}
	c.URL = address.String()
	return listener.Close()
}

func (c *Cluster) start() error {
	name := filepath.Join(c.folder, "log")
	log, err := os.Create(name) // the server gets it open, so it may belong to the user of this process
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	server := c.command("postgres", slices.Concat([]string{"-D", c.data(), "-k", c.folder,
		"-h", "127.0.0.1", "-p", strconv.Itoa(c.port), "-c", "max_connections=400",
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "autovacuum=off",
	}, c.more)...)
	server.Stdout, server.Stderr = log, log
	if c.release, err = processtest.Guard(server, syscall.SIGQUIT); err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	c.server = server
	const limit, often = 2 * time.Minute, 20 * time.Millisecond
	for began := time.Now(); time.Since(began) < limit; time.Sleep(often) {
		if err = execute(c.URL, "SELECT 1"); err == nil {
			return nil
		}
		said, _ := os.ReadFile(name)
		if bytes.Contains(said, []byte("database system is shut down")) {
			err = fmt.Errorf("PostgreSQL does not start:\n%s", said)
			break
		}
	}
	return errors.Join(err, c.end(syscall.SIGQUIT))
}

// end ends the server with a signal, and waits until it has ended.
func (c *Cluster) end(signal syscall.Signal) error {
	if c.server == nil {
		return errors.New("PostgreSQL does not run")
	}
	err := c.server.Process.Signal(signal)
	_ = c.server.Wait() // returns what the signal did to it
	c.release()
	c.server = nil
	return err
}

// remove ends the server, if it runs, and removes its files.
func (c *Cluster) remove() {
	_ = c.end(syscall.SIGQUIT)
	_ = os.RemoveAll(c.folder)
}

// findPrograms returns the folder of initdb and postgres: of the path, or of the newest version that Debian installed.
func findPrograms() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			return filepath.Dir(initdb), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, errors.New("the tests need PostgreSQL 15 or newer: install it (Debian: apt-get install postgresql), "+
			"or name a running server in HOLDCO_TEST_POSTGRES_URL (postgres://user:password@host/postgres)"))
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// version reads 15 from /usr/lib/postgresql/15/bin/initdb.
func version(initdb string) int {
	number, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return number
}
