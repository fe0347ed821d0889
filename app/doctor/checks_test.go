package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/app/doctor"
	found "holdco/domain/doctor"
	"holdco/domain/id"
	"holdco/domain/secret"
	"holdco/ports/inbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

// harm is what somebody has done beside the program.
type harm struct {
	name     string
	does     string // a statement
	undoes   string // the statement that puts it back; empty: --fix does
	check    string // the only one that finds it
	severity found.Severity
	rules    string // of what it finds
}

// suffers does harm, and fails unless just one check finds it, with the rule that is broken; --fix mends it, if anything can, and the
// second time changes nothing.
func (w *world) suffers(t *testing.T, of harm) {
	t.Helper()
	w.exec(t, of.does)
	w.isSick(t, of)
	if of.undoes != "" {
		w.exec(t, of.undoes)
		w.isWell(t)
		return
	}
	w.isCured(t, of)
}

func (w *world) isSick(t *testing.T, of harm) {
	t.Helper()
	report := w.examine(t, false)
	for _, one := range report.Checks {
		var rules []string
		for _, example := range one.Examples {
			rules = append(rules, example.Rule)
		}
		switch severity := one.Severity(); {
		case one.Name == of.check:
			if got := strings.Join(rules, " "); severity != of.severity || got != of.rules || of.undoes == "" && one.Fixable != one.Count {
				t.Errorf("%s: %s (%s): %s; want %s (%s)", of.name, severity, got, one.Message(), of.severity, of.rules)
			}
		case severity != found.OK && severity != found.Note:
			t.Errorf("%s: %s: %s: %s", of.name, one.Name, severity, one.Message())
		}
	}
}

func (w *world) isCured(t *testing.T, of harm) {
	t.Helper()
	before := w.repairs(t)
	if one := result(t, w.examine(t, true), of.check); one.Severity() != found.Note || one.Fixed != one.Count || one.Fixed == 0 {
		t.Errorf("%s: %s", of.name, one.Message())
	}
	kept := w.dump()
	if after := w.repairs(t); len(after) != len(before)+1 {
		t.Errorf("%s: %d repairs are recorded", of.name, len(after)-len(before))
	}
	if one := result(t, w.examine(t, true), of.check); one.Severity() != found.OK {
		t.Errorf("%s, again: %s", of.name, one.Message())
	}
	if diff := cmp.Diff(kept, w.dump()); diff != "" {
		t.Errorf("%s: the second time changes %s", of.name, diff)
	}
	w.isWell(t)
}

// awaits does something again and again until a query finds 0.
func (w *world) awaits(t *testing.T, none string, does func() error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); w.scalar(t, none) != "0"; time.Sleep(time.Millisecond) {
		if check(t, does()); time.Now().After(deadline) {
			t.Fatal("it does not happen: " + none)
		}
	}
}

// atRest makes a world in which all was sent and, but for the two newest entries, chained.
func (w *world) atRest(t *testing.T) (newest, before string) {
	t.Helper()
	w.settled(t)
	_, err := w.secrets.Set(w.ctx, caller, w.of, "anthropic", secret.Draft{Category: new("api_key")}, []byte("x"))
	check(t, err)
	w.awaits(t, "SELECT count(*) FROM activity WHERE id NOT IN (SELECT entry_id FROM audit_links)", func() error {
		_, err := w.activity.Chain(w.ctx) // of what no transaction of the server can come before, of other tests say
		return err
	})
	for range 2 {
		_, err := w.file(nil)
		check(t, err)
	}
	w.clock.Advance(2 * time.Minute)
	w.awaits(t, "SELECT (SELECT count(*) FROM queues WHERE cursor IS NOT NULL) + (SELECT count(*) FROM activity WHERE unqueued = 1)",
		w.sends)
	w.isWell(t)
	last := func(offset int) string {
		return w.scalar(t, fmt.Sprintf("SELECT id FROM activity ORDER BY txid DESC, seq DESC LIMIT 1 OFFSET %d", offset))
	}
	return last(0), last(1)
}

func TestWhatIsWrongOnPostgresAndSQLiteIsFoundByOneCheckAlone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		newest, before := w.atRest(t)
		chained := w.scalar(t, "SELECT entry_id FROM audit_heads WHERE chain <> ''")
		updatedAt := w.scalar(t, "SELECT updated_at FROM companies")
		row := func(id string) string { return " WHERE id = '" + id + "'" }
		for _, one := range []harm{
			{
				"an entry", "UPDATE activity SET type = 'issue.updated'" + row(before),
				"UPDATE activity SET type = 'issue.created'" + row(before),
				"activity", found.Error, "activity.made",
			},
			{
				"an entry of tomorrow", "UPDATE activity SET at = at + 86400000" + row(before),
				"UPDATE activity SET at = at - 86400000" + row(before),
				"activity", found.Error, "activity.at",
			},
			{
				"a place", "UPDATE activity SET txid = -1 - txid" + row(chained), "UPDATE activity SET txid = -1 - txid" + row(chained),
				"activity", found.Error, "activity.place",
			},
			{
				"places of another database", "UPDATE activity SET txid = txid + 4611686018427387904" + row(newest),
				"UPDATE activity SET txid = txid - 4611686018427387904" + row(newest),
				"activity", found.Warning, "activity.place",
			},
			{
				"an actor", "UPDATE activity SET actor = 'x' || actor" + row(chained),
				"UPDATE activity SET actor = substr(actor, 2)" + row(chained),
				"activity", found.Error, "activity.chain",
			},
			{
				"the newest entry", "UPDATE activity SET at = at + 86400000" + row(newest),
				"UPDATE activity SET at = at - 86400000" + row(newest),
				"clock", found.Error, "clock.newest",
			},
			{
				"a gap", "UPDATE queues SET cursor = (SELECT length FROM outbox); " +
					"UPDATE activity SET position = -position WHERE position = (SELECT length FROM outbox)",
				"UPDATE queues SET cursor = NULL; UPDATE activity SET position = -position WHERE position < 0",
				"outbox", found.Error, "outbox.gap",
			},
			{
				"a cursor", "UPDATE queues SET cursor = (SELECT length + 2 FROM outbox)", "UPDATE queues SET cursor = NULL",
				"outbox", found.Error, "outbox.cursor",
			},
			{"a length", "UPDATE outbox SET length = length - 1", "", "outbox", found.Error, "outbox.length"},
			{
				"no length", "UPDATE outbox SET length = 0; UPDATE queues SET cursor = (SELECT max(position) + 1 FROM activity)",
				"UPDATE queues SET cursor = NULL; UPDATE outbox SET length = (SELECT max(position) FROM activity)",
				"outbox", found.Error, "outbox.length",
			},
			{
				"an endpoint", "UPDATE deliveries SET webhook_id = 'x' || webhook_id",
				"UPDATE deliveries SET webhook_id = substr(webhook_id, 2)",
				"outbox", found.Error, "delivery.endpoint",
			},
			{"a lease", "UPDATE queues SET lease = 'x', leased_until = 1", "", "outbox", found.Error, "queue.lease"},
			{
				"a date", "UPDATE companies SET archived_at = 1", "UPDATE companies SET archived_at = NULL",
				"companies", found.Error, "company.archived_at",
			},
			{
				"a state", "UPDATE companies SET status = 'banana' WHERE status = 'active'",
				"UPDATE companies SET status = 'active' WHERE status = 'banana'", "companies", found.Error, "company.status",
			},
			{
				"a removal", "UPDATE companies SET status = 'deleting', deleted_by = 'token:x', updated_at = 1",
				"UPDATE companies SET status = 'active', deleted_by = '', updated_at = " + updatedAt,
				"companies", found.Warning, "company.deleting",
			},
			{
				"no entry", "CREATE TABLE aside AS SELECT * FROM lead_entries WHERE key = 2; DELETE FROM lead_entries WHERE key = 2",
				"INSERT INTO lead_entries SELECT * FROM aside; DROP TABLE aside", "leads", found.Error, "lead.entries",
			},
			{
				"a name", "UPDATE lead_entries SET entry = replace(entry, 'Lead 4', 'Lead x')",
				"UPDATE lead_entries SET entry = replace(entry, 'Lead x', 'Lead 4')", "leads", found.Error, "lead.digest",
			},
			{"a label", "UPDATE leads SET labels = ' ' WHERE key = 2", "", "leads", found.Error, "lead.entry"},
			{"a revision", "UPDATE leads SET revision = 0 WHERE key = 4", "", "leads", found.Error, "lead.entry"},
			{
				"what is sealed", "UPDATE webhooks SET secret = 'v2:' || secret", "UPDATE webhooks SET secret = substr(secret, 4)",
				"key", found.Error, "key.sealed",
			},
			{
				"another key", "UPDATE instance_key SET fingerprint = 'x' || fingerprint",
				"UPDATE instance_key SET fingerprint = substr(fingerprint, 2)", "key", found.Error, "key.file",
			},
			{
				"no admin", "UPDATE tokens SET scopes = 'read'", "UPDATE tokens SET scopes = 'admin'",
				"tokens", found.Warning, "token.admin",
			},
		} {
			w.suffers(t, one)
		}
		w.exec(t, "UPDATE tokens SET created_at = 1")
		if one := result(t, w.examine(t, false), "tokens"); one.Severity() != found.Note || one.Examples[0].Rule != "token.unused" {
			t.Error(one.Message())
		}
	})
}

func TestASchemaThatIsNotAsInANewStoreOnPostgresOrSQLiteIsFound(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.exec(t, "CREATE TABLE _other_program (id INTEGER); CREATE INDEX goals_mine ON goals (title)")
		for _, one := range []harm{
			{
				"an index", "DROP INDEX campaigns_by_place", "CREATE INDEX campaigns_by_place ON campaigns (updated_at, id)",
				"store.schema", found.Error, "schema",
			},
			{
				"a column", "ALTER TABLE geographies RENAME COLUMN slug TO sulg", "ALTER TABLE geographies RENAME COLUMN sulg TO slug",
				"store.schema", found.Error, "schema",
			},
		} {
			w.also = []string{"store.schema"}
			w.exec(t, one.does)
			w.isSick(t, one)
			w.also = nil
			w.exec(t, one.undoes)
		}
		w.also = long
		w.isWell(t)
	})
}

func TestWhatIsDamagedInSQLiteIsFound(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, w *world) {
		w.also = long
		w.suffers(t, harm{
			"a reference", "INSERT INTO audit_heads (chain, company_id, number, entry_id, hash, chained_at) " +
				"VALUES ('x', 'x', 1, 'x', '', 1)",
			"DELETE FROM audit_heads WHERE chain = 'x'", "store.integrity", found.Error, "store.integrity",
		})
		const define = "UPDATE sqlite_schema SET sql = 'CREATE INDEX campaigns_by_place ON campaigns (updated_at, id)%s' " +
			"WHERE name = 'campaigns_by_place'"
		w.sql.SetMaxOpenConns(1)
		version := 1000
		redefine := func(condition string) string {
			version++
			return fmt.Sprintf("PRAGMA writable_schema = ON; "+define+"; PRAGMA schema_version = %d; PRAGMA writable_schema = RESET",
				condition, version)
		}
		w.suffers(t, harm{
			name: "an index",
			does: redefine(" WHERE updated_at < 0") + "; INSERT INTO campaigns VALUES ('cpg_1', 'A', 'active', '', '', '', 0, 1, 1, 0); " +
				redefine(""),
			check: "store.integrity", severity: found.Error, rules: "store.integrity",
		})
	})
}

func TestAnIndexThatIsNotValidOnPostgresIsMadeAnew(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, w *world) {
		w.also = []string{"store.integrity"}
		w.suffers(t, harm{
			"an index", "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'campaigns_by_place'::regclass", "",
			"store.integrity", found.Error, "store.integrity",
		})
		w.exec(t, "ALTER TABLE slots DROP CONSTRAINT slots_team_id_fkey; ALTER TABLE slots ADD CONSTRAINT slots_team_id_fkey "+
			"FOREIGN KEY (team_id) REFERENCES teams (id) NOT VALID")
		w.also = long
		for _, check := range []string{"store.schema", "store.integrity"} { // it is not as in a new store either
			if one := result(t, w.examine(t, false), check); one.Severity() != found.Error || one.Count != 1 {
				t.Errorf("%s: %s", check, one.Message())
			}
		}
	})
}

func TestWhatIsBesideTheStoreIsFoundAndMended(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, w *world) {
		w.clock.Advance(2 * time.Minute)
		key := filepath.Join(w.data, "key")
		check(t, os.Chmod(key, 0o644))
		exposed := harm{name: "mode", check: "key", severity: found.Error, rules: "key.mode"}
		w.isSick(t, exposed)
		right, another := must[[]byte](t)(os.ReadFile(key)), "holdco-key-v1:"+strings.Repeat("A", 43)+"=\n"
		check(t, os.WriteFile(key, []byte(another), 0o600)) // its mode stays
		one := result(t, w.examine(t, false), "key")
		if one.Count != 2 || one.Fixable != 1 || one.Examples[1].Rule != "key.file" ||
			!strings.Contains(one.Examples[1].Text, "no key file has") {
			t.Errorf("another key, open to others: %+v", one)
		}
		check(t, os.WriteFile(key, right, 0o600))
		w.isCured(t, exposed)
		if info := must[os.FileInfo](t)(os.Stat(key)); info.Mode().Perm() != 0o600 {
			t.Errorf("its mode is %v", info.Mode())
		}

		folder := filepath.Join(w.data, "workspaces")
		check(t, os.Remove(filepath.Join(folder, string(w.of))))
		missing := harm{name: "no directory", check: "workspaces", severity: found.Warning, rules: "workspace.missing"}
		w.isSick(t, missing)
		w.isCured(t, missing)

		none := string(id.New[id.Company]([16]byte{15: 1}))
		stray := harm{name: "a directory", check: "workspaces", severity: found.Warning, rules: "workspace.stray"}
		for _, name := range []string{none, none + ".1"} {
			check(t, os.MkdirAll(filepath.Join(folder, none, "work"), 0o700))
			w.isSick(t, stray)
			w.isCured(t, stray)
			must[os.FileInfo](t)(os.Stat(filepath.Join(folder, ".stray", name, "work")))
		}

		check(t, os.Remove(key))
		w.isSick(t, harm{name: "no key", undoes: "-", check: "key", severity: found.OK}) // the vault has it
	})
}

func TestWithoutRoomADiskIsAnError(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, w *world) {
		patient := w.patient
		patient.Disk = room(50 << 20)
		w.doctor = doctor.New(patient)
		w.isSick(t, harm{name: "no room", undoes: "-", check: "disk", severity: found.Error, rules: "disk.room"})
		patient.Disk, patient.Settings.BackupDir = roomAt{"/backups": 1 << 10}, "/backups"
		report, err := doctor.New(patient).Examine(t.Context(), caller, inbound.Examination{Only: []string{"disk"}, Timeout: time.Minute})
		check(t, err)
		one := report.Checks[0]
		if one.Severity() != found.Warning || !strings.Contains(one.Message(), "left at /backups, and a backup of") {
			t.Errorf("no room for a backup: %+v", one)
		}
		patient.Settings.BackupDir = ""
		patient.Disk, patient.Inspector = room(1<<40), &longLog{Inspector: patient.Inspector, log: 2 << 30}
		w.doctor = doctor.New(patient)
		long := harm{name: "a long log", check: "disk", severity: found.Warning, rules: "disk.log"}
		w.isSick(t, long)
		w.isCured(t, long)
		w.exec(t, "CREATE TABLE filler (x BLOB); INSERT INTO filler VALUES (zeroblob(30000000)); DROP TABLE filler")
		w.suffers(t, harm{"free pages", "SELECT 1", "VACUUM", "disk", found.Warning, "disk.free_pages"})
	})
}

func TestWhoseClockIsWrongIsTold(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		patient, ahead := w.patient, storetest.NewClock()
		ahead.Advance(time.Hour)
		patient.Clock = ahead
		w.doctor = doctor.New(patient)
		w.isSick(t, harm{name: "a clock", undoes: "-", check: "clock", severity: found.Error, rules: "clock.store"})
	})
}

// What cannot be looked at because of something else is skipped, and that is said, whatever was asked for.
func TestWhatKeepsChecksFromRunningIsSaid(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		says := func(of doctor.Patient, check, message string, skipped int) {
			t.Helper()
			for _, only := range [][]string{nil, {"issues"}} {
				report := must[found.Report](t)(doctor.New(of).Examine(w.ctx, caller, inbound.Examination{Only: only, Timeout: time.Hour}))
				one, n := result(t, report, check), 0
				if one.Severity() != found.Error || !strings.Contains(one.Message(), message) {
					t.Errorf("%s: %s", one.Severity(), one.Message())
				}
				for _, other := range report.Checks {
					if other.Severity() == found.Skipped {
						n++
					}
				}
				if only == nil && n != skipped || only != nil && (n != 1 || len(report.Checks) != 2) {
					t.Errorf("%v: %d are skipped", only, n)
				}
			}
		}
		all := len(doctor.Checks())
		wrong := doctor.Settings{Wrong: []string{"HOLDCO_X must be 1"}}
		says(doctor.Patient{Clock: w.clock, Settings: wrong}, "config", "HOLDCO_X must", all-1)
		says(doctor.Patient{Clock: w.clock, Closed: errors.New("there is no store")}, "store.open", "there is no store", all-2)
		w.exec(t, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
		says(w.patient, "store.schema", "run: holdco migrate up", all-6)

		unknown := w.patient
		unknown.Settings.Unknown = []string{"the variable HOLDCO_X is not known"}
		wanted := inbound.Examination{Timeout: time.Hour, Only: []string{"config"}}
		one := result(t, must[found.Report](t)(doctor.New(unknown).Examine(w.ctx, caller, wanted)), "config")
		if one.Severity() != found.Warning || one.Message() != unknown.Settings.Unknown[0] {
			t.Error(one.Message())
		}
	})
}

// longLog is a store with a long log, until it is truncated.
type longLog struct {
	store.Inspector
	log int64
}

func (l *longLog) Space(ctx context.Context) (found.Space, error) {
	space, err := l.Inspector.Space(ctx)
	space.Log = l.log
	return space, err
}

func (l *longLog) TruncateLog(ctx context.Context) error {
	l.log = 0
	return l.Inspector.TruncateLog(ctx)
}

func TestWhatAKilledRestorationHasLeftIsRemovedOnPostgres(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, w *world) {
		w.also = []string{"growth"}
		w.exec(t, "CREATE SCHEMA holdco_restoring_x CREATE TABLE companies (id text)")
		w.isSick(t, harm{name: "a schema", check: "growth", severity: found.Warning, rules: "growth.restoration"})
		before := len(w.repairs(t))
		if one := result(t, w.examine(t, true), "growth"); one.Fixed != 1 {
			t.Errorf("%+v", one)
		}
		if got := len(w.repairs(t)); got != before+1 {
			t.Errorf("%d repairs are recorded", got-before)
		}
		if got := w.scalar(t, "SELECT count(*) FROM pg_namespace WHERE nspname = 'holdco_restoring_x'"); got != "0" {
			t.Error("it is still there")
		}
		w.isWell(t)
	})
}

func TestTheDocumentsHaveTheTableOfChecks(t *testing.T) {
	t.Parallel()
	document := string(must[[]byte](t)(os.ReadFile("../../OPERATING.md")))
	if table := found.Table(doctor.Checks()); !strings.Contains(document, table) {
		t.Errorf("OPERATING.md lacks this table:\n%s", table)
	}
}
