package postgrestest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pair is a primary and a standby to which it streams, and for which its commits wait. They change their roles.
type Pair struct{ primary, standby *Cluster }

// NewPair makes two servers. They are gone at the end of the test.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	p := &Pair{primary: newReplicating(t), standby: newReplicating(t)}
	must(t, p.standby.end(syscall.SIGQUIT))
	p.Follow(t)
	return p
}

func newReplicating(t testing.TB) *Cluster {
	t.Helper()
	return NewCluster(t, "wal_level=replica", "max_wal_senders=10")
}

// Database makes a database with the schema of this program, and returns an address that names both servers, of which one that takes
// writes is meant.
func (p *Pair) Database(t testing.TB) string {
	t.Helper()
	first, err := url.Parse(p.primary.Database(t))
	must(t, err)
	second, err := url.Parse(p.standby.URL)
	must(t, err)
	first.Host += "," + second.Host
	query := first.Query()
	query.Set("target_session_attrs", "read-write")
	query.Set("connect_timeout", "2")
	first.RawQuery = query.Encode()
	return first.String()
}

// Kill ends the primary at once. Until there is another, nothing takes writes.
func (p *Pair) Kill(t testing.TB) {
	t.Helper()
	must(t, p.primary.end(syscall.SIGKILL))
}

// Part ends the standby.
func (p *Pair) Part(t testing.TB) {
	t.Helper()
	p.standby.Stop(t)
}

// Execute runs one statement on the primary as the superuser.
func (p *Pair) Execute(t testing.TB, statement string) {
	t.Helper()
	p.primary.Execute(t, statement)
}

// Promote makes the standby the primary.
func (p *Pair) Promote(t testing.TB) {
	t.Helper()
	p.standby.Execute(t, "SELECT pg_promote(true, 60)")
	p.primary, p.standby = p.standby, p.primary
}

// Follow makes the server that is not the primary its standby, under the address that it had, from nothing. From then on commits wait
// for it.
func (p *Pair) Follow(t testing.TB) {
	t.Helper()
	must(t, os.RemoveAll(p.standby.data()))
	copying := p.standby.command("pg_basebackup", "--pgdata", p.standby.data(), "--dbname", p.primary.URL, "--write-recovery-conf",
		"--wal-method", "stream", "--checkpoint", "fast", "--no-sync")
	if said, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, said)
	}
	p.standby.Start(t)
	p.primary.Execute(t, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
	p.primary.Execute(t, "SELECT pg_reload_conf()")
	const limit = time.Minute
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		attached, err := p.isAttached(t.Context())
		must(t, err)
		if attached {
			return
		}
		if time.Since(began) > limit {
			t.Fatal("the standby is not attached")
		}
	}
}

// isAttached reports whether commits wait for the standby.
func (p *Pair) isAttached(ctx context.Context) (is bool, err error) {
	conn, err := pgx.Connect(ctx, p.primary.URL)
	if err != nil {
		return false, fmt.Errorf("the primary: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, "SELECT current_setting('synchronous_standby_names') <> '' AND "+
		"EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum' AND state = 'streaming')").Scan(&is)
	return is, err
}
