package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"github.com/uptrace/bun"

	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system/processtest"
	"holdco/domain/backup"
)

func TestTheFileAndItsFolderAreMadeForTheOwnerAlone(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(folder, "strange name?#%20;.db")
	notes := openNotesAt(t, path)
	must(t, notes.update(insert(1)))
	for name, want := range map[string]fs.FileMode{folder: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
		found, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if found.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", name, found.Mode().Perm(), want)
		}
	}
}

func TestWhatIsKeptIsThereAfterwards(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	for _, level := range []sqlite.Synchronous{sqlite.Full, sqlite.Normal} {
		engine, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Synchronous: level, Exclusive: true})
		if err != nil {
			t.Fatal(err)
		}
		notes := notebook{t, engine}
		must(t, notes.update(func(ctx context.Context, conn bun.IConn) error {
			_, err := conn.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS notes (n INTEGER PRIMARY KEY); INSERT INTO notes DEFAULT VALUES")
			return err
		}))
		must(t, engine.Close())
	}
	notebook{t, open(t, sqlite.Options{Path: path})}.expect(1, 2)
}

func TestPageCachesAreSmallInAServerAndLargeForTheImportsOfCommands(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	for _, on := range []struct {
		options sqlite.Options
		writer  int // KiB
	}{
		{sqlite.Options{Path: path, Exclusive: true}, 8 << 10},
		{sqlite.Options{Path: path}, 64 << 10},
		{sqlite.Options{Path: sqlite.Memory}, 8 << 10},
	} {
		engine := open(t, on.options)
		size := func(conn bun.IConn) (kibibytes int) {
			must(t, conn.QueryRowContext(t.Context(), "PRAGMA cache_size").Scan(&kibibytes))
			return -kibibytes
		}
		must(t, engine.Update(t.Context(), func(_ context.Context, conn bun.IConn) error {
			if got := size(conn); got != on.writer {
				t.Errorf("the writer of %+v caches %d KiB, want %d", on.options, got, on.writer)
			}
			return nil
		}))
		for _, name := range []string{"readers", "lookups"} {
			if got := size(engine.Pools()[name]); got != 512 {
				t.Errorf("%s of %+v cache %d KiB each, want 512", name, on.options, got)
			}
		}
	}
}

func TestWhatCannotBeOpenedIsExplained(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("This is no database. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, refused := range []struct {
		name, path, want string
	}{
		{"a folder", folder, folder + " is a folder; the store needs the name of a file"},
		{"a file that is no database", text, text + " is not a SQLite database"},
		{"a folder below a file", filepath.Join(text, "holdco.db"), "make the folder of the store: "},
		{"a folder that takes no files", "/proc/holdco.db", "open the store for writing: open /proc/holdco.db"},
	} {
		t.Run(refused.name, func(t *testing.T) {
			t.Parallel()
			_, err := sqlite.Open(t.Context(), sqlite.Options{Path: refused.path})
			if err == nil || !strings.Contains(err.Error(), refused.want) {
				t.Errorf("got %v, want %s", err, refused.want)
			}
		})
	}
}

func TestAFolderIsNeitherBackedUpNorRestored(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target, err := sqlite.NewTarget(folder, nil, nil)
	must(t, err)
	_, backingUp := sqlite.NewSource(folder).Bytes(t.Context())
	_, restoring := target.Begin(t.Context(), backup.Manifest{}, true)
	for what, err := range map[string]error{"backup": backingUp, "restoration": restoring} {
		if err == nil || !strings.HasPrefix(err.Error(), folder+" is a folder; the store needs the name of a file") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAServerWaitsForWhatOneThatWasKilledLeavesLocked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "holdco.db")
		left := flock.New(path + ".lock") // by the program that it was starting
		locked, err := left.TryLock()
		must(t, err)
		time.AfterFunc(time.Second, func() { must(t, left.Unlock()) })
		if began := time.Now(); !locked {
			t.Fatal("a new store is locked")
		} else if open(t, sqlite.Options{Path: path, Exclusive: true}); time.Since(began) < time.Second {
			t.Error("it has not waited")
		}
		stopped, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := sqlite.Open(stopped, sqlite.Options{Path: path, Exclusive: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("a start that is stopped while it waits ends with: %v", err)
		}
	})
}

func TestASecondServerIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		path, link := filepath.Join(folder, "holdco.db"), filepath.Join(folder, "link.db")
		first, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Exclusive: true})
		must(t, err)
		must(t, os.Symlink(path, link))
		for _, name := range []string{path, link} {
			_, err := sqlite.Open(t.Context(), sqlite.Options{Path: name, Exclusive: true})
			if want := "another server has " + path + " open"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		_, err = sqlite.OpenMoving(t.Context(), path) // which needs no store of its own
		if err == nil || !strings.HasSuffix(err.Error(), "a server has "+path+" open; stop it first") {
			t.Errorf("a move: %v", err)
		}
		open(t, sqlite.Options{Path: path}) // a command beside the server
		must(t, first.Close())
		open(t, sqlite.Options{Path: path, Exclusive: true})
	})
}

// served keeps the engine of the server that TestMain is: the lock of one that is garbage is released.
var served *sqlite.Engine

// TestMain lets this program also be the server that TestAKilledServerLeavesNoLock kills.
func TestMain(m *testing.M) {
	if path := os.Getenv("HOLDCO_TEST_SERVE"); path != "" {
		processtest.EndWithParent()
		engine, err := sqlite.Open(context.Background(), sqlite.Options{Path: path, Exclusive: true})
		served = engine
		fmt.Println("opened", err)
		select {}
	}
	processtest.Setup()
	os.Exit(m.Run())
}

func TestAKilledServerLeavesNoLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	server := exec.CommandContext(t.Context(), os.Args[0])
	server.Env = append(os.Environ(), "HOLDCO_TEST_SERVE="+path)
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("opened <nil>"))
	if _, err := output.Read(said); err != nil || string(said) != "opened <nil>" {
		t.Fatalf("the server said %q (%v)", said, err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Exclusive: true}); err == nil {
		t.Error("a second server opened the file")
	}
	must(t, server.Process.Kill())
	_ = server.Wait()
	open(t, sqlite.Options{Path: path, Exclusive: true})
}

func TestADatabaseInMemoryLeavesNothing(t *testing.T) {
	engine, err := sqlite.Open(t.Context(), sqlite.Options{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	var file string
	must(t, engine.DB().QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list").Scan(&file))
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	must(t, engine.Close())
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", filepath.Dir(file), err)
	}
}

func TestADatabaseInMemoryRemovesWhatKilledProcessesLeft(t *testing.T) {
	t.Parallel()
	engine := open(t, sqlite.Options{Path: sqlite.Memory})
	var used string
	must(t, engine.DB().QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list").Scan(&used))
	abandoned, err := os.MkdirTemp(filepath.Dir(filepath.Dir(used)), "holdco-memory-*")
	if err != nil {
		t.Fatal(err)
	}
	open(t, sqlite.Options{Path: sqlite.Memory})
	if _, err := os.Stat(abandoned); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", abandoned, err)
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("a database in use was removed: %v", err)
	}
}

func TestTwoEnginesMigrateOneFileOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "holdco.db")
	var migrating sync.WaitGroup
	applied := make(chan int, 4)
	for range cap(applied) {
		engine := open(t, sqlite.Options{Path: path})
		migrating.Go(func() {
			done, err := engine.Migrator().Up(t.Context())
			must(t, err)
			applied <- len(done)
		})
	}
	migrating.Wait()
	close(applied)
	sum := 0
	for n := range applied {
		sum += n
	}
	status, err := open(t, sqlite.Options{Path: path}).Migrator().Status(t.Context())
	must(t, err)
	if sum != len(status.Migrations) || len(status.Pending()) > 0 {
		t.Errorf("%d migrations were applied, want %d; pending %v", sum, len(status.Migrations), status.Pending())
	}
}

func TestTheSchemaMustBeTheOneOfThisProgram(t *testing.T) {
	t.Parallel()
	engine := open(t, sqlite.Options{Path: sqlite.Memory})
	store := sqlstore.New(engine, nil, nil, engine.Migrator())

	if err := store.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "holdco migrate up") {
		t.Errorf("an old schema: got %v", err)
	}
	status, err := engine.Migrator().Status(t.Context())
	must(t, err)
	if first := status.Migrations[0]; first.Version != 1 || first.Name != "00001_companies.sql" || !first.AppliedAt.IsZero() {
		t.Errorf("the first migration is %+v", first)
	}
	_, err = engine.Migrator().Up(t.Context())
	must(t, err)
	must(t, store.Ready(t.Context()))

	must(t, engine.Update(t.Context(), func(ctx context.Context, conn bun.IConn) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1); "+
			"UPDATE schema_compatibility SET compatible_from = 999")
		return err
	}))
	_, upErr := engine.Migrator().Up(t.Context())
	_, statusErr := engine.Migrator().Status(t.Context())
	for name, err := range map[string]error{"up": upErr, "status": statusErr, "ready": store.Ready(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "run a newer holdco") {
			t.Errorf("%s on a newer schema: got %v", name, err)
		}
	}
}

func TestAStoreThatMustExistIsNotMade(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "none")
	file := filepath.Join(folder, "holdco.db")
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: file, MustExist: true})
	if err == nil || !strings.Contains(err.Error(), "there is no store at "+file) {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestAnEmptyFileIsNoStore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "holdco.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: file, MustExist: true})
	if err == nil || !strings.Contains(err.Error(), file+" is empty, as a loss of power may leave a file; restore a backup") {
		t.Error(err)
	}
	if found, err := os.Stat(file); err != nil || found.Size() > 0 {
		t.Errorf("it was written to: %v, %v", found, err)
	}
}
