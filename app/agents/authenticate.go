package agents

import (
	"context"
	"time"

	"holdco/app/aside"
	"holdco/app/cache"
	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/id"
	"holdco/ports/store"
)

// Authenticate returns the agent that has a token. A mistyped token, or one of another kind, is refused without a read of the
// store, and a token looked up a moment ago is cached.
func (s *Service) Authenticate(ctx context.Context, text string) (agent.Caller, error) {
	if token, isRunToken := access.ParseRunToken(text); isRunToken {
		return s.authenticateRun(ctx, token)
	}
	token, wellFormed := access.ParseAgentToken(text)
	now := s.clock.Now()
	lookUp := func() bearers { return bearers{s.store, s.lookUps} }
	found, err := cache.Authenticate(ctx, s.cached, lookUp, "token", token, wellFormed, now)
	if err != nil {
		return agent.Caller{}, err
	}
	s.active.Note(found.ID, now)
	return found.Caller, nil
}

// authenticateRun returns the agent of the run that has a token. It is looked up each time, because it ends with its lease.
func (s *Service) authenticateRun(ctx context.Context, token access.Value) (caller agent.Caller, err error) {
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		found, err := r.Runs().ByHash(ctx, token.Hash())
		if err != nil {
			return gone(err)
		}
		now, err := r.StoreNow(ctx)
		if err != nil {
			return err
		}
		a, err := r.Agents().Get(ctx, found.Agent)
		if err != nil {
			return gone(err)
		}
		of, err := r.Companies().Get(ctx, found.Company)
		if err != nil {
			return gone(err)
		}
		if caller, err = a.AsCaller(of); err == nil {
			caller, err = found.AsCaller(caller, now)
		}
		return err
	})
	if err == nil {
		s.active.Note(caller.ID, s.clock.Now())
	}
	return caller, err
}

// Seen notes that an agent works, as a call of the gateway would: Holdco itself works for it.
func (s *Service) Seen(which id.Agent) { s.active.Note(which, s.clock.Now()) }

// FlushLastCalls writes when agents last called the gateway, which Authenticate only buffers.
func (s *Service) FlushLastCalls(ctx context.Context) (more bool, err error) {
	return false, s.active.Flush(func(active map[id.Agent]time.Time) error {
		return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return tx.Agents().Touch(ctx, active) })
	})
}

// mostLookUps bounds how many tokens are looked up at once. It is above what a store does at once.
const mostLookUps = 64

// bearers are the agents in the store, by the hashes of their tokens. They are looked up aside, because a claim may wait afterwards.
type bearers struct {
	store   store.Store
	lookUps aside.Calls
}

// ByHash returns the credential of an agent.
func (b bearers) ByHash(ctx context.Context, hash string) (bearer agent.Credential, err error) {
	err = b.lookUps.Make(ctx, func() error {
		found, err := b.store.Agents().ByHash(ctx, hash)
		if err != nil {
			return err
		}
		of, err := b.store.Companies().Get(ctx, found.Company)
		if err != nil {
			return err
		}
		bearer, err = found.Credential(of)
		return err
	})
	return bearer, err
}
