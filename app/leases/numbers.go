package leases

import (
	"context"

	"holdco/domain/agent"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/store"
)

// FindIssue returns the id of an issue of the agent's company, which is given by its number or by its id.
func (s *Service) FindIssue(ctx context.Context, caller agent.Caller, reference string) (id.Issue, error) {
	if err := caller.MayRead(); err != nil {
		return "", err
	}
	found, err := s.issueID(ctx, caller.Company, reference)
	if err != nil {
		return "", err
	}
	parsed, _ := id.Parse[id.Issue](found) // what is no id is no issue
	return parsed, nil
}

// issueID is the id of the issue of a company with a number. Anything else than the number of an issue stays as it is.
func (s *Service) issueID(ctx context.Context, company id.Company, reference string) (string, error) {
	number, isNumber := issue.ParseNumber(reference)
	if !isNumber {
		return reference, nil
	}
	found, err := s.store.Issues().List(ctx, store.IssueFilter{Company: company, Number: number}, page.Position{}, 1)
	if err != nil || len(found.Items) == 0 {
		return reference, err
	}
	return string(found.Items[0].ID), nil
}

// withIDs is a draft with the ids of the issues that it gives by their numbers. Numbers never change, so no unit of work is needed.
func (s *Service) withIDs(ctx context.Context, company id.Company, draft issue.Draft) (issue.Draft, error) {
	if draft.Parent != nil && *draft.Parent != nil {
		parent, err := s.issueID(ctx, company, **draft.Parent)
		if err != nil {
			return draft, err
		}
		draft.Parent = new(new(parent))
	}
	if draft.BlockedBy != nil && len(*draft.BlockedBy) <= issue.MostBlockers {
		blockers := make([]string, len(*draft.BlockedBy))
		for n, sent := range *draft.BlockedBy {
			var err error
			if blockers[n], err = s.issueID(ctx, company, sent); err != nil {
				return draft, err
			}
		}
		draft.BlockedBy = &blockers
	}
	return draft, nil
}
