package keys_test

import (
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/keys"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

func TestOfTwoProcessesWithDifferentKeysThatStartAtOnceOneFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, second, want string }{
		{"key A", "key B", "another process has just bound the store to a key of its own, with the fingerprint key B, " +
			"while the key of this one has key A"},
		{"key A", "key A", ""},
	} {
		s := newStore(t)
		other := func() { // binds the store after the first process has read that it is not bound
			if err := keys.Unlock(t.Context(), s, fakeVault{key: c.second}); err != nil {
				t.Fatal(err)
			}
		}
		err := keys.Unlock(t.Context(), s, fakeVault{key: c.first, unlocking: other})
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s, while %s binds the store: %v", c.first, c.second, err)
		}
		if bound, err := s.InstanceKey().Fingerprint(t.Context()); err != nil || bound != c.second {
			t.Errorf("the store is bound to %q, %v, want %q", bound, err, c.second)
		}
	}
}

func TestTheVaultIsUnlockedWithTheKeyThatTheStoreIsBoundTo(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, want := range []string{"", "key A", "key A"} { // what the store is bound to before
		asked := "nothing"
		if err := keys.Unlock(t.Context(), s, fakeVault{key: "key A", asked: &asked}); err != nil || asked != want {
			t.Errorf("the vault was asked for the key %q, want %q; %v", asked, want, err)
		}
	}
}

func newStore(t *testing.T) store.Store {
	t.Helper()
	engine, err := sqlite.Open(t.Context(), sqlite.Options{Path: sqlite.Memory, UnitTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	s := sqlstore.New(engine, system.Clock{}, system.IDs{}, engine.Migrator())
	if _, err := engine.Migrator().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// fakeVault has a key whose fingerprint is the key.
type fakeVault struct {
	outbound.Vault
	key       string
	unlocking func()  // called by Unlock
	asked     *string // gets the fingerprint that Unlock was called with
}

func (v fakeVault) Unlock(fingerprint, _ string) (string, error) {
	if v.asked != nil {
		*v.asked = fingerprint
	}
	if v.unlocking != nil {
		v.unlocking()
	}
	return v.key, nil
}
