package storetest

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/ports/store"
)

var partnerRules = anyPartner.rules([]rule{
	{"a partner is found by the hash of its key and by the old one", partnerByHash},
	{"no two keys have the same hash", partnerHashUnique},
	{"what a key was used for is added to what it was used for before", partnerUsage},
	{"the origins are those of live keys, each once", partnerOrigins},
})

var anyPartner = aggregate[id.Partner, partner.Partner]{
	of:   func(r store.Reader) store.Getter[id.Partner, partner.Partner] { return r.Partners() },
	in:   func(tx store.Tx) store.Repository[id.Partner, partner.Partner] { return tx.Partners() },
	new:  func(f *fixture) partner.Partner { return f.newPartner() },
	list: (*fixture).partnerPages,
	full: func(f *fixture, p *partner.Partner) {
		at := f.clock.Now()
		p.Origins = []string{"https://b.example:8443", "http://[::1]:3000", "https://a.example"}
		p.OldHash, p.OldUntil = f.newKey().Hash(), at.Add(time.Hour)
		p.ExpiresAt, p.RevokedAt, p.LastUsedAt = at.Add(time.Minute), at.Add(time.Second), at.Add(time.Millisecond)
		p.Test = true
		p.Requests, p.LeadsRead = 1<<40, 1<<53+1
		p.View = lead.View{Campaigns: []id.Campaign{"cam_a", "cam_b"}, Industries: []id.Industry{"ind_a"}, NoContacts: true}
		p.Version = 1<<53 + 1
	},
	edit: func(f *fixture, p *partner.Partner) {
		key, at := f.newKey(), f.clock.Now()
		p.Name, p.Origins = "New", []string{"http://localhost:3000"}
		p.OldHash, p.OldUntil, p.Hash, p.Hint = "", time.Time{}, key.Hash(), key.Hint()
		p.ExpiresAt, p.RevokedAt, p.LastUsedAt = time.Time{}, at.Add(time.Minute), at.Add(time.Hour)
		p.Requests, p.LeadsRead = 7, 8
		p.View = lead.View{Industries: []id.Industry{"ind_b", "ind_c"}, NoContacts: !p.View.NoContacts}
	},
	permanent: []string{"CreatedAt", "Test", "LastUsedAt", "Requests", "LeadsRead"},
	touch:     touchingPartners,
	used:      func(of *partner.Partner) *time.Time { return &of.LastUsedAt },
	texts:     func(p *partner.Partner, text string) { p.Name, p.Hint = text, text },
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

func admitting(p partner.Partner) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Partners().Add(ctx, p)
	}
}

func somePartner(f *fixture) unit { return admitting(f.newPartner()) }

func partnerByHash(f *fixture) {
	first := anyPartner.add(f)
	anyPartner.add(f)
	at := f.clock.Now()
	rotated := anyPartner.edited(f, first, func(p *partner.Partner) {
		p.OldHash, p.OldUntil, p.Hash = p.Hash, at.Add(time.Hour), f.newKey().Hash()
	})
	for _, hash := range []string{first.Hash, rotated.Hash} {
		got, err := f.store.Partners().ByHash(f.ctx, hash)
		f.ok(err)
		f.same(got, rotated)
	}

	again := anyPartner.edited(f, rotated, func(p *partner.Partner) {
		p.OldHash, p.OldUntil, p.Hash = "", time.Time{}, f.newKey().Hash()
	})
	anyPartner.is(f, again)
	for _, hash := range []string{first.Hash, rotated.Hash, ""} {
		_, err := f.store.Partners().ByHash(f.ctx, hash)
		f.code(err, fault.NotFound)
	}
}

func partnerUsage(f *fixture) {
	at := f.clock.Now()
	first, second := anyPartner.add(f), anyPartner.add(f)
	f.update(usingPartners(map[id.Partner]partner.Usage{
		first.ID: {LastUsedAt: at, Requests: 2, LeadsRead: 50}, "prt_unknown": {LastUsedAt: at, Requests: 1},
	}))
	f.update(usingPartners(map[id.Partner]partner.Usage{
		first.ID: {LastUsedAt: at.Add(-time.Hour), Requests: 1, LeadsRead: 1 << 50}, second.ID: {LastUsedAt: at, Requests: 1},
	}))
	first.Usage = partner.Usage{LastUsedAt: at, Requests: 3, LeadsRead: 1<<50 + 50}
	second.Usage = partner.Usage{LastUsedAt: at, Requests: 1}
	anyPartner.is(f, first)
	anyPartner.is(f, second)
}

func partnerHashUnique(f *fixture) {
	kept, twin := anyPartner.add(f), f.newPartner()
	twin.Hash = kept.Hash
	f.refused(fault.Internal, admitting(twin))
	anyPartner.is(f, kept)
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

	shared = anyPartner.edited(f, shared, func(p *partner.Partner) { p.Origins = []string{"http://a.example:8080"} })
	expect(at, "http://a.example:8080", "https://expiring.example", "https://shared.example")
	anyPartner.edited(f, shared, func(p *partner.Partner) { p.RevokedAt = at })
	expect(at.Add(time.Hour))
}

func touchingPartners(used map[id.Partner]time.Time) unit {
	all := map[id.Partner]partner.Usage{}
	for which, at := range used {
		all[which] = partner.Usage{LastUsedAt: at}
	}
	return usingPartners(all)
}

func usingPartners(used map[id.Partner]partner.Usage) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Partners().Use(ctx, used) }
}

func (f *fixture) partnerPages(size int) pages[partner.Partner] {
	return func(after page.Position) (page.Page[partner.Partner], error) {
		return f.store.Partners().List(f.ctx, after, size)
	}
}

func (f *fixture) partnerWrites() map[string]writeCase {
	joined, joining, used := anyPartner.add(f), f.newPartner(), f.clock.Now().Add(time.Second)
	lock := func(ctx context.Context, tx store.Tx) (partner.Partner, error) {
		return tx.Partners().Lock(ctx, joined.ID)
	}
	return map[string]writeCase{
		"Partners.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Partners.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Partners().Add(ctx, joining) }},
		"Partners.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Name, locked.Version = "New", locked.Version+1
			return tx.Partners().Save(ctx, locked)
		}},
		"Partners.Use": {notes, usingPartners(map[id.Partner]partner.Usage{joined.ID: {LastUsedAt: used, Requests: 1, LeadsRead: 2}})},
	}
}
