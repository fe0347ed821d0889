package companies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

const (
	removalTimeout = 10 * time.Second // how long Delete waits for the removal

	// A unit of work that removes rows delays others, and so does its commit, which writes a few pages for each row. The pause
	// after it leaves the writer to them.
	stepTime    = 10 * time.Millisecond
	rowsPerStep = 300
	stepPause   = 10 * time.Millisecond
)

// Delete marks a company as being deleted, wakes the job that removes it, and waits up to removalTimeout for the
// removal. The mark is durable, so RemoveDeleted finishes the removal even if this process dies.
func (s *Service) Delete(
	ctx context.Context, caller access.Caller, which id.Company, match precondition.Match,
) (inbound.CompanyDeletion, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return inbound.CompanyDeletion{}, err
	}
	mark := func(ctx context.Context, tx store.Tx) (company.Company, error) {
		current, err := tx.Companies().Lock(ctx, which)
		if err != nil {
			return current, err
		}
		if err := match.Check(current.Version); err != nil {
			return current, err
		}
		marked, err := current.Delete(caller.Actor, tx.Now())
		if err != nil || marked == current {
			return current, err
		}
		tx.Unrecorded() // company.deleted is recorded with the last removal
		if err := tx.Runs().Revoke(ctx, which, marked.LeaseEpoch, run.CompanyDeleted); err != nil {
			return current, err
		}
		return marked, tx.Companies().Save(ctx, marked)
	}
	marked, err := store.Do(ctx, s.store, store.Request{Company: which, Begins: store.InTurn}, mark)
	s.agents.Invalidate()
	if err != nil {
		return inbound.CompanyDeletion{}, err
	}

	select {
	case s.deletions <- struct{}{}:
	default: // the job is already notified
	}
	gone, err := s.awaitRemoval(ctx, which)
	return inbound.CompanyDeletion{Company: marked, Gone: gone}, err
}

// awaitRemoval polls with backoff until the company is gone: another process may be removing it.
func (s *Service) awaitRemoval(ctx context.Context, which id.Company) (gone bool, err error) {
	deadline := time.NewTimer(removalTimeout)
	defer deadline.Stop()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
		_, err := s.store.Companies().Get(ctx, which)
		if fault.CodeOf(err) == fault.NotFound {
			return true, nil
		}
		if err != nil {
			return false, nil // the deletion is accepted and continues; only this read failed
		}
	}
}

// Deletions receives a value when a company was marked for deletion.
func (s *Service) Deletions() <-chan struct{} { return s.deletions }

// RemoveDeleted removes the companies that are marked as being deleted. Each gets one step at a time, so that a large
// company does not delay the others. A company whose step fails is retried by the next call. Steps are idempotent, and
// several processes may run them at once, so a crash at any point loses nothing.
func (s *Service) RemoveDeleted(ctx context.Context) (more bool, err error) {
	failed, reached := map[id.Company]error{}, map[id.Company]int{}
	for more := true; more; {
		if more, err = s.removeSteps(ctx, failed, reached); err != nil {
			break
		}
		if len(reached) > 0 {
			pause(ctx)
		}
	}
	return false, errors.Join(append(firstFailures(failed), err)...)
}

func pause(ctx context.Context) {
	select {
	case <-time.After(stepPause):
	case <-ctx.Done():
	}
}

// removeSteps runs one step of every company that has not failed, and reports whether it ran any. Reached is how far those have
// been emptied that need more steps.
func (s *Service) removeSteps(ctx context.Context, failed map[id.Company]error, reached map[id.Company]int) (more bool, err error) {
	filter := store.CompanyFilter{Status: company.Deleting}
	for after := (page.Position{}); ; {
		deleting, err := s.store.Companies().List(ctx, filter, after, page.MaxSize)
		if err != nil {
			return false, err
		}
		for _, c := range deleting.Items {
			if failed[c.ID] != nil {
				continue
			}
			next, gone, err := s.removeStep(ctx, c, reached[c.ID])
			if reached[c.ID] = next; gone || err != nil {
				delete(reached, c.ID)
			}
			if err != nil {
				failed[c.ID] = fmt.Errorf("remove company %s: %w", c.ID, err)
				continue
			}
			more = true
		}
		if after = deleting.Next; after.IsStart() {
			return more, nil
		}
	}
}

// firstFailures returns the first few failures and the number of the others.
func firstFailures(failed map[id.Company]error) (failures []error) {
	const few = 3
	for _, which := range slices.Sorted(maps.Keys(failed)) {
		if len(failures) == few {
			return append(failures, fmt.Errorf("%d more companies could not be removed", len(failed)-few))
		}
		failures = append(failures, failed[which])
	}
	return failures
}

// removeStep removes some of a company, from a place on, and returns where to go on, unless the company is gone. It is removed
// when a step from the beginning has found nothing left.
func (s *Service) removeStep(ctx context.Context, c company.Company, from int) (reached int, gone bool, err error) {
	var empty bool
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		tx.Unrecorded() // a step of the deletion
		// Other servers remove this company too. Without turns the units of one would fail because of those of the others.
		if err := tx.Turn(ctx, c.ID); err != nil {
			return err
		}
		over := time.After(stepTime)
		enough := func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		}
		reached, empty, err = tx.Companies().Empty(ctx, c.ID, store.Emptying{Most: rowsPerStep, Enough: enough, From: from})
		return err
	})
	switch {
	case err != nil || !empty:
		return reached, false, err
	case from > 0:
		return 0, false, nil
	}
	gone, err = s.removeEmpty(ctx, c)
	return 0, gone, err
}

// removeEmpty removes a company of which nothing else is left but its workspace. It reports false if there is something again: its
// last entries may have been chained meanwhile.
func (s *Service) removeEmpty(ctx context.Context, c company.Company) (gone bool, err error) {
	if err := s.workspaces.Remove(c.ID); err != nil {
		return false, err
	}
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		gone = false
		last, err := tx.Companies().Lock(ctx, c.ID)
		if err != nil {
			return err
		}
		_, isEmpty, err := tx.Companies().Empty(ctx, c.ID, store.Emptying{Most: 1})
		if err != nil {
			return err
		}
		if !isEmpty {
			tx.Unrecorded() // a step of the deletion
			return nil
		}
		gone = true
		if err := tx.Companies().Remove(ctx, c.ID); err != nil {
			return err
		}
		return tx.Record(ctx, last.Deleted())
	})
	if fault.CodeOf(err) == fault.NotFound {
		return true, nil // another process was faster
	}
	return gone, err
}
