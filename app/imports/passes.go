package imports

import (
	"context"
	"hash/maphash"
	"iter"

	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// reading is how one kind of lines is read.
type reading[D, T any] struct {
	check   func(line inbound.Line[D]) checked[T]
	id      func(item T) string
	content func(seed maphash.Seed, item T) uint64 // a hash of what an item says
}

// passes imports lines in two passes: the first finds the last line of each id, the second stores these.
func passes[D, T any](
	ctx context.Context, lines iter.Seq2[inbound.Line[D], error], of reading[D, T], i importing[T],
) (lead.ImportCount, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := survey{options: i.options}
	seed := first.ids.seed()
	err := first.run(ctx, checkAhead(ctx, lines, func(line inbound.Line[D]) checked[surveyed] {
		one := of.check(line)
		found := checked[surveyed]{place: one.place, rejected: one.rejected, suppressed: one.suppressed, end: one.end}
		if one.counts() {
			found.item = surveyed{of.id(one.item), uint32(of.content(seed, one.item))}
		}
		return found
	}))
	switch {
	case ctx.Err() != nil:
		return lead.ImportCount{}, ctx.Err()
	case first.failed != nil:
		return first.summary, first.failed
	case i.options.Whole && err != nil:
		return first.summary, err
	}
	found, differ := first.ids.superseded()
	first.summary.Merged = differ
	isRefused := i.options.Strict && (err != nil || first.summary.Rejected > 0 || differ > 0)
	if isRefused && (err != nil || differ == 0) {
		return first.summary, err
	}
	// An error that ended the first pass ends the second at the same line. The lines before it are stored.
	next := uint32(0)
	checkedLines := checkAhead(ctx, lines, func(line inbound.Line[D]) checked[T] {
		one := of.check(line)
		if len(found) > 0 && found[0].line == next {
			one.supersede(found[0], of.id(one.item))
			found = found[1:]
		}
		next++
		return one
	})
	if isRefused {
		return first.summary, reportMerged(ctx, checkedLines, i.options)
	}
	return i.run(ctx, checkedLines)
}

// reportMerged reports the merged lines, and stores nothing. The first pass has reported the others.
func reportMerged[T any](ctx context.Context, portions <-chan portion[checked[T]], options inbound.ImportOptions) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next, more := <-portions:
			for _, line := range next.lines {
				if err := report(options, line.merged); err != nil {
					return err
				}
			}
			if next.err != nil || !more {
				return next.err
			}
		}
	}
}

// survey is the first pass.
type survey struct {
	options inbound.ImportOptions
	ids     lineIDs
	summary lead.ImportCount
	failed  error // by Report
}

// surveyed is what the first pass keeps of a line.
type surveyed struct {
	id      string
	content uint32
}

// run runs the first pass. It returns the error that ended the reading.
func (s *survey) run(ctx context.Context, portions <-chan portion[checked[surveyed]]) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next, more := <-portions:
			for _, line := range next.lines {
				s.take(line)
			}
			if s.failed != nil || next.err != nil || !more {
				return next.err
			}
			if n := len(next.lines); n > 0 && s.options.Progress != nil {
				s.options.Progress(lead.ImportProgress{Checking: true, Lines: s.summary.Read, Bytes: next.lines[n-1].end})
			}
		}
	}
}

func (s *survey) take(line checked[surveyed]) {
	s.ids.add(line.item.id, line.place.number, line.item.content)
	s.summary.Read++
	if line.suppressed {
		s.summary.Suppressed++
	}
	if line.rejected == nil {
		return
	}
	s.summary.Rejected++
	if s.options.Strict && s.failed == nil {
		s.failed = report(s.options, line.rejected)
	}
}
