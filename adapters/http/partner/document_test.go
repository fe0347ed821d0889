package partner_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"holdco/adapters/http/apitest"
	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/partner"
	"holdco/adapters/http/partner/partnertest"
)

func readDocument(t testing.TB) *openapi3.T {
	t.Helper()
	return apitest.Read(partner.Document())(t)
}

func TestTheDocumentIsValidAndSaysWhatOperationsAreAndCanFailWith(t *testing.T) {
	t.Parallel()
	document := readDocument(t)
	statuses := []string{"200", "304", "400", "401", "403", "413", "415", "429", "500", "503"}
	apitest.CheckDescription(t, document, []string{"partner"}, statuses)
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
