package imports

import (
	"context"
	"sync"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Uploads implements inbound.Uploads. A file is imported in the background, by Run, in the process that has received it.
type Uploads struct {
	imports *Service
	ids     outbound.IDs
	woken   chan struct{}

	receiving sync.Mutex // one file is received at a time, so that no disk is full of them

	mutex  sync.Mutex
	next   []sent // those that Run has not begun
	closed bool
}

var _ inbound.Uploads = (*Uploads)(nil)

// NewUploads returns the use cases.
func NewUploads(s *Service, ids outbound.IDs) *Uploads {
	return &Uploads{imports: s, ids: ids, woken: make(chan struct{}, 1)}
}

// sent is a file that was received, and its import.
type sent struct {
	lead.Import
	caller access.Caller
	file   inbound.ImportFile
}

// itself is who ends imports whose processes are gone.
var itself = access.System("imports")

// Start implements inbound.Uploads.
func (u *Uploads) Start(ctx context.Context, caller access.Caller, upload inbound.Upload) (lead.Import, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return lead.Import{}, err
	}
	draft, err := upload.Parse()
	if err != nil {
		return lead.Import{}, err
	}
	if !u.receiving.TryLock() {
		return lead.Import{}, fault.New(fault.ImportRunning, "Another file is being received; send this one when that was imported.")
	}
	defer u.receiving.Unlock()
	if !upload.Repeats { // before the file is sent, not after it
		if err := u.busy(ctx); err != nil {
			return lead.Import{}, err
		}
	}
	file, err := upload.Receive(draft)
	if err != nil {
		return lead.Import{}, err
	}
	newID := id.New[id.Import](u.ids.UUIDv7())
	request := store.Request{Actor: caller.Actor, Once: upload.Once()}
	imports := func(tx store.Tx) store.Imports { return tx.Imports() }
	begin := func(ctx context.Context, tx store.Tx) (lead.Import, event.Event, error) {
		running, now, err := giveUpLapsed(ctx, tx)
		if err != nil {
			return lead.Import{}, event.Event{}, err
		}
		return lead.NewImport(newID, draft, file.Size(), running, tx.Now(), now)
	}
	made, err := store.Create(ctx, u.imports.store, request, imports, begin)
	if err != nil {
		_ = file.Close()
		return made, err
	}
	return made, u.queue(ctx, sent{made, caller, file})
}

// busy fails with fault.ImportRunning while an import runs.
func (u *Uploads) busy(ctx context.Context) error {
	return u.imports.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		running, err := r.Imports().Running(ctx)
		if err != nil {
			return err
		}
		now, err := r.StoreNow(ctx)
		if err != nil {
			return err
		}
		return lead.ImportsBusy(running, now)
	})
}

// giveUpLapsed ends the imports whose processes are gone, and returns those that run, and the time by the store's clock.
func giveUpLapsed(ctx context.Context, tx store.Tx) (running []lead.Import, now time.Time, err error) {
	all, err := tx.Imports().Running(ctx)
	if err != nil {
		return nil, now, err
	}
	if now, err = tx.StoreNow(ctx); err != nil {
		return nil, now, err
	}
	for _, one := range all {
		if one, err = tx.Imports().Lock(ctx, one.ID); err != nil {
			return nil, now, err
		}
		if !one.Lapsed(now) {
			running = append(running, one)
			continue
		}
		ended, happened, err := one.GiveUp(tx.Now())
		if err == nil {
			err = tx.Imports().Save(ctx, ended)
		}
		if err == nil {
			err = tx.Record(ctx, happened.By(itself.Actor))
		}
		if err != nil {
			return nil, now, err
		}
	}
	return running, now, nil
}

// queue hands a file to Run.
func (u *Uploads) queue(ctx context.Context, next sent) error {
	u.mutex.Lock()
	closed := u.closed
	if !closed {
		u.next = append(u.next, next)
	}
	u.mutex.Unlock()
	if closed {
		return u.cut(context.WithoutCancel(ctx), next)
	}
	select {
	case u.woken <- struct{}{}:
	default:
	}
	return nil
}

// Woken receives a value when there is work for Run.
func (u *Uploads) Woken() <-chan struct{} { return u.woken }

// Run imports a file that was received here, if there is one. When ctx ends, the import is interrupted.
func (u *Uploads) Run(ctx context.Context) (more bool, err error) {
	u.mutex.Lock()
	if len(u.next) == 0 {
		u.mutex.Unlock()
		return false, nil
	}
	next := u.next[0]
	u.next = u.next[1:]
	u.mutex.Unlock()
	return true, u.imports.runUpload(ctx, next)
}

// Stop interrupts what Run has not begun.
func (u *Uploads) Stop(ctx context.Context) (err error) {
	u.mutex.Lock()
	left := u.next
	u.next, u.closed = nil, true
	u.mutex.Unlock()
	for _, one := range left {
		if failed := u.cut(ctx, one); failed != nil {
			err = failed
		}
	}
	return err
}

// cut interrupts an import that was not begun.
func (u *Uploads) cut(ctx context.Context, one sent) error {
	_ = one.file.Close()
	return u.imports.endUpload(ctx, one, lead.ImportCut(one.Progress, serverStopped))
}

// serverStopped is why an import is interrupted.
const serverStopped = "The server stopped before the import had ended."

// EndLapsed ends the imports whose processes are gone.
func (u *Uploads) EndLapsed(ctx context.Context) (more bool, err error) {
	running, err := u.imports.store.Imports().Running(ctx)
	if err != nil || len(running) == 0 {
		return false, err
	}
	return false, u.imports.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		_, _, err := giveUpLapsed(ctx, tx)
		return err
	})
}

// Get implements inbound.Uploads.
func (u *Uploads) Get(ctx context.Context, caller access.Caller, which id.Import) (lead.Import, error) {
	if err := caller.Needs(access.Admin); err != nil {
		return lead.Import{}, err
	}
	return u.imports.store.Imports().Get(ctx, which)
}

// List implements inbound.Uploads.
func (u *Uploads) List(
	ctx context.Context, caller access.Caller, filter lead.ImportFilter, after page.Position, size int,
) (page.Page[lead.Import], error) {
	if err := caller.Needs(access.Admin); err != nil {
		return page.Page[lead.Import]{}, err
	}
	return u.imports.store.Imports().List(ctx, filter, after, size)
}

// Reported implements inbound.Uploads.
func (u *Uploads) Reported(
	ctx context.Context, caller access.Caller, of id.Import, after page.Position, size int,
) (found page.Page[lead.ReportedLine], err error) {
	if err := caller.Needs(access.Admin); err != nil {
		return found, err
	}
	err = u.imports.store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if _, err = r.Imports().Get(ctx, of); err == nil {
			found, err = r.Imports().Reported(ctx, of, after, size)
		}
		return err
	})
	return found, err
}
