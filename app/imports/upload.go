package imports

import (
	"context"
	"errors"
	"sync"
	"time"

	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// upload imports a file that was received, and notes meanwhile how far it is.
func (s *Service) upload(ctx context.Context, one sent) error {
	defer func() { _ = one.file.Close() }()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	notes := &uploadNotes{Service: s, of: one.Import, lost: cancel, progress: one.Progress}
	stopNoting := notes.begin(running)
	counted, err := s.readUpload(running, one, notes)
	stopNoting()

	last := context.WithoutCancel(ctx)
	if notes.isLost {
		return nil // another process has ended it
	}
	outcome := lead.ImportEnded(one.ImportDraft, lead.ImportProgress{Lines: counted.Read, Bytes: one.Size, ImportCount: counted}, err)
	if err != nil && ctx.Err() != nil { // an import that was complete by then stays so
		outcome = lead.ImportCut(notes.seen(), serverStopped)
		err = nil
	}
	failed := errors.Join(notes.reject(last), s.endUpload(last, one, outcome))
	if outcome.Code == fault.Internal {
		failed = errors.Join(failed, err)
	}
	return failed
}

// readUpload imports what a file holds.
func (s *Service) readUpload(ctx context.Context, one sent, notes *uploadNotes) (lead.ImportCount, error) {
	options := inbound.ImportOptions{
		DryRun: one.DryRun, Strict: one.Strict && !one.DryRun, Whole: true, KeepTimestamps: one.KeepTimestamps,
		Report: notes.report, Progress: notes.see,
	}
	switch one.Kind {
	case lead.ImportLeads:
		return s.Leads(ctx, one.caller, one.file.Leads(), options)
	case lead.ImportCampaigns:
		return s.Campaigns(ctx, one.caller, one.file.Campaigns(), options)
	}
	draft, err := one.file.Taxonomy()
	if err != nil {
		return lead.ImportCount{}, err
	}
	change, err := s.Taxonomy(ctx, one.caller, draft, one.DryRun)
	if problems := fieldsOf(err); len(problems) > 0 {
		return lead.ImportCount{Read: 1, Rejected: 1}, errors.Join(notes.report(lead.RejectedLine{Number: 1, Problems: problems}), err)
	}
	return lead.ImportCount{Change: change, Read: int64(change.Inserted + change.Updated + change.Unchanged)}, err
}

// endUpload writes down how an import ended. One that was ended before stays as it is.
func (s *Service) endUpload(ctx context.Context, one sent, how lead.ImportOutcome) error {
	return retry(ctx, func() error {
		err := s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
			current, err := tx.Imports().Lock(ctx, one.ID)
			if err != nil {
				return err
			}
			ended, happened, err := current.End(how, tx.Now())
			if err != nil {
				return err
			}
			if err := tx.Imports().Save(ctx, ended); err != nil {
				return err
			}
			return tx.Record(ctx, happened.By(one.caller.Actor))
		})
		if fault.CodeOf(err) == fault.InvalidTransition {
			return nil
		}
		return err
	})
}

// uploadNotes writes down how far an import is, and which lines it rejects.
type uploadNotes struct {
	*Service
	of   lead.Import
	lost func() // ends the import

	mutex    sync.Mutex
	progress lead.ImportProgress
	rejects  []lead.RejectedLine // those to be written down
	written  int                 // how many were

	isLost bool // somebody has ended the import; of the goroutine that notes, until that has ended
}

// see is told how far the import is.
func (n *uploadNotes) see(now lead.ImportProgress) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.progress = now
}

func (n *uploadNotes) seen() lead.ImportProgress {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.progress
}

// report is told of a rejected line.
func (n *uploadNotes) report(line lead.RejectedLine) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.written+len(n.rejects) < lead.ImportRejectsKept {
		n.rejects = append(n.rejects, line.Bounded())
	}
	return nil
}

// begin notes in the background, until the returned function has returned.
func (n *uploadNotes) begin(ctx context.Context) (stop func()) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(lead.ImportStep)
		defer ticker.Stop()
		for !n.isLost {
			select {
			case <-ended:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				n.note(context.WithoutCancel(ctx))
			}
		}
	}()
	return func() {
		close(ended)
		<-stopped
	}
}

// note writes down what there is to note. What fails is written at the next time: the import itself meets the same store.
func (n *uploadNotes) note(ctx context.Context) {
	if n.reject(ctx) != nil {
		return
	}
	progress := n.seen()
	err := n.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded() // import.started and import.ended tell of it
		current, err := tx.Imports().Lock(ctx, n.of.ID)
		if err != nil {
			return err
		}
		now, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		next, err := current.Advance(progress, now)
		if err != nil {
			return err
		}
		return tx.Imports().Save(ctx, next)
	})
	if code := fault.CodeOf(err); code == fault.InvalidTransition || code == fault.NotFound {
		n.isLost = true
		n.lost()
	}
}

// rejectsOfUnit is how many rejected lines are written in one unit.
const rejectsOfUnit = 500

// reject writes down the rejected lines.
func (n *uploadNotes) reject(ctx context.Context) error {
	for {
		n.mutex.Lock()
		some, before := n.rejects[:min(len(n.rejects), rejectsOfUnit)], n.written
		n.mutex.Unlock()
		if len(some) == 0 {
			return nil
		}
		err := n.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
			return tx.Imports().Reject(ctx, n.of.ID, before, some)
		})
		if err != nil {
			return err
		}
		n.mutex.Lock()
		n.rejects, n.written = n.rejects[len(some):], before+len(some)
		n.mutex.Unlock()
	}
}
