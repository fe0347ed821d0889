package apitest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// Document is a published OpenAPI document.
type Document struct {
	text   string
	doc    *openapi3.T
	router routers.Router
}

// Load fetches a document, and closes the schemas of answers, so that a field which the document does not name fails
// the test. The published document leaves them open: clients must bear fields that are added later. A schema that says
// itself whether it has further fields stays as it is.
func Load(t testing.TB, client *http.Client, url string) *Document {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, string(text), "")
}

// Cut returns the document for answers in which the objects of a schema may lack any of their fields, because the request said which
// fields are wanted.
func (d *Document) Cut(t testing.TB, schema string) *Document {
	t.Helper()
	return load(t, d.text, schema)
}

func load(t testing.TB, text, cut string) *Document {
	t.Helper()
	parsed := sync.OnceValues(func() (*Document, error) { return parse(text, cut) })
	read, _ := documents.LoadOrStore(cut+"\n"+text, parsed)
	document, err := read.(func() (*Document, error))()
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// documents has a function for each text of a document and what is cut, which returns what parse returned. Most tests load the same
// text, and to parse it costs more than many of them.
var documents sync.Map

func parse(text, cut string) (*Document, error) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		return nil, err
	}
	for name, schema := range doc.Components.Schemas {
		closeSchema(schema)
		if name == cut {
			schema.Value.Required = nil
		}
	}
	router, err := legacy.NewRouter(doc)
	return &Document{text, doc, router}, err
}

func closeSchema(schema *openapi3.SchemaRef) {
	for _, property := range schema.Value.Properties {
		if property.Ref == "" {
			closeSchema(property)
		}
	}
	if schema.Value.Properties != nil && schema.Value.AdditionalProperties.Has == nil {
		closed := false
		schema.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: &closed}
	}
}

var rules = &openapi3filter.Options{
	MultiError:                        true,
	IncludeResponseStatus:             true,
	SkipSettingDefaults:               true,
	RejectWhenRequestBodyNotSpecified: true,
	AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
}

// find returns the operation that a request is for. HEAD is GET without a body.
func (d *Document) find(t testing.TB, sent *http.Request) (*openapi3filter.RequestValidationInput, bool) {
	t.Helper()
	method := sent.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	described := httptest.NewRequestWithContext(t.Context(), method, sent.URL.RequestURI(), http.NoBody)
	described.Header = sent.Header.Clone()
	route, parameters, err := d.router.FindRoute(described)
	// The router does not mind a slash too many or too few.
	if path := sent.URL.EscapedPath(); err != nil || strings.HasSuffix(path, "/") ||
		strings.Count(path, "/") != strings.Count(route.Path, "/") {
		return nil, false
	}
	return &openapi3filter.RequestValidationInput{Request: described, PathParams: parameters, Route: route, Options: rules}, true
}

// CheckRequest fails the test unless the document allows the request.
func (d *Document) CheckRequest(t testing.TB, sent *http.Request, body string) {
	t.Helper()
	input, found := d.find(t, sent)
	if !found {
		t.Errorf("%s %s: the document knows no such operation", sent.Method, sent.URL)
		return
	}
	if body != "" && input.Route.Operation.RequestBody != nil {
		input.Request.Body = io.NopCloser(strings.NewReader(body))
	}
	if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
		t.Errorf("%s %s: the document does not allow the request: %v", sent.Method, sent.URL, err)
	}
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// CheckAnswer fails the test unless the document describes the answer. Bodies that are compressed, or lines, are passed
// over.
func (d *Document) CheckAnswer(t testing.TB, sent *http.Request, answer Answer) {
	t.Helper()
	input, found := d.find(t, sent)
	if !found {
		d.checkUnrouted(t, sent, answer)
		return
	}
	options := *rules
	options.ExcludeResponseBody = len(answer.Body) == 0 || answer.Header.Get("Content-Encoding") != "" ||
		answer.Header.Get("Content-Type") == Lines
	err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 answer.Status,
		Header:                 answer.Header,
		Body:                   io.NopCloser(bytes.NewReader(answer.Body)),
		Options:                &options,
	})
	if err != nil {
		t.Errorf("%s %s: the document does not describe the answer %d: %v\n%s", sent.Method, sent.URL, answer.Status, err, answer.Body)
	}
}

// The media types of answers that are one JSON object after the other, and of tables.
const (
	Lines = "application/x-ndjson"
	Table = "text/csv; charset=utf-8"
)

// CheckSchema fails the test unless a JSON text is as the document describes it under a name.
func (d *Document) CheckSchema(t testing.TB, name string, text []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Errorf("no JSON: %v\n%s", err, text)
		return
	}
	if err := d.doc.Components.Schemas[name].Value.VisitJSON(value); err != nil {
		t.Errorf("no %s: %v\n%s", name, err, text)
	}
}

// checkUnrouted checks what answers for unknown paths and methods: an error, or the methods there are.
func (d *Document) checkUnrouted(t testing.TB, sent *http.Request, answer Answer) {
	t.Helper()
	allows := answer.Header.Get("Allow") != ""
	switch {
	case answer.Status == http.StatusNoContent && sent.Method == http.MethodOptions && allows && len(answer.Body) == 0:
		return
	case answer.Status != http.StatusNotFound && (answer.Status != http.StatusMethodNotAllowed || !allows):
		t.Errorf("%s %s: %d is no answer for what the document does not describe", sent.Method, sent.URL, answer.Status)
	}
	if sent.Method == http.MethodHead {
		return
	}
	d.CheckSchema(t, "ErrorAnswer", answer.Body)
}
