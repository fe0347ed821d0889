package partner_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"holdco/adapters/http/partner/partnertest"
	"holdco/domain/fault"
	"holdco/domain/page"
)

func TestPagesByNumberHoldEveryRowOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 30)
	var ids []string
	for number := range 4 {
		answer := w.Get(fmt.Sprintf("leads?per_page=10&page=%d", number+1))
		ids = append(ids, answer.IDs(t)...)
		want := partnertest.Pagination{Page: new(int64(number + 1)), PerPage: 10, Total: 30, TotalPages: 3}
		if diff := cmp.Diff(want.Page, answer.Pagination.Page); diff != "" || answer.Pagination.Total != want.Total ||
			answer.Pagination.TotalPages != want.TotalPages {
			t.Errorf("%+v", answer.Pagination)
		}
		if last := answer.Pagination.NextCursor == nil; last != (number >= 2) {
			t.Errorf("page %d: next_cursor is null: %v", number+1, last)
		}
	}
	if len(ids) != 30 || !slices.IsSorted(ids) {
		t.Error(ids)
	}
	usual := w.Get("leads")
	if usual.Pagination.PerPage != 25 || len(usual.IDs(t)) != 25 || usual.Pagination.TotalPages != 2 {
		t.Errorf("%+v", usual.Pagination)
	}
	beyond := w.Get("leads?page=9223372036854775807&per_page=100")
	if len(beyond.IDs(t)) != 0 || beyond.Pagination.Total != 30 || *beyond.Pagination.Page != 9223372036854775807 {
		t.Errorf("%+v", beyond.Pagination)
	}
}

func TestCursorsWalkEveryListToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 30)
	for n := range 5 {
		w.export.removedAt[leadID(100+n)] = start // all at one instant
	}
	for path, want := range map[string]int{"leads?since=2026-04-11": 30, "leads/removed?since=2026-04-11": 5, "campaigns?min_leads=0": 2} {
		var ids []string
		for cursor := ""; ; {
			answer := w.Get(path + "&per_page=1" + cursor)
			ids = append(ids, answer.IDs(t)...)
			if (answer.Pagination.Page == nil) != (cursor != "") || answer.Pagination.Total != int64(want) {
				t.Errorf("%s: %+v", path, answer.Pagination)
			}
			if answer.Pagination.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *answer.Pagination.NextCursor
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(ids) != want || len(unique) != want {
			t.Errorf("%s: %v", path, ids)
		}
	}
}

func TestACursorBelongsToItsListAndFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 5)
	cursor := *w.Get("leads?per_page=2&has_website=false&since=2026-04-11").Pagination.NextCursor
	w.Get("leads?since=2026-04-11&cursor="+cursor+"&has_website=false&per_page=100").Is(t, 200, "")
	forged := page.Cursor("leads", page.Position{ID: "cmp_1", Values: []string{"noon"}})
	for _, path := range []string{
		"leads?cursor=" + cursor,
		"leads?has_website=true&since=2026-04-11&cursor=" + cursor,
		"leads/removed?since=2026-04-11&cursor=" + cursor,
		"campaigns?cursor=" + cursor, "leads?has_website=false&since=2026-04-11&cursor=" + cursor[1:], "leads?cursor=" + forged,
	} {
		w.Get(path).Is(t, 400, "invalid_cursor")
	}
}

func TestACursorGoesOnHoweverItsFiltersAreSpelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 5)
	changed(w)
	for list, pairs := range map[string][][2]string{
		"leads": {
			{"has_website=false&since=2026-04-11", "since=2026-04-11T02:00:00%2B02:00&has_website=false"},
			{"ids=" + string(leadID(1)) + "," + string(leadID(2)), "ids=" + string(leadID(2)) + "," + string(leadID(1))},
		},
		"leads/changes": {
			{"min_google_rating=4.0&enrichment_level=deep,none", "min_google_rating=4&enrichment_level=none,deep,deep"},
			{"domain=WWW.B%C3%BCcher.example&email=Info@acme.example", "domain=xn--bcher-kva.example&email=info@ACME.example"},
		},
		"campaigns": {{"since=2026-04-11", "since=2026-04-11T00:00:00Z&min_leads=0"}},
	} {
		for _, pair := range pairs {
			for n := range pair {
				var page struct {
					Pagination struct {
						Next string `json:"next_cursor"`
					}
				}
				if err := json.Unmarshal(w.Get(list+"?per_page=1&"+pair[n]).Body, &page); err != nil || page.Pagination.Next == "" {
					t.Fatalf("%s: %v", pair[n], err)
				}
				w.Get(list+"?cursor="+page.Pagination.Next+"&"+pair[1-n]).Is(t, 200, "")
			}
		}
	}
}

// A store that was restored does not have what a cursor from after the backup stands for.
func TestACursorFromAfterTheBackupIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 5)
	first := w.Get("leads?per_page=3")
	cursor := *first.Pagination.NextCursor // of the lead of start+2s
	campaigns := *w.Get("campaigns?per_page=1").Pagination.NextCursor
	w.export.state.LostUntil = start.Add(time.Hour)
	for after, status := range map[time.Duration]int{time.Second: 400, 2 * time.Second: 200} {
		w.export.state.LostAfter = start.Add(after)
		code := map[int]string{400: "invalid_cursor"}[status]
		w.Get("leads?cursor="+cursor).Is(t, status, code)
		w.Send(partnertest.Request{Method: http.MethodHead, Path: "leads?cursor=" + cursor}).Is(t, status, "")
		w.Get("campaigns?cursor="+campaigns).Is(t, 200, "") // of start
		w.Get("leads").Is(t, 200, "")
	}
	w.export.state.LostAfter = start.Add(-time.Second)
	w.Get("campaigns?cursor="+campaigns).Is(t, 400, "invalid_cursor")
}

func TestAnUnchangedAnswerIsNotSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := "leads/" + string(leadID(1))
	for _, path := range []string{"leads", "leads?per_page=1&has_website=true", "leads/removed", "campaigns", one, "taxonomy"} {
		first := w.Get(path)
		tag := first.Header.Get("ETag")
		w.export.searches.Store(0)
		for _, sent := range []string{tag, `"x", W/` + tag, "*"} {
			again := w.Get(path, "If-None-Match", sent)
			if again.Status != http.StatusNotModified || len(again.Body) > 0 || again.Header.Get("ETag") != tag ||
				again.Header.Get("Cache-Control") != first.Header.Get("Cache-Control") || again.Header.Get("RateLimit-Limit") != "600" {
				t.Errorf("%s, %s: %d %v", path, sent, again.Status, again.Header)
			}
		}
		if got := w.export.searches.Load(); got != 0 {
			t.Errorf("%s: %d searches for what had not changed", path, got)
		}
		w.Get(path, "If-None-Match", `"x"`).Is(t, 200, "")
	}
	if w.Get("leads").Header.Get("ETag") == w.Get("leads?page=1").Header.Get("ETag") {
		t.Error("different questions have one tag")
	}

	tags := map[string]string{}
	for _, path := range []string{"leads", "campaigns", "leads/removed", "taxonomy", one} {
		tags[path] = w.Get(path).Header.Get("ETag")
	}
	w.export.state.Revision++
	for path, tag := range tags {
		want := http.StatusOK
		if path == "taxonomy" || path == one { // which are known by what they say
			want = http.StatusNotModified
		}
		if got := w.Get(path, "If-None-Match", tag).Status; got != want {
			t.Errorf("%s: %d after a change", path, got)
		}
	}
	w.export.taxonomy.Industries[1].Name = "Wellness"
	for _, path := range []string{"taxonomy", one} {
		w.Get(path, "If-None-Match", tags[path]).Is(t, 200, "")
	}
}

func TestATimeIsToldWhenItCannotLie(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const stamp = "Sat, 11 Apr 2026 10:42:17 GMT"
	w.export.state.ChangedAt = start.Add(300 * time.Millisecond)
	for after, want := range map[time.Duration]string{
		-time.Minute: "", 300 * time.Millisecond: "", 999 * time.Millisecond: "", time.Second: stamp, time.Hour: stamp,
	} {
		w.clock.now = start.Add(after)
		if got := w.Get("leads").Header.Get("Last-Modified"); got != want {
			t.Errorf("after %s: %q", after, got)
		}
	}
	w.clock.now = start.Add(time.Hour)
	for _, path := range []string{"leads", "campaigns"} { // removals are pruned at no instant that is told
		for since, status := range map[string]int{
			stamp: 304, "Sat, 11 Apr 2026 10:42:18 GMT": 304, "Sat, 11 Apr 2026 10:42:16 GMT": 200, "yesterday": 200,
		} {
			w.Get(path, "If-Modified-Since", since).Is(t, status, "")
			w.Get(path, "If-Modified-Since", since, "If-None-Match", `"x"`).Is(t, 200, "")
		}
	}
	w.export.state.ChangedAt = time.Time{}
	if answer := w.Get("leads", "If-Modified-Since", stamp); answer.Status != 200 || answer.Header.Get("Last-Modified") != "" {
		t.Errorf("%d %v", answer.Status, answer.Header)
	}
}

func TestHeadIsGetWithoutTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"leads?per_page=1", "leads/removed", "campaigns", "leads/" + string(leadID(1)), "taxonomy"} {
		full := w.Get(path)
		w.export.searches.Store(0)
		head := w.Send(partnertest.Request{Method: http.MethodHead, Path: path})
		if head.Status != 200 || len(head.Body) > 0 || w.export.searches.Load() != 0 {
			t.Errorf("%s: %d, %d searches", path, head.Status, w.export.searches.Load())
		}
		for _, header := range []string{"ETag", "Last-Modified", "Content-Type", "Cache-Control", "RateLimit-Limit"} {
			if head.Header.Get(header) != full.Header.Get(header) {
				t.Errorf("%s: %s is %q, not %q", path, header, head.Header.Get(header), full.Header.Get(header))
			}
		}
		spared := w.Send(partnertest.Request{Method: http.MethodHead, Path: path,
			Header: map[string]string{"If-None-Match": full.Header.Get("ETag")}})
		if spared.Status != http.StatusNotModified {
			t.Errorf("%s: %d", path, spared.Status)
		}
	}
	for path, status := range map[string]int{"leads?page=0": 400, "leads?cursor=x": 400, "leads/cmp_none": 404, "lead": 404} {
		if got := w.Send(partnertest.Request{Method: http.MethodHead, Path: path, Wrong: true}); got.Status != status {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
	w.export.err = fault.New(fault.Unavailable, "Later.")
	if got := w.Send(partnertest.Request{Method: http.MethodHead, Path: "leads"}); got.Status != 503 || got.Header.Get("ETag") != "" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
}

func TestAnswersAreCompressedWhenAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 250)
	for _, accept := range []string{"application/json", "application/x-ndjson"} {
		plain := w.Get("leads", "Accept", accept)
		for _, coding := range []string{"gzip", "zstd"} {
			answer := w.Get("leads", "Accept", accept, "Accept-Encoding", coding)
			var reader io.Reader
			var err error
			if coding == "gzip" {
				reader, err = gzip.NewReader(strings.NewReader(string(answer.Body)))
			} else {
				reader, err = zstd.NewReader(strings.NewReader(string(answer.Body)))
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(reader)
			if err != nil || answer.Header.Get("Content-Encoding") != coding || string(text) != string(plain.Body) ||
				len(answer.Body) > len(text)/4 {
				t.Errorf("%s, %s: %v, %v, %d of %d bytes", accept, coding, err, answer.Header, len(answer.Body), len(text))
			}
			if vary := strings.Join(answer.Header.Values("Vary"), ", "); vary != "Accept-Encoding, Origin, Accept" {
				t.Error(vary)
			}
		}
	}
}

func TestABuggyStoreIsNotTakenForAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys.err = fault.New(fault.Unavailable, "The store cannot be reached; try again.")
	answer := w.Get("leads", "Origin", home)
	answer.Is(t, 503, "unavailable")
	if answer.Header.Get("Retry-After") == "" || answer.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", answer.Header)
	}
	w.As("").Get("/healthz").Is(t, 200, "")
	w.export.err = w.keys.err
	w.As("").Get("/readyz").Is(t, 503, "unavailable")
}

func TestTheBytesOfAnswersAreJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"leads", "leads?page=2", "leads/removed", "campaigns", "leads/" + string(leadID(1)), "taxonomy"} {
		if body := w.Get(path).Body; !json.Valid(body) || body[len(body)-1] != '\n' {
			t.Errorf("%s: %q", path, body)
		}
	}
}
