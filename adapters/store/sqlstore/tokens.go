package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
)

// tokens implements store.Tokens.
type tokens struct{ session }

var noToken = fault.New(fault.NotFound, "There is no such token.")

func (t tokens) Get(ctx context.Context, which id.Token) (access.Token, error) {
	var found tokenRow
	if err := t.one(ctx, byID(t.selects(&found), which), noToken); err != nil {
		return access.Token{}, err
	}
	return found.value()
}

func (t tokens) ByHash(ctx context.Context, hash string) (access.Token, error) {
	var found tokenRow
	if err := t.row(ctx, found.columns(), noToken, t.texts.tokenByHash, hash); err != nil {
		return access.Token{}, err
	}
	return found.value()
}

func byHash(query *bun.SelectQuery, hash any) *bun.SelectQuery {
	return query.Where("hash = ?", hash).WhereOr("old_hash <> '' AND old_hash = ?", hash).Limit(1)
}

func (t tokens) Lock(ctx context.Context, which id.Token) (access.Token, error) {
	var found tokenRow
	if err := t.one(ctx, t.engine.ForUpdate(byID(t.selects(&found), which)), noToken); err != nil {
		return access.Token{}, err
	}
	return found.value()
}

func (t tokens) List(ctx context.Context, after page.Position, size int) (page.Page[access.Token], error) {
	var rows []tokenRow
	return newestPage(ctx, t.session, &rows, t.selects(&rows), "created_at", after, size)
}

func (t tokens) HasLiveAdmin(ctx context.Context, at time.Time) (bool, error) {
	var some []tokenRow
	err := t.all(ctx, t.selects(&some).Limit(1).
		Where("revoked_at IS NULL").
		Where("expires_at IS NULL OR expires_at > ?", millis(at)).
		Where("' ' || scopes || ' ' LIKE ?", "% "+string(access.Admin)+" %"))
	return len(some) > 0, err
}

func (t tokens) LockAll(ctx context.Context) error {
	return t.failure(ctx, t.engine.LockTable(ctx, t.conn, "tokens"))
}

func (t tokens) Add(ctx context.Context, token access.Token) error {
	row := tokenRowOf(token)
	_, err := t.change(ctx, t.inserts(&row))
	return err
}

func (t tokens) Save(ctx context.Context, token access.Token) error {
	row := tokenRowOf(token)
	return t.changeOne(ctx, t.updates(&row).ExcludeColumn("last_used_at").WherePK())
}

func (t tokens) Touch(ctx context.Context, used map[id.Token]time.Time) error {
	return touch(ctx, t.session, (*tokenRow)(nil), used)
}

// touch moves the last uses of rows forward.
func touch[I id.ID](ctx context.Context, s session, row any, used map[I]time.Time) error {
	// In one order, so that two units that touch the same rows wait for each other and do not lock each other out.
	for _, which := range slices.Sorted(maps.Keys(used)) {
		at := millis(used[which])
		_, err := s.keepBooks(ctx, s.updates(row).Set("last_used_at = ?", at).
			Where("id = ?", which).Where("last_used_at IS NULL OR last_used_at < ?", at))
		if err != nil {
			return err
		}
	}
	return nil
}

type tokenRow struct {
	bun.BaseModel `bun:"table:tokens"`

	ID         id.Token `bun:"id,pk"`
	Name       string   `bun:"name"`
	Scopes     string   `bun:"scopes"`
	Hint       string   `bun:"hint"`
	Hash       string   `bun:"hash"`
	OldHash    string   `bun:"old_hash"`
	OldUntil   *int64   `bun:"old_until"`
	CreatedAt  int64    `bun:"created_at"`
	ExpiresAt  *int64   `bun:"expires_at"`
	LastUsedAt *int64   `bun:"last_used_at"`
	RevokedAt  *int64   `bun:"revoked_at"`
}

func (r *tokenRow) columns() []any {
	return []any{
		(*string)(&r.ID), &r.Name, &r.Scopes, &r.Hint, &r.Hash, &r.OldHash, &r.OldUntil, &r.CreatedAt, &r.ExpiresAt, &r.LastUsedAt, &r.RevokedAt,
	}
}

func tokenRowOf(t access.Token) tokenRow {
	return tokenRow{
		ID:         t.ID,
		Name:       t.Name,
		Scopes:     strings.Join(t.Scopes.Strings(), " "),
		Hint:       t.Hint,
		Hash:       t.Hash,
		OldHash:    t.OldHash,
		OldUntil:   optionalMillis(t.OldUntil),
		CreatedAt:  millis(t.CreatedAt),
		ExpiresAt:  optionalMillis(t.ExpiresAt),
		LastUsedAt: optionalMillis(t.LastUsedAt),
		RevokedAt:  optionalMillis(t.RevokedAt),
	}
}

func (r tokenRow) value() (access.Token, error) {
	var scopes access.Scopes
	for text := range strings.FieldsSeq(r.Scopes) {
		scope, ok := access.ParseScope(text)
		if !ok {
			return access.Token{}, fmt.Errorf("the token %s has the scope %q, which is none", r.ID, text)
		}
		scopes = append(scopes, scope)
	}
	return access.Token{
		Credential: access.Credential{
			Hint:      r.Hint,
			Hash:      r.Hash,
			OldHash:   r.OldHash,
			OldUntil:  optionalInstant(r.OldUntil),
			ExpiresAt: optionalInstant(r.ExpiresAt),
			RevokedAt: optionalInstant(r.RevokedAt),
		},
		ID:         r.ID,
		Name:       r.Name,
		Scopes:     scopes,
		CreatedAt:  instant(r.CreatedAt),
		LastUsedAt: optionalInstant(r.LastUsedAt),
	}, nil
}

func (r tokenRow) position() page.Position { return place(r.CreatedAt, string(r.ID)) }
