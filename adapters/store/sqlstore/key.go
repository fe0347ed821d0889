package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"
)

// key implements store.Key.
type key struct{ session }

func (k key) Fingerprint(ctx context.Context) (string, error) {
	var found keyRow
	err := k.all(ctx, k.selects(&found))
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return found.Fingerprint, err
}

var errBound = errors.New("the store is bound to a key already")

func (k key) Bind(ctx context.Context, fingerprint string) error {
	// With ON CONFLICT a concurrent unit gets a serialization failure, after which it is retried. A violated constraint would
	// end it.
	row := keyRow{Single: 1, Fingerprint: fingerprint}
	bound, err := k.exec(ctx, k.inserts(&row).On("CONFLICT DO NOTHING"))
	if err == nil && bound == 0 {
		return errBound
	}
	return err
}

// keyRow is the only row of its table.
type keyRow struct {
	bun.BaseModel `bun:"table:instance_key"`

	Single      int    `bun:"single,pk"`
	Fingerprint string `bun:"fingerprint"`
}
