package posting_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/posting"
)

func TestAnOwnerIsToldWhyThereIsNoAnswer(t *testing.T) {
	t.Parallel()
	const closed = "the connection was closed before an answer came"
	const notHTTP = "the answer is not valid HTTP, or its headers are too long"
	poster := newPoster(t, posting.Options{AllowPrivate: true, Resolver: names{}.resolver()})
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"closes at once":       {"", closed},
		"closes in the status": {"HTTP/1.1 20", notHTTP},
		"closes in headers":    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", closed},
		"another protocol":     {"220 mail.example ESMTP\r\n", notHTTP},
		"a broken status line": {"HTTP/1.1 two hundred\r\n\r\n", notHTTP},
		"a status of no class": {"HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n", notHTTP},
		"a broken header":      {"HTTP/1.1 200 OK\r\nno header\r\n\r\n", notHTTP},
		"a broken length":      {"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", notHTTP},
		"huge headers":         {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", notHTTP},
		"headers without end":  {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: x\r\n", 1<<18), notHTTP},
		"hints without end":    {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1<<16), notHTTP},
		"continues for ever":   {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1<<16), notHTTP},
	} {
		url := receive(t, afterRequest(func(conn net.Conn) { _, _ = io.WriteString(conn, c.text) }))
		if attempt := poster.Post(t.Context(), message(url)); attempt.Error != c.want || attempt.Status != 0 || attempt.Response != "" {
			t.Errorf("%s: %+v", name, attempt)
		}
	}

	nobody := httptest.NewServer(nil)
	nobody.Close()
	for url, want := range map[string]string{
		nobody.URL:               "connection refused",
		"http://unknown.test/":   "the host name does not resolve",
		"https://unknown.test/":  "the host name does not resolve",
		"http://255.255.255.255": "the host cannot be reached", // the system calls nobody by TCP there
	} {
		if attempt := poster.Post(t.Context(), message(url)); attempt.Error != want || attempt.Status != 0 {
			t.Errorf("%s: %+v", url, attempt)
		}
	}
}

func TestAReceiverCostsNoMoreThanTheTimeout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deal func(conn net.Conn)
		size int // of the message's body
	}{
		"never answers":       {deal: afterRequest(untilClosed)},
		"trickles the status": {deal: afterRequest(func(conn net.Conn) { trickle(conn, "HTTP/1.1 200 "+strings.Repeat("x", 1<<20)) })},
		"trickles headers": {deal: afterRequest(func(conn net.Conn) {
			trickle(conn, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X: x\r\n", 1<<20))
		})},
		"never reads": {deal: func(net.Conn) { <-t.Context().Done() }, size: 16 << 20}, // more than the system holds for a reader
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := message(receive(t, c.deal))
			sent.Body = make([]byte, c.size)
			attempt := newPoster(t, posting.Options{AllowPrivate: true, Timeout: soon}).Post(t.Context(), sent)
			if attempt.Error != "no answer within 0.5 s" || attempt.Status != 0 || attempt.Latency == 0 || attempt.Latency > long {
				t.Errorf("the attempt is %+v", attempt)
			}
		})
	}
	t.Run("no handshake", func(t *testing.T) {
		t.Parallel()
		over := make(chan struct{})
		url := receive(t, func(conn net.Conn) {
			untilClosed(conn)
			close(over)
		})
		attempt := newPoster(t, posting.Options{AllowPrivate: true, Timeout: soon}).Post(t.Context(), message(secured(url)))
		if attempt.Error != "no answer within 0.5 s" {
			t.Errorf("the attempt is %+v", attempt)
		}
		<-over // the connection ends too
	})
}

func TestWhatKeepsAConnectionFromBeingMadeIsTold(t *testing.T) {
	t.Parallel()
	silent := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go untilClosed(server)
		return client, nil
	}}
	broken := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
	const unknown = "the host name cannot be looked up: no name server answers"
	for name, c := range map[string]struct {
		resolver  *net.Resolver
		url, want string
	}{
		"a silent name server": {silent, "http://a.test/", unknown},
		"no name server":       {broken, "http://a.test/", unknown},
		"a silent host":        {nil, overcrowded(t), "no connection within 1 s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			poster := newPoster(t, posting.Options{AllowPrivate: true, Timeout: 3 * soon, Resolver: c.resolver})
			if attempt := poster.Post(t.Context(), message(c.url)); attempt.Error != c.want || attempt.Status != 0 {
				t.Errorf("the attempt is %+v", attempt)
			}
		})
	}
}

func TestAnAnswerCountsHoweverItsBodyComes(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n"
	over := make(chan struct{})
	for name, c := range map[string]struct {
		timeout time.Duration
		body    func(conn net.Conn)
		want    func(response string) bool
	}{
		"no end": {long, func(conn net.Conn) {
			defer close(over)
			for {
				if _, err := io.WriteString(conn, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		}, func(response string) bool { return response == strings.Repeat("x", 1024) }},
		"a trickle": {3 * soon, func(conn net.Conn) { trickle(conn, strings.Repeat("x", 1<<20)) },
			func(response string) bool { return strings.Trim(response, "x") == "" }},
		"the half": {long, func(conn net.Conn) { _, _ = io.WriteString(conn, "half") },
			func(response string) bool { return response == "half" }},
	} {
		poster := newPoster(t, posting.Options{AllowPrivate: true, Timeout: c.timeout})
		attempt := poster.Post(t.Context(), message(receive(t, afterRequest(func(conn net.Conn) {
			_, _ = io.WriteString(conn, head)
			c.body(conn)
		}))))
		if attempt.Status != http.StatusOK || attempt.Error != "" || !c.want(attempt.Response) {
			t.Errorf("%s: %+v", name, attempt)
		}
	}
	<-over // the connection was closed, though its other side had more to say
}

func TestTLSIsVerified(t *testing.T) {
	t.Parallel()
	serve := func(config *tls.Config) *httptest.Server {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.TLS, server.Config.ErrorLog = config, log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	good := serve(nil)
	expired, err := expiredCertificate()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(good.Certificate())
	roots.AddCert(expired.Leaf)
	_, port, err := net.SplitHostPort(good.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		url   string
		roots *x509.CertPool
		want  string
	}{
		{good.URL, roots, ""},
		{"https://example.com:" + port, roots, ""},
		{good.URL, x509.NewCertPool(), "TLS: the certificate is not signed by a known authority"},
		{"https://other.test:" + port, roots, "TLS: the certificate is for another host name"},
		{serve(&tls.Config{Certificates: []tls.Certificate{expired}}).URL, roots, "TLS: the certificate has expired, or is not valid yet"},
		{serve(&tls.Config{MaxVersion: tls.VersionTLS11}).URL, roots, "TLS: the server refuses (protocol version not supported)"},
		{serve(&tls.Config{ClientAuth: tls.RequireAnyClientCert}).URL, roots, "TLS: the server refuses (certificate required)"},
		{secured(receive(t, answers("HTTP/1.1 200 OK\r\n\r\n"))), roots, "TLS: the handshake failed; version 1.2 or newer is needed"},
		{secured(receive(t, func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			untilClosed(conn)
		})), roots,
			"TLS: the server does not speak it at this port"},
	} {
		poster := newPoster(t, posting.Options{
			AllowPrivate: true, Roots: c.roots,
			Resolver: names{"example.com": always("127.0.0.1"), "other.test": always("127.0.0.1")}.resolver(),
		})
		if attempt := poster.Post(t.Context(), message(c.url)); attempt.Error != c.want ||
			(attempt.Status == http.StatusOK) != (c.want == "") {
			t.Errorf("%s: %+v, want %q", c.url, attempt, c.want)
		}
	}
}

// secured is the URL with TLS.
func secured(url string) string { return "https" + strings.TrimPrefix(url, "http") }

// overcrowded is the URL of a receiver that lets nobody in any more, and does not say so.
func overcrowded(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	err = errors.Join(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(socket, 0))
	if err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for { // until those who wait to be accepted are as many as may
		conn, err := net.DialTimeout("tcp", address, soon)
		if err != nil {
			return "http://" + address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
}

// trickle sends a byte now and then, until the other side has had enough.
func trickle(conn net.Conn, text string) {
	for i := range len(text) {
		if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// expiredCertificate is one of 127.0.0.1 that was valid once.
func expiredCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}
