package backups_test

import (
	"archive/tar"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/klauspost/compress/zstd"

	"holdco/adapters/archive"
	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/adapters/system/vault"
	"holdco/adapters/system/workspaces"
	"holdco/app/backups"
	"holdco/app/doctor"
	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

var caller = access.System("test")

// place is where a store is, or is to be.
type place struct {
	*backups.Service
	parts backups.Parts
	dir   string                                        // for files
	open  func(t *testing.T) (storetest.Opened, func()) // the store, as a command would open it
	count func(t *testing.T, table string) int

	execute func(t *testing.T, statements ...string)
	migrate func(t *testing.T, version int64)

	migrator func(t *testing.T) (outbound.Migrator, store.Store, func())
	serve    func(t *testing.T) (stop func()) // as a server, which has the store until it stops
	clock    *storetest.Clock
	ids      *storetest.IDs
}

// onBoth runs a test on both engines. Each call of the function that the test gets makes another place, with an empty store that has the
// schema, or none at all.
func onBoth(t *testing.T, test func(t *testing.T, another func(migrated bool) place)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, func(migrated bool) place { return onSQLite(t, migrated) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, func(migrated bool) place { return onPostgres(t, migrated) })
	})
}

func partsOf(t *testing.T, engine string) (backups.Parts, string) {
	dir := t.TempDir()
	clock := system.Clock{}
	return backups.Parts{
		Engine: engine, Archives: archive.Archives{}, Spaces: workspaces.NewCopies(dir), Vault: vault.New(filepath.Join(dir, "key")),
		IDs: system.IDs{}, Clock: clock,
		Doctor: func(of store.Restored) inbound.Doctor {
			return doctor.New(doctor.Patient{Clock: clock, Store: of.Store, Inspector: of.Inspector, Migrator: of.Migrator})
		},
		Checks: doctor.OfStore(),
	}, dir
}

func onSQLite(t *testing.T, migrated bool) place {
	t.Helper()
	parts, dir := partsOf(t, backup.SQLite)
	path := filepath.Join(dir, "holdco.db")
	if migrated {
		check(t, os.WriteFile(path, sqlitetest.Image(t), 0o600))
	}
	parts.Source = sqlite.NewSource(path)
	parts.Target = must[*sqlite.Target](t)(sqlite.NewTarget(path, system.Clock{}, system.IDs{}))
	p := place{Service: backups.New(parts), parts: parts, dir: dir, clock: storetest.NewClock(), ids: storetest.NewIDs()}
	p.open = func(t *testing.T) (storetest.Opened, func()) {
		engine := must[*sqlite.Engine](t)(sqlite.Open(t.Context(), sqlite.Options{
			Path: path, MustExist: true, Synchronous: sqlite.Normal, UnitTimeout: time.Minute,
		}))
		return storetest.Opened{
			Store: sqlstore.New(engine, p.clock, p.ids, engine.Migrator()),
			Dump: storetest.Dumping(t, engine.DB().DB, `SELECT name FROM sqlite_schema
				WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' AND name <> 'goose_db_version'`),
		}, func() { check(t, engine.Close()) }
	}
	p.count, p.execute = onDatabase("sqlite", path)
	open := func(t *testing.T, options sqlite.Options) *sqlite.Engine {
		options.Path, options.Synchronous = path, sqlite.Normal
		return must[*sqlite.Engine](t)(sqlite.Open(t.Context(), options))
	}
	p.migrate = func(t *testing.T, version int64) {
		engine := open(t, sqlite.Options{})
		check(t, errors.Join(engine.Migrator().UpTo(t.Context(), version), engine.Close()))
	}
	p.migrator = func(t *testing.T) (outbound.Migrator, store.Store, func()) {
		engine := open(t, sqlite.Options{Exclusive: true})
		return engine.Migrator(), sqlstore.New(engine, system.Clock{}, system.IDs{}, engine.Migrator()), func() { check(t, engine.Close()) }
	}
	p.serve = func(t *testing.T) func() {
		engine := open(t, sqlite.Options{Exclusive: true})
		return func() { check(t, engine.Close()) }
	}
	return p
}

func onPostgres(t *testing.T, migrated bool) place {
	t.Helper()
	if migrated {
		return onPostgresAt(t, postgrestest.URL(t))
	}
	return onPostgresAt(t, postgrestest.EmptyURL(t))
}

func onPostgresAt(t *testing.T, address string) place {
	t.Helper()
	parts, dir := partsOf(t, backup.Postgres)
	options := postgres.Options{URL: address, Wait: 5 * time.Second}
	restoring := options
	restoring.Restores = true
	engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), restoring))
	t.Cleanup(func() { check(t, engine.Close()) })
	parts.Source = engine.Source()
	parts.Target = must[*postgres.Target](t)(engine.Target(options, system.Clock{}, system.IDs{}))
	p := place{Service: backups.New(parts), parts: parts, dir: dir, clock: storetest.NewClock(), ids: storetest.NewIDs()}
	p.open = func(t *testing.T) (storetest.Opened, func()) {
		engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), options))
		return storetest.Opened{
			Store: sqlstore.New(engine, p.clock, p.ids, engine.Migrator()).WithClock(p.clock),
			Dump: storetest.Dumping(t, engine.DB().DB, `SELECT relname FROM pg_class WHERE relkind = 'r'
				AND relnamespace = 'public'::regnamespace AND relname <> 'goose_db_version' AND relname NOT LIKE 'turns!___' ESCAPE '!'`),
		}, func() { check(t, engine.Close()) }
	}
	p.count, p.execute = onDatabase("pgx", options.URL)
	p.migrate = func(t *testing.T, version int64) { check(t, engine.Migrator().UpTo(t.Context(), version)) }
	p.migrator = func(*testing.T) (outbound.Migrator, store.Store, func()) {
		return engine.Migrator(), sqlstore.New(engine, system.Clock{}, system.IDs{}, engine.Migrator()), func() {}
	}
	p.serve = func(t *testing.T) func() {
		options := options
		options.Server = true
		engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), options))
		return func() { check(t, engine.Close()) }
	}
	return p
}

// onDatabase are what a test asks a database for, and does to it, behind the back of the store.
func onDatabase(driver, address string) (count func(t *testing.T, table string) int, execute func(t *testing.T, statements ...string)) {
	with := func(t *testing.T, use func(db *sql.DB)) {
		t.Helper()
		db := must[*sql.DB](t)(sql.Open(driver, address))
		defer db.Close()
		use(db)
	}
	count = func(t *testing.T, table string) (found int) {
		t.Helper()
		with(t, func(db *sql.DB) {
			check(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&found))
		})
		return found
	}
	execute = func(t *testing.T, statements ...string) {
		t.Helper()
		with(t, func(db *sql.DB) {
			for _, statement := range statements {
				must[sql.Result](t)(db.ExecContext(t.Context(), statement))
			}
		})
	}
	return count, execute
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		check(t, err)
		return value
	}
}

func (p place) path(name string) string { return filepath.Join(p.dir, name) }

// write writes a backup, which must succeed.
func (p place) write(t *testing.T, wanted inbound.BackupWanted) backup.Written {
	t.Helper()
	return must[backup.Written](t)(p.Write(t.Context(), caller, wanted))
}

// saved records something, and returns the file of a backup with it.
func (p place) saved(t *testing.T) (file string) {
	t.Helper()
	p.record(t)
	file = p.path("b.tar.zst")
	p.write(t, inbound.BackupWanted{File: file})
	return file
}

func (p place) fill(t *testing.T) map[string][]string {
	t.Helper()
	opened, done := p.open(t)
	defer done()
	storetest.Fill(t, opened, p.clock, p.ids)
	return opened.Dump()
}

func (p place) dump(t *testing.T) map[string][]string {
	t.Helper()
	opened, done := p.open(t)
	defer done()
	return opened.Dump()
}

func (p place) record(t *testing.T) {
	t.Helper()
	opened, done := p.open(t)
	defer done()
	recording(t, opened.Store)
}

func recording(t *testing.T, on store.Store) {
	t.Helper()
	check(t, on.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		return tx.Record(ctx, event.Event{Type: event.TokenCreated, Actor: "system:test", Data: event.Fields{}})
	}))
}

// schema is the version of the schema of the store.
func (p place) schema(t *testing.T) int64 {
	t.Helper()
	migrator, _, done := p.migrator(t)
	defer done()
	return must[outbound.Schema](t)(migrator.Status(t.Context())).Version
}

// leftovers are the files in a folder that should be gone.
func leftovers(t *testing.T, folder string) (left []string) {
	t.Helper()
	for _, entry := range must[[]os.DirEntry](t)(os.ReadDir(folder)) {
		if strings.Contains(entry.Name(), ".partial-") {
			left = append(left, entry.Name())
		}
	}
	return left
}

// reader reads a backup into a target without what follows a restoration.
func restoreExactly(t *testing.T, p place, file string) (sums backup.Sums) {
	t.Helper()
	parts := p.parts
	from := must[io.ReadCloser](t)(parts.Archives.Open(file))
	defer from.Close()
	reader := must[outbound.ArchiveReader](t)(parts.Archives.Read(from, ""))
	defer reader.Close()
	var manifest backup.Manifest
	var r store.Restoration
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		check(t, err)
		switch entry.Name {
		case backup.ManifestName:
			check(t, json.NewDecoder(reader).Decode(&manifest))
			r = must[store.Restoration](t)(parts.Target.Begin(t.Context(), manifest, false))
			defer func() { check(t, r.Close()) }()
		case backup.SumsName:
			check(t, json.NewDecoder(reader).Decode(&sums))
		default:
			check(t, r.Take(t.Context(), entry.Name, reader))
		}
	}
	must[store.Store](t)(r.Open(t.Context(), sums.Rows))
	if former := must[store.Former](t)(r.Switch(t.Context())); former != (store.Former{}) {
		t.Errorf("an empty store was kept: %+v", former)
	}
	return sums
}

func TestEveryRowOfEveryTableComesBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		from, to := another(true), another(false)
		want := from.fill(t)
		file := from.path("b.tar.zst")
		written := from.write(t, inbound.BackupWanted{File: file, Version: "v1"})
		if !written.Verified || written.Key != "0123456789abcdef" || written.Version != "v1" ||
			written.Schema != from.parts.Target.Schema() {
			t.Errorf("%+v", written)
		}
		for table, rows := range want {
			if written.Rows[table] != int64(len(rows)) {
				t.Errorf("%s: %d rows, want %d", table, written.Rows[table], len(rows))
			}
		}
		found := must[os.FileInfo](t)(os.Stat(file))
		if found.Mode() != 0o600 || found.Size() != written.Size {
			t.Errorf("%v, %d bytes, said %d", found.Mode(), found.Size(), written.Size)
		}
		restoreExactly(t, to, file)
		if diff := cmp.Diff(want, to.dump(t)); diff != "" {
			t.Errorf("-before +after:\n%.3000s", diff)
		}
		// Numbers go on, and nothing is left of how it was restored.
		to.clock.Advance(24 * time.Hour)
		to.record(t)
		for _, folder := range []string{from.dir, to.dir} {
			if left := leftovers(t, folder); left != nil {
				t.Error(left)
			}
		}
	})
}

func TestANewerSchemaAndAnotherEngineAreRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		from, to := another(true), another(false)
		from.fill(t)
		file := from.path("b.tar.zst")
		from.write(t, inbound.BackupWanted{File: file})
		newer := rewritten(t, file, func(head *tar.Header, content []byte) []byte {
			if head.Name == backup.ManifestName {
				content = bytes.Replace(content, []byte(`"schema": `), []byte(`"schema": 9`), 1)
			}
			return content
		})
		_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(newer)})
		if fault.CodeOf(err) != fault.InvalidFile || !strings.Contains(err.Error(), "run a newer holdco") {
			t.Error(err)
		}
		other := rewritten(t, file, func(head *tar.Header, content []byte) []byte {
			if head.Name == backup.ManifestName {
				swap := strings.NewReplacer(`"sqlite"`, `"postgres"`, `"postgres"`, `"sqlite"`)
				content = []byte(swap.Replace(string(content)))
			}
			return content
		})
		_, err = to.Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(other)})
		if fault.CodeOf(err) != fault.InvalidFile || !strings.Contains(err.Error(), "The backup is one of a store on ") {
			t.Error(err)
		}
	})
}

// rewritten is a backup in which entries are changed; a size of 0 and a name that was made empty leaves one out.
func rewritten(t *testing.T, file string, change func(head *tar.Header, content []byte) []byte) []byte {
	t.Helper()
	return packed(t, func(out *tar.Writer) {
		opened := must[*os.File](t)(os.Open(file))
		defer opened.Close()
		decoder := must[*zstd.Decoder](t)(zstd.NewReader(opened))
		defer decoder.Close()
		in := tar.NewReader(decoder)
		for {
			head, err := in.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			check(t, err)
			content := change(head, must[[]byte](t)(io.ReadAll(in)))
			if head.Name == "" {
				continue
			}
			head.Size = int64(len(content))
			check(t, out.WriteHeader(head))
			must[int](t)(out.Write(content))
		}
	})
}

func packed(t *testing.T, write func(out *tar.Writer)) []byte {
	t.Helper()
	var to bytes.Buffer
	encoder := must[*zstd.Encoder](t)(zstd.NewWriter(&to))
	out := tar.NewWriter(encoder)
	write(out)
	check(t, errors.Join(out.Close(), encoder.Close()))
	return to.Bytes()
}

func compressed(t *testing.T, content []byte) []byte {
	t.Helper()
	return must[*zstd.Encoder](t)(zstd.NewWriter(nil)).EncodeAll(content, nil)
}

// A tar can end with more zeros than it needs.
func TestABackupMayEndWithZeros(t *testing.T) {
	t.Parallel()
	from := onSQLite(t, true)
	file := from.path("b.tar.zst")
	from.write(t, inbound.BackupWanted{File: file})
	padded := append(must[[]byte](t)(os.ReadFile(file)), compressed(t, make([]byte, 8<<10))...)
	must[backup.Restored](t)(onSQLite(t, false).Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(padded)}))
}

// What begins as an encrypted backup is not read without a bound.
func TestTheHeadOfAnEncryptedBackupIsBounded(t *testing.T) {
	t.Parallel()
	read := &endless{}
	_, err := onSQLite(t, false).Restore(t.Context(), caller, inbound.RestoreWanted{
		From: io.MultiReader(strings.NewReader("age-encryption.org/v1\n-> X25519 a\n"), read),
	})
	if !errors.Is(err, outbound.ErrEncrypted) || read.bytes > 2<<20 {
		t.Errorf("%v, after %d bytes", err, read.bytes)
	}
}

// endless never ends, nor has a line that does.
type endless struct{ bytes int }

func (e *endless) Read(into []byte) (int, error) {
	for n := range into {
		into[n] = 'x'
	}
	e.bytes += len(into)
	return len(into), nil
}

func TestWhatIsNoWholeBackupChangesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		from, to := another(true), another(true)
		from.fill(t)
		file := from.path("b.tar.zst")
		from.write(t, inbound.BackupWanted{File: file})
		whole := must[[]byte](t)(os.ReadFile(file))
		same := func(content []byte) []byte { return content }
		flipped := slices.Clone(whole)
		for n := range 32 { // a bit of a compressed stream may say nothing
			flipped[len(flipped)/2+n] ^= 0xff
		}
		store := func(head *tar.Header) bool {
			return head.Name == backup.StoreName || head.Name == backup.RowsName("companies")
		}
		cases := map[string][]byte{
			"empty": {}, "text": []byte("this is no backup, but it is long enough to be one"), "cut in its head": whole[:100],
			"cut in the middle": whole[:len(whole)/2], "cut at its end": whole[:len(whole)-1], "flipped": flipped,
			"with something behind it":     append(slices.Clone(whole), "more"...),
			"with something after its tar": append(slices.Clone(whole), compressed(t, []byte("more"))...),
			"with too many zeros after it": append(slices.Clone(whole), compressed(t, make([]byte, 1<<20))...),
			"an empty tar":                 packed(t, func(*tar.Writer) {}),
			"another byte of the store": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					content[len(content)-3] ^= 1
				}
				return content
			}),
			"without the store": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					head.Name = ""
				}
				return content
			}),
			"without its sums": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if head.Name == backup.SumsName {
					head.Name = ""
				}
				return content
			}),
			"an absolute name": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					head.Name = "/" + head.Name
				}
				return content
			}),
			"a name outside": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					head.Name = "../" + head.Name
				}
				return content
			}),
			"a link for the store": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					head.Typeflag, head.Linkname, content = tar.TypeSymlink, "/etc/passwd", nil
				}
				return content
			}),
			"a device": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					head.Typeflag, content = tar.TypeBlock, nil
				}
				return content
			}),
			"a hard link": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					head.Typeflag, head.Linkname, content = tar.TypeLink, "manifest.json", nil
				}
				return content
			}),
			"a bomb": packed(t, func(out *tar.Writer) {
				manifest := []byte(`{"format": 1, "schema": 1, "bytes": 9, "tables": ["companies"], "engine": "` + to.parts.Engine + `"}`)
				check(t, out.WriteHeader(&tar.Header{Name: backup.ManifestName, Size: int64(len(manifest)), Mode: 0o600}))
				must[int](t)(out.Write(manifest))
				name := map[string]string{backup.SQLite: backup.StoreName, backup.Postgres: backup.RowsName("companies")}[to.parts.Engine]
				check(t, out.WriteHeader(&tar.Header{Name: name, Size: 1 << 26, Mode: 0o600}))
				must[int](t)(out.Write(make([]byte, 1<<26)))
			}),
			"a huge claim": packed(t, func(out *tar.Writer) {
				manifest := []byte(`{"format": 1, "schema": 1, "bytes": 4611686018427387904, "engine": "sqlite"}`)
				check(t, out.WriteHeader(&tar.Header{Name: backup.ManifestName, Size: int64(len(manifest)), Mode: 0o600}))
				must[int](t)(out.Write(manifest))
			}),
			"a workspace that was not announced": rewritten(t, file, func(head *tar.Header, content []byte) []byte {
				if store(head) {
					head.Name = backup.Workspaces + "x"
				}
				return content
			}),
		}
		if got := rewritten(t, file, func(_ *tar.Header, content []byte) []byte { return same(content) }); len(got) == 0 {
			t.Error("nothing")
		}
		before := to.dump(t)
		onPostgres := []string{"cut in the middle", "another byte of the store", "without the store"}
		for name, content := range cases {
			if p := to.parts.Engine; p == backup.Postgres && !slices.Contains(onPostgres, name) { // each makes a schema
				continue
			}
			_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(content), Replaces: true})
			isRoom := name == "a huge claim" && to.parts.Engine == backup.SQLite
			if fault.CodeOf(err) != fault.InvalidFile && (!isRoom || !strings.Contains(err.Error(), "too little room")) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if diff := cmp.Diff(before, to.dump(t)); diff != "" {
			t.Errorf("-before +after:\n%.2000s", diff)
		}
		if left := leftovers(t, to.dir); left != nil {
			t.Error(left)
		}
		if to.parts.Engine == backup.Postgres && to.count(t, "pg_namespace WHERE starts_with(nspname, 'holdco')") != 0 {
			t.Error("schemas are left")
		}
	})
}

func TestARestorationKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		file := p.saved(t)
		p.record(t)
		before := p.dump(t)
		_, err := p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file})
		if err == nil || !strings.Contains(err.Error(), "holds 2 rows of activity; restore into an empty store, or say --replace") {
			t.Error(err)
		}
		if diff := cmp.Diff(before, p.dump(t)); diff != "" {
			t.Error(diff)
		}
		restored := must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true}))
		if restored.Kept == "" || restored.Newer != 1 || restored.Lacks != "" {
			t.Errorf("%+v", restored)
		}
		if got := p.count(t, "activity"); got != 2 { // that of the backup, and store.restored
			t.Errorf("%d entries", got)
		}
		if got := p.count(t, "activity WHERE type = 'store.restored'"); got != 1 {
			t.Errorf("%d entries of restorations", got)
		}
		p.clock.Advance(time.Hour)
		p.record(t)

		// A trial touches nothing, and a store that is not there is made.
		before = p.dump(t)
		tried := must[backup.Restored](t)(p.Restore(t.Context(), caller,
			inbound.RestoreWanted{File: file, TriesOnly: true, Timeout: time.Minute}))
		if len(tried.Problems) > 0 || tried.Kept != "" {
			t.Errorf("%+v", tried)
		}
		if diff := cmp.Diff(before, p.dump(t)); diff != "" {
			t.Error(diff)
		}
		fresh := another(false)
		must[backup.Restored](t)(fresh.Restore(t.Context(), caller, inbound.RestoreWanted{File: file}))
		if got := fresh.count(t, "activity"); got != 2 {
			t.Errorf("%d entries", got)
		}
	})
}

func TestWhatWasAcknowledgedBeforeIsInTheBackup(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		opened, done := p.open(t)
		defer done()
		ctx, cancel := context.WithCancel(t.Context())
		var mutex sync.Mutex
		acknowledged := 0
		var writers sync.WaitGroup
		for range 4 {
			writers.Go(func() {
				for ctx.Err() == nil {
					err := opened.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
						return tx.Record(ctx, event.Event{Type: event.TokenCreated, Actor: "system:test", Data: event.Fields{}})
					})
					mutex.Lock()
					if err == nil {
						acknowledged++
					}
					mutex.Unlock()
				}
			})
		}
		for n := range 3 {
			time.Sleep(20 * time.Millisecond)
			mutex.Lock()
			before := acknowledged
			mutex.Unlock()
			written := p.write(t, inbound.BackupWanted{File: p.path("b.tar.zst"), Replaces: n > 0})
			if written.Rows["activity"] < int64(before) {
				t.Errorf("%d entries of at least %d", written.Rows["activity"], before)
			}
		}
		cancel()
		writers.Wait()
		fresh := another(false)
		must[backup.Restored](t)(fresh.Restore(t.Context(), caller, inbound.RestoreWanted{File: p.path("b.tar.zst")}))
	})
}

func TestEncryptedBackupsNeedAnIdentity(t *testing.T) {
	t.Parallel()
	from, to := onSQLite(t, true), onSQLite(t, false)
	from.record(t)
	identity := must[*age.X25519Identity](t)(age.GenerateX25519Identity())
	another := must[*age.X25519Identity](t)(age.GenerateX25519Identity())
	key, otherKey := from.path("identity"), from.path("other")
	check(t, os.WriteFile(key, []byte("# mine\n"+identity.String()+"\n"), 0o600))
	check(t, os.WriteFile(otherKey, []byte(another.String()+"\n"), 0o600))
	file := from.path("b.tar.zst")
	written := from.write(t, inbound.BackupWanted{File: file, Recipients: []string{identity.Recipient().String()}})
	if !written.Verified {
		t.Error("it was not read back")
	}
	for identities, want := range map[string]string{
		"":       "it is for 1 of age's recipients; name a file with the identity of one by --identity",
		otherKey: "for others than the identities in " + otherKey + ", or its head is damaged",
		file:     "has no identities", from.path("missing"): "cannot be read",
	} {
		_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Identities: identities})
		if fault.CodeOf(err) != fault.InvalidParameter || !strings.Contains(err.Error(), want) ||
			errors.Is(err, outbound.ErrEncrypted) != (identities == "") {
			t.Errorf("%s: %v", identities, err)
		}
	}
	must[backup.Restored](t)(to.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Identities: key}))
	whole := must[[]byte](t)(os.ReadFile(file))
	for _, damaged := range [][]byte{whole[:len(whole)-1], append(slices.Clone(whole[:len(whole)-9]), "012345678"...)} {
		_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(damaged), Identities: key, Replaces: true})
		if fault.CodeOf(err) != fault.InvalidFile {
			t.Error(err)
		}
	}
	_, err := from.Write(t.Context(), caller, inbound.BackupWanted{File: file, Recipients: []string{"age1"}, Replaces: true})
	if fault.CodeOf(err) != fault.InvalidParameter {
		t.Error(err)
	}
}

func TestWorkspacesComeBackWithTheirLinks(t *testing.T) {
	t.Parallel()
	from, to := onSQLite(t, true), onSQLite(t, false)
	from.record(t)
	company := filepath.Join(from.dir, "workspaces", "cmp_1")
	check(t, os.MkdirAll(filepath.Join(company, "issues", "empty"), 0o700))
	check(t, os.WriteFile(filepath.Join(company, "run.sh"), []byte("#!/bin/sh\n"), 0o755))
	check(t, os.WriteFile(filepath.Join(company, "issues", "a b\nc"), []byte("x"), 0o644))
	check(t, os.Symlink("/etc/passwd", filepath.Join(company, "outside")))
	check(t, os.Symlink("..", filepath.Join(company, "issues", "up")))
	file := from.path("b.tar.zst")
	from.write(t, inbound.BackupWanted{File: file, Workspaces: true})
	check(t, os.MkdirAll(filepath.Join(to.dir, "workspaces", "cmp_2"), 0o700))
	_, err := to.Restore(t.Context(), caller, inbound.RestoreWanted{File: file})
	if err == nil || !strings.Contains(err.Error(), "workspaces") {
		t.Error(err)
	}
	restored := must[backup.Restored](t)(to.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true}))
	list := func(dir string) (found []string) {
		check(t, filepath.WalkDir(filepath.Join(dir, "workspaces"), func(path string, entry os.DirEntry, err error) error {
			check(t, err)
			line := strings.TrimPrefix(path, dir) + " " + entry.Type().String()
			switch {
			case entry.Type().IsRegular():
				info := must[os.FileInfo](t)(entry.Info())
				line += " " + string(must[[]byte](t)(os.ReadFile(path))) + string(rune('0'+info.Mode()&0o100>>6))
			case entry.Type() == os.ModeSymlink:
				line += " " + must[string](t)(os.Readlink(path))
			}
			found = append(found, line)
			return nil
		}))
		return found
	}
	if diff := cmp.Diff(list(from.dir), list(to.dir)); diff != "" {
		t.Error(diff)
	}
	kept := must[[]string](t)(filepath.Glob(filepath.Join(to.dir, "workspaces.before-restore-*", "cmp_2")))
	if len(kept) != 1 || restored.Spaces != filepath.Dir(kept[0]) {
		t.Errorf("the former workspaces are gone, or are not in %q: %v", restored.Spaces, kept)
	}

	// A file that would be written through a link is refused.
	hostile := rewritten(t, file, func(head *tar.Header, content []byte) []byte {
		if strings.HasSuffix(head.Name, "run.sh") {
			head.Name = "workspaces/cmp_1/outside/run.sh"
		}
		if strings.HasSuffix(head.Name, "/outside") {
			head.Linkname = "../../.."
		}
		return content
	})
	_, err = to.Restore(t.Context(), caller, inbound.RestoreWanted{From: bytes.NewReader(hostile), Replaces: true})
	if fault.CodeOf(err) != fault.InvalidFile ||
		!strings.Contains(err.Error(), `This is no backup, or a damaged one: its entry "workspaces/cmp_1/outside/run.sh" is below a link`) {
		t.Errorf("a file was written through a link: %v", err)
	}
	if left := leftovers(t, to.dir); left != nil {
		t.Error(left)
	}
}

func TestABackupThatCannotBeWrittenLeavesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, another func(migrated bool) place) {
		p := another(true)
		p.record(t)
		check(t, os.WriteFile(p.path("there"), []byte("mine"), 0o600))
		check(t, os.Mkdir(p.path("folder"), 0o700))
		for file, want := range map[string]string{
			p.path("there"): "is there already", p.path("folder"): "is a folder", p.path("missing/b"): "there is no folder",
			"/dev/null": "is no file", p.path("there/b"): "cannot be written",
		} {
			_, err := p.Write(t.Context(), caller, inbound.BackupWanted{File: file})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", file, err)
			}
		}
		for _, after := range []int{0, 1, 500, 1000} {
			if _, err := p.Stream(t.Context(), caller, &fullDisk{left: after}, inbound.BackupWanted{}); !errors.Is(err, errFull) {
				t.Errorf("after %d bytes: %v", after, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Write(ctx, caller, inbound.BackupWanted{File: p.path("b")}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		_, err := p.Write(t.Context(), access.Caller{}, inbound.BackupWanted{File: p.path("b")})
		if fault.CodeOf(err) != fault.InsufficientScope {
			t.Error(err)
		}
		if left := leftovers(t, p.dir); left != nil {
			t.Error(left)
		}
		if got := string(must[[]byte](t)(os.ReadFile(p.path("there")))); got != "mine" {
			t.Error(got)
		}
		p.write(t, inbound.BackupWanted{File: p.path("there"), Replaces: true, Unverified: true})
		must[backup.Restored](t)(another(false).Restore(t.Context(), caller, inbound.RestoreWanted{File: p.path("there")}))
	})
}

var errFull = errors.New("no space left on device")

// fullDisk takes so many bytes.
type fullDisk struct{ left int }

func (f *fullDisk) Write(some []byte) (int, error) {
	n := min(f.left, len(some))
	f.left -= n
	if n < len(some) {
		return n, errFull
	}
	return n, nil
}

func TestADamagedStoreIsReplaced(t *testing.T) {
	t.Parallel()
	p := onSQLite(t, true)
	file := p.saved(t)
	check(t, os.WriteFile(p.path("holdco.db"), bytes.Repeat([]byte("no database "), 1000), 0o600))
	_, err := p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file})
	if err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Error(err)
	}
	restored := must[backup.Restored](t)(p.Restore(t.Context(), caller, inbound.RestoreWanted{File: file, Replaces: true}))
	if kept := must[[]byte](t)(os.ReadFile(restored.Kept)); !bytes.Equal(kept, bytes.Repeat([]byte("no database "), 1000)) {
		t.Error("the damaged store is gone")
	}
	if logs := must[[]string](t)(filepath.Glob(p.path("holdco.db-*"))); logs != nil {
		t.Errorf("the log of another store is there: %v", logs)
	}
	if got := p.count(t, "activity WHERE type IN ('token.created', 'store.restored')"); got != 2 {
		t.Errorf("%d entries", got)
	}
	p.record(t)

	// A damaged one is not backed up as if it were whole.
	broken := onSQLite(t, true)
	broken.record(t)
	db := must[*sql.DB](t)(sql.Open("sqlite", broken.path("holdco.db")))
	var page, size int64
	check(t, db.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = 'activity'").Scan(&page))
	check(t, db.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&size))
	check(t, db.Close())
	content := must[[]byte](t)(os.ReadFile(broken.path("holdco.db")))
	copy(content[(page-1)*size:], bytes.Repeat([]byte{0xff}, int(size)))
	check(t, os.WriteFile(broken.path("holdco.db"), content, 0o600))
	var stream bytes.Buffer
	_, err = broken.Write(t.Context(), caller, inbound.BackupWanted{File: broken.path("b.tar.zst")})
	_, streaming := broken.Stream(t.Context(), caller, &stream, inbound.BackupWanted{})
	for _, err := range []error{err, streaming} {
		if err == nil || !strings.Contains(err.Error(), "malformed") {
			t.Error(err)
		}
	}
	if _, err := os.Stat(broken.path("b.tar.zst")); !errors.Is(err, os.ErrNotExist) || stream.Len() > 0 || leftovers(t, broken.dir) != nil {
		t.Errorf("%v, %d bytes, %v", err, stream.Len(), leftovers(t, broken.dir))
	}
}
