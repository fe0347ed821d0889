package storetest

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/store"
)

var tokenRules = anyToken.rules([]rule{
	{"a token is found by its hash and by its old one", tokenByHash},
	{"a live admin is neither revoked nor expired", liveAdmin},
})

var anyToken = aggregate[id.Token, access.Token]{
	of:   func(r store.Reader) store.Getter[id.Token, access.Token] { return r.Tokens() },
	in:   func(tx store.Tx) store.Repository[id.Token, access.Token] { return tx.Tokens() },
	new:  func(f *fixture) access.Token { return f.newToken("read") },
	list: (*fixture).tokenPages,
	full: func(f *fixture, t *access.Token) {
		at := f.clock.Now()
		t.Scopes = access.Scopes{
			{Permission: access.Write, Company: "cmp_00000000000000000000000001"}, {Permission: access.Read}, {Permission: access.Admin},
		}
		t.OldHash, t.OldUntil = f.newValue().Hash(), at.Add(time.Hour)
		t.ExpiresAt, t.RevokedAt, t.LastUsedAt = at.Add(time.Minute), at.Add(time.Second), at.Add(time.Millisecond)
		t.Version = 1<<53 + 1
	},
	edit: func(f *fixture, t *access.Token) {
		value, at := f.newValue(), f.clock.Now()
		t.Name, t.Scopes = "New", access.Scopes{{Permission: access.Write}}
		t.OldHash, t.OldUntil, t.Hash, t.Hint = "", time.Time{}, value.Hash(), value.Hint()
		t.ExpiresAt, t.RevokedAt, t.LastUsedAt = time.Time{}, at.Add(time.Minute), at.Add(time.Hour)
	},
	permanent: []string{"CreatedAt", "LastUsedAt"},
	touch:     touching,
	used:      func(of *access.Token) *time.Time { return &of.LastUsedAt },
	texts:     func(t *access.Token, text string) { t.Name, t.Hint = text, text },
}

func tokenByHash(f *fixture) {
	first := f.issue("read")
	f.issue("write")
	rotated, _, err := first.Rotate(f.newValue(), access.Rotation{Grace: new(time.Hour)}, f.clock.Now())
	f.ok(err)
	f.update(anyToken.saving(rotated))
	for _, hash := range []string{first.Hash, rotated.Hash} {
		got, err := f.store.Tokens().ByHash(f.ctx, hash)
		f.ok(err)
		f.same(got, rotated)
	}

	again, _, err := rotated.Rotate(f.newValue(), access.Rotation{}, f.clock.Now())
	f.ok(err)
	f.update(anyToken.saving(again))
	anyToken.is(f, again)
	for _, hash := range []string{first.Hash, rotated.Hash, ""} {
		_, err := f.store.Tokens().ByHash(f.ctx, hash)
		f.code(err, fault.NotFound)
	}
}

func liveAdmin(f *fixture) {
	at := f.clock.Now()
	expect := func(at time.Time, want bool) {
		f.Helper()
		got, err := f.store.Tokens().HasLiveAdmin(f.ctx, at)
		f.ok(err)
		f.same(got, want)
	}
	expect(at, false)

	f.issue("read", func(token *access.Token) { token.Name = "admin" })
	f.issue("company:cmp_00000000000000000000000001:write")
	f.issue("admin", func(token *access.Token) { token.RevokedAt = at.Add(-time.Hour) })
	f.issue("admin", func(token *access.Token) { token.ExpiresAt, token.RevokedAt = at.Add(time.Hour), at })
	expect(at, false)

	f.issue("admin", func(token *access.Token) { token.ExpiresAt = at.Add(time.Second) })
	expect(at, true)
	expect(at.Add(time.Second-time.Millisecond), true)
	expect(at.Add(time.Second), false)

	for _, scopes := range []access.Scopes{
		{{Permission: access.Admin}},
		{{Permission: access.Admin}, {Permission: access.Read}},
		{{Permission: access.Read}, {Permission: access.Admin}},
		{{Permission: access.Read}, {Permission: access.Admin}, {Permission: access.Write}},
	} {
		only := f.issue("read", func(token *access.Token) { token.Scopes = scopes })
		expect(at.Add(time.Hour), true)
		revoked, _ := only.Revoke(at)
		f.update(anyToken.saving(revoked))
		expect(at.Add(time.Hour), false)
	}
}

func touching(used map[id.Token]time.Time) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Tokens().Touch(ctx, used) }
}
