package resttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// document is a published OpenAPI document.
type document struct {
	router    routers.Router
	unrouted  *openapi3.SchemaRef // of answers to what the document does not describe
	mediaType string
}

// load fetches the document, and closes the schemas of answers, so that a field which the document does not name fails
// the test. The published document leaves them open: clients must bear fields that are added later. A schema that says
// itself whether it has further fields stays as it is.
func load(t testing.TB, client *http.Client, baseURL string) *document {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, baseURL+"/openapi.json", http.NoBody)
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
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range doc.Components.Schemas {
		closeSchema(schema)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &document{router: router, unrouted: doc.Components.Schemas["ErrorAnswer"], mediaType: "application/json; charset=utf-8"}
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
func (d *document) find(t testing.TB, sent *http.Request) (*openapi3filter.RequestValidationInput, bool) {
	t.Helper()
	method := sent.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	described := httptest.NewRequestWithContext(t.Context(), method, sent.URL.RequestURI(), http.NoBody)
	described.Header = sent.Header.Clone()
	route, parameters, err := d.router.FindRoute(described)
	// The router does not mind a slash too many or too few.
	if path := sent.URL.EscapedPath(); err != nil || strings.HasSuffix(path, "/") || strings.Count(path, "/") != strings.Count(route.Path, "/") {
		return nil, false
	}
	return &openapi3filter.RequestValidationInput{Request: described, PathParams: parameters, Route: route, Options: rules}, true
}

func (d *document) checkRequest(t testing.TB, sent *http.Request, body string) {
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

func (d *document) checkAnswer(t testing.TB, sent *http.Request, answer Answer) {
	t.Helper()
	if err := d.headersOf(sent, answer); err != nil {
		t.Errorf("%s %s: %v", sent.Method, sent.URL, err)
	}
	input, found := d.find(t, sent)
	if !found {
		d.checkUnrouted(t, sent, answer)
		return
	}
	options := *rules
	options.ExcludeResponseBody = len(answer.Body) == 0 || answer.Header.Get("Content-Encoding") != ""
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

// checkUnrouted checks what answers for unknown paths and methods: an error, or the methods there are.
func (d *document) checkUnrouted(t testing.TB, sent *http.Request, answer Answer) {
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
	var body any
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		t.Errorf("%s %s: %v", sent.Method, sent.URL, err)
		return
	}
	if err := d.unrouted.Value.VisitJSON(body); err != nil {
		t.Errorf("%s %s: %v\n%s", sent.Method, sent.URL, err, answer.Body)
	}
}

// headersOf checks what holds for all answers.
func (d *document) headersOf(sent *http.Request, answer Answer) error {
	public := slices.Contains([]string{"/healthz", "/readyz", "/openapi.json"}, sent.URL.Path)
	header := answer.Header
	switch {
	case header.Get("X-Content-Type-Options") != "nosniff":
		return errors.New("the answer lacks X-Content-Type-Options")
	case header.Get("X-Request-Id") == "":
		return errors.New("the answer lacks X-Request-Id")
	case len(answer.Body) == 0:
		return nil
	case header.Get("Content-Type") != d.mediaType:
		return errors.New("the answer has the Content-Type " + header.Get("Content-Type"))
	case public || header.Get("Content-Encoding") != "":
		return nil
	case header.Get("Cache-Control") != "no-store":
		return errors.New("the answer may be kept")
	case header.Get("X-Request-Id") != answer.Meta.RequestID:
		return errors.New("X-Request-Id is not meta.requestId")
	}
	return nil
}
