package companies

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
)

// Update merges a patch into a company.
func (s *Service) Update(
	ctx context.Context, caller access.Caller, which id.Company, patch company.Patch, match precondition.Match,
) (company.Company, error) {
	return s.change(ctx, caller, which, match, idempotency.Request{},
		func(c company.Company, at time.Time) (company.Company, *event.Event, error) {
			return c.Apply(patch, s.settings.Adapters, at)
		})
}

// Archive hides a company from lists until it is restored or deleted.
func (s *Service) Archive(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
) (company.Company, error) {
	return s.change(ctx, caller, which, match, once,
		func(c company.Company, at time.Time) (company.Company, *event.Event, error) {
			next, archived, err := c.Archive(at, s.settings.Retention)
			return next, &archived, err
		})
}

// Restore reverses Archive while the company can be restored.
func (s *Service) Restore(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match, once idempotency.Request,
) (company.Company, error) {
	return s.change(ctx, caller, which, match, once,
		func(c company.Company, at time.Time) (company.Company, *event.Event, error) {
			next, restored, err := c.Restore(at)
			return next, &restored, err
		})
}
