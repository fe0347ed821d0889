package imports

import (
	"context"
	"iter"

	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
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

// portion is a group of lines, sent over a channel together. err ended the reading after them.
type portion[L any] struct {
	lines []L
	err   error
}

// Bounds of reading ahead: the number of portions that wait to be checked, and of those that wait to be stored, about as many as a large
// batch has, and of each portion the lines and the bytes of the file, which the last line may exceed.
const (
	mostRead       = 8
	mostChecked    = 128
	linesOfPortion = 64
	bytesOfPortion = 256 << 10
)

// checkAhead reads lines in one goroutine and checks them in another, until they end or ctx does. Unlike app/ahead, which holds one
// portion ready and waits for its reader, it checks many of them in advance, and does not wait for a reader that is blocked: on
// standard input, say.
func checkAhead[D, T any](
	ctx context.Context, lines iter.Seq2[inbound.Line[D], error], check func(line inbound.Line[D]) checked[T],
) <-chan portion[checked[T]] {
	read := hand(ctx, mostRead, func(send func(lines []inbound.Line[D]) bool) error { return divide(lines, send) })
	return hand(ctx, mostChecked, func(send func(lines []checked[T]) bool) error {
		for next := range read {
			all := make([]checked[T], len(next.lines))
			for i, line := range next.lines {
				all[i] = check(line)
			}
			if !send(all) {
				return ctx.Err()
			}
			if next.err != nil {
				return next.err
			}
		}
		return ctx.Err() // or else the lines that were not read would seem not to be there
	})
}

// divide sends lines in portions, until send returns false.
func divide[D any](lines iter.Seq2[inbound.Line[D], error], send func(lines []inbound.Line[D]) bool) error {
	var next []inbound.Line[D]
	var begun int64
	defer func() { send(next) }() // what was read before an error, or a panic, counts
	for line, err := range lines {
		if err != nil {
			return err
		}
		next = append(next, line)
		if len(next) == linesOfPortion || line.End-begun > bytesOfPortion {
			full := next
			next, begun = make([]inbound.Line[D], 0, linesOfPortion), line.End
			if !send(full) {
				return nil
			}
		}
	}
	return nil
}

// hand runs work in a goroutine, and hands on the portions that it sends, so many of which may wait, until ctx ends: then send returns
// false. What work returns comes with a last portion, which has no lines.
func hand[L any](ctx context.Context, most int, work func(send func(lines []L) bool) error) <-chan portion[L] {
	portions := make(chan portion[L], most)
	put := func(next portion[L]) bool {
		select {
		case portions <- next:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(portions)
		// Nothing else recovers panics of this goroutine.
		err := fault.Contain(func() error {
			return work(func(lines []L) bool { return put(portion[L]{lines: lines}) })
		})
		put(portion[L]{err: err})
	}()
	return portions
}
