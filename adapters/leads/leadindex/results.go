package leadindex

import (
	"crypto/sha256"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// mostRemembered bounds the bytes of the answers that are remembered, twice over: the recent ones, and those before them.
const mostRemembered = 8 << 20

// What an answer takes besides its positions: its place in a map, which may be half empty, and the bitmap without its containers; and
// each container.
const costOfAnswer, costOfContainer = 256, 64

// asked is the digest of a question. A question may be long and its answer short, so that answers are not remembered by the questions.
type asked [sha256.Size]byte

// results remembers the answers to the latest questions, so that paging through one costs its work once.
type results struct {
	mutex         sync.Mutex
	recent, older map[asked]*roaring.Bitmap
	bytes         uint64 // of the recent ones
}

// of returns the answer to a question, and works it out unless it is remembered. Nobody else may hold what work returns.
func (r *results) of(q asked, work func() *roaring.Bitmap) *roaring.Bitmap {
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
		answer = work().Clone() // without what was allocated for more positions
	}
	r.remember(q, answer)
	return answer
}

func (r *results) remember(q asked, answer *roaring.Bitmap) {
	size := costOfAnswer + answer.GetSizeInBytes() + costOfContainer*answer.Stats().Containers
	if size > mostRemembered {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, again := r.recent[q]; again {
		return
	}
	if r.recent == nil || r.bytes+size > mostRemembered {
		r.recent, r.older, r.bytes = map[asked]*roaring.Bitmap{}, r.recent, 0
	}
	r.recent[q] = answer
	r.bytes += size
}
