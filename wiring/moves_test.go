package wiring_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

// moved runs the command, and returns its exit code with all that it prints.
func moved(t *testing.T, environ []string, args ...string) (code int, printed string) {
	t.Helper()
	command := exec.Command("holdco", append([]string{"move"}, args...)...)
	command.Env = append(os.Environ(), environ...)
	out, err := command.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

// A company grows out of SQLite: what the server answers is the same before and after.
func TestAServerOnPostgresServesWhatWasMovedFromSQLite(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), postgrestest.EmptyURL(t)
	source := []string{dataDir + dir, "HOLDCO_WEBHOOK_ALLOW_PRIVATE=true"}
	target := append([]string{databaseURL + address}, source...)
	server := startProcess(t, source...)
	ask := resttest.New(t, server.url, string(rootToken))
	acme := foundAcme(t, ask)
	in := "/v1/companies/" + acme.ID
	ask.Post(in+"/agents", fmt.Sprintf(`{"teamId":%q,"name":"Ada","role":"Engineer"}`, acme.Teams[0].ID)).Is(t, http.StatusCreated, "")
	for _, title := range []string{"Build it", "Test it", "Ship it 🚢"} {
		ask.Post(in+"/issues", fmt.Sprintf(`{"title":%q}`, title)).Is(t, http.StatusCreated, "")
	}
	keep := exec.Command("holdco", "secret", "set", "acme", "api.key")
	keep.Env, keep.Stdin = append(os.Environ(), source...), strings.NewReader("value of the key")
	if out, err := keep.CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	receiver := listen(t)
	ask.Post("/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["company.created"]}`, receiver.url)).Is(t, http.StatusCreated, "")
	if code, printed := moved(t, source, "--to", address); code != 1 || !strings.Contains(printed, "stop it first") {
		t.Errorf("beside a server: %d, %s", code, printed)
	}
	paths := []string{
		"/v1/companies", in, in + "/teams", in + "/agents", in + "/issues", in + "/secrets", in + "/budgets", "/v1/webhooks", "/v1/tokens",
		in + "/activity?limit=3",
	}
	// Only what time changes may differ: when a token was used last.
	used := regexp.MustCompile(`"lastUsedAt":("[^"]*"|null)`)
	answers := func(of *resttest.Client) (all []string) {
		for _, path := range paths {
			data, err := json.Marshal(resttest.Data[any](t, of.Get(path)))
			must(t, err)
			all = append(all, used.ReplaceAllString(string(data), ""))
		}
		return all
	}
	before := answers(ask)
	server.end(t)

	code, printed := moved(t, source, "--to", address)
	want := "verified; set HOLDCO_DATABASE_URL=" + strings.Replace(address, ":secret@", "@", 1)
	if code != 0 || !strings.Contains(printed, want) || strings.Contains(printed, "secret") {
		t.Fatalf("%d, %s", code, printed)
	}
	for _, args := range [][]string{{"serve"}, {"token", "list"}, {"migrate", "up"}} {
		printed, ok := runHoldco(t, append(source, anyPorts...), args...)
		if ok || !strings.Contains(printed, "this store was moved to 127.0.0.1:") {
			t.Errorf("%v: %s", args, printed)
		}
	}
	if wrong := examine(t, target...); wrong != nil {
		t.Error(wrong)
	}
	server = startProcess(t, target...)
	ask = resttest.New(t, server.url, string(rootToken))
	for n, after := range answers(ask) {
		if before[n] != after {
			t.Errorf("%s:\n%s\n%s", paths[n], before[n], after)
		}
	}
	// What is sealed opens: a webhook signs with its secret.
	ask.Post("/v1/companies", named("another")).Is(t, http.StatusCreated, "")
	await(t, "a delivery", func() bool { return len(receiver.receipts()) > 0 })
	if wrong := examine(t, target...); wrong != nil {
		t.Error(wrong)
	}
}

// Killed at any instants, a move is finished by those that follow.
func TestAMoveBetweenSQLiteAndPostgresThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sample := filepath.Join(dir, "sample")
	environ := []string{dataDir + dir}
	server := startProcess(t, environ...)
	resttest.New(t, server.url, string(rootToken)).Post("/v1/companies", named("acme")).Is(t, http.StatusCreated, "")
	server.end(t)
	mustRun(t, environ, "leads", "generate", "--count", "30000", "--seed", "1", "--out", sample)
	for _, args := range [][]string{
		{"taxonomy", "import", sample + "/taxonomy.json"}, {"campaigns", "import", sample + "/campaigns.ndjson"},
		{"leads", "import", sample + "/leads.ndjson"},
	} {
		mustRun(t, environ, args...)
	}
	first, address := "sqlite://"+filepath.Join(dir, "holdco.db"), postgrestest.EmptyURL(t)
	last := "sqlite://" + filepath.Join(dir, "back", "holdco.db")
	digests := map[string]string{}
	for n, way := range [][2]string{{first, address}, {address, last}} {
		kills := 0
		for done := false; !done; {
			// At the mark, at two batches, and at the end of the copy; then it is let through.
			began := markOf(t, way[1])
			isDone, printed := killWhen(t, environ, func() bool {
				now := markOf(t, way[1])
				switch kills {
				case 0:
					return now.isThere
				case 1, 2:
					return now.rows > began.rows
				case 3:
					return now.isCopied
				}
				return false
			}, "move", "--from", way[0], "--to", way[1], "--json")
			switch {
			case isDone:
				digests[way[0]], done = sumsOf(t, jsonIn(printed)), true
			case !strings.Contains(printed, "holdco: "): // it was killed
				kills++
			case strings.Contains(printed, "this store was moved to "): // it was killed after its last step
				mustRun(t, environ, "move", "--abandon", "--from", way[0])
				again := fmt.Sprintf("sqlite://%s/again-%d/holdco.db", dir, n)
				printed = mustRun(t, environ, "move", "--from", way[0], "--to", again, "--json")
				digests[way[0]], done = sumsOf(t, jsonIn(printed)), true
			default:
				t.Fatalf("after %d kills: %s", kills, printed)
			}
		}
		if kills < 3 {
			t.Errorf("it was killed %d times", kills)
		}
		if wrong := examine(t, dataDir+dir, databaseURL+way[1]); wrong != nil {
			t.Errorf("%s: %v", way[1], wrong)
		}
	}
	if there, back := digests[first], digests[address]; there != back {
		t.Errorf("%s\n%s", there, back)
	}
}

// moveMark is what a store says of a move to it.
type moveMark struct {
	isThere, isCopied bool
	rows              int64
}

// markOf reads the mark of a store, which may be missing, or have no schema.
func markOf(t *testing.T, url string) (found moveMark) {
	t.Helper()
	driver, address := "pgx", url
	if path, isSQLite := strings.CutPrefix(url, "sqlite://"); isSQLite {
		driver, address = "sqlite", "file:"+path+"?mode=ro"
	}
	db, err := sql.Open(driver, address)
	must(t, err)
	defer db.Close()
	var done int64
	err = db.QueryRowContext(t.Context(), "SELECT row_count, done FROM moves").Scan(&found.rows, &done)
	found.isThere, found.isCopied = err == nil, err == nil && done == 1
	return found
}

// sumsOf are the digests that a move printed.
func sumsOf(t *testing.T, printed []byte) string {
	t.Helper()
	var said struct {
		Tables []struct{ Name, SHA256 string }
	}
	must(t, json.Unmarshal(printed, &said))
	if len(said.Tables) == 0 {
		t.Errorf("%s", printed)
	}
	return fmt.Sprint(said.Tables)
}

// What is printed to be set leads to the store that was moved to, however that is called.
func TestAMoveNamesItsTargetAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{dataDir + dir}
	mustRun(t, environ, "migrate", "up")
	to := "sqlite://" + filepath.Join(dir, "my 50% store.db")
	code, printed := moved(t, environ, "--to", to)
	if code != 0 || !strings.HasSuffix(printed, "verified; set HOLDCO_DATABASE_URL="+to+"\n") {
		t.Errorf("%d, %s", code, printed)
	}
	code, printed = moved(t, environ, "--to", to, "--keep-source", "--json")
	if code != 0 || !strings.Contains(printed, `"verified": false`) || !strings.Contains(printed, `"unmarked": true`) {
		t.Errorf("%d, %s", code, printed)
	}
}

func TestAMoveThatIsWrongSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{dataDir + dir}
	mustRun(t, environ, "migrate", "up")
	store := "sqlite://" + filepath.Join(dir, "holdco.db")
	must(t, os.Symlink(filepath.Join(dir, "holdco.db"), filepath.Join(dir, "link.db")))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "--to must name the store to move to"},
		{[]string{"--to", store}, 2, "--from and --to are the same store"},
		{[]string{"--to", "sqlite://" + filepath.Join(dir, "link.db")}, 2, "--from and --to are the same store"},
		{[]string{"--from", "sqlite::memory:", "--to", store}, 2, "--from: a store in memory ends with its process"},
		{[]string{"--to", "sqlite::memory:"}, 2, "--to: a store in memory ends with its process"},
		{[]string{"--to", "mysql://localhost/holdco"}, 2, "--to: the URL must be of the form"},
		{[]string{"--from", "sqlite://" + dir + "/none.db", "--to", store}, 1, "there is no store at"},
		{[]string{"--to", "postgres://holdco:secret@127.0.0.1:1/holdco", "--database-wait", "0s"}, 1, "cannot be reached"},
		{[]string{"--to", "sqlite:///proc/none/holdco.db"}, 1, "--to: make the folder of the store"},
		{[]string{"--abandon", "--keep-source"}, 2, "--abandon does not go with --keep-source"},
		{[]string{"--abandon"}, 0, "is not being moved, and was not"},
		{[]string{"--to", store, "more"}, 2, "takes no argument"},
	} {
		code, printed := moved(t, environ, c.args...)
		isOneLine := strings.Count(printed, "\n") == 1
		if code != c.code || !strings.Contains(printed, c.says) || !isOneLine || strings.Contains(printed, "secret") {
			t.Errorf("%v: %d, %s", c.args, code, printed)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "holdco.db"))
	must(t, err)
	defer db.Close()
	var marks int
	must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM moves").Scan(&marks))
	if marks != 0 {
		t.Error("what was refused left a mark")
	}
}

func TestAMoveThatTheServerOfPostgresRefusesSaysSo(t *testing.T) {
	t.Parallel()
	dir, cluster := t.TempDir(), postgrestest.NewCluster(t)
	environ := []string{dataDir + dir}
	mustRun(t, environ, "migrate", "up")
	cluster.Execute(t, "CREATE DATABASE target")
	cluster.Execute(t, "CREATE ROLE weak LOGIN PASSWORD 'weak'")
	address := strings.Replace(cluster.URL, "/postgres?", "/target?", 1)
	for _, c := range []struct{ to, says string }{
		{strings.Replace(address, ":secret@", ":wr0ng@", 1), `refuses the user "holdco"`},
		{strings.Replace(address, "/target?", "/none?", 1), `has no database "none"`},
		{strings.Replace(address, "holdco:secret@", "weak:weak@", 1), "the user of the database URL has to own the tables of the store"},
	} {
		code, printed := moved(t, environ, "--to", c.to)
		if code != 1 || !strings.Contains(printed, c.says) || strings.Contains(printed, "wr0ng") {
			t.Errorf("%d, %s", code, printed)
		}
	}
	if code, printed := moved(t, environ, "--to", address); code != 0 {
		t.Errorf("%d, %s", code, printed)
	}
}

// What one command has marked, the same command with --abandon frees: both stores.
func TestAMoveToPostgresThatIsAbandonedFreesTheConfiguredStore(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), postgrestest.EmptyURL(t)
	environ := []string{dataDir + dir}
	mustRun(t, environ, "migrate", "up")
	db, err := sql.Open("sqlite", filepath.Join(dir, "holdco.db"))
	must(t, err)
	_, err = db.ExecContext(t.Context(),
		"INSERT INTO geographies (id, name, slug, country_code) VALUES ('geo_1', 'a' || char(0), 'a', 'DE')")
	must(t, errors.Join(err, db.Close()))
	if code, printed := moved(t, environ, "--to", address); code != 1 || !strings.Contains(printed, "has a NUL character") {
		t.Fatalf("%d, %s", code, printed)
	}
	code, printed := moved(t, environ, "--abandon", "--to", address)
	if code != 0 || !strings.Contains(printed, "is empty again\n") || !strings.Contains(printed, "holdco.db can be used again\n") {
		t.Errorf("%d, %s", code, printed)
	}
	mustRun(t, environ, "token", "list")
}

// A target that was missing is missing again when nothing is moved to it.
func TestAMoveThatIsRefusedLeavesNoTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{dataDir + dir}
	mustRun(t, environ, "migrate", "up")
	first, second := "sqlite://"+filepath.Join(dir, "first.db"), "sqlite://"+filepath.Join(dir, "second.db")
	mustRun(t, environ, "move", "--to", first)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--to", second}, 1, "is being moved to " + filepath.Join(dir, "first.db") + ", or was"},
		{[]string{"--abandon", "--to", second}, 0, "is not being moved to"},
	} {
		if code, printed := moved(t, environ, c.args...); code != c.code || !strings.Contains(printed, c.says) {
			t.Errorf("%v: %d, %s", c.args, code, printed)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "second.db*")); err != nil || left != nil {
			t.Errorf("%v: left are %v, %v", c.args, left, err)
		}
	}
}

// jsonIn is the JSON at the end of what a command printed.
func jsonIn(printed string) []byte {
	_, object, _ := strings.Cut(printed, "{")
	return []byte("{" + object)
}
