package posting_test

import (
	"net"
	"net/http/httptest"
	"testing"

	"holdco/adapters/posting"
)

func TestAReceiverIsReachedWithoutARequest(t *testing.T) {
	t.Parallel()
	open := newPoster(t, posting.Options{AllowPrivate: true})
	got := make(chan int, 1)
	at := receive(t, func(conn net.Conn) {
		n, _ := conn.Read(make([]byte, 1))
		got <- n
	})
	if err := open.Reach(t.Context(), at); err != nil {
		t.Error(err)
	}
	if n := <-got; n != 0 {
		t.Error("it was sent something")
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	plain := httptest.NewServer(nil)
	t.Cleanup(plain.Close)
	for url, want := range map[string]string{
		closed.URL:              "connection refused",
		"https" + plain.URL[4:]: "TLS: the server does not speak it at this port",
		"http:///path":          "the URL has no host",
	} {
		if err := open.Reach(t.Context(), url); err == nil || err.Error() != want {
			t.Errorf("%s: %v", url, err)
		}
	}
	guarded := newPoster(t, posting.Options{})
	want := "the address 127.0.0.1 is private or reserved; this server sends to public addresses only"
	if err := guarded.Reach(t.Context(), at); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
