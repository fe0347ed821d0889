package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/agents"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/issues"
	"holdco/app/leases"
	"holdco/app/runner"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/redact"
	"holdco/domain/run"
	"holdco/domain/team"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// What goes wrong between a program, the store and the gateway is tested here, in a bubble of synctest, where time and failures can be
// told. That agents are run is tested through the API, on both stores.

// unavailable is the fault of a store, or of a gateway, that may answer later.
var unavailable = fault.New(fault.Unavailable, "The store does not answer.")

var errNoProgram = errors.New("there is no such program")

// programs are outbound.Programs that start nothing.
type programs struct {
	mutex   sync.Mutex
	refuse  error // of Start
	started []*program
	times   []time.Time // of all calls of Start
	runs    func(p *program)

	left      []string // what Ended returns
	broken    error    // the same
	forgotten []string
}

// program is one that was started. It ends as the test says.
type program struct {
	outbound.Program

	stopped, killed chan struct{} // closed when it is
	stop, kill      func()
	ended           chan struct{}
	exit            outbound.Exit
}

const thisHolder = "this"

func (p *programs) Start(what outbound.Program) (outbound.RunningProgram, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.times = append(p.times, time.Now())
	if p.refuse != nil {
		return nil, p.refuse
	}
	started := &program{Program: what, stopped: make(chan struct{}), killed: make(chan struct{}), ended: make(chan struct{})}
	started.stop = sync.OnceFunc(func() { close(started.stopped) })
	started.kill = sync.OnceFunc(func() { close(started.killed) })
	p.started = append(p.started, started)
	if p.runs != nil {
		go p.runs(started)
	}
	return started, nil
}

func (p *programs) Holder() string           { return thisHolder }
func (p *programs) Ended() ([]string, error) { return p.left, p.broken }

func (p *programs) Forget(holder string) error {
	p.forgotten = append(p.forgotten, holder)
	p.left = slices.DeleteFunc(p.left, func(one string) bool { return one == holder })
	return nil
}

// had are the programs that were started.
func (p *programs) had() []*program {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.started)
}

// ends ends the program.
func (p *program) ends(exit outbound.Exit) {
	exit.Output, exit.Result = p.Hidden.Text(exit.Output), p.Hidden.JSON(exit.Result)
	p.exit = exit
	close(p.ended)
}

func (p *program) Ended() <-chan struct{} { return p.ended }
func (p *program) Exit() outbound.Exit    { return p.exit }
func (p *program) Stop()                  { p.stop() }
func (p *program) Kill()                  { p.kill() }

// is reports whether something has happened.
func is(happened <-chan struct{}) bool {
	select {
	case <-happened:
		return true
	default:
		return false
	}
}

// succeeds is a program that writes a line.
func succeeds(p *program) { p.ends(outbound.Exit{Output: "done\n"}) }

// log is an outbound.Log that keeps what it is told.
type log struct {
	mutex sync.Mutex
	lines []string
}

func (l *log) Error(_ context.Context, message string, cause error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.lines = append(l.lines, message+" "+cause.Error())
}

// poster is an outbound.AgentPoster that answers as the test says.
type poster func(ctx context.Context, offer outbound.Offer) (outbound.OfferAnswer, error)

func (p poster) Offer(ctx context.Context, offer outbound.Offer) (outbound.OfferAnswer, error) {
	return p(ctx, offer)
}

// failing is a gateway that can fail, before it does something or after.
type failing struct {
	inbound.Leases

	mutex         sync.Mutex
	before, after map[string]error // by the name of the call
}

func (f *failing) fails(at map[string]error, call string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return at[call]
}

func (f *failing) set(at map[string]error, call string, failure error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	at[call] = failure
}

func (f *failing) Claim(ctx context.Context, caller agent.Caller, claim inbound.Claim) (*inbound.Lease, error) {
	if err := f.fails(f.before, "claim"); err != nil {
		return nil, err
	}
	granted, err := f.Leases.Claim(ctx, caller, claim)
	if late := f.fails(f.after, "claim"); err == nil && late != nil {
		return nil, late
	}
	if late := f.fails(f.after, "context"); err == nil && granted != nil && late != nil {
		granted.Context = nil
		return granted, late
	}
	return granted, err
}

func (f *failing) End(
	ctx context.Context, caller agent.Caller, call inbound.LeaseCall, end inbound.LeaseEnd,
) (inbound.Ended, error) {
	if err := f.fails(f.before, "end"); err != nil {
		return inbound.Ended{}, err
	}
	return f.Leases.End(ctx, caller, call, end)
}

// failingStore is a store whose reads of what a holder has can fail.
type failingStore struct {
	store.Store
	open error
}

func (s *failingStore) Runs() store.RunReader { return failingRuns{s.Store.Runs(), s} }

type failingRuns struct {
	store.RunReader
	of *failingStore
}

func (r failingRuns) OpenOfHolder(ctx context.Context, holder string) ([]store.OpenRun, error) {
	if r.of.open != nil {
		return nil, r.of.open
	}
	return r.RunReader.OpenOfHolder(ctx, holder)
}

// fixture is a company with a team, and what runs its agents. It is made in a bubble.
type fixture struct {
	t        *testing.T
	service  *runner.Service
	store    *failingStore
	gateway  *failing
	secrets  *secrets
	programs *programs
	poster   poster
	log      *log
	left     int // how often it was told that a company may be gone

	agents *agents.Service
	issues *issues.Service
	of     id.Company
	team   id.Team
}

var test = access.System("test")

func newFixture(t *testing.T, settings runner.Settings) *fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	clock, ids := system.Clock{}, system.IDs{}
	kept := sqlstore.New(engine, clock, ids, engine.Migrator())
	cached := &cache.Cache[agent.Credential]{}
	names := []string{agent.ProcessAdapter, agent.HTTPAdapter}
	f := &fixture{
		t: t, store: &failingStore{Store: kept}, secrets: &secrets{}, programs: &programs{}, log: &log{},
		agents: agents.New(kept, clock, ids, system.Entropy{}, agents.Settings{Adapters: names}, cached, &cache.Prices{}),
		issues: issues.New(kept, ids, nil),
	}
	f.gateway = &failing{
		Leases: leases.New(kept, ids, system.Entropy{},
			leases.Settings{LeaseTime: leaseTime, Reserve: 100_000, MostWaiting: 1}, &cache.Prices{}),
		before: map[string]error{}, after: map[string]error{},
	}
	founding, err := companies.New(kept, noWorkspaces{}, ids, f.log, companies.Settings{Adapters: names}, cached).Create(
		t.Context(), test, company.Draft{Name: new("Acme"), Slug: new("acme"), Settings: company.Settings{
			Budget: &budget.Change{USD: new(money.Number("1000000"))},
		}, StartingTeams: []team.Draft{
			{Name: new("Sales"), Headcount: new(int64(3))},
		}}, idempotency.Request{})
	must(t, err)
	f.of, f.team = founding.Company.ID, founding.Teams[0].ID
	settings.Adapters, settings.Requests = names, 10
	offer := func(ctx context.Context, offer outbound.Offer) (outbound.OfferAnswer, error) {
		return f.poster(ctx, offer)
	}
	f.service = runner.New(f.store, f.gateway, f.secrets, f.programs, noLogs{}, poster(offer), clock, f.log, runner.Hooks{
		Seen: func(id.Agent) {}, Left: func() { f.left++ },
	}, settings)
	return f
}

// leaseTime is that of the leases of Service.
const leaseTime = 5 * time.Minute

// hire hires an agent of an adapter.
func (f *fixture) hire(adapter, config string) agent.Agent {
	f.t.Helper()
	hired, err := f.agents.Hire(f.t.Context(), test, f.of, agent.Draft{
		Team: new(string(f.team)), Settings: agent.Settings{
			Name: new("Ada"), Role: new("Engineer"), Adapter: &adapter, AdapterConfig: new([]byte(config)),
		},
	}, idempotency.Request{})
	must(f.t, err)
	return hired.Agent
}

// file files an issue for an agent.
func (f *fixture) file(title string, of agent.Agent) issue.Issue {
	f.t.Helper()
	made, err := f.issues.Create(f.t.Context(), test, f.of, issue.Draft{
		Title: &title, Agent: new(string(of.ID)),
	}, idempotency.Request{})
	must(f.t, err)
	return made
}

// run runs the job once a second, for so long.
func (f *fixture) run(during time.Duration) (failures []error) {
	for range max(1, int(during/time.Second)) {
		if _, err := f.service.Run(f.t.Context(), ""); err != nil {
			failures = append(failures, err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
	return failures
}

// stop stops what runs.
func (f *fixture) stop() {
	f.t.Helper()
	must(f.t, f.service.Stop(f.t.Context()))
}

// status is the status of an issue, its attempt, and how its runs ended, the first of them first.
func (f *fixture) status(of issue.Issue) (said string) {
	f.t.Helper()
	now, err := f.issues.Get(f.t.Context(), test, f.of, of.ID)
	must(f.t, err)
	all, err := f.store.Runs().List(f.t.Context(), of.ID, page.Position{}, 100)
	must(f.t, err)
	said = fmt.Sprint(now.Status, " ", now.Attempt, ":")
	for _, one := range slices.Backward(all.Items) {
		said += " " + string(one.Status)
		if one.Status != run.Running {
			said += "/" + string(one.Lease.Reason)
		}
	}
	return said
}

// cancel cancels an issue as a person does.
func (f *fixture) cancel(which issue.Issue) {
	f.t.Helper()
	_, err := f.issues.Move(f.t.Context(), test, f.of, which.ID, inbound.IssueMove{
		Action: issue.Cancel, Note: issue.Note{Body: new("Enough.")},
	}, precondition.Match{}, idempotency.Request{})
	must(f.t, err)
}

// noWorkspaces is an outbound.Workspaces without a disk.
type noWorkspaces struct{}

func (noWorkspaces) Make(id.Company) error       { return nil }
func (noWorkspaces) Remove(id.Company) error     { return nil }
func (noWorkspaces) List() ([]id.Company, error) { return nil, nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// calls is a gateway that writes down what it is asked, and answers as the test says.
type calls struct {
	mutex   sync.Mutex
	said    []string
	answers func(call string, n int) error // to the nth of a kind, from 1 on
	counts  map[string]int
	ended   inbound.LeaseEnd
	charged []cost.Draft
}

func (c *calls) take(call string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[call]++
	c.said = append(c.said, call)
	if c.answers == nil {
		return nil
	}
	return c.answers(call, c.counts[call])
}

func (c *calls) Renew(context.Context, agent.Caller, inbound.LeaseCall) (inbound.LeaseState, error) {
	return inbound.LeaseState{}, c.take("renew")
}

func (c *calls) Charge(
	_ context.Context, _ agent.Caller, _ inbound.LeaseCall, charges []cost.Draft,
) (inbound.LeaseState, []inbound.ChargeOutcome, error) {
	err := c.take("charge")
	if err != nil {
		return inbound.LeaseState{}, nil, err
	}
	c.charged = append(c.charged, charges...)
	var problems fault.Problems
	outcomes := make([]inbound.ChargeOutcome, len(charges))
	for n, entry := range cost.Parse(charges, nil, &problems) {
		outcomes[n] = inbound.ChargeOutcome{Entry: entry}
	}
	return inbound.LeaseState{}, outcomes, nil
}

func (c *calls) End(_ context.Context, _ agent.Caller, _ inbound.LeaseCall, end inbound.LeaseEnd) (inbound.Ended, error) {
	err := c.take(string(end.Action))
	if err == nil {
		c.ended = end
	}
	return inbound.Ended{}, err
}

// secrets are those of all companies.
type secrets struct {
	values map[string]string
	broken error
	asked  []string
	given  map[id.Lease]redact.Hidden
}

func (s *secrets) Reveal(_ context.Context, _ id.Company, names []string) (map[string]string, error) {
	s.asked = append(s.asked, names...)
	if s.broken != nil {
		return nil, s.broken
	}
	values := map[string]string{}
	for _, name := range names {
		value, isThere := s.values[name]
		if !isThere {
			return nil, fault.New(fault.NotFound, "The company has no secret %s.", name)
		}
		values[name] = value
	}
	return values, nil
}

func (s *secrets) Give(lease id.Lease, hidden redact.Hidden) (forget func()) {
	if s.given == nil {
		s.given = map[id.Lease]redact.Hidden{}
	}
	s.given[lease] = hidden
	return func() { delete(s.given, lease) }
}

// noLogs are outbound.RunLogs of a host that has none.
type noLogs struct{}

func (noLogs) Read(id.Company, id.Run, int64) ([]byte, int64, error) {
	return nil, 0, fault.New(fault.NotFound, "There is no log.")
}
