package companies

import (
	"context"

	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
)

// makeWorkspace makes the directory of a committed company. The request has succeeded either way, so a failure is
// logged, and MendWorkspaces retries.
func (s *Service) makeWorkspace(ctx context.Context, which id.Company) {
	if err := s.workspaces.Make(which); err != nil {
		s.mending.Store(true)
		s.log.Error(ctx, "The workspace of company "+string(which)+" could not be made; Holdco will retry.", err)
	}
}

// Mend makes MendWorkspaces look once more.
func (s *Service) Mend() { s.mending.Store(true) }

// MendWorkspaces makes missing directories and removes those of deleted companies, which a crash, a full disk or
// another replica may leave. It does nothing unless this process has just started, failed to make a directory, or Mend was called.
func (s *Service) MendWorkspaces(ctx context.Context) (more bool, err error) {
	if !s.mending.Swap(false) {
		return false, nil
	}
	if err := s.mendWorkspaces(ctx); err != nil {
		s.mending.Store(true)
		return false, err
	}
	return false, nil
}

func (s *Service) mendWorkspaces(ctx context.Context) error {
	// The directories are listed before the companies: a company is committed before its directory is made, so a
	// directory listed here without a company below belongs to a deleted one.
	existing, err := s.workspaces.List()
	if err != nil {
		return err
	}
	orphans := make(map[id.Company]bool, len(existing))
	for _, which := range existing {
		orphans[which] = true
	}

	for after := (page.Position{}); ; {
		companies, err := s.store.Companies().List(ctx, store.CompanyFilter{}, after, page.MaxSize)
		if err != nil {
			return err
		}
		for _, c := range companies.Items {
			if c.Status != company.Deleting && !orphans[c.ID] {
				if err := s.workspaces.Make(c.ID); err != nil {
					return err
				}
			}
			delete(orphans, c.ID)
		}
		if after = companies.Next; after.IsStart() {
			break
		}
	}
	for which := range orphans {
		if err := s.workspaces.Remove(which); err != nil {
			return err
		}
	}
	return nil
}
