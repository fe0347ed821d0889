package doctor_test

import (
	"fmt"
	"testing"
	"time"

	"holdco/app/retention"
	found "holdco/domain/doctor"
	"holdco/domain/id"
	kept "holdco/domain/retention"
	"holdco/ports/outbound"
)

// noRunLogs is a host without logs of runs.
type noRunLogs struct{}

func (noRunLogs) WrittenBefore(time.Time) ([]outbound.OldRunLog, error) { return nil, nil }

func (noRunLogs) Remove(id.Company, id.Run) error { return nil }

func TestNothingIsMissingFromAPrunedStoreOnPostgresAndSQLite(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.atRest(t)
		const unchained = "SELECT count(*) FROM activity WHERE id NOT IN (SELECT entry_id FROM audit_links)"
		chain := func() error {
			_, err := w.activity.Chain(w.ctx)
			return err
		}
		w.awaits(t, unchained, chain)
		const day = 24 * time.Hour
		settings := kept.Settings{Activity: kept.Period(90 * day), Audit: kept.Period(365 * day), Runs: kept.Period(90 * day)}
		prunes := retention.New(w.store, w.patient.Vault.(outbound.Signer), noRunLogs{}, w.clock, settings, nil)
		for _, days := range []time.Duration{120, 300} {
			w.clock.Advance(days * day)
			_, err := prunes.Run(w.ctx)
			check(t, err)
			w.isWell(t)
		}
		const telling = "SELECT count(*) FROM activity WHERE type IN ('company.created', 'issue.created', 'token.created')"
		if left := w.scalar(t, telling); left != "0" {
			t.Fatalf("%s entries that tell of what was made are left", left)
		}

		_, err := w.file(nil)
		check(t, err)
		newest := w.scalar(t, "SELECT id FROM activity ORDER BY txid DESC, seq DESC LIMIT 1")
		w.awaits(t, unchained, chain)
		w.awaits(t, "SELECT (SELECT count(*) FROM queues WHERE cursor IS NOT NULL) + (SELECT count(*) FROM activity WHERE unqueued = 1)",
			w.sends)
		one := "UPDATE activity SET type = 'issue.%s' WHERE id = '" + newest + "'"
		w.exec(t, fmt.Sprintf(one, "updated"))
		if got := result(t, w.examine(t, false), "activity"); got.Severity() != found.Error || got.Examples[0].Rule != "activity.made" {
			t.Errorf("of what was made after the removal: %s", got.Message())
		}
		w.exec(t, fmt.Sprintf(one, "created"))
		w.isWell(t)

		w.exec(t, "UPDATE audit_stubs SET removed = removed + 1 WHERE chain = '"+string(w.of)+"'")
		if got := result(t, w.examine(t, false), "activity"); got.Count != 1 || got.Examples[0].Rule != "activity.stub" {
			t.Errorf("of a stub that was changed: %s", got.Message())
		}
		w.exec(t, "UPDATE audit_stubs SET removed = removed - 1 WHERE chain = '"+string(w.of)+"'")
		w.isWell(t)
	})
}
