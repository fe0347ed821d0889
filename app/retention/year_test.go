package retention_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/activity"
	"holdco/app/retention"
	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	kept "holdco/domain/retention"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// signer has one key.
type signer struct{ key ed25519.PrivateKey }

func (s signer) Sign(_ string, statement []byte) (audit.Signature, error) {
	key, err := s.SigningKey("")
	return audit.Signature{Text: ed25519.Sign(s.key, statement), Key: key}, err
}

func (s signer) SigningKey(string) (ed25519.PublicKey, error) {
	return ed25519.PublicKey(s.key[ed25519.PrivateKeySize-ed25519.PublicKeySize:]), nil
}

// noLogs is a host without logs.
type noLogs struct{}

func (noLogs) WrittenBefore(time.Time) ([]outbound.OldRunLog, error) { return nil, nil }

func (noLogs) Remove(id.Company, id.Run) error { return nil }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// In a year in which as much happens each day, the store grows for as long as things are kept, and not after that.
func TestAYearOfLoadStaysBelowABound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sqlitetest.Dir(t), "holdco.db")
	engine, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Synchronous: sqlite.Normal, UnitTimeout: time.Minute})
	check(t, err)
	t.Cleanup(func() { check(t, engine.Close()) })
	clock := storetest.NewClock()
	s := sqlstore.New(engine, clock, system.IDs{}, engine.Migrator())
	by := signer{ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	removed := map[kept.Kind]int{}
	service := retention.New(s, by, noLogs{}, clock, kept.Settings{Activity: kept.Period(90 * 24 * time.Hour)},
		func(of kept.Kind, rows int) { removed[of] += rows })
	log := activity.New(s, by)

	const perDay = 40
	filler := strings.Repeat("a", 400)
	sizes := map[int]int64{}
	for day := 1; day <= 365; day++ {
		clock.Advance(24 * time.Hour)
		check(t, s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
			for n := range perDay {
				happened := event.Of(event.LeadImported, "", fmt.Sprint(n), event.Fields{event.F("text", filler)})
				if err := tx.Record(ctx, happened.By("system:test")); err != nil {
					return err
				}
			}
			return nil
		}))
		for more := true; more; {
			more, err = log.Chain(t.Context())
			check(t, err)
		}
		_, err := service.Run(t.Context())
		check(t, err)
		for more := true; more; {
			more, err = s.Tidy(t.Context())
			check(t, err)
		}
		found, err := s.Sizes(t.Context())
		check(t, err)
		sizes[day] = found.Data
	}
	if want := (365 - 91) * perDay; removed[kept.Activity] != want {
		t.Errorf("%d entries were removed, not %d", removed[kept.Activity], want)
	}
	// What is added each day then is the entry about the pass, which an audit shows.
	if limit := sizes[120] + sizes[120]/4; sizes[365] > limit {
		t.Errorf("after 120 days it has %d bytes, and after a year %d", sizes[120], sizes[365])
	}
	last, err := log.Verify(t.Context(), access.System("test"), "", nil)
	if err != nil || last.Number < 365*perDay {
		t.Errorf("%d, %v", last.Number, err)
	}
	results, err := service.Prune(t.Context(), access.System("test"), inbound.Pruning{DryRun: true})
	check(t, err)
	for _, one := range results {
		if one.Rows > 0 {
			t.Errorf("%+v is left", one)
		}
	}
}

func TestAPruneIsRefusedThatKeepsTooLittle(t *testing.T) {
	t.Parallel()
	engine, err := sqlite.Open(t.Context(), sqlite.Options{Path: sqlite.Memory, UnitTimeout: time.Minute})
	check(t, err)
	t.Cleanup(func() { check(t, engine.Close()) })
	clock := storetest.NewClock()
	s := sqlstore.New(engine, clock, system.IDs{}, engine.Migrator())
	_, err = engine.Migrator().Up(t.Context())
	check(t, err)
	service := retention.New(s, signer{}, noLogs{}, clock, kept.Settings{Runs: kept.Period(90 * 24 * time.Hour)}, nil)
	days := func(n int) kept.Period { return kept.Period(time.Duration(n) * 24 * time.Hour) }
	for _, c := range []struct {
		wanted inbound.Pruning
		want   string // of the error; empty: none
	}{
		{inbound.Pruning{Only: []string{"activity"}, OlderThan: days(89)}, "activity must be kept for at least 90d, not 89d"},
		{inbound.Pruning{Only: []string{"runs", "audit"}, OlderThan: days(364)}, "audit must be kept for at least 365d, not 364d"},
		{inbound.Pruning{Only: []string{"tea"}}, `there is no kind "tea"`},
		{inbound.Pruning{OlderThan: days(1)}, ""}, // what is kept for ever is not named
		{inbound.Pruning{Only: []string{"activity", "audit"}, OlderThan: days(365)}, ""},
	} {
		_, err := service.Prune(t.Context(), access.System("test"), c.wanted)
		var said string
		if refused := fault.Of(err); refused != nil && len(refused.Fields) == 1 {
			said = refused.Fields[0].Message
		}
		if (err != nil) != (c.want != "") || !strings.Contains(said, c.want) {
			t.Errorf("%+v: %v, %s", c.wanted, err, said)
		}
	}
	reader := access.Caller{Actor: "token:tok_1", Scopes: access.Scopes{{Permission: access.Write}}}
	if _, err := service.Prune(t.Context(), reader, inbound.Pruning{DryRun: true}); err == nil {
		t.Error("who may not do all prunes")
	}
}
