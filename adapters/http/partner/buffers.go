package partner

import "sync"

// buffers are where answers are put together.
type buffers struct{ pool sync.Pool }

// mostKept is up to which size a buffer is kept for the next answer.
const mostKept = 4 << 20

// borrow gets an empty buffer.
func (b *buffers) borrow() *[]byte {
	buffer, ok := b.pool.Get().(*[]byte)
	if !ok {
		return new([]byte)
	}
	*buffer = (*buffer)[:0]
	return buffer
}

func (b *buffers) giveBack(buffer *[]byte) {
	if cap(*buffer) <= mostKept {
		b.pool.Put(buffer)
	}
}
