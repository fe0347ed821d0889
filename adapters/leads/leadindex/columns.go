package leadindex

import (
	"slices"
	"sort"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"holdco/domain/lead"
	"holdco/ports/store"
)

// columns store for each position the key of its lead and its place. Positions are in the order of places.
type columns struct {
	chunks []chunk
	length int // as many positions were given
}

// row is what the columns store for one position.
type row struct {
	key     int64
	instant int64 // of its place, in milliseconds since 1970
	birth   int64 // when the lead was created, likewise
	domain  lead.Hash
	email   lead.Hash
	which   []byte // the id
}

func (c *columns) rows() int {
	rows := 0
	for _, in := range c.chunks {
		rows += in.rows()
	}
	return rows
}

// append adds a position after all others.
func (c *columns) append(r row) (at uint32) {
	at = uint32(c.length)
	if len(c.chunks) == 0 || c.last().full(at) {
		c.chunks = append(c.chunks, c.newChunk(at))
	}
	c.last().append(r)
	c.length++
	return at
}

// newChunk makes a chunk. The first grows with its leads; where it was filled there will be many, so the others need not.
func (c *columns) newChunk(first uint32) chunk {
	if len(c.chunks) == 0 {
		return chunk{first: first}
	}
	return withRoom(first, chunkSize, len(c.last().ids))
}

func (c *columns) last() *chunk { return &c.chunks[len(c.chunks)-1] }

// chunk returns the number of the chunk that a position is in, if it is in any; -1, when it comes before all.
func (c *columns) chunk(at uint32) int {
	return sort.Search(len(c.chunks), func(i int) bool { return c.chunks[i].first > at }) - 1
}

// key returns the key of the lead at a position that lives.
func (c *columns) key(at uint32) int64 {
	in := &c.chunks[c.chunk(at)]
	i, _ := in.find(at)
	return in.keys[i]
}

// after returns the first position after a place, or one of the dead before it; length, when there is none.
func (c *columns) after(place lead.Place) int {
	i := sort.Search(len(c.chunks), func(i int) bool { return c.chunks[i].compare(c.chunks[i].rows()-1, place) > 0 })
	if i == len(c.chunks) {
		return c.length
	}
	in := &c.chunks[i]
	return int(in.position(sort.Search(in.rows(), func(j int) bool { return in.compare(j, place) > 0 })))
}

// since returns the first position at or after an instant, or one of the dead before it; length, when there is none.
func (c *columns) since(instant time.Time) int { return c.after(lead.Place{UpdatedAt: instant}) }

// those returns the positions whose rows are wanted; wanted says which rows of a chunk are. Dead positions may be among them.
func (c *columns) those(wanted func(in *chunk, take func(row int))) *roaring.Bitmap {
	found := roaring.New()
	some := make([]uint32, 0, chunkSize)
	for i := range c.chunks {
		in := &c.chunks[i]
		some = some[:0]
		wanted(in, func(row int) { some = append(some, in.position(row)) })
		if in.offsets == nil && len(some) == in.rows() {
			found.AddRange(uint64(in.first), uint64(in.first)+uint64(len(some))) // quicker
		} else {
			found.AddMany(some)
		}
	}
	return found
}

// bornBefore returns the positions of leads that were created before an instant.
func (c *columns) bornBefore(instant int64) *roaring.Bitmap {
	return c.those(func(in *chunk, take func(row int)) {
		for row, birth := range in.births {
			if birth < instant {
				take(row)
			}
		}
	})
}

// hashed returns the positions that have one of some hashes in one of the columns of hashes.
func (c *columns) hashed(column func(in *chunk) []lead.Hash, hashes ...lead.Hash) *roaring.Bitmap {
	return c.those(func(in *chunk, take func(row int)) {
		for row, one := range column(in) {
			if slices.Contains(hashes, one) {
				take(row)
			}
		}
	})
}

// precede reports whether all positions come before a place.
func (c *columns) precede(place lead.Place) bool {
	return len(c.chunks) == 0 || c.last().compare(c.last().rows()-1, place) < 0
}

// purge gives up rows of positions that are dead, where they are many, in so many chunks at most. The positions of the others
// stay. It reports whether there are more such chunks.
func (c *columns) purge(live *roaring.Bitmap, most int) (more bool) {
	const share = 4
	last := len(c.chunks) - 1
	kept := c.chunks[:0]
	for i, in := range c.chunks {
		living := int(live.CardinalityInRange(uint64(in.first), uint64(in.first)+chunkSize))
		if i < last && living > 0 && (in.rows()-living)*share > in.rows() {
			if more = most == 0; !more {
				in, most = in.packed(live, living), most-1
			}
		}
		if i == last || living > 0 {
			kept = append(kept, in)
		}
	}
	clear(c.chunks[len(kept):])
	c.chunks = kept
	return more
}

// merge fills empty columns with those rows of others that live, and with more leads in between. It returns, by chunk and
// row, to which positions the rows have come, buried for those that are dead; and to which the leads.
func (c *columns) merge(from *columns, live *roaring.Bitmap, with []store.LeadMark) (moved [][]uint32, added []uint32) {
	for i := range from.chunks {
		in := &from.chunks[i]
		to := make([]uint32, in.rows())
		for j := range to {
			if to[j] = buried; !live.Contains(in.position(j)) {
				continue
			}
			for len(added) < len(with) && in.compare(j, with[len(added)].Place) > 0 {
				added = append(added, c.append(rowOf(with[len(added)])))
			}
			to[j] = c.append(in.row(j))
		}
		moved = append(moved, to)
	}
	for _, mark := range with[len(added):] {
		added = append(added, c.append(rowOf(mark)))
	}
	return moved, added
}

func rowOf(mark store.LeadMark) row {
	return row{
		mark.Key, mark.Place.UpdatedAt.UnixMilli(), mark.CreatedAt.UnixMilli(), mark.Domain, mark.Email, []byte(mark.Place.ID),
	}
}

// snapshot returns columns to which nothing will be added.
func (c *columns) snapshot() columns { return columns{slices.Clone(c.chunks), c.length} }

func (c *columns) bytes() uint64 {
	total := 0
	for _, in := range c.chunks {
		total += 8 * (cap(in.keys) + cap(in.instants) + cap(in.births) + cap(in.domains) + cap(in.emails))
		total += cap(in.ids) + 4*cap(in.ends) + 2*cap(in.offsets)
	}
	return uint64(total)
}
