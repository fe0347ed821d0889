package export

import (
	"context"
	"sync/atomic"

	"holdco/domain/lead"
)

// taxonomy is the part of a taxonomy that answers need.
type taxonomy struct {
	state  lead.State // it was read at this state, or a later one
	names  lead.Names
	active lead.Taxonomy
}

// taxonomyCache caches the last taxonomy that was read: it rarely changes.
type taxonomyCache struct{ last atomic.Pointer[taxonomy] }

// at returns a taxonomy of a state or a newer one. Nothing is ever removed from a taxonomy, so a newer one has
// all names that an older answer needs.
func (c *taxonomyCache) at(ctx context.Context, r Reader, least lead.State) (taxonomy, error) {
	if cached, ok := c.cached(least); ok {
		return cached, nil
	}
	read, err := r.Taxonomy().Get(ctx)
	if err != nil {
		return taxonomy{}, err
	}
	names, err := read.Names()
	if err != nil {
		return taxonomy{}, err
	}
	fresh := taxonomy{least, names, read.Active()}
	c.last.Store(&fresh)
	return fresh, nil
}

// cached returns what was read last, unless the taxonomy has changed since.
func (c *taxonomyCache) cached(least lead.State) (taxonomy, bool) {
	last := c.last.Load()
	if last == nil || last.state.Revision < least.Taxonomy || wasReplaced(last.state, least) {
		return taxonomy{}, false
	}
	return *last, true
}

// wasReplaced is whether the store from which something was read last may have been replaced by an older one: then another change may have
// the revision. An answer that is a little older than what was read last is taken for one of such a store, and has it read again.
func wasReplaced(last, least lead.State) bool {
	return least != (lead.State{}) && (least.IsOther(last) || !least.LostUntil.Equal(last.LostUntil))
}
