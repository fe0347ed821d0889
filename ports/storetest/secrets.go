package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/secret"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var secretRules = anySecret.rules([]rule{
	{"a company has no two secrets of one name; case counts", secretNames},
	{"a secret is found by its name in its company", secretByName},
	{"the sealed value is kept apart, replaced, and removed with its secret", sealedValues},
	{"whatever is sealed is found, in portions, and replaced unless it has changed", allSeals},
})

var anySecret = aggregate[id.Secret, secret.Secret]{
	of:  func(r store.Reader) store.Getter[id.Secret, secret.Secret] { return r.Secrets() },
	in:  func(tx store.Tx) store.Repository[id.Secret, secret.Secret] { return tx.Secrets() },
	new: func(f *fixture) secret.Secret { return f.newSecret(f.employer()) },
	list: func(f *fixture, size int) pages[secret.Secret] {
		return func(after page.Position) (page.Page[secret.Secret], error) {
			return f.store.Secrets().List(f.ctx, f.employer(), after, size)
		}
	},
	full: func(f *fixture, s *secret.Secret) {
		at := f.clock.Now()
		s.Category, s.Description, s.Version = secret.MTLSCert, "First line\nsecond line", 1<<53+1
		s.UpdatedAt, s.RotatedAt, s.LastUsedAt = at.Add(time.Minute), at.Add(time.Second), at.Add(time.Hour)
	},
	edit: func(f *fixture, s *secret.Secret) {
		at := f.clock.Now()
		s.Company, s.Name, s.CreatedAt, s.LastUsedAt = "cmp_other", "other", at.Add(time.Hour), at.Add(2*time.Hour)
		s.Category, s.Description = secret.OAuthToken, "New"
		s.UpdatedAt, s.RotatedAt = at.Add(time.Hour), at.Add(2*time.Minute)
	},
	permanent: []string{"Company", "Name", "CreatedAt", "LastUsedAt"},
	touch: func(used map[id.Secret]time.Time) unit {
		return func(ctx context.Context, tx store.Tx) error { return tx.Secrets().Touch(ctx, used) }
	},
	used:  func(of *secret.Secret) *time.Time { return &of.LastUsedAt },
	texts: func(s *secret.Secret, text string) { s.Description, s.Category = text, secret.Category(text) },
	remove: func(f *fixture, which id.Secret) {
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			found, err := tx.Secrets().Get(ctx, which)
			if err != nil {
				return err
			}
			if err := tx.Secrets().Keep(ctx, found, "sealed"); err != nil {
				return err
			}
			return tx.Secrets().Remove(ctx, found)
		})
	},
}

// newSecret makes a secret that is in no store yet, with a name of its own.
func (f *fixture) newSecret(of id.Company, names ...string) secret.Secret {
	f.Helper()
	made := id.New[id.Secret](f.ids.UUIDv7())
	names = append(names, "NAME."+string(made))
	s, _, err := secret.New(made, of, names[0], secret.Draft{}, []byte("value"), f.clock.Now())
	f.ok(err)
	return s
}

func keepingSecret(s secret.Secret, sealed string) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if err := tx.Secrets().Add(ctx, s); err != nil {
			return err
		}
		return tx.Secrets().Keep(ctx, s, sealed)
	}
}

func someSecret(f *fixture, of id.Company) unit { return keepingSecret(f.newSecret(of), "sealed") }

func secretNames(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	for _, s := range []secret.Secret{f.newSecret(acme, "key"), f.newSecret(acme, "KEY"), f.newSecret(other, "key")} {
		f.update(keepingSecret(s, "sealed"))
	}
	f.refused(fault.Internal, keepingSecret(f.newSecret(acme, "key"), "sealed")) // the domain has looked
}

func secretByName(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	want := f.newSecret(acme, "key")
	f.update(keepingSecret(want, "sealed"))
	got, err := f.store.Secrets().ByName(f.ctx, acme, "key")
	f.ok(err)
	f.same(got, want)
	for name, of := range map[string]id.Company{"KEY": acme, "": acme, "%": acme, "key\x00": acme, "k\xff": acme, "key": other} {
		_, err := f.store.Secrets().ByName(f.ctx, of, name)
		f.code(err, fault.NotFound)
	}
}

func sealedValues(f *fixture) {
	acme := f.found("acme").ID
	one, other := f.newSecret(acme), f.newSecret(acme)
	f.update(keepingSecret(one, "first"))
	f.update(keepingSecret(other, "other"))
	long := strings.Repeat("x", 100_000)
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Secrets().Keep(ctx, one, long)
	})
	holds := func(of secret.Secret, want string) {
		f.Helper()
		got, err := f.store.Secrets().Sealed(f.ctx, of)
		f.ok(err)
		f.same(got, want)
	}
	holds(one, long)
	holds(other, "other")
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Secrets().Remove(ctx, one)
	})
	_, err := f.store.Secrets().Sealed(f.ctx, one)
	f.code(err, fault.NotFound)
	_, err = f.store.Secrets().Get(f.ctx, one.ID)
	f.code(err, fault.NotFound)
	holds(other, "other")
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Secrets().Remove(ctx, one)
	})
}

func allSeals(f *fixture) {
	acme := f.found("acme").ID
	want := map[string]string{} // by what it is bound to
	for n := range 3 {
		s := f.newSecret(acme)
		want[s.Place()] = fmt.Sprint("value ", n)
		f.update(keepingSecret(s, want[s.Place()]))
		e := f.endpoint(func(e *webhook.Endpoint) { e.Secret = webhook.Sealed(fmt.Sprint("present ", n)) })
		want[string(e.ID)] = string(e.Secret)
	}
	rotated := f.endpoint(func(e *webhook.Endpoint) { e.Secret, e.OldSecret = "rotated", "before" })
	want[string(rotated.ID)] = "rotated"
	read := func(most int) map[string]string {
		f.Helper()
		found := map[string]string{}
		var after store.Seal
		for {
			some, err := f.store.Seals().After(f.ctx, after, most)
			f.ok(err)
			for _, one := range some {
				if one.Owner == string(rotated.ID) && one.Place == 1 {
					f.same(one.Text, "before")
					continue
				}
				found[one.Owner] = one.Text
			}
			if len(some) < most {
				return found
			}
			after = some[len(some)-1]
		}
	}
	for _, most := range []int{1, 2, 3, 7, 8, 100} {
		f.same(read(most), want)
	}
	all, err := f.store.Seals().After(f.ctx, store.Seal{}, 100)
	f.ok(err)
	f.same(len(all), 8)
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for _, one := range all {
			if err := tx.Seals().Replace(ctx, store.Seal{Place: one.Place, Owner: one.Owner, Text: "another"}, "wrong"); err != nil {
				return err
			}
		}
		return nil
	})
	f.same(read(100), want)
	for _, owner := range slices.Sorted(maps.Keys(want)) {
		at := slices.IndexFunc(all, func(one store.Seal) bool { return one.Owner == owner })
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Seals().Replace(ctx, all[at], "new "+want[owner])
		})
		want[owner] = "new " + want[owner]
		f.same(read(100), want)
	}
}

func (f *fixture) secretWrites() map[string]writeCase {
	acme := f.found("with-secrets").ID
	kept, leaving, newcomer := f.newSecret(acme), f.newSecret(acme), f.newSecret(acme)
	f.update(keepingSecret(kept, "sealed"))
	f.update(keepingSecret(leaving, "sealed"))
	lock := func(ctx context.Context, tx store.Tx) (secret.Secret, error) { return tx.Secrets().Lock(ctx, kept.ID) }
	bound := func(ctx context.Context, tx store.Tx) error {
		fingerprint, err := tx.InstanceKey().Fingerprint(ctx)
		if err != nil || fingerprint != "" {
			return err
		}
		return tx.InstanceKey().Bind(ctx, "fingerprint")
	}
	rotate := func(ctx context.Context, tx store.Tx, to string) error {
		if err := bound(ctx, tx); err != nil {
			return err
		}
		return tx.InstanceKey().Rotate(ctx, to)
	}
	return map[string]writeCase{
		"Secrets.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Secrets.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Secrets().Add(ctx, newcomer) }},
		"Secrets.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Description, locked.Version = "New", locked.Version+1
			return tx.Secrets().Save(ctx, locked)
		}},
		"Secrets.Keep": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Secrets().Keep(ctx, kept, "new") }},
		"Secrets.Touch": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Secrets().Touch(ctx, map[id.Secret]time.Time{kept.ID: f.clock.Now().Add(time.Second)})
		}},
		"Secrets.Remove": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Secrets().Remove(ctx, leaving) }},
		"Seals.Replace": {changes, func(ctx context.Context, tx store.Tx) error {
			found, err := tx.Seals().After(ctx, store.Seal{}, 1)
			if err != nil {
				return err
			}
			return tx.Seals().Replace(ctx, found[0], "another")
		}},
		"InstanceKey.Hold":   {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.InstanceKey().Hold(ctx); return err }},
		"InstanceKey.Rotate": {changes, func(ctx context.Context, tx store.Tx) error { return rotate(ctx, tx, "second") }},
		"InstanceKey.EndFormer": {changes, func(ctx context.Context, tx store.Tx) error {
			if err := rotate(ctx, tx, "first"); err != nil {
				return err
			}
			return tx.InstanceKey().EndFormer(ctx)
		}},
	}
}
