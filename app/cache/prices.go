package cache

import (
	"context"
	"sync/atomic"

	"holdco/domain/price"
)

// Prices are those by which a process charges. They are read when they are first needed, and again by Follow, not by charges. The zero
// value has read nothing.
type Prices struct{ current atomic.Pointer[price.Index] }

// PriceSource is where prices are read: store.PriceReader.
type PriceSource interface {
	Get(ctx context.Context) (price.Table, error)
	Revision(ctx context.Context) (int64, error)
}

// Current returns the prices.
func (p *Prices) Current(ctx context.Context, from PriceSource) (*price.Index, error) {
	if known := p.current.Load(); known != nil {
		return known, nil
	}
	if err := p.replace(ctx, nil, from); err != nil {
		return nil, err
	}
	return p.current.Load(), nil
}

// Follow reads the prices again if they have another revision.
func (p *Prices) Follow(ctx context.Context, from PriceSource) error {
	known := p.current.Load()
	if known != nil {
		if revision, err := from.Revision(ctx); err != nil || revision == known.Revision() {
			return err
		}
	}
	return p.replace(ctx, known, from)
}

// replace reads the prices, unless others were read meanwhile than those that were known.
func (p *Prices) replace(ctx context.Context, known *price.Index, from PriceSource) error {
	table, err := from.Get(ctx)
	if err == nil {
		p.current.CompareAndSwap(known, table.Index())
	}
	return err
}
