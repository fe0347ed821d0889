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
	"holdco/ports/store"
)

var tokenRules = []rule{
	{"a token reads back as it was added", tokenReadsBack},
	{"what is not there is not found", tokenNotFound},
	{"a token is found by its hash and by its old one", tokenByHash},
	{"save replaces one token, but not when it was last used", tokenSave},
	{"save of a token that is not there is a defect", tokenSaveNeedsToken},
	{"a list holds every token, newest first", tokenList},
	{"a live admin is neither revoked nor expired", liveAdmin},
	{"touch moves the last use forward, never back", touch},
}

func tokenReadsBack(f *fixture) {
	at := f.clock.Now()
	for _, want := range []access.Token{
		f.issue("read"),
		f.issue("company:cmp_00000000000000000000000001:write", func(token *access.Token) {
			token.Scopes = append(token.Scopes, access.Scope{Permission: access.Read}, access.Scope{Permission: access.Admin})
		}),
		f.issue("admin", func(token *access.Token) {
			token.OldHash, token.OldUntil = f.newValue().Hash(), at.Add(time.Hour)
			token.ExpiresAt, token.RevokedAt, token.LastUsedAt = at.Add(time.Minute), at.Add(time.Second), at.Add(time.Millisecond)
		}),
	} {
		f.tokenIs(want)
	}
}

// tokenIs holds every way to read one token against want.
func (f *fixture) tokenIs(want access.Token) {
	f.Helper()
	got, err := f.store.Tokens().Get(f.ctx, want.ID)
	f.ok(err)
	f.same(got, want)
	got, err = f.store.Tokens().ByHash(f.ctx, want.Hash)
	f.ok(err)
	f.same(got, want)
	f.update(func(ctx context.Context, tx store.Tx) error {
		locked, err := tx.Tokens().Lock(ctx, want.ID)
		if err == nil {
			f.same(locked, want)
		}
		return err
	})
}

func tokenNotFound(f *fixture) {
	f.issue("read")
	for _, text := range []string{"", "tok_00000000000000000000000000", "' OR '1'='1"} {
		_, err := f.store.Tokens().Get(f.ctx, id.Token(text))
		f.code(err, fault.NotFound)
		_, err = f.store.Tokens().ByHash(f.ctx, text)
		f.code(err, fault.NotFound)
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Tokens().Lock(ctx, id.Token(text))
			return err
		})
	}
}

func tokenByHash(f *fixture) {
	first := f.issue("read")
	f.issue("write")
	rotated, _, err := first.Rotate(f.newValue(), time.Hour, f.clock.Now())
	f.ok(err)
	f.update(savingToken(rotated))
	for _, hash := range []string{first.Hash, rotated.Hash} {
		got, err := f.store.Tokens().ByHash(f.ctx, hash)
		f.ok(err)
		f.same(got, rotated)
	}

	again, _, err := rotated.Rotate(f.newValue(), 0, f.clock.Now())
	f.ok(err)
	f.update(savingToken(again))
	f.tokenIs(again)
	for _, hash := range []string{first.Hash, rotated.Hash, ""} {
		_, err := f.store.Tokens().ByHash(f.ctx, hash)
		f.code(err, fault.NotFound)
	}
}

func savingToken(token access.Token) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := tx.Tokens().Lock(ctx, token.ID); err != nil {
			return err
		}
		return tx.Tokens().Save(ctx, token)
	}
}

func tokenSave(f *fixture) {
	changed, untouched := f.issue("read"), f.issue("read")
	used := f.clock.Now().Add(time.Minute)
	f.update(touching(map[id.Token]time.Time{changed.ID: used}))

	changed.Name, changed.Scopes = "New", access.Scopes{{Permission: access.Write}, {Permission: access.Admin}}
	changed.OldHash, changed.OldUntil = changed.Hash, f.clock.Now().Add(time.Hour)
	value := f.newValue()
	changed.Hash, changed.Hint = value.Hash(), value.Hint()
	changed.ExpiresAt, changed.RevokedAt = f.clock.Now().Add(2*time.Hour), f.clock.Now().Add(time.Second)
	changed.LastUsedAt = used.Add(time.Hour)
	f.update(savingToken(changed))
	changed.LastUsedAt = used
	f.tokenIs(changed)

	changed.OldHash, changed.OldUntil, changed.ExpiresAt, changed.RevokedAt = "", time.Time{}, time.Time{}, time.Time{}
	f.update(savingToken(changed))
	f.tokenIs(changed)
	f.tokenIs(untouched)
}

func tokenSaveNeedsToken(f *fixture) {
	missing := f.newToken("read")
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Tokens().Save(ctx, missing)
	})
}

func tokenList(f *fixture) {
	none, err := f.store.Tokens().List(f.ctx, page.Position{}, page.MaxSize)
	f.ok(err)
	f.same(none, page.Page[access.Token]{})

	var want []access.Token
	for i := range 9 {
		if i%3 == 0 {
			f.clock.Advance(time.Millisecond)
		}
		want = append(want, f.issue("read", func(token *access.Token) {
			if i%2 == 0 {
				token.RevokedAt = f.clock.Now()
			}
			if i%3 == 1 {
				token.ExpiresAt = f.clock.Now()
			}
		}))
	}
	slices.SortFunc(want, func(a, b access.Token) int {
		if byAge := b.CreatedAt.Compare(a.CreatedAt); byAge != 0 {
			return byAge
		}
		return strings.Compare(string(b.ID), string(a.ID))
	})
	for _, size := range []int{1, 2, 3, len(want), page.MaxSize} {
		f.same(walk(f, size, func(after page.Position) (page.Page[access.Token], error) {
			return f.store.Tokens().List(f.ctx, after, size)
		}), want)
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
		f.update(savingToken(revoked))
		expect(at.Add(time.Hour), false)
	}
}

func touching(used map[id.Token]time.Time) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Tokens().Touch(ctx, used) }
}

func touch(f *fixture) {
	at := f.clock.Now()
	one, two, three := f.issue("read"), f.issue("read"), f.issue("read")
	lastUses := func(want ...time.Time) {
		f.Helper()
		for i, token := range []access.Token{one, two, three} {
			token.LastUsedAt = want[i]
			f.tokenIs(token)
		}
	}

	never := time.Time{}
	f.update(touching(nil))
	lastUses(never, never, never)
	f.update(touching(map[id.Token]time.Time{one.ID: at, "tok_gone": at, "": at}))
	lastUses(at, never, never)
	f.update(touching(map[id.Token]time.Time{one.ID: at.Add(time.Minute), two.ID: at.Add(time.Second)}))
	lastUses(at.Add(time.Minute), at.Add(time.Second), never)
	f.update(touching(map[id.Token]time.Time{one.ID: at, two.ID: at.Add(time.Hour), three.ID: at}))
	lastUses(at.Add(time.Minute), at.Add(time.Hour), at)
}
