package doctor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdco/app/doctor"
	"holdco/app/retention"
	found "holdco/domain/doctor"
	"holdco/domain/id"
	kept "holdco/domain/retention"
	"holdco/ports/inbound"
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

// What is so old that a server should have removed it long ago is found, and removed.
func TestWhatShouldHaveBeenRemovedLongAgoIsFoundOnPostgresAndSQLite(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.atRest(t)
		w.awaits(t, "SELECT count(*) FROM activity WHERE id NOT IN (SELECT entry_id FROM audit_links)", func() error {
			_, err := w.activity.Chain(w.ctx)
			return err
		})
		const day = 24 * time.Hour
		of := w.patient
		of.Settings.Keep = kept.Settings{Activity: kept.Period(90 * day), Runs: kept.Period(90 * day)}
		of.Retention = retention.New(w.store, of.Vault.(outbound.Signer), noRunLogs{}, w.clock, of.Settings.Keep, nil)
		looks := func(fix bool) found.Result {
			wanted := inbound.Examination{Only: []string{"growth"}, Fix: fix, Timeout: time.Hour}
			return result(t, must[found.Report](t)(doctor.New(of).Examine(w.ctx, caller, wanted)), "growth")
		}
		w.clock.Advance(150 * day) // more than it is kept, and less than twice that
		if got := looks(false); got.Severity() != found.Note {
			t.Errorf("%s: %s", got.Severity(), got.Message())
		}
		w.clock.Advance(50 * day)
		// Deliveries, which carry entries, went in their time.
		_, err := retention.New(w.store, of.Vault.(outbound.Signer), noRunLogs{}, w.clock, kept.Settings{}, nil).Run(w.ctx)
		check(t, err)
		const says = "are older than 180d, twice the time for which they are kept"
		if got := looks(false); got.Severity() != found.Warning || got.Fixable != got.Count || !strings.Contains(got.Message(), says) {
			t.Errorf("%s: %s", got.Severity(), got.Message())
		}
		if got := looks(true); got.Fixed == 0 || got.Severity() != found.Note {
			t.Errorf("repaired: %s: %s", got.Severity(), got.Message())
		}
		if got := looks(true); got.Fixed > 0 || got.Severity() != found.Note {
			t.Errorf("repaired again: %s: %s", got.Severity(), got.Message())
		}
		if got := w.scalar(t, "SELECT count(*) FROM activity WHERE type = 'store.pruned'"); got == "0" {
			t.Error("nothing tells of the removal")
		}
	})
}
