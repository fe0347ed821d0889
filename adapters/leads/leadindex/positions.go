package leadindex

import "slices"

// positions finds the position of a lead by its key. Stores number their leads densely: so most keys stand in an array.
type positions struct {
	near  []uint32         // by key: the position and one, 0 for none
	far   map[int64]uint32 // of keys that would make the array too long
	count int
}

// put enters a key that is not there.
func (p *positions) put(key int64, at uint32) {
	const few, share = 1 << 12, 4
	p.count++
	if key >= int64(len(p.near)) && key < int64(share*p.count+few) {
		p.near = slices.Grow(p.near, int(key)+1-len(p.near))[:key+1]
	}
	if key < int64(len(p.near)) {
		p.near[key] = at + 1
		return
	}
	if p.far == nil {
		p.far = map[int64]uint32{}
	}
	p.far[key] = at
}

// take removes a key, and returns its position if it was there.
func (p *positions) take(key int64) (at uint32, found bool) {
	if key < int64(len(p.near)) && p.near[key] > 0 {
		at, p.near[key] = p.near[key]-1, 0
		p.count--
		return at, true
	}
	if at, found = p.far[key]; found {
		delete(p.far, key)
		p.count--
	}
	return at, found
}

func (p *positions) bytes() uint64 {
	const each = 32 // of a map's entry, about
	return uint64(4*cap(p.near) + each*len(p.far))
}
