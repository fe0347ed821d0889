package leadindex

import (
	"holdco/domain/lead"
	"holdco/ports/store"
)

// draft is what the follower works on: the next snapshot. Its bitmaps are its own; a snapshot gets copies of those that
// were touched since the one before, and a copy shares all containers that are not touched later.
type draft struct {
	columns   columns
	positions positions
	live      *set
	sets      byTrait[*set]
	buried    int // positions, since dead ones were purged
	touched   []*set
	last      *snapshot
}

func newDraft() *draft {
	d := &draft{}
	d.live = d.having(trait{kind: living})
	return d
}

// append gives a lead the next position. It comes after all others.
func (d *draft) append(mark store.LeadMark) {
	at := d.columns.append(rowOf(mark))
	d.positions.put(mark.Key, at)
	d.enter(mark, at)
}

// enter adds a position to the sets of all that the lead is.
func (d *draft) enter(mark store.LeadMark, at uint32) {
	var room [32]trait
	for _, t := range traits(room[:0], mark) {
		d.having(t).add(at)
	}
}

// having returns the set of a trait, to be changed.
func (d *draft) having(t trait) *set {
	s, ok := d.sets.get(t)
	if !ok {
		s = newSet(t)
		d.sets.set(t, s)
	}
	d.touch(s)
	return s
}

func (d *draft) touch(s *set) {
	if !s.touched {
		s.touched = true
		d.touched = append(d.touched, s)
	}
}

// bury ends the position of a lead that moved or was removed, if it has one.
func (d *draft) bury(key int64) {
	if at, found := d.positions.take(key); found {
		d.touch(d.live)
		d.live.bitmap().Remove(at)
		d.buried++
	}
}

// crowded reports whether so many positions died that it pays to purge.
func (d *draft) crowded() bool {
	const few, share = 16, 4
	return d.buried > few && d.buried*share > d.positions.count
}

// purge drops a portion of the data of dead positions; the last portion ends the crowd. Until the next snapshot is published
// the last one holds the old data too: all at once would double what the columns take.
func (d *draft) purge() {
	const chunks = 4 // about 3 MB
	d.touch(d.live)  // so that the next snapshot does not share the columns of the last
	if more := d.columns.purge(d.live.bitmap(), chunks); more {
		return
	}
	for s := range d.sets.all() {
		if s != d.live {
			d.touch(s)
			s.bitmap().And(d.live.bitmap())
		}
	}
	d.buried = 0
}

// spent reports whether positions run out.
func (d *draft) spent() bool {
	const most = 3 << 30 // of 4
	return uint64(d.columns.length) > most
}

// snapshot copies the draft for readers.
func (d *draft) snapshot(state lead.State) *snapshot {
	next := &snapshot{state: state, replaced: make(chan struct{})}
	if len(d.touched) == 0 {
		next.columns, next.sets, next.results = d.last.columns, d.last.sets, d.last.results
	} else {
		next.columns, next.results = d.columns.snapshot(), &results{}
		if d.last != nil {
			next.sets = d.last.sets.clone()
		}
	}
	for _, s := range d.touched {
		next.sets.set(s.trait, s.bitmap().Clone())
		s.touched = false
	}
	next.live = next.having(trait{kind: living})
	d.touched, d.last = nil, next
	return next
}
