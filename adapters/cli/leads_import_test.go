package cli_test

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"holdco/adapters/cli"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

func TestAnInterruptedImportReportsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	const table = "read       2\ninserted   1\nupdated    0\nunchanged  0\nrejected   0\ntook       0s, 2000 lines a second\n"
	want := result{cli.Failed, table,
		"holdco: interrupted; what the summary counts was committed, and the same command continues after it\n"}
	if got := new(fake).run("leads import " + file(t, "a.csv", "name\n")); got != want {
		t.Errorf("%+v", got)
	}
	want = result{cli.Failed, "", "holdco: interrupted; 1 leads were removed\n"}
	if got := new(fake).run("leads rm cmp_1 cmp_2"); got != want {
		t.Errorf("%+v", got)
	}
	want = result{cli.Failed, "", "holdco: interrupted; 1 suppression was added, and the same command continues after that\n"}
	if got := new(fake).run("leads suppress " + file(t, "b.csv", "name\n")); got != want {
		t.Errorf("%+v", got)
	}
}

// interruptedImports is interrupted in each of its calls, after one lead.
type interruptedImports struct {
	inbound.Imports
	interrupt func()
}

func (i interruptedImports) Leads(
	ctx context.Context, _ access.Caller, _ iter.Seq2[inbound.LeadLine, error], _ inbound.ImportOptions,
) (lead.ImportCount, error) {
	i.interrupt()
	return lead.ImportCount{Read: 2, Change: lead.Change{Inserted: 1}}, ctx.Err()
}

func (i interruptedImports) RemoveLeads(context.Context, access.Caller, iter.Seq2[id.Lead, error], bool) (int, error) {
	i.interrupt()
	return 1, nil
}

func (i interruptedImports) Suppress(
	ctx context.Context, _ access.Caller, _ iter.Seq2[inbound.LeadLine, error], _ inbound.ImportOptions,
) (lead.ImportCount, error) {
	i.interrupt()
	return lead.ImportCount{Suppressed: 1}, ctx.Err()
}

// noFiles reads nothing.
type noFiles struct{ cli.Files }

func (noFiles) Leads(io.Reader, string) iter.Seq2[inbound.LeadLine, error] { return nil }

func (noFiles) Suppressed(io.Reader, string) iter.Seq2[inbound.LeadLine, error] { return nil }

func TestWhatCannotBeImportedIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := file(t, "a.txt", "Acme\n")
	for line, want := range map[string]result{
		"leads import " + dir + "/a": {cli.Failed, "", "holdco: open " + dir + "/a: no such file or directory\n"},
		"leads import": {cli.Misuse, "",
			`holdco: "holdco leads import" needs one argument, a file, or - for standard input; ` +
				`see "holdco leads import --help"` + "\n"},
		"taxonomy import a b": {cli.Misuse, "",
			`holdco: "holdco taxonomy import" needs one argument, a file, or - for standard input; ` +
				`see "holdco taxonomy import --help"` + "\n"},
		"leads import " + text: {cli.Misuse, "",
			`holdco: the name of "` + text + `" does not say its format; pass --format ndjson, csv or json; ` +
				`see "holdco leads import --help"` + "\n"},
		"leads import a.csv --key=": {cli.Misuse, "",
			`holdco: --key has no value; without it the file is read in the usual way; see "holdco leads import --help"` + "\n"},
		"leads import a.csv --region=": {cli.Misuse, "",
			`holdco: --region has no value; without it the file is read in the usual way; see "holdco leads import --help"` + "\n"},
		"campaigns import a.csv --encoding=": {cli.Misuse, "",
			`holdco: --encoding has no value; without it the file is read in the usual way; see "holdco campaigns import --help"` + "\n"},
		"leads import a.csv --format xml": {cli.Misuse, "",
			`holdco: --format must be ndjson, csv or json; it is "xml"; see "holdco leads import --help"` + "\n"},
		"leads import " + dir + "/a.csv":     {cli.Failed, "", "holdco: open " + dir + "/a.csv: no such file or directory\n"},
		"campaigns import " + dir:            {cli.Failed, "", "holdco: " + dir + " is a directory\n"},
		"leads import --format csv " + dir:   {cli.Failed, "", "holdco: " + dir + " is a directory\n"},
		"taxonomy import " + dir + "/a.json": {cli.Failed, "", "holdco: open " + dir + "/a.json: no such file or directory\n"},
		"leads rm": {cli.Misuse, "",
			`holdco: "holdco leads rm" needs ids of leads, or a file of them; see "holdco leads rm --help"` + "\n"},
		"leads rm " + dir + "/ids": {cli.Failed, "",
			`holdco: "` + dir + `/ids" is neither the id of a lead nor a file: no such file or directory` + "\n"},
		"leads generate --count 0": {cli.Misuse, "",
			`holdco: --count must be from 1 to 100000000; it is 0; see "holdco leads generate --help"` + "\n"},
		"leads generate --out /dev/null/here": {cli.Failed, "", "holdco: mkdir /dev/null: not a directory\n"},
	} {
		if got := new(fake).run(line); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, want)
		}
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
