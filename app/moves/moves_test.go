package moves_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib"
	"pgregory.net/rapid"

	"holdco/adapters/store/postgres"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/moves"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/move"
	"holdco/ports/inbound"
	"holdco/ports/store"
	"holdco/ports/storetest"
)

var caller = access.System("test")

// place is where a store is, or is to be.
type place struct {
	url    string
	driver string
	opener func(ctx context.Context, isTarget bool) (store.MovingTo, error)
	open   func(ctx context.Context, serves bool) (engine, error) // as a command does, or a server

	clock *storetest.Clock
	ids   *storetest.IDs
}

type engine interface {
	sqlstore.Engine
	Migrator() *sqlstore.Migrator
	Close() error
}

func asEngine[E engine](opened E, err error) (engine, error) {
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// source is a store to be moved where a wrapper wants one that is moved to. What would write rows to it panics.
type source struct {
	store.Moving
	writing
}

type writing interface {
	Prepare(ctx context.Context, mark move.Mark) error
	Write(ctx context.Context, to move.Table, rows []move.Row, at move.Place) error
	Finish(ctx context.Context, sequences map[string]int64) error
	Drop(ctx context.Context) error
}

func asSource(opened store.Moving, err error) (store.MovingTo, error) {
	if err != nil {
		return nil, err
	}
	return source{Moving: opened}, nil
}

func onSQLite(t *testing.T, migrated bool) place {
	t.Helper()
	path := filepath.Join(t.TempDir(), "holdco.db")
	if migrated {
		check(t, os.WriteFile(path, sqlitetest.Image(t), 0o600))
	}
	return place{
		url: path, driver: "sqlite", clock: storetest.NewClock(), ids: storetest.NewIDs(),
		opener: func(ctx context.Context, isTarget bool) (store.MovingTo, error) {
			if isTarget {
				return sqlite.OpenMovingTo(ctx, path)
			}
			return asSource(sqlite.OpenMoving(ctx, path))
		},
		open: func(ctx context.Context, serves bool) (engine, error) {
			return asEngine(sqlite.Open(ctx, sqlite.Options{
				Path: path, MustExist: true, Exclusive: serves, Synchronous: sqlite.Normal, UnitTimeout: time.Minute,
			}))
		},
	}
}

func onPostgres(t *testing.T, migrated bool) place {
	t.Helper()
	options := postgres.Options{URL: postgrestest.EmptyURL(t)}
	if migrated {
		options.URL = postgrestest.URL(t)
	}
	return place{
		url: options.URL, driver: "pgx", clock: storetest.NewClock(), ids: storetest.NewIDs(),
		opener: func(ctx context.Context, isTarget bool) (store.MovingTo, error) {
			if isTarget {
				return postgres.OpenMovingTo(ctx, options)
			}
			return asSource(postgres.OpenMoving(ctx, options))
		},
		open: func(ctx context.Context, serves bool) (engine, error) {
			options := options
			options.Server = serves
			return asEngine(postgres.Open(ctx, options))
		},
	}
}

// between runs a test with an empty store to move, which has the schema, and a place to move to that has none.
func between(t *testing.T, test func(t *testing.T, from, to place)) {
	t.Helper()
	kinds := map[string]func(t *testing.T, migrated bool) place{"sqlite": onSQLite, "postgres": onPostgres}
	for _, from := range slices.Sorted(maps.Keys(kinds)) {
		for _, to := range slices.Sorted(maps.Keys(kinds)) {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				test(t, kinds[from](t, true), kinds[to](t, false))
			})
		}
	}
}

// moving makes the use cases that move between places. What opens them may be wrapped.
func moving(from, to place, wrap func(of store.MovingTo) store.MovingTo) *moves.Service {
	open := func(ctx context.Context, url string, isTarget bool) (store.MovingTo, error) {
		p := from
		if url == to.url {
			p = to
		}
		opened, err := p.opener(ctx, isTarget)
		if err == nil && wrap != nil {
			opened = wrap(opened)
		}
		return opened, err
	}
	return moves.New(moves.Parts{
		Clock: system.Clock{}, IDs: system.IDs{}, Check: func(string, string) error { return nil },
		Source: func(ctx context.Context, url string) (store.Moving, error) { return open(ctx, url, false) },
		Target: func(ctx context.Context, url string) (store.MovingTo, error) { return open(ctx, url, true) },
	})
}

// those are the stores of a move.
func those(from, to place) inbound.MoveWanted { return inbound.MoveWanted{From: from.url, To: to.url} }

func mustMove(t *testing.T, from, to place) move.Moved {
	t.Helper()
	return must[move.Moved](t)(moving(from, to, nil).Move(t.Context(), caller, those(from, to)))
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

// refused fails unless an error says something.
func refused(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
}

func (p place) fill(t *testing.T) {
	t.Helper()
	p.with(t, func(opened storetest.Opened) { storetest.Fill(t, opened, p.clock, p.ids) })
}

func (p place) with(t *testing.T, use func(opened storetest.Opened)) {
	t.Helper()
	opened := must[engine](t)(p.open(t.Context(), false))
	defer func() { check(t, opened.Close()) }()
	tables := `SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
			AND name NOT IN ('goose_db_version', 'schema_compatibility', 'moves', 'restorations')`
	if p.driver == "pgx" {
		tables = `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
			AND relname NOT IN ('goose_db_version', 'schema_compatibility', 'moves', 'restorations')
			AND relname NOT LIKE 'turns!___' ESCAPE '!'`
	}
	s := sqlstore.New(opened, p.clock, p.ids, opened.Migrator())
	if p.driver == "pgx" {
		s = s.WithClock(p.clock)
	}
	use(storetest.Opened{Store: s, Dump: storetest.Dumping(t, opened.DB().DB, tables)})
}

func (p place) dump(t *testing.T) (rows map[string][]string) {
	t.Helper()
	p.with(t, func(opened storetest.Opened) { rows = opened.Dump() })
	return rows
}

// execute runs statements behind the back of the store.
func (p place) execute(t *testing.T, statements ...string) {
	t.Helper()
	db := must[*sql.DB](t)(sql.Open(p.driver, p.url))
	defer db.Close()
	for _, statement := range statements {
		must[sql.Result](t)(db.ExecContext(t.Context(), statement))
	}
}

// digests are the number of rows of each table, and their digest.
func digests(of move.Moved) map[string]string {
	all := map[string]string{}
	for _, one := range of.Tables {
		all[one.Table] = fmt.Sprint(one.Rows, " ", one.Digest)
	}
	return all
}

func TestEveryRowOfEveryTableMovesThereAndBackOnPostgresAndSQLite(t *testing.T) {
	t.Parallel()
	between(t, func(t *testing.T, from, to place) {
		from.fill(t)
		want := from.dump(t)
		there := mustMove(t, from, to)
		moved := to.dump(t)
		total := 0
		for table, rows := range want {
			total += len(rows)
			if len(moved[table]) != len(rows) {
				t.Errorf("%s: %d rows, want %d", table, len(moved[table]), len(rows))
			}
		}
		if there.Rows != int64(total) || len(there.Tables) != len(want) {
			t.Errorf("%d rows of %d tables, want %d of %d", there.Rows, len(there.Tables), total, len(want))
		}
		if from.driver == to.driver {
			if diff := cmp.Diff(want, moved); diff != "" {
				t.Errorf("-before +after:\n%.3000s", diff)
			}
		}
		again := onSQLite(t, false)
		if from.driver == "pgx" {
			again = onPostgres(t, false)
		}
		back := mustMove(t, to, again)
		if diff := cmp.Diff(digests(there), digests(back)); diff != "" {
			t.Errorf("-there +back:\n%.3000s", diff)
		}
		if diff := cmp.Diff(want, again.dump(t)); diff != "" {
			t.Errorf("-before +after:\n%.3000s", diff)
		}
		// Numbers go on.
		again.clock.Advance(24 * time.Hour)
		again.with(t, func(opened storetest.Opened) {
			check(t, opened.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				return tx.Record(ctx, event.Event{Type: event.TokenCreated, Actor: "system:test", Data: event.Fields{}})
			}))
		})
	})
}

// No table can be forgotten: those that are not moved are named here.
func TestEveryTableOfTheSchemaOnPostgresAndSQLiteIsMoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		place place
		all   string
		own   []string // of the engine, or of the move itself
	}{
		"sqlite": {onSQLite(t, true), "SELECT name FROM sqlite_schema WHERE type = 'table'",
			[]string{"goose_db_version", "schema_compatibility", "moves", "restorations", "sqlite_sequence"}},
		"postgres": {onPostgres(t, true),
			"SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'm') AND relnamespace = 'public'::regnamespace",
			append([]string{"goose_db_version", "schema_compatibility", "moves", "restorations"}, turns()...)},
	} {
		db := must[*sql.DB](t)(sql.Open(c.place.driver, c.place.url))
		defer db.Close()
		rows, err := db.QueryContext(t.Context(), c.all)
		check(t, err)
		defer rows.Close()
		var want []string
		for rows.Next() {
			var table string
			check(t, rows.Scan(&table))
			if !slices.Contains(c.own, table) {
				want = append(want, table)
			}
		}
		check(t, rows.Err())
		opened := must[store.MovingTo](t)(c.place.opener(t.Context(), false))
		var got []string
		for _, table := range must[[]move.Table](t)(opened.Tables(t.Context())) {
			got = append(got, table.Name)
		}
		check(t, opened.Close())
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -in the schema +moved:\n%s", name, diff)
		}
	}
}

func turns() (names []string) {
	for n := range 16 {
		names = append(names, fmt.Sprintf("turns_%02d", n))
	}
	return names
}

// Whatever a text is that both engines hold, it arrives.
func TestTextsAndNumbersOnPostgresAndSQLiteArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	from, via, to := onSQLite(t, true), onPostgres(t, false), onSQLite(t, false)
	text := rapid.StringOfN(rapid.RuneFrom([]rune("aZ0 \t\n\r\\'\"N.é🙂\u2028\ufeff\x01,;{}")), 0, 40, -1)
	number := rapid.Int64()
	db := must[*sql.DB](t)(sql.Open("sqlite", from.url))
	const count = 500
	for n := range count {
		one := text.Example(n)
		must[sql.Result](t)(db.ExecContext(t.Context(),
			"INSERT OR IGNORE INTO geographies (id, name, slug, country_code) VALUES (?, ?, '', ?)",
			one, one+one, strings.Repeat(one, n)))
		must[sql.Result](t)(db.ExecContext(t.Context(), "INSERT OR IGNORE INTO day_tallies (company_id, day, what, n) VALUES (?, ?, ?, ?)",
			one, text.Example(n+count), text.Example(n+2*count), number.Example(n)))
	}
	// More than a batch takes at once.
	must[sql.Result](t)(db.ExecContext(t.Context(), "UPDATE geographies SET name = ? WHERE id IN "+
		"(SELECT id FROM geographies LIMIT 3)", strings.Repeat("é", 5<<20)))
	must[sql.Result](t)(db.ExecContext(t.Context(), "UPDATE day_tallies SET n = ? WHERE n % 2 = 0", int64(math.MinInt64)))
	check(t, db.Close())
	there, back := mustMove(t, from, via), mustMove(t, via, to)
	if diff := cmp.Diff(digests(there), digests(back)); diff != "" {
		t.Error(diff)
	}
	if from.shown(t) != to.shown(t) {
		t.Error("the digests are the same, and the rows are not")
	}
}

var errInterrupted = errors.New("interrupted")

// failing is a store that fails at one of the calls to it and to others, before it does what it should, or after.
type failing struct {
	store.MovingTo
	left *int // calls
	late bool
}

func (f failing) call(do func() error) error {
	*f.left--
	switch {
	case *f.left < 0, *f.left == 0 && !f.late:
		return errInterrupted
	case *f.left == 0:
		return errors.Join(do(), errInterrupted)
	}
	return do()
}

func (f failing) SetMark(ctx context.Context, mark move.Mark) error {
	return f.call(func() error { return f.MovingTo.SetMark(ctx, mark) })
}

func (f failing) Unmark(ctx context.Context) error {
	return f.call(func() error { return f.MovingTo.Unmark(ctx) })
}

func (f failing) Prepare(ctx context.Context, mark move.Mark) error {
	return f.call(func() error { return f.MovingTo.Prepare(ctx, mark) })
}

func (f failing) Write(ctx context.Context, to move.Table, rows []move.Row, at move.Place) error {
	return f.call(func() error { return f.MovingTo.Write(ctx, to, rows, at) })
}

func (f failing) Finish(ctx context.Context, last map[string]int64) error {
	return f.call(func() error { return f.MovingTo.Finish(ctx, last) })
}

// ended is a store whose connections are ended before rows are read from it, or written.
type ended struct {
	store.MovingTo
	end func()
}

func (e ended) Read(ctx context.Context, of move.Table, after move.Row, take func(row move.Row) error) error {
	e.end()
	return e.MovingTo.Read(ctx, of, after, take)
}

func (e ended) Write(ctx context.Context, to move.Table, rows []move.Row, at move.Place) error {
	e.end()
	return e.MovingTo.Write(ctx, to, rows, at)
}

func TestAMoveThatPostgresEndsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"source", "target"} {
		from, to := onSQLite(t, true), onPostgres(t, false)
		at := to
		if ends == "source" {
			from, to = onPostgres(t, true), onSQLite(t, false)
			at = from
		}
		from.execute(t, "INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_1', 'Bonn', 'bonn', 'DE')")
		end := sync.OnceFunc(func() {
			at.execute(t, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "+
				"WHERE datname = current_database() AND pid <> pg_backend_pid()")
		})
		_, err := moving(from, to, func(of store.MovingTo) store.MovingTo { return ended{of, end} }).
			Move(t.Context(), caller, those(from, to))
		const says = "PostgreSQL, or its operator, has ended the connection: what was moved stays; run the command again: "
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", ends, err)
		}
		mustMove(t, from, to)
	}
}

// Interrupted after any number of steps it goes on, and at no instant can both stores be opened.
func TestAMoveThatIsInterruptedAnywhereOnPostgresAndSQLiteGoesOn(t *testing.T) {
	t.Parallel()
	between(t, func(t *testing.T, from, to place) {
		from.fill(t)
		want := from.dump(t)
		interruptions, steps := 0, 0
		for {
			// So many that there is one in each of the steps at the ends, and some in between.
			left := 1 + interruptions%2
			if interruptions >= 12 && interruptions < 20 {
				left = 9
			}
			if interruptions > 100 {
				t.Fatal("it makes no progress")
			}
			moved, err := moving(from, to, func(of store.MovingTo) store.MovingTo {
				return failing{of, &left, interruptions%3 > 0}
			}).Move(t.Context(), caller, those(from, to))
			if err == nil {
				if len(moved.Tables) > 0 && moved.Rows == 0 {
					t.Errorf("%+v", moved)
				}
				break
			}
			steps++
			if move.IsRefusal(err) { // the end itself was interrupted
				break
			}
			if !errors.Is(err, errInterrupted) {
				t.Fatal(err)
			}
			interruptions++
			if canOpen(t, from) && canOpen(t, to) && interruptions > 1 {
				t.Fatalf("after %d interruptions both can be opened", interruptions)
			}
		}
		if interruptions < 12 || canOpen(t, from) || !canOpen(t, to) {
			t.Errorf("after %d interruptions: %v, %v", interruptions, canOpen(t, from), canOpen(t, to))
		}
		back := onSQLite(t, false)
		if from.driver == "pgx" {
			back = onPostgres(t, false)
		}
		mustMove(t, to, back)
		if diff := cmp.Diff(want, back.dump(t)); diff != "" {
			t.Errorf("-before +after:\n%.3000s", diff)
		}
	})
}

func canOpen(t *testing.T, p place) bool {
	t.Helper()
	opened, err := p.open(t.Context(), true)
	if err != nil {
		if !move.IsRefusal(err) && !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "there is no store") {
			t.Fatal(err)
		}
		return false
	}
	check(t, opened.Close())
	return true
}

// Two moves that were interrupted at their beginnings do not both go on into the one store.
func TestATargetOnPostgresOrSQLiteIsOfOneMove(t *testing.T) {
	t.Parallel()
	between(t, func(t *testing.T, from, to place) {
		interrupted := func(from place, left int) {
			_, err := moving(from, to, func(of store.MovingTo) store.MovingTo {
				return failing{of, &left, true}
			}).Move(t.Context(), caller, those(from, to))
			if !errors.Is(err, errInterrupted) {
				t.Fatal(err)
			}
		}
		other := onSQLite(t, true)
		other.fill(t)
		from.execute(t, "INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_1', 'Bonn', 'bonn', 'DE')")
		interrupted(other, 2) // both have the mark, and no row was copied
		interrupted(from, 1)  // the target has the mark
		_, err := moving(other, to, nil).Move(t.Context(), caller, those(other, to))
		refused(t, err, "is a part of another move")
		mustMove(t, from, to)
		_, err = moving(other, to, nil).Move(t.Context(), caller, those(other, to))
		refused(t, err, "holds 1 row of geographies; move into a store that is empty or new")
	})
}

func TestAMoveInATableThatIsNotThereDoesNotBeginAgain(t *testing.T) {
	t.Parallel()
	from, to := onSQLite(t, true), onSQLite(t, false)
	from.fill(t)
	left := 4
	_, err := moving(from, to, func(of store.MovingTo) store.MovingTo {
		return failing{of, &left, false}
	}).Move(t.Context(), caller, those(from, to))
	if !errors.Is(err, errInterrupted) {
		t.Fatal(err)
	}
	to.execute(t, "UPDATE moves SET in_table = 'none'")
	_, err = moving(from, to, nil).Move(t.Context(), caller, those(from, to))
	refused(t, err, "the move was interrupted in the table none, which the store does not have")
}

// before does something when all rows were copied.
type before struct {
	store.MovingTo
	verify func()
}

func (b before) SetMark(ctx context.Context, mark move.Mark) error {
	err := b.MovingTo.SetMark(ctx, mark)
	if mark.Target && mark.Done {
		b.verify()
	}
	return err
}

func TestWhatDiffersOnPostgresOrSQLiteIsNamed(t *testing.T) {
	t.Parallel()
	between(t, func(t *testing.T, from, to place) {
		for n := range 30 {
			from.execute(t, fmt.Sprintf("INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_%02d', 'Bonn', 'b', 'DE')", n))
		}
		service := moving(from, to, func(of store.MovingTo) store.MovingTo {
			return before{of, func() {
				to.execute(t, "UPDATE geographies SET name = 'Born' WHERE id = 'geo_07'", "DELETE FROM geographies WHERE id = 'geo_11'",
					"INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_99', '', '', '')")
			}}
		})
		_, err := service.Move(t.Context(), caller, those(from, to))
		for _, says := range []string{
			`the row of geographies with id "geo_07" is not the same in `, `the row of geographies with id "geo_11" is missing in `,
			`the row of geographies with id "geo_99" is in `,
		} {
			refused(t, err, says)
		}
		if strings.Contains(err.Error(), "geo_08") {
			t.Error(err)
		}
		to.execute(t, "UPDATE geographies SET name = 'Borm'")
		_, err = moving(from, to, nil).Move(t.Context(), caller, those(from, to))
		refused(t, err, "and others")
		if named := strings.Count(err.Error(), "the row of"); named != move.MostNamed {
			t.Errorf("%d rows are named", named)
		}
		if canOpen(t, from) || canOpen(t, to) {
			t.Error("one can be opened")
		}
		// It can be undone, and done anew.
		done := must[[]string](t)(moving(from, to, nil).Abandon(t.Context(), caller, those(from, to)))
		if len(done) != 2 || !strings.HasSuffix(done[0], "can be used again") || !strings.HasSuffix(done[1], "is empty again") {
			t.Error(done)
		}
		if !canOpen(t, from) {
			t.Error("what was abandoned cannot be opened")
		}
		mustMove(t, from, to)
	})
}

// What is configured is the source, unless it has no part in the move to the store that is named.
func TestTheConfiguredStoreOnPostgresOrSQLiteIsFreedWithTheTarget(t *testing.T) {
	t.Parallel()
	between(t, func(t *testing.T, from, to place) {
		from.execute(t, "INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_1', 'Bonn', 'bonn', 'DE')")
		interrupt := func() {
			left := 3
			_, err := moving(from, to, func(of store.MovingTo) store.MovingTo { return failing{of, &left, true} }).
				Move(t.Context(), caller, those(from, to))
			if !errors.Is(err, errInterrupted) || canOpen(t, from) || canOpen(t, to) {
				t.Fatal(err)
			}
		}
		configured := func(of place) inbound.MoveWanted {
			return inbound.MoveWanted{From: of.url, To: to.url, IsConfigured: true}
		}
		abandon := func(of place, says ...string) {
			t.Helper()
			done, err := moving(of, to, nil).Abandon(t.Context(), caller, configured(of))
			if err != nil || len(done) != len(says) {
				t.Fatalf("%q, %v", done, err)
			}
			for n, one := range says {
				if !strings.Contains(done[n], one) {
					t.Errorf("%q lacks %q", done[n], one)
				}
			}
		}
		interrupt()
		abandon(from, "is empty again", "can be used again")
		if !canOpen(t, from) {
			t.Error("what was abandoned cannot be opened")
		}
		abandon(from, "is not being moved to")

		interrupt() // and what undoes it is, between the two
		must[[]string](t)(moving(from, to, nil).Abandon(t.Context(), caller, inbound.MoveWanted{To: to.url}))
		abandon(from, "is not being moved to", "can be used again")

		interrupt()
		other := onSQLite(t, true)
		abandon(other, "is empty again", "was not being moved there, but")
		if !canOpen(t, other) || canOpen(t, from) {
			t.Error("another store than that of the move was freed")
		}
		abandon(from, "is not being moved to", "can be used again")

		interrupt()
		_, err := moving(onSQLite(t, false), to, nil).Abandon(t.Context(), caller, configured(onSQLite(t, false)))
		refused(t, err, "whether the configured store can be used again is not known")
		abandon(from, "is not being moved to", "can be used again")

		interrupt()
		must[[]string](t)(moving(from, to, nil).Abandon(t.Context(), caller, inbound.MoveWanted{From: from.url}))
		abandon(from, "is empty again", "can be used already")

		mustMove(t, from, to) // both could be in use: the source has to be named
		abandon(from, "is not being moved to", "stays as it is: it is being moved to")
		if canOpen(t, from) || !canOpen(t, to) {
			t.Error("a move that ended was undone")
		}
	})
}

func TestATextThatPostgresCannotHoldIsNamed(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"'a' || char(0) || 'b'":      "has a NUL character",
		"CAST(x'61ff62' AS TEXT)":    "is not UTF-8",
		"CAST(x'eda08041' AS TEXT)":  "is not UTF-8", // half of a pair of surrogates
		"CAST(x'0041' AS TEXT)":      "has a NUL character",
		"'a' || CAST(x'c0' AS TEXT)": "is not UTF-8",
	} {
		from, to, other := onSQLite(t, true), onPostgres(t, false), onSQLite(t, false)
		from.execute(t, "INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_1', 'Bonn', 'bonn', 'DE'), "+
			"('geo_2', "+text+", 'bonn', 'DE')")
		_, err := moving(from, to, nil).Move(t.Context(), caller, those(from, to))
		refused(t, err, `the row of geographies with id "geo_2" cannot be moved to PostgreSQL, because its name `+says)
		must[[]string](t)(moving(from, to, nil).Abandon(t.Context(), caller, inbound.MoveWanted{From: from.url}))
		mustMove(t, from, other) // SQLite holds it
		must[[]string](t)(moving(from, to, nil).Abandon(t.Context(), caller, inbound.MoveWanted{From: from.url}))
		from.execute(t, "UPDATE geographies SET name = 'Bonn'")
		_, err = moving(from, to, nil).Move(t.Context(), caller, those(from, to))
		refused(t, err, "is a part of another move")
		must[[]string](t)(moving(from, to, nil).Abandon(t.Context(), caller, inbound.MoveWanted{To: to.url}))
		mustMove(t, from, to)
	}
}

func TestNobodyElseHasAStoreThatIsMovedOnPostgresOrSQLite(t *testing.T) {
	t.Parallel()
	between(t, func(t *testing.T, from, to place) {
		ctx := t.Context()
		wanted := those(from, to)
		if canOpen(t, from) { // a store that is served
			server := must[engine](t)(from.open(ctx, true))
			_, err := moving(from, to, nil).Move(ctx, caller, wanted)
			refused(t, err, "stop it first")
			check(t, server.Close())
		}
		tries := 0
		_, err := moving(from, to, func(of store.MovingTo) store.MovingTo {
			return before{of, func() {
				for _, p := range []place{from, to} {
					for _, serves := range []bool{true, false} {
						_, err := p.open(ctx, serves)
						if tries++; !errors.Is(err, move.ErrMoving) {
							t.Errorf("%s: %v", p.url, err)
						}
					}
				}
				_, err := moving(from, to, nil).Move(ctx, caller, wanted)
				if err == nil {
					t.Error("it is moved twice")
				}
			}}
		}).Move(ctx, caller, wanted)
		check(t, err)
		if tries != 4 {
			t.Errorf("%d tries", tries)
		}
		_, err = from.open(ctx, true)
		refused(t, err, "this store was moved to ")
		_, err = moving(from, to, nil).Move(ctx, caller, wanted)
		refused(t, err, "this store was moved to ")
		server := must[engine](t)(to.open(ctx, true))
		check(t, server.Close())

		another := onSQLite(t, false)
		_, err = moving(from, another, nil).Move(ctx, caller, those(from, another))
		refused(t, err, "is being moved to ")
		wanted.KeepSource = true
		done := must[move.Moved](t)(moving(from, to, nil).Move(ctx, caller, wanted))
		if !done.Unmarked || len(done.Tables) > 0 {
			t.Errorf("%+v", done)
		}
		if !canOpen(t, from) {
			t.Error("what was kept cannot be opened")
		}
	})
}

// A command that has a store open from before it was moved must not write into what nobody looks at any more.
func TestACommandWritesNothingIntoAStoreOfSQLiteThatWasMoved(t *testing.T) {
	t.Parallel()
	from, to := onSQLite(t, true), onSQLite(t, false)
	from.with(t, func(opened storetest.Opened) {
		write := func() error {
			return opened.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				return tx.Record(ctx, event.Event{Type: event.TokenCreated, Actor: "system:test", Data: event.Fields{}})
			})
		}
		check(t, write())
		mustMove(t, from, to)
		if err := write(); !move.IsRefusal(err) {
			t.Error(err)
		}
	})
}

func TestATargetOnPostgresOrSQLiteIsEmptyOrNew(t *testing.T) {
	t.Parallel()
	between(t, func(t *testing.T, from, to place) {
		if to.driver == "pgx" {
			to = onPostgres(t, true)
		} else {
			to = onSQLite(t, true)
		}
		to.execute(t, "INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_1', '', '', '')")
		_, err := moving(from, to, nil).Move(t.Context(), caller, those(from, to))
		refused(t, err, "holds 1 row of geographies; move into a store that is empty or new")
		if !canOpen(t, from) || !canOpen(t, to) {
			t.Error("what was refused left a mark")
		}
		to.execute(t, "DELETE FROM geographies")
		from.execute(t, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
		_, err = moving(from, to, nil).Move(t.Context(), caller, those(from, to))
		refused(t, err, `run "holdco migrate up"`)
		from.execute(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ("+newest(t, to)+", true)")
		mustMove(t, from, to)

		// What was moved to is a store like any other, and can be moved itself.
		third := onSQLite(t, false)
		mustMove(t, to, third)
		_, err = moving(to, from, nil).Move(t.Context(), caller, those(to, from))
		refused(t, err, "is a part of another move")
	})
}

// shown are the geographies of a store of SQLite, as its shell shows them.
func (p place) shown(t *testing.T) (rows string) {
	t.Helper()
	db := must[*sql.DB](t)(sql.Open(p.driver, p.url))
	defer db.Close()
	check(t, db.QueryRowContext(t.Context(), "SELECT group_concat(quote(id) || quote(name) || quote(country_code)) "+
		"FROM (SELECT * FROM geographies ORDER BY id)").Scan(&rows))
	return rows
}

func newest(t *testing.T, p place) (version string) {
	t.Helper()
	db := must[*sql.DB](t)(sql.Open(p.driver, p.url))
	defer db.Close()
	check(t, db.QueryRowContext(t.Context(), "SELECT max(version_id) FROM goose_db_version").Scan(&version))
	return version
}

func TestAStoreIsNotMovedToItselfOnPostgres(t *testing.T) {
	t.Parallel()
	from := onPostgres(t, true)
	again := from
	again.url = strings.Replace(from.url, "127.0.0.1", "localhost", 1)
	_, err := moving(from, again, nil).Move(t.Context(), caller, those(from, again))
	if fault.CodeOf(err) != fault.InvalidParameter {
		t.Error(err)
	}
	if !canOpen(t, from) {
		t.Error("it left a mark")
	}
}

func TestOnlyWhoMayDoAllMoves(t *testing.T) {
	t.Parallel()
	service := moves.New(moves.Parts{})
	reader := access.Caller{}
	_, err := service.Move(t.Context(), reader, inbound.MoveWanted{})
	_, abandoning := service.Abandon(t.Context(), reader, inbound.MoveWanted{})
	for _, err := range []error{err, abandoning} {
		if fault.CodeOf(err) == "" {
			t.Error(err)
		}
	}
}
