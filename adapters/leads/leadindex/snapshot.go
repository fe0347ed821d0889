package leadindex

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"holdco/domain/lead"
	"holdco/ports/store"
)

// snapshot is all leads at one revision. It never changes. Nobody may clone its bitmaps: roaring marks the original.
type snapshot struct {
	epoch    *epoch
	state    lead.State
	columns  columns
	live     *roaring.Bitmap
	sets     byTrait[*roaring.Bitmap]
	results  *results
	replaced chan struct{} // closed when there is a newer one

	built  time.Duration // see Status
	beside uint64        // bytes that only the follower needs
}

// errStale says that the store has changed in what the page shows.
var errStale = errors.New("the store has moved on")

// page answers a query, with the leads themselves from the store. It fails with errStale when these are not those of
// the snapshot any more.
func (s *snapshot) page(ctx context.Context, from store.LeadReader, query lead.Query) (lead.Page, error) {
	found := s.find(query)
	keys := make([]int64, len(found.positions))
	for i, at := range found.positions {
		keys[i] = s.columns.key(at)
	}
	fit, err := fitting(ctx, from, keys, query.Bytes)
	if err != nil {
		return lead.Page{}, err
	}
	page := lead.Page{State: s.state, Total: found.total, More: found.more || len(fit) < len(keys), Leads: make([]lead.Exported, len(fit))}
	keys = fit
	order := make(map[int64]int, len(keys))
	for i, key := range keys {
		order[key] = i
	}
	for chunk := range slices.Chunk(keys, store.MostKeyed) {
		rows, err := from.Keyed(ctx, chunk)
		if err != nil {
			return lead.Page{}, err
		}
		if len(rows) != len(chunk) {
			return lead.Page{}, errStale
		}
		for _, row := range rows {
			if row.Revision > s.state.Revision {
				return lead.Page{}, errStale
			}
			page.Leads[order[row.Key]] = row.Exported
		}
	}
	return page, nil
}

// fitting returns as many keys as a page of some bytes has room for. What has changed since the snapshot may be of another size: page then
// finds that it is stale.
func fitting(ctx context.Context, from store.LeadReader, keys []int64, bytes int64) ([]int64, error) {
	if bytes == 0 {
		return keys, nil
	}
	room, fit := lead.RoomFor(bytes), 0
	for chunk := range slices.Chunk(keys, store.MostKeyed) {
		sizes, err := from.KeyedSizes(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, key := range chunk {
			if !room.Take(sizes[key]) {
				return keys[:fit], nil
			}
			fit++
		}
	}
	return keys, nil
}

// found is a page without its leads.
type found struct {
	positions []uint32
	total     int64
	more      bool
}

func (s *snapshot) find(query lead.Query) found {
	matching, end := s.matching(query.Filter), uint64(s.columns.length)
	first := uint64(s.columns.since(query.Filter.Since))
	if before := query.Filter.UpdatedBefore; !before.IsZero() {
		end = max(first, uint64(s.columns.since(before)))
	}
	start := max(first, min(end, uint64(s.columns.after(query.After))))
	var f found
	if !query.Uncounted {
		f.total = int64(matching.CardinalityInRange(first, end))
	}
	if query.Size == 0 {
		return f
	}
	ahead := int64(matching.CardinalityInRange(start, end)) - query.Skip
	if ahead <= 0 {
		return f
	}
	size := min(ahead, int64(query.Size))
	f.more, f.positions = ahead > size, make([]uint32, size)
	begin, _ := matching.Select(uint32(matching.CardinalityInRange(0, start)) + uint32(query.Skip)) // there are more than that
	rest := matching.Iterator()
	rest.AdvanceIfNeeded(begin)
	for i := range f.positions {
		f.positions[i] = rest.Next()
	}
	return f
}

// matching returns the positions that a filter wants, whatever the instants of their places.
func (s *snapshot) matching(f lead.Filter) *roaring.Bitmap {
	if f.None {
		return roaring.New()
	}
	q := ask(f)
	if q.asksNothing() {
		return s.live
	}
	return s.results.of(q.asked, func() *roaring.Bitmap { return s.intersect(q) })
}

func (s *snapshot) intersect(q question) *roaring.Bitmap {
	wanted := []*roaring.Bitmap{s.live}
	for _, list := range q.any {
		wanted = append(wanted, s.havingAny(list))
	}
	if q.least != lead.Unrated || q.most != lead.Unrated {
		wanted = append(wanted, s.having(trait{kind: rated}))
	}
	if q.bornBefore != always {
		wanted = append(wanted, s.columns.bornBefore(q.bornBefore))
	}
	if q.domain != 0 {
		wanted = append(wanted, s.columns.hashed(func(in *chunk) []lead.Hash { return in.domains }, q.domain))
	}
	if len(q.emails) > 0 {
		wanted = append(wanted, s.columns.hashed(func(in *chunk) []lead.Hash { return in.emails }, q.emails...))
	}
	slices.SortFunc(wanted, func(a, b *roaring.Bitmap) int { return cmp.Compare(a.GetCardinality(), b.GetCardinality()) })
	all := roaring.And(wanted[0], s.live)
	for _, one := range wanted[1:] {
		all.And(one)
	}
	if q.least > 0 {
		all = s.atLeast(q.least, all)
	}
	if q.most != lead.Unrated && q.most < lead.MostRating {
		all.AndNot(s.atLeast(q.most+1, all))
	}
	return all
}

// havingAny returns the positions that have one at least of some traits.
func (s *snapshot) havingAny(list []trait) *roaring.Bitmap {
	if len(list) == 1 {
		return s.having(list[0]) // FastOr would clone it
	}
	all := make([]*roaring.Bitmap, len(list))
	for i, t := range list {
		all[i] = s.having(t)
	}
	return roaring.FastOr(all...)
}

// atLeast returns those of the rated positions that have at least this rating, which is not 0. It goes through the
// binary digits from the lowest 1 on: of the positions that reach the bound so far, those must have the digit where the
// bound has it; where the bound has not, those that have it reach the bound as well.
func (s *snapshot) atLeast(bound lead.Rating, among *roaring.Bitmap) *roaring.Bitmap {
	lowest := kind(bits.TrailingZeros16(uint16(bound)))
	reached := roaring.And(among, s.having(trait{kind: ratingBit + lowest}))
	for bit := lowest + 1; bit < ratingBits; bit++ {
		digit := s.having(trait{kind: ratingBit + bit})
		if bound>>bit&1 == 1 {
			reached.And(digit)
		} else {
			reached.Or(roaring.And(among, digit))
		}
	}
	return reached
}

// having returns the positions that have a trait.
func (s *snapshot) having(t trait) *roaring.Bitmap {
	if b, ok := s.sets.get(t); ok {
		return b
	}
	return roaring.New()
}

func (s *snapshot) bytes() uint64 {
	total := s.columns.bytes()
	for b := range s.sets.all() {
		total += b.GetSizeInBytes()
	}
	return total
}
