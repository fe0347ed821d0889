package secrets

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/secret"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Secrets.
type Service struct {
	store store.Store
	ids   outbound.IDs
	vault outbound.Vault
	given given
}

var _ inbound.Secrets = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs, vault outbound.Vault) *Service {
	return &Service{store: s, ids: ids, vault: vault}
}

// List returns a page of the secrets of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int,
) (found page.Page[secret.Secret], err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return found, err
	}
	err = store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) (err error) {
		found, err = r.Secrets().List(ctx, of, after, size)
		return err
	})
	return found, err
}

// Get returns one secret.
func (s *Service) Get(ctx context.Context, caller access.Caller, of id.Company, name string) (secret.Secret, error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return secret.Secret{}, err
	}
	return s.store.Secrets().ByName(ctx, of, name)
}

// Company finds a company.
func (s *Service) Company(ctx context.Context, caller access.Caller, which string) (id.Company, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return "", err
	}
	found, exists, err := store.ResolveCompany(ctx, s.store.Companies())(which)
	if err == nil && !exists {
		err = access.NoCompany()
	}
	return found, err
}

// Set makes a secret, or changes it.
func (s *Service) Set(
	ctx context.Context, caller access.Caller, of id.Company, name string, draft secret.Draft, value []byte,
) (secret.Secret, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return secret.Secret{}, err
	}
	newID := id.New[id.Secret](s.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Company: of}
	return store.CreateIn(ctx, s.store, request, func(ctx context.Context, tx store.Tx, _ company.Company) (secret.Secret, error) {
		found, err := tx.Secrets().ByName(ctx, of, name)
		exists, err := store.Exists(err)
		if err != nil {
			return found, err
		}
		var next secret.Secret
		var happened event.Event
		if exists {
			if found, err = tx.Secrets().Lock(ctx, found.ID); err != nil {
				return found, err
			}
			if next, happened, err = found.Rotate(draft, value, tx.Now()); err != nil {
				return found, err
			}
			err = tx.Secrets().Save(ctx, next)
		} else {
			if next, happened, err = secret.New(newID, of, name, draft, value, tx.Now()); err != nil {
				return found, err
			}
			err = tx.Secrets().Add(ctx, next)
		}
		if err != nil {
			return found, err
		}
		return next, s.keep(ctx, tx, next, value, happened.By(caller.Actor))
	})
}

// keep seals and keeps the value of a secret, and records what happened.
func (s *Service) keep(ctx context.Context, tx store.Tx, of secret.Secret, value []byte, happened event.Event) error {
	sealed, err := store.SealIn(ctx, tx, s.vault, of.Place(), string(value))
	if err != nil {
		return err
	}
	if err := tx.Secrets().Keep(ctx, of, sealed); err != nil {
		return err
	}
	return tx.Record(ctx, happened)
}

// Rotate gives a secret another value.
func (s *Service) Rotate(ctx context.Context, caller access.Caller, of id.Company, name string, value []byte) (secret.Secret, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return secret.Secret{}, err
	}
	request := store.Request{Actor: caller.Actor, Company: of}
	return store.WriteIn(ctx, s.store, request, called(of, name), store.Tx.Secrets,
		func(ctx context.Context, tx store.Tx, _ company.Company, current secret.Secret) (secret.Secret, error) {
			next, rotated, err := current.Rotate(secret.Draft{}, value, tx.Now())
			if err != nil {
				return current, err
			}
			if err := tx.Secrets().Save(ctx, next); err != nil {
				return current, err
			}
			return next, s.keep(ctx, tx, next, value, rotated.By(caller.Actor))
		})
}

// Update changes all but the value.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, of id.Company, name string, draft secret.Draft,
) (secret.Secret, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return secret.Secret{}, err
	}
	request := store.Request{Actor: caller.Actor, Company: of}
	return store.ChangeIn(ctx, s.store, request, called(of, name), store.Tx.Secrets,
		func(_ context.Context, tx store.Tx, _ company.Company, current secret.Secret) (secret.Secret, *event.Event, error) {
			return current.Apply(draft, tx.Now())
		})
}

// Remove removes a secret. Runs that were given its value keep it; those that start later fail if they are to have it.
func (s *Service) Remove(ctx context.Context, caller access.Caller, of id.Company, name string) (secret.Secret, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return secret.Secret{}, err
	}
	request := store.Request{Actor: caller.Actor, Company: of}
	return store.RemoveIn(ctx, s.store, request, called(of, name), store.Tx.Secrets,
		func(ctx context.Context, tx store.Tx, _ company.Company, current secret.Secret) (event.Event, error) {
			return current.Removed(), tx.Secrets().Remove(ctx, current)
		})
}

// called finds the secret of a company that has a name.
func called(of id.Company, name string) func(ctx context.Context, tx store.Tx) (id.Secret, error) {
	return func(ctx context.Context, tx store.Tx) (id.Secret, error) {
		found, err := tx.Secrets().ByName(ctx, of, name)
		return found.ID, err
	}
}
