package imports

import (
	"context"
	"errors"

	"holdco/app/retries"
	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// runUpload imports a file that was received, and notes meanwhile how far it is.
func (s *Service) runUpload(ctx context.Context, one sent) error {
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
	failed := errors.Join(notes.writeReported(last), s.endUpload(last, one, outcome))
	if outcome.Code == fault.Internal {
		failed = errors.Join(failed, err)
	}
	return failed
}

// readUpload imports what a file holds.
func (s *Service) readUpload(ctx context.Context, one sent, notes *uploadNotes) (lead.ImportCount, error) {
	options := inbound.ImportOptions{
		DryRun: one.DryRun, Strict: one.Strict && !one.DryRun, Whole: true, KeepTimestamps: one.KeepTimestamps, Rules: one.Rules(),
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
		whole := lead.ReportedLine{Number: 1, Outcome: lead.LineRejected, Problems: problems}
		return lead.ImportCount{Read: 1, Rejected: 1}, errors.Join(notes.report(whole), err)
	}
	return lead.ImportCount{Change: change, Read: int64(change.Inserted + change.Updated + change.Unchanged)}, err
}

// endUpload writes down how an import ended. One that was ended before stays as it is.
func (s *Service) endUpload(ctx context.Context, one sent, how lead.ImportOutcome) error {
	return retries.WhileUnavailable(ctx, retries.For(patience), func() error {
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
