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
	place      place
	rejected   *lead.ReportedLine
	trimmed    *lead.ReportedLine // values were left out
	suppressed bool               // the lead was forgotten
	superseded bool               // a later line has the same id
	merged     *lead.ReportedLine // it has, and differs
	end        int64              // bytes of the file up to the end of the line
}

// place is where a line stands in its file.
type place struct{ number, item int64 }

// counts reports whether a line can be imported.
func (c *checked[T]) counts() bool { return c.rejected == nil && !c.suppressed }

// supersede notes that another line counts.
func (c *checked[T]) supersede(by superseded, which string) {
	c.superseded = true
	if !by.differs {
		return
	}
	intoItem := int64(0)
	if c.place.item > 0 {
		intoItem = int64(by.by) + 1
	}
	merged := lead.ReportedLine{Number: c.place.number, Item: c.place.item, ID: which}.Merge(int64(by.byNumber), intoItem)
	c.merged = &merged
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
