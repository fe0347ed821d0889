package leadindex

import (
	"bytes"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"holdco/domain/lead"
)

// chunk holds the rows of chunkSize positions, or of those among them that live. What a snapshot has seen of a chunk is
// never written again, so they share its memory.
type chunk struct {
	first    uint32   // position
	offsets  []uint16 // of the positions from the first on; nil: each has its row
	keys     []int64
	instants []int64
	births   []int64
	domains  []lead.Hash
	emails   []lead.Hash
	ids      []byte // concatenated
	ends     []uint32
}

const chunkSize = 1 << 14

// withRoom makes a chunk that need not grow.
func withRoom(first uint32, rows, ids int) chunk {
	const slack = 64
	return chunk{
		first:    first,
		keys:     make([]int64, 0, rows),
		instants: make([]int64, 0, rows),
		births:   make([]int64, 0, rows),
		domains:  make([]lead.Hash, 0, rows),
		emails:   make([]lead.Hash, 0, rows),
		ids:      make([]byte, 0, ids+slack),
		ends:     make([]uint32, 0, rows),
	}
}

// full reports whether a position belongs to the next chunk.
func (c *chunk) full(at uint32) bool { return at-c.first >= chunkSize }

func (c *chunk) append(r row) {
	c.keys = append(c.keys, r.key)
	c.instants = append(c.instants, r.instant)
	c.births = append(c.births, r.birth)
	c.domains, c.emails = append(c.domains, r.domain), append(c.emails, r.email)
	c.ids = append(c.ids, r.which...)
	c.ends = append(c.ends, uint32(len(c.ids)))
}

func (c *chunk) rows() int { return len(c.keys) }

func (c *chunk) row(i int) row {
	begin := uint32(0)
	if i > 0 {
		begin = c.ends[i-1]
	}
	return row{c.keys[i], c.instants[i], c.births[i], c.domains[i], c.emails[i], c.ids[begin:c.ends[i]]}
}

// position returns the position of a row.
func (c *chunk) position(i int) uint32 {
	if c.offsets != nil {
		i = int(c.offsets[i])
	}
	return c.first + uint32(i)
}

// find returns the row of a position, if it has one here.
func (c *chunk) find(at uint32) (i int, found bool) {
	offset := at - c.first
	switch {
	case at < c.first || offset >= chunkSize:
		return 0, false
	case c.offsets != nil:
		return slices.BinarySearch(c.offsets, uint16(offset))
	}
	return int(offset), int(offset) < c.rows()
}

// compare orders a row and a place.
func (c *chunk) compare(i int, place lead.Place) int {
	r := c.row(i)
	if order := time.UnixMilli(r.instant).Compare(place.UpdatedAt); order != 0 {
		return order
	}
	return bytes.Compare(r.which, []byte(place.ID))
}

// packed returns the chunk without the rows of dead positions. So many live.
func (c *chunk) packed(live *roaring.Bitmap, living int) chunk {
	made := withRoom(c.first, living, len(c.ids)*living/c.rows())
	made.offsets = make([]uint16, 0, living)
	for i := range c.rows() {
		if at := c.position(i); live.Contains(at) {
			made.append(c.row(i))
			made.offsets = append(made.offsets, uint16(at-c.first))
		}
	}
	return made
}
