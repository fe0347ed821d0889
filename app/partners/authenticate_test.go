package partners_test

import (
	"context"
	"testing"
	"time"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/cache"
	"holdco/app/partners"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
	"holdco/domain/partner"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

func TestWhatCanBeNoKeyIsRefusedWithoutAskingTheStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	key := string(f.issued.Key)
	for _, text := range []string{"", "hcp_", key[:len(key)-1], key + "0", "hco_" + key[4:], string(access.NewAPIToken([32]byte{1}))} {
		f.expect(t, f.here, access.Value(text), fault.Unauthorized)
	}
	f.lookedUp(t, 0)
	f.expect(t, f.here, access.NewPartnerKey([32]byte{1}), fault.Unauthorized)
	f.lookedUp(t, 1)
}

func TestAKeyIsLookedUpOnceInAWhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 3 {
		f.expect(t, f.here, f.issued.Key, "")
		f.clock.now = f.clock.now.Add(cache.TTL - time.Millisecond)
		f.expect(t, f.here, f.issued.Key, "")
		f.clock.now = f.clock.now.Add(time.Millisecond)
	}
	f.lookedUp(t, 3)
}

func TestACachedKeyExpiresToTheMillisecond(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.clock.now = f.issued.Partner.ExpiresAt.Add(-time.Millisecond)
	f.expect(t, f.here, f.issued.Key, "")
	f.clock.now = f.issued.Partner.ExpiresAt
	f.expect(t, f.here, f.issued.Key, fault.Unauthorized)
}

func TestWhatIsChangedHereHoldsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expect(t, f.here, f.issued.Key, "")
	f.hasOrigin(t, f.here, "https://a.example", true)

	patch := partner.Patch{Settings: partner.Settings{Origins: &[]string{"https://b.example"}}}
	_, err := f.here.Update(t.Context(), admin, f.issued.Partner.ID, patch, precondition.Any())
	must(t, err)
	if found, err := f.here.Authenticate(t.Context(), string(f.issued.Key)); err != nil || !found.AllowsOrigin("https://b.example") {
		t.Errorf("%+v, %v", found, err)
	}
	f.hasOrigin(t, f.here, "https://a.example", false)
	f.hasOrigin(t, f.here, "https://b.example", true)

	next, err := f.here.Rotate(t.Context(), admin, f.issued.Partner.ID, access.Rotation{Grace: new(time.Duration)},
		precondition.Any(), idempotency.Request{})
	must(t, err)
	f.expect(t, f.here, f.issued.Key, fault.Unauthorized)
	f.expect(t, f.here, next.Key, "")
	f.revoke(t, f.here)
	f.expect(t, f.here, next.Key, fault.Unauthorized)
	f.hasOrigin(t, f.here, "https://b.example", false)
}

func TestWhatIsChangedElsewhereHoldsWithinASecond(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.expect(t, f.here, f.issued.Key, "")
	f.hasOrigin(t, f.here, "https://a.example", true)
	f.revoke(t, f.elsewhere)
	f.clock.now = f.clock.now.Add(cache.TTL)
	f.expect(t, f.here, f.issued.Key, fault.Unauthorized)
	f.hasOrigin(t, f.here, "https://a.example", false)
}

func TestPreflightsOfAnyOriginsCostOneReadInAWhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, origin := range []string{
		"https://a.example", "https://a.example:444", "https://A.example", "null", "*", "", "https://else.example",
	} {
		f.hasOrigin(t, f.here, origin, origin == "https://a.example")
	}
	f.lookedUp(t, 1)
}

func TestUsageIsWrittenDownOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	use := func() { f.here.Used(f.issued.Partner.ID, 1, 50) }
	times := int64(0)
	lastUse := func(want time.Time) {
		t.Helper()
		_, err := f.here.FlushUsage(t.Context())
		must(t, err)
		shown, err := f.here.Get(t.Context(), admin, f.issued.Partner.ID)
		must(t, err)
		if !shown.LastUsedAt.Equal(want) || shown.Version != 1 || shown.Requests != times || shown.LeadsRead != 50*times {
			t.Errorf("version %d was used for %+v, want the last at %s, and %d", shown.Version, shown.Usage, want, times)
		}
	}
	lastUse(time.Time{})
	used := f.clock.now
	f.expect(t, f.here, f.issued.Key, "")
	use()
	times = 1
	f.clock.now = f.clock.now.Add(time.Minute)
	f.expect(t, f.here, "hcp_nonsense", fault.Unauthorized)
	lastUse(used)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	used = f.clock.now
	use()
	if _, err := f.here.FlushUsage(ended); err == nil {
		t.Error("what could not be written is said to be")
	}
	use()
	times = 3
	lastUse(used)
}

func TestOnlyAdminsManagePartners(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	caller := access.Caller{Scopes: access.Scopes{{Permission: access.Read}, {Permission: access.Write}}}
	which := f.issued.Partner.ID
	_, create := f.here.Create(t.Context(), caller, partner.Draft{}, idempotency.Request{})
	_, update := f.here.Update(t.Context(), caller, which, partner.Patch{}, precondition.Any())
	_, rotate := f.here.Rotate(t.Context(), caller, which, access.Rotation{}, precondition.Any(), idempotency.Request{})
	_, revoke := f.here.Revoke(t.Context(), caller, which, precondition.Any())
	_, get := f.here.Get(t.Context(), caller, which)
	for name, err := range map[string]error{"create": create, "update": update, "rotate": rotate, "revoke": revoke, "get": get} {
		if fault.CodeOf(err) != fault.InsufficientScope {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var admin = access.System("test")

// fixture is two processes on one store, and a partner whose key lives for an hour.
type fixture struct {
	clock           *clock
	store           *watched
	here, elsewhere *partners.Service
	issued          inbound.IssuedPartner
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	engine := sqlitetest.Open(t)
	f := fixture{clock: &clock{time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)}}
	f.store = &watched{Store: sqlstore.New(engine, f.clock, system.IDs{}, engine.Migrator())}
	f.here = partners.New(f.store, f.clock, system.IDs{}, system.Entropy{}, nil)
	f.elsewhere = partners.New(f.store, f.clock, system.IDs{}, system.Entropy{}, nil)
	var err error
	f.issued, err = f.elsewhere.Create(t.Context(), admin, partner.Draft{Settings: partner.Settings{
		Name: new("Acme Data"), Origins: &[]string{"https://a.example"}, ExpiresAt: new(f.clock.now.Add(time.Hour)),
	}}, idempotency.Request{})
	must(t, err)
	return f
}

func (f fixture) revoke(t *testing.T, by *partners.Service) {
	t.Helper()
	_, err := by.Revoke(t.Context(), admin, f.issued.Partner.ID, precondition.Any())
	must(t, err)
}

// expect shows a key; refusal is empty when it lets in.
func (f fixture) expect(t *testing.T, to *partners.Service, key access.Value, refusal fault.Code) {
	t.Helper()
	found, err := to.Authenticate(t.Context(), string(key))
	if fault.CodeOf(err) != refusal || (err == nil) != (found.ID == f.issued.Partner.ID) {
		t.Errorf("the key got %+v, %v; want %q", found, err, refusal)
	}
}

func (f fixture) hasOrigin(t *testing.T, of *partners.Service, origin string, want bool) {
	t.Helper()
	if got, err := of.HasOrigin(t.Context(), origin); got != want || err != nil {
		t.Errorf("%q: %v, %v", origin, got, err)
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

// watched is a store that counts the look-ups of partners.
type watched struct {
	store.Store
	lookUps int
}

func (w *watched) Partners() store.PartnerReader {
	w.lookUps++
	return w.Store.Partners()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
