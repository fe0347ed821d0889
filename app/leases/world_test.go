package leases_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/app/agents"
	"holdco/app/approvals"
	"holdco/app/budgets"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/costs"
	"holdco/app/goals"
	"holdco/app/issues"
	"holdco/app/leases"
	"holdco/app/teams"
	"holdco/app/work"
	"holdco/app/workflows"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/money"
	"holdco/domain/run"
	"holdco/domain/team"
	"holdco/domain/workflow"
	"holdco/ports/outbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// leaseTime is that of claims which name none.
const leaseTime = 5 * time.Minute

// mostWaiting is how many claims can wait.
const mostWaiting = 3

// world is two companies at work, on a store of their own, with a clock that the test moves.
type world struct {
	ctx   context.Context
	store store.Store
	clock *storetest.Clock

	companies *companies.Service
	agents    *agents.Service
	issues    *issues.Service
	leases    *leases.Service
	work      *work.Service
	teams     *teams.Service
	goals     *goals.Service
	projects  *goals.Projects
	budgets   *budgets.Service
	costs     *costs.Service
	approvals *approvals.Service
	workflows *workflows.Service

	offices  []*office
	said     said
	told     map[id.Entry]told // the events that were checked
	foreseen *foreseen         // nil while several work at once
}

// office is a company, and who works there.
type office struct {
	id     id.Company
	teams  []id.Team
	agents []id.Agent // some may have retired
	of     []id.Team  // their teams
	flow   id.Workflow
}

func (o *office) caller(n int) agent.Caller {
	return agent.Caller{ID: o.agents[n], Company: o.id, Team: o.of[n]}
}

// said is what was acknowledged to agents, and has to stay true.
type said struct {
	mutex   sync.Mutex
	granted []grant
	endings []ending
	charged map[id.Run]map[string]money.USD // by key
	filed   map[id.Run]int
	noted   map[id.Run]int // checkpoints
}

// grant is a lease that was granted.
type grant struct {
	by    agent.Caller
	run   id.Run
	lease id.Lease
	token int64
}

// ending is a call that ended a lease, and its answer.
type ending struct {
	grant

	action      string
	fingerprint string
	answer      string
	status      run.Status
	issue       id.Issue
}

// onSQLite is a store in memory. It ends with close.
func onSQLite(t testing.TB, clock *storetest.Clock, ids *storetest.IDs) (_ store.Store, end func() error) {
	t.Helper()
	engine, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: sqlite.Memory, Image: sqlitetest.Image(t), UnitTimeout: 10 * time.Minute, // many tests run at once
	})
	if err != nil {
		t.Fatal(err)
	}
	return sqlstore.New(engine, clock, ids, engine.Migrator()), engine.Close
}

func onPostgres(t *testing.T, clock *storetest.Clock, ids *storetest.IDs) store.Store {
	t.Helper()
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: postgrestest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return sqlstore.New(engine, clock, ids, engine.Migrator()).WithClock(clock)
}

var caller = access.System("test")

// newWorld founds the companies, each with two teams of two agents.
func newWorld(ctx context.Context, s store.Store, clock *storetest.Clock, ids outbound.IDs) (*world, error) {
	w := &world{ctx: ctx, store: s, clock: clock}
	w.said.charged, w.said.filed, w.said.noted = map[id.Run]map[string]money.USD{}, map[id.Run]int{}, map[id.Run]int{}
	cached := &cache.Cache[agent.Credential]{}
	w.companies = companies.New(s, noWorkspaces{}, ids, noLog{},
		companies.Settings{Adapters: []string{"process"}, Retention: 720 * time.Hour}, cached)
	w.agents = agents.New(s, clock, ids, new(counter), agents.Settings{Adapters: []string{"process"}}, cached, &cache.Prices{})
	w.issues, w.work = issues.New(s, ids, nil), work.New(s, ids)
	w.approvals, w.workflows = approvals.New(s, ids), workflows.New(s, ids)
	settings := leases.Settings{LeaseTime: leaseTime, Reserve: 100_000, MostWaiting: mostWaiting}
	w.leases = leases.New(s, ids, &counter{}, settings, &cache.Prices{})
	w.teams, w.goals, w.projects = teams.New(s, ids), goals.New(s, ids), goals.NewProjects(s, ids)
	w.budgets, w.costs = budgets.New(s, ids), costs.New(s, ids)
	for n := range 2 {
		o, err := w.found(fmt.Sprint("company-", n), 2, 2)
		if err != nil {
			return nil, err
		}
		w.offices = append(w.offices, o)
	}
	return w, nil
}

// found makes a company with so many teams of so many agents.
func (w *world) found(slug string, teams, each int) (*office, error) {
	draft := company.Draft{Slug: &slug, Name: &slug, Settings: company.Settings{Budget: &budget.Change{USD: new(money.Number("1000000"))}}}
	for n := range teams {
		draft.StartingTeams = append(draft.StartingTeams, team.Draft{Name: new(fmt.Sprint("Team ", n)), Headcount: new(int64(each))})
	}
	founding, err := w.companies.Create(w.ctx, caller, draft, idempotency.Request{})
	if err != nil {
		return nil, err
	}
	o := &office{id: founding.Company.ID}
	for _, t := range founding.Teams {
		o.teams = append(o.teams, t.ID)
		for range each {
			hired, err := w.agents.Hire(w.ctx, caller, o.id, agent.Draft{
				Team: new(string(t.ID)), Settings: agent.Settings{Name: new("Ada"), Role: new("Engineer")},
			}, idempotency.Request{})
			if err != nil {
				return nil, err
			}
			o.agents, o.of = append(o.agents, hired.Agent.ID), append(o.of, hired.Agent.Team)
		}
	}
	flow := workflow.Draft{Name: new("Newsletter"), Steps: &[]workflow.StepDraft{
		{Key: new("write"), Title: new("Write"), Team: new(new(string(o.teams[0])))},
		{Key: new("check"), Title: new("Check"), Gate: new("approval")},
		{Key: new("send"), Title: new("Send"), Gate: new("review")},
	}}
	made, err := w.workflows.Create(w.ctx, caller, o.id, flow, idempotency.Request{})
	o.flow = made.ID
	return o, err
}

// counter is entropy that counts.
type counter struct{ last atomic.Uint64 }

func (c *counter) Bits256() (bits [32]byte) {
	binary.BigEndian.PutUint64(bits[:], c.last.Add(1))
	return bits
}

// noWorkspaces is an outbound.Workspaces without a disk.
type noWorkspaces struct{}

func (noWorkspaces) Make(id.Company) error       { return nil }
func (noWorkspaces) Remove(id.Company) error     { return nil }
func (noWorkspaces) List() ([]id.Company, error) { return nil, nil }

// noLog is an outbound.Log that keeps nothing.
type noLog struct{}

func (noLog) Error(context.Context, string, error) {}
