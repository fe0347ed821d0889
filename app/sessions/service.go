package sessions

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Sessions.
type Service struct {
	store   store.Store
	clock   outbound.Clock
	ids     outbound.IDs
	entropy outbound.Entropy
}

var _ inbound.Sessions = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, clock outbound.Clock, ids outbound.IDs, entropy outbound.Entropy) *Service {
	return &Service{store: s, clock: clock, ids: ids, entropy: entropy}
}

// Authenticate returns who is signed in. Nothing is cached, so that a session ends at once with its token, whichever server ends
// that: each request is looked up, and an open stream once a second.
func (s *Service) Authenticate(ctx context.Context, value string) (inbound.SignedIn, error) {
	cookie, wellFormed := access.ParseSessionValue(value)
	if !wellFormed {
		return inbound.SignedIn{}, access.NoSession()
	}
	var found inbound.SignedIn
	err := s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if found.Session, err = r.Sessions().ByHash(ctx, cookie.Hash()); err != nil {
			return err
		}
		found.Token, err = r.Tokens().Get(ctx, found.Session.Token)
		return err
	})
	now := s.clock.Now()
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return inbound.SignedIn{}, access.NoSession()
	case err != nil:
		return inbound.SignedIn{}, err
	case !found.Session.Accepts(found.Token, now):
		return inbound.SignedIn{}, access.NoSession()
	}
	s.see(ctx, found.Session, now)
	return found, nil
}

// see writes down that a session is used, seldom enough to cost nothing. A store that takes no writes, as one whose disk is full, is no
// reason to refuse reads too.
func (s *Service) see(ctx context.Context, session access.Session, now time.Time) {
	if now.Sub(session.LastSeenAt) < access.SessionStep {
		return
	}
	_ = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Sessions().Touch(ctx, map[id.Session]time.Time{session.ID: now}); err != nil {
			return err
		}
		return tx.Tokens().Touch(ctx, map[id.Token]time.Time{session.Token: now})
	})
}

// SignIn starts a session with the value of a token.
func (s *Service) SignIn(ctx context.Context, token, browser string) (access.Value, error) {
	value, wellFormed := access.ParseAPIToken(token)
	if !wellFormed {
		return "", access.Unauthorized("token")
	}
	return s.signIn(ctx, browser, func(ctx context.Context, tx store.Tx, at time.Time) (access.Token, error) {
		found, err := tx.Tokens().ByHash(ctx, value.Hash())
		if fault.CodeOf(err) == fault.NotFound || err == nil && !found.Accepts(value.Hash(), at) {
			return found, access.Unauthorized("token")
		}
		return found, err
	})
}

// SignInOnce starts a session with a code.
func (s *Service) SignInOnce(ctx context.Context, code, browser string) (access.Value, error) {
	value, wellFormed := access.ParseLoginCode(code)
	if !wellFormed {
		return "", access.UnauthorizedCode()
	}
	return s.signIn(ctx, browser, func(ctx context.Context, tx store.Tx, at time.Time) (access.Token, error) {
		taken, err := tx.Sessions().TakeCode(ctx, access.CodeID(value))
		var found access.Token
		if err == nil {
			found, err = tx.Tokens().Get(ctx, taken.Token)
		}
		if fault.CodeOf(err) == fault.NotFound || err == nil && !taken.Accepts(found, at) {
			return found, access.UnauthorizedCode()
		}
		return found, err
	})
}

// signIn starts a session as the token that find finds.
func (s *Service) signIn(
	ctx context.Context, browser string, find func(ctx context.Context, tx store.Tx, at time.Time) (access.Token, error),
) (access.Value, error) {
	newID, value := id.New[id.Session](s.ids.UUIDv7()), access.NewSessionValue(s.entropy.Bits256())
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		found, err := find(ctx, tx, tx.Now())
		if err != nil {
			return err
		}
		made, happened := access.NewSession(newID, value, found, browser, tx.Now())
		if err := tx.Sessions().Add(ctx, made); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By(found.Caller().Actor))
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// SignOut ends the session that has a value.
func (s *Service) SignOut(ctx context.Context, value string) error {
	cookie, wellFormed := access.ParseSessionValue(value)
	if !wellFormed {
		return nil
	}
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		found, err := s.byHash(ctx, tx, cookie.Hash())
		if fault.CodeOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		return end(ctx, tx, found, access.Token{ID: found.Token}.Caller())
	})
}

func (s *Service) byHash(ctx context.Context, tx store.Tx, hash string) (access.Session, error) {
	found, err := tx.Sessions().ByHash(ctx, hash)
	if err != nil {
		return found, err
	}
	return tx.Sessions().Lock(ctx, found.ID)
}

// end removes a session that the unit has locked.
func end(ctx context.Context, tx store.Tx, session access.Session, caller access.Caller) error {
	if err := tx.Sessions().Remove(ctx, session.ID); err != nil {
		return err
	}
	return tx.Record(ctx, session.SignedOut().By(caller.Actor))
}

// List returns a page of the sessions that have not ended.
func (s *Service) List(
	ctx context.Context, caller access.Caller, after page.Position, size int,
) (page.Page[access.Session], error) {
	if err := caller.Needs(access.Admin); err != nil {
		return page.Page[access.Session]{}, err
	}
	return s.store.Sessions().List(ctx, s.clock.Now(), after, size)
}

// End ends a session.
func (s *Service) End(ctx context.Context, caller access.Caller, which id.Session) (access.Session, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return access.Session{}, err
	}
	var ended access.Session
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		if ended, err = tx.Sessions().Lock(ctx, which); err != nil {
			return err
		}
		return end(ctx, tx, ended, caller)
	})
	return ended, err
}

// Link makes a code that signs in as a token.
func (s *Service) Link(ctx context.Context, caller access.Caller, as id.Token) (access.Value, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return "", err
	}
	value := access.NewLoginCode(s.entropy.Bits256())
	err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		token, err := tokenFor(ctx, tx, as)
		if err != nil {
			return err
		}
		code, happened, err := access.NewCode(value, token, tx.Now())
		if err != nil {
			return err
		}
		if err := tx.Sessions().AddCode(ctx, code); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By(caller.Actor))
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

func tokenFor(ctx context.Context, tx store.Tx, as id.Token) (access.Token, error) {
	if as != "" {
		return tx.Tokens().Get(ctx, as)
	}
	for after := (page.Position{}); ; {
		found, err := tx.Tokens().List(ctx, after, page.MaxSize)
		if err != nil {
			return access.Token{}, err
		}
		for _, token := range found.Items {
			if token.Ended(tx.Now()) == "" && token.Caller().NeedsEverywhere(access.Admin) == nil {
				return token, nil
			}
		}
		if after = found.Next; after.IsStart() {
			return access.Token{}, fault.New(fault.NotFound, "There is no live token with the scope admin.")
		}
	}
}
