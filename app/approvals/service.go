package approvals

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/approval"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Approvals.
type Service struct {
	store store.Store
	ids   outbound.IDs
}

var _ inbound.Approvals = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs) *Service { return &Service{store: s, ids: ids} }

// List returns a page of the approvals of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, list inbound.ApprovalList,
) (found page.Page[approval.Approval], err error) {
	of := list.Company
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return found, err
	}
	err = store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) error {
		filter := store.ApprovalFilter{Company: of, Status: list.Status, Since: list.Since, Until: list.Until}
		if list.Team != "" {
			team, err := store.FindTeam(ctx, r.Teams(), of, list.Team)
			if err != nil {
				return err
			}
			filter.Team = team.ID
		}
		if list.Agent != "" {
			filter.Agent, _ = id.Parse[id.Agent](list.Agent)
			if _, err := store.GetIn(ctx, r.Agents(), of, filter.Agent); err != nil {
				return err
			}
		}
		if list.Issue != "" {
			filter.Issue, _ = id.Parse[id.Issue](list.Issue)
			if _, err := store.GetIn(ctx, r.Issues(), of, filter.Issue); err != nil {
				return err
			}
		}
		found, err = r.Approvals().List(ctx, filter, list.After, list.Size)
		return err
	})
	return found, err
}

// Get returns one approval.
func (s *Service) Get(
	ctx context.Context, caller access.Caller, of id.Company, which id.Approval,
) (found inbound.Approval, err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return found, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if found.Approval, err = store.GetIn(ctx, r.Approvals(), of, which); err != nil {
			return err
		}
		found.Said, err = r.Approvals().Comments(ctx, which)
		return err
	})
	return found, err
}

// Rules returns a page of the rules of a company.
func (s *Service) Rules(
	ctx context.Context, caller access.Caller, of id.Company, after page.Position, size int,
) (found page.Page[approval.Rule], err error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return found, err
	}
	err = store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) (err error) {
		found, err = r.ApprovalRules().List(ctx, of, after, size)
		return err
	})
	return found, err
}

// Rule returns one rule.
func (s *Service) Rule(ctx context.Context, caller access.Caller, of id.Company, which id.ApprovalRule) (approval.Rule, error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return approval.Rule{}, err
	}
	return store.GetIn(ctx, s.store.ApprovalRules(), of, which)
}
