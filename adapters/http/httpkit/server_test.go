package httpkit_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/zstd"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
)

// serve runs the kit on a real server, as in production.
func serve(t *testing.T, k kit) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpkit.NewServer(httpkit.Compressed(k.router), slog.New(slog.NewTextHandler(k.log, nil)))
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// fetch gets a path without touching the coding of the answer.
func fetch(t *testing.T, url string, header ...string) (answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, text: string(body)}, err
}

func TestAnswersAreCompressedWhenAsked(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	text := strings.Repeat("large ", 2000)
	k.router.GET("/large", func(c *gin.Context) { httpkit.Write(c, httpkit.Answer{Data: text, ETag: `"1"`}) })
	url := serve(t, k).URL + "/large"

	for accepted, coding := range map[string]string{
		"": "", "identity": "", "gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=0": "", "br": "", "gzip;q=0.5, br": "gzip",
	} {
		got, err := fetch(t, url, "Accept-Encoding", accepted)
		if err != nil {
			t.Fatal(err)
		}
		plain := got.text
		switch coding {
		case "gzip":
			reader, err := gzip.NewReader(strings.NewReader(plain))
			if err != nil {
				t.Fatal(err)
			}
			plain = readAll(t, reader)
		case "zstd":
			reader, err := zstd.NewReader(strings.NewReader(plain))
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			plain = readAll(t, reader)
		}
		header := got.header
		if header.Get("Content-Encoding") != coding || !strings.Contains(plain, text) || header.Get("ETag") != `"1"` ||
			header.Get("Vary") != "Accept-Encoding" || coding == "" && header.Get("Content-Length") != strconv.Itoa(len(got.text)) {
			t.Errorf("%q: %v, %d bytes", accepted, header, len(got.text))
		}
	}
	spared, err := fetch(t, url, "Accept-Encoding", "gzip", "If-None-Match", `"1"`)
	if err != nil || spared.status != http.StatusNotModified || spared.text != "" {
		t.Errorf("%v %v", spared, err)
	}
}

func readAll(t *testing.T, reader io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAPanicAfterPartOfAnAnswerBreaksTheConnection(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.router.GET("/part", func(c *gin.Context) {
		_, _ = c.Writer.WriteString(strings.Repeat("part ", 1000))
		c.Writer.Flush()
		panic("too late")
	})
	url := serve(t, k).URL
	for _, accepted := range []string{"identity", "gzip"} {
		if got, err := fetch(t, url+"/part", "Accept-Encoding", accepted); err == nil {
			t.Errorf("the client takes %d bytes for the whole answer", len(got.text))
		}
	}
	if !strings.Contains(k.log.String(), "too late") {
		t.Errorf("logged %s", k.log)
	}
	if _, err := fetch(t, url+"/public"); err != nil {
		t.Errorf("the server does not continue: %v", err)
	}
}

func TestOddRequestsAreAnsweredInTheEnvelope(t *testing.T) {
	t.Parallel()
	address := serve(t, newKit(t)).Listener.Addr().String()
	for line, want := range map[string]struct {
		status int
		code   fault.Code
	}{
		"OPTIONS * HTTP/1.1":                    {404, fault.NotFound},
		"CONNECT things:80 HTTP/1.1":            {404, fault.NotFound},
		"GET http://elsewhere/nothing HTTP/1.1": {404, fault.NotFound},
		"GET //things HTTP/1.1":                 {404, fault.NotFound},
		"GET /things/../things HTTP/1.1":        {404, fault.NotFound},
		"GET /thing%73/ HTTP/1.1":               {404, fault.NotFound},
		"POST /things//act HTTP/1.1":            {404, fault.NotFound},
		"TRACE /things HTTP/1.1":                {405, fault.MethodNotAllowed},
		"get /things HTTP/1.1":                  {405, fault.MethodNotAllowed},
		"GET /things?%00 HTTP/1.1":              {401, fault.Unauthorized},
	} {
		sendLine(t, address, line).is(t, line, want.status, want.code)
	}
}

// sendLine sends a request that begins with the given line, to the letter.
func sendLine(t *testing.T, address, line string) answer {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_, _ = io.WriteString(connection, line+"\r\nHost: things\r\nConnection: close\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(line, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(line, err)
	}
	return read(response.StatusCode, response.Header, body)
}

func TestTheServerBoundsSlowAndGreedyClients(t *testing.T) {
	t.Parallel()
	server := httpkit.NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if server.ReadHeaderTimeout <= 0 || server.ReadTimeout <= 0 || server.WriteTimeout <= 0 || server.IdleTimeout <= 0 ||
		server.MaxHeaderBytes <= 0 || server.ErrorLog == nil {
		t.Errorf("%+v", server)
	}
}
