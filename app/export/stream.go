package export

import (
	"context"
	"fmt"
	"runtime/debug"

	"holdco/domain/lead"
)

// portionSize is how many leads of a stream are read at once. Two portions of a stream are in memory at most: while one is
// taken, the next one is read.
const portionSize = 1000

// portion is a part of a stream, or what kept it from being read.
type portion struct {
	leads []lead.Exported
	names lead.Names
	err   error
}

// Stream hands over all leads that the filter matches.
func (s *Service) Stream(
	ctx context.Context, filter lead.Filter, after lead.Place, take func(leads []lead.Exported, names lead.Names) error,
) error {
	ctx, stop := context.WithCancel(ctx)
	portions := make(chan portion)
	go func() {
		defer close(portions)
		if err := s.readAhead(ctx, filter, after, portions); err != nil {
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

// readAhead reads portion after portion. Nobody else would stop a panic here: it must not take other requests down.
func (s *Service) readAhead(ctx context.Context, filter lead.Filter, after lead.Place, portions chan<- portion) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
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
