package costs

import (
	"context"
	"time"

	"holdco/app/ahead"
	"holdco/domain/access"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Entries returns a page of the entries of a company.
func (s *Service) Entries(
	ctx context.Context, caller access.Caller, list inbound.CostList, after page.Position, size int,
) (found page.Page[cost.Entry], err error) {
	err = s.matching(ctx, caller, list, func(ctx context.Context, v view, filter store.CostFilter) error {
		found, err = v.Costs().List(ctx, filter, after, size)
		return err
	})
	return found, err
}

// portionSize is how many entries of an export are read at once.
const portionSize = 1000

// Export begins an export. Each portion is read by itself: entries never change, and those that came later are left out.
func (s *Service) Export(
	ctx context.Context, caller access.Caller, list inbound.CostList, after string,
) (inbound.CostExport, error) {
	var from store.CostFilter
	var last *cost.Entry
	var asOf time.Time
	err := s.matching(ctx, caller, list, func(ctx context.Context, v view, filter store.CostFilter) error {
		from, last, asOf = filter, nil, v.now
		if after == "" {
			return nil
		}
		which, _ := id.Parse[id.Cost](after)
		found, err := store.GetIn(ctx, v.Costs(), list.Company, which)
		if fault.CodeOf(err) == fault.NotFound {
			return fault.New(fault.InvalidCursor, "after must be the id of a cost entry of the company.")
		}
		last = &found
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(take func(entries []cost.Entry) error) error {
		return ahead.Read(ctx, func(ctx context.Context, hand func(entries []cost.Entry) error) error {
			for {
				entries, err := s.store.Costs().Export(ctx, from, last, asOf, portionSize)
				if err != nil || len(entries) == 0 {
					return err
				}
				if err := hand(entries); err != nil || len(entries) < portionSize {
					return err
				}
				last = &entries[portionSize-1]
			}
		}, take)
	}, nil
}

// matching reads with the filter of a list, on one snapshot.
func (s *Service) matching(
	ctx context.Context, caller access.Caller, list inbound.CostList,
	read func(ctx context.Context, v view, filter store.CostFilter) error,
) error {
	return s.view(ctx, caller, list.Company, access.Admin, list.Since, list.Until, func(ctx context.Context, v view) error {
		filter, err := v.filter(ctx, list)
		if err != nil {
			return err
		}
		return read(ctx, v, filter)
	})
}

func (v view) filter(ctx context.Context, list inbound.CostList) (filter store.CostFilter, err error) {
	filter = store.CostFilter{Company: v.company.ID, Kind: list.Kind}
	if list.Since != "" || list.Until != "" {
		in, err := cost.ParseRange(list.Since, list.Until, cost.Ever(v.now), v.now)
		if err != nil {
			return filter, err
		}
		filter.Since, filter.Until = in.Start, in.End
	}
	if list.Team != "" {
		team, err := store.FindTeam(ctx, v.Teams(), v.company.ID, list.Team)
		if err != nil {
			return filter, err
		}
		filter.Team = team.ID
	}
	if filter.Agent, err = known(ctx, v, v.Agents(), list.Agent); err != nil {
		return filter, err
	}
	if filter.Project, err = known(ctx, v, v.Projects(), list.Project); err != nil {
		return filter, err
	}
	if filter.Issue, err = known(ctx, v, v.Issues(), list.Issue); err != nil {
		return filter, err
	}
	filter.Run, err = known(ctx, v, v.Runs(), list.Run)
	return filter, err
}

// known is the id of something of the company; empty: none was sent.
func known[I id.ID, T store.Owned](ctx context.Context, v view, in store.Getter[I, T], sent string) (which I, err error) {
	if sent == "" {
		return "", nil
	}
	which, _ = id.Parse[I](sent)
	_, err = store.GetIn(ctx, in, v.company.ID, which)
	return which, err
}
