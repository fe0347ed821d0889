package tokens

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// EnsureAdmin issues an admin token unless a live one exists. It does so in one unit of work, so that only one of two
// processes that start at the same time issues one. It returns nil if it issued none. In a store without any token,
// even an ended one, the token gets the value preset, unless that is empty.
func (s *Service) EnsureAdmin(ctx context.Context, preset access.Value) (*inbound.IssuedToken, error) {
	exists, err := s.store.Tokens().HasLiveAdmin(ctx, s.clock.Now())
	if err != nil || exists {
		return nil, err
	}
	newID := id.New[id.Token](s.ids.UUIDv7())
	random := access.NewAPIToken(s.entropy.Bits256())
	var issued *inbound.IssuedToken
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		issued = nil
		if err := tx.Tokens().LockAll(ctx); err != nil {
			return err
		}
		if exists, err := tx.Tokens().HasLiveAdmin(ctx, tx.Now()); err != nil || exists {
			return err
		}
		earlier, err := tx.Tokens().List(ctx, page.Position{}, 1)
		if err != nil {
			return err
		}
		value := random
		if preset != "" && len(earlier.Items) == 0 {
			value = preset
		}
		name := "admin"
		draft := access.TokenDraft{Name: &name, Scopes: []string{string(access.Admin)}}
		first, created, err := access.NewToken(newID, draft, value, store.ResolveCompany(ctx, tx.Companies()), tx.Now())
		if err != nil {
			return err
		}
		if err := tx.Tokens().Add(ctx, first); err != nil {
			return err
		}
		issued = &inbound.IssuedToken{Token: first, Value: value}
		return tx.Record(ctx, created.By(access.System("start").Actor))
	})
	if err != nil {
		return nil, err
	}
	return issued, nil
}
