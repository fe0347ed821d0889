package wiring_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/system"
	"holdco/app/work"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/store"
)

var (
	kills  = flag.Int("kills", 2, "how often TestCommandsThatAreKilledLoseNothingOnPostgresAndSQLite kills each command, on each store")
	killed = flag.String("killed", "", "which commands it kills, separated by commas; empty: all")
)

// toKill are the commands, in the order in which they are killed: a move ends on another store, which has no backup.
var toKill = []string{
	"backup", "restore", "restore --replace", "doctor --fix", "prune", "key rotate", "leads import", "migrate", "move",
}

// victim is a command that is killed at random instants.
type victim struct {
	prepare func() // before each; nil: nothing
	args    func() []string

	// isWell is whether the store is well when the command was killed; else it is when the next run has ended.
	isWell bool

	isEmpty bool // it makes a store that holds nothing

	// hasDone is what the next run says instead of succeeding, if the one that was killed had done all; empty: it succeeds.
	hasDone string

	after func(isLast bool) // the next run, of the last round or another; nil: nothing
}

// Whatever command on the store is killed, at whatever instant: nothing is lost, the same command ends what was begun, and the doctor
// finds nothing.
func TestCommandsThatAreKilledLoseNothingOnPostgresAndSQLite(t *testing.T) {
	t.Parallel()
	names := slices.Clone(toKill)
	if *killed != "" {
		wanted := strings.Split(*killed, ",")
		for _, name := range wanted {
			if !slices.Contains(toKill, name) {
				t.Fatalf("no command to kill is %q; there are %q", name, toKill)
			}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(wanted, name) })
	}
	eachDatabase(t, func(t *testing.T, environ ...string) {
		k := &killedStore{environ: environ, isPostgres: len(environ) > 1, dir: t.TempDir()}
		k.fill(t)
		victims := k.victims(t)
		for _, name := range names {
			began, cut := time.Now(), 0
			long := 300 * time.Millisecond // a run takes, until one has said so
			for n := range *kills {
				what := fmt.Sprintf("%s, number %d", name, n+1)
				var isCut bool
				if isCut, long = k.round(t, what, victims[name], long, n+1 == *kills); isCut {
					cut++
				}
			}
			t.Logf("%s: %d of %d runs were cut short, %s", name, cut, *kills, time.Since(began).Round(time.Millisecond))
		}
	})
}

// killedStore is one on which commands are killed.
type killedStore struct {
	environ    []string
	isPostgres bool
	dir        string // for files beside the store

	companies, issues, leads string // how many there are
}

// count counts rows of a table of the store.
func (k *killedStore) count(t *testing.T, table string) string {
	t.Helper()
	return strconv.FormatInt(scalar[int64](t, k.store(), "SELECT count(*) FROM "+table), 10)
}

// store is where the rows are.
func (k *killedStore) store() sqlDriver {
	if len(k.environ) > 1 && !k.isPostgres { // it was moved
		return sqlDriver{"sqlite", strings.TrimPrefix(k.environ[1], databaseURL+"sqlite://")}
	}
	return beside(k.environ)
}

// fill makes a store of a company at work, long ago, with leads and a secret.
func (k *killedStore) fill(t *testing.T) {
	t.Helper()
	clock := newClock()
	clock.ms.Store(time.Now().Add(-200 * 24 * time.Hour).UnixMilli())
	s := start(t, clock, k.environ...)
	acme := s.create(t, `{"name":"Acme","slug":"acme","startingTeams":[{"name":"A","headcount":2}]}`)
	const issues, entries = 300, 600
	must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		if err := tx.Turn(ctx, id.Company(acme.ID)); err != nil {
			return err
		}
		unit := work.In(tx, system.IDs{}, id.Company(acme.ID), "system:test")
		for n := range issues {
			draft := issue.Draft{Title: new(fmt.Sprint("Task ", n))}
			made, err := issue.New(id.New[id.Issue](system.IDs{}.UUIDv7()), id.Company(acme.ID), draft, "system:test", nil, tx.Now())
			if err == nil {
				_, err = unit.File(ctx, made)
			}
			if err != nil {
				return err
			}
		}
		for range entries {
			happened := event.Of(event.IssueCommented, id.Company(acme.ID), "x", event.Fields{event.F("text", strings.Repeat("a", 200))})
			if err := tx.Record(ctx, happened.By("system:test")); err != nil {
				return err
			}
		}
		return nil
	}))
	s.chained(t, acme)
	must(t, s.stop())
	k.generate(t, 1)
	for _, args := range [][]string{
		{"taxonomy", "import", k.sample(1) + "/taxonomy.json"}, {"campaigns", "import", k.sample(1) + "/campaigns.ndjson"},
		{"leads", "import", k.sample(1) + "/leads.ndjson"},
	} {
		mustRun(t, k.environ, args...)
	}
	set := exec.Command("holdco", "secret", "set", "acme", "api.key")
	set.Env, set.Stdin = append(os.Environ(), k.environ...), strings.NewReader("the value of a secret")
	if said, err := set.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	mustRun(t, k.environ, "backup", k.base())
	k.companies, k.issues, k.leads = k.count(t, "companies"), k.count(t, "issues"), k.count(t, "leads")
}

// base is a backup of the store as it was filled.
func (k *killedStore) base() string { return filepath.Join(k.dir, "base.tar.zst") }

const sampledLeads = 2000

// sample is a folder with leads, others for each seed.
func (k *killedStore) sample(seed int) string {
	return filepath.Join(k.dir, fmt.Sprint("sample-", seed))
}

func (k *killedStore) generate(t *testing.T, seed int) {
	t.Helper()
	mustRun(t, nil, "leads", "generate", "--count", strconv.Itoa(sampledLeads), "--seed", strconv.Itoa(seed), "--out", k.sample(seed))
}

// empty goes on with a store that has nothing.
func (k *killedStore) empty(t *testing.T) {
	t.Helper()
	if k.isPostgres {
		k.environ = withDatabase(strings.TrimPrefix(k.environ[0], dataDir), postgrestest.Options(t, postgrestest.EmptyURL(t)))
		return
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimPrefix(k.environ[0], dataDir), "holdco.db*"))
	must(t, err)
	for _, file := range files {
		must(t, os.Remove(file))
	}
}

// victims are the commands. Each leaves the store with what it was filled with.
func (k *killedStore) victims(t *testing.T) map[string]victim {
	t.Helper()
	always := func(args ...string) func() []string { return func() []string { return args } }
	file, seed, to := filepath.Join(k.dir, "b.tar.zst"), 1, ""
	fill := func() {
		k.empty(t)
		mustRun(t, k.environ, "restore", k.base())
		k.leads = strconv.Itoa(sampledLeads)
	}
	return map[string]victim{
		"backup": {
			args: always("backup", "--force", file), isWell: true,
			after: func(isLast bool) {
				if isLast { // it takes its time
					mustRun(t, k.environ, "restore", "--check", file)
				}
				left, err := filepath.Glob(filepath.Join(k.dir, ".*.partial-*"))
				if err != nil || left != nil {
					t.Errorf("left are %v, %v", left, err)
				}
			},
		},
		"restore": {
			prepare: func() { k.empty(t) }, args: always("restore", k.base()), hasDone: "restore into an empty store, or say --replace",
		},
		"restore --replace": {args: always("restore", "--replace", k.base()), isWell: true},
		"doctor --fix": {
			prepare: func() {
				runOn(t, k.store(), "UPDATE issues SET open_blockers = open_blockers + 1")
				runOn(t, k.store(), "UPDATE companies SET team_count = 7")
			},
			args: always("doctor", "--fix"),
		},
		"prune": {
			prepare: fill, args: always("prune", "--only", "activity", "--older-than", "90d"), isWell: true,
			after: func(bool) {
				if said, isSound := verified(k.environ, scalar[string](t, k.store(), "SELECT id FROM companies")); !isSound {
					t.Error(said)
				}
			},
		},
		"key rotate": { // which the backup does not open with any more
			args: always("key", "rotate"), isWell: true, after: func(bool) { mustRun(t, k.environ, "backup", "--force", k.base()) },
		},
		"leads import": {
			prepare: func() {
				seed++
				k.generate(t, seed)
				mustRun(t, k.environ, "taxonomy", "import", k.sample(seed)+"/taxonomy.json")
				mustRun(t, k.environ, "campaigns", "import", k.sample(seed)+"/campaigns.ndjson")
				k.leads = "" // any number
			},
			args: func() []string { return []string{"leads", "import", k.sample(seed) + "/leads.ndjson"} }, isWell: true,
			after: func(bool) {
				if got := k.count(t, "leads"); got != strconv.Itoa(seed*sampledLeads) {
					t.Errorf("there are %s leads after %d imports", got, seed)
				}
			},
		},
		"migrate": {
			prepare: func() { k.empty(t) }, args: always("migrate", "up"), isEmpty: true,
			after: func(isLast bool) {
				if isLast {
					fill()
				}
			},
		},
		"move": { // there, and in the next round back
			prepare: func() {
				to = "sqlite://" + filepath.Join(t.TempDir(), "holdco.db")
				if !k.isPostgres {
					to = postgrestest.EmptyURL(t)
				}
			},
			args: func() []string { return []string{"move", "--to", to} }, hasDone: "this store was moved to ",
			after: func(bool) {
				k.isPostgres = !k.isPostgres
				k.environ = []string{k.environ[0], databaseURL + to}
				startProcess(t, k.environ...).end(t) // it gives the activity log the places of its database
			},
		},
	}
}

// round kills a command and runs it again. It reports whether the command was killed before it had ended, and how long one takes.
func (k *killedStore) round(t *testing.T, what string, of victim, long time.Duration, isLast bool) (isCut bool, took time.Duration) {
	t.Helper()
	if of.prepare != nil {
		of.prepare()
	}
	command := exec.Command("holdco", of.args()...)
	command.Env = slices.Concat(os.Environ(), k.environ)
	must(t, command.Start())
	killing := time.AfterFunc(time.Duration(rand.Int64N(int64(long)*11/10)), func() { _ = command.Process.Kill() })
	var ended *exec.ExitError
	err := command.Wait()
	killing.Stop()
	if isCut = errors.As(err, &ended) && ended.ExitCode() == -1; err != nil && !isCut {
		t.Errorf("%s: before it was killed: %v", what, err)
	}
	if of.isWell {
		k.isWell(t, what+", killed", false)
	}
	began := time.Now()
	said, ok := runHoldco(t, k.environ, of.args()...)
	if isDone := of.hasDone != "" && strings.Contains(said, of.hasDone); !ok && !isDone {
		t.Errorf("%s: the next run: %s", what, said)
	} else if !isDone {
		long = time.Since(began)
	}
	if of.after != nil {
		of.after(isLast)
	}
	switch {
	case of.isEmpty && !isLast:
		if printed, ok := runHoldco(t, k.environ, "doctor", "--only", "store.schema,store.integrity"); !ok {
			t.Errorf("%s: %s", what, printed)
		}
	case !of.isWell || isLast:
		k.isWell(t, what, isLast)
	}
	return isCut, long
}

// isWell fails unless the doctor finds nothing and all is there. The checks that take long are made in the last round alone.
func (k *killedStore) isWell(t *testing.T, what string, isLast bool) {
	t.Helper()
	if isLast {
		for _, wrong := range examine(t, k.environ...) {
			t.Errorf("%s: %s", what, wrong)
		}
	} else {
		var printed string
		var ok bool
		await(t, "PostgreSQL to notice that a restoration is gone", func() bool {
			printed, ok = runHoldco(t, k.environ, "doctor", "--strict", "--only",
				"key,activity,outbox,companies,budgets,issues,leads,workspaces,backup")
			return !strings.Contains(printed, "the store is being restored")
		})
		if !ok {
			t.Errorf("%s: %s", what, printed)
		}
	}
	got := [3]string{k.count(t, "companies"), k.count(t, "issues"), k.count(t, "leads")}
	if want := [3]string{k.companies, k.issues, cmp.Or(k.leads, got[2])}; got != want {
		t.Errorf("%s: companies, issues and leads are %v of %v", what, got, want)
	}
}
