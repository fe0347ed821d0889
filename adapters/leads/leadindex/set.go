package leadindex

import "github.com/RoaringBitmap/roaring/v2"

// set is the positions that have a trait.
type set struct {
	trait   trait
	entered *roaring.Bitmap
	pending []uint32 // to be entered: many at once are entered quicker
	touched bool
}

func newSet(t trait) *set {
	s := &set{trait: t, entered: roaring.New()}
	s.entered.SetCopyOnWrite(true)
	return s
}

// add adds a position.
func (s *set) add(at uint32) {
	const most = 256
	if s.pending = append(s.pending, at); len(s.pending) == most {
		s.bitmap()
	}
}

// bitmap returns all positions.
func (s *set) bitmap() *roaring.Bitmap {
	s.entered.AddMany(s.pending)
	s.pending = s.pending[:0]
	return s.entered
}
