package partner_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
)

// aFeed is a world in whose feed there is a change of each kind.
func aFeed(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	changed(w)
	return w
}

func changed(w *world) {
	w.export.change(lead.FeedChange{Kind: lead.TaxonomyChanged, Industry: &w.export.taxonomy.Industries[0]})
	w.export.change(lead.FeedChange{Kind: lead.TaxonomyChanged, Vertical: &w.export.taxonomy.Verticals[0]})
	first := first(w.export.filtered(lead.Filter{}, lead.Place{}))[0]
	w.export.change(lead.FeedChange{Kind: lead.Upserted, Lead: first.Place.ID, Exported: first})
	w.export.change(lead.FeedChange{Kind: lead.Gone, Lead: leadID(8), At: start})
	w.export.change(lead.FeedChange{Kind: lead.Left, Lead: leadID(9)})
}

// aChange is a line of the feed, or a change on a page.
type aChange struct {
	ID, Change, At string
	Lead           json.RawMessage
	Industry       map[string]string
	Vertical       map[string]string
	NextCursor     string `json:"next_cursor"`
}

// aPage is a page of the feed.
type aPage struct {
	Data       []aChange
	Pagination struct {
		PerPage    int    `json:"per_page"`
		More       bool   `json:"more"`
		NextCursor string `json:"next_cursor"`
	}
}

func (w *world) changes(t *testing.T, query string) (page aPage) {
	t.Helper()
	answer := w.Get("leads/changes" + query)
	answer.Is(t, 200, "")
	if err := json.Unmarshal(answer.Body, &page); err != nil {
		t.Fatal(err)
	}
	return page
}

func TestTheFeedIsReadInPages(t *testing.T) {
	t.Parallel()
	w := aFeed(t)
	shown := `{"data":[` + string(w.Get("leads?per_page=1").Body) // the lead is spelled as in the list
	shown = shown[strings.Index(shown, `{"id"`):strings.Index(shown, `],"pagination"`)]
	var all []aChange
	for query := "?per_page=2"; ; {
		page := w.changes(t, query)
		all = append(all, page.Data...)
		if page.Pagination.PerPage != 2 || page.Pagination.NextCursor == "" {
			t.Fatalf("%+v", page.Pagination)
		}
		query = "?per_page=2&cursor=" + page.Pagination.NextCursor
		if !page.Pagination.More {
			again := w.changes(t, query)
			if len(again.Data) > 0 || again.Pagination.NextCursor != page.Pagination.NextCursor || again.Pagination.More {
				t.Errorf("%+v", again)
			}
			break
		}
	}
	want := []aChange{
		{ID: string(arts), Change: "taxonomy", Industry: map[string]string{"id": string(arts), "name": "Arts", "slug": "arts"}},
		{ID: string(dentists), Change: "taxonomy", Vertical: map[string]string{
			"id": string(dentists), "name": "Dentists", "slug": "dentists", "industry_id": string(health),
		}},
		{ID: string(leadID(1)), Change: "upserted", Lead: json.RawMessage(shown)},
		{ID: string(leadID(8)), Change: "removed", At: "2026-04-11T10:42:17.000Z"},
		{ID: string(leadID(9)), Change: "left"},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	if at := w.export.asked.After; at.Place != (lead.FeedPlace{Revision: 5, Key: 1}) || at.Fresh != 3 ||
		!at.SeenAt.Equal(start) || at.Seen != w.export.state.Revision {
		t.Errorf("%+v", at)
	}
}

func TestTheFeedIsStreamedWithCheckpoints(t *testing.T) {
	t.Parallel()
	w := aFeed(t)
	var kinds, cursors []string
	for _, line := range w.Send(streamed("leads/changes?has_website=true&wait=7")).Lines() {
		var change aChange
		if err := json.Unmarshal([]byte(line), &change); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if kinds = append(kinds, change.Change); change.NextCursor != "" {
			cursors = append(cursors, change.NextCursor)
		}
	}
	want := "taxonomy taxonomy checkpoint upserted removed checkpoint left checkpoint"
	if got := strings.Join(kinds, " "); got != want || len(cursors) != 3 || w.export.waited != 7*time.Second {
		t.Errorf("%s; %v; waited %v", got, cursors, w.export.waited)
	}
	if page := w.changes(t, "?has_website=true&cursor="+cursors[0]); len(page.Data) != 3 || page.Data[0].Change != "upserted" {
		t.Errorf("%+v", page)
	}
	last := w.Send(streamed("leads/changes?has_website=true&cursor=" + cursors[2])).Lines()
	if len(last) != 1 || !strings.Contains(last[0], cursors[2]) {
		t.Error(last)
	}
	head := streamed("leads/changes")
	head.Method = http.MethodHead
	if answer := w.Send(head); answer.Status != 200 || answer.Header.Get("Content-Type") != lines {
		t.Errorf("%d %v", answer.Status, answer.Header)
	}
	w.export.err = fault.New(fault.InvalidCursor, "An older state was restored.")
	w.Send(streamed("leads/changes")).Is(t, 400, "invalid_cursor")
}

func TestTheFeedBeginsWhereItIsAskedTo(t *testing.T) {
	t.Parallel()
	w := aFeed(t)
	if page := w.changes(t, "?since=2026-04-11T10:42:17Z&wait=0"); len(page.Data) != 3 || w.export.waited != 0 {
		t.Errorf("%+v, waited %v", page, w.export.waited)
	}
	w.changes(t, "?wait=30&industry_id=ind_health&min_google_rating=4")
	want := lead.Filter{Industries: []id.Industry{health}, MinRating: new(lead.Rating(400))}
	if diff := cmp.Diff(want, w.export.asked.Filter); diff != "" || w.export.waited != 30*time.Second || w.export.asked.Size != 25 {
		t.Errorf("%s waited %v", diff, w.export.waited)
	}
	cursor := w.changes(t, "?has_website=true").Pagination.NextCursor
	for path, code := range map[string]string{
		"leads/changes?cursor=" + cursor:                                   "invalid_cursor",
		"leads/changes?has_website=false&cursor=" + cursor:                 "invalid_cursor",
		"leads/removed?cursor=" + cursor:                                   "invalid_cursor",
		"leads/changes?cursor=nonsense":                                    "invalid_cursor",
		"leads/changes?since=2026-04-11&has_website=true&cursor=" + cursor: "invalid_parameter",
		"leads/changes?since=2020-01-01":                                   "invalid_parameter",
	} {
		w.Get(path).Is(t, 400, code)
	}
	for path, parameter := range map[string]string{
		"leads/changes?wait=31": "wait", "leads/changes?wait=-1": "wait", "leads/changes?wait=1.5": "wait", "leads/changes?page=1": "page",
		"leads/changes?after=cmp_x": "after", "leads/changes?since=yesterday": "since",
	} {
		w.Wrong(path).Blames(t, parameter)
	}
	w.Send(streamed("leads/changes?per_page=3")).Blames(t, "per_page")
	if head := w.Get("leads/changes"); w.Get("leads/changes", "If-None-Match", head.Header.Get("ETag")).Status != 304 {
		t.Error("what the client has is sent again")
	}
}

// Cursors of a former version do not say which revision was seen.
func TestCursorsOfAFormerVersionAreTaken(t *testing.T) {
	t.Parallel()
	w := aFeed(t)
	former := page.Position{ID: "lead", Values: []string{"4", "1", "3", "2026-04-11T10:42:17.000Z"}}
	if found := w.changes(t, "?cursor="+page.Cursor("changes", former)); len(found.Data) != 1 || found.Data[0].Change != "left" {
		t.Errorf("%+v", found)
	}
	want := lead.FeedPosition{Place: lead.FeedPlace{Revision: 4, Key: 1}, Fresh: 3, SeenAt: start}
	if diff := cmp.Diff(want, w.export.asked.After); diff != "" {
		t.Error(diff)
	}
}
