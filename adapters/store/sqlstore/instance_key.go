package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"
)

// instanceKey implements store.InstanceKey.
type instanceKey struct{ session }

func (k instanceKey) Fingerprint(ctx context.Context) (string, error) {
	found, err := k.read(ctx, func(query *bun.SelectQuery) *bun.SelectQuery { return query })
	return found.Fingerprint, err
}

func (k instanceKey) Former(ctx context.Context) (string, error) {
	found, err := k.read(ctx, func(query *bun.SelectQuery) *bun.SelectQuery { return query })
	return found.Former, err
}

func (k instanceKey) Hold(ctx context.Context) (string, error) {
	found, err := k.read(ctx, k.engine.ForUpdate)
	return found.Fingerprint, err
}

func (k instanceKey) read(ctx context.Context, how func(*bun.SelectQuery) *bun.SelectQuery) (found instanceKeyRow, err error) {
	err = k.all(ctx, how(k.selects(&found)))
	if errors.Is(err, sql.ErrNoRows) {
		return instanceKeyRow{}, nil
	}
	return found, err
}

var errBound = errors.New("the store is bound to a key already")

func (k instanceKey) Bind(ctx context.Context, fingerprint string) error {
	// With ON CONFLICT a concurrent unit gets a serialization failure, after which it is retried. A violated constraint would
	// end it.
	row := instanceKeyRow{Single: 1, Fingerprint: fingerprint}
	bound, err := k.exec(ctx, k.inserts(&row).On("CONFLICT DO NOTHING"))
	if err == nil && bound == 0 {
		return errBound
	}
	return err
}

func (k instanceKey) Rotate(ctx context.Context, to string) error {
	return k.changeOne(ctx, k.updates((*instanceKeyRow)(nil)).
		Set("former = fingerprint").Set("fingerprint = ?", to).Where("former = ''"))
}

func (k instanceKey) EndFormer(ctx context.Context) error {
	return exactlyOne(k.exec(ctx, k.updates((*instanceKeyRow)(nil)).Set("former = ''").Where("former <> ''")))
}

// instanceKeyRow is the only row of its table.
type instanceKeyRow struct {
	bun.BaseModel `bun:"table:instance_key"`

	Single      int    `bun:"single,pk"`
	Fingerprint string `bun:"fingerprint"`
	Former      string `bun:"former"`
}
