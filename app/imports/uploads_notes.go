package imports

import (
	"context"
	"sync"
	"time"

	"holdco/domain/fault"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// uploadNotes writes down how far an import is, and which lines it reports.
type uploadNotes struct {
	*Service
	of   lead.Import
	lost func() // ends the import

	mutex    sync.Mutex
	progress lead.ImportProgress
	reported []lead.ReportedLine // those to be written down
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

// report is told of a line that is not imported as it stands.
func (n *uploadNotes) report(line lead.ReportedLine) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.written+len(n.reported) < lead.ImportReportsKept {
		n.reported = append(n.reported, line.Kept())
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
	if n.writeReported(ctx) != nil {
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

// linesOfUnit is how many reported lines are written in one unit.
const linesOfUnit = 500

// writeReported writes down the reported lines.
func (n *uploadNotes) writeReported(ctx context.Context) error {
	for {
		n.mutex.Lock()
		some, before := n.reported[:min(len(n.reported), linesOfUnit)], n.written
		n.mutex.Unlock()
		if len(some) == 0 {
			return nil
		}
		err := n.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
			return tx.Imports().Report(ctx, n.of.ID, before, some)
		})
		if err != nil {
			return err
		}
		n.mutex.Lock()
		n.reported, n.written = n.reported[len(some):], before+len(some)
		n.mutex.Unlock()
	}
}
