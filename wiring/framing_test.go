package wiring_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// connect opens a connection to the API. What is read from it fails after ten seconds.
func connect(t *testing.T, s *instance) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	return conn, bufio.NewReader(conn)
}

// requestHead is the head of a request that creates a company, with more headers.
func requestHead(headers string) string {
	return "POST /v1/companies HTTP/1.1\r\nHost: holdco\r\nContent-Type: application/json\r\n" +
		"Authorization: Bearer " + string(rootToken) + "\r\n" + headers + "\r\n"
}

func readAnswer(t *testing.T, from *bufio.Reader) (*http.Response, string) {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response, string(body)
}

func TestARequestWithALengthAndATransferCodingIsTheLastOfItsConnection(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	for i, headers := range []string{
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding: chunked\r\nContent-Length: 1000\r\n",
		"Transfer-Encoding: chunked\r\n",
	} {
		conn, from := connect(t, s)
		body := named(fmt.Sprintf("chunked-%d", i))
		smuggled := "GET /v1/whoami HTTP/1.1\r\nHost: holdco\r\n\r\n"
		_, err := fmt.Fprintf(conn, "%s%x\r\n%s\r\n0\r\n\r\n%s", requestHead(headers), len(body), body, smuggled)
		must(t, err)
		if response, text := readAnswer(t, from); response.StatusCode != http.StatusCreated || !response.Close {
			t.Errorf("%q: %d, closes %t: %s", headers, response.StatusCode, response.Close, text)
		}
		if rest, err := io.ReadAll(from); len(rest) > 0 {
			t.Errorf("%q: after the answer comes %q (%v)", headers, rest, err)
		}
	}
}

func TestABodyThatIsDeclaredTooLargeIsNotAwaited(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	for _, headers := range []string{
		"Content-Length: 1048577\r\nExpect: 100-continue\r\n",
		"Content-Length: 9000000000000000000\r\nExpect: 100-continue\r\n",
		"Content-Length: 1048577\r\n",
	} {
		conn, from := connect(t, s)
		_, err := io.WriteString(conn, requestHead(headers))
		must(t, err)
		response, text := readAnswer(t, from)
		if response.StatusCode != http.StatusRequestEntityTooLarge || !response.Close ||
			!strings.Contains(text, `"code":"payload_too_large"`) {
			t.Errorf("%q: %d, closes %t: %s", headers, response.StatusCode, response.Close, text)
		}
		if rest, err := io.ReadAll(from); len(rest) > 0 || err != nil {
			t.Errorf("%q: after the answer comes %q (%v)", headers, rest, err)
		}
	}

	conn, from := connect(t, s)
	_, err := io.WriteString(conn, requestHead("Content-Length: 1048576\r\nExpect: 100-continue\r\n"))
	must(t, err)
	if response, _ := readAnswer(t, from); response.StatusCode != http.StatusContinue {
		t.Errorf("a body of the greatest length: %d", response.StatusCode)
	}
	body := named("large")
	_, err = io.WriteString(conn, body+strings.Repeat(" ", 1<<20-len(body)))
	must(t, err)
	if response, text := readAnswer(t, from); response.StatusCode != http.StatusCreated {
		t.Errorf("a body of the greatest length: %d: %s", response.StatusCode, text)
	}
}
