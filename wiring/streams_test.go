package wiring_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
)

// streaming is a stream that is read until it ends.
type streaming struct {
	entries chan apiEntry // closed when it has ended
	end     func()

	mutex sync.Mutex
	at    map[string]string // places by the ids of entries
}

// streams begins a stream with the value of a token, after a place. Without one it waits until the stream says where it begins; "-" is no
// place either, of a stream that has none to tell.
func (s *instance) streams(t *testing.T, in company, token, place string) *streaming {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	header := map[string]string{"Authorization": "Bearer " + token}
	if place != "" && place != "-" {
		header["Last-Event-ID"] = place
	}
	answer := s.follow(ctx, t, in.path()+"/activity/stream", header) //nolint:bodyclose // it is closed when the stream has ended
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("a stream is answered with %s", answer.Status)
	}
	got := &streaming{entries: make(chan apiEntry, 1000), end: end, at: map[string]string{}}
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	if place != "" {
		begin()
	}
	go func() {
		defer close(got.entries)
		defer answer.Body.Close()
		reading(answer.Body, func(place, data string) bool {
			if begin(); data == "" {
				return true
			}
			var e apiEntry
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Error(err)
			}
			got.mutex.Lock()
			got.at[e.ID] = place
			got.mutex.Unlock()
			got.entries <- e
			return true
		})
	}()
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("the stream does not say where it begins")
	}
	return got
}

// next is the next entry of a stream with an action.
func (s *streaming) next(t *testing.T, action string) apiEntry {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case e, ok := <-s.entries:
			if !ok {
				t.Fatal("the stream has ended")
			}
			if e.Action == action {
				return e
			}
		case <-late:
			t.Fatalf("%s did not come", action)
		}
	}
}

// places are those of the entries that came, by their ids.
func (s *streaming) places() map[string]string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return maps.Clone(s.at)
}

// As many readers as a server takes get every entry. They cost it little memory, and leave nothing behind.
func TestAServerHasFiveHundredStreams(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		const readers, entries, perReader, goroutines = 500, 3, 200 << 10, 6
		p := startProcess(t, environ...)
		s := &instance{Client: resttest.New(t, p.url, string(rootToken)), url: p.url}
		in := s.create(t, `{"name":"Acme","slug":"acme"}`)
		held := func(f figures) float64 { return f["go_memstats_heap_inuse_bytes"] + f["go_memstats_stack_inuse_bytes"] }
		before := scrape(t, p.url)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		var begun, came atomic.Int64
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				answer := s.follow(ctx, t, in.path()+"/activity/stream", nil)
				defer answer.Body.Close()
				reading(answer.Body, func(_, data string) bool {
					if strings.Contains(data, `"issue.created"`) {
						came.Add(1)
					} else {
						begun.Add(1)
					}
					return true
				})
			})
		}
		await(t, "all streams", func() bool { return begun.Load() >= readers })
		s.In(t).Get(in.path()+"/activity/stream").Is(t, 503, "unavailable")
		for n := range entries {
			s.In(t).Post(in.path()+"/issues", fmt.Sprintf(`{"title":"%d"}`, n)).Is(t, 201, "")
		}
		await(t, "all entries", func() bool { return came.Load() == readers*entries })
		full := scrape(t, p.url)
		if more := held(full) - held(before); more > readers*perReader {
			t.Errorf("a stream takes %.0f KiB", more/1024/readers)
		}
		if more := full["go_goroutines"] - before["go_goroutines"]; more > readers*goroutines {
			t.Errorf("%d streams take %.0f goroutines", readers, more)
		}
		end()
		all.Wait()
		await(t, "the end of what the streams took", func() bool {
			after := scrape(t, p.url)
			return after["go_goroutines"] < before["go_goroutines"]+readers/10 &&
				after["holdco_http_requests_in_flight"] <= before["holdco_http_requests_in_flight"]
		})
		s.streams(t, in, string(rootToken), "").end()
	})
}

// comments waits for comment lines of a stream.
func comments(t *testing.T, from io.Reader, count int) {
	t.Helper()
	for lines := bufio.NewScanner(from); count > 0; {
		if !lines.Scan() {
			t.Fatal("the stream has ended")
		}
		if strings.HasPrefix(lines.Text(), ":") {
			count--
		}
	}
}

// A stream in which nothing happens says that it is there.
func TestAQuietStreamIsCommented(t *testing.T) {
	t.Parallel()
	if rest.UsualPace.Quiet != 15*time.Second {
		t.Errorf("comments come every %s", rest.UsualPace.Quiet)
	}
	eachDatabase(t, func(t *testing.T, environ ...string) {
		const quiet = 1500 * time.Millisecond
		clock := newClock()
		clock.streamPace = rest.StreamPace{Quiet: quiet, Patience: time.Minute}
		s := start(t, clock, environ...)
		in := s.create(t, `{"name":"Acme","slug":"acme"}`)
		began := time.Now()
		answer := s.follow(t.Context(), t, in.path()+"/activity/stream", nil)
		defer answer.Body.Close()
		comments(t, answer.Body, 2)
		if took := time.Since(began); took < 2*quiet {
			t.Errorf("two comments came within %s", took)
		}
	})
}

// A stream ends with what lets its reader in, and not before.
func TestAStreamEndsWhenItsTokenOrItsSessionDoes(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		clock := newClock()
		clock.streamPace = rest.StreamPace{Quiet: time.Nanosecond, Patience: time.Minute} // a comment every second
		s := start(t, clock, environ...)
		in := s.create(t, `{"name":"Acme","slug":"acme"}`)
		stays := s.streams(t, in, string(rootToken), "")
		ends := clock.Now().Add(time.Hour).Format(time.RFC3339)
		token := resttest.Data[apiToken](t, s.Post("/v1/tokens", `{"name":"short","scopes":["read"],"expiresAt":"`+ends+`"}`))
		expires := s.follow(t.Context(), t, in.path()+"/activity/stream", map[string]string{"Authorization": "Bearer " + token.Token})
		defer expires.Body.Close()
		signed := signIn(t, s, "token", s.issue(t, "read").Token)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.pagesURL+in.path()+"/activity/stream", nil)
		must(t, err)
		request.AddCookie(&http.Cookie{Name: signed.cookie.Name, Value: signed.cookie.Value})
		session, err := http.DefaultClient.Do(request)
		must(t, err)
		defer session.Body.Close()
		for _, open := range []*http.Response{expires, session} {
			comments(t, open.Body, 3)
		}
		if answer := signed.send(t, http.MethodDelete, "/session", ""); answer.StatusCode != http.StatusNoContent {
			t.Errorf("signing out is answered with %s", answer.Status)
		}
		clock.advance(2 * time.Hour)
		for what, over := range map[string]*http.Response{"the token": expires, "the session": session} {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = io.Copy(io.Discard, over.Body)
			}()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Errorf("the stream did not end with %s", what)
			}
		}
		s.Post(in.path()+"/issues", `{"title":"x"}`).Is(t, 201, "")
		stays.next(t, "issue.created")
	})
}

func TestAnArchivedCompanyIsFollowed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		in := s.create(t, `{"name":"Acme","slug":"acme"}`)
		before := s.streams(t, in, string(rootToken), "")
		s.Post(in.path()+"/archive", "").Is(t, 200, "")
		before.next(t, "company.archived")
		meanwhile := s.streams(t, in, string(rootToken), "")
		s.Post(in.path()+"/restore", "").Is(t, 200, "")
		for _, one := range []*streaming{before, meanwhile} {
			one.next(t, "company.restored")
		}
	})
}

// A stream does not go on from where entries were removed: it would miss some.
func TestAPlaceBeforeRemovedEntriesIsRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		in := s.create(t, `{"name":"Acme","slug":"acme"}`)
		stream := s.streams(t, in, string(rootToken), "")
		var entries []apiEntry
		for n := range 5 {
			s.Post(in.path()+"/issues", fmt.Sprintf(`{"title":"%d"}`, n)).Is(t, 201, "")
			entries = append(entries, stream.next(t, "issue.created"))
		}
		places := stream.places()
		place := func(n int) string { return places[entries[n].ID] }
		remove := func(of string) {
			runOn(t, beside(s.environ), "DELETE FROM activity WHERE company_id = '"+in.ID+"' AND "+of)
		}
		refused := func(place string) (oldest string) {
			t.Helper()
			answer := s.In(t).Get(in.path() + "/activity/stream?lastEventId=" + url.QueryEscape(place))
			answer.Is(t, 400, "invalid_cursor")
			oldest, _ = details(t, answer)["oldest"].(string)
			return oldest
		}
		remove("id < '" + entries[2].ID + "'")
		for n := range 2 {
			oldest := refused(place(n))
			if e := s.streams(t, in, string(rootToken), oldest).next(t, "issue.created"); e.ID != entries[2].ID {
				t.Errorf("after the oldest place comes %v", e.Payload["title"])
			}
		}
		for n := 2; n < len(entries)-1; n++ {
			if e := s.streams(t, in, string(rootToken), place(n)).next(t, "issue.created"); e.ID != entries[n+1].ID {
				t.Errorf("after entry %d comes %v", n, e.Payload["title"])
			}
		}
		s.create(t, `{"name":"Other","slug":"other"}`) // the last entry of a log stays
		remove("id <> ''")
		oldest := refused(place(4))
		again := s.streams(t, in, string(rootToken), "-") // it begins without a place to tell
		s.Post(in.path()+"/issues", `{"title":"again"}`).Is(t, 201, "")
		e := again.next(t, "issue.created")
		if first := s.streams(t, in, string(rootToken), oldest).next(t, "issue.created"); first.ID != e.ID {
			t.Errorf("after the oldest place comes %v", first.Payload["title"])
		}
	})
}

// The command shows what happens until it is interrupted. When its connection is cut, it misses and repeats nothing.
func TestACommandFollowsTheActivity(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		in := s.create(t, `{"name":"Acme","slug":"acme"}`)
		server, err := url.Parse(s.url)
		must(t, err)
		proxy := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) }, FlushInterval: -1,
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		})
		t.Cleanup(func() {
			proxy.CloseClientConnections()
			proxy.Close()
		})
		file := func(n int) {
			s.Post(in.path()+"/issues", fmt.Sprintf(`{"title":"Issue %d"}`, n)).Is(t, 201, "")
		}
		file(1)

		command := exec.Command("holdco", "activity", "--follow", "--category", "task,run", "--limit", "10")
		command.Env = slices.Concat(os.Environ(), []string{"HOLDCO_URL=" + proxy.URL, "HOLDCO_TOKEN=" + string(rootToken)})
		var said record
		command.Stderr = &said
		out, err := command.StdoutPipe()
		must(t, err)
		must(t, command.Start())
		t.Cleanup(func() { _ = command.Process.Kill() })
		lines := make(chan string, 100)
		go func() {
			defer close(lines)
			for shown := bufio.NewScanner(out); shown.Scan(); {
				lines <- shown.Text()
			}
		}()
		shows := func(n int) {
			t.Helper()
			select {
			case line := <-lines:
				if !strings.HasSuffix(line, fmt.Sprintf("  Issue %d", n)) {
					t.Fatalf("the command shows %q, not issue %d; %s", line, n, said.String())
				}
			case <-time.After(time.Minute):
				t.Fatalf("the command does not show issue %d; %s", n, said.String())
			}
		}
		shows(1)
		file(2)
		shows(2)
		proxy.CloseClientConnections()
		s.Patch(in.path(), `{"description":"of no category that was asked for"}`).Is(t, 200, "")
		file(3)
		file(4)
		shows(3)
		shows(4)
		if !strings.Contains(said.String(), "holdco: the stream broke off: ") {
			t.Errorf("the command says %q of the cut", said.String())
		}
		must(t, command.Process.Signal(os.Interrupt))
		for line := range lines {
			t.Errorf("the command goes on with %q", line)
		}
		must(t, command.Wait())
	})
}
