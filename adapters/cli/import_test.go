package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/cli"
	"holdco/domain/access"
	"holdco/domain/id"
)

const table = "read       %d\ninserted   %d\nupdated    0\nunchanged  0\nrejected   %d\ntook       0s, %d lines a second\n"

func TestAFileIsImported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, name, format string
		kept               []string
	}{
		{"leads import", "a.ndjson", "ndjson", []string{"Acme", "Bolt"}},
		{"leads import", "a.JSONL", "ndjson", []string{"Acme", "Bolt"}},
		{"leads import", "a.csv", "csv", []string{"Acme", "Bolt"}},
		{"leads import", "a.json.gz", "json", []string{"Acme", "Bolt"}},
		{"leads import --format csv", "a.txt", "csv", []string{"Acme", "Bolt"}},
		{"leads import --format csv", "a.ndjson", "csv", []string{"Acme", "Bolt"}},
		{"campaigns import", "a.csv", "csv", []string{"campaign Acme", "campaign Bolt"}},
		{"leads import --dry-run", "a.csv", "csv", nil},
		{"leads import --strict --dry-run", "a.csv", "csv", nil},
		{"leads import --strict", "a.csv", "csv", []string{"Acme", "Bolt"}},
	} {
		path := file(t, c.name, "Acme\nBolt\n")
		var f fake
		got := f.run(c.line + " " + path)
		if want := (result{cli.Done, fmt.Sprintf(table, 2, 2, 0, 2000), ""}); got != want {
			t.Errorf("%s %s:\n got %+v\nwant %+v", c.line, c.name, got, want)
		}
		if f.imports.format != c.format || !slices.Equal(f.imports.kept, c.kept) || f.closed != 1 || f.imports.caller.Actor != access.System("cli").Actor {
			t.Errorf("%s %s: %+v", c.line, c.name, f.imports)
		}
		if exists(path + ".errors.ndjson") {
			t.Errorf("%s %s: no line is at fault, and some are told", c.line, c.name)
		}
	}
}

func TestAnImportIsToldAsJSON(t *testing.T) {
	t.Parallel()
	var f fake
	got := f.run("leads import --json --keep-timestamps " + file(t, "a.csv", "Acme\n"))
	want := "{\n  \"read\": 1,\n  \"inserted\": 1,\n  \"updated\": 0,\n  \"unchanged\": 0,\n  \"rejected\": 0,\n" +
		"  \"dryRun\": false,\n  \"seconds\": 0,\n  \"perSecond\": 1000\n}\n"
	if got != (result{cli.Done, want, ""}) || !f.imports.passes[0].KeepTimestamps || f.imports.passes[0].DryRun {
		t.Errorf("%+v, %+v", got, f.imports.passes)
	}
}

func TestLinesAtFaultAreToldInAFile(t *testing.T) {
	t.Parallel()
	path := file(t, "a.csv", "Acme\n!B\x1b<lt\nCog\n!\n")
	errorsPath := path + ".errors.ndjson"
	told := `{"line":2,"id":"B\u001b<lt","errors":[{"field":"name","code":"invalid_format","message":"name must not begin with !B\u001b<lt"},` +
		`{"field":"email","code":"required","message":"email must not be blank"}]}` + "\n" +
		`{"line":4,"id":null,"errors":[{"field":"name","code":"invalid_format","message":"name must not begin with !"},` +
		`{"field":"email","code":"required","message":"email must not be blank"}]}` + "\n"
	said := func(where, more string) string {
		return "holdco: 2 of 4 lines are at fault; " + where + " tells all of them" + more + "\n" +
			"holdco: line 2: name must not begin with !B?<lt; email must not be blank\n" +
			"holdco: line 4: name must not begin with !; email must not be blank\n"
	}
	elsewhere := filepath.Join(t.TempDir(), "errors")
	for _, c := range []struct {
		line, where string
		inserted    int
		kept        []string
		more        string
	}{
		{"leads import " + path, errorsPath, 2, []string{"Acme", "Cog"}, ""},
		{"leads import --errors " + elsewhere + " " + path, elsewhere, 2, []string{"Acme", "Cog"}, ""},
		{"leads import --dry-run " + path, errorsPath, 2, nil, ""},
		{"leads import --strict " + path, errorsPath, 0, nil, ". Nothing was imported"},
	} {
		var f fake
		got := f.run(c.line)
		if want := (result{cli.Failed, fmt.Sprintf(table, 4, c.inserted, 2, 4000), said(c.where, c.more)}); got != want {
			t.Errorf("%s:\n%s", c.line, cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)))
		}
		if text, err := os.ReadFile(c.where); err != nil || string(text) != told || !slices.Equal(f.imports.kept, c.kept) {
			t.Errorf("%s: kept %v, told %s", c.line, f.imports.kept, text)
		}
	}
	must(t, os.WriteFile(path, []byte("Acme\n"), 0o600))
	if got := new(fake).run("leads import " + path); got.code != cli.Done || exists(errorsPath) {
		t.Errorf("a later import leaves what an earlier one told: %+v", got)
	}
}

func TestWhereLinesAtFaultAreToldIsNoDanger(t *testing.T) {
	t.Parallel()
	path := file(t, "a.csv", "!Acme\n")
	if got := new(fake).run("leads import --errors " + path + " " + path); got.code != cli.Failed ||
		got.stderr != "holdco: --errors names the file that is imported, "+path+"\n" || !exists(path) {
		t.Errorf("%+v", got)
	}
	if got := new(fake).run("leads import --errors " + filepath.Dir(path) + " " + path); got.stderr != "holdco: --errors names a directory, "+filepath.Dir(path)+"\n" {
		t.Errorf("%+v", got)
	}
	if got := new(fake).run("leads import --errors /dev/null " + path); !strings.HasPrefix(got.stderr, "holdco: 1 of 1 lines are at fault; /dev/null") || !exists("/dev/null") {
		t.Errorf("%+v", got)
	}
	missing := filepath.Join(t.TempDir(), "missing", "errors")
	if got := new(fake).run("leads import --errors " + missing + " " + path); got.code != cli.Failed || !strings.Contains(got.stderr, "no such file") {
		t.Errorf("%+v", got)
	}
}

func TestAnInterruptedImportTellsWhatItKept(t *testing.T) {
	t.Parallel()
	var f fake
	got := f.run("leads import " + file(t, "a.csv", "Acme\ninterrupt\nBolt\n"))
	want := result{cli.Failed, fmt.Sprintf(table, 2, 1, 0, 2000), "holdco: interrupted; what the summary counts is kept, and the same command goes on behind it\n"}
	if got != want || !slices.Equal(f.imports.kept, []string{"Acme"}) {
		t.Errorf("%+v, %v", got, f.imports.kept)
	}
}

func TestWhatCannotBeImportedIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := file(t, "a.txt", "Acme\n")
	for line, want := range map[string]result{
		"leads import " + dir + "/a":          {cli.Failed, "", "holdco: open " + dir + "/a: no such file or directory\n"},
		"leads import":                        {cli.Misuse, "", `holdco: "holdco leads import" needs one argument, a file, or - for standard input; see "holdco leads import --help"` + "\n"},
		"taxonomy import a b":                 {cli.Misuse, "", `holdco: "holdco taxonomy import" needs one argument, a file, or - for standard input; see "holdco taxonomy import --help"` + "\n"},
		"leads import " + text:                {cli.Misuse, "", `holdco: the name of "` + text + `" does not tell its format; say --format ndjson, csv or json; see "holdco leads import --help"` + "\n"},
		"leads import a.csv --format xml":     {cli.Misuse, "", `holdco: --format must be ndjson, csv or json; it is "xml"; see "holdco leads import --help"` + "\n"},
		"leads import " + dir + "/a.csv":      {cli.Failed, "", "holdco: open " + dir + "/a.csv: no such file or directory\n"},
		"campaigns import " + dir:             {cli.Failed, "", "holdco: " + dir + " is a directory\n"},
		"leads import --format csv " + dir:    {cli.Failed, "", "holdco: " + dir + " is a directory\n"},
		"taxonomy import " + dir + "/a.json":  {cli.Failed, "", "holdco: open " + dir + "/a.json: no such file or directory\n"},
		"leads rm":                            {cli.Misuse, "", `holdco: "holdco leads rm" needs ids of leads, or a file of them; see "holdco leads rm --help"` + "\n"},
		"leads rm " + dir + "/ids":            {cli.Failed, "", `holdco: "` + dir + `/ids" is no id of a lead, and no file either: no such file or directory` + "\n"},
		"leads generate --count 0":            {cli.Misuse, "", `holdco: --count must be from 1 to 100000000; it is 0; see "holdco leads generate --help"` + "\n"},
		"leads generate --out /dev/null/here": {cli.Failed, "", "holdco: mkdir /dev/null: not a directory\n"},
	} {
		if got := new(fake).run(line); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, want)
		}
	}
}

func TestATaxonomyIsImported(t *testing.T) {
	t.Parallel()
	path := file(t, "taxonomy.json", "Food")
	var f fake
	if got := f.run("taxonomy import " + path); got != (result{cli.Done, "inserted   1\nupdated    2\nunchanged  3\n", ""}) || !slices.Equal(f.imports.kept, []string{"Food"}) {
		t.Errorf("%+v", got)
	}
	want := "{\n  \"inserted\": 1,\n  \"updated\": 2,\n  \"unchanged\": 3,\n  \"dryRun\": true\n}\n"
	if got := f.run("taxonomy import --dry-run --json " + path); got != (result{cli.Done, want, ""}) || len(f.imports.kept) != 1 {
		t.Errorf("%+v", got)
	}
	must(t, os.WriteFile(path, []byte("!"), 0o600))
	want = "holdco: " + path + " is at fault in 2 places; nothing was imported\nholdco: industries.0.id is required\nholdco: industries.0.name must not be ?\n"
	if got := f.run("taxonomy import " + path); got != (result{cli.Failed, "", want}) {
		t.Errorf("%+v", got)
	}
	must(t, os.WriteFile(path, []byte("unreadable"), 0o600))
	if got := f.run("taxonomy import " + path); got != (result{cli.Failed, "", "holdco: " + path + ": it cannot be read\n"}) {
		t.Errorf("%+v", got)
	}
}

func TestLeadsAreRemovedByIDsAndByFiles(t *testing.T) {
	t.Parallel()
	path := file(t, "ids", "cmp_2\n\n  cmp_3\r\ncmp_1\n")
	var f fake
	got := f.run("leads rm cmp_1 " + path + " cmp_4 cmp_4")
	if got != (result{cli.Done, "4 leads are removed; 0 were not there.\n", ""}) || !slices.Equal(f.imports.removed, []id.Lead{"cmp_1", "cmp_2", "cmp_3", "cmp_4"}) {
		t.Errorf("%+v, %v", got, f.imports.removed)
	}
	f = fake{}
	if got := f.run("leads rm cmp_1 --json"); got != (result{cli.Done, "{\n  \"removed\": 1,\n  \"absent\": 0\n}\n", ""}) {
		t.Errorf("%+v", got)
	}
	f = fake{}
	if got := f.run("leads rm cmp_1 cmp_interrupt cmp_2"); got != (result{cli.Failed, "", "holdco: interrupted; 1 leads were removed\n"}) {
		t.Errorf("%+v", got)
	}
	f = fake{}
	must(t, os.WriteFile(path, []byte("cmp_2\ncam_1\n"), 0o600))
	if got := f.run("leads rm cmp_1 " + path); got != (result{cli.Failed, "", "holdco: " + path + ": line 2 is no id of a lead; nothing was removed\n"}) || f.imports.removed != nil {
		t.Errorf("%+v, %v", got, f.imports.removed)
	}
	must(t, os.WriteFile(path, []byte(strings.Repeat("x", 1<<20)), 0o600))
	if got := f.run("leads rm " + path); got.code != cli.Failed || !strings.Contains(got.stderr, "token too long") {
		t.Errorf("%+v", got)
	}
}

func TestSampleDataIsNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := func(name string) string { return filepath.Join(dir, name) }
	got := new(fake).run("leads generate --count 7 --seed 9 --out " + dir)
	want := "Now import them, in this order:\n\n  holdco taxonomy import " + path("taxonomy.json") + "\n  holdco campaigns import " +
		path("campaigns.ndjson") + "\n  holdco leads import " + path("leads.ndjson") + "\n"
	if got != (result{cli.Done, want, ""}) {
		t.Errorf("%+v", got)
	}
	is := func(name, want string) {
		t.Helper()
		if text, err := os.ReadFile(path(name)); err != nil || string(text) != want {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	is("taxonomy.json", "taxonomy of 9")
	is("campaigns.ndjson", "campaigns of 9")
	is("leads.ndjson", "7 leads of 9")
	must(t, os.Remove(path("taxonomy.json")))
	if got := new(fake).run("leads generate --out " + dir); got != (result{cli.Failed, "", "holdco: " + path("campaigns.ndjson") + " is there already; say --force to overwrite it\n"}) ||
		exists(path("taxonomy.json")) {
		t.Errorf("%+v", got)
	}
	if got := new(fake).run("leads generate --force --out " + dir); got.code != cli.Done {
		t.Errorf("%+v", got)
	}
	is("leads.ndjson", "1000 leads of 1")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
