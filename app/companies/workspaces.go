package companies

import (
	"context"

	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
)

// makeWorkspace makes the directory of a company that is committed. The company is there whether or not that works, so
// a failure is for the operator, and MendWorkspaces tries again.
func (s *Service) makeWorkspace(ctx context.Context, which id.Company) {
	if err := s.workspaces.Make(which); err != nil {
		s.mending.Store(true)
		s.log.Error(ctx, "The workspace of company "+string(which)+" could not be made; it will be tried again.", err)
	}
}

// MendWorkspaces makes the directories that are missing and removes those whose company is gone: what a crash, a full
// disk or another replica left behind. It does nothing unless this process has just started or failed to make one.
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
	// The directories are read before the companies: a company is committed before its directory is made, so whatever
	// has a directory here and no company below was deleted.
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
