package export

import (
	"context"

	"holdco/domain/fault"
	"holdco/domain/lead"
)

// portionSize is how many leads of a stream are read at once. At most two portions of a stream are in memory: the next
// is read while one is written.
const portionSize = 1000

// portion is a part of a stream, or the error that ended it.
type portion struct {
	leads []lead.Exported
	names lead.Names
	err   error
}

// Stream calls take with all leads that the filter matches, portion by portion. A goroutine reads one portion ahead.
func (s *Service) Stream(
	ctx context.Context, filter lead.Filter, after lead.Place, take func(leads []lead.Exported, names lead.Names) error,
) error {
	ctx, stop := context.WithCancel(ctx)
	portions := make(chan portion)
	go func() {
		defer close(portions)
		// Nothing else recovers panics of this goroutine.
		if err := fault.Contain(func() error { return s.readAhead(ctx, filter, after, portions) }); err != nil {
			select {
			case portions <- portion{err: err}:
			case <-ctx.Done():
			}
		}
	}()
	defer func() {
		stop()
		for range portions { // until the reader has ended
		}
	}()
	for next := range portions {
		if next.err != nil {
			return next.err
		}
		if err := take(next.leads, next.names); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// readAhead reads portion after portion.
func (s *Service) readAhead(ctx context.Context, filter lead.Filter, after lead.Place, portions chan<- portion) error {
	for more := true; more; {
		found, err := s.Leads(ctx, lead.Query{Filter: filter, After: after, Size: portionSize, Uncounted: true})
		if err != nil {
			return err
		}
		if len(found.Leads) == 0 {
			return nil
		}
		select {
		case portions <- portion{leads: found.Leads, names: found.Names}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		after, more = found.Leads[len(found.Leads)-1].Place, found.More
	}
	return nil
}
