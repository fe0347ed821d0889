package wiring_test

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// verified runs the check of a chain, as an operator would, and returns what it says.
func verified(of string, environ ...string) (said string, isSound bool) {
	command := exec.Command("holdco", "audit", "verify", of)
	command.Env = append(os.Environ(), environ...)
	out, err := command.CombinedOutput()
	return string(out), err == nil
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
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			said, isSound := verified(of, environ...)
			if isSound && strings.HasPrefix(said, "4 entries") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("not chained: ", said)
			}
		}
		server.kill()
		database := beside(environ)
		second := "(SELECT entry_id FROM audit_links WHERE company_id = '" + of + "' AND number = 2)"
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
				"INSERT INTO activity (id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, form, " +
					"unqueued, txid) SELECT id || 'x', company_id, category, type, actor, subject_type, subject_id, data, previous, " +
					"at, form, 0, 0 FROM activity WHERE id = " + second + "; UPDATE audit_progress SET seq = seq + 1",
				"DELETE FROM activity WHERE id = " + second + " || 'x'",
				"x was inserted",
			},
			{"DELETE FROM activity WHERE id = " + second, "", "was removed, number 2"},
		} {
			runOn(t, database, c.harm)
			if said, isSound := verified(of, environ...); isSound || !strings.Contains(said, c.want) {
				t.Errorf("%s: %s", c.harm, said)
			}
			if c.mend != "" {
				runOn(t, database, c.mend)
			}
		}
	})
}
