package partnertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"holdco/adapters/http/apitest"
)

// Client talks to one server with one key.
type Client struct {
	t        testing.TB
	baseURL  string
	key      string
	document *apitest.Document
	http     *http.Client
}

// New makes a client of the server at baseURL, such as http://127.0.0.1:3102. An empty key is not sent.
func New(t testing.TB, baseURL, key string) *Client {
	t.Helper()
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return &Client{t, baseURL, key, apitest.Load(t, client, baseURL+"/api/external/openapi.json"), client}
}

// As returns a client that differs in its key.
func (c *Client) As(key string) *Client {
	next := *c
	next.key = key
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
	Method string // GET when empty
	Path   string // below /api/external unless it begins so, or with a slash; with its query
	Header map[string]string
	Body   string // there should be none
	Wrong  bool   // it breaks the document's rules on purpose; the answer is still checked
}

// Answer is what came back.
type Answer struct {
	Status int         `json:"-"`
	Header http.Header `json:"-"`
	Body   []byte      `json:"-"`

	Data       json.RawMessage
	Pagination Pagination
	Error      struct {
		Code    string
		Message string
		Details struct{ Parameter string }
	}
}

// Pagination is how a list continues.
type Pagination struct {
	Page       *int64  `json:"page"`
	PerPage    int64   `json:"per_page"`
	Total      int64   `json:"total"`
	TotalPages int64   `json:"total_pages"`
	NextCursor *string `json:"next_cursor"`
}

// Get sends a GET request that the document allows.
func (c *Client) Get(path string, header ...string) Answer {
	c.t.Helper()
	return c.Send(Request{Path: path, Header: pairs(header)})
}

// Wrong sends a GET request that the document does not allow.
func (c *Client) Wrong(path string, header ...string) Answer {
	c.t.Helper()
	return c.Send(Request{Path: path, Header: pairs(header), Wrong: true})
}

// Stream reads all lines of a stream.
func (c *Client) Stream(path string) []string {
	c.t.Helper()
	answer := c.Get(path, "Accept", apitest.Lines)
	answer.Is(c.t, http.StatusOK, "")
	return answer.Lines()
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

// Try is Send for an answer that may break off: the error says that it did.
func (c *Client) Try(request Request) (Answer, error) {
	c.t.Helper()
	sent, response, err := c.open(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	answer := Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	if err != nil {
		return answer, err
	}
	c.check(sent, &answer)
	return answer, nil
}

// Open sends a request, and leaves reading and closing the answer to the caller.
func (c *Client) Open(request Request) *http.Response {
	c.t.Helper()
	_, response, err := c.open(request)
	if err != nil {
		c.t.Fatalf("%s %s: %v", request.Method, request.Path, err)
	}
	return response
}

func (c *Client) open(request Request) (*http.Request, *http.Response, error) {
	c.t.Helper()
	sent, err := c.build(request)
	if err != nil {
		return nil, nil, err
	}
	if !request.Wrong {
		c.document.CheckRequest(c.t, sent, "")
	}
	response, err := c.http.Do(sent)
	return sent, response, err
}

func (c *Client) build(request Request) (*http.Request, error) {
	if request.Method == "" {
		request.Method = http.MethodGet
	}
	if !strings.HasPrefix(request.Path, "/") {
		request.Path = "/api/external/" + request.Path
	}
	sent, err := http.NewRequestWithContext(c.t.Context(), request.Method, c.baseURL+request.Path, strings.NewReader(request.Body))
	if err != nil {
		return nil, err
	}
	if c.key != "" {
		sent.Header.Set("Authorization", "Bearer "+c.key)
	}
	for name, value := range request.Header {
		sent.Header.Set(name, value)
	}
	return sent, nil
}

func (c *Client) check(sent *http.Request, answer *Answer) {
	c.t.Helper()
	if err := answer.read(); err != nil {
		c.t.Errorf("%s %s: %v\n%s", sent.Method, sent.URL, err, answer.Body)
	}
	if answer.Header.Get("X-Content-Type-Options") != "nosniff" || answer.Header.Get("X-Request-Id") == "" {
		c.t.Errorf("%s %s: the answer lacks headers: %v", sent.Method, sent.URL, answer.Header)
	}
	document := c.document
	if sent.URL.Query().Has("fields") {
		document = document.Cut(c.t, "Lead")
	}
	document.CheckAnswer(c.t, sent, apitest.Answer{Status: answer.Status, Header: answer.Header, Body: answer.Body})
	if answer.Header.Get("Content-Type") == apitest.Lines && answer.Header.Get("Content-Encoding") == "" {
		schema := "Lead"
		if strings.HasSuffix(sent.URL.Path, "/leads/changes") {
			schema = "LeadChange"
		}
		for _, line := range answer.Lines() {
			document.CheckSchema(c.t, schema, []byte(line))
		}
	}
}

// read reads the body, where it can be read.
func (a *Answer) read() error {
	mediaType := a.Header.Get("Content-Type")
	switch {
	case len(a.Body) == 0 || a.Header.Get("Content-Encoding") != "" || mediaType == apitest.Lines || mediaType == apitest.Table:
		return nil
	case mediaType != "application/json; charset=utf-8":
		return errors.New("the answer has the Content-Type " + mediaType)
	}
	return json.Unmarshal(a.Body, a)
}

// Lines are the lines of a stream, without their ends.
func (a Answer) Lines() []string {
	if len(a.Body) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(a.Body, []byte("\n"))), "\n")
}

// IDs are the ids in a list, or in a stream.
func (a Answer) IDs(t testing.TB) []string {
	t.Helper()
	var rows []struct{ ID string }
	text := a.Data
	if a.Header.Get("Content-Type") == apitest.Lines {
		text = []byte("[" + strings.Join(a.Lines(), ",") + "]")
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatalf("status %d, no list: %v\n%s", a.Status, err, a.Body)
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}

// Is fails the test unless the answer has a status and, when it is an error, a code.
func (a Answer) Is(t testing.TB, status int, code string) {
	t.Helper()
	if a.Status != status || a.Error.Code != code {
		t.Errorf("answered %d %s, want %d %s\n%s", a.Status, a.Error.Code, status, code, a.Body)
	}
}

// Blames fails the test unless the answer refuses a parameter.
func (a Answer) Blames(t testing.TB, parameter string) {
	t.Helper()
	a.Is(t, http.StatusBadRequest, "invalid_parameter")
	if a.Error.Details.Parameter != parameter {
		t.Errorf("the answer blames %q, not %q\n%s", a.Error.Details.Parameter, parameter, a.Body)
	}
}

func pairs(header []string) map[string]string {
	named := map[string]string{}
	for i := 0; i < len(header); i += 2 {
		named[header[i]] = header[i+1]
	}
	return named
}
