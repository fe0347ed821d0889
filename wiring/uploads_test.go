package wiring_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/leads/samples"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// apiImport is an import as the API shows it.
type apiImport struct {
	ID, Kind, Format, Status string
	Name                     *string
	Bytes                    int64
	DryRun, Strict           bool
	Progress                 *struct {
		Phase        string
		Lines, Bytes int64
	}
	Read, Inserted, Updated, Unchanged, Rejected int64
	Error                                        *struct {
		Code    *string
		Message string
	}
	CreatedAt string
	EndedAt   *string
}

func (i apiImport) path() string { return "/v1/imports/" + i.ID }

// counts are the counts of an import in the order of its fields.
func (i apiImport) counts() [5]int64 {
	return [5]int64{i.Read, i.Inserted, i.Updated, i.Unchanged, i.Rejected}
}

// The media types of files.
const (
	ndjson, csvFile, jsonFile = "application/x-ndjson", "text/csv", "application/json"
)

// upload sends a file.
func upload(client *resttest.Client, query, mediaType, file string, header ...string) resttest.Answer {
	return send(client, "POST", "/v1/imports?"+query, file, append([]string{"Content-Type", mediaType}, header...)...)
}

// starts sends a file that is to be taken.
func starts(t *testing.T, client *resttest.Client, query, mediaType, file string) apiImport {
	t.Helper()
	answer := upload(client, query, mediaType, file)
	answer.Is(t, 202, "")
	started := resttest.Data[apiImport](t, answer)
	if answer.Header.Get("Location") != started.path() || answer.Header.Get("ETag") == "" || started.Status != "running" {
		t.Errorf("%v %s", answer.Header, answer.Body)
	}
	return started
}

// ended waits until an import has ended.
func ended(t *testing.T, client *resttest.Client, started apiImport) (now apiImport) {
	t.Helper()
	await(t, "the end of the import", func() bool {
		now = resttest.Data[apiImport](t, client.Get(started.path()))
		return now.Status != "running"
	})
	if now.Progress != nil || now.EndedAt == nil {
		t.Errorf("%+v", now)
	}
	return now
}

// importsFile sends a file, and waits until it is imported.
func importsFile(t *testing.T, client *resttest.Client, query, mediaType, file string) apiImport {
	t.Helper()
	return ended(t, client, starts(t, client, query, mediaType, file))
}

func packed(t *testing.T, file string) string {
	t.Helper()
	var text bytes.Buffer
	writer := gzip.NewWriter(&text)
	_, err := writer.Write([]byte(file))
	must(t, err)
	must(t, writer.Close())
	return text.String()
}

// sampleFiles are a taxonomy, campaigns and leads.
func sampleFiles(t *testing.T, many int) (taxonomy, campaigns, leads string) {
	t.Helper()
	set := samples.New(many, 1)
	var text [3]bytes.Buffer
	must(t, set.Taxonomy(&text[0]))
	must(t, set.Campaigns(&text[1]))
	must(t, set.Leads(&text[2]))
	return text[0].String(), text[1].String(), text[2].String()
}

func TestAFileIsImportedThroughTheAPI(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const many = 300
		taxonomy, campaigns, leads := sampleFiles(t, many)
		got := importsFile(t, s.Client, "kind=taxonomy", jsonFile, taxonomy)
		if got.Status != "done" || got.Inserted == 0 || got.Read != got.Inserted || got.Error != nil {
			t.Errorf("%+v", got)
		}
		campaignLines := int64(strings.Count(campaigns, "\n"))
		got = importsFile(t, s.Client, "kind=campaigns&name="+url.QueryEscape("  campaigns 2026.ndjson "), ndjson, campaigns)
		if got.Status != "done" || got.counts() != [5]int64{campaignLines, campaignLines} || *got.Name != "campaigns 2026.ndjson" {
			t.Errorf("%+v", got)
		}
		if got = importsFile(t, s.Client, "kind=leads&dryRun=true", ndjson, leads); got.counts() != [5]int64{many, many} || !got.DryRun {
			t.Errorf("%+v", got)
		}
		if found := s.leadsAddUp(t); found != 0 {
			t.Errorf("a dry run imported %d leads", found)
		}
		if got = importsFile(t, s.Client, "kind=leads", ndjson, packed(t, leads)); got.counts() != [5]int64{many, many} || got.Name != nil {
			t.Errorf("%+v", got)
		}
		list := "[" + strings.ReplaceAll(strings.TrimSpace(leads), "\n", ",") + "]"
		if got = importsFile(t, s.Client, "kind=leads", jsonFile, list); got.counts() != [5]int64{many, 0, 0, many} {
			t.Errorf("%+v", got)
		}
		const table = "id,name,website\ncmp_1,One,one.example\ncmp_2,Two,\n"
		for n, file := range []string{table, packed(t, table)} {
			want := [5]int64{2, 2}
			if n > 0 {
				want = [5]int64{2, 0, 0, 2}
			}
			if got = importsFile(t, s.Client, "kind=leads", csvFile+"; charset=UTF-8", file); got.counts() != want || got.Format != "csv" {
				t.Errorf("%+v", got)
			}
		}
		answer := upload(s.Client, "kind=leads", csvFile, packed(t, table), "Content-Encoding", "gzip")
		answer.Is(t, 202, "")
		ended(t, s.Client, resttest.Data[apiImport](t, answer))
		if found := s.leadsAddUp(t); found != many+2 {
			t.Errorf("there are %d leads", found)
		}

		var events []string
		for _, e := range s.events(t, "") {
			if strings.HasPrefix(string(e.Type), "import.") {
				events = append(events, string(e.Type)+" by "+string(e.Actor))
			}
		}
		var want []string
		for range 8 {
			want = append(want, "import.started by "+s.root(t), "import.ended by "+s.root(t))
		}
		if !slices.Equal(events, want) {
			t.Errorf("%v", events)
		}
	})
}

// root is the actor of the first token.
func (s *instance) root(t *testing.T) string {
	t.Helper()
	return "token:" + resttest.Data[struct{ TokenID string }](t, s.Get("/v1/whoami")).TokenID
}

func TestReportedLinesAreListed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		file := `{"name":"Fine"}` + "\n" + `{"id":"cmp_7","phon":"1","google_rating":7}` + "\n" + "nonsense\n" + `{"name":""}` + "\n"
		got := importsFile(t, s.Client, "kind=leads", ndjson, file)
		if got.Status != "done" || got.counts() != [5]int64{4, 1, 0, 0, 3} || got.Error != nil {
			t.Errorf("%+v", got)
		}
		type line struct {
			Line   int64
			ID     *string
			Errors []struct{ Field, Code, Message string }
		}
		var lines []line
		for path := got.path() + "/errors?limit=2"; ; {
			answer := s.Get(path)
			answer.Is(t, 200, "")
			lines = append(lines, resttest.Data[[]line](t, answer)...)
			if answer.Meta.Page.Cursor == nil {
				break
			}
			path = got.path() + "/errors?limit=2&cursor=" + *answer.Meta.Page.Cursor
		}
		if len(lines) != 3 || lines[0].Line != 2 || *lines[0].ID != "cmp_7" || len(lines[0].Errors) != 3 ||
			lines[0].Errors[1].Field == "" || lines[1].Line != 3 || lines[1].ID != nil || lines[2].Line != 4 {
			t.Errorf("%+v", lines)
		}

		strict := importsFile(t, s.Client, "kind=leads&strict=true", ndjson, `{"name":"Other"}`+"\n{}\n")
		if strict.Status != "failed" || *strict.Error.Code != "validation_failed" || strict.Rejected != 1 || strict.Inserted != 0 {
			t.Errorf("%+v", strict)
		}
		if found := s.leadsAddUp(t); found != 1 {
			t.Errorf("there are %d leads", found)
		}
		if of := resttest.Data[[]line](t, s.Get(strict.path()+"/errors")); len(of) != 1 || of[0].Line != 2 {
			t.Errorf("%+v", of)
		}
		wrong := importsFile(t, s.Client, "kind=taxonomy", jsonFile, `{"industries":[{"id":"x","name":""}]}`)
		of := resttest.Data[[]line](t, s.Get(wrong.path()+"/errors"))
		if wrong.Status != "failed" || *wrong.Error.Code != "validation_failed" || len(of) != 1 || len(of[0].Errors) < 2 {
			t.Errorf("%+v %+v", wrong, of)
		}

		for query, want := range map[string]int{
			"": 3, "?status=failed": 2, "?kind=taxonomy": 1, "?kind=leads&status=done": 1, "?status=interrupted": 0, "?limit=1": 1,
		} {
			if list := resttest.Data[[]apiImport](t, s.Get("/v1/imports"+query)); len(list) != want {
				t.Errorf("%s: %+v", query, list)
			}
		}
		s.Get("/v1/imports/imp_01j5ze4n1hf4wv7m0b6k3xq2ra").Is(t, 404, "not_found")
		s.Get("/v1/imports/imp_01j5ze4n1hf4wv7m0b6k3xq2ra/errors").Is(t, 404, "not_found")
		send(s.Client, "GET", "/v1/imports/imp_none", "").Is(t, 404, "not_found")
	})
}

// importsLeaveNothing fails the test unless there are so many imports and leads, and no file is left.
func (s *instance) importsLeaveNothing(t *testing.T, imports int, leads int64) {
	t.Helper()
	if list := resttest.Data[[]apiImport](t, s.Get("/v1/imports")); len(list) != imports {
		t.Errorf("there are %d imports: %+v", len(list), list)
	}
	if found := s.leadsAddUp(t); found != leads {
		t.Errorf("there are %d leads", found)
	}
	left, err := os.ReadDir(filepath.Join(strings.TrimPrefix(s.environ[0], dataDir), "imports"))
	if err != nil && !os.IsNotExist(err) || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestAWrongFileIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), append(environ, "HOLDCO_MAX_IMPORT=1MiB")...)
		const fine = `{"name":"Fine"}` + "\n"
		whole := packed(t, strings.Repeat(fine, 1000))
		for name, c := range map[string]struct {
			query, mediaType, file string
			status                 int
			code                   string
		}{
			"no kind":                  {"", ndjson, fine, 400, "invalid_parameter"},
			"an unknown kind":          {"kind=lead", ndjson, fine, 400, "invalid_parameter"},
			"an unknown parameter":     {"kind=leads&dry=true", ndjson, fine, 400, "invalid_parameter"},
			"neither true nor false":   {"kind=leads&strict=yes", ndjson, fine, 400, "invalid_parameter"},
			"a name with a line":       {"kind=leads&name=a%0Ab", ndjson, fine, 400, "invalid_parameter"},
			"a blank name":             {"kind=leads&name=%20", ndjson, fine, 400, "invalid_parameter"},
			"a long name":              {"kind=leads&name=" + strings.Repeat("x", 201), ndjson, fine, 400, "invalid_parameter"},
			"timestamps of a taxonomy": {"kind=taxonomy&keepTimestamps=true", jsonFile, "{}", 400, "invalid_parameter"},
			"another type":             {"kind=leads", "text/plain", fine, 415, "unsupported_media_type"},
			"the type of gzip":         {"kind=leads", "application/gzip", whole, 415, "unsupported_media_type"},
			"no type":                  {"kind=leads", "", fine, 415, "unsupported_media_type"},
			"another charset":          {"kind=leads", csvFile + "; charset=latin1", "name\nA\n", 415, "unsupported_media_type"},
			"a taxonomy in CSV":        {"kind=taxonomy", csvFile, "name\nA\n", 415, "unsupported_media_type"},
			"nothing":                  {"kind=leads", ndjson, "", 400, "invalid_file"},
			"too much":                 {"kind=leads", ndjson, strings.Repeat(" ", 1<<20+1), 413, "payload_too_large"},
			"too much when unpacked":   {"kind=leads", ndjson, packed(t, strings.Repeat(" ", 16<<20+1)), 400, "invalid_file"},
			"cut off":                  {"kind=leads", ndjson, whole[:len(whole)/2], 400, "invalid_file"},
			"without its checksum":     {"kind=leads", ndjson, whole[:len(whole)-8], 400, "invalid_file"},
			"with another checksum":    {"kind=leads", ndjson, whole[:len(whole)-8] + "12345678", 400, "invalid_file"},
			"the beginning of gzip":    {"kind=leads", ndjson, whole[:2], 400, "invalid_file"},
			"with something behind":    {"kind=leads", ndjson, whole + "more", 400, "invalid_file"},
			"an unknown column":        {"kind=leads", csvFile, "name,colour\nA,red\n", 400, "invalid_file"},
			"without the name":         {"kind=leads", csvFile, "website\na.example\n", 400, "invalid_file"},
			"no list":                  {"kind=leads", jsonFile, `{"name":"A"}`, 400, "invalid_file"},
		} {
			answer := upload(s.Client, c.query, c.mediaType, c.file)
			if answer.Status != c.status || answer.Error.Code != c.code || strings.Contains(answer.Error.Message, "holdco-import") {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
			}
		}
		for _, more := range []string{"m", "more", "more and more of it", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
			answer := upload(s.Client, "kind=leads", ndjson, whole+more)
			if answer.Is(t, 400, "invalid_file"); !strings.Contains(answer.Error.Message, "something follows the end") {
				t.Errorf("%q: %s", more, answer.Body)
			}
		}
		upload(s.Client, "kind=leads", ndjson, fine, "Content-Encoding", "br").Is(t, 415, "unsupported_media_type")
		for _, scope := range []string{"read", "write"} {
			other := s.with(t, scope)
			upload(other, "kind=leads", ndjson, fine).Is(t, 403, "insufficient_scope")
			const one = "/v1/imports/imp_01j5ze4n1hf4wv7m0b6k3xq2ra"
			for _, path := range []string{"/v1/imports", one, one + "/errors"} {
				other.Get(path).Is(t, 403, "insufficient_scope")
			}
		}
		upload(s.As("hco_none").In(t), "kind=leads", ndjson, fine).Is(t, 401, "unauthorized")
		s.importsLeaveNothing(t, 0, 0)

		// What only the whole file shows is found in the first pass.
		for file, mediaType := range map[string]string{
			`[{"name":"A"},{"name":"B"}`: jsonFile,
			`[{"name":"A"}] and more`:    jsonFile,
		} {
			got := importsFile(t, s.Client, "kind=leads", mediaType, file)
			if got.Status != "failed" || *got.Error.Code != "invalid_file" || got.Inserted != 0 {
				t.Errorf("%s: %+v", file, got)
			}
		}
		got := importsFile(t, s.Client, "kind=taxonomy", jsonFile, `{"industries":`)
		if got.Status != "failed" || got.Inserted != 0 {
			t.Errorf("%+v", got)
		}
		s.importsLeaveNothing(t, 3, 0)
	})
}

func TestOneFileIsReceivedAtATimeAndAClientThatGoesAwayLeavesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const line = `{"name":"Fine"}` + "\n"
		for _, framing := range []string{
			"Content-Length: 1000\r\n\r\n" + line,
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(line), line),
		} {
			slow := s.dial(t, "POST /v1/imports?kind=leads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+string(rootToken)+
				"\r\nContent-Type: application/x-ndjson\r\n"+framing)
			await(t, "the first file", func() bool {
				time.Sleep(100 * time.Millisecond) // each one that is taken is kept, and the list has a page
				return upload(s.Client, "kind=leads&dryRun=true", ndjson, "{}").Error.Code == "import_running"
			})
			must(t, slow.Close())
			await(t, "the end of the first file", func() bool {
				answer := upload(s.Client, "kind=leads", ndjson, line)
				if answer.Status == 202 {
					ended(t, s.Client, resttest.Data[apiImport](t, answer))
				}
				return answer.Status == 202
			})
		}
		list := resttest.Data[[]apiImport](t, s.Get("/v1/imports"))
		list = slices.DeleteFunc(list, func(i apiImport) bool { return i.DryRun }) // before the first file was there
		if len(list) != 2 || list[0].Status != "done" || list[1].Status != "done" {
			t.Errorf("%+v", list)
		}
		if found := s.leadsAddUp(t); found != 1 {
			t.Errorf("there are %d leads", found)
		}
	})
}

func TestAnImportShowsHowFarItIsAndKeepsOthersOut(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		file := manyLeads(60_000)
		started := starts(t, s.Client, "kind=leads&name=many.ndjson", ndjson, file)
		refused := upload(s.Client, "kind=leads", ndjson, `{"name":"Other"}`)
		refused.Is(t, 409, "import_running")
		wait, err := strconv.Atoi(refused.Header.Get("Retry-After"))
		if id := details(t, refused)["importId"]; id != started.ID || err != nil || wait < 1 || wait > 15 {
			t.Errorf("%v, %v", id, refused.Header)
		}
		upload(s.Client, "kind=leads", ndjson, `{"name":"Other"}`, "Idempotency-Key", "another").Is(t, 409, "import_running")
		seen := map[string]bool{}
		var last apiImport
		await(t, "the end", func() bool {
			answer := s.Get(started.path())
			now := resttest.Data[apiImport](t, answer)
			if now.Progress != nil && now.Progress.Lines > 0 {
				seen[now.Progress.Phase] = true
				if now.Progress.Bytes > now.Bytes || now.Progress.Phase == "checking" && now.Inserted > 0 || now.Inserted < last.Inserted {
					t.Errorf("%s", answer.Body)
				}
			}
			last = now
			return now.Status != "running"
		})
		if last.Status != "done" || last.Inserted != 60_000 || !seen["importing"] {
			t.Errorf("%+v, seen %v", last, seen)
		}
	})
}

// manyLeads is a file of leads without a taxonomy.
func manyLeads(many int) string {
	var file strings.Builder
	for n := range many {
		fmt.Fprintf(&file, `{"id":"cmp_%d","name":"Lead %d","website":"lead-%d.example","phone":"+49 30 %d"}`+"\n", n, n, n, 100_000+n)
	}
	return file.String()
}

func TestTheSameRequestImportsOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const file = `{"name":"Fine"}` + "\n"
		first := upload(s.Client, "kind=leads", ndjson, file, "Idempotency-Key", "k")
		first.Is(t, 202, "")
		repeats(t, first, upload(s.Client, "kind=leads", ndjson, file, "Idempotency-Key", "k"))
		ended(t, s.Client, resttest.Data[apiImport](t, first))
		repeats(t, first, upload(s.Client, "kind=leads", ndjson, file, "Idempotency-Key", "k"))
		upload(s.Client, "kind=leads", ndjson, file+" ", "Idempotency-Key", "k").Is(t, 409, "idempotency_conflict")
		upload(s.Client, "kind=leads&strict=true", ndjson, file, "Idempotency-Key", "k").Is(t, 409, "idempotency_conflict")
		s.importsLeaveNothing(t, 1, 1)
	})
}

func TestAServerThatStopsInterruptsItsImport(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		file := manyLeads(100_000)
		started := starts(t, s.Client, "kind=leads", ndjson, file)
		await(t, "the first batches", func() bool { return s.leadState(t).Revision > 4 })
		s = s.again(t)
		got := ended(t, s.Client, started)
		if got.Status != "interrupted" || got.Error == nil || got.Error.Code != nil {
			t.Errorf("%+v", got)
		}
		before := s.leadsAddUp(t)
		if before == 0 || before == 100_000 {
			t.Errorf("%d leads were kept: nothing was put to the test", before)
		}
		got = importsFile(t, s.Client, "kind=leads", ndjson, file)
		if got.Status != "done" || got.counts() != [5]int64{100_000, 100_000 - before, 0, before} {
			t.Errorf("%+v; %d were there", got, before)
		}
		s = s.again(t) // history is kept
		s.importsLeaveNothing(t, 2, 100_000)
	})
}

func TestAnImportWhoseServerIsKilledIsShownAsInterrupted(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		file := manyLeads(100_000)
		server := startProcess(t, environ...)
		client := resttest.New(t, server.url, string(rootToken))
		started := starts(t, client, "kind=leads", ndjson, file)
		await(t, "progress", func() bool {
			return resttest.Data[apiImport](t, client.Get(started.path())).Inserted > 0
		})
		server.kill()
		server = startProcess(t, environ...)
		client = resttest.New(t, server.url, string(rootToken))
		got := ended(t, client, started)
		if got.Status != "interrupted" || got.Inserted == 0 || got.Inserted == 100_000 {
			t.Errorf("%+v", got)
		}
		got = importsFile(t, client, "kind=leads", ndjson, file)
		if got.Status != "done" || got.Read != 100_000 || got.Inserted+got.Unchanged != 100_000 || got.Unchanged == 0 {
			t.Errorf("%+v", got)
		}
		server.kill()
	})
}

func TestAnImportThatWasGivenUpStops(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		started := starts(t, s.Client, "kind=leads", ndjson, manyLeads(100_000))
		await(t, "the first batches", func() bool { return s.leadState(t).Revision > 4 })
		// As another server does that sees nothing of this one for long.
		must(t, s.giveUp(started))
		if got := ended(t, s.Client, started); got.Status != "interrupted" {
			t.Errorf("%+v", got)
		}
		var before lead.Revision
		await(t, "the end of its work", func() bool {
			now := s.leadState(t).Revision
			steady := now == before
			before = now
			time.Sleep(1500 * time.Millisecond)
			return steady
		})
		if s.leadsAddUp(t) == 100_000 {
			t.Error("it went on to its end")
		}
		if got := importsFile(t, s.Client, "kind=leads", ndjson, `{"id":"cmp_x","name":"X"}`); got.Status != "done" {
			t.Errorf("%+v", got)
		}
	})
}

// runsElsewhere begins an import as another server does that does not get on.
func (s *instance) runsElsewhere(t *testing.T) apiImport {
	t.Helper()
	draft := lead.ImportDraft{Kind: lead.ImportLeads, Name: "many.ndjson", Format: lead.NDJSON}
	must(t, s.store.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		now, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		begun, happened, err := lead.NewImport("imp_01m89h7xabee6skjr5wfddsvtw", draft, 1000, nil, tx.Now(), now.Add(time.Hour))
		if err != nil {
			return err
		}
		begun.Progress = lead.ImportProgress{
			Lines: 10, Bytes: 400, ImportCount: lead.ImportCount{Read: 10, Change: lead.Change{Inserted: 10}},
		}
		if err := tx.Imports().Add(ctx, begun); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By("system:test"))
	}))
	return resttest.Data[[]apiImport](t, s.Get("/v1/imports?status=running"))[0]
}

// giveUp ends an import as if its server were gone.
func (s *instance) giveUp(of apiImport) error {
	ctx := context.Background()
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		current, err := tx.Imports().Lock(ctx, id.Import(of.ID))
		if err != nil {
			return err
		}
		ended, happened, err := current.GiveUp(tx.Now())
		if err != nil {
			return err
		}
		if err := tx.Imports().Save(ctx, ended); err != nil {
			return err
		}
		return tx.Record(ctx, happened.By("system:test"))
	})
}

func TestTheOldestImportsAreForgotten(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		var first apiImport
		for n := range 102 {
			got := importsFile(t, s.Client, "kind=leads&dryRun=true", ndjson, "{}")
			if n == 0 {
				first = got
			}
		}
		_, err := s.retention.Run(t.Context())
		must(t, err)
		list := resttest.Data[[]json.RawMessage](t, s.Get("/v1/imports?limit=200"))
		if len(list) != 100 {
			t.Errorf("there are %d imports", len(list))
		}
		s.Get(first.path()).Is(t, 404, "not_found")
	})
}

func TestAnswersAboutImportsLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	eachGolden(t, func(t *testing.T, s *instance) {
		const file = "name,google_rating\nFine,4.5\n,7\n"
		s.golden(t, "import_started", "POST", "/v1/imports?kind=leads&name=leads.csv", file, "Content-Type", csvFile)
		made := ended(t, s.Client, resttest.Data[[]apiImport](t, s.Get("/v1/imports"))[0])
		s.golden(t, "import", "GET", made.path(), "")
		s.golden(t, "import_errors", "GET", made.path()+"/errors", "")
		ended(t, s.Client, starts(t, s.Client, "kind=leads", jsonFile, `[{"name":"Cut"},{"name":"Off"}`))
		s.golden(t, "imports", "GET", "/v1/imports", "")
		s.golden(t, "error_invalid_file", "POST", "/v1/imports?kind=leads", packed(t, file)[:20], "Content-Type", csvFile)
		s.runsElsewhere(t)
		s.golden(t, "import_running", "GET", "/v1/imports?status=running", "")
		s.golden(t, "error_import_running", "POST", "/v1/imports?kind=leads", file, "Content-Type", csvFile)
	})
}
