package tokens_test

import (
	"context"
	"testing"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/tokens"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

func TestATokenIsLookedUpOnceInAWhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 3 {
		f.expect(t, f.here, f.issued.Value, "")
		f.clock.now = f.clock.now.Add(freshness - time.Millisecond)
		f.expect(t, f.here, f.issued.Value, "")
		f.clock.now = f.clock.now.Add(time.Millisecond)
	}
	f.lookedUp(t, 3)
}

func TestAClockThatIsSetBackMakesNothingLastLonger(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expect(t, f.here, f.issued.Value, "")
	f.clock.now = f.clock.now.Add(-time.Millisecond)
	f.expect(t, f.here, f.issued.Value, "")
	f.lookedUp(t, 2)
}

func TestACachedTokenEndsAtOnceWhenItIsRevokedHere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expect(t, f.here, f.issued.Value, "")
	f.revoke(t, f.here)
	f.expect(t, f.here, f.issued.Value, fault.Unauthorized)
}

func TestACachedValueEndsAtOnceWhenItIsRotatedHere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expect(t, f.here, f.issued.Value, "")
	next, err := f.here.Rotate(t.Context(), admin, f.issued.Token.ID, access.Rotation{}, precondition.Any(), idempotency.Request{})
	must(t, err)
	f.expect(t, f.here, f.issued.Value, fault.Unauthorized)
	f.expect(t, f.here, next.Value, "")
}

func TestACachedTokenEndsWithinASecondWhenItIsRevokedElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expect(t, f.here, f.issued.Value, "")
	f.revoke(t, f.elsewhere)
	f.clock.now = f.clock.now.Add(freshness)
	f.expect(t, f.here, f.issued.Value, fault.Unauthorized)
}

func TestACachedTokenExpiresToTheMillisecond(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.clock.now = f.issued.Token.ExpiresAt.Add(-time.Millisecond)
	f.expect(t, f.here, f.issued.Value, "")
	f.clock.now = f.issued.Token.ExpiresAt
	f.expect(t, f.here, f.issued.Value, fault.Unauthorized)
}

// A look-up that began before a revocation may let its own request in, but no other.
func TestALookUpDoesNotBringARevokedTokenBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store.afterLookUp = func() {
		f.store.afterLookUp = nil
		f.revoke(t, f.here)
	}
	f.expect(t, f.here, f.issued.Value, "")
	f.expect(t, f.here, f.issued.Value, fault.Unauthorized)
}

func TestMoreTokensThanAreRememberedStillLetIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	values := []access.Value{f.issued.Value}
	for range 1000 {
		values = append(values, f.issue(t, f.elsewhere).Value)
	}
	for range 2 {
		for _, value := range values {
			f.expect(t, f.here, value, "")
		}
	}
}

// freshness is how long a token is believed without asking the store: half of the second within which one that was
// revoked elsewhere must end.
const freshness = 500 * time.Millisecond

var admin = access.System("test")

// fixture is two processes on one store.
type fixture struct {
	clock           *clock
	store           *watched
	here, elsewhere *tokens.Service
	issued          inbound.IssuedToken
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	f := fixture{clock: &clock{time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)}}
	f.store = &watched{Store: sqlstore.New(engine, f.clock, system.IDs{}, engine.Migrator())}
	f.here = tokens.New(f.store, f.clock, system.IDs{}, system.Entropy{})
	f.elsewhere = tokens.New(f.store, f.clock, system.IDs{}, system.Entropy{})
	f.issued = f.issue(t, f.elsewhere)
	return f
}

// issue makes a token that lives for an hour.
func (f fixture) issue(t *testing.T, by *tokens.Service) inbound.IssuedToken {
	t.Helper()
	name, expires := "ci", f.clock.now.Add(time.Hour)
	draft := access.TokenDraft{Name: &name, Scopes: []string{"read"}, ExpiresAt: &expires}
	issued, err := by.Create(t.Context(), admin, draft, idempotency.Request{})
	must(t, err)
	return issued
}

func (f fixture) revoke(t *testing.T, by *tokens.Service) {
	t.Helper()
	_, err := by.Revoke(t.Context(), admin, f.issued.Token.ID, precondition.Any())
	must(t, err)
}

// expect shows a value; refusal is empty when it lets in.
func (f fixture) expect(t *testing.T, to *tokens.Service, value access.Value, refusal fault.Code) {
	t.Helper()
	caller, err := to.Authenticate(t.Context(), string(value))
	if fault.CodeOf(err) != refusal || (err == nil) != (caller.Token != "") {
		t.Errorf("the value got %+v, %v; want %q", caller, err, refusal)
	}
}

func (f fixture) lookedUp(t *testing.T, want int) {
	t.Helper()
	if f.store.lookUps != want {
		t.Errorf("the store was asked %d times, want %d", f.store.lookUps, want)
	}
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// watched is a store that counts the look-ups of tokens, and lets something happen after one.
type watched struct {
	store.Store
	lookUps     int
	afterLookUp func()
}

func (w *watched) Tokens() store.TokenReader { return watchedTokens{w.Store.Tokens(), w} }

type watchedTokens struct {
	store.TokenReader
	by *watched
}

func (w watchedTokens) ByHash(ctx context.Context, hash string) (access.Token, error) {
	token, err := w.TokenReader.ByHash(ctx, hash)
	w.by.lookUps++
	if w.by.afterLookUp != nil {
		w.by.afterLookUp()
	}
	return token, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
