package wiring_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/system/processtest"
)

// The scenarios of testdata/script run as an operator would type them, on both stores.
func TestCommands(t *testing.T) {
	t.Parallel()
	scripts := func(t *testing.T, databaseURL func() string) {
		testscript.Run(t, testscript.Params{
			Dir:                 filepath.Join("..", "testdata", "script"),
			RequireExplicitExec: true,
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"capture": capture,
				"serve":   func(ts *testscript.TestScript, _ bool, _ []string) { serve(t, ts) },
				"company": func(ts *testscript.TestScript, _ bool, args []string) { createCompany(t, ts, args[0]) },
				"asks":    func(ts *testscript.TestScript, _ bool, args []string) { asks(t, ts, args[0], args[1]) },
				"sql":     func(ts *testscript.TestScript, _ bool, args []string) { runOn(t, beside(storeOf(ts)), args[0]) },
			},
			Setup: func(env *testscript.Env) error {
				env.Setenv(processtest.Environ())
				env.Setenv("HOLDCO_DATA_DIR", filepath.Join(env.WorkDir, "data"))
				if databaseURL != nil {
					env.Setenv("HOLDCO_DATABASE_URL", databaseURL())
				}
				return nil
			},
		})
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		scripts(t, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		scripts(t, func() string { return postgrestest.EmptyURL(t) })
	})
}

// capture NAME REGEXP sets a variable to what the group of the expression matches in the last output.
func capture(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("no match for %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// storeOf are the variables that say where the store of a script is.
func storeOf(ts *testscript.TestScript) []string {
	environ := []string{dataDir + ts.Getenv("HOLDCO_DATA_DIR")}
	if url := ts.Getenv("HOLDCO_DATABASE_URL"); url != "" {
		environ = append(environ, databaseURL+url)
	}
	return environ
}

// runOn runs a statement beside the servers on a store.
func runOn(t *testing.T, database sqlDriver, statement string) {
	t.Helper()
	db, err := sql.Open(database.name, database.address)
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	must(t, err)
}

// serve starts a server on the store of a script, until that ends, and lets commands ask it with a token that may do all.
func serve(t *testing.T, ts *testscript.TestScript) {
	server := startProcess(t, storeOf(ts)...)
	ts.Defer(server.kill)
	ts.Setenv("HOLDCO_URL", server.url)
	ts.Setenv("GATEWAY_URL", server.gatewayURL)
	ts.Setenv("HOLDCO_TOKEN", string(rootToken))
}

// createCompany SLUG creates a company on the server of a script.
func createCompany(t *testing.T, ts *testscript.TestScript, slug string) {
	created := resttest.New(t, ts.Getenv("HOLDCO_URL"), string(rootToken)).Post("/v1/companies", named(slug))
	created.Is(t, http.StatusCreated, "")
}

// asks TOKEN NAME claims an issue with the token of an agent, asks for an approval, and sets a variable to its id.
func asks(t *testing.T, ts *testscript.TestScript, token, name string) {
	ada := resttest.NewBy(t, ts.Getenv("GATEWAY_URL"), "/gateway/openapi.json", token)
	claimed := ada.Post(leases, "")
	claimed.Is(t, http.StatusOK, "")
	lease := resttest.Data[apiLease](t, claimed)
	body := lease.body(deploying + `,"cost":{"usd":1.5},"reasoning":"It is due.","sideEffects":["a","b"]`)
	asked := ada.Post(lease.path()+"/approval", body)
	asked.Is(t, http.StatusOK, "")
	ts.Setenv(name, resttest.Data[apiApproval](t, asked).ID)
}

// A token that another process rotates or revokes ends in a running server too.
func TestCommandsEndTokensInARunningServer(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		endTokens(t, "HOLDCO_DATA_DIR="+t.TempDir())
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		endTokens(t, "HOLDCO_DATA_DIR="+t.TempDir(), "HOLDCO_DATABASE_URL="+postgrestest.URL(t))
	})
}

func endTokens(t *testing.T, environ ...string) {
	server := startProcess(t, environ...)
	var issued struct{ ID, Token string }
	run := func(args ...string) string {
		t.Helper()
		command := exec.Command("holdco", args...)
		command.Env = append(os.Environ(), environ...)
		command.Stderr = t.Output()
		out, err := command.Output()
		if err != nil {
			t.Fatalf("holdco %s: %v", strings.Join(args, " "), err)
		}
		return string(out)
	}
	status := func() int {
		t.Helper()
		request, err := http.NewRequest(http.MethodGet, server.url+"/v1/whoami", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "bearer "+issued.Token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	endsSoon := func() {
		t.Helper()
		await(t, "the end of the old value", func() bool { return status() == http.StatusUnauthorized })
	}

	if err := json.Unmarshal([]byte(run("token", "create", "--json", "--name", "x", "--scopes", "read")), &issued); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != http.StatusOK {
		t.Fatalf("a new token gets %d", got)
	}
	old := issued.Token
	if err := json.Unmarshal([]byte(run("token", "rotate", "--json", issued.ID)), &issued); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != http.StatusOK {
		t.Fatalf("the new value gets %d", got)
	}
	fresh := issued.Token
	issued.Token = old
	endsSoon()
	issued.Token = fresh
	run("token", "revoke", issued.ID)
	endsSoon()
}

// The command line shows what the server has sent, and why it has disabled a webhook.
func TestCommandsShowDeliveriesOfARunningServer(t *testing.T) {
	t.Parallel()
	environ := []string{"HOLDCO_DATA_DIR=" + t.TempDir(), allowPrivate}
	startProcess(t, environ...)
	run := func(args ...string) string {
		t.Helper()
		command := exec.Command("holdco", args...)
		command.Env = append(os.Environ(), environ...)
		command.Stderr = t.Output()
		out, err := command.Output()
		must(t, err)
		return string(out)
	}
	create := func(url string) string {
		var made struct{ ID string }
		must(t, json.Unmarshal([]byte(run("webhook", "create", "--json", "--url", url)), &made))
		run("webhook", "test", made.ID)
		return made.ID
	}
	shows := func(pattern string, args ...string) {
		t.Helper()
		await(t, pattern, func() bool { return regexp.MustCompile(pattern).MatchString(run(args...)) })
	}

	gone := listen(t)
	gone.answers(http.StatusGone)
	shows(`webhook\.test .* failed +1 +410 +-`, "webhook", "deliveries", create(gone.url))
	shows(`disabled: The endpoint answered 410 Gone`, "webhook", "list")
	failing := listen(t)
	failing.answers(http.StatusInternalServerError)
	shows(`webhook\.test .* pending +[1-9] +500 +2`, "webhook", "deliveries", create(failing.url))
	shows(`webhook\.test .* pending +[1-9] +\S.*refused.* +2`, "webhook", "deliveries", create("http://127.0.0.1:1"))
}
