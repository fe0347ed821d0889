package leadindex

// ReadBy makes an index that reads so many leads at once, at most.
func (x *Index) ReadBy(most int) *Index {
	x.mostRange = most
	return x
}

// MostRemembered is how many bytes of answers an index remembers at most.
const MostRemembered = 2 * mostRemembered
