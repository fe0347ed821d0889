package runner

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/redact"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service runs agents in the server.
type Service struct {
	store    store.Store
	leases   inbound.Leases
	secrets  Secrets
	programs outbound.Programs
	logs     outbound.RunLogs
	poster   outbound.AgentPoster
	clock    outbound.Clock
	log      outbound.Log
	hooks    Hooks
	settings Settings

	mutex    sync.Mutex
	working  map[id.Run]*working
	last     map[id.Agent]time.Time // when an agent was given an issue last
	after    id.Agent               // where to go on in the list of agents that may be given something
	looked   time.Time              // when it was looked for processes that have ended
	woken    chan struct{}          // see Woken
	life     context.Context        //nolint:containedctx // of the work, which outlives the run of the job that began it; nil: none began
	end      context.CancelFunc     // ends life
	ended    sync.WaitGroup
	isClosed bool        // see Close
	strays   atomic.Bool // there may be leases of this process that nobody here works on
}

// Secrets are those of companies.
type Secrets interface {
	// Reveal returns the values of secrets of a company, by their names, and notes that they were used. It fails with fault.NotFound
	// when one cannot be had.
	Reveal(ctx context.Context, of id.Company, names []string) (map[string]string, error)

	// Give has texts hidden in all that the agent says under a lease, until forget is called.
	Give(lease id.Lease, hidden redact.Hidden) (forget func())
}

// Hooks tell others what happens here.
type Hooks struct {
	Seen func(which id.Agent) // an agent was given an issue
	Left func()               // see Worker
}

// Settings are what the operator sets.
type Settings struct {
	Adapters  []string // the installed ones
	Processes int      // how many programs run at once, at most; 0: none; MostProcesses at most
	Requests  int      // how many requests to agents are under way at once, at most

	// LongestStop bounds the grace of programs when Holdco stops, so that there is time to release their leases.
	LongestStop time.Duration
}

// MostProcesses bounds Settings.Processes: what the leases of one process are is read at once.
const MostProcesses = store.Portion

// working is a lease that is being worked on here.
type working struct {
	agent   id.Agent
	adapter string
	stale   chan Stale // receives one value, when the lease has ended
	isStale bool       // it has
}

// New returns the use case.
func New(
	s store.Store, leases inbound.Leases, secrets Secrets, programs outbound.Programs, logs outbound.RunLogs, poster outbound.AgentPoster,
	clock outbound.Clock, log outbound.Log, hooks Hooks, settings Settings,
) *Service {
	woken := make(chan struct{}, 1)
	s.Raised(woken)
	return &Service{
		store: s, leases: leases, secrets: secrets, programs: programs, logs: logs, poster: poster, clock: clock, log: log, hooks: hooks,
		settings: settings, working: map[id.Run]*working{}, last: map[id.Agent]time.Time{}, woken: woken,
	}
}

// Run claims issues for agents that Holdco runs, those that have waited longest first, and begins to work on them. It stops
// programs whose leases have ended, and releases what other processes on this host left when they ended. GatewayURL is how
// programs reach the gateway, without a slash at its end; empty: they do not.
func (s *Service) Run(ctx context.Context, gatewayURL string) (more bool, err error) {
	if !s.begins(ctx) {
		return false, nil
	}
	return false, errors.Join(s.releaseLeft(ctx), s.watch(ctx), s.assign(ctx, gatewayURL))
}

// begins begins the life of the work, and reports whether that goes on.
func (s *Service) begins(ctx context.Context) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.isClosed {
		return false
	}
	if s.life == nil {
		s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	}
	return true
}

// Close begins to stop all programs, and Run begins no more. It may be called while that runs.
func (s *Service) Close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.isClosed = true
	if s.end != nil {
		s.end()
	}
}

// Woken receives a value when there may be something to do for Run: issues can be claimed, or an agent can take another one.
func (s *Service) Woken() <-chan struct{} { return s.woken }

// Stop stops all programs, releases their leases, and waits for that until the context ends. Run must have returned for good.
func (s *Service) Stop(ctx context.Context) error {
	s.Close()
	if s.life == nil {
		return nil
	}
	done := make(chan struct{})
	go func() {
		s.ended.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return errors.New("programs of agents were still running; the next start ends their leases")
	}
	holder := s.programs.Holder()
	if s.strays.Load() {
		open, err := s.store.Runs().OpenOfHolder(ctx, holder)
		if err == nil {
			err = s.releaseStrays(ctx, open)
		}
		if err != nil { // the next start finds them under the holder
			return err
		}
	}
	return s.programs.Forget(holder)
}

// watch stops the programs whose leases have ended, and releases strays.
func (s *Service) watch(ctx context.Context) error {
	mayStray := s.strays.Swap(false)
	err := s.compare(ctx, mayStray)
	if err != nil && mayStray {
		s.strays.Store(true)
	}
	return err
}

func (s *Service) compare(ctx context.Context, mayStray bool) error {
	s.mutex.Lock()
	var running []id.Run // before the leases are read: each of these was granted before
	for which, one := range s.working {
		if one.adapter == agent.ProcessAdapter && !one.isStale {
			running = append(running, which)
		}
	}
	s.mutex.Unlock()
	if len(running) == 0 && !mayStray {
		return nil
	}
	open, err := s.store.Runs().OpenOfHolder(ctx, s.programs.Holder())
	if err != nil {
		return err
	}
	if mayStray {
		if err := s.releaseStrays(ctx, open); err != nil {
			return err
		}
	}
	for _, which := range running {
		if slices.ContainsFunc(open, func(one store.OpenRun) bool { return one.ID == which }) {
			continue
		}
		ended, err := s.store.Runs().Get(ctx, which)
		exists, err := store.Exists(err)
		if err != nil {
			return err
		}
		s.isOver(which, Stale{ByAgent: exists && ended.EndedByAgent()})
	}
	return nil
}

// isOver tells who works on a run that its lease has ended.
func (s *Service) isOver(which id.Run, how Stale) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if one := s.working[which]; one != nil && !one.isStale {
		one.isStale = true
		one.stale <- how
	}
}

// assign gives issues to agents, as many as can be worked on here.
func (s *Service) assign(ctx context.Context, gatewayURL string) error {
	if !s.hasRoom(agent.ProcessAdapter) && !s.hasRoom(agent.HTTPAdapter) {
		return nil
	}
	now, err := s.store.StoreNow(ctx)
	if err != nil {
		return err
	}
	candidates, err := s.store.Agents().Runnable(ctx, now, s.after)
	if err != nil {
		return err
	}
	s.after = ""
	if len(candidates) == store.Portion {
		s.after = candidates[len(candidates)-1].ID
	}
	s.byWait(candidates)
	var failures []error
	for _, a := range candidates {
		if err := s.serve(ctx, a, gatewayURL); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// byWait sorts agents by how long they have waited, the longest first.
func (s *Service) byWait(agents []agent.Agent) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	slices.SortStableFunc(agents, func(a, b agent.Agent) int { return s.last[a.ID].Compare(s.last[b.ID]) })
	maps.DeleteFunc(s.last, func(_ id.Agent, at time.Time) bool { return s.clock.Now().Sub(at) > longestWait })
}

// longestWait is for how long it is remembered that an agent was given an issue.
const longestWait = time.Hour

// serve gives an agent as many issues as it may have more. One that has ended meanwhile makes no room for another: when its program
// could not be started, the agent has to wait.
func (s *Service) serve(ctx context.Context, a agent.Agent, gatewayURL string) error {
	duty, isRun := a.Duty()
	if !isRun || !slices.Contains(s.settings.Adapters, a.Adapter) {
		return nil
	}
	caller := agent.Caller{ID: a.ID, Company: a.Company}
	holder := ""
	if duty.Program != nil {
		holder = s.programs.Holder()
	}
	free := duty.Concurrent - s.countOf(a.ID)
	for ; free > 0 && ctx.Err() == nil && s.life.Err() == nil && s.hasRoom(a.Adapter); free-- {
		// A claim that the end of the server broke off could have got a lease.
		granted, err := s.leases.Claim(context.WithoutCancel(ctx), caller, inbound.Claim{
			RunToken: new(true), Metered: new(duty.IsMetered()), Holder: holder, MostOpen: duty.Concurrent,
		})
		if err != nil {
			s.strays.Store(true)
		}
		if granted != nil && err != nil {
			s.giveBack(*granted)
		}
		if granted == nil || err != nil {
			return unlessFinal(err) // the agent or its company has changed meanwhile
		}
		s.begin(*granted, a, duty, gatewayURL)
	}
	return nil
}

// giveBack releases a lease in the background, on which nobody works.
func (s *Service) giveBack(granted inbound.Lease) {
	s.ended.Go(func() {
		lease, err := ParseLease(granted.Fields().Append(nil))
		if err == nil {
			err = Worker{Gateway: s.leases}.end(context.WithoutCancel(s.life), lease, inbound.LeaseEnd{Action: issue.Release})
		}
		if err != nil {
			s.log.Error(s.life, "The lease of the run "+string(granted.Run.ID)+" could not be released.", err)
		}
	})
}

// begin works on a lease in the background.
func (s *Service) begin(granted inbound.Lease, a agent.Agent, duty agent.Duty, gatewayURL string) {
	one := &working{agent: a.ID, adapter: a.Adapter, stale: make(chan Stale, 1)}
	s.mutex.Lock()
	s.working[granted.Run.ID], s.last[a.ID] = one, s.clock.Now()
	s.mutex.Unlock()
	s.hooks.Seen(a.ID)
	s.ended.Go(func() {
		err := fault.Contain(func() error { return s.work(granted, a, duty, gatewayURL, one.stale) })
		if err != nil {
			s.strays.Store(true)
		}
		isKnown := isAdapters(err) && a.Stats.AdapterFailures > 0 // of a row of failures the first is logged
		if err != nil && !isKnown {
			s.log.Error(s.life, "The run "+string(granted.Run.ID)+" of an agent of the adapter \""+a.Adapter+"\" failed.", err)
		}
		s.mutex.Lock()
		delete(s.working, granted.Run.ID)
		s.mutex.Unlock()
		select {
		case s.woken <- struct{}{}:
		default:
		}
	})
}

// work works on a lease until it has ended, or somebody else has taken it on.
func (s *Service) work(granted inbound.Lease, a agent.Agent, duty agent.Duty, gatewayURL string, stale <-chan Stale) error {
	lease, err := ParseLease(granted.Fields().Append(nil))
	if err != nil {
		return err
	}
	worker := Worker{
		Gateway: s.leases, Programs: s.programs, Clock: s.clock, GatewayURL: gatewayURL, LongestStop: s.settings.LongestStop,
		Left: s.hooks.Left,
		Warn: s.warn,
	}
	if duty.Program != nil {
		err = s.start(worker, lease, *duty.Program, a.Model, stale)
	} else {
		err = s.post(granted, lease, a, duty.URL, gatewayURL)
	}
	if failure, hasFailed := errors.AsType[NotStarted](err); hasFailed {
		return errors.Join(err, worker.Release(s.life, lease, failure))
	}
	return err
}

// warn tells the operator of costs that somebody should look at.
func (s *Service) warn(err error) { s.log.Error(s.life, "Look at the costs of an agent.", err) }

// start has a worker work with a program, which it gives the secrets that its configuration refers to.
func (s *Service) start(worker Worker, lease Lease, program agent.Program, model string, stale <-chan Stale) error {
	if len(program.Secrets) == 0 {
		return worker.Work(s.life, lease, program, model, stale)
	}
	values, err := s.secrets.Reveal(s.life, lease.Issue.Company, slices.Sorted(maps.Values(program.Secrets)))
	if refused := fault.Of(err); refused != nil && refused.Code == fault.NotFound {
		return NotStarted{Cause: errors.New(refused.Message)}
	}
	if err != nil {
		return err
	}
	worker.Env, worker.Hidden = map[string]string{}, map[string]string{}
	for variable, name := range program.Secrets {
		worker.Env[variable] = values[name]
	}
	for _, name := range slices.Sorted(maps.Keys(values)) { // of two with one value the last
		if len(values[name]) >= redact.Least {
			worker.Hidden[values[name]] = "[secret " + name + "]"
		}
	}
	forget := s.secrets.Give(lease.ID, redact.New(worker.Hidden))
	defer forget()
	return worker.Work(s.life, lease, program, model, stale)
}

// isAdapters reports whether an adapter failed.
func isAdapters(err error) bool {
	_, is := errors.AsType[NotStarted](err)
	return is
}

// hasRoom reports whether one more lease of an adapter can be worked on.
func (s *Service) hasRoom(adapter string) bool {
	most := s.settings.Requests
	if adapter == agent.ProcessAdapter {
		most = s.settings.Processes
	}
	return s.count(adapter) < most
}

func (s *Service) count(adapter string) (n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, one := range s.working {
		if one.adapter == adapter {
			n++
		}
	}
	return n
}

func (s *Service) countOf(which id.Agent) (n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, one := range s.working {
		if one.agent == which {
			n++
		}
	}
	return n
}
