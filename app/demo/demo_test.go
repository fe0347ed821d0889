package demo_test

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/agents"
	"holdco/app/approvals"
	"holdco/app/budgets"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/demo"
	"holdco/app/doctor"
	"holdco/app/goals"
	"holdco/app/issues"
	"holdco/app/leases"
	"holdco/app/work"
	"holdco/app/workflows"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

var (
	admin = access.System("test")
	until = time.Date(2026, 11, 23, 10, 25, 0, 0, time.UTC) // a Monday
)

// counter is entropy that counts.
type counter struct{ last atomic.Uint64 }

func (c *counter) Bits256() (bits [32]byte) {
	binary.BigEndian.PutUint64(bits[:], c.last.Add(1))
	return bits
}

// atTheEnd is the clock of those who look at the past when it has just ended.
type atTheEnd struct{}

func (atTheEnd) Now() time.Time { return until }

// noWorkspaces is an outbound.Workspaces without a disk.
type noWorkspaces struct{}

func (noWorkspaces) Make(id.Company) error       { return nil }
func (noWorkspaces) Remove(id.Company) error     { return nil }
func (noWorkspaces) List() ([]id.Company, error) { return nil, nil }

// noLog is an outbound.Log that keeps nothing.
type noLog struct{}

func (noLog) Error(context.Context, string, error) {}

// world is a store as others see it, and what writes down the past on it.
type world struct {
	store    store.Store
	migrator outbound.Migrator
	past     inbound.Demo
}

func on(engine sqlstore.Engine, migrator *sqlstore.Migrator) *world {
	clock, joint, ids := new(demo.Clock), sqlstore.NewJoint(engine), system.IDs{}
	s := sqlstore.New(joint, clock, ids, migrator)
	adapters := []string{"process"}
	cached, prices := &cache.Cache[agent.Credential]{}, &cache.Prices{}
	return &world{
		store: sqlstore.New(engine, system.Clock{}, ids, migrator).WithClock(atTheEnd{}), migrator: migrator,
		past: demo.New(demo.World{
			Clock: clock, Unit: joint.Unit,
			Companies: companies.New(s, noWorkspaces{}, ids, noLog{}, companies.Settings{Adapters: adapters}, cached),
			Agents:    agents.New(s, clock, ids, new(counter), agents.Settings{Adapters: adapters}, cached, prices),
			Goals:     goals.New(s, ids), Projects: goals.NewProjects(s, ids), Workflows: workflows.New(s, ids),
			Budgets: budgets.New(s, ids), Issues: issues.New(s, ids, nil), Approvals: approvals.New(s, ids),
			Leases: leases.New(s, ids, new(counter), leases.Settings{LeaseTime: time.Minute, Reserve: 100_000, MostWaiting: 1}, prices),
		}),
	}
}

func onSQLite(t *testing.T) *world {
	t.Helper()
	path := filepath.Join(sqlitetest.Dir(t), "holdco.db")
	engine, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: path, Synchronous: sqlite.Normal, UnitTimeout: time.Minute, // many tests run at once
	})
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return on(engine, engine.Migrator())
}

func onPostgres(t *testing.T) *world {
	t.Helper()
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: postgrestest.URL(t)})
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return on(engine, engine.Migrator())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fill(t *testing.T, w *world, days int, seed uint64) inbound.DemoFilled {
	t.Helper()
	filled, err := w.past.Fill(t.Context(), admin, inbound.DemoPast{Days: days, Until: until, Seed: seed, Progress: func(int, int) {}})
	must(t, err)
	return filled
}

// onBoth runs a test on a store of each kind.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T) *world{"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func isWell(t *testing.T, w *world) {
	t.Helper()
	report, err := doctor.New(doctor.Patient{Clock: system.Clock{}, Store: w.store, Migrator: w.migrator}).Examine(t.Context(), admin,
		inbound.Examination{Only: []string{"companies", "budgets", "issues"}, Timeout: time.Minute})
	must(t, err)
	if failed := report.Failed(true); len(failed) > 0 {
		t.Errorf("%+v", report)
	}
}

// What servers do on the store all the time finds nothing to do in the past.
func TestThePastIsAsIfItHadBeenThere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		jobs, stop := work.New(w.store, system.IDs{}), make(chan struct{})
		stopped := make(chan error, 1)
		go func() {
			stopped <- func() error {
				for {
					for _, job := range []func(context.Context) (bool, error){
						jobs.Sweep, jobs.ExpireApprovals, jobs.WakeDue, jobs.Settle,
					} {
						if _, err := job(t.Context()); err != nil {
							return err
						}
					}
					select {
					case <-stop:
						return nil
					case <-time.After(5 * time.Millisecond):
					}
				}
			}()
		}()
		filled := fill(t, w, 6, 1)
		close(stop)
		must(t, <-stopped)
		isWell(t, w)
		of := filled.Issues.Of
		if of[issue.Done] < 60 || of[issue.Review] == 0 || of[issue.Handoff] == 0 || of[issue.Assigned]+of[issue.Queued] == 0 ||
			of[issue.Running] > 0 {
			t.Errorf("there are %v", of)
		}
		for after := (page.Position{}); ; {
			found, err := w.store.Activity().List(t.Context(), store.ActivityFilter{Company: &filled.Company}, after, 200)
			must(t, err)
			for _, one := range found.Items {
				isTheirs := one.Actor == "system:demo" || strings.HasPrefix(string(one.Actor), "agent:")
				if one.At.After(until) || one.At.Before(until.AddDate(0, 0, -7)) || !isTheirs && one.Type != event.CompanyBudgetBreach {
					t.Errorf("%s is in the log at %s, by %s", one.Type, one.At, one.Actor)
				}
			}
			if after = found.Next; after.IsStart() {
				break
			}
		}
	})
}

// Whenever it ends, somebody has something to review, something to answer and something to approve then.
func TestThePastLeavesSomethingToDo(t *testing.T) {
	t.Parallel()
	for n := range 8 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			w, ends := onSQLite(t), until.Add(time.Duration(n)*7*time.Hour)
			filled, err := w.past.Fill(t.Context(), admin, inbound.DemoPast{
				Days: 2, Until: ends, Seed: uint64(n), //nolint:gosec // n is not negative
			})
			must(t, err)
			of := filled.Issues.Of
			if of[issue.Review] == 0 || of[issue.Handoff] == 0 || of[issue.Assigned]+of[issue.Queued] == 0 {
				t.Errorf("at %s there are %v", ends, of)
			}
			asked, err := w.store.Approvals().List(t.Context(), store.ApprovalFilter{
				Company: filled.Company, Status: []approval.Status{approval.Pending},
			}, page.Position{}, 1)
			must(t, err)
			if len(asked.Items) == 0 {
				t.Errorf("at %s nobody asks for anything", ends)
			}
		})
	}
}

// A seed gives the same past on any store, and another one another.
func TestThePastFollowsFromItsSeed(t *testing.T) {
	t.Parallel()
	first := fill(t, onSQLite(t), 4, 7)
	onBoth(t, func(t *testing.T, w *world) {
		again := fill(t, w, 4, 7)
		if !reflect.DeepEqual(first.Issues, again.Issues) || first.Spent.Account.Spent != again.Spent.Account.Spent {
			t.Errorf("it is %+v, and then %+v", first, again)
		}
	})
	if other := fill(t, onSQLite(t), 4, 8); first.Spent.Account.Spent == other.Spent.Account.Spent {
		t.Error("another seed gives the same")
	}
}

func TestThePastIsRefused(t *testing.T) {
	t.Parallel()
	w := onSQLite(t)
	past := inbound.DemoPast{Days: 1, Until: until, Seed: 1}
	is := func(code fault.Code, caller access.Caller, past inbound.DemoPast) {
		t.Helper()
		if _, err := w.past.Fill(t.Context(), caller, past); fault.CodeOf(err) != code {
			t.Errorf("not %s but %v", code, err)
		}
	}
	is(fault.InsufficientScope, access.Caller{Scopes: access.Scopes{{Permission: access.Write}}}, past)
	for _, days := range []int{0, -1, 367} {
		wrong := past
		wrong.Days = days
		is(fault.ValidationFailed, admin, wrong)
	}
	fill(t, w, 1, 1)
	is(fault.SlugInUse, admin, past)
}

// What was done until an interruption is whole.
func TestThePastCanBeInterrupted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := w.past.Fill(ctx, admin, inbound.DemoPast{Days: 30, Until: until, Seed: 1, Progress: func(day, _ int) {
			if day == 3 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		isWell(t, w)
	})
}
