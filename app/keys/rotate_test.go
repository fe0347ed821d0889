package keys_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdco/adapters/system"
	"holdco/adapters/system/vault"
	"holdco/app/keys"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/secret"
	"holdco/domain/webhook"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

var errKilled = errors.New("killed")

// killer kills a process before the step that leaves it no fuse, or after it.
type killer struct {
	fuse  int
	after bool
	steps int // that were taken
}

func (k *killer) step(do func() error) error {
	if k.fuse == 0 {
		return errKilled
	}
	k.steps++
	if k.fuse--; k.fuse != 0 || k.after {
		if err := do(); err != nil {
			return err
		}
	}
	if k.fuse == 0 {
		return errKilled
	}
	return nil
}

// mortalStore is a store, and mortalFiles are files, whose process is killed.
type mortalStore struct {
	store.Store
	*killer
}

func (m mortalStore) Update(ctx context.Context, write func(ctx context.Context, tx store.Tx) error) error {
	return m.step(func() error { return m.Store.Update(ctx, write) })
}

type mortalFiles struct {
	outbound.KeyFiles
	*killer
}

func (m mortalFiles) Prepare() error { return m.step(m.KeyFiles.Prepare) }

func (m mortalFiles) Promote(bound string) (fingerprint string, err error) {
	err = m.step(func() (err error) {
		fingerprint, err = m.KeyFiles.Promote(bound)
		return err
	})
	return fingerprint, err
}

func (m mortalFiles) EndFormer() error { return m.step(m.KeyFiles.EndFormer) }

// many are more than are sealed anew in one unit.
const many = 25

func TestARotationThatIsKilledAnywhereGoesOn(t *testing.T) {
	t.Parallel()
	taken := 0 // steps of a rotation that is not killed
	for fuse := 1; fuse == 1 || fuse <= taken; fuse++ {
		for _, after := range []bool{false, true} {
			for _, goesOn := range []string{"call", "start"} {
				name := fmt.Sprintf("%d %t %s", fuse, after, goesOn)
				f := newFixture(t)
				was := f.fingerprint()
				if fuse == 1 && taken == 0 {
					whole := newFixture(t)
					k := &killer{fuse: -1}
					whole.rotates(name, k)
					taken = k.steps
				}
				v := f.open()
				k := &killer{fuse: fuse, after: after}
				_, err := keys.New(mortalStore{f.store, k}, v, v, mortalFiles{v, k}).Rotate(t.Context(), access.System("test"))
				if !errors.Is(err, errKilled) {
					t.Fatalf("%s: not killed: %v", name, err)
				}
				f.allOpen(name, f.open()) // a process that starts now has every key that it needs
				next := f.open()
				f.seal(next, fmt.Sprint("meanwhile ", name))
				again := keys.New(f.store, next, next, next)
				isRotated := true
				if goesOn == "call" {
					done, err := again.Rotate(t.Context(), access.System("test"))
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if isAnother := fuse == 1 && !after || fuse == taken && after; done.IsContinued == isAnother {
						t.Errorf("%s: it is continued: %t", name, done.IsContinued)
					}
				} else {
					if _, err := again.Resume(t.Context()); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					isRotated = fuse > 1 || after // otherwise nothing had begun
				}
				f.isOver(name)
				if now := f.fingerprint(); (now != was) != isRotated {
					t.Errorf("%s: the key was %s and is %s", name, was, now)
				}
				f.rotates(name, &killer{fuse: -1})
			}
		}
	}
	if taken < 6 {
		t.Errorf("a rotation has %d steps", taken)
	}
}

func TestOfTwoRotationsOneIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	v := f.open()
	unlock, _, err := v.Lock()
	if err != nil {
		t.Fatal(err)
	}
	_, err = keys.New(f.store, v, v, v).Rotate(t.Context(), access.System("test"))
	if err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("%v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.New(f.store, v, v, v).Rotate(t.Context(), access.Caller{}); err == nil {
		t.Error("nobody rotates the key")
	}
}

func TestWhatDoesNotOpenStopsARotationAndIsNamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	damaged := f.secrets[7]
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Secrets().Keep(ctx, damaged, "v1:AAAA") })
	v := f.open()
	_, err := keys.New(f.store, v, v, v).Rotate(t.Context(), access.System("test"))
	if err == nil || !strings.Contains(err.Error(), damaged.Place()) {
		t.Fatalf("%v", err)
	}
	f.open() // both keys are still there
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Secrets().Remove(ctx, damaged) })
	f.secrets = append(f.secrets[:7], f.secrets[8:]...)
	if done, err := keys.New(f.store, v, v, v).Rotate(t.Context(), access.System("test")); err != nil || !done.IsContinued {
		t.Errorf("%+v, %v", done, err)
	}
	f.isOver("after it was removed")
}

// fixture is a store with secrets of a company and of webhooks.
type fixture struct {
	t       *testing.T
	store   store.Store
	path    string // of the key
	secrets []secret.Secret
	hooks   []webhook.Endpoint
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, store: newStore(t), path: filepath.Join(t.TempDir(), "key")}
	v := f.open()
	for n := range many {
		f.seal(v, fmt.Sprint(n))
	}
	return f
}

// open is the vault of a process that starts.
func (f *fixture) open() *vault.Vault {
	f.t.Helper()
	v := vault.New(f.path)
	if err := keys.Unlock(f.t.Context(), f.store, v); err != nil {
		f.t.Fatal(err)
	}
	return v
}

func (f *fixture) update(write func(ctx context.Context, tx store.Tx) error) {
	f.t.Helper()
	if err := f.store.Update(f.t.Context(), func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return write(ctx, tx)
	}); err != nil {
		f.t.Fatal(err)
	}
}

// seal keeps a secret of a company, and one of a webhook.
func (f *fixture) seal(v outbound.Vault, what string) {
	f.t.Helper()
	ids := system.IDs{}
	s := secret.Secret{
		ID: id.New[id.Secret](ids.UUIDv7()), Company: "cmp_1", Name: strings.Map(func(r rune) rune {
			if r == ' ' {
				return '.'
			}
			return r
		}, "n"+what), Category: secret.Other, Version: 1,
	}
	hook := webhook.Endpoint{ID: id.New[id.Webhook](ids.UUIDv7()), URL: "https://example.com", Version: 1}
	f.update(func(ctx context.Context, tx store.Tx) error {
		for owner, keep := range map[string]func(sealed string) error{
			s.Place(): func(sealed string) error {
				return errors.Join(tx.Secrets().Add(ctx, s), tx.Secrets().Keep(ctx, s, sealed))
			},
			string(hook.ID): func(sealed string) error {
				hook.Secret = webhook.Sealed(sealed)
				return tx.Webhooks().Add(ctx, hook)
			},
		} {
			sealed, err := store.SealIn(ctx, tx, v, owner, "value of "+owner)
			if err != nil {
				return err
			}
			if err := keep(sealed); err != nil {
				return err
			}
		}
		return nil
	})
	f.secrets, f.hooks = append(f.secrets, s), append(f.hooks, hook)
}

// allOpen checks that everything opens.
func (f *fixture) allOpen(when string, v outbound.Vault) {
	f.t.Helper()
	all, err := f.store.Seals().After(f.t.Context(), store.Seal{}, 10_000)
	if err != nil || len(all) != len(f.secrets)+len(f.hooks) {
		f.t.Fatalf("%s: %d are sealed, %v", when, len(all), err)
	}
	for _, one := range all {
		if value, err := v.Open(one.Owner, one.Text); err != nil || value != "value of "+one.Owner {
			f.t.Errorf("%s: %q, %v", when, value, err)
		}
	}
}

func (f *fixture) fingerprint() string {
	f.t.Helper()
	bound, err := f.store.InstanceKey().Fingerprint(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return bound
}

// isOver checks that one key is left, with which everything opens.
func (f *fixture) isOver(when string) {
	f.t.Helper()
	former, err := f.store.InstanceKey().Former(f.t.Context())
	if err != nil || former != "" {
		f.t.Errorf("%s: the store has the former key %q, %v", when, former, err)
	}
	for _, left := range []string{".old", ".new"} {
		if _, err := os.Stat(f.path + left); !errors.Is(err, os.ErrNotExist) {
			f.t.Errorf("%s: the file %s is left: %v", when, left, err)
		}
	}
	f.allOpen(when, f.open())
}

// rotates rotates the key from the beginning to the end.
func (f *fixture) rotates(when string, k *killer) {
	f.t.Helper()
	was, v := f.fingerprint(), f.open()
	done, err := keys.New(mortalStore{f.store, k}, v, v, mortalFiles{v, k}).Rotate(f.t.Context(), access.System("test"))
	if err != nil || done.IsContinued || done.Sealed != len(f.secrets)+len(f.hooks) || done.Fingerprint == was {
		f.t.Errorf("%s: %+v, %v", when, done, err)
	}
	f.isOver(when)
	found, err := f.store.Activity().List(f.t.Context(), store.ActivityFilter{Company: new(id.Company(""))}, page.Position{}, 1)
	if err != nil || len(found.Items) != 1 || found.Items[0].Type != event.KeyRotated || found.Items[0].Subject.ID != done.Fingerprint {
		f.t.Errorf("%s: %+v, %v", when, found, err)
	}
}
