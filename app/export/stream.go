package export

import (
	"context"

	"holdco/app/ahead"
	"holdco/domain/lead"
)

// portionSize is how many leads of a stream are read at once.
const portionSize = 1000

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
		for more := true; more; {
			found, err := s.Leads(ctx, lead.Query{Filter: filter, After: after, Size: portionSize, Uncounted: true})
			if err != nil || len(found.Leads) == 0 {
				return err
			}
			if err := hand(portion{found.Leads, found.Names}); err != nil {
				return err
			}
			after, more = found.Leads[len(found.Leads)-1].Place, found.More
		}
		return nil
	}, func(p portion) error { return take(p.leads, p.names) })
}
