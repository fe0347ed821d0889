package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"holdco/app/doctor"
	found "holdco/domain/doctor"
	"holdco/domain/fault"
)

// keptBackups is a folder of backups, whose newest one is checked with an outcome.
type keptBackups struct {
	checked string // what was
	outcome error
}

func (k *keptBackups) Check(_ context.Context, folder string, begun time.Time, isFull bool) error {
	k.checked = fmt.Sprint(folder, " ", begun.UnixMilli(), " ", isFull)
	return k.outcome
}

func TestWhatIsWrongWithBackupsOnPostgresAndSQLiteIsFound(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		kept := &keptBackups{}
		w.patient.Backups = kept
		is := func(severity found.Severity, rule string) {
			t.Helper()
			w.doctor = doctor.New(w.patient)
			got := result(t, w.examine(t, false), "backup")
			if got.Severity() != severity || rule != "" && (len(got.Examples) != 1 || got.Examples[0].Rule != rule) {
				t.Errorf("%s: %s %v, want %s", got.Severity(), got.Message(), got.Examples, rule)
			}
		}
		is(found.OK, "") // none is scheduled
		w.patient.Settings.BackupDir, w.patient.Settings.BackupEvery = "/backup", 24*time.Hour
		is(found.Warning, "backup.none")
		if kept.checked != "" {
			t.Errorf("%s was checked", kept.checked)
		}
		w.exec(t, fmt.Sprintf("UPDATE backup_schedule SET done_at = %d", w.clock.Now().UnixMilli()))
		want := fmt.Sprint("/backup ", w.clock.Now().UnixMilli(), " true")
		w.clock.Advance(48 * time.Hour)
		is(found.OK, "")
		if kept.checked != want {
			t.Errorf("%s was checked, not %s", kept.checked, want)
		}
		kept.outcome = fault.New(fault.NotFound, "There is no file.")
		is(found.Note, "backup.elsewhere")
		kept.outcome = errors.New("it is damaged")
		is(found.Warning, "backup.broken")
		kept.outcome = nil
		w.clock.Advance(time.Second)
		is(found.Warning, "backup.old")
	})
}
