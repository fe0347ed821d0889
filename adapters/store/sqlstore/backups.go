package sqlstore

import (
	"context"
	"errors"
	"time"

	"holdco/domain/backup"
)

// backups implements store.Backups.
type backups struct{ session }

func backupsOf(s session) backups { return backups{s} }

var scheduleTable = tableOf("backup_schedule", errors.New("the row of the schedule of backups is not there"),
	derived("id", func(*backup.Schedule) string { return instanceRow }),
	asOptionalMillis("begun_at", func(s *backup.Schedule) *time.Time { return &s.BegunAt }),
	asOptionalMillis("done_at", func(s *backup.Schedule) *time.Time { return &s.DoneAt }),
	asInteger("bytes", func(s *backup.Schedule) *int64 { return &s.Bytes }),
	asText("holder", func(s *backup.Schedule) *string { return &s.Holder }),
	asOptionalMillis("held_until", func(s *backup.Schedule) *time.Time { return &s.HeldUntil }),
	asBoolean("failed", func(s *backup.Schedule) *bool { return &s.Failed }),
)

func (b backups) Schedule(ctx context.Context) (backup.Schedule, error) {
	return readOne(ctx, b.session, scheduleTable, scheduleTable.get, instanceRow)
}

func (b backups) Lock(ctx context.Context) (backup.Schedule, error) {
	return readOne(ctx, b.session, scheduleTable, scheduleTable.lock, instanceRow)
}

func (b backups) Save(ctx context.Context, saved backup.Schedule) error {
	args := append(scheduleTable.values(&saved, scheduleTable.saved), instanceRow)
	return exactlyOne(b.exec(ctx, b.run(scheduleTable.saves.of(0), args...)))
}
