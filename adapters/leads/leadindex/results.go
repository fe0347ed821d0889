package leadindex

import (
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// mostRemembered is how many bytes of answers are remembered, twice over: the recent ones, and those before them.
const mostRemembered = 8 << 20

// results remembers the answers to the latest questions, so that paging through one costs its work once.
type results struct {
	mutex         sync.Mutex
	recent, older map[string]*roaring.Bitmap // by question.asked
	bytes         uint64                     // of the recent ones
}

// of returns the answer to a question, and works it out unless it is remembered.
func (r *results) of(q string, work func() *roaring.Bitmap) *roaring.Bitmap {
	r.mutex.Lock()
	answer, recent := r.recent[q]
	if !recent {
		answer = r.older[q]
	}
	r.mutex.Unlock()
	if recent {
		return answer
	}
	if answer == nil {
		answer = work()
	}
	r.remember(q, answer)
	return answer
}

func (r *results) remember(q string, answer *roaring.Bitmap) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	size := answer.GetSizeInBytes()
	if r.recent == nil || r.bytes+size > mostRemembered {
		r.recent, r.older, r.bytes = map[string]*roaring.Bitmap{}, r.recent, 0
	}
	r.recent[q] = answer
	r.bytes += size
}
