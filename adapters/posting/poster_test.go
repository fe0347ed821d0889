package posting_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"holdco/adapters/posting"
	"holdco/domain/webhook"
)

func TestAMessageIsPostedAsTheStandardSays(t *testing.T) {
	t.Parallel()
	sent := message("/hooks?a=b")
	got, attempt := deliver(t, sent)
	if attempt.Status != http.StatusAccepted || attempt.Response != "thanks" || attempt.Error != "" || attempt.At != sent.At {
		t.Errorf("the attempt is %+v", attempt)
	}
	if got.method != http.MethodPost || got.target != "/hooks?a=b" || got.body != string(sent.Body) {
		t.Errorf("received %s %s: %s", got.method, got.target, got.body)
	}
	for name, want := range map[string]string{
		"Content-Type":      "application/json",
		"User-Agent":        "Holdco/1.2.3",
		"Webhook-Id":        string(sent.ID),
		"Webhook-Timestamp": strconv.FormatInt(sent.At.Unix(), 10),
		"Accept-Encoding":   "",
		"Idempotency-Key":   "",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.header.Get(name), want)
		}
	}
}

func TestEverySecretSigns(t *testing.T) {
	t.Parallel()
	old, foreign := webhook.NewSecret([32]byte{4}), webhook.NewSecret([32]byte{5})
	sent := message("")
	sent.Secrets = []webhook.Secret{secret, old}
	got, _ := deliver(t, sent)
	for key, want := range map[webhook.Secret]bool{secret: true, old: true, foreign: false} {
		verifier, err := standardwebhooks.NewWebhook(string(key))
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify([]byte(got.body), got.header); (err == nil) != want {
			t.Errorf("verified with %s: %v", key, err)
		}
		if verifier.Verify([]byte(got.body+" "), got.header) == nil {
			t.Error("a changed body is verified")
		}
	}
}

func TestWhatCannotBeSentIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	noSecret := message("http://127.0.0.1:1/")
	noSecret.Secrets = []webhook.Secret{"whsec_!"}
	for _, sent := range []webhook.Message{message("http://127.0.0.1:1/%zz"), noSecret} {
		attempt := poster.Post(t.Context(), sent)
		if attempt.Error != "the message cannot be sent: its URL or its secret is not valid" || attempt.Status != 0 {
			t.Errorf("the attempt is %+v", attempt)
		}
	}
}

func TestAnyAnswerIsOneAndRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	for _, status := range []int{200, 204, 299, 301, 302, 307, 308, 400, 410, 429, 500, 503, 999} {
		var requests atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}))
		attempt := poster.Post(t.Context(), message(server.URL))
		server.Close()
		if attempt.Status != status || attempt.Error != "" || requests.Load() != 1 {
			t.Errorf("%d: %+v after %d requests", status, attempt, requests.Load())
		}
	}
}

func TestTheStartOfAnAnswerIsKeptAsText(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ body, want string }{
		{"", ""},
		{"Größe\n", "Größe\n"},
		{x(1024), x(1024)},
		{x(1025), x(1024)},
		{x(1023) + "ö", x(1023)},
		{x(1022) + "ö!", x(1022) + "ö"},
		{x(1021) + "😀", x(1021)},
		{x(1020) + "😀!", x(1020) + "😀"},
		{"a\x00b", "a\ufffdb"},
		{"Gr\xf6\xdfe", "Gr\ufffde"},
		{strings.Repeat("\x00", 2000), strings.Repeat("\ufffd", 341)},
		{x(1021) + "\xf0\x9f\x98", x(1021) + "\ufffd"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, c.body)
		}))
		attempt := poster.Post(t.Context(), message(server.URL))
		server.Close()
		if attempt.Response != c.want || len(attempt.Response) > webhook.MostResponse || !utf8.ValidString(attempt.Response) {
			t.Errorf("of %q is kept %q", c.body, attempt.Response)
		}
	}
}

func TestAnEndedContextBreaksTheAttemptOff(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	ctx, cancel := context.WithCancel(t.Context())
	url := receive(t, func(conn net.Conn) {
		cancel()
		untilClosed(conn)
	})
	for range 2 { // the second time it has ended before
		if attempt := poster.Post(ctx, message(url)); attempt.Error != "the attempt was broken off" || attempt.Status != 0 {
			t.Errorf("the attempt is %+v", attempt)
		}
	}
}

func TestConnectionsAreKeptUntilThePosterIsClosed(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	var connections atomic.Int32
	closed := make(chan struct{})
	url := receive(t, counts(&connections, func(conn net.Conn) {
		answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")(conn)
		close(closed)
	}))
	for range 10 {
		if attempt := poster.Post(t.Context(), message(url)); attempt.Status != http.StatusOK {
			t.Errorf("the attempt is %+v", attempt)
		}
	}
	if connections.Load() != 1 {
		t.Errorf("%d connections", connections.Load())
	}
	poster.Close()
	<-closed
}

func TestAKeptConnectionThatIsClosedCostsNoAttempt(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	var connections atomic.Int32
	url := receive(t, counts(&connections, func(conn net.Conn) {
		requests := bufio.NewReader(conn)
		if takeRequest(requests) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			takeRequest(requests)
		}
	}))
	for i := range int32(3) {
		if attempt := poster.Post(t.Context(), message(url)); attempt.Status != http.StatusOK || connections.Load() != i+1 {
			t.Errorf("the attempt is %+v after %d connections", attempt, connections.Load())
		}
	}
}

func TestManyAttemptsAtOnceHoldEachOtherUpInNothing(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	ctx, cancel := context.WithCancel(t.Context())
	hangs := receive(t, untilClosed)
	works := receive(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	var hanging, working sync.WaitGroup
	for range 50 {
		hanging.Go(func() { poster.Post(ctx, message(hangs)) })
		working.Go(func() {
			if attempt := poster.Post(t.Context(), message(works)); attempt.Status != http.StatusOK {
				t.Errorf("the attempt is %+v", attempt)
			}
		})
	}
	working.Wait()
	cancel()
	hanging.Wait()
}

// received is a request as a receiver has it.
type received struct {
	method, target, body string
	header               http.Header
}

// deliver sends a message to a receiver that says thanks. Its URL is the path there.
func deliver(t *testing.T, sent webhook.Message) (got received, attempt webhook.Attempt) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = received{method: r.Method, target: r.RequestURI, body: string(body), header: r.Header}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "thanks")
	}))
	defer server.Close()
	sent.URL = server.URL + sent.URL
	attempt = newPoster(t, posting.Options{AllowPrivate: true}).Post(t.Context(), sent)
	return got, attempt
}
