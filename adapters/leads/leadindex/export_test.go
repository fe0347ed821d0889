package leadindex

// ReadBy makes an index that reads so many leads at once, at most.
func (x *Index) ReadBy(most int) *Index {
	x.mostRange = most
	return x
}
