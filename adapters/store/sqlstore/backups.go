package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"regexp"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/backup"
	"holdco/domain/event"
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
	asInteger("failures", func(s *backup.Schedule) *int64 { return &s.Failures }),
	asOptionalMillis("retry_at", func(s *backup.Schedule) *time.Time { return &s.RetryAt }),
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

func (b backups) Unsettled(ctx context.Context) (of backup.Unsettled, isThere bool, err error) {
	var found restorationRow
	err = b.all(ctx, b.selects(&found))
	if errors.Is(err, sql.ErrNoRows) {
		return of, false, nil
	}
	of.Of.At, of.Of.Version, of.Of.Schema, of.Actor = instant(found.BackupAt), found.Version, found.Schema, event.Actor(found.Actor)
	return of, err == nil, err
}

func (b backups) Settle(ctx context.Context) error {
	_, err := b.exec(ctx, b.deletes((*restorationRow)(nil)).Where("single = 1"))
	return err
}

// RestorationTable is where a restoration is that is still to be settled.
const RestorationTable = "restorations"

// restorationRow is the only row of its table.
type restorationRow struct {
	bun.BaseModel `bun:"table:restorations"`

	Single   int    `bun:"single,pk"`
	BackupAt int64  `bun:"backup_at"` // in milliseconds since 1970
	Version  string `bun:"version"`
	Schema   int64  `bun:"schema_version"`
	Actor    string `bun:"actor"`
}

var restorationsMade = regexp.MustCompile(`(?s)CREATE TABLE IF NOT EXISTS ` + RestorationTable + ` .*?;\n`)

// LeaveUnsettled marks a store, whose schema may be one before the migrations in a folder make the table for that.
func LeaveUnsettled(ctx context.Context, db *bun.DB, files fs.FS, folder string, as backup.Unsettled) error {
	text, err := fs.ReadFile(files, folder+"/00048_restorations_and_retries.sql")
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, string(restorationsMade.Find(text))); err != nil {
		return err
	}
	row := restorationRow{Single: 1, BackupAt: millis(as.Of.At), Version: as.Of.Version, Schema: as.Of.Schema, Actor: string(as.Actor)}
	_, err = db.NewInsert().Model(&row).Exec(ctx)
	return err
}
