package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdco/adapters/client"
	"holdco/domain/access"
	"holdco/domain/fault"
)

// streamed is a part of a stream, after which the connection breaks.
func streamed(events ...string) string {
	return "retry: 1000\n\n" + strings.Join(events, "\n\n") + "\n\n"
}

// follow follows a server that answers with the replies, one after the other; those of status 200 are streams that break off. It returns
// what came, after which places the server was asked, and how long the client waited. It ends with the context after the last reply.
func follow(t *testing.T, take func(e client.Event) error, replies ...reply) (came, places []string, waits []time.Duration, err error) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var mutex sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		places = append(places, r.Header.Get("Last-Event-ID"))
		if len(places) > len(replies) {
			end()
			panic(http.ErrAbortHandler)
		}
		next := replies[len(places)-1]
		if next.body == "" {
			panic(http.ErrAbortHandler)
		}
		if w.Header().Set("Content-Type", "application/json"); next.status == http.StatusOK {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		if next.retryAfter != "" {
			w.Header().Set("Retry-After", next.retryAfter)
		}
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
		if next.status == http.StatusOK {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	c := &client.Client{URL: server.URL, Token: access.Value("secret")}
	c.Wait = func(ctx context.Context, d time.Duration, why error) error {
		if why == nil {
			t.Error("it waits for nothing")
		}
		waits = append(waits, d)
		return ctx.Err()
	}
	err = c.Follow(ctx, client.StreamActivity.In("cmp_1"), func(e client.Event) error {
		if len(e.Data) > 0 {
			came = append(came, e.Place+"="+string(e.Data))
		}
		if take != nil {
			return take(e)
		}
		return nil
	})
	mutex.Lock()
	defer mutex.Unlock()
	return came, places, waits, err
}

func TestAStreamGoesOnAfterWhatCameInFull(t *testing.T) {
	t.Parallel()
	came, places, waits, err := follow(t, nil,
		reply{200, streamed("id: a"), ""},
		reply{200, streamed(":", "id: b\ndata: 1", ": still here", "id: c\ndata: 2\ndata: 3"), ""},
		lost,
		busy,
		reply{502, "<html>Bad gateway</html>", ""},
		reply{200, streamed("id: d\ndata: 4") + "id: e\ndata: 5\n", ""},
		reply{200, streamed(), ""},
	)
	if want := []string{"b=1", "c=2\n3", "d=4"}; !slices.Equal(came, want) {
		t.Errorf("%q came", came)
	}
	if want := []string{"", "a", "c", "c", "c", "c", "d", "d"}; !slices.Equal(places, want) {
		t.Errorf("it goes on after %q", places)
	}
	const second = time.Second
	want := []time.Duration{second, second, 2 * second, 3 * second, 4 * second, second, second}
	if !slices.Equal(waits, want) || err != nil {
		t.Errorf("%v, %v", waits, err)
	}
}

func TestAStreamThatIsRefusedIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, first := range []reply{
		{401, refusal(fault.Unauthorized, "{}"), ""}, {400, refusal(fault.InvalidCursor, `{"oldest":"a"}`), ""},
		{502, "<html>Bad gateway</html>", ""}, done,
	} {
		if first.status == http.StatusOK {
			first.status = http.StatusAccepted // an answer, but no stream
		}
		_, places, _, err := follow(t, nil, first)
		if err == nil || len(places) != 1 {
			t.Errorf("%d: %d requests, %v", first.status, len(places), err)
		}
	}
	c := client.Client{URL: "http://127.0.0.1:1"}
	err := c.Follow(t.Context(), client.StreamActivity.In("c"), nil)
	if !errors.As(err, new(*client.Unreachable)) {
		t.Error(err)
	}
}

func TestAStreamEndsWithItsTaker(t *testing.T) {
	t.Parallel()
	full := errors.New("no room")
	came, places, _, err := follow(t, func(e client.Event) error {
		if string(e.Data) == "2" {
			return fmt.Errorf("it is full: %w", full)
		}
		return nil
	}, reply{200, streamed("id: a\ndata: 1", "id: b\ndata: 2", "id: c\ndata: 3"), ""})
	if !errors.Is(err, full) || len(came) != 2 || len(places) != 1 {
		t.Errorf("%q, %q, %v", came, places, err)
	}
}
