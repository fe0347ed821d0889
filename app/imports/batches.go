package imports

import (
	"context"
	"time"

	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// importing is an import in progress.
type importing[T any] struct {
	options inbound.ImportOptions
	keep    func(ctx context.Context, batch []T) (lead.Change, timing, error)

	pace    pace
	batch   []T
	flushed int64 // bytes of the file up to the end of the last batch
	summary lead.ImportCount
}

// run stores lines batch by batch. Those before an error are stored. When ctx ends it stops after a batch.
func (i *importing[T]) run(ctx context.Context, portions <-chan portion[checked[T]]) (lead.ImportCount, error) {
	i.pace = usualPace
	for {
		select {
		case <-ctx.Done():
			return i.summary, ctx.Err()
		case next, more := <-portions:
			err := i.take(ctx, next)
			if err == nil && (!more || next.err != nil) {
				err = i.flush(ctx)
			}
			if err == nil {
				err = next.err
			}
			if err != nil || !more {
				return i.summary, err
			}
		}
	}
}

func (i *importing[T]) take(ctx context.Context, next portion[checked[T]]) (err error) {
	for _, line := range next.lines {
		switch {
		case line.rejected != nil:
			i.summary.Rejected++
			err = i.passOver(line.rejected)
		case line.suppressed:
			i.summary.Suppressed++
			err = i.passOver(nil)
		case line.merged != nil:
			i.summary.Merged++
			err = i.passOver(line.merged)
		case line.superseded:
			i.summary.Unchanged++
			err = i.passOver(nil)
		default:
			i.batch = append(i.batch, line.item)
			if line.trimmed != nil {
				i.summary.Dropped += int64(len(line.trimmed.Problems))
				err = i.report(line.trimmed)
			}
		}
		if err != nil {
			return err
		}
		if len(i.batch) >= i.pace.size || line.end-i.flushed > i.pace.bytes() {
			i.flushed = line.end
			if err := i.flush(ctx); err != nil {
				return err
			}
		}
	}
	if n := len(next.lines); n > 0 && i.options.Progress != nil {
		i.options.Progress(lead.ImportProgress{Lines: i.summary.Read, Bytes: next.lines[n-1].end, ImportCount: i.summary})
	}
	return nil
}

// passOver counts a line that is not stored, and reports it unless it is nil.
func (i *importing[T]) passOver(line *lead.ReportedLine) error {
	i.summary.Read++
	return i.report(line)
}

func (i *importing[T]) report(line *lead.ReportedLine) error { return report(i.options, line) }

// report reports a line to who wants that; nil is none.
func report(options inbound.ImportOptions, line *lead.ReportedLine) error {
	if line == nil || options.Report == nil {
		return nil
	}
	return options.Report(*line)
}

// flush stores the batch.
func (i *importing[T]) flush(ctx context.Context) error {
	if ctx.Err() != nil || len(i.batch) == 0 {
		return ctx.Err()
	}
	change, took, err := i.keep(ctx, i.batch)
	if err != nil {
		return err
	}
	i.summary.Change = i.summary.Plus(change)
	i.summary.Read += int64(len(i.batch))
	if took != (timing{}) { // else there was nothing to write, which says nothing of how long that takes
		i.pace = i.pace.after(len(i.batch), took)
	}
	clear(i.batch) // so that stored items can be freed
	i.batch = i.batch[:0]
	return nil
}

// pace is the size of batches. On SQLite other requests wait until a unit of work has ended, so it aims at units of about 15 ms where
// others write too, of 40 ms where nobody does, and of 400 ms while no server runs: large batches write each page of an index, and sync
// the disk, fewer times.
type pace struct{ size int }

var usualPace = pace{500}

// after adjusts the pace to how long a unit of this size took. One that had to wait for its turn was not the only one.
func (p pace) after(size int, took timing) pace {
	const beside, quiet, alone, atOnce = 15 * time.Millisecond, 40 * time.Millisecond, 400 * time.Millisecond, time.Millisecond
	const least = 100
	long := quiet
	switch {
	case took.isAlone: // it may have waited for a checkpoint of its own
		long = alone
	case took.wait > atOnce:
		long = beside
	}
	fits := size * int(long/time.Microsecond) / max(1, int(took.work/time.Microsecond))
	return pace{max(least, min(fits, 2*p.size, store.MostKept))}
}

// bytes bounds the bytes of the file in one batch, which its last line may exceed.
func (p pace) bytes() int64 {
	const least, ofLead = 4 << 20, 2 << 10
	return max(least, int64(p.size)*ofLead)
}
