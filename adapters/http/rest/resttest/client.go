package resttest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/http/apitest"
)

// Client talks to one server with one token.
type Client struct {
	t        testing.TB
	baseURL  string
	token    string
	document *apitest.Document
	http     *http.Client
}

// New makes a client of the server at baseURL, such as http://127.0.0.1:3100. An empty token is not sent.
func New(t testing.TB, baseURL, token string) *Client {
	t.Helper()
	return NewBy(t, baseURL, "/openapi.json", token)
}

// NewBy makes a client of another API that answers as this one does, by the path of its document.
func NewBy(t testing.TB, baseURL, document, token string) *Client {
	t.Helper()
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return &Client{t: t, baseURL: baseURL, token: token, document: apitest.Load(t, client, baseURL+document), http: client}
}

// As returns a client that differs in its token.
func (c *Client) As(token string) *Client {
	next := *c
	next.token = token
	return &next
}

// In returns a client that reports to another test, such as a subtest.
func (c *Client) In(t testing.TB) *Client {
	next := *c
	next.t = t
	return &next
}

// Request is a request to send.
type Request struct {
	Method string
	Path   string // with its query
	Body   string // sent as application/json unless Header says otherwise; empty: none
	Header map[string]string
	Wrong  bool // it breaks the document's rules on purpose; the answer is still checked
}

// Answer is what came back.
type Answer struct {
	Status int         `json:"-"`
	Header http.Header `json:"-"`
	Body   []byte      `json:"-"`

	Data  json.RawMessage
	Error Failure
	Meta  struct {
		RequestID string
		Timestamp string
		Page      *struct {
			Size   int
			Cursor *string
		}
	}
}

// Failure is the error of an answer.
type Failure struct {
	Code    string
	Message string
	Details struct {
		Fields    []Field
		Parameter string
		Required  string
	}
}

// Field is a field at fault.
type Field struct{ Field, Code, Message string }

// Get sends a GET request that the document allows.
func (c *Client) Get(path string) Answer {
	c.t.Helper()
	return c.Send(Request{Method: http.MethodGet, Path: path})
}

// Post sends a POST request that the document allows.
func (c *Client) Post(path, body string) Answer {
	c.t.Helper()
	return c.Send(Request{Method: http.MethodPost, Path: path, Body: body})
}

// Patch sends a PATCH request that the document allows.
func (c *Client) Patch(path, body string) Answer {
	c.t.Helper()
	return c.Send(Request{Method: http.MethodPatch, Path: path, Body: body})
}

// Delete sends a DELETE request that the document allows.
func (c *Client) Delete(path string) Answer {
	c.t.Helper()
	return c.Send(Request{Method: http.MethodDelete, Path: path})
}

// Send sends a request and checks both it and the answer. It may be called by many goroutines.
func (c *Client) Send(request Request) Answer {
	c.t.Helper()
	answer, err := c.Try(request)
	if err != nil {
		c.t.Fatalf("%s %s: %v", request.Method, request.Path, err)
	}
	return answer
}

// Try is Send for a server that may not answer: the error says that it did not.
func (c *Client) Try(request Request) (Answer, error) {
	c.t.Helper()
	sent, err := c.build(request)
	if err != nil {
		return Answer{}, err
	}
	if !request.Wrong {
		c.document.CheckRequest(c.t, sent, request.Body)
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	if len(body) > 0 && response.Header.Get("Content-Encoding") == "" && !isText(response.Header) {
		if err := json.Unmarshal(body, &answer); err != nil {
			c.t.Errorf("%s %s: the answer is not JSON: %v\n%s", request.Method, request.Path, err, body)
		}
	}
	if err := headersOf(sent, answer); err != nil {
		c.t.Errorf("%s %s: %v", sent.Method, sent.URL, err)
	}
	c.document.CheckAnswer(c.t, sent, apitest.Answer{Status: answer.Status, Header: answer.Header, Body: answer.Body})
	return answer, nil
}

func (c *Client) build(request Request) (*http.Request, error) {
	sent, err := http.NewRequestWithContext(c.t.Context(), request.Method, c.baseURL+request.Path, strings.NewReader(request.Body))
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		sent.Header.Set("Authorization", "Bearer "+c.token)
	}
	if request.Body != "" {
		sent.Header.Set("Content-Type", "application/json")
	}
	for name, value := range request.Header {
		sent.Header.Set(name, value)
	}
	return sent, nil
}

// headersOf checks what holds for all answers.
func headersOf(sent *http.Request, answer Answer) error {
	public := slices.Contains([]string{"/healthz", "/readyz"}, sent.URL.Path) || strings.HasSuffix(sent.URL.Path, "/openapi.json")
	header := answer.Header
	switch {
	case header.Get("X-Content-Type-Options") != "nosniff":
		return errors.New("the answer lacks X-Content-Type-Options")
	case header.Get("X-Request-Id") == "":
		return errors.New("the answer lacks X-Request-Id")
	case len(answer.Body) == 0:
		return nil
	case header.Get("Content-Type") != "application/json; charset=utf-8" && !isText(header):
		return errors.New("the answer has the Content-Type " + header.Get("Content-Type"))
	case public || header.Get("Content-Encoding") != "" || isText(header):
		return nil
	case header.Get("Cache-Control") != "no-store":
		return errors.New("the answer may be kept")
	case header.Get("X-Request-Id") != answer.Meta.RequestID:
		return errors.New("X-Request-Id is not meta.requestId")
	}
	return nil
}

// Data reads the data of an answer.
func Data[T any](t testing.TB, answer Answer) T {
	t.Helper()
	var data T
	if err := json.Unmarshal(answer.Data, &data); err != nil {
		t.Fatalf("status %d, no such data: %v\n%s", answer.Status, err, answer.Body)
	}
	return data
}

// Is fails the test unless the answer has a status and, when it is an error, a code.
func (a Answer) Is(t testing.TB, status int, code string) {
	t.Helper()
	if a.Status != status || a.Error.Code != code {
		t.Errorf("answered %d %s, want %d %s\n%s", a.Status, a.Error.Code, status, code, a.Body)
	}
}

// isText reports whether an answer is a log or an export, which have no envelope.
func isText(header http.Header) bool {
	return slices.Contains([]string{"text/plain; charset=utf-8", "text/csv; charset=utf-8", "application/x-ndjson"},
		header.Get("Content-Type"))
}
