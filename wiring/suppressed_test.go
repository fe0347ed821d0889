package wiring_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// Whoever objects is suppressed by the name that the file spells in its encoding, not by what the bytes would be in UTF-8.
func TestASuppressionReadsTheEncodingOfItsFile(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		f := &guideFiles{t: t, dir: dir, environ: environ}
		f.run("migrate", "up")
		objections := f.write("objections.csv", "name,email\nB\xe4ckerei M\xfcller,info@mueller.example\n")
		if printed, ok := runHoldco(t, environ, "leads", "suppress", objections); ok || !strings.Contains(printed, "windows-1252") {
			t.Errorf("without its encoding: %s", printed)
		}
		if printed, ok := runHoldco(t, environ, "leads", "suppress", objections, "--encoding", "latin-9"); ok ||
			!strings.Contains(printed, `--encoding must be one of utf-8, utf-16, windows-1252; it is "latin-9"`) {
			t.Errorf("with another: %s", printed)
		}
		f.run("leads", "suppress", objections, "--encoding", "windows-1252")
		leads := f.write("leads.csv", "name,email\nBäckerei Müller,info@mueller.example\nB,info@mueller.example\n")
		printed := strings.Join(strings.Fields(f.run("leads", "import", leads)), " ")
		if !strings.Contains(printed, "inserted 1 ") || !strings.Contains(printed, "suppressed 1 ") {
			t.Error(printed)
		}
	})
}

// What SQLite frees, it leaves in the file unless it is told not to.
func TestNothingOfALeadThatWasForgottenStaysInTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &guideFiles{t: t, dir: dir, environ: []string{dataDir + dir}}
	f.run("migrate", "up")
	var leads, ids strings.Builder
	for n := range 600 { // enough for pages that are freed as a whole
		fmt.Fprintf(&leads,
			`{"id":"cmp_%d","name":"Traceable %d","email":"traceable-%d@acme.example","contacts":[{"name":"Traceable"}]}`+"\n",
			n, n, n)
		if n%3 != 0 {
			fmt.Fprintf(&ids, "cmp_%d\n", n)
		}
	}
	f.run("leads", "import", f.write("leads.ndjson", leads.String()))
	f.run("leads", "import", f.write("again.ndjson", strings.ReplaceAll(leads.String(), `"contacts":[{"name":"Traceable"}]`, `"phone":""`)))
	found := func() (all int) {
		for _, suffix := range []string{"", "-wal"} {
			held, err := os.ReadFile(filepath.Join(dir, "holdco.db"+suffix))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			all += strings.Count(strings.ToLower(string(held)), "traceable")
		}
		return all
	}
	before := found()
	f.run("leads", "rm", "--forget", f.write("some.txt", ids.String()))
	if some := found(); some == 0 || some > before/2 {
		t.Errorf("the file names those that stay %d times, and before %d times", some, before)
	}
	f.run("leads", "rm", "--forget", f.write("all.txt", ids.String()+othersOf(600)))
	if left := found(); left != 0 {
		t.Errorf("the file names them %d times", left)
	}
}

// othersOf are the ids that were left out before.
func othersOf(count int) string {
	var ids strings.Builder
	for n := 0; n < count; n += 3 {
		fmt.Fprintf(&ids, "cmp_%d\n", n)
	}
	return ids.String()
}

// An import whose lines are wrong says so without what they say of a person, who may be forgotten later.
func TestTheErrorsOfAnImportHoldNoValues(t *testing.T) {
	t.Parallel()
	eachEnviron(t, func(t *testing.T, _ string, environ []string) {
		ask := resttest.New(t, startProcess(t, environ...).url, string(rootToken))
		started := ask.Send(resttest.Request{
			Method: http.MethodPost, Path: "/v1/imports?kind=leads&name=leads.csv", Header: map[string]string{"Content-Type": "text/csv"},
			Body: "name,website,phone,id\nAnna,secret anna example,030 5550123,anna@secret.example\nB\xe4cker secret,,,\n",
		})
		started.Is(t, http.StatusAccepted, "")
		path := "/v1/imports/" + resttest.Data[struct{ ID string }](t, started).ID
		told := ""
		await(t, "the end of the import", func() bool {
			told = string(ask.Get(path).Body)
			return strings.Contains(told, `"status":"done"`)
		})
		told += string(ask.Get(path + "/errors").Body)
		if !strings.Contains(told, `"rejected":2`) || !strings.Contains(told, "the value is neither") ||
			!strings.Contains(told, "--encoding windows-1252") || strings.Contains(told, "secret") || strings.Contains(told, "5550123") {
			t.Error(told)
		}
	})
}
