package wiring_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// verified runs the check of a chain, as an operator would, and returns what it says.
func verified(environ []string, of ...string) (said string, isSound bool) {
	out, err := commandIn(environ, append([]string{"audit", "verify"}, of...)...).CombinedOutput()
	return string(out), err == nil
}

// commandIn is the program with a command, in an environment.
func commandIn(environ []string, arguments ...string) *exec.Cmd {
	command := exec.Command("holdco", arguments...)
	command.Env = append(os.Environ(), environ...)
	return command
}

// keptHead writes a head into a file, and returns its path, and the public key that the head names. It waits for an entry: where others
// write to the cluster, those of Postgres are chained when what began before them is over.
func keptHead(t *testing.T, ask *resttest.Client, path string) (file, key string) {
	t.Helper()
	var answer resttest.Answer
	await(t, "an entry in the chain", func() bool {
		answer = ask.Get(path + "/audit/head")
		answer.Is(t, http.StatusOK, "")
		return resttest.Data[struct{ Place int64 }](t, answer).Place > 0
	})
	file = filepath.Join(t.TempDir(), "head.json")
	must(t, os.WriteFile(file, answer.Body, 0o600))
	return file, resttest.Data[struct{ PublicKey string }](t, answer).PublicKey
}

// Who can write to the store makes all hashes anew: a head that was kept tells.
func TestAChainThatWasMadeAnewIsFoundByAHead(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		made := ask.Post("/v1/companies", named("acme"))
		made.Is(t, http.StatusCreated, "")
		of := resttest.Data[struct{ ID string }](t, made).ID
		head, key := keptHead(t, ask, "/v1/companies/"+of)
		server.kill()
		database := beside(environ)
		for _, statement := range []string{
			"UPDATE activity SET actor = 'user:mallory' WHERE company_id = '" + of + "'",
			"DELETE FROM audit_links WHERE company_id = '" + of + "'", "DELETE FROM audit_heads WHERE chain = '" + of + "'",
			"UPDATE audit_progress SET txid = 0, seq = 0",
		} {
			runOn(t, database, statement)
		}
		next := startProcess(t, environ...)
		forged, _ := keptHead(t, resttest.New(t, next.url, string(rootToken)), "/v1/companies/"+of) // chains all anew
		next.kill()
		if said, isSound := verified(environ, of, "--head", forged); !isSound {
			t.Fatal(said)
		}
		said, isSound := verified(environ, of, "--head", head, "--key", key)
		if isSound || !strings.Contains(said, "was changed, number 1") {
			t.Error(said)
		}
	})
}

// Servers that are killed at any moment leave no entry out of the chain, and none in it twice.
func TestServersThatAreKilledLeaveWholeChainsOnPostgresToo(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		var of string
		const rounds, each = 4, 30
		for round := range rounds {
			servers := []*process{startProcess(t, environ...)}
			if len(environ) > 1 {
				servers = append(servers, startProcess(t, environ...))
			}
			ask := resttest.New(t, servers[0].url, string(rootToken))
			if round == 0 {
				of = resttest.Data[struct{ ID string }](t, ask.Post("/v1/companies", named("acme"))).ID
			}
			for n := range each {
				body := fmt.Sprintf(`{"name":"team %d of %d","headcount":1}`, n, round)
				ask.Post("/v1/companies/"+of+"/teams", body).Is(t, http.StatusCreated, "")
			}
			for _, one := range servers {
				one.kill()
			}
		}
		startProcess(t, environ...)
		await(t, "all in the chain", func() bool {
			said, isSound := verified(environ, of)
			if !isSound {
				t.Fatal(said)
			}
			return strings.HasPrefix(said, fmt.Sprint(1+rounds*each, " entries"))
		})
	})
}

func TestAnEntryThatWasTamperedWithIsNamedOnPostgresToo(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		server := startProcess(t, environ...)
		ask := resttest.New(t, server.url, string(rootToken))
		made := ask.Post("/v1/companies", named("acme"))
		made.Is(t, http.StatusCreated, "")
		of := resttest.Data[struct{ ID string }](t, made).ID
		for _, team := range []string{"one", "two", "three"} {
			ask.Post("/v1/companies/"+of+"/teams", `{"name":"`+team+`","headcount":1}`).Is(t, http.StatusCreated, "")
		}
		export := filepath.Join(t.TempDir(), "acme.jsonl")
		await(t, "all in the chain", func() bool {
			said, isSound := verified(environ, of)
			return isSound && strings.HasPrefix(said, "4 entries")
		})
		head, key := keptHead(t, ask, "/v1/companies/"+of)
		must(t, os.WriteFile(export, ask.Get("/v1/companies/"+of+"/activity/export").Body, 0o600))
		out, err := commandIn(environ, "key", "rotate").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		server.kill()
		next := startProcess(t, environ...)
		later, laterKey := keptHead(t, resttest.New(t, next.url, string(rootToken)), "/v1/companies/"+of)
		instance, _ := keptHead(t, resttest.New(t, next.url, string(rootToken)), "/v1")
		next.kill()
		if key == laterKey {
			t.Error("another key of the instance signs with the same")
		}
		for _, c := range []struct {
			of   []string
			want string
		}{
			{[]string{of, "--head", head, "--key", key}, "4 entries"},
			{[]string{of, "--head", head}, "4 entries"},
			{[]string{of, "--head", later, "--key", key, "--key", laterKey}, "4 entries"},
			{[]string{of, "--head", later, "--key", key}, "not what the key has signed"},
			{[]string{of, "--key", key}, "--head"},
			{[]string{of, "--head", head, "--key", "x"}, "32 bytes in base64"},
			{[]string{of, "--head", instance}, "another chain"},
			{[]string{"instance", "--head", instance, "--key", laterKey}, "none changed"},
			{[]string{export, "--head", head, "--key", key}, "4 entries"},
			{[]string{export, "--head", instance}, "another chain"},
			{[]string{export}, "4 entries"},
			{[]string{head}, "no entry of an export"},
			{[]string{export + "x"}, "no such file"},
		} {
			if said, _ := verified(environ, c.of...); !strings.Contains(said, c.want) {
				t.Errorf("%v: %s, want %s", c.of, said, c.want)
			}
		}
		database := beside(environ)
		system := ""
		if len(environ) > 1 {
			system = "OVERRIDING SYSTEM VALUE "
		}
		fourth := "(SELECT entry_id FROM audit_links WHERE company_id = '" + of + "' AND number = 4)"
		second := "(SELECT entry_id FROM audit_links WHERE company_id = '" + of + "' AND number = 2)"
		setBack := "UPDATE audit_heads SET number = 2 WHERE chain = '" + of + "'"
		insert := func(column, from, which string) string {
			const columns = "company_id, category, type, actor, subject_type, subject_id, data, previous, at, form"
			return "INSERT INTO activity (" + column + "id, " + columns + ", unqueued, txid) " + cmp.Or(from, "SELECT ") +
				"id || 'x', " + columns + ", 0, 0 FROM activity WHERE id = " + which
		}
		for _, c := range []struct{ harm, mend, want string }{
			{
				"UPDATE activity SET actor = actor || 'x' WHERE id = " + second,
				"UPDATE activity SET actor = substr(actor, 1, length(actor) - 1) WHERE id = " + second,
				"was changed, number 2",
			},
			{
				"UPDATE activity SET id = id || 'x' WHERE id = " + second,
				"UPDATE activity SET id = " + second + " WHERE id = " + second + " || 'x'",
				"was removed, number 2",
			},
			{
				insert("", "", second) + "; UPDATE audit_progress SET seq = seq + 1",
				"DELETE FROM activity WHERE id = " + second + " || 'x'", "x was inserted",
			},
			{
				insert("seq, ", system+"SELECT -5, ", second),
				"DELETE FROM activity WHERE id = " + second + " || 'x'", "x was inserted",
			},
			{
				setBack + "; UPDATE activity SET actor = actor || 'x' WHERE id = " + fourth,
				"UPDATE audit_heads SET number = 4 WHERE chain = '" + of + "'; " +
					"UPDATE activity SET actor = substr(actor, 1, length(actor) - 1) WHERE id = " + fourth,
				"was changed, number 4",
			},
			{
				"DELETE FROM audit_heads WHERE chain = '" + of + "'",
				"INSERT INTO audit_heads SELECT '" + of + "', '" + of + "', 4, '', hash, 0 FROM audit_links WHERE entry_id = " + fourth,
				"the head of the chain was removed",
			},
			{"DELETE FROM activity WHERE id = " + second, "", "was removed, number 2"},
		} {
			runOn(t, database, c.harm)
			if said, isSound := verified(environ, of); isSound || !strings.Contains(said, c.want) {
				t.Errorf("%s: %s", c.harm, said)
			}
			if c.mend != "" {
				runOn(t, database, c.mend)
			}
		}
	})
}
