package companies

import (
	"context"
	"fmt"

	"holdco/domain/company"
	"holdco/domain/event"
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
// another replica may leave. What belongs to a company that the store has never known stays: the store may be the wrong one, or an older
// one that was restored. It does nothing unless this process has just started, failed to make a directory, or Mend was called.
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
	unknown := 0
	for which := range orphans {
		wasDeleted, err := s.wasDeleted(ctx, which)
		if err == nil && wasDeleted {
			err = s.workspaces.Remove(which)
		}
		if err != nil {
			return err
		}
		if !wasDeleted {
			unknown++
		}
	}
	if unknown > 0 {
		s.log.Error(ctx, "There are workspaces of companies that this store does not know; they are left alone.",
			fmt.Errorf("directories: %d; see whether this is the right store; if it is, \"holdco doctor --only workspaces --fix\" "+
				"moves them aside", unknown))
	}
	return nil
}

// wasDeleted reports whether the activity log has the end of a company.
func (s *Service) wasDeleted(ctx context.Context, which id.Company) (bool, error) {
	found, err := s.store.Activity().List(ctx, store.ActivityFilter{
		Company: new(id.Company("")), Type: event.CompanyDeleted, Subject: company.Subject(which),
	}, page.Position{}, 1)
	return len(found.Items) > 0, err
}
