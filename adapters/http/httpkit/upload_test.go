package httpkit_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/domain/ratelimit"
)

const uploads = `
paths:
  /files:
    post:
      operationId: send
      x-scope: admin
      x-class: costly
      x-streamed: true
      parameters:
        - {name: kind, in: query, schema: {type: string, enum: [big, small]}}
        - {name: Idempotency-Key, in: header, schema: {type: string}}
      requestBody: {required: true, content: {text/csv: {}, application/json: {}}}
`

// uploading serves an operation that takes files of at most 1,000 bytes and answers with their size and a fingerprint, on a server
// whose own timeouts are shorter than any file takes.
func uploading(t *testing.T, patience time.Duration) (server *httptest.Server, stopping *httpkit.Stopping) {
	t.Helper()
	stopping = httpkit.NewStopping()
	log, clock := &syncBuffer{}, fixed{}
	router := httpkit.New(httpkit.Options{
		Clock: clock, IDs: clock, Log: slog.New(slog.NewJSONHandler(log, nil)), Stopping: stopping,
		MostUpload: 1000, UploadPatience: patience,
	})
	table := tableOf(t, uploads)
	gate := table.Gate(names{}, httpkit.Limits{Limiter: &fakeLimiter{taken: map[ratelimit.Key]ratelimit.Limit{}}})
	if err := table.Serve(router.Group("", gate), httpkit.Handlers{
		"send": func(r httpkit.Request) (httpkit.Answer, error) {
			var size int64
			err := r.Upload(func(file io.Reader) (err error) {
				size, err = io.Copy(io.Discard, file)
				return err
			})
			return httpkit.Answer{Data: fmt.Sprint(size, " ", r.MediaType(), " ", r.Fingerprint())}, err
		},
	}); err != nil {
		t.Fatal(err)
	}
	server = httptest.NewUnstartedServer(nil)
	server.Config = httpkit.NewServer(httpkit.Compressed(router), slog.New(slog.NewTextHandler(log, nil)))
	server.Config.ReadTimeout, server.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	return server, stopping
}

// sendFile sends a file as it is read, in chunks unless its length is known.
func sendFile(t *testing.T, server *httptest.Server, query string, length int64, file io.Reader, header ...string) (answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/files"+query, file)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = length
	request.Header.Set("Authorization", "Bearer all")
	request.Header.Set("Content-Type", "text/csv")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return read(response.StatusCode, response.Header, body), err
}

// slowly is a file that comes in so many lines, each after a pause.
func slowly(lines int, pause time.Duration) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		for range lines {
			time.Sleep(pause)
			if _, err := io.WriteString(writer, "line\n"); err != nil {
				return
			}
		}
		_ = writer.Close()
	}()
	return reader
}

func TestAFileMayTakeLongerThanOtherRequests(t *testing.T) {
	t.Parallel()
	server, _ := uploading(t, time.Minute)
	got, err := sendFile(t, server, "?kind=big", -1, slowly(10, 20*time.Millisecond))
	if err != nil || got.status != http.StatusOK || !strings.Contains(got.text, "50 text/csv ") {
		t.Fatalf("%+v, %v", got, err)
	}
	whole := strings.Repeat("line\n", 10)
	again, err := sendFile(t, server, "?kind=big", 50, strings.NewReader(whole))
	if err != nil || string(again.Data) != string(got.Data) {
		t.Errorf("%s, %s, %v", again.Data, got.Data, err)
	}
	for what, send := range map[string]func() (answer, error){
		"another file":  func() (answer, error) { return sendFile(t, server, "?kind=big", 50, strings.NewReader(whole[1:]+"\n")) },
		"another query": func() (answer, error) { return sendFile(t, server, "?kind=small", 50, strings.NewReader(whole)) },
	} {
		if other, err := send(); err != nil || other.status != http.StatusOK || string(other.Data) == string(got.Data) {
			t.Errorf("%s: %+v, %v", what, other, err)
		}
	}
}

func TestAFileIsRefusedByHowItIsSent(t *testing.T) {
	t.Parallel()
	server, _ := uploading(t, time.Minute)
	text := []string{"Content-Type", "text/plain"}
	long := func() io.Reader { return strings.NewReader(strings.Repeat("x", 1001)) }
	for what, c := range map[string]struct {
		query  string
		length int64
		file   io.Reader
		header []string
		want   string
	}{
		"too long":                     {"", 1001, long(), nil, "413 payload_too_large"},
		"too long, in chunks":          {"", -1, long(), nil, "413 payload_too_large"},
		"as long as it may be":         {"", -1, strings.NewReader(strings.Repeat("x", 1000)), nil, "200 "},
		"empty":                        {"", 0, http.NoBody, nil, "400 invalid_file"},
		"another type":                 {"", 1, strings.NewReader("x"), text, "415 unsupported_media_type"},
		"another coding":               {"", 1, strings.NewReader("x"), []string{"Content-Encoding", "br"}, "415 unsupported_media_type"},
		"the coding that files have":   {"", 1, strings.NewReader("x"), []string{"Content-Encoding", "gzip"}, "200 "},
		"an unknown parameter":         {"?x=1", 1, strings.NewReader("x"), nil, "400 invalid_parameter"},
		"a key that is none":           {"", 1, strings.NewReader("x"), []string{"Idempotency-Key", "\u00e4"}, "400 invalid_parameter"},
		"the wrong type before length": {"", 1001, long(), text, "413 payload_too_large"},
	} {
		got, err := sendFile(t, server, c.query, c.length, c.file, c.header...)
		if status := fmt.Sprint(got.status, " ", got.Error.Code); err != nil || status != c.want {
			t.Errorf("%s: %s, %v", what, got.text, err)
		}
	}
}

// begin sends the beginning of a file, and returns the answer when there is one.
func begin(t *testing.T, server *httptest.Server) (answered func() string) {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "POST /files HTTP/1.1\r\nHost: kit\r\nAuthorization: Bearer all\r\nContent-Type: text/csv\r\n"+
		"Content-Length: 100\r\n\r\nbeginning")
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		text, _ := io.ReadAll(conn)
		return string(text)
	}
}

func TestAClientThatSendsNothingMoreIsCutOff(t *testing.T) {
	t.Parallel()
	server, _ := uploading(t, 100*time.Millisecond)
	answered := begin(t, server)
	if got := answered(); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, `"invalid_file"`) {
		t.Error(got)
	}
}

func TestAFileHoldsNoServerThatStops(t *testing.T) {
	t.Parallel()
	server, stopping := uploading(t, time.Minute)
	answered := begin(t, server)
	time.AfterFunc(100*time.Millisecond, stopping.Begin) // in the middle or before it: the answer is the same
	if got := answered(); !strings.HasPrefix(got, "HTTP/1.1 503 ") || !strings.Contains(got, `"unavailable"`) {
		t.Error(got)
	}
	answered = begin(t, server)
	if got := answered(); !strings.HasPrefix(got, "HTTP/1.1 503 ") {
		t.Error(got)
	}
}
