package wiring_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
)

// apiEntry is an entry of the activity log as the API shows it.
type apiEntry struct {
	ID, Category, Action, Actor, At string
	CompanyID                       *string
	Subject                         struct{ Type, ID string }
	Related                         struct{ IssueID, AgentID, RunID *string }
	Payload                         map[string]any
}

// activity reads all pages of a list of the activity.
func (s *instance) activity(t *testing.T, path string) (all []apiEntry) {
	t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for cursor := ""; ; {
		answer := s.In(t).Get(path + cursor)
		answer.Is(t, 200, "")
		all = append(all, resttest.Data[[]apiEntry](t, answer)...)
		if answer.Meta.Page.Cursor == nil {
			return all
		}
		cursor = separator + "cursor=" + url.QueryEscape(*answer.Meta.Page.Cursor)
	}
}

func TestActivityIsListedByWhatItIsAbout(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		all := s.activity(t, p.path()+"/activity?limit=3")
		if !slices.IsSortedFunc(all, func(a, b apiEntry) int { return strings.Compare(b.At+b.ID, a.At+a.ID) }) || len(all) < 8 {
			t.Fatalf("%d entries, not newest first", len(all))
		}
		ada, lease := p.by[0], p.leases[0]
		related := func(id *string, want string) bool { return id != nil && *id == want }
		for query, want := range map[string]func(e apiEntry) bool{
			"category=task,agent":       func(e apiEntry) bool { return e.Category == "task" || e.Category == "agent" },
			"action=issue.created":      func(e apiEntry) bool { return e.Action == "issue.created" },
			"actor=agent:":              func(e apiEntry) bool { return strings.HasPrefix(e.Actor, "agent:") },
			"actor=agent:" + ada.ID:     func(e apiEntry) bool { return e.Actor == "agent:"+ada.ID },
			"subject.type=issue":        func(e apiEntry) bool { return e.Subject.Type == "issue" },
			"subject.id=" + ada.ID:      func(e apiEntry) bool { return e.Subject.ID == ada.ID },
			"related.agentId=" + ada.ID: func(e apiEntry) bool { return related(e.Related.AgentID, ada.ID) },
			"related.issueId=" + lease.Issue.ID: func(e apiEntry) bool {
				return related(e.Related.IssueID, lease.Issue.ID)
			},
			"q=ISSUE+started":                      func(e apiEntry) bool { return strings.Contains(e.Action, "issue.started") },
			"category=task&action=company.created": func(apiEntry) bool { return false },
			"since=2030-01-01T00:00:00Z":           func(apiEntry) bool { return false },
		} {
			var ids, wanted []string
			for _, e := range s.activity(t, p.path()+"/activity?limit=2&"+query) {
				ids = append(ids, e.ID)
			}
			for _, e := range all {
				if want(e) {
					wanted = append(wanted, e.ID)
				}
			}
			isEmpty := strings.HasPrefix(query, "since") || strings.HasPrefix(query, "category=task&")
			if !slices.Equal(ids, wanted) || isEmpty != (len(wanted) == 0) {
				t.Errorf("%s: %v, want %v", query, ids, wanted)
			}
		}
		for _, e := range all[:2] {
			answer := s.In(t).Get(p.path() + "/activity/" + e.ID)
			answer.Is(t, 200, "")
		}
		other := s.create(t, `{"name":"Other","slug":"other"}`)
		s.In(t).Get(other.path()+"/activity/"+all[0].ID).Is(t, 404, "not_found")
		for _, wrong := range []string{"q=a", "action=none", "since=yesterday", "q=" + strings.Repeat("a", 201)} {
			s.Client.In(t).Send(resttest.Request{Method: "GET", Path: p.path() + "/activity?" + wrong, Wrong: true}).
				Is(t, 400, "invalid_parameter")
		}
		for _, e := range s.activity(t, p.path()+"/audit") {
			if e.Category == "task" || e.Category == "run" {
				t.Errorf("an audit shows %s", e.Action)
			}
		}
		if n := len(s.activity(t, p.path()+"/audit?category=task")); n != 0 {
			t.Errorf("an audit shows %d entries of tasks", n)
		}
		of := func(list []apiEntry, action string) bool {
			return slices.ContainsFunc(list, func(e apiEntry) bool { return e.Action == action })
		}
		if list := s.activity(t, "/v1/activity?limit=200"); !of(list, "token.created") || !of(list, "issue.created") {
			t.Error("the activity of all lacks some")
		}
		list := s.activity(t, "/v1/audit?limit=200")
		if !of(list, "token.created") || !of(list, "company.created") || of(list, "issue.created") {
			t.Error("the audit of all lacks some, or has too much")
		}
		s.with(t, "read").Get("/v1/activity").Is(t, 403, "insufficient_scope")
		s.with(t, "company:"+other.ID+":read").Get(p.path()+"/activity").Is(t, 404, "not_found")
	})
}

// lines reads an answer that is no envelope.
func (s *instance) raw(t *testing.T, path string) string {
	t.Helper()
	answer := s.follow(t.Context(), t, path, nil)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return string(text)
}

// follow sends a request whose answer is read by hand.
func (s *instance) follow(ctx context.Context, t *testing.T, path string, header map[string]string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+string(rootToken))
	for name, value := range header {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	return answer
}

func TestActivityIsExportedAndResumed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		s.Patch(p.path(), `{"name":"=1+1"}`).Is(t, 200, "")
		all := s.activity(t, p.path()+"/activity?limit=200")
		slices.Reverse(all)
		var ids []string
		// An export ends before what a transaction may still be writing, be it of another test.
		await(t, "all of the export", func() bool {
			ids = nil
			for line := range strings.Lines(s.raw(t, p.path()+"/activity/export")) {
				var e apiEntry
				must(t, json.Unmarshal([]byte(line), &e))
				ids = append(ids, e.ID)
			}
			return len(ids) >= len(all)
		})
		for n, e := range all {
			if len(ids) != len(all) || ids[n] != e.ID {
				t.Fatalf("%v", ids)
			}
		}
		rest := s.raw(t, p.path()+"/activity/export?after="+ids[2])
		if strings.Count(rest, "\n") != len(ids)-3 || !strings.HasPrefix(rest, `{"id":"`+ids[3]) {
			t.Errorf("it goes on with %s", rest)
		}
		rows, err := csv.NewReader(strings.NewReader(s.raw(t, p.path()+"/activity/export?format=csv"))).ReadAll()
		must(t, err)
		if len(rows) != len(ids)+1 || rows[0][0] != "id" || rows[1][0] != ids[0] || !strings.Contains(rows[len(ids)][11], `"name":"=1+1"`) {
			t.Errorf("%v", rows)
		}
		s.In(t).Send(resttest.Request{Method: "GET", Path: p.path() + "/activity/export?after=act_none", Wrong: true}).
			Is(t, 400, "invalid_cursor")
	})
}

// reading reads server-sent events until the stream ends.
func reading(from io.Reader, take func(place, data string) bool) {
	place, data := "", ""
	for lines := bufio.NewScanner(from); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "id: "):
			place = line[4:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case line == "" && place != "":
			if !take(place, data) {
				return
			}
			place, data = "", ""
		}
	}
}

// Readers that are cut off at random, on any of some servers, miss and repeat nothing, and all see one order.
func testStreams(t *testing.T, servers ...*instance) {
	t.Helper()
	s := servers[0]
	in := s.create(t, `{"name":"Acme","slug":"acme"}`)
	const writers, each, readers = 8, 25, 4
	var begin string
	answer := s.follow(t.Context(), t, in.path()+"/activity/stream", nil)
	reading(answer.Body, func(place, _ string) bool { begin = place; return false })
	_ = answer.Body.Close()
	if begin == "" {
		t.Fatal("the stream does not say where it begins")
	}
	seen := make([][]string, readers)
	var all sync.WaitGroup
	for r := range readers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(r)))
			for place := begin; len(seen[r]) < writers*each && t.Context().Err() == nil; {
				ctx, cut := context.WithTimeout(t.Context(), time.Duration(20+random.IntN(300))*time.Millisecond)
				server := servers[random.IntN(len(servers))]
				request, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.url+in.path()+"/activity/stream", nil)
				request.Header.Set("Authorization", "Bearer "+string(rootToken))
				request.Header.Set("Last-Event-ID", place)
				if answer, err := http.DefaultClient.Do(request); err == nil {
					if answer.StatusCode != http.StatusOK {
						t.Errorf("status %d", answer.StatusCode)
					}
					reading(answer.Body, func(at, data string) bool {
						var e apiEntry
						if err := json.Unmarshal([]byte(data), &e); err != nil {
							t.Error(err)
						}
						place, seen[r] = at, append(seen[r], e.ID)
						return true
					})
					_ = answer.Body.Close()
				}
				cut()
			}
		})
	}
	for w := range writers {
		all.Go(func() {
			for n := range each {
				body := fmt.Sprintf(`{"title":"%d of %d"}`, n, w)
				servers[w%len(servers)].In(t).Post(in.path()+"/issues", body).Is(t, 201, "")
			}
		})
	}
	all.Wait()
	var want []string
	for _, e := range s.activity(t, in.path()+"/activity?limit=200&action=issue.created") {
		want = append(want, e.ID)
	}
	slices.Sort(want)
	for r, got := range seen {
		if !slices.Equal(got, seen[0]) {
			t.Errorf("the readers 0 and %d saw different orders", r)
		}
		if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, want) {
			t.Errorf("reader %d saw %d entries, not the %d that there are", r, len(got), len(want))
		}
	}
}

func TestStreamsThatAreCutOffMissNothing(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testStreams(t, startOnSQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		database, dir := databaseURL+postgrestest.URL(t), dataDir+t.TempDir()
		first := start(t, newClock(), dir, database)
		testStreams(t, first, start(t, newClock(), dir, database))
	})
}

func TestAStreamEndsWithItsTokenItsCompanyAndItsServer(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		in, other := s.create(t, `{"name":"Acme","slug":"acme"}`), s.create(t, `{"name":"Other","slug":"other"}`)
		ended := func(of company, token string) (begin string, done <-chan struct{}) {
			//nolint:bodyclose // it is closed when the stream has ended
			answer := s.follow(t.Context(), t, of.path()+"/activity/stream", map[string]string{"Authorization": "Bearer " + token})
			begun, over := make(chan string, 1), make(chan struct{})
			go func() {
				defer close(over)
				defer answer.Body.Close()
				reading(answer.Body, func(place, _ string) bool {
					select {
					case begun <- place:
					default:
					}
					return true
				})
			}()
			return <-begun, over
		}
		await := func(done <-chan struct{}, after string) {
			t.Helper()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Errorf("the stream did not end after %s", after)
			}
		}
		token := s.issue(t, "read")
		_, revoked := ended(in, token.Token)
		s.Delete("/v1/tokens/"+token.ID).Is(t, 200, "")
		await(revoked, "the token was revoked")

		foreign, removed := ended(other, string(rootToken))
		s.Delete(other.path()).Is(t, 200, "")
		await(removed, "the company was removed")
		for _, place := range []string{foreign, "nonsense"} {
			answer := s.In(t).Get(in.path() + "/activity/stream?lastEventId=" + url.QueryEscape(place))
			answer.Is(t, 400, "invalid_cursor")
			if !strings.Contains(string(answer.Body), `"oldest":"`) || strings.Contains(string(answer.Body), `"oldest":""`) {
				t.Errorf("%s", answer.Body)
			}
		}
		_, stopped := ended(in, string(rootToken))
		begin := time.Now()
		must(t, s.stop())
		await(stopped, "the server stopped")
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("the stream held up the server for %s", took)
		}
	})
}
