// Package keys binds a store to the key that seals its secrets, and gives it another one.
package keys

import (
	"context"
	"fmt"

	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Unlock unlocks the vault with the keys that the store is bound to, and binds a new store. If two processes start on a
// new store with different keys, one of them fails. The store must have the current schema.
func Unlock(ctx context.Context, s store.Store, vault outbound.Vault) error {
	bound, former, err := bindings(ctx, s)
	if err != nil {
		return err
	}
	fingerprint, err := vault.Unlock(bound, former)
	if err != nil || bound != "" {
		return err
	}
	return s.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		bound, err := tx.InstanceKey().Fingerprint(ctx)
		switch {
		case err != nil:
			return err
		case bound == "":
			return tx.InstanceKey().Bind(ctx, fingerprint)
		case bound != fingerprint:
			return fmt.Errorf("another process has just bound the store to a key of its own, with the fingerprint %s, "+
				"while the key of this one has %s: processes on one store share one key file", bound, fingerprint)
		}
		return nil
	})
}

// bindings are the fingerprints of the key that the store is bound to, and of the former one while that is being rotated.
func bindings(ctx context.Context, s store.Store) (bound, former string, err error) {
	err = s.View(ctx, func(ctx context.Context, r store.Reader) error {
		if bound, err = r.InstanceKey().Fingerprint(ctx); err == nil {
			former, err = r.InstanceKey().Former(ctx)
		}
		return err
	})
	return bound, former, err
}
