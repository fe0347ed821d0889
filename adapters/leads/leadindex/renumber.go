package leadindex

import "holdco/ports/store"

// buried stands for the new position of what is dead.
const buried = ^uint32(0)

// renumbered makes a draft without the dead positions and with more leads, which are in the order of their places.
func (d *draft) renumbered(with []store.LeadMark) *draft {
	next := newDraft()
	moved, added := next.columns.merge(&d.columns, d.live.bitmap(), with)
	for i, to := range moved {
		for j, at := range to {
			if at != buried {
				next.positions.put(d.columns.chunks[i].keys[j], at)
			}
		}
	}
	for s := range d.sets.all() {
		next.adopt(s, &d.columns, moved)
	}
	for i, mark := range with {
		next.positions.put(mark.Key, added[i])
		next.enter(mark, added[i])
	}
	return next
}

// adopt takes over a set under new positions, which stand by chunk and row of the old ones.
func (d *draft) adopt(s *set, from *columns, moved [][]uint32) {
	var room [4096]uint32
	chunk := 0
	for positions := s.bitmap().ManyIterator(); ; {
		n := positions.NextMany(room[:])
		if n == 0 {
			return
		}
		for _, at := range room[:n] {
			for chunk+1 < len(from.chunks) && from.chunks[chunk+1].first <= at {
				chunk++
			}
			if row, found := from.chunks[chunk].find(at); found && moved[chunk][row] != buried {
				d.having(s.trait).add(moved[chunk][row])
			}
		}
	}
}
