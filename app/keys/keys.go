// Package keys binds the store of an instance to the key that its secrets are sealed with.
package keys

import (
	"context"
	"fmt"

	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Unlock opens the vault with the key that the store is bound to, and binds a store that is new. Of two processes that
// start on a new store with different keys one fails. It needs a store with the current schema.
func Unlock(ctx context.Context, s store.Store, vault outbound.Vault) error {
	bound, err := s.Key().Fingerprint(ctx)
	if err != nil {
		return err
	}
	fingerprint, err := vault.Unlock(bound)
	if err != nil || bound != "" {
		return err
	}
	return s.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		bound, err := tx.Key().Fingerprint(ctx)
		switch {
		case err != nil:
			return err
		case bound == "":
			return tx.Key().Bind(ctx, fingerprint)
		case bound != fingerprint:
			return fmt.Errorf("another process has just bound the store to a key of its own, with the fingerprint %s, "+
				"while the key of this one has %s: processes on one store share one key file", bound, fingerprint)
		}
		return nil
	})
}
