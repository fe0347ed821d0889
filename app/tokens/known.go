package tokens

import (
	"sync"
	"time"

	"holdco/domain/access"
)

// freshness is how long a token is believed without asking the store. What ends a token elsewhere, in another process,
// is seen here after that time at the latest; what ends it here, at once.
const freshness = 500 * time.Millisecond

// mostKnown bounds what is remembered.
const mostKnown = 1000

// known remembers the tokens that were looked up a moment ago. The zero value knows none.
type known struct {
	mutex    sync.Mutex
	revision int
	lookups  map[string]lookup // by the hashes of the values that were shown
}

// lookup is what the store said of a value.
type lookup struct {
	token access.Token
	at    time.Time // before the store was asked
}

// find returns the token of a value, unless the store has to be asked. Then revision says when that began.
func (k *known) find(hash string, now time.Time) (token access.Token, found bool, revision int) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	seen, found := k.lookups[hash]
	if !found || now.Before(seen.at) || !now.Before(seen.at.Add(freshness)) { // before: the clock was set back
		return access.Token{}, false, k.revision
	}
	return seen.token, true, k.revision
}

// keep remembers what the store said, unless tokens have changed since it was asked: then that may be out of date.
func (k *known) keep(hash string, seen lookup, revision int) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if revision != k.revision {
		return
	}
	if k.lookups == nil || len(k.lookups) >= mostKnown {
		k.lookups = map[string]lookup{}
	}
	k.lookups[hash] = seen
}

// forget is called when a change of a token has ended, however it ended.
func (k *known) forget() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.revision++
	k.lookups = nil
}
