package backups_test

import (
	"context"
	"testing"
	"time"

	"holdco/app/backups"
	"holdco/domain/backup"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// A database may end sessions that do nothing for long: that with the locks of a restoration waits for all the others.
func TestTimeoutsOfTheDatabaseEndNoRestorationOnPostgres(t *testing.T) {
	t.Parallel()
	from := onPostgres(t, true)
	from.record(t)
	file := from.path("b.tar.zst")
	from.write(t, inbound.BackupWanted{File: file})
	to := onPostgres(t, false)
	to.execute(t, `DO $$ DECLARE one text; BEGIN
		FOREACH one IN ARRAY ARRAY['lock_timeout', 'statement_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout']
		LOOP EXECUTE format('ALTER DATABASE %I SET %s = 1000', current_database(), one); END LOOP;
	END $$`)
	parts := to.parts
	parts.Target = pausing{parts.Target}
	restored := must[backup.Restored](t)(backups.New(parts).Restore(t.Context(), caller, inbound.RestoreWanted{File: file}))
	if restored.Rows["activity"] != 1 {
		t.Errorf("%+v", restored.Rows)
	}
}

// pausing is a target that does nothing for a while.
type pausing struct{ store.Target }

func (p pausing) Begin(ctx context.Context, of backup.Manifest, replaces bool) (store.Restoration, error) {
	begun, err := p.Target.Begin(ctx, of, replaces)
	time.Sleep(2 * time.Second)
	return begun, err
}
