package export

import (
	"context"
	"sync/atomic"

	"holdco/domain/lead"
	"holdco/ports/store"
)

// taxonomy is what answers need of a taxonomy.
type taxonomy struct {
	revision lead.Revision // it is as of this one, or newer
	names    lead.Names
	active   lead.Taxonomy
}

// taxonomyCache keeps the taxonomy that was read last, for it rarely changes.
type taxonomyCache struct{ last atomic.Pointer[taxonomy] }

// at returns a taxonomy that is not older than a revision. Nothing is ever removed from a taxonomy, so a newer one has
// all names that an older answer needs.
func (c *taxonomyCache) at(ctx context.Context, r store.Reader, least lead.Revision) (taxonomy, error) {
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
