package issues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// bulkActions are the moves that can be made of many issues at once.
var bulkActions = []string{"assign", "unassign", "cancel", "accept", "reject", "handoff", "retry"}

// errFirst rolls back the unit that only looks whether a request was answered.
var errFirst = errors.New("the request was not answered before")

// Bulk moves several issues. Each has an idempotency key of its own, derived from that of the request: a repeat after a crash in
// the middle goes on with the rest.
func (s *Service) Bulk(
	ctx context.Context, caller access.Caller, of id.Company, bulk inbound.IssueBulk, once idempotency.Request,
) ([]inbound.IssueOutcome, error) {
	if err := caller.NeedsIn(access.Write, of); err != nil {
		return nil, err
	}
	answer := func(outcomes []inbound.IssueOutcome, err error) ([]inbound.IssueOutcome, error) {
		return store.UpdateOnce(ctx, s.store, once, of, func(context.Context, store.Tx) ([]inbound.IssueOutcome, error) {
			return outcomes, err
		})
	}
	if _, err := answer(nil, errFirst); !errors.Is(err, errFirst) {
		return nil, err
	}
	c, err := s.store.Companies().Get(ctx, of)
	if err != nil {
		return nil, err
	}
	refusal := c.Allows(company.Update)
	if fault.CodeOf(refusal) == fault.CompanyArchived {
		return nil, refusal
	}
	move, err := checkBulk(bulk)
	if err == nil {
		err = refusal
	}
	if err != nil {
		return nil, err
	}
	outcomes := make([]inbound.IssueOutcome, len(*bulk.IDs))
	for n, raw := range *bulk.IDs {
		which, _ := id.Parse[id.Issue](raw)
		outcomes[n] = outcomeOf(raw, func() (issue.Issue, error) {
			return s.Move(ctx, caller, of, which, move, precondition.Match{}, part(once, n))
		})
		if code := fault.CodeOf(outcomes[n].Err); code == fault.Unavailable || code == fault.Internal {
			return nil, outcomes[n].Err // a repeat goes on from here
		}
	}
	return answer(outcomes, nil)
}

func checkBulk(bulk inbound.IssueBulk) (inbound.IssueMove, error) {
	problems := slices.Clone(bulk.Problems)
	move := bulk.Move
	switch {
	case bulk.Action == nil:
		problems.Add(fault.Fieldf("action", fault.Required, "action is required"))
	case !slices.Contains(bulkActions, *bulk.Action):
		problems.Add(fault.Fieldf("action", fault.UnknownValue, "action must be one of %s", strings.Join(bulkActions, ", ")))
	default:
		move.Action = issue.Action(*bulk.Action)
	}
	switch {
	case bulk.IDs == nil:
		problems.Add(fault.Fieldf("ids", fault.Required, "ids is required"))
	case len(*bulk.IDs) == 0:
		problems.Add(fault.Fieldf("ids", fault.Required, "ids must have at least one item"))
	case len(*bulk.IDs) > inbound.MostInBulk:
		problems.Add(fault.Fieldf("ids", fault.TooMany, "ids has %d items; at most %d are allowed", len(*bulk.IDs), inbound.MostInBulk))
	default:
		for n, one := range *bulk.IDs {
			if slices.Contains((*bulk.IDs)[:n], one) {
				path := fmt.Sprintf("ids.%d", n)
				problems.Add(fault.Fieldf(path, fault.Duplicate, "%s is given twice", path))
			}
		}
	}
	if len(problems) > 0 {
		return move, fault.Validation(problems)
	}
	return move, nil
}

// part is the request for the nth issue. No client can send its key, which has a space.
func part(of idempotency.Request, n int) idempotency.Request {
	if of.Key.Value == "" {
		return idempotency.Request{}
	}
	of.Key.Value = fmt.Sprintf("%s %d", of.Key.Value, n)
	of.Answer = func(result any) ([]byte, error) { return result.(issue.Issue).Fields().MarshalJSON() }
	return of
}

func outcomeOf(which string, move func() (issue.Issue, error)) inbound.IssueOutcome {
	moved, err := move()
	var replay *idempotency.Replay
	switch {
	case errors.As(err, &replay):
		return inbound.IssueOutcome{ID: which, Issue: json.RawMessage(replay.Answer)}
	case err != nil:
		return inbound.IssueOutcome{ID: which, Err: err}
	default:
		return inbound.IssueOutcome{ID: which, Issue: moved.Fields()}
	}
}
