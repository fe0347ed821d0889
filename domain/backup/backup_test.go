package backup_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/backup"
	"holdco/domain/event"
	"holdco/domain/fault"
)

func at(text string) time.Time {
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return parsed
}

func TestWhatIsKeptIsReadFromText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]backup.Selection{
		"7d,4w,6m": {Days: 7, Weeks: 4, Months: 6}, "1000d": {Days: 1000}, " 6m , 1d ": {Months: 6, Days: 1},
	} {
		if got, ok := backup.ParseSelection(text); got != want || !ok {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "7", "d", "0d", "-1d", "07d", "7d,", "7d,7d", "7y", "1001d", "7d 4w", "7d;4w", "١d"} {
		if got, ok := backup.ParseSelection(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestTheNewestOfDaysWeeksAndMonthsIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		keep     backup.Selection
		all, old []string
	}{
		{"of a day the last one", backup.Selection{Days: 2},
			[]string{"2026-04-11T01:00:00Z", "2026-04-11T23:59:59Z", "2026-04-12T00:00:00Z"}, []string{"2026-04-11T01:00:00Z"}},
		{"a leap day is a day", backup.Selection{Days: 2},
			[]string{"2028-02-28T12:00:00Z", "2028-02-29T12:00:00Z", "2028-03-01T12:00:00Z"}, []string{"2028-02-28T12:00:00Z"}},
		{"a week begins on Monday and goes over the end of a year", backup.Selection{Weeks: 2},
			[]string{"2026-12-27T12:00:00Z", "2026-12-28T12:00:00Z", "2027-01-03T12:00:00Z", "2027-01-04T12:00:00Z"},
			[]string{"2026-12-27T12:00:00Z", "2026-12-28T12:00:00Z"}},
		{"of months of any length the last one", backup.Selection{Months: 2},
			[]string{"2026-01-31T12:00:00Z", "2026-02-28T12:00:00Z", "2026-03-01T12:00:00Z"}, []string{"2026-01-31T12:00:00Z"}},
		{"days are those of UTC", backup.Selection{Days: 1},
			[]string{"2026-04-11T23:30:00-02:00", "2026-04-12T00:30:00Z"}, []string{"2026-04-12T00:30:00Z"}},
		{"the newest stays however old it is", backup.Selection{}, []string{"1999-01-01T00:00:00Z"}, nil},
		{"none", backup.Selection{Days: 1}, nil, nil},
	} {
		var all, old []time.Time
		for _, text := range c.all {
			all = append(all, at(text))
		}
		for _, text := range c.old {
			old = append(old, at(text))
		}
		if diff := cmp.Diff(old, c.keep.Old(all)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestWhatIsKeptHoldsWhateverTheDates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 8)
		keep := backup.Selection{Days: number.Draw(t, "days"), Weeks: number.Draw(t, "weeks"), Months: number.Draw(t, "months")}
		hours := rapid.SliceOfNDistinct(rapid.IntRange(0, 24*800), 0, 80, rapid.ID).Draw(t, "hours")
		var all, ascending []time.Time
		for _, hour := range hours {
			all = append(all, at("2027-11-20T00:00:00Z").Add(time.Duration(hour)*time.Hour))
		}
		ascending = slices.SortedFunc(slices.Values(all), time.Time.Compare)
		old := keep.Old(all)
		kept := slices.DeleteFunc(slices.Clone(ascending), func(one time.Time) bool { return slices.Contains(old, one) })
		if len(kept) > max(1, keep.Days+keep.Weeks+keep.Months) || len(kept)+len(old) != len(all) {
			t.Fatalf("kept %v of %v", kept, ascending)
		}
		if len(all) > 0 && (len(kept) == 0 || kept[len(kept)-1] != ascending[len(all)-1]) {
			t.Fatalf("the newest of %v went: %v", ascending, kept)
		}
		if again := keep.Old(kept); len(again) > 0 {
			t.Fatalf("what was kept of %v goes then: %v", ascending, again)
		}
		if !slices.IsSortedFunc(old, time.Time.Compare) {
			t.Fatalf("not the oldest first: %v", old)
		}
		more := keep
		more.Days++
		for _, one := range more.Old(all) {
			if !slices.Contains(old, one) {
				t.Fatalf("%v keeps %v and %v does not", keep, one, more)
			}
		}
		// To remove after each backup leaves the same as to remove once.
		var there []time.Time
		for _, one := range ascending {
			there = append(there, one)
			gone := keep.Old(there)
			there = slices.DeleteFunc(there, func(one time.Time) bool { return slices.Contains(gone, one) })
		}
		if diff := cmp.Diff(kept, there); diff != "" && len(all) > 0 {
			t.Fatalf("step by step: %s", diff)
		}
	})
}

func TestNamesOfScheduledBackups(t *testing.T) {
	t.Parallel()
	if got := backup.Name(at("2026-04-11T12:42:17+02:00")); got != "holdco-20260411T104217Z.tar.zst" {
		t.Error(got)
	}
	if got, ok := backup.ParseName("holdco-20260411T104217Z.tar.zst"); !ok || !got.Equal(at("2026-04-11T10:42:17Z")) {
		t.Error(got, ok)
	}
	for _, name := range []string{
		"", "holdco.tar.zst", "holdco-20260411T104217Z.tar", "holdco-20260230T104217Z.tar.zst", "pre-holdco-20260411T104217Z.tar.zst",
		"holdco-20260411T104217.tar.zst", "holdco-20260411T104217Z.tar.zst.age", "HOLDCO-20260411T104217Z.tar.zst",
	} {
		if got, ok := backup.ParseName(name); ok {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestNamesOfBackupsBeforeAMigration(t *testing.T) {
	t.Parallel()
	if got := backup.NameBefore("(devel)", at("2026-04-11T10:42:17Z")); got != "pre-devel-20260411T104217.000Z.tar.zst" {
		t.Error(got)
	}
	got := backup.NameBefore("v1.2.0-3-gabc/é x", at("2026-04-11T12:42:17.025+02:00"))
	if got != "pre-v1.2.0-3-gabc---x-20260411T104217.025Z.tar.zst" {
		t.Error(got)
	}
	if _, ok := backup.ParseName(got); ok {
		t.Error("it would go with old backups")
	}
	for name, want := range map[string]bool{
		got: true, backup.Name(at("2026-04-11T10:42:17Z")): true, "pre-x.tar": false, "mine.tar.zst": false, "": false,
	} {
		if backup.IsName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

func TestOneBackupIsDueHoweverManyWereMissed(t *testing.T) {
	t.Parallel()
	now, every := at("2026-04-11T10:00:00Z"), 24*time.Hour
	var s backup.Schedule
	due := func(want bool, after time.Duration) {
		t.Helper()
		if got := s.IsDue(every, now.Add(after)); got != want {
			t.Errorf("%+v is due after %s: %v", s, after, got)
		}
	}
	due(true, 0)
	s = s.Begin("a", now)
	due(false, backup.HoldTime) // it is known to have died, but is tried again later
	due(false, backup.HoldTime+time.Minute-1)
	due(true, backup.HoldTime+time.Minute)
	if _, holds := s.Renew("b", now); holds {
		t.Error("another renews it")
	}
	s, _ = s.Renew("a", now.Add(30*time.Minute))
	due(false, 31*time.Minute)
	s = s.Done(7)
	due(false, every-1)
	due(true, every)
	due(true, 100*every)
	due(true, -1) // the clock was set back
	begun := 100 * every
	for _, pause := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour} {
		failed := begun + time.Minute // it took so long
		s = s.Begin("b", now.Add(begun)).Fail(now.Add(failed))
		begun = failed + pause
		due(false, begun-1)
		due(true, begun)
		if next := s.Next(every); !next.Equal(now.Add(begun)) {
			t.Errorf("the next is at %s, not at %s", next, now.Add(begun))
		}
	}
	if next := s.Next(backup.ShortestEvery); !next.Equal(s.BegunAt.Add(backup.ShortestEvery)) {
		t.Errorf("a retry is later than the next backup: %s", next)
	}
	if !s.DoneAt.Equal(now) || s.Bytes != 7 {
		t.Errorf("%+v", s)
	}
	died := s.Begin("c", now.Add(begun))
	if next := died.Next(every); !next.Equal(died.HeldUntil.Add(time.Hour)) {
		t.Errorf("after a death it is tried at %s", next)
	}
	if again := died.Begin("d", now.Add(begun)); again.Failures != s.Failures+1 {
		t.Errorf("a death is no failure: %+v", again)
	}
	s = s.Begin("b", now.Add(begun)).Done(8)
	if s.Failures != 0 || s.Failed || !s.RetryAt.IsZero() {
		t.Errorf("%+v", s)
	}
	older := backup.Schedule{BegunAt: now, Failed: true, Failures: 2, RetryAt: now.Add(-every)} // by a program that does not count
	if next := older.Next(every); !next.Equal(now.Add(backup.RetryAfter)) {
		t.Errorf("what an older program has noted is tried at %s", next)
	}
	older.Failed = false
	if next := older.Next(every); !next.Equal(now.Add(every)) || older.Begin("b", now).Failures != 0 {
		t.Errorf("after what an older program has done the next is at %s", next)
	}
}

func manifest() backup.Manifest {
	return backup.Manifest{Format: 1, Engine: backup.Postgres, Schema: 35, Tables: []string{"companies", "teams"}, Bytes: 100}
}

func TestAManifestIsRefusedThatCannotBeRestored(t *testing.T) {
	t.Parallel()
	if err := manifest().Check(backup.Postgres, 35); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(m *backup.Manifest){
		"makes no sense":                  func(m *backup.Manifest) { *m = backup.Manifest{} },
		"makes no sense.":                 func(m *backup.Manifest) { m.Bytes = math.MaxInt64 },
		"run a newer holdco":              func(m *backup.Manifest) { m.Format = 2 },
		"versions up to 35 only":          func(m *backup.Manifest) { m.Schema = 36 },
		"a store on SQLite, and this one": func(m *backup.Manifest) { m.Engine = backup.SQLite },
		`the engine "mysql"`:              func(m *backup.Manifest) { m.Engine = "mysql" },
		`the table "a b"`:                 func(m *backup.Manifest) { m.Tables = []string{"a b"} },
		`the table "a"`:                   func(m *backup.Manifest) { m.Tables = []string{"a", "a"} },
	} {
		m := manifest()
		change(&m)
		if err := m.Check(backup.Postgres, 35); fault.CodeOf(err) != fault.InvalidFile || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestABackupHasItsEntriesAndNoOthers(t *testing.T) {
	t.Parallel()
	file := func(name string, bytes int64) backup.Entry {
		return backup.Entry{Name: name, Kind: backup.File, Bytes: bytes}
	}
	begun := func(t *testing.T, change func(m *backup.Manifest)) *backup.Reading {
		t.Helper()
		r := &backup.Reading{}
		if err := r.Admit(file(backup.ManifestName, 10)); err != nil {
			t.Fatal(err)
		}
		m := manifest()
		change(&m)
		r.Begin(m)
		return r
	}
	rows, store := func(*backup.Manifest) {}, func(m *backup.Manifest) { m.Engine = backup.SQLite }
	spaces := func(m *backup.Manifest) { m.HasSpaces = true }
	for _, c := range []struct {
		of    func(m *backup.Manifest)
		entry backup.Entry
	}{
		{rows, file("rows/companies.ndjson", 100)}, {store, file("store.db", 100)}, {spaces, file("workspaces/cmp_1/..x/a b", 1<<40)},
		{spaces, backup.Entry{Name: "workspaces/cmp_1", Kind: backup.Folder}}, {rows, file("sums.json", 100)},
		{spaces, backup.Entry{Name: "workspaces/cmp_1/x", Kind: backup.Link, Target: "/etc/passwd"}},
	} {
		if err := begun(t, c.of).Admit(c.entry); err != nil {
			t.Errorf("%+v: %v", c.entry, err)
		}
	}
	for _, c := range []struct {
		of    func(m *backup.Manifest)
		entry backup.Entry
	}{
		{rows, file("rows/companies.ndjson", 101)}, {rows, file("rows/other.ndjson", 1)}, {rows, file("rows/../companies.ndjson", 1)},
		{rows, file("store.db", 1)}, {store, file("rows/companies.ndjson", 1)}, {store, file("/store.db", 1)},
		{store, file("../store.db", 1)}, {store, backup.Entry{Name: "store.db", Kind: backup.Link, Target: "/etc/passwd"}},
		{store, backup.Entry{Name: "store.db", Kind: backup.Other}}, {store, file("store.db", -1)},
		{rows, file("workspaces/a", 1)}, {spaces, file("workspaces/../a", 1)}, {spaces, file("workspaces//a", 1)},
		{spaces, file("workspaces/", 1)}, {spaces, file("workspaces/a/./b", 1)}, {spaces, file("workspaces/a\x00", 1)},
		{spaces, file(`workspaces/a\..\b`, 1)}, {spaces, backup.Entry{Name: "workspaces/a", Kind: backup.Other}},
		{rows, file("manifest.json", 1)}, {rows, file("sums.json", backup.MostSums+1)},
		{rows, backup.Entry{Name: "sums.json", Kind: backup.Link}},
	} {
		if err := begun(t, c.of).Admit(c.entry); fault.CodeOf(err) != fault.InvalidFile {
			t.Errorf("%+v: %v", c.entry, err)
		}
	}
	for _, first := range []backup.Entry{file("store.db", 1), file("manifest.json", backup.MostManifest+1), {Name: "manifest.json"}} {
		if err := (&backup.Reading{}).Admit(first); fault.CodeOf(err) != fault.InvalidFile {
			t.Errorf("%+v: %v", first, err)
		}
	}
	device := begun(t, store).Admit(backup.Entry{Name: "store.db", Kind: backup.Other})
	if device == nil || !strings.Contains(device.Error(), `it has the entry "store.db", which is neither a file nor a folder`) {
		t.Error(device)
	}
	twice := begun(t, rows)
	if err := twice.Admit(file("rows/teams.ndjson", 1)); err != nil {
		t.Error(err)
	}
	if err := twice.Admit(file("rows/teams.ndjson", 1)); fault.CodeOf(err) != fault.InvalidFile {
		t.Error(err)
	}
	if err := twice.Admit(file("rows/companies.ndjson", math.MaxInt64)); fault.CodeOf(err) != fault.InvalidFile {
		t.Errorf("sizes overflow: %v", err)
	}
	late := begun(t, spaces)
	for _, name := range []string{"rows/teams.ndjson", "workspaces/a"} {
		if err := late.Admit(file(name, 1)); err != nil {
			t.Error(err)
		}
	}
	if err := late.Admit(file("rows/companies.ndjson", 1)); fault.CodeOf(err) != fault.InvalidFile {
		t.Error(err)
	}
	ended := begun(t, rows)
	if err := ended.Admit(file("sums.json", 1)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"rows/teams.ndjson", "sums.json"} {
		if err := ended.Admit(file(name, 1)); fault.CodeOf(err) != fault.InvalidFile {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABackupIsWhatItsSumsSay(t *testing.T) {
	t.Parallel()
	read := []backup.Sum{{"manifest.json", 10, "a", 0}, {"rows/companies.ndjson", 20, "b", 2}, {"rows/teams.ndjson", 0, "c", 0}}
	for name, c := range map[string]struct {
		cut    bool
		change func(s *backup.Sums)
		want   string // empty: it is whole
	}{
		"whole":             {change: func(*backup.Sums) {}},
		"cut off":           {cut: true, change: func(*backup.Sums) {}, want: "cut off"},
		"an entry too many": {change: func(s *backup.Sums) { s.Entries = s.Entries[:2] }, want: `"rows/teams.ndjson" is not in`},
		"one too few": {
			change: func(s *backup.Sums) { s.Entries = append(s.Entries, backup.Sum{Name: "x"}) }, want: `"x" is missing`,
		},
		"other bytes":   {change: func(s *backup.Sums) { s.Entries[1].SHA256 = "x" }, want: `"rows/companies.ndjson" is not what`},
		"other rows":    {change: func(s *backup.Sums) { s.Entries[1].Rows = 3 }, want: `"rows/companies.ndjson" is not what`},
		"other counts":  {change: func(s *backup.Sums) { s.Rows["companies"] = 3 }, want: `"rows/companies.ndjson" is not what`},
		"another table": {change: func(s *backup.Sums) { s.Rows["x"] = 3 }, want: `the table "x"`},
	} {
		var r backup.Reading
		r.Begin(manifest())
		for _, one := range read {
			r.Note(one)
		}
		if !c.cut {
			if err := r.Admit(backup.Entry{Name: "sums.json", Kind: backup.File}); err != nil {
				t.Error(err)
			}
		}
		sums := backup.Sums{Entries: slices.Clone(read), Rows: map[string]int64{"companies": 2, "teams": 0}}
		c.change(&sums)
		err := r.End(sums)
		isRefused := fault.CodeOf(err) == fault.InvalidFile && strings.Contains(err.Error(), c.want)
		if c.want == "" && err != nil || c.want != "" && !isRefused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsSaidOfABackup(t *testing.T) {
	t.Parallel()
	made := backup.Written{
		Manifest: backup.Manifest{Schema: 4, Key: "8f4513fcaf98fd72"}, Size: 211_000_001, Took: 8100 * time.Millisecond,
		Rows: map[string]int64{"leads": 500_000, "companies": 12}, File: "/backup/x", Verified: true,
	}
	if got := made.Summary() + " " + made.KeyNote(); got !=
		"212 MB, schema 4, 500000 leads, 12 companies, 8.1s It needs the key 8f4513fcaf98fd72." {
		t.Error(got)
	}
	made.FormerKey = "former"
	if got := made.KeyNote(); got != "It needs the keys 8f4513fcaf98fd72 and former." {
		t.Error(got)
	}
	want := `{"file":"/backup/x","bytes":211000001,"schema":4,"rows":{"companies":12,"leads":500000},"took":"8.1s",` +
		`"keyFingerprint":"8f4513fcaf98fd72","verified":true}`
	if got := string(made.Fields().Append(nil)); got != want {
		t.Error(got)
	}
	for bytes, want := range map[int64]string{0: "0 kB", 1: "1 kB", 999_999: "1000 kB", 1_000_000: "1 MB", 9_999_999_999: "10000 MB",
		10_000_000_001: "11 GB"} {
		if got := backup.Size(bytes); got != want {
			t.Errorf("%d: %s", bytes, got)
		}
	}
	for what, got := range map[event.Type]event.Event{
		event.BackupCompleted: made.Completed(), event.BackupFailed: backup.Failure("no room"),
		event.StoreRestored: made.Event(backup.Aftermath{Leases: 2, Webhooks: 3}),
	} {
		if got.Type != what || got.Company != "" || got.Subject.Type != "store" || len(got.Data) == 0 {
			t.Errorf("%+v", got)
		}
	}
}
