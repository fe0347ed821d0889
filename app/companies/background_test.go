package companies_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/cache"
	"holdco/app/companies"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/audit"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/ports/store"
)

// What continues after the answer is tested here with workspaces that fail; everything else of the use cases is tested
// through the API, on both stores.

func TestAWorkspaceThatCouldNotBeMadeIsMadeLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mend(t) // nothing to do
	f.workspaces.fails = errors.New("the disk is full")
	acme := f.create(t, "acme")
	if len(f.log.causes) != 1 || len(f.workspaces.have()) != 0 {
		t.Fatalf("the log has %q, the disk %v", f.log.causes, f.workspaces.have())
	}
	if _, err := f.service.MendWorkspaces(t.Context()); err == nil {
		t.Error("mending succeeded on a full disk")
	}
	f.workspaces.fails = nil
	f.mend(t)
	if have := f.workspaces.have(); !slices.Equal(have, []id.Company{acme}) {
		t.Errorf("there are workspaces of %v", have)
	}
}

// Another host may have a directory of a company that was deleted here. One of a company that this store has never known is no sign of a
// deletion: the store may be another one than yesterday, by a mistyped URL or a restoration.
func TestMendingRemovesWorkspacesOfDeletedCompaniesAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	acme, gone := f.create(t, "acme"), f.create(t, "gone")
	f.delete(t, gone)
	for more := true; more; {
		var err error
		if more, err = f.service.RemoveDeleted(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	unknown := id.New[id.Company](system.IDs{}.UUIDv7())
	for _, which := range []id.Company{gone, unknown} {
		if err := f.workspaces.Make(which); err != nil {
			t.Fatal(err)
		}
	}
	f.service.Mend()
	f.mend(t)
	have := f.workspaces.have()
	slices.Sort(have)
	if want := slices.Sorted(slices.Values([]id.Company{acme, unknown})); !slices.Equal(have, want) {
		t.Errorf("there are workspaces of %v", have)
	}
	if len(f.log.causes) != 1 || !strings.Contains(f.log.causes[0], "directories: 1;") {
		t.Errorf("the log has %q", f.log.causes)
	}
}

func TestADeletionWaitsForItsWorkspaceAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stuck, free := f.create(t, "stuck"), f.create(t, "free")
	f.workspaces.stuck = map[id.Company]bool{stuck: true}
	f.delete(t, stuck)
	f.delete(t, free)
	for range 3 {
		if _, err := f.service.RemoveDeleted(t.Context()); err == nil {
			t.Error("the workspace cannot be removed, and no error was logged")
		}
	}
	if _, err := f.store.Companies().Get(t.Context(), free); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the other company is still there: %v", err)
	}
	if c, err := f.store.Companies().Get(t.Context(), stuck); err != nil || c.Status != company.Deleting {
		t.Errorf("the company with the workspace is %+v, %v", c, err)
	}

	f.workspaces.stuck = nil
	for more := true; more; {
		var err error
		if more, err = f.service.RemoveDeleted(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := f.store.Activity().List(t.Context(), store.ActivityFilter{}, page.Position{}, page.MaxSize)
	if err != nil {
		t.Fatal(err)
	}
	var types []event.Type
	for _, e := range deleted.Items {
		types = append(types, e.Type)
	}
	if want := []event.Type{event.CompanyDeleted, event.CompanyDeleted}; !slices.Equal(types, want) {
		t.Errorf("the log has %v", types)
	}
}

// The entries of a company are chained beside its removal, also when nothing is left of it but its workspace.
func TestACompanyWhoseLastEntryIsChainedMeanwhileIsRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	acme := f.create(t, "acme")
	f.delete(t, acme)
	f.workspaces.removing = sync.OnceFunc(func() {
		portion := store.ChainedPortion{To: store.Place{Sequence: 1}, Links: []store.ChainedLink{
			{Company: acme, Entry: "act_1", Link: audit.Link{}.Next(nil)}, {Company: acme, Entry: "act_2", Link: audit.Link{}.Next(nil)},
		}}
		err := f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			isChained, err := tx.Activity().Extend(ctx, portion)
			if !isChained {
				t.Error("nothing was chained")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if _, err := f.service.RemoveDeleted(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := f.store.Companies().Get(t.Context(), acme); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the company is still there: %v", err)
	}
	if left, err := f.store.Activity().Length(t.Context(), acme); left != 0 || err != nil {
		t.Errorf("%d links are left of it: %v", left, err)
	}
}

func TestHowManyDeletionsEverFailTheOthersEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.workspaces.stuck = map[id.Company]bool{}
	free := f.create(t, "free")
	f.delete(t, free)
	for n := range page.MaxSize { // newer ones, as many as are listed at once
		stuck := f.create(t, fmt.Sprint("stuck-", n))
		f.workspaces.stuck[stuck] = true
		f.delete(t, stuck)
	}
	if _, err := f.service.RemoveDeleted(t.Context()); err == nil {
		t.Error("workspaces cannot be removed, and no error was logged")
	}
	if _, err := f.store.Companies().Get(t.Context(), free); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the company that can be removed is still there: %v", err)
	}
	left, err := f.store.Companies().List(t.Context(), store.CompanyFilter{Status: company.Deleting}, page.Position{}, page.MaxSize)
	if err != nil || len(left.Items) != page.MaxSize {
		t.Errorf("%d companies are left, %v", len(left.Items), err)
	}
}

// A deletion that is cut short goes on where it was, and each of its units is small.
func TestALargeCompanyIsRemovedInManyUnits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	acme := f.create(t, "acme")
	const events = 4500
	f.record(t, acme, events)
	f.delete(t, acme)

	left := func() (rows int) {
		for after := (page.Position{}); ; {
			found, err := f.store.Activity().List(t.Context(), store.ActivityFilter{Company: &acme}, after, page.MaxSize)
			if err != nil {
				t.Fatal(err)
			}
			rows += len(found.Items)
			if after = found.Next; after.IsStart() {
				return rows
			}
		}
	}
	f.limited.most = 1
	if _, err := f.service.RemoveDeleted(t.Context()); !errors.Is(err, errTooMany) {
		t.Errorf("%v after one unit", err)
	}
	if rows := left(); rows < events-300 || rows > events+1 { // a slow machine removes no more than other rows in one unit
		t.Errorf("one unit left %d events of %d", rows, events)
	}
	f.limited.most = math.MaxInt
	if _, err := f.service.RemoveDeleted(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := f.store.Companies().Get(t.Context(), acme); fault.CodeOf(err) != fault.NotFound || left() != 0 {
		t.Errorf("the company is still there: %v", err)
	}
}

// Every server removes: their units take turns, else each would fail because of those of the others, until one of them gives up.
func TestServersThatRemoveOneCompanyOnPostgresDoNotHoldEachOtherUp(t *testing.T) {
	t.Parallel()
	engine, err := postgres.Open(t.Context(), postgres.Options{URL: postgrestest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	f := fixtureOn(t, engine, engine.Migrator())
	acme := f.create(t, "acme")
	f.record(t, acme, 4500)
	f.delete(t, acme)
	const servers = 3
	var begun, ran atomic.Int64
	var removing sync.WaitGroup
	for range servers {
		removing.Go(func() {
			service := f.serviceOn(&counted{Store: f.store, begun: &begun, ran: &ran})
			if _, err := service.RemoveDeleted(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	removing.Wait()
	if _, err := f.store.Companies().Get(t.Context(), acme); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the company is still there: %v", err)
	}
	if again := ran.Load() - begun.Load(); again > servers { // the last unit, which removes the company, is without a turn
		t.Errorf("of %d units, %d ran again", begun.Load(), again)
	}
}

// counted is a store that counts units, and how often they ran.
type counted struct {
	store.Store
	begun, ran *atomic.Int64
}

func (c *counted) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	c.begun.Add(1)
	return c.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		c.ran.Add(1)
		return write(ctx, tx)
	})
}

// limited is a store that fails after so many units.
type limited struct {
	store.Store
	most int
}

var errTooMany = errors.New("one unit too many")

func (l *limited) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	if l.most--; l.most < 0 {
		return errTooMany
	}
	return l.Store.Update(ctx, write)
}

// fixture is the service on a real store, with a file system that can fail.
type fixture struct {
	service    *companies.Service
	store      store.Store
	limited    *limited // the same, of the service
	workspaces *workspaces
	log        *record
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	return fixtureOn(t, engine, engine.Migrator())
}

func fixtureOn(t *testing.T, engine sqlstore.Engine, migrator *sqlstore.Migrator) fixture {
	t.Helper()
	kept := sqlstore.New(engine, system.Clock{}, system.IDs{}, migrator)
	f := fixture{
		store:      kept,
		limited:    &limited{kept, math.MaxInt},
		workspaces: &workspaces{made: map[id.Company]bool{}},
		log:        &record{},
	}
	f.service = f.serviceOn(f.limited)
	return f
}

func (f fixture) serviceOn(on store.Store) *companies.Service {
	settings := companies.Settings{Adapters: []string{"process"}, Retention: 720 * time.Hour}
	return companies.New(on, f.workspaces, system.IDs{}, f.log, settings, &cache.Cache[agent.Credential]{})
}

// record adds so many events to a company.
func (f fixture) record(t *testing.T, of id.Company, events int) {
	t.Helper()
	err := f.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		for range events {
			err := tx.Record(ctx, event.Event{
				Company: of, Type: event.CompanyUpdated, Actor: caller.Actor, Subject: event.Subject{Type: "company", ID: string(of)},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var caller = access.System("test")

func (f fixture) create(t *testing.T, slug string) id.Company {
	t.Helper()
	founding, err := f.service.Create(t.Context(), caller, company.Draft{Name: &slug, Slug: &slug}, idempotency.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return founding.Company.ID
}

// delete asks for a deletion, and does not wait for its end.
func (f fixture) delete(t *testing.T, which id.Company) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() {
		_, err := f.service.Delete(ctx, caller, which, precondition.Any())
		answered <- err
	}()
	<-f.service.Deletions()
	leave()
	if err := <-answered; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func (f fixture) mend(t *testing.T) {
	t.Helper()
	if _, err := f.service.MendWorkspaces(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// workspaces is an outbound.Workspaces without a disk.
type workspaces struct {
	mutex    sync.Mutex
	made     map[id.Company]bool
	fails    error               // of making any
	stuck    map[id.Company]bool // cannot be removed
	removing func()              // is called before one is removed; nil: nothing is
}

func (w *workspaces) Make(which id.Company) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.fails == nil {
		w.made[which] = true
	}
	return w.fails
}

func (w *workspaces) Remove(which id.Company) error {
	if w.removing != nil {
		w.removing()
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.stuck[which] {
		return errors.New("a file is in use")
	}
	delete(w.made, which)
	return nil
}

func (w *workspaces) List() ([]id.Company, error) { return w.have(), nil }

func (w *workspaces) have() []id.Company {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var have []id.Company
	for which := range w.made {
		have = append(have, which)
	}
	return have
}

// record is an outbound.Log that keeps what is logged.
type record struct{ causes []string }

func (r *record) Error(_ context.Context, _ string, cause error) {
	r.causes = append(r.causes, cause.Error())
}
