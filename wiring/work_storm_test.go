package wiring_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/money"
)

var stormLasts = flag.Duration("storm", 8*time.Second, "how long the storm of work lasts")

// Whatever happens to the servers, and whatever clients do at once, the work of companies stays exact.
func TestAStormOfWorkLosesNothing(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		newStorm(t, 1, dataDir+t.TempDir()).rages(t, (*workStorm).killOne)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		newStorm(t, 2, dataDir+t.TempDir(), databaseURL+postgrestest.URL(t)).rages(t, (*workStorm).killOne)
	})
	t.Run("postgres behind a pooler", func(t *testing.T) {
		t.Parallel()
		newStorm(t, 2, behindPooler(t, t.TempDir(), postgrestest.URL(t))...).rages(t, (*workStorm).killOne)
	})
	t.Run("postgres that restarts", func(t *testing.T) {
		t.Parallel()
		cluster := postgrestest.NewCluster(t)
		s := newStorm(t, 1, dataDir+t.TempDir(), databaseURL+cluster.Database(t))
		s.isStoreLost = true
		s.rages(t, func(s *workStorm, t *testing.T) {
			if s.kills++; s.kills%2 == 0 {
				cluster.Stop(t)
			} else {
				cluster.Kill(t)
			}
			time.Sleep(time.Duration(rand.Int64N(int64(500 * time.Millisecond))))
			cluster.Start(t)
		})
	})
}

// How many clients there are of each kind.
const (
	stormAgents = 24
	stormPeople = 14 // and one archives and restores a company, and one founds and deletes others
)

// stormLease is how long leases last in a storm, unless a claim asks for another time.
const stormLease = 5 * time.Second

// stormSlack is how much earlier than that one may seem to end: the store counts milliseconds, and its clock may be set meanwhile.
const stormSlack = 50 * time.Millisecond

// rages lets all clients work, disturbs them again and again, and then compares what they saw with what there is.
func (s *workStorm) rages(t *testing.T, disturb func(s *workStorm, t *testing.T)) {
	t.Helper()
	lasts := *stormLasts
	if testing.Short() || s.isStoreLost {
		lasts /= 2
	}
	s.until = time.Now().Add(lasts)
	var clients sync.WaitGroup
	s.begin(t, &clients)
	for !s.isOver() {
		time.Sleep(min(time.Until(s.until), 500*time.Millisecond+time.Duration(rand.Int64N(int64(1500*time.Millisecond)))))
		disturb(s, t)
	}
	clients.Wait()
	idle := time.Since(s.until)
	s.settle(t)
	settled := time.Since(s.until)
	s.check(t)
	t.Logf("%d requests, %d kills; then the last answers took %v, what was left to do %v, and the checks %v\n%s", s.requests.Load(),
		s.kills, idle, settled-idle, time.Since(s.until)-settled, s.counts())
}

// begin lets all clients work until the storm is over.
func (s *workStorm) begin(t *testing.T, clients *sync.WaitGroup) {
	t.Helper()
	for n := range stormAgents {
		clients.Go(func() { s.newAgent(n).work() })
	}
	for n := range stormPeople {
		clients.Go(func() { (&stormPerson{s.newCaller(100 + n)}).work() })
	}
	clients.Go(func() { s.archiveAndRestore(s.offices[1]) })
	for n, office := range s.living() {
		clients.Go(func() { s.keepBooks(office, 1100+n) })
	}
	clients.Go(s.foundAndDelete)
	clients.Go(func() { s.watch(t) })
}

// workStorm is clients that work on servers which are killed, and what they were told.
type workStorm struct {
	environ []string
	servers []atomic.Pointer[process]
	http    *http.Client
	until   time.Time
	seed    uint64 // of what clients choose

	// What is zero in a storm, in which clients do all they can.
	slowness time.Duration                           // clients wait up to twice as long before each request
	launch   func(n int, environ ...string) *process // starts a server, in place of startProcess
	answered func(what string, took time.Duration)   // is told of each answer

	isStoreLost bool // now and then, so that the servers log errors
	requests    atomic.Int64
	kills       int

	mutex    sync.Mutex
	faults   []string       // what must not happen
	told     map[string]int // answers, by what was asked for, status and code
	offices  []*stormOffice
	leaving  map[string]bool // agents that somebody has begun to retire
	facts    map[stormFact]*stormCount
	grants   map[string]*stormLeaseHeld // by lease
	accepted []stormCall
	endings  []stormEnding
	charges  map[stormCharge]*stormCount
	said     map[stormSaid]*stormCount
	pairs    [][2]string // leases that one key was answered with at once

	limits      map[string][]stormLimit // by what they limit
	adjustments map[stormAdjustment]*stormCount
	decided     map[string][]string // how approvals were decided, by their ids
}

// stormOffice is a company, and who works there.
type stormOffice struct {
	company

	teams    []team
	archives bool // it is archived now and then
	mutex    sync.Mutex
	agents   []apiAgent
	issues   []string // the newest; so are those below
	purposes []stormPurpose

	approvals []string
	isDoomed  bool // its deletion was asked for
}

// stormFact is something that the activity log must tell.
type stormFact struct{ company, subject, event, by string }

// stormSaid is a comment, by its text.
type stormSaid struct{ company, text string }

// stormCount is how often something was acknowledged, and how often it may have happened without an answer.
type stormCount struct{ known, possible int }

func (c *stormCount) holds(n int) bool { return n >= c.known && n <= c.known+c.possible }

type stormCharge struct {
	run, key string
	micros   int64
}

// stormCall is a call on a lease that was taken.
type stormCall struct {
	held *stormLeaseHeld
	sent time.Time
}

// stormEnding is a call that ended a lease, and its answer.
type stormEnding struct {
	held         *stormLeaseHeld
	path, body   string
	action, data string
	issueStatus  string
}

func newStorm(t *testing.T, servers int, environ ...string) *workStorm {
	t.Helper()
	s := emptyStorm(t, servers, environ...)
	s.open(t)
	return s
}

// emptyStorm is a storm that has no servers yet.
func emptyStorm(t *testing.T, servers int, environ ...string) *workStorm {
	t.Helper()
	s := &workStorm{
		environ: environ, seed: rand.Uint64(),
		servers: make([]atomic.Pointer[process], servers), told: map[string]int{}, leaving: map[string]bool{},
		facts: map[stormFact]*stormCount{}, grants: map[string]*stormLeaseHeld{}, charges: map[stormCharge]*stormCount{},
		said: map[stormSaid]*stormCount{}, limits: map[string][]stormLimit{}, adjustments: map[stormAdjustment]*stormCount{},
		decided: map[string][]string{},
		http:    &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	t.Cleanup(s.http.CloseIdleConnections)
	return s
}

// open starts the servers and founds the first companies.
func (s *workStorm) open(t *testing.T) {
	t.Helper()
	for n := range s.servers {
		s.start(t, n)
	}
	founder := s.newCaller(1000)
	for n := range 3 {
		limit := 10 * money.Dollar
		if n == 1 {
			limit = noLimit
		}
		office := founder.found(fmt.Sprintf("office-%d", n), limit)
		if office == nil {
			t.Fatal(s.faults)
		}
		office.archives = n == 1
	}
}

func (s *workStorm) start(t *testing.T, n int) {
	t.Helper()
	settings := slices.Concat(s.environ, []string{"HOLDCO_SQLITE_SYNC=normal", "HOLDCO_LEASE_TIME=" + stormLease.String()})
	if s.launch != nil {
		s.servers[n].Store(s.launch(n, settings...))
		return
	}
	s.servers[n].Store(startProcess(t, settings...))
}

func (s *workStorm) killOne(t *testing.T) {
	t.Helper()
	n := rand.IntN(len(s.servers))
	s.servers[n].Load().kill()
	s.kills++
	s.start(t, n)
}

func (s *workStorm) isOver() bool { return time.Now().After(s.until) }

// pause waits, but not beyond the end of the storm.
func (s *workStorm) pause(d time.Duration) { time.Sleep(min(d, max(0, time.Until(s.until)))) }

// fault notes what must not happen.
func (s *workStorm) fault(format string, args ...any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// note writes down that something was acknowledged, or may have happened so many times.
func note[K comparable](s *workStorm, in map[K]*stormCount, what K, isKnown bool, possible int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if in[what] == nil {
		in[what] = &stormCount{}
	}
	if isKnown {
		in[what].known++
	}
	in[what].possible += possible
}

// living are the offices that nobody has begun to delete.
func (s *workStorm) living() (living []*stormOffice) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, office := range s.offices {
		if !office.doomed() {
			living = append(living, office)
		}
	}
	return living
}

func (o *stormOffice) doomed() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.isDoomed
}

// remember keeps the newest issues at hand.
func (o *stormOffice) remember(issue string) {
	const most = 60
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.issues = append(o.issues, issue)
	o.issues = o.issues[max(0, len(o.issues)-most):]
}

// stormCaller sends requests to all servers, with one token.
type stormCaller struct {
	*workStorm
	*rand.Rand

	name  string
	token string
	count int
}

func (s *workStorm) newCaller(n int) *stormCaller {
	return &stormCaller{s, rand.New(rand.NewPCG(uint64(n), s.seed)), fmt.Sprint("client-", n), string(rootToken), 0}
}

// unique is a text that nobody else sends.
func (c *stormCaller) unique() string {
	c.count++
	return fmt.Sprintf("%s-%d", c.name, c.count)
}

// stormReply is the answer to a request that was sent until it got one.
type stormReply struct {
	status     int // 0: none came
	code       string
	isReplayed bool
	sent, came time.Time // the first time it was sent, and when the answer came
	lost       int       // how often it was sent before, and may have been taken
	body       []byte
	data       json.RawMessage
	details    map[string]any
}

func (r stormReply) ok() bool { return r.status/100 == 2 }

// into reads the data of an answer.
func into[T any](s *workStorm, r stormReply) (data T) {
	if err := json.Unmarshal(r.data, &data); err != nil {
		s.fault("no such data: %v\n%s", err, r.body)
	}
	return data
}

// ask sends a request until there is an answer to it that is not 503. Refusals are the ones that may come; a 500 is none.
func (c *stormCaller) ask(what, method, path, body, key string, refusals ...string) stormReply {
	const patience = 2 * time.Minute
	if s := c.slowness; s > 0 {
		c.pause(time.Duration(c.Int64N(2 * int64(s))))
	}
	r := stormReply{sent: time.Now()}
	for time.Since(r.sent) < patience {
		began := time.Now()
		response, err := c.try(method, path, body, key)
		if err == nil {
			r.body, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if err != nil {
			var failed *net.OpError
			if !errors.As(err, &failed) || failed.Op != "dial" {
				r.lost++
			}
			time.Sleep(time.Duration(10+c.IntN(20)) * time.Millisecond)
			continue
		}
		c.requests.Add(1)
		if response.StatusCode == http.StatusServiceUnavailable {
			r.lost++
			c.tell(what, "503")
			time.Sleep(time.Duration(20+c.IntN(80)) * time.Millisecond)
			continue
		}
		r.came, r.status = time.Now(), response.StatusCode
		if c.answered != nil {
			c.answered(what, r.came.Sub(began))
		}
		r.isReplayed = response.Header.Get("Idempotency-Replayed") == "true"
		var answer struct {
			Data  json.RawMessage
			Error struct {
				Code    string
				Details map[string]any
			}
		}
		if len(r.body) > 0 {
			if err := json.Unmarshal(r.body, &answer); err != nil {
				c.fault("%s: %v\n%s", what, err, r.body)
			}
		}
		r.data, r.code, r.details = answer.Data, answer.Error.Code, answer.Error.Details
		outcome := strings.TrimSpace(fmt.Sprint(r.status, " ", r.code))
		c.tell(what, outcome)
		if !r.ok() && !slices.Contains(refusals, outcome) {
			c.fault("%s: %s %s %s: %d %s", what, method, path, body, r.status, r.body)
		}
		return r
	}
	c.fault("%s: no server answers", what)
	return r
}

func (c *stormCaller) try(method, path, body, key string) (*http.Response, error) {
	server := c.servers[c.IntN(len(c.servers))].Load()
	base := server.url
	if strings.HasPrefix(path, "/gateway/") {
		base = server.gatewayURL
	}
	request, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	return c.http.Do(request)
}

func (s *workStorm) tell(what, outcome string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.told[what+" "+outcome]++
}

// both sends a request at once from two places.
func (c *stormCaller) both(what, method, path, body, key string, refusals ...string) (first, second stormReply) {
	other := &stormCaller{c.workStorm, rand.New(rand.NewPCG(c.Uint64(), c.Uint64())), c.name, c.token, 0}
	came := make(chan stormReply, 1)
	go func() { came <- other.ask(what, method, path, body, key, refusals...) }()
	first = c.ask(what, method, path, body, key, refusals...)
	second = <-came
	first.lost, second.lost = first.lost+second.lost, 0
	if second.ok() && !first.ok() {
		second.lost = first.lost
		return second, first
	}
	return first, second
}

// twice posts what has one effect however often it is sent, now and then at once from two places: both get one answer.
func (c *stormCaller) twice(what, path, body, key string, refusals ...string) stormReply {
	if c.IntN(10) > 0 {
		return c.ask(what, http.MethodPost, path, body, key, refusals...)
	}
	first, second := c.both(what, http.MethodPost, path, body, key, refusals...)
	if first.ok() && second.ok() && string(first.data) != string(second.data) {
		c.fault("%s: one request has two answers\n%s\n%s", what, first.body, second.body)
	}
	first.isReplayed = first.isReplayed && (!second.ok() || second.isReplayed)
	if second.sent.Before(first.sent) {
		first.sent = second.sent
	}
	return first
}

// counts is what the clients were told, for the log of the test.
func (s *workStorm) counts() string {
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(s.told)) {
		lines = append(lines, fmt.Sprintf("%s: %d", what, s.told[what]))
	}
	return strings.Join(lines, "\n")
}
