package export

import (
	"context"
	"sync/atomic"

	"holdco/domain/lead"
)

// taxonomy is the part of a taxonomy that answers need.
type taxonomy struct {
	revision lead.Revision // at least this one
	names    lead.Names
	active   lead.Taxonomy
}

// taxonomyCache caches the last taxonomy that was read: it rarely changes.
type taxonomyCache struct{ last atomic.Pointer[taxonomy] }

// at returns a taxonomy of this revision or a newer one. Nothing is ever removed from a taxonomy, so a newer one has
// all names that an older answer needs.
func (c *taxonomyCache) at(ctx context.Context, r Reader, least lead.Revision) (taxonomy, error) {
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

func (c *taxonomyCache) cached(least lead.Revision) (taxonomy, bool) {
	last := c.last.Load()
	if last == nil || last.revision < least {
		return taxonomy{}, false
	}
	return *last, true
}
