package wiring_test

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

// traffic is clients that create companies until they are told to stop.
type traffic struct {
	stop         func() // returns when the last answer is there
	mutex        sync.Mutex
	acknowledged []company
	refused      int
}

func startTraffic(t *testing.T, s *instance) *traffic {
	t.Helper()
	f := &traffic{}
	var stopped atomic.Bool
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for n := 0; !stopped.Load(); n++ {
				f.note(t, s.Post("/v1/companies", named(fmt.Sprintf("c-%d-%d", client, n))))
			}
		})
	}
	f.stop = func() {
		stopped.Store(true)
		clients.Wait()
	}
	t.Cleanup(f.stop)
	return f
}

func (f *traffic) note(t *testing.T, answer resttest.Answer) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch answer.Status {
	case 201:
		f.acknowledged = append(f.acknowledged, resttest.Data[company](t, answer))
	default:
		answer.Is(t, 503, "unavailable")
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || seconds < 1 {
			t.Errorf("Retry-After: %q", answer.Header.Get("Retry-After"))
		}
		f.refused++
	}
}

func (f *traffic) count() (acknowledged, refused int) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(f.acknowledged), f.refused
}

// end stops the clients and looks for everything that was acknowledged to them is stored.
func (f *traffic) end(t *testing.T, s *instance) {
	t.Helper()
	f.stop()
	for _, c := range f.acknowledged {
		if now := s.see(t, c); now.Slug != c.Slug || len(s.events(t, c.ID)) != 1 || !exists(t, s.workspace(c)) {
			t.Errorf("%s was acknowledged and is %+v", c.Slug, now)
		}
	}
}

func TestPostgresMayRestartUnderLoad(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	s := start(t, newClock(), dataDir+t.TempDir(), databaseURL+cluster.Database(t))
	f := startTraffic(t, s)
	for _, end := range []func(testing.TB){cluster.Kill, cluster.Stop} {
		before, _ := f.count()
		await(t, "work", func() bool { now, _ := f.count(); return now > before+20 })
		_, refused := f.count()
		end(t)
		await(t, "refusals", func() bool { _, now := f.count(); return now > refused+20 })
		s.Get("/readyz").Is(t, 503, "unavailable")
		s.Get("/healthz").Is(t, 200, "")
		s.Get("/v1/companies").Is(t, 503, "unavailable")
		mistyped := string(rootToken[:len(rootToken)-1]) + "!"
		s.As(mistyped).Get("/v1/companies").Is(t, 401, "unauthorized") // it is not looked up
		cluster.Start(t)
		await(t, "recovery", func() bool { return s.Get("/readyz").Status == 200 })
	}
	before, _ := f.count()
	await(t, "work", func() bool { now, _ := f.count(); return now > before+20 })
	f.end(t, s)

	must(t, s.stop())
	cluster.Stop(t)
	var starting sync.WaitGroup
	log := &record{}
	starting.Go(func() {
		await(t, "a word of the wait", func() bool { return strings.Contains(log.String(), "waiting for Postgres") })
		cluster.Start(t)
	})
	s = startLogging(t, s.clock, log, s.environ...)
	starting.Wait()
	s.Get("/readyz").Is(t, 200, "")
}

// The clock stands, so that no lease of a queue ends: the worker that had it when the server went continues.
func TestMessagesGoOnWhenPostgresIsBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*postgrestest.Cluster, testing.TB){
		"after an orderly stop": (*postgrestest.Cluster).Stop,
		"after a crash":         (*postgrestest.Cluster).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := postgrestest.NewCluster(t)
			s := start(t, newClock(), dataDir+t.TempDir(), databaseURL+cluster.Database(t), allowPrivate)
			to := listen(t)
			s.subscribe(t, to, "")
			arrived, answer := make(chan struct{}, 10), make(chan struct{})
			to.does(func(w http.ResponseWriter, _ *http.Request) {
				arrived <- struct{}{}
				<-answer
				w.WriteHeader(http.StatusOK)
			})
			acme := s.create(t, draft(t, ""))
			<-arrived
			end(cluster, t)
			close(answer)
			for range 3 {
				s.Get("/v1/companies").Is(t, 503, "unavailable")
			}
			cluster.Start(t)
			await(t, "recovery", func() bool { return s.Get("/readyz").Status == 200 })
			s.Patch(acme.path(), `{"name":"Another"}`).Is(t, 200, "")
			to.types(t, "company.created", "company.updated")
		})
	}
}

func TestAPostgresThatIsNotThereIsNamedWithoutThePassword(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	must(t, listener.Close())
	log := &record{}
	began := time.Now()
	_, _, err = open(t.Context(), t, newClock(), log, dataDir+t.TempDir(),
		databaseURL+"postgres://holdco:hunter2@"+address+"/holdco", "HOLDCO_DATABASE_WAIT=1s")
	if err == nil || !strings.Contains(err.Error(), "PostgreSQL at "+address+" cannot be reached") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if said := fmt.Sprint(err, log); strings.Contains(said, "hunter2") || !strings.Contains(said, "waiting for Postgres") {
		t.Error(said)
	}
	if took := time.Since(began); took < time.Second || took > 10*time.Second {
		t.Errorf("it waited for %s", took)
	}
}

func TestAFullDiskRefusesWritesAndDamagesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	server := startProcess(t, dataDir+folder)
	client := resttest.New(t, server.url, string(rootToken))
	// No file of the server may grow beyond its limit: that is a full disk for one process, and needs no privileges.
	limit := func(size string) {
		t.Helper()
		out, err := exec.Command("prlimit", "--pid", strconv.Itoa(server.Process.Pid), "--fsize="+size+":").CombinedOutput()
		if err != nil {
			t.Fatalf("the test needs prlimit (Debian: util-linux): %v\n%s", err, out)
		}
	}
	acknowledged := map[string]bool{}
	create := func(slug string) (status int) {
		answer := client.Post("/v1/companies", named(slug))
		if answer.Status == 201 {
			acknowledged[slug] = true
			return 201
		}
		answer.Is(t, 503, "unavailable")
		return answer.Status
	}
	for round := range 3 {
		limit(strconv.Itoa(150_000 + 100_000*round))
		refused := 0
		for n := 0; refused < 20 && n < 1000; n++ {
			if create(fmt.Sprintf("s-%d-%d", round, n)) == 503 {
				refused++
			}
		}
		if refused < 20 {
			t.Errorf("the disk was never full")
		}
		client.Get("/v1/companies").Is(t, 200, "")
		client.Get("/healthz").Is(t, 200, "")
		client.Get("/readyz").Is(t, 503, "unavailable")
		client.Get("/readyz").Is(t, 503, "unavailable")
		if round == 1 {
			server.kill()
			server = startProcess(t, dataDir+folder)
			client = resttest.New(t, server.url, string(rootToken))
		}
		limit("unlimited")
		client.Get("/readyz").Is(t, 200, "")
		if status := create(fmt.Sprintf("s-%d-again", round)); status != 201 {
			t.Errorf("with room again it answers %d", status)
		}
	}
	kept := map[string]bool{}
	for query := "limit=200"; query != ""; {
		answer := client.Get("/v1/companies?" + query)
		for _, slug := range slugs(t, answer) {
			kept[slug] = true
		}
		query = next(answer)
	}
	for slug := range acknowledged {
		if !kept[slug] {
			t.Errorf("%s was acknowledged and is lost", slug)
		}
	}
	server.kill()
	if verdict := scalar[string](t, sqlDriver{"sqlite", filepath.Join(folder, "holdco.db")}, "PRAGMA integrity_check"); verdict != "ok" {
		t.Errorf("integrity: %s", verdict)
	}
}

// sqlDriver names a database for package sql.
type sqlDriver struct{ name, address string }

// scalar runs one statement beside the server, and returns the one value of its answer.
func scalar[T any](t *testing.T, database sqlDriver, statement string) (value T) {
	t.Helper()
	db, err := sql.Open(database.name, database.address)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRowContext(t.Context(), statement).Scan(&value))
	return value
}

// beside is how to reach the database that the variables name.
func beside(environ []string) sqlDriver {
	for _, variable := range environ {
		if direct, ok := strings.CutPrefix(variable, directURL); ok {
			return sqlDriver{"pgx", direct}
		}
	}
	if len(environ) > 1 {
		return sqlDriver{"pgx", strings.TrimPrefix(environ[1], databaseURL)}
	}
	file := filepath.Join(strings.TrimPrefix(environ[0], dataDir), "holdco.db")
	return sqlDriver{"sqlite", file + "?_pragma=busy_timeout(10000)"} // servers write too
}

func TestAPlaceThatCannotBeWrittenToIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, []byte("x"), 0o600))
	for _, folder := range []string{"/proc/holdco", file} {
		_, _, err := open(t.Context(), t, newClock(), &record{}, dataDir+folder)
		if err == nil || !strings.Contains(err.Error(), folder) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
}

func TestASecondServerOnOneFileIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, newClock(), dataDir+t.TempDir())
	_, _, err := open(t.Context(), t, s.clock, &record{}, s.environ...)
	if err == nil || !strings.Contains(err.Error(), "another server has") || !strings.Contains(err.Error(), "holdco.db") {
		t.Errorf("%v", err)
	}
	s.create(t, draft(t, ""))
	s.again(t).Get("/v1/companies").Is(t, 200, "")
}

func TestAnAddressInUseIsNamed(t *testing.T) {
	t.Parallel()
	s := start(t, newClock(), dataDir+t.TempDir())
	taken := strings.TrimPrefix(s.url, "http://")
	server, done, err := open(t.Context(), t, s.clock, &record{}, dataDir+t.TempDir(), "HOLDCO_API_ADDR="+taken)
	must(t, err)
	defer done()
	if err := server.Run(t.Context(), &record{}, true); err == nil ||
		!strings.Contains(err.Error(), "cannot listen on HOLDCO_API_ADDR "+taken) {
		t.Errorf("%v", err)
	}
}

func TestAStartThatFailsLeavesNoAddressTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	server, done, err := open(t.Context(), t, newClock(), &record{}, dataDir+t.TempDir(), "HOLDCO_API_ADDR="+taken.Addr().String())
	must(t, err)
	defer done()
	for range 10 { // another test may take the address that was free
		free, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		server.Config.MetricsAddr = free.Addr().String()
		must(t, free.Close())
		err = server.Run(t.Context(), io.Discard, true)
		if err == nil || !strings.Contains(err.Error(), "cannot listen on HOLDCO_API_ADDR") {
			continue
		}
		if again, err := net.Listen("tcp", server.Config.MetricsAddr); err == nil {
			must(t, again.Close())
			return
		}
	}
	t.Error("the address of the metrics was taken after every start that failed")
}

func TestPendingMigrationsStopAStartThatMustNotMigrate(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, environ ...string) {
		server, done, err := open(t.Context(), t, newClock(), &record{}, environ...)
		must(t, err)
		out := &record{}
		if err := server.Run(t.Context(), out, false); err == nil || !strings.Contains(err.Error(), `run "holdco migrate up"`) ||
			out.String() != "" {
			t.Errorf("%v, printed %q", err, out)
		}
		done()
	}
	t.Run("sqlite", func(t *testing.T) { refused(t, dataDir+t.TempDir()) })
	t.Run("postgres", func(t *testing.T) { refused(t, dataDir+t.TempDir(), databaseURL+postgrestest.EmptyURL(t)) })
}

func TestASchemaOfANewerProgramIsRefusedUnlessThisOneCanWorkWithIt(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		const newer = "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, TRUE) RETURNING 1"
		scalar[int](t, beside(s.environ), newer)
		s.Get("/readyz").Is(t, 200, "")
		printed := mustRun(t, s.environ, "migrate", "status")
		if !strings.Contains(printed, "has version 999, which is newer than this program") || strings.Contains(printed, "pending") {
			t.Error(printed)
		}
		more := s.create(t, draft(t, `"slug":"more"`))
		const from = "UPDATE schema_compatibility SET compatible_from = %d RETURNING compatible_from"
		scalar[int](t, beside(s.environ), fmt.Sprintf(from, 999))
		s.Get("/readyz").Is(t, 503, "unavailable")
		s.Get("/healthz").Is(t, 200, "")
		must(t, s.stop())
		server, done, err := open(t.Context(), t, s.clock, &record{}, s.environ...)
		must(t, err)
		for _, migrate := range []bool{true, false} {
			if err := server.Run(t.Context(), &record{}, migrate); err == nil || !strings.Contains(err.Error(), "run a newer holdco") {
				t.Errorf("%v", err)
			}
		}
		done()
		scalar[int](t, beside(s.environ), fmt.Sprintf(from, 39))
		again := start(t, s.clock, s.environ...)
		again.see(t, acme)
		again.see(t, more)
	})
}
