package leases

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"holdco/app/work"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Claim leases the next issue that an agent may take.
func (s *Service) Claim(ctx context.Context, caller agent.Caller, claim inbound.Claim) (*inbound.Lease, error) {
	c, err := s.parse(caller, &claim)
	if err != nil {
		return nil, err
	}
	granted, err := s.grant(ctx, c)
	if err != nil || granted != nil || c.wait == 0 {
		return granted, err
	}
	return s.await(ctx, c)
}

// claim is a claim that was parsed.
type claim struct {
	agent.Caller

	keys     [3]string // under which issues are for the agent: see issue.ClaimKeys; set by look
	wait     time.Duration
	terms    run.Terms
	usual    time.Duration // the lease time if the terms name none
	mostOpen int
	runToken access.Value // empty: none is wanted
	reserve  money.USD    // what a lease reserves on an issue without a limit
	isDear   bool         // issues were too dear when look looked last
	found    id.Issue     // what look found last outside of a unit, where it can search further; empty: nothing
}

func (s *Service) parse(caller agent.Caller, sent *inbound.Claim) (*claim, error) {
	if err := caller.MayClaim(); err != nil {
		return nil, err
	}
	c := &claim{
		Caller: caller, terms: run.Terms{Key: sent.Key, Holder: sent.Holder}, usual: s.settings.LeaseTime,
		mostOpen: min(cmp.Or(sent.MostOpen, run.MostOpen), run.MostOpen), reserve: s.settings.Reserve,
	}
	if sent.RunToken != nil && *sent.RunToken {
		c.runToken = access.NewRunToken(s.entropy.Bits256())
		c.terms.Hash = c.runToken.Hash()
	}
	c.terms.IsMetered = sent.Metered != nil && *sent.Metered
	problems := slices.Clone(sent.Problems)
	if sent.Wait != nil {
		if *sent.Wait < 0 || *sent.Wait > inbound.MostWait {
			problems.Add(fault.Fieldf("wait", fault.OutOfRange, "wait must be from 0 to %d", inbound.MostWait))
		}
		c.wait = time.Duration(*sent.Wait) * time.Second
	}
	if sent.LeaseSeconds != nil {
		least, most := int64(run.ShortestLease/time.Second), int64(run.LongestLease/time.Second)
		if *sent.LeaseSeconds < least || *sent.LeaseSeconds > most {
			problems.Add(fault.Fieldf("leaseSeconds", fault.OutOfRange, "leaseSeconds must be from %d to %d", least, most))
		}
		c.terms.Time = time.Duration(*sent.LeaseSeconds) * time.Second
	}
	if len(problems) > 0 {
		return nil, fault.Validation(problems)
	}
	return c, nil
}

// await waits for an issue until the claim's time is over, or the server stops.
func (s *Service) await(ctx context.Context, c *claim) (*inbound.Lease, error) {
	w, err := s.waiting.join(c.Caller, c.keys)
	if err != nil {
		return nil, err
	}
	defer s.waiting.leave(c.Company, w)
	over := time.NewTimer(c.wait)
	defer over.Stop()
	for {
		// It looks once more after it has joined: an issue can have come before.
		granted, err := s.grant(ctx, c)
		if err != nil || granted != nil {
			return granted, err
		}
		select {
		case <-w.wake:
		case <-over.C:
			return s.grant(ctx, c) // the same key may have got a lease meanwhile
		case <-s.waiting.closing:
			return nil, nil //nolint:nilnil // there is nothing to take
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// grant leases an issue, or returns nil. It opens no unit of work while there is nothing to take, so it looks before, unless the last
// claim of the agent got something. It looks without a snapshot: that there is nothing to take follows from one of the reads alone. It
// looks aside, because the claim may wait afterwards.
func (s *Service) grant(ctx context.Context, c *claim) (granted *inbound.Lease, err error) {
	began := time.Now() //nolint:forbidigo // how long it takes is measured on the monotonic clock
	for isKnown := s.served.has(c.ID); ; isKnown = false {
		if !isKnown {
			var found *candidate
			err := s.looks.Make(ctx, func() (err error) {
				found, err = c.look(ctx, single(s.store))
				return err
			})
			if err != nil || found == nil {
				return nil, err
			}
			c.found = found.issue.ID
		}
		if err := ctx.Err(); err != nil { // the client is gone
			return nil, err
		}
		granted, err = s.take(ctx, c, began)
		s.served.note(c.ID, granted != nil)
		if err != nil || granted != nil || !isKnown || !c.isDear {
			return granted, err
		}
	}
}

// served are the agents whose last claim in this process got an issue: it is likely that the next one does.
type served struct {
	mutex  sync.Mutex
	agents map[id.Agent]struct{}
}

func (s *served) has(which id.Agent) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, has := s.agents[which]
	return has
}

func (s *served) note(which id.Agent, gotIssue bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if gotIssue {
		s.agents[which] = struct{}{}
	} else {
		delete(s.agents, which)
	}
}

// take leases an issue, or returns nil: there is nothing to take. The claim began at an instant.
func (s *Service) take(ctx context.Context, c *claim, began time.Time) (*inbound.Lease, error) {
	newRun, newLease := id.New[id.Run](s.ids.UUIDv7()), id.New[id.Lease](s.ids.UUIDv7())
	var granted *inbound.Lease
	var isAlone bool
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		granted = nil
		if err := tx.Turn(ctx, c.Company); err != nil {
			return err
		}
		found, err := c.look(ctx, inUnit(tx))
		if err != nil || found == nil {
			return err
		}
		isReplayed := found.run != nil
		if !isReplayed {
			err = found.start(ctx, tx, work.In(tx, s.ids, c.Company, c.Actor()), c, newRun, newLease)
		} else {
			err = found.resume(ctx, tx, c)
		}
		if err != nil {
			return err
		}
		granted, isAlone = new(leaseOf(found.agent, found.issue, *found.run)), found.isAlone
		granted.Budget, granted.IsReplayed = budgetOf(found.envelopes, *found.run), isReplayed
		return nil
	})
	if err != nil || granted == nil {
		return nil, err
	}
	granted.RunToken = c.runToken
	// The context is read last, so that it has the comments up to Run.ContextAt.
	shown, err := contextOf(ctx, s.store, granted.Run, granted.Issue, isAlone)
	if err != nil {
		return granted, unlessGone(err)
	}
	granted.Context = &shown
	if granted.Run.IsMetered && granted.Run.Lease.Token > 1 { // the program may resume a session of a former run
		if granted.Sessions, err = s.store.Runs().Sessions(ctx, granted.Issue.ID, granted.Run.ID); err != nil {
			return granted, err
		}
	}
	granted.Took = time.Since(began) //nolint:forbidigo // as above
	return granted, nil
}

// candidate is what a claim can have.
type candidate struct {
	company company.Company
	agent   agent.Agent
	issue   issue.Issue
	isAlone bool     // the issue has neither children nor comments
	run     *run.Run // under the live lease that was claimed with the same idempotency key before, or that was granted; nil: none

	envelopes budget.Envelopes // of a lease on the issue, as they are
	need      money.USD        // what that reserves
}

// mostPerKey is how many issues under each key a claim looks at when the first ones cannot be taken.
const mostPerKey = 32

// look finds what a claim can have, or nil. It makes single reads, or reads in a unit of work that has the turn of the company.
func (c *claim) look(ctx context.Context, in reading) (*candidate, error) {
	keys := issue.ClaimKeys(c.ID, c.Team)
	atWork, err := in.agents.AtWork(ctx, c.ID, c.Company, keys[:])
	if err != nil {
		return nil, unlessGone(err)
	}
	if err := isThere(atWork.Company); err != nil {
		return nil, err
	}
	found := candidate{company: atWork.Company, agent: atWork.Agent}
	if err := found.company.Allows(company.Update); err != nil {
		return nil, err
	}
	if err := found.agent.StillAccepts(c.Caller); err != nil { // it can have waited for long
		return nil, err
	}
	c.keys = issue.ClaimKeys(found.agent.ID, found.agent.Team)
	if c.terms.Key != "" {
		if found.run, err = c.liveUnderKey(ctx, in, found); err != nil || found.run != nil {
			return &found, err
		}
	}
	if found.agent.Obstacle(found.company) != agent.NoObstacle {
		return nil, nil //nolint:nilnil // there is nothing to take
	}
	if mayTry, err := found.mayTry(ctx, in, atWork.OpenRuns); err != nil || !mayTry {
		return nil, err
	}
	if atWork.OpenRuns >= c.mostOpen {
		return nil, nil //nolint:nilnil // it has enough
	}
	c.isDear = false
	if found.agent.Team == c.Team {
		if atWork.First == nil {
			return nil, nil //nolint:nilnil // there is nothing to take
		}
		found.isAlone = !atWork.First.HasChildren && !atWork.First.HasComments
		if !atWork.First.IsEnding {
			if isFree, err := c.isFree(ctx, in, &found, atWork.First.Issue, atWork.Accounts); err != nil || isFree {
				return &found, err
			}
		}
		if c.isDear && found.envelopes[:whoWorks].IsFull() {
			return nil, nil //nolint:nilnil // nothing can be taken
		}
	}
	found.isAlone = false // it is not known
	firsts, err := in.issues.Claimable(ctx, c.Company, c.keys[:], mostPerKey)
	if err != nil {
		return nil, err
	}
	if isFree, err := c.firstFree(ctx, in, &found, firsts); err != nil || isFree {
		return &found, err
	}
	if !c.isDear {
		return nil, nil //nolint:nilnil // there is nothing to take
	}
	if isFree, err := c.search(ctx, in, &found); err != nil || isFree {
		return &found, err
	}
	return nil, nil //nolint:nilnil // there is nothing to take
}

// whoWorks is how many envelopes are those of the company, the team and the agent, which come first.
const whoWorks = 3

// isFree makes an issue the candidate, unless it is too dear, or about to be cancelled with one above it. It keeps the accounts that it
// has brought to the present, for the issues that are looked at next.
func (c *claim) isFree(
	ctx context.Context, in reading, found *candidate, first issue.Issue, accounts map[string]budget.Account,
) (bool, error) {
	at, err := in.now(ctx)
	if err != nil {
		return false, err
	}
	found.issue = first
	found.envelopes = work.EnvelopesOf(found.company, found.agent, work.Begun(found.agent, first), first, accounts)
	if err := work.Current(ctx, in.envelopes, found.envelopes, at); err != nil {
		return false, err
	}
	for _, e := range found.envelopes {
		accounts[e.Account.ID] = e.Account
	}
	var isGranted bool
	if found.need, isGranted = found.envelopes.Need(c.reserve); !isGranted {
		c.isDear = true
		return false, nil
	}
	isBelow, err := isBelowCancelled(ctx, in.issues, found.company.ID, first.Parent)
	return !isBelow, err
}

// firstFree makes the first of some issues the candidate that is free.
func (c *claim) firstFree(ctx context.Context, in reading, found *candidate, firsts []issue.Issue) (bool, error) {
	if len(firsts) == 0 {
		return false, nil
	}
	ids := []string{string(found.company.ID), string(found.agent.Team), string(found.agent.ID)}
	for _, first := range firsts {
		ids = append(ids, string(first.ID), string(first.Goal), string(first.Project), string(first.Workflow))
	}
	accounts, err := in.envelopes.Accounts(ctx, c.Company, ids...)
	if err != nil {
		return false, err
	}
	for _, first := range firsts {
		isFree, err := c.isFree(ctx, in, found, first, accounts)
		if err != nil {
			return false, err
		}
		if !isFree {
			continue
		}
		if isEnding, err := work.IsEnding(ctx, in.projects, first.Project); err != nil || !isEnding {
			return err == nil, err
		}
	}
	return false, nil
}

// Bounds of a search beyond the first issues.
const (
	mostGroups   = 1000
	mostPerGroup = 8
	mostAtOnce   = 256 // whose accounts are read at once
)

// search looks beyond the first issues, which are too dear: at the first of each group that meets other limits. In a unit of work, which
// must not take that long, it tries what was found before.
func (c *claim) search(ctx context.Context, in reading, found *candidate) (bool, error) {
	if in.lock != nil {
		if c.found == "" {
			return false, nil
		}
		before, err := in.lock(ctx, c.found)
		if exists, err := store.Exists(err); err != nil || !exists {
			return false, err
		}
		if before.Owner() != c.Company || !before.IsClaimable() || !slices.Contains(c.keys[:], before.ClaimKey()) {
			return false, nil
		}
		return c.firstFree(ctx, in, found, []issue.Issue{before})
	}
	firsts, err := in.issues.ClaimableByBudget(ctx, c.Company, c.keys[:], mostGroups, mostPerGroup)
	if err != nil {
		return false, err
	}
	for some := range slices.Chunk(firsts, mostAtOnce) {
		if isFree, err := c.firstFree(ctx, in, found, some); err != nil || isFree {
			return isFree, err
		}
	}
	return false, nil
}

// liveUnderKey returns the run whose lease was claimed under the idempotency key before, while that is live; nil: there is none. It
// fails with fault.IdempotencyConflict when this claim asks for another lease.
func (c *claim) liveUnderKey(ctx context.Context, in reading, by candidate) (*run.Run, error) {
	kept, err := in.runs.ByKey(ctx, c.ID, c.terms.Key)
	if exists, err := store.Exists(err); err != nil || !exists {
		return nil, err
	}
	at, err := in.now(ctx)
	if err != nil {
		return nil, err
	}
	circumstances, err := work.Circumstances(ctx, in.runs, by.company, by.agent, at)
	if err != nil || !kept.IsLive(circumstances) {
		return nil, err
	}
	return &kept, kept.CheckRepeat(c.terms)
}

// isBelowCancelled reports whether an issue with a parent, or none, is about to be cancelled with one above it.
func isBelowCancelled(ctx context.Context, in store.IssueReader, of id.Company, parent id.Issue) (bool, error) {
	if parent == "" {
		return false, nil
	}
	above, err := in.Above(ctx, of, parent)
	return issue.IsBelowCancelled(above), err
}

// reading is what single reads and a unit of work have in common.
type reading struct {
	companies store.CompanyReader
	agents    store.AgentReader
	issues    store.IssueReader
	runs      store.RunReader
	envelopes store.EnvelopeReader
	projects  store.ProjectReader
	now       func(context.Context) (time.Time, error)
	lock      func(context.Context, id.Issue) (issue.Issue, error) // nil outside of a unit of work
}

func single(r store.Reader) reading {
	return reading{r.Companies(), r.Agents(), r.Issues(), r.Runs(), r.Envelopes(), r.Projects(), r.StoreNow, nil}
}

func inUnit(tx store.Tx) reading {
	return reading{tx.Companies(), tx.Agents(), tx.Issues(), tx.Runs(), tx.Envelopes(), tx.Projects(), tx.StoreNow, tx.Issues().Lock}
}

// start grants a lease on the issue of the candidate, and keeps its run.
func (found *candidate) start(ctx context.Context, tx store.Tx, unit *work.Unit, c *claim, newRun id.Run, newLease id.Lease) error {
	at, err := tx.StoreNow(ctx)
	if err != nil {
		return err
	}
	if err := found.lapse(ctx, tx, c.Actor(), at); err != nil {
		return err
	}
	next, started, err := found.issue.Start(found.agent.ID, found.agent.Team, at)
	if err != nil {
		return err
	}
	terms := c.terms
	terms.Time = cmp.Or(terms.Time, c.usual)
	granted := run.Grant(newRun, newLease, next, found.company.LeaseEpoch, terms, found.need, at)
	before := slices.Clone(found.envelopes)
	found.envelopes.Hold(found.need)
	if of := &found.envelopes[len(found.envelopes)-1]; !next.PerTask.IsSet { // its limit is the agent's, which may be another than before
		*of = of.Raised()
	}
	if _, err := unit.Keep(ctx, before, found.envelopes, at); err != nil {
		return err
	}
	if err := tx.Issues().Save(ctx, next); err != nil {
		return err
	}
	if err := tx.Runs().Add(ctx, granted); err != nil {
		return err
	}
	found.issue, found.run = next, &granted
	if err := tx.Record(ctx, started.By(c.Actor())); err != nil {
		return err
	}
	return unit.FollowStep(ctx, next)
}

// resume gives the run of the candidate a new token, if one is wanted: the one before was stored as its hash alone.
func (found *candidate) resume(ctx context.Context, tx store.Tx, c *claim) (err error) {
	if found.issue, err = tx.Issues().Get(ctx, found.run.Issue); err != nil {
		return err
	}
	at, err := tx.StoreNow(ctx)
	if err != nil {
		return err
	}
	found.envelopes, err = envelopesNow(ctx, tx.Envelopes(), found.company, found.agent, found.issue, *found.run, at)
	if err != nil || c.terms.Hash == "" {
		return err
	}
	kept, err := tx.Runs().Lock(ctx, found.run.ID)
	if err != nil {
		return err
	}
	kept = kept.NewToken(c.terms.Hash)
	found.run = &kept
	tx.Unrecorded()
	return tx.Runs().Save(ctx, kept)
}
