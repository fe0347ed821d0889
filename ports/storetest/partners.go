package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/ports/store"
)

var partnerRules = []rule{
	{"a partner reads back as it was added", partnerReadsBack},
	{"what is not there is not found", partnerNotFound},
	{"a partner is found by the hash of its key and by the old one", partnerByHash},
	{"save replaces one partner, but not when its key was last used", partnerSave},
	{"save of a partner that was not locked here is a defect", partnerSaveNeedsLock},
	{"no two keys have the same hash", partnerHashUnique},
	{"a list holds every partner, newest first", partnerList},
	{"the origins are those of live keys, each once", partnerOrigins},
	{"touch moves the last use forward, never back", partnerTouch},
}

// newPartner makes a partner that is in no store yet.
func (f *fixture) newPartner(origins ...string) partner.Partner {
	f.Helper()
	if origins == nil {
		origins = []string{"https://example.com"}
	}
	name := "Partner"
	draft := partner.Draft{Settings: partner.Settings{Name: &name, Origins: &origins}}
	made, _, err := partner.New(id.New[id.Partner](f.ids.UUIDv7()), draft, f.newKey(), f.clock.Now())
	f.ok(err)
	return made
}

// newKey makes a key that no other partner has.
func (f *fixture) newKey() access.Value {
	var random [32]byte
	uuid := f.ids.UUIDv7()
	copy(random[:], uuid[:])
	return access.NewPartnerKey(random)
}

// partner adds a partner, altered by each of alter.
func (f *fixture) partner(alter ...func(*partner.Partner)) partner.Partner {
	f.Helper()
	made := f.newPartner()
	for _, change := range alter {
		change(&made)
	}
	f.update(admitting(made))
	return made
}

func admitting(p partner.Partner) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Partners().Add(ctx, p)
	}
}

// savePartner saves the next version of a partner, altered by change, and returns it.
func (f *fixture) savePartner(p partner.Partner, change func(*partner.Partner)) partner.Partner {
	f.Helper()
	change(&p)
	p.Version++
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Partners().Lock(ctx, p.ID); err != nil {
			return err
		}
		return tx.Partners().Save(ctx, p)
	})
	return p
}

// partnerIs holds every way to read one partner against want.
func (f *fixture) partnerIs(want partner.Partner) {
	f.Helper()
	got, err := f.store.Partners().Get(f.ctx, want.ID)
	f.ok(err)
	f.same(got, want)
	got, err = f.store.Partners().ByHash(f.ctx, want.Hash)
	f.ok(err)
	f.same(got, want)
	f.update(func(ctx context.Context, tx store.Tx) error {
		locked, err := tx.Partners().Lock(ctx, want.ID)
		if err == nil {
			f.same(locked, want)
		}
		return err
	})
}

func partnerReadsBack(f *fixture) {
	at := f.clock.Now()
	for _, want := range []partner.Partner{
		f.partner(),
		f.partner(func(p *partner.Partner) {
			p.Origins = []string{"https://b.example:8443", "http://[::1]:3000", "https://a.example"}
			p.OldHash, p.OldUntil = f.newKey().Hash(), at.Add(time.Hour)
			p.ExpiresAt, p.RevokedAt, p.LastUsedAt = at.Add(time.Minute), at.Add(time.Second), at.Add(time.Millisecond)
			p.Version = 1<<53 + 1
		}),
	} {
		f.partnerIs(want)
	}
}

func partnerNotFound(f *fixture) {
	f.partner()
	for _, text := range []string{"", "prt_00000000000000000000000000", "' OR '1'='1"} {
		_, err := f.store.Partners().Get(f.ctx, id.Partner(text))
		f.code(err, fault.NotFound)
		_, err = f.store.Partners().ByHash(f.ctx, text)
		f.code(err, fault.NotFound)
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Partners().Lock(ctx, id.Partner(text))
			return err
		})
	}
}

func partnerByHash(f *fixture) {
	first := f.partner()
	f.partner()
	at := f.clock.Now()
	rotated := f.savePartner(first, func(p *partner.Partner) {
		p.OldHash, p.OldUntil, p.Hash = p.Hash, at.Add(time.Hour), f.newKey().Hash()
	})
	for _, hash := range []string{first.Hash, rotated.Hash} {
		got, err := f.store.Partners().ByHash(f.ctx, hash)
		f.ok(err)
		f.same(got, rotated)
	}

	again := f.savePartner(rotated, func(p *partner.Partner) {
		p.OldHash, p.OldUntil, p.Hash = "", time.Time{}, f.newKey().Hash()
	})
	f.partnerIs(again)
	for _, hash := range []string{first.Hash, rotated.Hash, ""} {
		_, err := f.store.Partners().ByHash(f.ctx, hash)
		f.code(err, fault.NotFound)
	}
}

func partnerSave(f *fixture) {
	at := f.clock.Now()
	changed, untouched := f.partner(), f.partner()
	used := at.Add(time.Minute)
	f.update(touchingPartners(map[id.Partner]time.Time{changed.ID: used}))

	changed = f.savePartner(changed, func(p *partner.Partner) {
		key := f.newKey()
		p.Name, p.Origins = "New", []string{"http://localhost:3000", "https://new.example"}
		p.OldHash, p.OldUntil, p.Hash, p.Hint = p.Hash, at.Add(time.Hour), key.Hash(), key.Hint()
		p.ExpiresAt, p.RevokedAt, p.LastUsedAt = at.Add(2*time.Hour), at.Add(time.Second), used.Add(time.Hour)
	})
	changed.LastUsedAt = used
	f.partnerIs(changed)

	changed = f.savePartner(changed, func(p *partner.Partner) {
		p.OldHash, p.OldUntil, p.ExpiresAt, p.RevokedAt = "", time.Time{}, time.Time{}, time.Time{}
	})
	f.partnerIs(changed)
	f.partnerIs(untouched)
}

func partnerSaveNeedsLock(f *fixture) {
	missing, stale := f.newPartner(), f.partner()
	kept := f.savePartner(stale, func(p *partner.Partner) { p.Name = "Second" })
	stale.Name = "Stale"
	for _, wrong := range []partner.Partner{missing, stale} {
		f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Partners().Save(ctx, wrong)
		})
	}
	f.partnerIs(kept)
}

func partnerHashUnique(f *fixture) {
	kept, twin := f.partner(), f.newPartner()
	twin.Hash = kept.Hash
	f.refused(fault.Internal, admitting(twin))
	f.partnerIs(kept)
}

func partnerList(f *fixture) {
	none, err := f.store.Partners().List(f.ctx, page.Position{}, page.MaxSize)
	f.ok(err)
	f.same(none, page.Page[partner.Partner]{})

	var want []partner.Partner
	f.severally(func(i int) {
		want = append(want, f.partner(func(p *partner.Partner) {
			if i%2 == 0 {
				p.RevokedAt = f.clock.Now()
			}
			if i%3 == 1 {
				p.ExpiresAt = f.clock.Now()
			}
		}))
	})
	slices.SortFunc(want, func(a, b partner.Partner) int {
		if byAge := b.CreatedAt.Compare(a.CreatedAt); byAge != 0 {
			return byAge
		}
		return strings.Compare(string(b.ID), string(a.ID))
	})
	for _, size := range []int{1, 2, 3, len(want), page.MaxSize} {
		f.same(walk(f, size, f.partnerPages(size)), want)
	}
}

func partnerOrigins(f *fixture) {
	at := f.clock.Now()
	expect := func(at time.Time, want ...string) {
		f.Helper()
		got, err := f.store.Partners().Origins(f.ctx, at)
		f.ok(err)
		f.same(got, want)
	}
	expect(at)

	shared := f.newPartner("https://shared.example", "https://b.example")
	f.update(admitting(shared))
	expiring := f.newPartner("https://expiring.example", "https://shared.example")
	expiring.ExpiresAt = at.Add(time.Second)
	f.update(admitting(expiring))
	revoked := f.newPartner("https://revoked.example")
	revoked.ExpiresAt, revoked.RevokedAt = at.Add(time.Hour), at.Add(time.Hour) // whatever the clock says
	f.update(admitting(revoked))

	expect(at, "https://b.example", "https://expiring.example", "https://shared.example")
	expect(at.Add(time.Second-time.Millisecond), "https://b.example", "https://expiring.example", "https://shared.example")
	expect(at.Add(time.Second), "https://b.example", "https://shared.example")

	shared = f.savePartner(shared, func(p *partner.Partner) { p.Origins = []string{"http://a.example:8080"} })
	expect(at, "http://a.example:8080", "https://expiring.example", "https://shared.example")
	f.savePartner(shared, func(p *partner.Partner) { p.RevokedAt = at })
	expect(at.Add(time.Hour))
}

func touchingPartners(used map[id.Partner]time.Time) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Partners().Touch(ctx, used) }
}

func partnerTouch(f *fixture) {
	at := f.clock.Now()
	one, two := f.partner(), f.partner()
	lastUses := func(want ...time.Time) {
		f.Helper()
		for i, p := range []partner.Partner{one, two} {
			p.LastUsedAt = want[i]
			f.partnerIs(p)
		}
	}

	never := time.Time{}
	f.update(touchingPartners(nil))
	lastUses(never, never)
	f.update(touchingPartners(map[id.Partner]time.Time{one.ID: at, "prt_gone": at, "": at}))
	lastUses(at, never)
	f.update(touchingPartners(map[id.Partner]time.Time{one.ID: at.Add(time.Minute), two.ID: at.Add(time.Second)}))
	lastUses(at.Add(time.Minute), at.Add(time.Second))
	f.update(touchingPartners(map[id.Partner]time.Time{one.ID: at, two.ID: at.Add(time.Hour)}))
	lastUses(at.Add(time.Minute), at.Add(time.Hour))
}
