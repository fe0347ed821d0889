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
	var found instanceKeyRow
	err := k.all(ctx, k.selects(&found))
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return found.Fingerprint, err
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

// instanceKeyRow is the only row of its table.
type instanceKeyRow struct {
	bun.BaseModel `bun:"table:instance_key"`

	Single      int    `bun:"single,pk"`
	Fingerprint string `bun:"fingerprint"`
}
