package sqlstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/partner"
)

// partners implements store.Partners.
type partners struct{ session }

var noPartner = fault.New(fault.NotFound, "There is no such partner.")

func (p partners) Get(ctx context.Context, which id.Partner) (partner.Partner, error) {
	var found partnerRow
	if err := p.one(ctx, byID(p.selects(&found), which), noPartner); err != nil {
		return partner.Partner{}, err
	}
	return found.value()
}

func (p partners) ByHash(ctx context.Context, hash string) (partner.Partner, error) {
	var found partnerRow
	if err := p.row(ctx, found.columns(), noPartner, p.texts.partnerByHash, hash); err != nil {
		return partner.Partner{}, err
	}
	return found.value()
}

func (p partners) Lock(ctx context.Context, which id.Partner) (partner.Partner, error) {
	var found partnerRow
	if err := p.one(ctx, p.engine.ForUpdate(byID(p.selects(&found), which)), noPartner); err != nil {
		return partner.Partner{}, err
	}
	return found.value()
}

func (p partners) List(ctx context.Context, after page.Position, size int) (page.Page[partner.Partner], error) {
	var rows []partnerRow
	return newestPage(ctx, p.session, &rows, p.selects(&rows), "created_at", after, size)
}

func (p partners) Origins(ctx context.Context, at time.Time) ([]string, error) {
	var rows []partnerRow
	err := p.all(ctx, p.selects(&rows).Column("origins").
		Where("revoked_at IS NULL").
		Where("expires_at IS NULL OR expires_at > ?", millis(at)))
	if err != nil {
		return nil, err
	}
	var origins []string
	for _, row := range rows {
		origins = append(origins, strings.Fields(row.Origins)...)
	}
	slices.Sort(origins)
	return slices.Compact(origins), nil
}

func (p partners) Add(ctx context.Context, added partner.Partner) error {
	row := partnerRowOf(added)
	_, err := p.change(ctx, p.inserts(&row))
	return err
}

func (p partners) Save(ctx context.Context, changed partner.Partner) error {
	row := partnerRowOf(changed)
	return p.changeOne(ctx, p.updates(&row).ExcludeColumn("last_used_at").WherePK().Where("version = ?", row.Version-1))
}

func (p partners) Touch(ctx context.Context, used map[id.Partner]time.Time) error {
	return touch(ctx, p.session, (*partnerRow)(nil), used)
}

type partnerRow struct {
	bun.BaseModel `bun:"table:partners"`

	ID         id.Partner `bun:"id,pk"`
	Name       string     `bun:"name"`
	Origins    string     `bun:"origins"`
	Hint       string     `bun:"hint"`
	Hash       string     `bun:"hash"`
	OldHash    string     `bun:"old_hash"`
	OldUntil   *int64     `bun:"old_until"`
	CreatedAt  int64      `bun:"created_at"`
	ExpiresAt  *int64     `bun:"expires_at"`
	LastUsedAt *int64     `bun:"last_used_at"`
	RevokedAt  *int64     `bun:"revoked_at"`
	Version    int64      `bun:"version"`
}

func (r *partnerRow) columns() []any {
	return []any{
		(*string)(&r.ID), &r.Name, &r.Origins, &r.Hint, &r.Hash, &r.OldHash, &r.OldUntil, &r.CreatedAt, &r.ExpiresAt, &r.LastUsedAt,
		&r.RevokedAt, &r.Version,
	}
}

func partnerRowOf(p partner.Partner) partnerRow {
	return partnerRow{
		ID:         p.ID,
		Name:       p.Name,
		Origins:    strings.Join(p.Origins, " "),
		Hint:       p.Hint,
		Hash:       p.Hash,
		OldHash:    p.OldHash,
		OldUntil:   optionalMillis(p.OldUntil),
		CreatedAt:  millis(p.CreatedAt),
		ExpiresAt:  optionalMillis(p.ExpiresAt),
		LastUsedAt: optionalMillis(p.LastUsedAt),
		RevokedAt:  optionalMillis(p.RevokedAt),
		Version:    p.Version,
	}
}

func (r partnerRow) value() (partner.Partner, error) {
	return partner.Partner{
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
		Origins:    strings.Fields(r.Origins),
		CreatedAt:  instant(r.CreatedAt),
		LastUsedAt: optionalInstant(r.LastUsedAt),
		Version:    r.Version,
	}, nil
}

func (r partnerRow) position() page.Position { return place(r.CreatedAt, string(r.ID)) }
