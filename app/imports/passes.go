package imports

import (
	"context"
	"iter"

	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// passes imports lines in two passes: the first finds the last line of each id, the second stores these.
func passes[L, T any](
	ctx context.Context, lines iter.Seq2[L, error], check func(line L) checked[T], idOf func(item T) string, i importing[T],
) (lead.ImportCount, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := survey{options: i.options}
	err := first.run(ctx, checkAhead(ctx, lines, func(line L) checked[string] {
		one := check(line)
		found := checked[string]{rejected: one.rejected, end: one.end}
		if one.rejected == nil {
			found.item = idOf(one.item)
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
	case i.options.Strict && (err != nil || first.summary.Rejected > 0):
		return first.summary, err
	}
	// An error that ended the first pass ends the second at the same line. The lines before it are stored.
	superseded := first.ids.superseded()
	next := uint32(0)
	return i.run(ctx, checkAhead(ctx, lines, func(line L) checked[T] {
		one := check(line)
		if len(superseded) > 0 && superseded[0] == next {
			one.superseded, superseded = true, superseded[1:]
		}
		next++
		return one
	}))
}

// survey is the first pass.
type survey struct {
	options inbound.ImportOptions
	ids     lineIDs
	summary lead.ImportCount
	failed  error // by Report
}

// run runs the first pass. It returns the error that ended the reading.
func (s *survey) run(ctx context.Context, portions <-chan portion[string]) error {
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

func (s *survey) take(line checked[string]) {
	s.ids.add(line.item)
	s.summary.Read++
	if line.rejected == nil {
		return
	}
	s.summary.Rejected++
	if s.options.Strict && s.options.Report != nil && s.failed == nil {
		s.failed = s.options.Report(*line.rejected)
	}
}
