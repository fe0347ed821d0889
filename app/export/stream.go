package export

import (
	"context"

	"holdco/app/ahead"
	"holdco/domain/lead"
)

// A portion of a stream is read at once: so many leads, of so many bytes. A stream has two portions in memory.
const (
	portionSize  = 1000
	portionBytes = 4 << 20
)

// nextSize is how many leads to ask for after a portion: where leads are large a store would find many that have no room.
func nextSize(last int) int { return min(2*last, portionSize) }

// portion is a part of a stream.
type portion struct {
	leads []lead.Exported
	names lead.Names
}

// Stream calls take with all leads that the filter matches, portion by portion. It reads one portion ahead.
func (s *Service) Stream(
	ctx context.Context, filter lead.Filter, after lead.Place, take func(leads []lead.Exported, names lead.Names) error,
) error {
	return ahead.Read(ctx, func(ctx context.Context, hand func(portion) error) error {
		size := portionSize
		for more := true; more; {
			found, err := s.Leads(ctx, lead.Query{Filter: filter, After: after, Size: size, Bytes: portionBytes, Uncounted: true})
			if err != nil || len(found.Leads) == 0 {
				return err
			}
			if err := hand(portion{found.Leads, found.Names}); err != nil {
				return err
			}
			after, more, size = found.Leads[len(found.Leads)-1].Place, found.More, nextSize(len(found.Leads))
		}
		return nil
	}, func(p portion) error { return take(p.leads, p.names) })
}
