package doctor_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system/vault"
	"holdco/adapters/system/workspaces"
	"holdco/app/activity"
	"holdco/app/agents"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/app/costs"
	"holdco/app/deliveries"
	"holdco/app/doctor"
	"holdco/app/goals"
	"holdco/app/issues"
	"holdco/app/keys"
	"holdco/app/leases"
	"holdco/app/secrets"
	"holdco/app/teams"
	"holdco/app/tokens"
	"holdco/app/webhooks"
	"holdco/app/work"
	"holdco/app/workflows"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/lead"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/team"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

var caller = access.System("test")

var once idempotency.Request

// world is a company at work, on a store of its own, with a clock that the test moves.
type world struct {
	ctx   context.Context
	store store.Store
	sql   *sql.DB // beside the store
	dump  func() map[string][]string
	clock *storetest.Clock

	companies *companies.Service
	teams     *teams.Service
	agents    *agents.Service
	issues    *issues.Service
	leases    *leases.Service
	costs     *costs.Service
	goals     *goals.Service
	projects  *goals.Projects
	workflows *workflows.Service
	work      *work.Service
	tokens    *tokens.Service
	webhooks  *webhooks.Service
	secrets   *secrets.Service
	activity  *activity.Service
	sender    *deliveries.Service
	doctor    *doctor.Service
	patient   doctor.Patient
	data      string // the data directory
	source    store.Source
	isBusy    bool // the log grows, and is not read again and again

	also []string // of the checks that take long: those that are run too

	sending sync.Mutex // the clock stands meanwhile

	of      id.Company
	staff   []agent.Agent
	goal    id.Goal
	project id.Project
}

// onBoth runs a test on a store of each kind.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		onSQLite(t, test)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		onPostgres(t, test)
	})
}

func onPostgres(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	url := postgrestest.URL(t)
	engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), postgres.Options{URL: url}))
	t.Cleanup(func() { check(t, engine.Close()) })
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	w := newWorld(t, sqlstore.New(engine, clock, ids, engine.Migrator()).WithClock(clock), engine, clock, ids, "pgx", url)
	w.dump = storetest.Dumping(t, w.sql, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
	w.source = engine.Source()
	test(t, w)
}

func onSQLite(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	path := filepath.Join(sqlitetest.Dir(t), "holdco.db")
	engine := must[*sqlite.Engine](t)(sqlite.Open(t.Context(), sqlite.Options{
		Path: path, Synchronous: sqlite.Normal, UnitTimeout: time.Minute, // many tests run at once
	}))
	t.Cleanup(func() { check(t, engine.Close()) })
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	w := newWorld(t, sqlstore.New(engine, clock, ids, engine.Migrator()), engine, clock, ids, "sqlite",
		path+"?_pragma=busy_timeout(9999)")
	w.dump = storetest.Dumping(t, w.sql, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	w.source = sqlite.NewSource(path)
	test(t, w)
}

func must[T any](t interface{ Fatal(args ...any) }) func(T, error) T {
	return func(value T, err error) T {
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// engine is what both engines are, beside the store on them.
type engine interface {
	store.Inspector
	Migrator() *sqlstore.Migrator
}

func newWorld(
	t *testing.T, s store.Store, on engine, clock *storetest.Clock, ids outbound.IDs, driver, address string,
) *world {
	t.Helper()
	db := must[*sql.DB](t)(sql.Open(driver, address))
	t.Cleanup(func() { check(t, db.Close()) })
	cached, prices := &cache.Cache[agent.Credential]{}, &cache.Prices{}
	data := t.TempDir()
	keeper, directories := vault.New(filepath.Join(data, "key")), workspaces.New(data)
	check(t, keys.Unlock(t.Context(), s, keeper))
	log := activity.New(s, keeper)
	w := &world{
		ctx: t.Context(), store: s, sql: db, clock: clock, data: data,
		tokens: tokens.New(s, clock, ids, new(counter)), webhooks: webhooks.New(s, ids, new(counter), keeper),
		secrets: secrets.New(s, ids, keeper), activity: log,
		sender: deliveries.New(s, receiver{clock}, keeper, clock, ids, new(counter), noLog{}, 2),
		patient: doctor.Patient{
			Settings: doctor.Settings{DataDir: data}, Clock: clock, Disk: room(1 << 40), Workspaces: directories, Vault: keeper,
			Keys: keeper, Store: s, Inspector: on, Migrator: on.Migrator(), Chains: log,
		},
		companies: companies.New(s, directories, ids, noLog{},
			companies.Settings{Adapters: []string{"process"}, Retention: 720 * time.Hour}, cached),
		teams:  teams.New(s, ids),
		agents: agents.New(s, clock, ids, new(counter), agents.Settings{Adapters: []string{"process"}}, cached, prices),
		issues: issues.New(s, ids, nil), costs: costs.New(s, ids), goals: goals.New(s, ids), projects: goals.NewProjects(s, ids),
		leases: leases.New(s, ids, new(counter), leases.Settings{LeaseTime: 5 * time.Minute, Reserve: 100_000, MostWaiting: 9}, prices),
		work:   work.New(s, ids), workflows: workflows.New(s, ids),
	}
	w.doctor = doctor.New(w.patient)
	_, err := w.tokens.Create(w.ctx, caller, access.TokenDraft{Name: new("ci"), Scopes: []string{"admin"}}, once)
	check(t, err)
	_, err = w.webhooks.Create(w.ctx, caller, webhook.Draft{
		Settings: webhook.Settings{URL: new("https://example.com")},
	}, once)
	check(t, err)
	w.keepLeads(t, ids)
	draft := company.Draft{
		Slug: new("acme"), Name: new("Acme"), Settings: company.Settings{Budget: &budget.Change{USD: new(money.Number("1000000"))}},
	}
	for n := range 2 {
		draft.StartingTeams = append(draft.StartingTeams, team.Draft{Name: new(fmt.Sprint("Team ", n)), Headcount: new(int64(4))})
	}
	founding := must[company.Founding](t)(w.companies.Create(w.ctx, caller, draft, once))
	w.of = founding.Company.ID
	for n := range 6 {
		settings := agent.Settings{Name: new("Ada"), Role: new("Engineer")}
		if n%2 == 0 {
			settings.Budget = &agent.BudgetChange{Daily: new(new(money.Number("500")))}
		}
		hired := must[inbound.HiredAgent](t)(w.agents.Hire(w.ctx, caller, w.of, agent.Draft{
			Team: new(string(founding.Teams[n%2].ID)), Settings: settings,
		}, once))
		w.staff = append(w.staff, hired.Agent)
	}
	limited := goal.PurposeDraft{Title: new("Grow"), Budget: new(new(money.Number("100000")))}
	w.goal = must[goal.ShownGoal](t)(w.goals.Create(w.ctx, caller, w.of, goal.Draft{PurposeDraft: limited}, once)).Of.ID
	w.newProject(t)
	return w
}

func (w *world) newProject(t interface{ Fatal(args ...any) }) {
	draft := goal.ProjectDraft{PurposeDraft: goal.PurposeDraft{Title: new("Launch")}, Goal: new(new(string(w.goal)))}
	w.project = must[goal.ShownProject](t)(w.projects.Create(w.ctx, caller, w.of, draft, once)).Of.ID
}

// counter is entropy that counts.
type counter struct{ last atomic.Uint64 }

func (c *counter) Bits256() (bits [32]byte) {
	binary.BigEndian.PutUint64(bits[:], c.last.Add(1))
	return bits
}

// roomAt is an outbound.Disk with so many bytes in folders.
type roomAt map[string]int64

func (r roomAt) Room(folder string) (outbound.Room, error) {
	free, isThere := r[folder]
	if !isThere {
		free = 1 << 40
	}
	return outbound.Room{Free: free}, nil
}

// room is an outbound.Disk with so many bytes.
type room int64

func (r room) Room(string) (outbound.Room, error) {
	return outbound.Room{Free: int64(r), Size: int64(r)}, nil
}

// keepLeads keeps leads, three of which are in two campaigns.
func (w *world) keepLeads(t *testing.T, ids outbound.IDs) {
	t.Helper()
	campaigns := []id.Campaign{id.New[id.Campaign](ids.UUIDv7()), id.New[id.Campaign](ids.UUIDv7())}
	var batch []lead.Incoming
	for n := range 9 {
		one := lead.Lead{
			ID: id.New[id.Lead](ids.UUIDv7()), Name: fmt.Sprintf("Lead %d", n), Rating: lead.Unrated, Website: "https://example.com",
			Industry: id.New[id.Industry](ids.UUIDv7()), Contacts: []lead.Contact{{ID: id.New[id.Contact](ids.UUIDv7()), Name: "Ada"}},
		}
		if n%3 == 0 {
			one.Rating, one.Campaigns = 425, campaigns
		}
		batch = append(batch, one.Incoming())
	}
	check(t, w.store.Update(w.ctx, func(ctx context.Context, tx store.Tx) error {
		at, err := tx.Leads().Advance(ctx)
		if err != nil {
			return err
		}
		tx.Unrecorded()
		return tx.Leads().Keep(ctx, lead.Merge(batch, nil, at).Changed)
	}))
}

// receiver is an outbound.WebhookPoster whose endpoints take everything.
type receiver struct{ clock outbound.Clock }

func (r receiver) Post(context.Context, webhook.Message) webhook.Attempt {
	return webhook.Attempt{At: r.clock.Now(), Status: http.StatusOK}
}

// noLog is an outbound.Log that keeps nothing.
type noLog struct{}

func (noLog) Error(context.Context, string, error) {}

func (w *world) as(a agent.Agent) agent.Caller {
	return agent.Caller{ID: a.ID, Company: w.of, Team: a.Team}
}

// file files an issue, as the draft says that is altered.
func (w *world) file(alter func(d *issue.Draft)) (issue.Issue, error) {
	draft := issue.Draft{Title: new("Call"), Settings: issue.Settings{RequiresReview: new(false)}}
	if alter != nil {
		alter(&draft)
	}
	return w.issues.Create(w.ctx, caller, w.of, draft, once)
}

// claim leases an issue; nil: there is none.
func (w *world) claim(by agent.Agent) (*inbound.Lease, error) {
	return w.leases.Claim(w.ctx, w.as(by), inbound.Claim{})
}

func call(lease inbound.Lease) inbound.LeaseCall {
	return inbound.LeaseCall{Lease: lease.Run.Lease.ID, Token: new(lease.Run.Lease.Token)}
}

// pay charges a lease.
func (w *world) pay(by agent.Agent, lease inbound.Lease, key, usd string) (cost.Entry, error) {
	_, made, err := w.leases.Charge(w.ctx, w.as(by), call(lease), []cost.Draft{{
		Key: &key, Kind: new("llm"), Model: new("claude"), USD: new(money.Number(usd)),
		Tokens: &cost.TokensDraft{Input: new(int64(7)), CacheWrite: new(int64(3))},
	}})
	if err != nil {
		return cost.Entry{}, err
	}
	return made[0].Entry, nil
}

func (w *world) end(by agent.Agent, lease inbound.Lease, action issue.Action) error {
	sent := inbound.LeaseEnd{Action: action}
	switch action {
	case issue.HandOff:
		sent.Note.Body = new("Why")
	case issue.Fail:
		sent.Failure.Code, sent.Failure.Message = new("x"), new("y")
	}
	_, err := w.leases.End(w.ctx, w.as(by), call(lease), sent)
	return err
}

// sends delivers what webhooks have to send.
func (w *world) sends() error {
	w.sending.Lock()
	defer w.sending.Unlock()
	_, err := w.sender.Deliver(w.ctx)
	w.sender.Wait()
	return err
}

func (w *world) adjust(entry cost.Entry, usd string) error {
	_, err := w.costs.Adjust(w.ctx, caller, w.of, cost.AdjustmentDraft{
		Entry: new(string(entry.ID)), Reason: new("Credit"), USD: new(money.Number(usd)),
	}, once)
	return err
}

// busy is a worker who does whatever comes to its mind, on a store on which others do too.
type busy struct {
	*world
	*rand.Rand
}

func (b busy) works(steps int) error {
	for n := range steps {
		if err := b.step(n); err != nil && (fault.Of(err) == nil || fault.CodeOf(err) == fault.Internal) {
			return err
		}
	}
	return nil
}

func (b busy) some() (issue.Issue, error) {
	found, err := b.store.Issues().List(b.ctx, store.IssueFilter{Company: b.of}, page.Position{}, 20)
	if err != nil || len(found.Items) == 0 {
		return issue.Issue{}, errors.Join(err, fault.New(fault.NotFound, "There are no issues."))
	}
	return found.Items[b.IntN(len(found.Items))], nil
}

func (b busy) step(n int) error {
	by := b.staff[b.IntN(len(b.staff))]
	switch b.IntN(14) {
	case 0, 1, 2:
		return b.files()
	case 3, 4, 5, 6:
		return b.workOn(by, n)
	case 7, 8, 9:
		return b.moves()
	case 10:
		b.sending.Lock() // no lease of a queue lapses while it is worked on
		b.clock.Advance(time.Duration(b.IntN(30*60)) * time.Second)
		b.sending.Unlock()
		_, err := b.work.Sweep(b.ctx)
		return err
	case 11:
		_, err := b.work.Settle(b.ctx)
		return err
	case 12:
		found, err := b.some()
		if err != nil {
			return err
		}
		_, err = b.issues.Update(b.ctx, caller, b.of, found.ID, issue.Patch{Settings: issue.Settings{
			Priority: new([]string{"low", "high"}[b.IntN(2)]), Labels: new([]string{"a", "b", "c"}[b.IntN(3):]),
		}}, precondition.Any())
		return err
	default:
		switch b.IntN(9) {
		case 0, 1, 2:
		case 3:
			_, err := b.activity.Chain(b.ctx)
			return err
		case 4:
			return b.sends()
		default:
			return nil
		}
		_, err := b.companies.Update(b.ctx, caller, b.of, company.Patch{Settings: company.Settings{Budget: &budget.Change{
			Period: new([]string{"daily", "weekly", "monthly", "quarterly"}[b.IntN(4)]),
		}}}, precondition.Any())
		return err
	}
}

func (b busy) files() error {
	near, err := b.some()
	_, err = b.file(func(d *issue.Draft) {
		d.Labels = &[]string{"new", "it's"}
		switch b.IntN(6) {
		case 0:
			d.Agent = new(string(b.staff[b.IntN(len(b.staff))].ID))
		case 1:
			d.Project = new(new(string(b.project)))
		case 2:
			d.Goal, d.PerTask = new(new(string(b.goal))), new(new(money.Number("3")))
		case 3:
			d.RequiresReview = new(true)
		}
		if err != nil {
			return
		}
		switch b.IntN(4) {
		case 0:
			d.Parent = new(new(string(near.ID)))
		case 1:
			d.BlockedBy = &[]string{string(near.ID)}
		}
	})
	return err
}

// workOn claims an issue, pays for it, corrects that, and ends the lease or lets it run out; then it pays late.
func (b busy) workOn(by agent.Agent, n int) error {
	lease, err := b.claim(by)
	if err != nil || lease == nil {
		return err
	}
	paid, err := b.pay(by, *lease, fmt.Sprint("k", n), fmt.Sprintf("0.%06d", b.IntN(1_000_000)))
	if err != nil {
		return err
	}
	if b.IntN(3) == 0 {
		if err := b.adjust(paid, "-0.000001"); err != nil {
			return err
		}
	}
	actions := []issue.Action{issue.Complete, issue.Complete, issue.Complete, issue.Fail, issue.Release, issue.HandOff, ""}
	if action := actions[b.IntN(len(actions))]; action != "" {
		if err := b.end(by, *lease, action); err != nil {
			return err
		}
	}
	if b.IntN(3) == 0 {
		_, err = b.pay(by, *lease, fmt.Sprint("late", n), "0.25")
	}
	return err
}

func (b busy) moves() error {
	found, err := b.some()
	if err != nil {
		return err
	}
	actions := []issue.Action{issue.Assign, issue.Unassign, issue.Cancel, issue.Accept, issue.Reject, issue.HandOff, issue.Retry}
	move := inbound.IssueMove{Action: actions[b.IntN(len(actions))], Note: issue.Note{Body: new("Why")}}
	if move.Action == issue.Assign {
		move.To.Agent = new(string(b.staff[b.IntN(len(b.staff))].ID))
	}
	_, err = b.issues.Move(b.ctx, caller, b.of, found.ID, move, precondition.Any(), once)
	return err
}
