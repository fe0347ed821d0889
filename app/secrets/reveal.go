package secrets

import (
	"context"
	"slices"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/secret"
	"holdco/ports/store"
)

// Reveal returns the values of secrets of a company, by their names, for a run, and notes that they were used. It fails with
// fault.NotFound when one is not there, or cannot be opened.
func (s *Service) Reveal(ctx context.Context, of id.Company, names []string) (map[string]string, error) {
	values := make(map[string]string, len(names))
	used := map[id.Secret]time.Time{}
	now, err := s.store.StoreNow(ctx)
	if err != nil {
		return nil, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		for _, name := range slices.Sorted(slices.Values(names)) {
			found, err := r.Secrets().ByName(ctx, of, name)
			if exists, err := store.Exists(err); err != nil {
				return err
			} else if !exists {
				return fault.New(fault.NotFound, "The company has no secret %s, which the configuration of the agent refers to.", name)
			}
			if values[name], err = s.open(ctx, r, found); err != nil {
				return err
			}
			used[found.ID] = now
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.OnSnapshot(ctx); err != nil {
			return err
		}
		return tx.Secrets().Touch(ctx, used)
	})
}

// open opens the value of a secret.
func (s *Service) open(ctx context.Context, r store.Reader, of secret.Secret) (string, error) {
	sealed, err := r.Secrets().Sealed(ctx, of)
	if err != nil {
		return "", err
	}
	value, err := s.vault.Open(of.Place(), sealed)
	if err != nil {
		return "", fault.New(fault.NotFound, "The secret %s of the company cannot be opened; set it anew.", of.Name).Because(err)
	}
	return value, nil
}
