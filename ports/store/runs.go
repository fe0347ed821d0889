package store

import (
	"context"
	"time"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
)

// RunReader reads runs, with their leases, checkpoints and charges.
type RunReader interface {
	Getter[id.Run, run.Run]

	// ByLease returns the run under a lease, or fault.NotFound.
	ByLease(ctx context.Context, which id.Lease) (run.Run, error)

	// ByHash returns the run whose token has this hash (access.Value.Hash), in any state, or fault.NotFound.
	ByHash(ctx context.Context, hash string) (run.Run, error)

	// ByKey returns the open run of an agent whose lease was claimed under an idempotency key, or fault.NotFound. Of several it is the
	// one that began last: the leases of the others have run out or were revoked, and are about to be ended.
	ByKey(ctx context.Context, of id.Agent, key string) (run.Run, error)

	// List returns at most size runs of an issue that come after a position: newest first, and by descending id within one
	// instant.
	List(ctx context.Context, of id.Issue, after page.Position, size int) (page.Page[run.Run], error)

	// OpenOfAgent returns the open runs of an agent, oldest first: run.MostOpen at most.
	OpenOfAgent(ctx context.Context, of id.Agent) ([]run.Run, error)

	// OpenOf returns the open run of an issue, or fault.NotFound.
	OpenOf(ctx context.Context, of id.Issue) (run.Run, error)

	// TeamsAtWork returns the teams for which there are open runs in a company, each once, in no order. It reads all of these runs.
	TeamsAtWork(ctx context.Context, of id.Company) ([]id.Team, error)

	// Checkpoints returns the newest checkpoints of a run, most at most, newest first.
	Checkpoints(ctx context.Context, of id.Run, most int) ([]run.Checkpoint, error)

	// CheckpointsOn returns the newest checkpoints of all runs of an issue, most at most, newest first.
	CheckpointsOn(ctx context.Context, of id.Issue, most int) ([]run.Checkpoint, error)

	// Charges returns those charges of a run that have one of the keys.
	Charges(ctx context.Context, of id.Run, keys []string) ([]cost.Entry, error)

	// Sessions returns the tokens that all runs on an issue but one have charged, by the sessions that the charges name: those of
	// MaxSessions at most, in no order.
	Sessions(ctx context.Context, issue id.Issue, except id.Run) (map[string]cost.Tokens, error)

	// Overdue returns the open runs whose leases have run out at an instant, oldest first: Portion at most. Their companies are not
	// being deleted, and are still in the leases' epochs.
	Overdue(ctx context.Context, at time.Time) ([]OpenRun, error)

	// Outdated returns the open runs of a company whose leases are of an epoch before one, by ascending epoch: Portion at most.
	Outdated(ctx context.Context, of id.Company, epoch int64) ([]OpenRun, error)

	// OpenOfHolder returns the open runs whose leases have a holder: Portion at most.
	OpenOfHolder(ctx context.Context, holder string) ([]OpenRun, error)

	// Revocation returns why an epoch of a company ended: that of the first after it that has a reason.
	Revocation(ctx context.Context, of id.Company, epoch int64) (run.Reason, error)

	// CountOpen counts the open runs of all companies. It also returns when the first of their leases has run out or will; zero: there
	// is none.
	CountOpen(ctx context.Context) (count int, first time.Time, err error)

	// Sweep returns the state of the sweep, and whether there are open runs.
	Sweep(ctx context.Context) (state run.Sweep, hasOpen bool, err error)

	// OldestOpen returns the start of the oldest open run; zero: there is none. It reads all of them.
	OldestOpen(ctx context.Context) (time.Time, error)
}

// MaxSessions bounds RunReader.Sessions.
const MaxSessions = 1000

// OpenRun is a run that has not ended, whether its lease is live or not.
type OpenRun struct {
	ID      id.Run
	Company id.Company
	Issue   id.Issue
}

// LockedLease is a run that is locked, with all that decides whether its lease can be used.
type LockedLease struct {
	Run      run.Run
	Agent    agent.Agent               // as in AtWork
	Company  company.Company           // as in AtWork
	Issue    issue.Issue               // LockForCall: only ID, Status, Parent, Project, Goal, PerTask and Spent
	IsEnding bool                      // the project of the issue is archived: the issue is about to be cancelled
	Accounts map[string]budget.Account // those that there are of Run.Envelopes
	Pending  int                       // comments on the issue after Run.ContextAt
	Blocks   bool                      // issues wait for this one; LockForCall: false
	Charged  bool                      // the run has a charge under one of the keys of the call
}

// Runs reads and changes runs.
type Runs interface {
	RunReader

	// An issue has one open run at most. Save does not change the company, the issue, the agent, the
	// attempt, StartedAt, and of the lease its id, its token, its epoch, its key and its holder, which are permanent.
	Repository[id.Run, run.Run]

	// LockLease is Lock of ByLease.
	LockLease(ctx context.Context, which id.Lease) (run.Run, error)

	// LockForCall is LockLease with all that decides whether the lease can be used. Comments by one actor are not pending. It is
	// fault.NotFound too if the agent, the company or the issue is gone. StoreNow after it costs nothing. Keys are those of charges that
	// the call reports.
	LockForCall(ctx context.Context, which id.Lease, but event.Actor, keys ...string) (LockedLease, error)

	// LockForEnd is LockForCall with the whole issue. A unit that has the turn of the company can save that as if it had locked it.
	LockForEnd(ctx context.Context, which id.Lease, but event.Actor, keys ...string) (LockedLease, error)

	// LockOpen is Lock of OpenOf.
	LockOpen(ctx context.Context, of id.Issue) (run.Run, error)

	// AddCheckpoint inserts a checkpoint.
	AddCheckpoint(ctx context.Context, added run.Checkpoint) error

	// AddCharges inserts charges or corrections, and adds them to the sums that CostReader reads, to Stats.Spent of the agent and, while
	// it is running, to Spent of the issue, in the turn of the company. No two of a run have one key.
	AddCharges(ctx context.Context, added []cost.Entry) error

	// Revoke notes why an epoch of a company begins: it ended the one before.
	Revoke(ctx context.Context, of id.Company, epoch int64, why run.Reason) error

	// SaveSweep replaces the state of the sweep. It needs no event.
	SaveSweep(ctx context.Context, state run.Sweep) error

	// Shorten makes every lease that would last longer than its time from an instant last no longer than that. It needs no event.
	Shorten(ctx context.Context, at time.Time) error

	// Postpone lets Overdue read no more the leases that have been renewed until after an instant, Portion of them, and reports
	// whether some are left. It needs no event.
	Postpone(ctx context.Context, at time.Time) (left bool, err error)

	// Forget clears the answers of the calls that ended runs before an instant, Portion of them at most, and returns how many. It needs
	// no event.
	Forget(ctx context.Context, before time.Time) (int, error)
}
