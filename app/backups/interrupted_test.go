package backups_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/app/backups"
	"holdco/domain/backup"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// hooked is a target that does something before a step of a restoration.
type hooked struct {
	store.Target
	before func(step string)
}

func (h hooked) Begin(ctx context.Context, of backup.Manifest, replaces bool) (store.Restoration, error) {
	h.before("begin")
	begun, err := h.Target.Begin(ctx, of, replaces)
	if err != nil {
		return nil, err
	}
	return hookedRestoration{begun, h.before}, nil
}

type hookedRestoration struct {
	store.Restoration
	before func(step string)
}

func (h hookedRestoration) Take(ctx context.Context, part string, from io.Reader) error {
	h.before("take")
	return h.Restoration.Take(ctx, part, from)
}

func (h hookedRestoration) Open(ctx context.Context, rows map[string]int64) (store.Restored, error) {
	h.before("open")
	return h.Restoration.Open(ctx, rows)
}

func (h hookedRestoration) Switch(ctx context.Context) (store.Former, error) {
	h.before("switch")
	return h.Restoration.Switch(ctx)
}

var steps = []string{"begin", "take", "open", "switch"}

// before is a place whose restorations do something before a step, once.
func (p place) before(step string, do func()) *backups.Service {
	parts := p.parts
	parts.Target = hooked{parts.Target, func(now string) {
		if now == step {
			step = ""
			do()
		}
	}}
	return backups.New(parts)
}

// A database may end what waits or runs for long, and sessions that do nothing: that with the locks of a restoration waits for all others.
func TestTimeoutsOfTheDatabaseEndNoRestorationOnPostgres(t *testing.T) {
	t.Parallel()
	from := onPostgres(t, true)
	file := from.saved(t)
	to := onPostgres(t, false)
	to.execute(t, `DO $$ DECLARE one text; BEGIN
		FOREACH one IN ARRAY ARRAY['lock_timeout', 'statement_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout']
		LOOP EXECUTE format('ALTER DATABASE %I SET %s = 1000', current_database(), one); END LOOP;
	END $$`)
	pausing := to.before("take", func() { time.Sleep(2 * time.Second) })
	restored := must[backup.Restored](t)(pausing.Restore(t.Context(), caller, inbound.RestoreWanted{File: file}))
	if restored.Rows["activity"] != 1 {
		t.Errorf("%+v", restored.Rows)
	}
}

// Whoever interrupts a restoration or a backup is told what is true, in one line.
func TestWhatIsInterruptedSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		file := p.saved(t)
		p.record(t)
		want := p.dump(t)
		for _, step := range steps {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := p.before(step, cancel).Restore(ctx, caller, inbound.RestoreWanted{File: file, Replaces: true})
			if err == nil || err.Error() != "the restoration was interrupted: the store is as it was; run it again" ||
				!errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", step, err)
			}
			if diff := cmp.Diff(want, p.dump(t)); diff != "" {
				t.Errorf("%s: -before +after:\n%.3000s", step, diff)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		parts := p.parts
		parts.Source = source{Source: parts.Source, before: func(context.Context) error { cancel(); return nil }}
		_, err := backups.New(parts).Write(ctx, caller, inbound.BackupWanted{File: p.path("other")})
		if err == nil || err.Error() != "the backup was interrupted: nothing of it is kept; run it again" {
			t.Error(err)
		}
		if _, err := backups.New(parts).Stream(ctx, caller, io.Discard, inbound.BackupWanted{}); err == nil ||
			!strings.HasPrefix(err.Error(), "the backup was interrupted: ") {
			t.Error(err)
		}
		if left := leftovers(t, p.dir); left != nil {
			t.Error(left)
		}
		must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true}))
	})
}

// So is one whose sessions are ended.
func TestARestorationThatPostgresEndsSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, true)
	file := p.saved(t)
	want := p.dump(t)
	end := func() {
		p.execute(t, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "+
			"WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
	for _, step := range steps[1:] {
		_, err := p.before(step, end).Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true})
		const says = "PostgreSQL, or its operator, has ended the connection: the store is as it was; run the command again: "
		if err == nil || !strings.HasPrefix(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", step, err)
		}
		if diff := cmp.Diff(want, p.dump(t)); diff != "" {
			t.Errorf("%s: -before +after:\n%.3000s", step, diff)
		}
	}
	parts := p.parts
	parts.Source = ended{parts.Source, end}
	_, writing := backups.New(parts).Write(t.Context(), caller, inbound.BackupWanted{File: p.path("other")})
	_, streaming := backups.New(parts).Stream(t.Context(), caller, io.Discard, inbound.BackupWanted{})
	for _, err := range []error{writing, streaming} {
		if err == nil || !strings.Contains(err.Error(), "has ended the connection: there is no backup; run the command again: ") ||
			strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	}
	p.execute(t, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$")
	end()
	_, err := p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true})
	if err == nil || !strings.Contains(err.Error(), "PostgreSQL takes no writes: it is a standby") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// ended is a source whose copies lose their connection.
type ended struct {
	store.Source
	end func()
}

func (e ended) Copy(ctx context.Context, folder string) (store.Copy, error) {
	made, err := e.Source.Copy(ctx, folder)
	e.end()
	return made, err
}

// A restoration takes four connections, and names the limit if there are fewer.
func TestARestorationTakesFourConnectionsOfPostgres(t *testing.T) {
	t.Parallel()
	from := onPostgres(t, true)
	from.execute(t, `INSERT INTO activity
		(id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unqueued, position)
		SELECT 'act_' || n, 'cmp_' || n % 7, 'task', 'issue.created', 'system:test', 'issue', 'iss_' || n, repeat('a', 700), '', n, 0,
			nullif(n, 5) FROM generate_series(1, 10000) n`)
	var archive bytes.Buffer
	must[backup.Written](t)(from.Stream(t.Context(), caller, &archive, inbound.BackupWanted{}))
	cluster := postgrestest.NewCluster(t)
	cluster.Execute(t, "CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 4")
	cluster.Execute(t, "CREATE DATABASE few OWNER few")
	address := must[*url.URL](t)(url.Parse(cluster.URL))
	address.User, address.Path = url.UserPassword("few", "few"), "/few"
	to := onPostgresAt(t, address.String())
	for _, limit := range []string{"3", "2"} {
		cluster.Execute(t, "ALTER ROLE few CONNECTION LIMIT "+limit)
		_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(archive.Bytes())})
		if err == nil || !strings.Contains(err.Error(), "the command takes up to 4 at once; raise the CONNECTION LIMIT of the user") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", limit, err)
		}
	}
	cluster.Execute(t, "ALTER ROLE few CONNECTION LIMIT 4")
	for _, wanted := range []inbound.RestoreWanted{{TriesOnly: true, Timeout: time.Minute}, {}, {Replaces: true}} {
		wanted.From = bytes.NewReader(archive.Bytes())
		restored := must[backup.Restored](t)(to.Restore(t.Context(), caller, wanted))
		if restored.Rows["activity"] != 10000 || strings.Contains(strings.Join(restored.Problems, "\n"), "connection") {
			t.Errorf("%+v", restored)
		}
	}
}
