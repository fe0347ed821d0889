package storetest

import (
	"context"
	"time"

	"holdco/domain/backup"
	"holdco/domain/fault"
	"holdco/ports/store"
)

var backupRules = []rule{
	{"the schedule of backups of a new store is empty, and reads back as it was saved", scheduleReadsBack},
	{"of many who begin a backup at once, each sees what the ones before it did", scheduleTogether},
	{"a new store has no restoration that is to be settled", nothingIsUnsettled},
}

func savingSchedule(saved backup.Schedule) unit {
	return func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Backups().Lock(ctx); err != nil {
			return err
		}
		return tx.Backups().Save(ctx, saved)
	}
}

func someSchedule(f *fixture) unit {
	return savingSchedule(backup.Schedule{}.Begin("storetest", f.clock.Now()))
}

func (f *fixture) backupWrites() map[string]writeCase {
	saved := backup.Schedule{}.Begin("storetest", f.clock.Now().Add(time.Second))
	return map[string]writeCase{
		"Backups.Lock":   {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.Backups().Lock(ctx); return err }},
		"Backups.Settle": {locks, func(ctx context.Context, tx store.Tx) error { return tx.Backups().Settle(ctx) }},
		"Backups.Save":   {notes, savingSchedule(saved)},
	}
}

func (f *fixture) scheduleIs(want backup.Schedule) {
	f.Helper()
	got, err := f.store.Backups().Schedule(f.ctx)
	f.ok(err)
	f.same(got, want)
}

func scheduleReadsBack(f *fixture) {
	f.scheduleIs(backup.Schedule{})
	begun := backup.Schedule{}.Begin("it's \"Ä\"", f.clock.Now())
	for _, want := range []backup.Schedule{begun, begun.Done(1 << 40), begun.Fail(f.clock.Now().Add(time.Second)), {}} {
		f.update(savingSchedule(want))
		f.scheduleIs(want)
	}
}

func scheduleTogether(f *fixture) {
	f.exactly(together(crowd, func(int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			state, err := tx.Backups().Lock(ctx)
			if err != nil {
				return err
			}
			state.Bytes++
			return tx.Backups().Save(ctx, state)
		})
	}), map[fault.Code]int{"": crowd})
	f.scheduleIs(backup.Schedule{Bytes: crowd})
}

func nothingIsUnsettled(f *fixture) {
	_, isThere, err := f.store.Backups().Unsettled(f.ctx)
	f.ok(err)
	f.same(isThere, false)
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.Backups().Settle(ctx) })
	f.ok(f.store.Ready(f.ctx))
}
