package tokens

import (
	"context"
	"maps"
	"sync"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/store"
)

// Authenticate looks a value up. A value whose checksum is wrong is refused without asking the store, and one that was
// looked up a moment ago is known: see known.
func (s *Service) Authenticate(ctx context.Context, text string) (access.Caller, error) {
	unauthorized := fault.New(fault.Unauthorized, "The token is missing, mistyped, unknown, expired or revoked.")
	value, ok := access.ParseValue(text)
	if !ok {
		return access.Caller{}, unauthorized
	}
	hash, now := value.Hash(), s.clock.Now()
	token, found, revision := s.known.find(hash, now)
	if !found {
		var err error
		token, err = s.store.Tokens().ByHash(ctx, hash)
		if fault.CodeOf(err) == fault.NotFound {
			return access.Caller{}, unauthorized
		}
		if err != nil {
			return access.Caller{}, err
		}
		s.known.keep(hash, lookup{token, now}, revision)
	}
	if !token.Accepts(hash, now) {
		return access.Caller{}, unauthorized
	}
	s.used.note(token.ID, now)
	return token.Caller(), nil
}

// FlushLastUses writes down when tokens were last used. Authenticate only notes it, so that a read costs no write.
func (s *Service) FlushLastUses(ctx context.Context) (more bool, err error) {
	used := s.used.take()
	if len(used) == 0 {
		return false, nil
	}
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		return tx.Tokens().Touch(ctx, used)
	})
	if err != nil {
		s.used.putBack(used)
	}
	return false, err
}

// lastUses remembers the last use of each token until it is written down. The zero value is ready.
type lastUses struct {
	mutex sync.Mutex
	at    map[id.Token]time.Time
}

func (u *lastUses) note(token id.Token, at time.Time) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.at == nil {
		u.at = map[id.Token]time.Time{}
	}
	u.at[token] = at
}

func (u *lastUses) take() map[id.Token]time.Time {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	taken := u.at
	u.at = nil
	return taken
}

// putBack keeps what could not be written, unless a token was used again since.
func (u *lastUses) putBack(used map[id.Token]time.Time) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	maps.Copy(used, u.at)
	u.at = used
}
