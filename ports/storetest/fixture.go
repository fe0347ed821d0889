package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/team"
	"holdco/ports/store"
)

// fixture is what a rule works with: a fresh store, and the clock and the ids that it was given.
type fixture struct {
	reporter
	t     *testing.T
	ctx   context.Context
	store store.Store
	dump  func() map[string][]string // see Opened.Dump
	clock *Clock
	ids   *IDs
}

// reporter is what testing.T and rapid.T have in common.
type reporter interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// unit is what Store.Update runs.
type unit = func(ctx context.Context, tx store.Tx) error

const actor event.Actor = "system:storetest"

// update runs a unit that must succeed.
func (f *fixture) update(write unit) {
	f.Helper()
	f.ok(f.store.Update(f.ctx, write))
}

// refused runs a unit that must fail with code.
func (f *fixture) refused(code fault.Code, write unit) {
	f.Helper()
	f.code(f.store.Update(f.ctx, write), code)
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) code(err error, want fault.Code) {
	f.Helper()
	if got := fault.CodeOf(err); got != want {
		f.Fatalf("code %q, want %q: %v", got, want, err)
	}
}

// same compares values of the domain. Times must be the same instant and in UTC; fields may be in another order; of
// other lists, an empty one equals nil.
func (f *fixture) same(got, want any) {
	f.Helper()
	if reflect.DeepEqual(got, want) { // which is quicker, and nearly always so
		return
	}
	if diff := cmp.Diff(want, got, sameTimes, sameFields, sameEmpty, sameDocuments); diff != "" {
		f.Fatalf("-want +got:\n%s", diff)
	}
}

var (
	sameTimes = cmp.Comparer(func(a, b time.Time) bool {
		return a.Equal(b) && a.Location() == time.UTC && b.Location() == time.UTC
	})
	sameFields = cmp.Transformer("JSON", plain)
	sameEmpty  = cmp.FilterPath(func(path cmp.Path) bool {
		return path.Last().Type() != reflect.TypeFor[event.Fields]()
	}, cmpopts.EquateEmpty())
)

// plain turns fields into what a JSON decoder makes of them.
func plain(fields event.Fields) any {
	if fields == nil {
		return nil
	}
	text, err := fields.MarshalJSON()
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return value
}

// newCompany makes an active company that is in no store yet.
func (f *fixture) newCompany(slug string) company.Company {
	f.Helper()
	name := "Company " + slug
	draft := company.Draft{Slug: &slug, Name: &name}
	founding, _, err := company.New(id.New[id.Company](f.ids.UUIDv7()), draft, []string{"process"}, f.ids, f.clock.Now())
	f.ok(err)
	return founding.Company
}

// found adds a new company, altered by each of alter, and the event of it.
func (f *fixture) found(slug string, alter ...func(*company.Company)) company.Company {
	f.Helper()
	c := f.newCompany(slug)
	for _, change := range alter {
		change(&c)
	}
	f.update(adding(c))
	return c
}

func withStatus(status company.Status) func(*company.Company) {
	return func(c *company.Company) { c.Status = status }
}

// adding is the unit that adds a company and records it.
func adding(c company.Company) unit {
	return func(ctx context.Context, tx store.Tx) error {
		if err := tx.Companies().Add(ctx, c); err != nil {
			return err
		}
		return tx.Record(ctx, founded(c))
	}
}

func founded(c company.Company) event.Event {
	return event.Event{
		Company: c.ID,
		Type:    event.CompanyCreated,
		Actor:   actor,
		Subject: event.Subject{Type: "company", ID: string(c.ID)},
		Data:    c.Fields(),
	}
}

// move is one of a company's moves.
type move func(c company.Company, at time.Time) (company.Company, event.Event, error)

func archive(c company.Company, at time.Time) (company.Company, event.Event, error) {
	return c.Archive(at, 30*24*time.Hour)
}

func rename(name string) move {
	return func(c company.Company, at time.Time) (company.Company, event.Event, error) {
		next, happened, err := c.Apply(company.Patch{Name: &name}, nil, at)
		if happened == nil {
			happened = &event.Event{}
		}
		return next, *happened, err
	}
}

// moving is the unit that locks a company, moves it, and records it.
func moving(which id.Company, to move) unit {
	return func(ctx context.Context, tx store.Tx) error {
		before, err := tx.Companies().Lock(ctx, which)
		if err != nil {
			return err
		}
		next, happened, err := to(before, tx.Now())
		if err != nil {
			return err
		}
		if err := tx.Companies().Save(ctx, next); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By(actor))
	}
}

// staff adds teams with the given headcounts to a company, without touching its counts.
func (f *fixture) staff(which id.Company, headcounts ...int64) ([]team.Team, []team.Slot) {
	f.Helper()
	teams, slots := f.newTeams(which, headcounts...)
	f.update(staffing(teams, slots))
	return teams, slots
}

// newTeams makes teams that are in no store yet.
func (f *fixture) newTeams(which id.Company, headcounts ...int64) ([]team.Team, []team.Slot) {
	f.Helper()
	var teams []team.Team
	var slots []team.Slot
	roster := team.NewRoster(which)
	for _, headcount := range headcounts {
		name := fmt.Sprintf("Team %x", f.ids.UUIDv7()) // no company has two of one name
		made, its, wrong := roster.Add("team", team.Draft{Name: &name, Headcount: &headcount}, f.ids, f.clock.Now())
		if wrong != nil {
			f.Fatal(wrong)
		}
		teams, slots = append(teams, made), append(slots, its...)
	}
	return teams, slots
}

func staffing(teams []team.Team, slots []team.Slot) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Teams().AddAll(ctx, teams, slots)
	}
}

// newToken makes a token that is in no store yet.
func (f *fixture) newToken(scopes ...string) access.Token {
	f.Helper()
	name := "Token"
	draft := access.TokenDraft{Name: &name, Scopes: scopes}
	uuid := f.ids.UUIDv7()
	resolve := func(company string) (id.Company, bool, error) { return id.Company(company), true, nil }
	token, _, err := access.NewToken(id.New[id.Token](uuid), draft, f.newValue(), resolve, f.clock.Now())
	f.ok(err)
	return token
}

// newValue makes a value that no other token has.
func (f *fixture) newValue() access.Value {
	var random [32]byte
	uuid := f.ids.UUIDv7()
	copy(random[:], uuid[:])
	return access.NewAPIToken(random)
}

// issue adds a token, altered by each of alter.
func (f *fixture) issue(scope string, alter ...func(*access.Token)) access.Token {
	f.Helper()
	token := f.newToken(scope)
	for _, change := range alter {
		change(&token)
	}
	f.update(issuing(token))
	return token
}

func issuing(token access.Token) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Tokens().Add(ctx, token)
	}
}

// together runs work n times at once and returns the errors.
func together(n int, work func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = work(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// exactly fails unless among errs there are as many of each code as want says.
func (f *fixture) exactly(errs []error, want map[fault.Code]int) {
	f.Helper()
	got := map[fault.Code]int{}
	for _, err := range errs {
		got[fault.CodeOf(err)]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Fatalf("-want +got:\n%s%v", diff, slices.Collect(unexpected(errs, want)))
	}
}

func unexpected(errs []error, want map[fault.Code]int) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		for _, err := range errs {
			if want[fault.CodeOf(err)] == 0 && !yield(err) {
				return
			}
		}
	}
}
