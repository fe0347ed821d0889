package sqlstore

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
)

// tokens implements store.Tokens.
type tokens struct {
	stored[id.Token, access.Token]
}

func tokensOf(s session) tokens { return tokens{stored[id.Token, access.Token]{s, tokenTable}} }

var tokenTable = tableOf("tokens", fault.New(fault.NotFound, "There is no such token."),
	asText("id", func(t *access.Token) *id.Token { return &t.ID }),
	asText("name", func(t *access.Token) *string { return &t.Name }),
	asScopes("scopes", func(t *access.Token) *access.Scopes { return &t.Scopes }),
	asMillis(createdAt, func(t *access.Token) *time.Time { return &t.CreatedAt }).fixed(),
	asOptionalMillis(lastUsedAt, func(t *access.Token) *time.Time { return &t.LastUsedAt }).fixed(),
	asInteger("version", func(t *access.Token) *int64 { return &t.Version }),
).with(credentialColumns(func(t *access.Token) *access.Credential { return &t.Credential })...)

var tokenByHash = byHash(tokenTable)

// byHash finds the row of a credential that has or had a value with a hash.
func byHash[T any](t *table[T]) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		return t.selects(b.db()).Where("hash = ?", b.arg(1)).WhereOr("old_hash <> '' AND old_hash = ?", b.arg(1)).Limit(1)
	})
}

func (t tokens) ByHash(ctx context.Context, hash string) (access.Token, error) {
	return readOne(ctx, t.session, t.table, tokenByHash, hash)
}

func (t tokens) HasLiveAdmin(ctx context.Context, at time.Time) (bool, error) {
	live, err := readAll(ctx, t.session, t.table, selectRows(t.session, t.table).Limit(1).
		Where("revoked_at IS NULL").
		Where("expires_at IS NULL OR expires_at > ?", millis(at)).
		Where("' ' || scopes || ' ' LIKE ?", "% "+string(access.Admin)+" %"))
	return len(live) > 0, err
}

func (t tokens) LockAll(ctx context.Context) error {
	return t.failure(ctx, t.engine.LockTable(ctx, t.conn, t.table.name))
}

func (t tokens) Touch(ctx context.Context, used map[id.Token]time.Time) error {
	return touch(ctx, t.session, t.table.name, lastUsedAt, used)
}
