package partner_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/partner"
	"holdco/adapters/http/partner/partnertest"
)

func readDocument(t testing.TB) *openapi3.T {
	t.Helper()
	assembled, err := partner.Document()
	if err != nil {
		t.Fatal(err)
	}
	text, err := assembled.JSON()
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestTheDocumentIsValidAndItsExamplesAreTrue(t *testing.T) {
	t.Parallel()
	if err := readDocument(t).Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

func TestEveryOperationOfTheDocumentSaysWhatItIsAndCanFailWith(t *testing.T) {
	t.Parallel()
	for path, item := range readDocument(t).Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + path
			if operation.OperationID == "" || operation.Summary == "" || len(operation.Tags) != 1 {
				t.Errorf("%s lacks an operationId, a summary or a tag", name)
			}
			if operation.Security != nil {
				continue
			}
			if operation.Extensions["x-class"] != "partner" || operation.Extensions["x-scope"] != "any" {
				t.Errorf("%s has %v", name, operation.Extensions)
			}
			for _, status := range []string{"200", "304", "400", "401", "403", "413", "415", "429", "500", "503"} {
				if operation.Responses.Value(status) == nil {
					t.Errorf("%s does not describe %s", name, status)
				}
			}
			for status, response := range operation.Responses.Map() {
				for _, header := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
					if (response.Value.Headers[header] == nil) != (status == "401") {
						t.Errorf("%s describes %s of %s, or should", name, header, status)
					}
				}
			}
		}
	}
}

func TestEveryOperationOfTheDocumentIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path := range readDocument(t).Paths.Map() {
		answer := w.Get(strings.ReplaceAll(path, "{id}", string(leadID(1))))
		answer.Is(t, httpkit.OK, "")
	}
}

func TestTheDocumentAndThePageAreForAnybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := w.As("")
	answer := nobody.Get("openapi.json")
	if text := string(answer.Body); !strings.HasPrefix(text, `{"openapi":"3.0.3","info":{"title":"Holdco lead export API"`) {
		t.Errorf("the document begins with %.80s", text)
	}
	again := nobody.Wrong("openapi.json", "If-None-Match", answer.Header.Get("ETag"), "Accept-Encoding", "identity")
	if again.Status != http.StatusNotModified {
		t.Errorf("an unchanged document is answered with %d", again.Status)
	}
	response := nobody.Open(partnertest.Request{Path: "docs", Wrong: true})
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the page is answered with %d", response.StatusCode)
	}
}
