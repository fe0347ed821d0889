package companies

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/ports/store"
)

// Create makes a company with its first teams and their empty slots, then its workspace.
func (s *Service) Create(
	ctx context.Context, caller access.Caller, draft company.Draft, once idempotency.Request,
) (company.Founding, error) {
	if err := caller.NeedsEverywhere(access.Write); err != nil {
		return company.Founding{}, err
	}
	newID := id.New[id.Company](s.ids.UUIDv7())
	founding, err := store.UpdateOnce(ctx, s.store, once, newID, func(ctx context.Context, tx store.Tx) (company.Founding, error) {
		founding, created, err := company.New(newID, draft, s.settings.Adapters, s.ids, tx.Now())
		if err != nil {
			return company.Founding{}, err
		}
		if err := tx.Companies().Add(ctx, founding.Company); err != nil {
			return company.Founding{}, err
		}
		if err := tx.Teams().AddAll(ctx, founding.Teams, founding.Slots); err != nil {
			return company.Founding{}, err
		}
		return founding, tx.Record(ctx, created.By(caller.Actor))
	})
	if refusal := fault.Of(err); refusal != nil && refusal.Code == fault.SlugInUse {
		return founding, s.nameHolder(ctx, caller, *draft.Slug, refusal)
	}
	if err == nil {
		s.makeWorkspace(ctx, newID)
	}
	return founding, err
}
