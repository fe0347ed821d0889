package imports

import (
	"context"
	"iter"

	"holdco/domain/fault"
	"holdco/domain/lead"
)

// checked is a line after validation: its item, or why it is rejected.
type checked[T any] struct {
	item       T
	rejected   *lead.RejectedLine
	superseded bool  // a later line has the same id
	end        int64 // bytes of the file up to the end of the line
}

// portion is a group of lines, sent over the channel together. err ended the reading after them.
type portion[T any] struct {
	lines []checked[T]
	err   error
}

// Bounds of reading ahead: the number of portions, and of each portion the lines and the bytes of the file, which the
// last line may exceed.
const (
	mostPortions   = 32
	linesOfPortion = 64
	bytesOfPortion = 256 << 10
)

// checkAhead reads and checks lines in a goroutine until they end or ctx does. Unlike app/ahead, which holds one portion ready and
// waits for its reader, it checks many of them in advance, and does not wait for a reader that is blocked: on standard input, say.
func checkAhead[L, T any](ctx context.Context, lines iter.Seq2[L, error], check func(line L) checked[T]) <-chan portion[T] {
	portions := make(chan portion[T], mostPortions)
	go func() {
		defer close(portions)
		var begun int64
		next := portion[T]{}
		hand := func() bool {
			select {
			case portions <- next:
				next = portion[T]{lines: make([]checked[T], 0, linesOfPortion)}
				return true
			case <-ctx.Done():
				return false
			}
		}
		// Nothing else recovers panics of this goroutine.
		next.err = fault.Contain(func() error {
			for line, err := range lines {
				if err != nil {
					return err
				}
				one := check(line)
				next.lines = append(next.lines, one)
				if len(next.lines) == linesOfPortion || one.end-begun > bytesOfPortion {
					begun = one.end
					if !hand() {
						return ctx.Err()
					}
				}
			}
			return nil
		})
		hand()
	}()
	return portions
}
