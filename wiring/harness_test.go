package wiring_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/cli"
	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/leads/leadindex"
	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/app/imports"
	"holdco/app/retention"
	"holdco/app/work"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/store"
	"holdco/wiring"
)

// instance is a whole server in this process, with a client that has its first admin token.
type instance struct {
	*resttest.Client
	url string

	pagesURL   string // of the dashboard
	exportURL  string // empty: it is turned off
	gatewayURL string // the same
	gateway    string // what it printed of the gateway beside that
	said       string // what it printed before it accepted connections, but for where the other APIs are
	environ    []string
	clock      *clock
	log        *record
	store      store.Store
	keys       inbound.PartnerAuthenticator
	agents     inbound.AgentAuthenticator
	index      *leadindex.Index
	waiting    func() int // how many claims wait for issues
	work       *work.Service
	deciding   func() int // how many calls wait for approvals
	uploads    *imports.Uploads
	retention  *retention.Service
	secrets    inbound.Secrets
	stop       func() error // ends the server as SIGTERM does, once, and returns what Run returned
}

// eachStore runs a test against a fresh server on each store.
func eachStore(t *testing.T, test func(t *testing.T, s *instance)) {
	t.Helper()
	eachDatabase(t, func(t *testing.T, environ ...string) { test(t, start(t, newClock(), environ...)) })
}

// eachDatabase runs a test with the variables that name an empty store of each kind.
func eachDatabase(t *testing.T, test func(t *testing.T, environ ...string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, dataDir+sqlitetest.Dir(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, onPostgres(t, t.TempDir())...)
	})
}

// onPostgres are the variables of a server with an empty store there: behind a pooler, if postgrestest is told to use one.
func onPostgres(t *testing.T, dir string) []string {
	t.Helper()
	return withDatabase(dir, postgrestest.Options(t, postgrestest.URL(t)))
}

const directURL = "HOLDCO_DATABASE_MIGRATE_URL="

func withDatabase(dir string, options postgres.Options) []string {
	environ := []string{dataDir + dir, databaseURL + options.URL}
	if options.Pooled {
		environ = append(environ, directURL+options.DirectURL, "HOLDCO_DATABASE_POOLER=transaction")
	}
	return environ
}

// startOnSQLite runs a server on an empty database. It is enough for what a browser shows: pages know of a store only what the API
// answers, and that is tested on each.
func startOnSQLite(t *testing.T) *instance {
	t.Helper()
	return start(t, newClock(), dataDir+sqlitetest.Dir(t))
}

// startOnPostgres runs a server on an empty database of its own.
func startOnPostgres(t *testing.T) *instance {
	t.Helper()
	return start(t, newClock(), onPostgres(t, t.TempDir())...)
}

const dataDir, databaseURL = "HOLDCO_DATA_DIR=", "HOLDCO_DATABASE_URL="

// start runs a server until the end of the test, and waits until it accepts connections.
func start(t *testing.T, clock *clock, environ ...string) *instance {
	t.Helper()
	return startLogging(t, clock, &record{}, environ...)
}

// startLogging is start with a log that can be read while the server starts.
func startLogging(t *testing.T, clock *clock, log *record, environ ...string) *instance {
	t.Helper()
	s := &instance{environ: environ, clock: clock, log: log}
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- s.run(ctx, t, in)
		_ = in.Close()
	}()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("the server ended with: %v", err)
		}
		log := s.log.String()
		if secrets := secret.FindAllString(log, -1); secrets != nil {
			t.Errorf("the log holds secrets: %v", secrets)
		}
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", s.url, log[max(0, len(log)-10_000):])
		}
	})

	const announcement, exports = "The API listens on ", "The export API for partners listens on "
	const agents = "The gateway for agents listens on "
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), announcement); found {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			s.url, _, _ = strings.Cut(rest, " ")
			s.Client = resttest.New(t, s.url, string(rootToken))
			return s
		}
		if rest, found := strings.CutPrefix(lines.Text(), exports); found {
			s.exportURL, _, _ = strings.Cut(rest, " ")
			continue
		}
		if rest, found := strings.CutPrefix(lines.Text(), "The dashboard is at "); found {
			s.pagesURL = rest
			continue
		}
		if rest, found := strings.CutPrefix(lines.Text(), agents); found {
			s.gatewayURL, s.gateway, _ = strings.Cut(rest, " ")
			continue
		}
		s.said += lines.Text() + "\n"
	}
	t.Fatalf("the server ended before it accepted connections: %v", s.stop())
	return nil
}

// run does what the command serve does.
func (s *instance) run(ctx context.Context, t *testing.T, out io.Writer) error {
	server, done, err := open(ctx, t, s.clock, s.log, s.environ...)
	if err != nil {
		return err
	}
	defer done()
	s.store, s.keys, s.agents, s.index, s.waiting = server.Store, server.Partners, server.Agents, server.Index, server.Leases.Waiting
	s.work, s.secrets, s.deciding = server.Work, server.Secrets, server.Leases.Deciding
	s.uploads, s.retention = server.Uploads, server.Retention
	return server.Run(ctx, out, true)
}

// open assembles a server with the settings that the variables name, and writes down all that it logs.
func open(ctx context.Context, t *testing.T, clock *clock, log *record, environ ...string) (*wiring.Server, func(), error) {
	environ = slices.Concat(anyPorts, []string{"HOLDCO_ADMIN_TOKEN=" + string(rootToken), "HOLDCO_SQLITE_SYNC=normal"}, unlimited,
		environ)
	config, _, err := load(t, nil, "", environ...)
	if err != nil {
		return nil, nil, err
	}
	if clock.longestStop > 0 {
		config.LongestStop = clock.longestStop
	}
	config.Room = clock.room
	config.StreamPace = cmp.Or(clock.streamPace, config.StreamPace)
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	clocks := wiring.Clocks{Process: clock, Store: clock}
	if clock.isApart {
		clocks.Store = nil
	}
	return wiring.NewServer(ctx, config, clocks, logger, version)
}

// version is what the servers of tests say they are.
var version = cli.Version{Number: "v0.0.0-test", Commit: "none"}

// secret is the value of a token, or a password within a URL.
var secret = regexp.MustCompile(`hc[a-z]_(test_)?[0-9A-Za-z]{40,}|://[^ @/]+:[^ @/]+@`)

// again stops the server and starts another one on its store.
func (s *instance) again(t *testing.T) *instance {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	return start(t, s.clock, s.environ...)
}

// with returns a client that has a new token with these scopes.
func (s *instance) with(t *testing.T, scopes ...string) *resttest.Client {
	t.Helper()
	return s.As(s.issue(t, scopes...).Token).In(t)
}

func (s *instance) issue(t *testing.T, scopes ...string) apiToken {
	t.Helper()
	answer := s.In(t).Post("/v1/tokens", `{"name":"test","scopes":["`+strings.Join(scopes, `","`)+`"]}`)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[apiToken](t, answer)
}

// create makes a company of a body that is all right.
func (s *instance) create(t *testing.T, body string) company {
	t.Helper()
	answer := s.In(t).Post("/v1/companies", body)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[company](t, answer)
}

// see reads a company.
func (s *instance) see(t *testing.T, c company) company {
	t.Helper()
	answer := s.In(t).Get(c.path())
	answer.Is(t, http.StatusOK, "")
	return resttest.Data[company](t, answer)
}

// events returns the activity that concerns one company, or for nobody the instance alone: oldest first.
func (s *instance) events(t *testing.T, companyID string) []event.Event {
	t.Helper()
	of := id.Company(companyID)
	var all []event.Event
	for after := (page.Position{}); ; {
		found, err := s.store.Activity().List(context.Background(), store.ActivityFilter{Company: &of}, after, page.MaxSize)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Items {
			all = append([]event.Event{e}, all...)
		}
		if after = found.Next; after.IsStart() {
			return all
		}
	}
}

// obstruct keeps the server from touching workspaces, as a broken disk would, until unblock is called.
func (s *instance) obstruct(t *testing.T) (unblock func()) {
	t.Helper()
	path := filepath.Join(strings.TrimPrefix(s.environ[0], dataDir), "workspaces")
	must(t, os.Rename(path, path+".away"))
	must(t, os.WriteFile(path, nil, 0o600))
	return func() {
		t.Helper()
		must(t, os.Remove(path))
		must(t, os.Rename(path+".away", path))
	}
}

// workspace is where the directory of a company is.
func (s *instance) workspace(c company) string {
	return filepath.Join(strings.TrimPrefix(s.environ[0], dataDir), "workspaces", c.ID)
}

// clock stands still until a test moves it.
type clock struct {
	ms, fuse atomic.Int64
	isApart  bool // it is not the store's: that keeps its own

	longestStop time.Duration   // of servers, see wiring.Config; 0: the usual one
	streamPace  rest.StreamPace // the same
	room        wiring.Room     // the same
}

// noon is where the clocks of tests start.
var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

func newClock() *clock {
	c := &clock{}
	c.ms.Store(noon.UnixMilli())
	return c
}

// Now implements outbound.Clock.
func (c *clock) Now() time.Time {
	if c.fuse.Load() > 0 && c.fuse.Add(-1) == 0 {
		panic("the clock is broken")
	}
	return time.UnixMilli(c.ms.Load()).UTC()
}

func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// panicking returns the answer to a request during which the nth reading of the clock panics, and how many requests were
// answered otherwise before: jobs read the clock too, and one of them may meet the panic instead.
func (s *instance) panicking(t *testing.T, n int64, ask func() resttest.Answer) (failed resttest.Answer, others int) {
	t.Helper()
	const attempts = 100
	for others := range attempts {
		s.clock.fuse.Store(n)
		answer := ask()
		s.clock.fuse.Store(0)
		if answer.Status == http.StatusInternalServerError {
			return answer, others
		}
	}
	t.Fatalf("no request of %d met the panic", attempts)
	return resttest.Answer{}, attempts
}

// record keeps what is written to it.
type record struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (r *record) Write(text []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.text.Write(text)
}

func (r *record) String() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.text.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await fails the test unless something happens, for which a slow and busy machine has time enough.
func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	const limit = 5 * time.Minute
	for began := time.Now(); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("%s did not happen within %s", what, limit)
		}
	}
}

// exists reports whether there is a file.
func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
