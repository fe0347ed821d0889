package partner_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/partner/partnertest"
	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestWhatAKeyMayNotSeeIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 5)
	w.export.leads[0].Campaigns = []id.Campaign{"cam_bare", spring}
	one := first(w.export.filtered(lead.Filter{}, lead.Place{}))[0]
	w.export.change(lead.FeedChange{Kind: lead.Upserted, Lead: leadID(1), Exported: one})
	for _, view := range []lead.View{{Campaigns: []id.Campaign{spring}}, {Industries: []id.Industry{health}}} {
		w.keys.change(func() { w.keys.view = view })
		page := w.Get("leads")
		if got := page.IDs(t); len(got) != 1 || got[0] != string(leadID(1)) || page.Pagination.Total != 1 {
			t.Errorf("%+v: %s", view, page.Body)
		}
		if got := w.Stream("leads"); len(got) != 1 {
			t.Errorf("%+v: %d lines", view, len(got))
		}
		w.Get("leads/"+string(leadID(1))).Is(t, 200, "")
		w.Get("leads/"+string(leadID(2))).Is(t, 404, "not_found")
		w.Send(streamed("leads?after="+string(leadID(2)))).Is(t, 400, "invalid_parameter")
		if got := w.Get("campaigns"); len(got.IDs(t)) != 1 || got.Pagination.Total != 1 {
			t.Errorf("%+v: %s", view, got.Body)
		}
		for what, got := range map[string]string{
			"the page": string(page.Body), "the stream": w.Stream("leads")[0], "the lead": string(w.Get("leads/" + string(leadID(1))).Body),
			"the fields": string(w.Get("leads?fields=campaign_ids").Body), "the table": string(w.Send(table("leads")).Body),
			"the feed": string(w.Get("leads/changes").Body),
		} {
			if !strings.Contains(got, string(spring)) || strings.Contains(got, "cam_bare") {
				t.Errorf("%+v: %s: %s", view, what, got)
			}
		}
		for query, want := range map[string]int64{"cam_bare": 0, "cam_spring": 1, "cam_bare,cam_spring": 1} {
			if got := w.Get("leads?campaign_id=" + query); got.Pagination.Total != want {
				t.Errorf("%+v: %s: %s", view, query, got.Body)
			}
		}
		if got := w.As(otherKey).Get("leads"); got.Pagination.Total != 5 {
			t.Errorf("of another partner: %s", got.Body)
		}
	}
	w.keys.change(func() { w.keys.view = lead.View{Industries: []id.Industry{arts}} })
	if got := string(w.Get("taxonomy").Body); strings.Contains(got, string(health)) || strings.Contains(got, string(dentists)) {
		t.Error(got)
	}
}

func TestAKeyWithoutContactsGetsAllButThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys.change(func() { w.keys.view = lead.View{NoContacts: true} })
	for what, got := range map[string]string{
		"the page": string(w.Get("leads?per_page=1").Body), "the lead": string(w.Get("leads/" + string(leadID(1))).Body),
		"the stream": w.Stream("leads")[0],
	} {
		if !strings.Contains(got, `"contacts":[],`) ||
			strings.Contains(got, "Ada") || !strings.Contains(got, `"email":"hello@bluedoor.example"`) {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// What a client has cached is not taken for what its key sees once that is narrowed.
func TestAnswersToKeysThatSeeOtherThingsHaveOtherTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.Get("leads")
	w.Get("leads", "If-None-Match", before.Header.Get("ETag")).Is(t, 304, "")
	w.keys.change(func() { w.keys.view = lead.View{NoContacts: true} })
	narrowed := w.Get("leads", "If-None-Match", before.Header.Get("ETag"))
	narrowed.Is(t, 200, "")
	w.Get("leads", "If-Modified-Since", before.Header.Get("Last-Modified")).Is(t, 200, "")
	w.Get("leads", "If-None-Match", narrowed.Header.Get("ETag")).Is(t, 304, "")
}

func TestAStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(k *keys){
		"revoked": func(k *keys) { k.ended = true }, "narrowed": func(k *keys) { k.view.NoContacts = true },
	} {
		for n := range 4 {
			taking, request := n%2 == 0, streamed("leads")
			if n/2 == 1 {
				request = table("leads")
			}
			w := newWorld(t)
			w.export.fill(t, 200)
			if !taking {
				for i := range w.export.leads { // more than fits between the two
					w.export.leads[i].Name = strings.Repeat("x", 1<<18)
				}
			}
			waits := make(chan struct{})
			first := true
			w.export.pace = func(ctx context.Context) error {
				if first || !taking {
					first = false
					return nil
				}
				close(waits)
				<-ctx.Done() // there is always more
				return ctx.Err()
			}
			response := w.Open(request)
			if taking {
				<-waits
			} else {
				time.Sleep(50 * time.Millisecond) // so that it is being written, mostly
			}
			w.keys.change(func() { end(w.keys) })
			deadline := time.Now().Add(time.Minute)
			for !strings.Contains(w.log.String(), "a stream broke off") && time.Now().Before(deadline) {
				time.Sleep(10 * time.Millisecond)
			}
			if log := w.log.String(); !strings.Contains(log, "a stream broke off") || strings.Contains(log, "level=ERROR") {
				t.Errorf("%s, %v, taking %v: %s", what, request.Header, taking, log)
			}
			_ = response.Body.Close()
		}
	}
}

// Whose key has ended is not let in any more. Who may see something else begins anew: the feed at once, since its next cursor would be
// refused, and a list when it is asked for again.
func TestAnAnswerWhoseKeyEndsBeforeAnythingIsSentIsRefused(t *testing.T) {
	t.Parallel()
	revoked, narrowed := func(k *keys) { k.ended = true }, func(k *keys) { k.view.NoContacts = true }
	page := partnertest.Request{Path: "leads/changes?wait=20"}
	for _, c := range []struct {
		what    string
		end     func(k *keys)
		request partnertest.Request
		status  int
		code    string
	}{
		{"leads, revoked", revoked, streamed("leads"), 401, "unauthorized"},
		{"leads, narrowed", narrowed, streamed("leads"), 503, "unavailable"},
		{"the feed, revoked", revoked, streamed("leads/changes?wait=20"), 401, "unauthorized"},
		{"the feed, narrowed", narrowed, streamed("leads/changes?wait=20"), 400, "invalid_cursor"},
		{"a page of the feed, revoked", revoked, page, 401, "unauthorized"},
		{"a page of the feed, narrowed", narrowed, page, 400, "invalid_cursor"},
	} {
		for _, finds := range []bool{false, true} { // something, right when the key ends
			w := newWorld(t)
			w.export.pace = func(ctx context.Context) error {
				w.keys.change(func() { c.end(w.keys) })
				<-ctx.Done()
				if finds {
					return nil
				}
				return ctx.Err()
			}
			answer := w.Send(c.request)
			if answer.Is(t, c.status, c.code); strings.Contains(w.log.String(), "level=ERROR") {
				t.Errorf("%s: %s", c.what, w.log)
			}
		}
	}
}

func TestWhatAKeyIsUsedForIsNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 30)
	w.Get("leads?per_page=7")
	w.Get("leads/" + string(leadID(1)))
	w.Get("leads/" + string(leadID(99)))
	w.Get("campaigns")
	w.Stream("leads")
	w.Wrong("leads?page=0")
	w.As("hcp_none").Get("leads").Is(t, 401, "unauthorized")
	w.As(otherKey).Get("taxonomy")
	w.keys.change(func() {
		if got := w.keys.used; len(got) != 2 || got[id.New[id.Partner](uuid(1))] != [2]int64{6, 38} || got["prt_2"] != [2]int64{1, 0} {
			t.Errorf("%v", got)
		}
	})
}

// A lead counts when it is written: not when the client has it already, asks for the head, or is refused.
func TestLeadsThatWereNotSentDoNotCount(t *testing.T) {
	t.Parallel()
	w := aFeed(t)
	count := func() (leads int64) {
		w.keys.change(func() { leads = w.keys.used[id.New[id.Partner](uuid(1))][1] })
		return leads
	}
	for _, path := range []string{"leads/" + string(leadID(1)), "leads?per_page=1", "leads/changes?per_page=100"} {
		before := count()
		answer := w.Get(path)
		answer.Is(t, 200, "")
		if got := count(); got != before+1 {
			t.Errorf("%s: %d after %d", path, got, before)
		}
		before = count()
		w.Get(path, "If-None-Match", answer.Header.Get("ETag")).Is(t, 304, "")
		w.Send(partnertest.Request{Method: http.MethodHead, Path: path}).Is(t, 200, "")
		if got := count(); got != before {
			t.Errorf("%s: %d after %d", path, got, before)
		}
	}
	before, cursor := count(), *w.Get("leads?per_page=1").Pagination.NextCursor
	w.export.state.LostAfter, w.export.state.LostUntil = start.Add(-time.Hour), start.Add(time.Hour)
	w.Get("leads?cursor="+cursor).Is(t, 400, "invalid_cursor")
	if got := count(); got != before+1 {
		t.Errorf("%d after %d", got, before)
	}
}

func TestTheHeadOfTheFeedLooksForNothing(t *testing.T) {
	t.Parallel()
	w := aFeed(t)
	page := w.changes(t, "?per_page=1")
	w.export.asked = lead.FeedQuery{}
	ask := func(query string) int {
		return w.Send(partnertest.Request{Method: http.MethodHead, Path: "leads/changes" + query}).Status
	}
	if got := ask("?wait=30&cursor=" + page.Pagination.NextCursor); got != 200 || ask("") != 200 || w.export.asked.Size != 0 {
		t.Errorf("%d, and it asked for %+v", got, w.export.asked)
	}
	w.export.state.Pruned = lead.FeedPlace{Revision: 9}
	if got := ask("?cursor=" + page.Pagination.NextCursor); got != 400 || ask("") != 200 {
		t.Errorf("%d after removals are pruned", got)
	}
}

// Retention moves neither the revision nor the instant of the last change.
func TestThatRemovalsArePrunedIsNotHiddenByATag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	removed, leads := w.Get("leads/removed"), w.Get("leads")
	if modified := removed.Header.Get("Last-Modified"); modified != "" {
		t.Errorf("the removals tell of %s", modified)
	}
	w.export.state.Pruned = lead.FeedPlace{Revision: 5, Key: 7}
	w.Get("leads/removed", "If-None-Match", removed.Header.Get("ETag")).Is(t, 200, "")
	w.Get("leads", "If-None-Match", leads.Header.Get("ETag")).Is(t, 304, "")
}

// Where an answer may be kept, it is for the key alone that it was shown to.
func TestATaxonomyThatIsKeptIsThatOfAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.Get("taxonomy")
	for _, answer := range []partnertest.Answer{first, w.Get("taxonomy", "If-None-Match", first.Header.Get("ETag"))} {
		if !slices.Contains(answer.Header.Values("Vary"), "Authorization") {
			t.Errorf("%d: %v", answer.Status, answer.Header)
		}
	}
	if vary := w.Get("leads").Header.Values("Vary"); slices.Contains(vary, "Authorization") {
		t.Errorf("an answer that is never kept varies by %v", vary)
	}
}

func TestATestKeyReadsTheSampleAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sample.add(t, lead.Draft{ID: "cmp_sampled", Name: "Sampled"})
	test, usual := w.As(testKey), w.As(key)
	for _, path := range []string{"leads", "leads?ids=cmp_sampled"} {
		if !strings.Contains(string(test.Get(path).Body), "cmp_sampled") || strings.Contains(string(usual.Get(path).Body), "cmp_sampled") {
			t.Errorf("%s: %s", path, test.Get(path).Body)
		}
	}
	test.Get("leads/cmp_sampled").Is(t, 200, "")
	usual.Get("leads/cmp_sampled").Is(t, 404, "not_found")
	if me := string(test.Get("me").Body); !strings.Contains(me, `"test":true`) {
		t.Error(me)
	}
	if test.Get("campaigns").Header.Get("ETag") == usual.Get("campaigns").Header.Get("ETag") {
		t.Error("a page of the sample is taken for a page of the store")
	}
	var page struct {
		Pagination struct {
			Next string `json:"next_cursor"`
		}
	}
	if err := json.Unmarshal(test.Get("leads/changes").Body, &page); err != nil {
		t.Fatal(err)
	}
	usual.Get("leads/changes?cursor="+page.Pagination.Next).Is(t, 400, "invalid_cursor")
	test.Get("leads/changes?cursor="+page.Pagination.Next).Is(t, 200, "")
}
