package wiring_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/page"
)

// runHoldco runs a command, and returns what it prints, and whether it succeeded.
func runHoldco(t *testing.T, environ []string, args ...string) (printed string, ok bool) {
	t.Helper()
	command := exec.Command("holdco", args...)
	command.Env = append(os.Environ(), environ...)
	out, err := command.CombinedOutput()
	return string(out), err == nil
}

func mustRun(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	printed, ok := runHoldco(t, environ, args...)
	if !ok {
		t.Fatalf("holdco %s: %s", strings.Join(args, " "), printed)
	}
	return printed
}

// eachEnviron runs a test with the variables of an empty store of each kind.
func eachEnviron(t *testing.T, test func(t *testing.T, dir string, environ []string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		test(t, dir, []string{dataDir + dir})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		test(t, dir, onPostgres(t, dir))
	})
}

// founded is a company with what it was founded with.
type founded struct {
	ID    string
	Teams []struct{ ID string }
}

// foundAcme founds a company that has a team of one, and ten dollars to spend.
func foundAcme(t *testing.T, ask *resttest.Client) founded {
	t.Helper()
	created := ask.Post("/v1/companies",
		`{"name":"Acme","slug":"acme","budget":{"usd":10},"startingTeams":[{"name":"A","headcount":1}]}`)
	created.Is(t, http.StatusCreated, "")
	return resttest.Data[founded](t, created)
}

// An older state does not act on the world twice.
func TestARestoredStoreWaitsForItsOperator(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		environ = append(environ, "HOLDCO_WEBHOOK_ALLOW_PRIVATE=true")
		receiver := listen(t)
		receiver.answers(http.StatusInternalServerError)
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		ask.Post("/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["company.created"]}`, receiver.url)).Is(t, http.StatusCreated, "")
		acme := foundAcme(t, ask)
		in := "/v1/companies/" + acme.ID
		hired := ask.Post(in+"/agents", fmt.Sprintf(`{"teamId":%q,"name":"Ada","role":"Engineer"}`, acme.Teams[0].ID))
		hired.Is(t, http.StatusCreated, "")
		agent := resttest.Data[struct{ ID, Token string }](t, hired)
		ask.Post(in+"/issues", `{"title":"Build it"}`).Is(t, http.StatusCreated, "")
		ada := resttest.NewBy(t, server.gatewayURL, "/gateway/openapi.json", agent.Token)
		claimed := ada.Post(leases, "")
		claimed.Is(t, http.StatusOK, "")
		lease := resttest.Data[apiLease](t, claimed)
		await(t, "a delivery", func() bool { return len(receiver.receipts()) > 0 })

		file := filepath.Join(dir, "b.tar.zst")
		mustRun(t, environ, "backup", file)
		printed, ok := runHoldco(t, environ, "restore", "--replace", file)
		if ok || !strings.Contains(printed, " or another restoration has ") {
			t.Errorf("beside a running server: %s", printed)
		}
		ask.Post(in+"/issues", `{"title":"Lost"}`).Is(t, http.StatusCreated, "")
		ada.Post(lease.path()+"/costs", lease.body(`"costs":[{"key":"lost","kind":"tools","usd":1}]`)).Is(t, http.StatusOK, "")
		cost := resttest.Data[[]struct{ ID string }](t, ask.Get(in+"/costs/entries"))[0].ID
		newest := resttest.Data[[]struct{ ID string }](t, ask.Get(in+"/activity?limit=1"))[0].ID
		place := page.Cursor("activity stream of="+acme.ID, page.Position{ID: newest})
		after := []string{
			in + "/activity/export?after=" + newest, in + "/costs/export?after=" + cost, in + "/activity/stream?lastEventId=" + place,
		}
		for _, path := range after[:2] {
			ask.Get(path).Is(t, http.StatusOK, "")
		}
		server.kill()
		before := len(receiver.receipts())
		receiver.answers(http.StatusOK)
		printed = mustRun(t, environ, "restore", "--replace", file)
		for _, want := range []string{
			"Leases were ended, and their issues are in the queue: 1", "Webhooks are held", "The former store is kept",
		} {
			if !strings.Contains(printed, want) {
				t.Errorf("it does not say %q: %s", want, printed)
			}
		}
		if wrong := examine(t, environ...); wrong != nil {
			t.Error(wrong)
		}

		server = startProcess(t, environ...)
		ask = resttest.New(t, server.url, string(rootToken))
		ada = resttest.NewBy(t, server.gatewayURL, "/gateway/openapi.json", agent.Token)
		for _, path := range after {
			ask.Get(path).Is(t, http.StatusBadRequest, "invalid_cursor")
		}
		renewed := ada.Post(lease.path()+"/renew", lease.body(""))
		renewed.Is(t, http.StatusConflict, "stale_lease")
		if !strings.Contains(string(renewed.Body), `"reason":"restored"`) {
			t.Errorf("%s", renewed.Body)
		}
		again := ada.Post(leases, "")
		again.Is(t, http.StatusOK, "")
		if next := resttest.Data[apiLease](t, again); next.Issue.ID != lease.Issue.ID || next.Run.Attempt != lease.Run.Attempt {
			t.Errorf("%+v after %+v", next, lease)
		}
		unheld := listen(t)
		ask.Post("/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["company.created"]}`, unheld.url)).Is(t, http.StatusCreated, "")
		ask.Post("/v1/companies", named("another")).Is(t, http.StatusCreated, "")
		await(t, "what is sent to another", func() bool { return len(unheld.receipts()) > 0 })
		if got := len(receiver.receipts()); got != before {
			t.Errorf("%d messages were sent that are held", got-before)
		}
		if printed := mustRun(t, environ, "webhook", "resume"); printed != "Webhooks that send again: 1\n" {
			t.Error(printed)
		}
		await(t, "the messages", func() bool { return len(receiver.receipts()) >= before+2 })
	})
}

// killWhen runs a command and kills it when something has happened, unless it ends before. It reports whether it did all that it should.
func killWhen(t *testing.T, environ []string, happened func() bool, args ...string) (isDone bool, printed string) {
	t.Helper()
	command := exec.Command("holdco", args...)
	command.Env = append(os.Environ(), environ...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	must(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			return err == nil, out.String()
		case <-time.After(time.Millisecond):
			if happened() {
				_ = command.Process.Kill()
				return <-ended == nil, out.String()
			}
		}
	}
}

// A backup that is killed leaves nothing under its name, and the next one removes what it left.
func TestABackupThatIsKilledLeavesNoFile(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		file, saved := filepath.Join(dir, "b.tar.zst"), 0
		// size is that of the file that is being written; -1: there is none.
		size := func() int64 {
			some, err := filepath.Glob(filepath.Join(dir, ".b.tar.zst.partial-*"))
			must(t, err)
			for _, one := range some {
				if found, err := os.Stat(one); err == nil && found.Mode().IsRegular() {
					return found.Size()
				}
			}
			return -1
		}
		for n, happened := range []func() bool{
			func() bool { return size() >= 0 }, func() bool { return size() > 0 }, func() bool { return false },
			func() bool { return size() >= 0 }, func() bool { return size() > 0 },
		} {
			ask.Post("/v1/companies", named(fmt.Sprintf("company-%d", n))).Is(t, http.StatusCreated, "")
			if isDone, _ := killWhen(t, environ, happened, "backup", "--force", file); isDone {
				saved = n + 1
			}
			if n == 0 && saved == 0 && exists(t, file) {
				t.Error("one that was killed has its name")
			}
		}
		// What has the name is whole.
		printed, counted := mustRun(t, environ, "restore", "--check", file), 0
		found := regexp.MustCompile(`(\d+) companies, as of`).FindStringSubmatch(printed)
		if found != nil {
			counted, _ = strconv.Atoi(found[1])
		}
		if saved < 3 || counted < saved {
			t.Errorf("%d companies were saved, and %d are there: %s", saved, counted, printed)
		}
		server.kill()
		mustRun(t, environ, "backup", "--force", file)
		left, err := filepath.Glob(filepath.Join(dir, ".*.partial-*"))
		if err != nil || left != nil {
			t.Errorf("%v, %v", left, err)
		}
	})
}

// A restoration that is killed leaves the store as it was, or has restored it.
func TestARestorationThatIsKilledIsDoneOrNot(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		ask.Post("/v1/companies", named("acme")).Is(t, http.StatusCreated, "")
		file := filepath.Join(dir, "b.tar.zst")
		mustRun(t, environ, "backup", file)
		server.kill()
		killed := 0
		for n := range 5 {
			before, polls := beingRestored(t, dir, environ), 0
			isDone, _ := killWhen(t, environ, func() bool {
				isNew := func(name string) bool { return !slices.Contains(before, name) }
				if polls > 0 || slices.ContainsFunc(beingRestored(t, dir, environ), isNew) {
					polls++
				}
				return polls > n*n*n // later and later after it has begun
			}, "restore", "--replace", file)
			if !isDone && polls > 0 {
				killed++
			}
			if wrong := slices.DeleteFunc(examine(t, environ...), isLeftover); len(wrong) > 0 {
				t.Error(wrong)
			}
		}
		if killed == 0 {
			t.Error("none was killed after it had begun")
		}
		mustRun(t, environ, "restore", "--replace", file)
		left, err := filepath.Glob(filepath.Join(dir, ".*.partial-*"))
		if err != nil || left != nil {
			t.Errorf("%v, %v", left, err)
		}
		server = startProcess(t, environ...)
		listed := resttest.New(t, server.url, string(rootToken)).Get("/v1/companies")
		if all := resttest.Data[[]company](t, listed); len(all) != 1 || all[0].Slug != "acme" {
			t.Errorf("%s", listed.Body)
		}
	})
}

// beingRestored are the names under which backups are being restored, or were when they were killed.
func beingRestored(t *testing.T, dir string, environ []string) []string {
	t.Helper()
	address := ""
	for _, name := range []string{databaseURL, directURL} { // the latter leads past a pooler
		for _, variable := range environ {
			if value, isIt := strings.CutPrefix(variable, name); isIt {
				address = value
			}
		}
	}
	if address != "" {
		db, err := sql.Open("pgx", address)
		must(t, err)
		defer db.Close()
		var names string
		must(t, db.QueryRowContext(t.Context(), "SELECT coalesce(string_agg(nspname, ' '), '') FROM pg_namespace "+
			"WHERE nspname LIKE 'holdco!_restoring!_%' ESCAPE '!'").Scan(&names))
		return strings.Fields(names)
	}
	names, err := filepath.Glob(filepath.Join(dir, ".holdco.db.partial-*"))
	must(t, err)
	return names
}

func TestABackupIsStreamedToAdmins(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		ask.Post("/v1/companies", named("acme")).Is(t, http.StatusCreated, "")
		made := ask.Post("/v1/tokens", `{"name":"reader","scopes":["read"]}`)
		made.Is(t, http.StatusCreated, "")
		reader := resttest.Data[struct{ Token string }](t, made)
		resttest.New(t, server.url, reader.Token).Get("/v1/backup").Is(t, http.StatusForbidden, "insufficient_scope")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+"/v1/backup", nil)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+string(rootToken))
		answer, err := http.DefaultClient.Do(request)
		must(t, err)
		defer answer.Body.Close()
		content, err := io.ReadAll(answer.Body)
		must(t, err)
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/zstd" {
			t.Errorf("%s, %s", answer.Status, answer.Header.Get("Content-Type"))
		}
		file := filepath.Join(dir, "b.tar.zst")
		must(t, os.WriteFile(file, content, 0o600))
		server.kill()
		if printed := mustRun(t, environ, "restore", "--check", file); !strings.Contains(printed, "1 companies") {
			t.Error(printed)
		}
	})
}

// What keeps a copy from being made is told with a status, not by an answer that breaks off.
func TestABackupThatCannotBeStreamedHasAStatus(t *testing.T) {
	t.Parallel()
	server := startProcess(t, dataDir+t.TempDir(), databaseURL+"sqlite::memory:")
	answer := resttest.New(t, server.url, string(rootToken)).Get("/v1/backup")
	answer.Is(t, http.StatusServiceUnavailable, "unavailable")
	if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		t.Error(got)
	}
}

// A server that was cut off while its store was restored must not write what it has in memory into the other one.
func TestAServerWhoseStoreWasRestoredEndsOnPostgres(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	address := cluster.Database(t)
	cluster.Execute(t, "CREATE ROLE server SUPERUSER LOGIN PASSWORD 'secret'")
	own, err := url.Parse(address)
	must(t, err)
	own.User = url.UserPassword("server", "secret")
	dir := t.TempDir()
	environ := []string{dataDir + dir, databaseURL + own.String()}
	server := startProcess(t, environ...)
	file := filepath.Join(dir, "b.tar.zst")
	mustRun(t, environ, "backup", file)
	if printed, ok := runHoldco(t, environ, "restore", "--replace", file); ok || !strings.Contains(printed, "stop it first") {
		t.Errorf("beside an idle server: %s", printed)
	}
	cluster.Execute(t, "ALTER ROLE server NOLOGIN")
	cluster.Execute(t, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = 'server'")
	mustRun(t, []string{dataDir + dir, databaseURL + address}, "restore", "--replace", file)
	cluster.Execute(t, "ALTER ROLE server LOGIN")
	var ended *exec.ExitError
	if err := server.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	if !strings.Contains(server.log.String(), "holdco: the store was restored; start again\n") {
		t.Errorf("it does not say why: %s", server.log.String())
	}
	startProcess(t, environ...)
}

// A restoration that is killed in the transaction that switches leaves the store as it was.
func TestARestorationThatIsKilledAsItSwitchesChangesNothingOnPostgres(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), postgrestest.URL(t)
	environ := []string{dataDir + dir, databaseURL + address}
	server := startProcess(t, environ...)
	ask := resttest.New(t, server.url, string(rootToken))
	ask.Post("/v1/companies", named("acme")).Is(t, http.StatusCreated, "")
	file := filepath.Join(dir, "b.tar.zst")
	mustRun(t, environ, "backup", file)
	ask.Post("/v1/companies", named("later")).Is(t, http.StatusCreated, "")
	server.kill()

	db, err := sql.Open("pgx", address)
	must(t, err)
	defer db.Close()
	count := func(query string) (found int) {
		must(t, db.QueryRowContext(t.Context(), query).Scan(&found))
		return found
	}
	reader, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = reader.ExecContext(t.Context(), "LOCK TABLE turns_15 IN ACCESS SHARE MODE") // one of the last to be moved
	must(t, err)
	command := exec.Command("holdco", "restore", "--replace", file)
	command.Env = append(os.Environ(), environ...)
	must(t, command.Start())
	const restores = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdco'"
	await(t, "the switch", func() bool {
		return count(restores+" AND wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE%'") == 1
	})
	must(t, command.Process.Kill())
	_ = command.Wait()
	must(t, reader.Rollback())
	await(t, "the end of its connection", func() bool { return count(restores) == 0 })

	if got := count("SELECT count(*) FROM companies"); got != 2 {
		t.Errorf("%d companies are there", got)
	}
	if wrong := slices.DeleteFunc(examine(t, environ...), isLeftover); len(wrong) > 0 {
		t.Error(wrong)
	}
	mustRun(t, environ, "restore", "--replace", file)
	if got := count("SELECT count(*) FROM companies"); got != 1 {
		t.Errorf("%d companies were restored", got)
	}
	if got := count("SELECT count(*) FROM pg_namespace WHERE starts_with(nspname, 'holdco_restoring_')"); got != 0 {
		t.Errorf("%d schemas are left", got)
	}
}
