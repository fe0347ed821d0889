package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/idempotency"
)

// receipts implements store.Receipts for one unit.
type receipts struct {
	session
	now time.Time
}

// Claim writes a row only if units are concurrent. Otherwise Keep does, so that a refused unit has written nothing.
func (r receipts) Claim(ctx context.Context, key idempotency.Key) (*idempotency.Receipt, error) {
	if r.engine.Concurrent() {
		claim := receiptRow{Caller: key.Caller, Key: key.Value, CreatedAt: millis(r.now)}
		claimed, err := r.exec(ctx, r.inserts(&claim).On("CONFLICT DO NOTHING"))
		if err != nil || claimed == 1 {
			return nil, err
		}
	}
	var found receiptRow
	query := r.engine.ForUpdate(r.selects(&found).Where("token_id = ?", key.Caller).Where("key = ?", key.Value))
	err := r.one(ctx, query, errUnclaimed)
	if kept := found.receipt(); err == nil && !found.isClaim() && !kept.Expired(r.now) {
		return &kept, nil
	}
	if errors.Is(err, errUnclaimed) {
		err = nil
	}
	return nil, err
}

var errUnclaimed = errors.New("nothing is kept under the idempotency key")

func (r receipts) Keep(ctx context.Context, receipt idempotency.Receipt) error {
	row := receiptRow{
		Caller:      receipt.Key.Caller,
		Key:         receipt.Key.Value,
		Fingerprint: receipt.Fingerprint,
		Company:     receipt.Company,
		Answer:      string(receipt.Answer),
		CreatedAt:   millis(receipt.CreatedAt),
	}
	_, err := r.exec(ctx, r.inserts(&row).On("CONFLICT (token_id, key) DO UPDATE").
		Set("fingerprint = excluded.fingerprint").Set("company_id = excluded.company_id").
		Set("answer = excluded.answer").Set("created_at = excluded.created_at"))
	return err
}

func (r receipts) Purge(ctx context.Context, before time.Time, most int) (int, error) {
	oldest := r.selects((*receiptRow)(nil)).Column("token_id", "key").
		Where("created_at < ?", millis(before)).Order("created_at").Limit(int64(most))
	return r.exec(ctx, r.deletes((*receiptRow)(nil)).Where("(token_id, key) IN (?)", oldest))
}

type receiptRow struct {
	bun.BaseModel `bun:"table:receipts"`

	Caller      string     `bun:"token_id,pk"` // see idempotency.Key
	Key         string     `bun:"key,pk"`
	Fingerprint string     `bun:"fingerprint"`
	Company     id.Company `bun:"company_id"`
	Answer      string     `bun:"answer"`
	CreatedAt   int64      `bun:"created_at"`
}

// isClaim reports whether a key was claimed but nothing kept. A receipt whose answer was blanked has a fingerprint.
func (r receiptRow) isClaim() bool { return r.Fingerprint == "" && r.Answer == "" }

func (r receiptRow) receipt() idempotency.Receipt {
	receipt := idempotency.Receipt{
		Key:         idempotency.Key{Caller: r.Caller, Value: r.Key},
		Fingerprint: r.Fingerprint,
		Company:     r.Company,
		CreatedAt:   instant(r.CreatedAt),
	}
	if r.Answer != "" {
		receipt.Answer = []byte(r.Answer)
	}
	return receipt
}
