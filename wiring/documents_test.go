package wiring_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/event"
)

// open gets a page as a browser does, and returns its text.
func (s *instance) open(t *testing.T, url string, header ...string) (status int, head http.Header, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, response.Header, string(body)
}

// The golden documents are what reviews read and what "make lint-api" checks.
func TestTheServedDocumentsAreThoseThatWereReviewed(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	for golden, url := range map[string]string{
		"openapi.json": s.url + "/openapi.json", "export_openapi.json": s.exportURL + "/api/external/openapi.json",
		"gateway_openapi.json": s.gatewayURL + "/gateway/openapi.json",
	} {
		status, head, text := s.open(t, url)
		if status != http.StatusOK || !strings.HasPrefix(text, `{"openapi":"3.0.3","info":{"title":`) {
			t.Errorf("%s: %d %.80s", url, status, text)
		}
		for _, hidden := range []string{"x-go-type", "x-oapi-codegen", "holdco/domain", "x-shared", "x-versioned", "x-codes", `"data":"`} {
			if strings.Contains(text, hidden) {
				t.Errorf("the document at %s shows %q", url, hidden)
			}
		}
		var indented bytes.Buffer
		must(t, json.Indent(&indented, []byte(text), "", "  "))
		compareGolden(t, golden, indented.String()+"\n")

		again, _, _ := s.open(t, url, "If-None-Match", head.Get("ETag"), "Accept-Encoding", "identity")
		if again != http.StatusNotModified {
			t.Errorf("an unchanged document is answered with %d", again)
		}
	}
	for _, url := range []string{s.url + "/docs", s.exportURL + "/api/external/docs", s.gatewayURL + "/gateway/docs"} {
		if status, _, text := s.open(t, url); status != http.StatusOK || !strings.Contains(text, "<html") {
			t.Errorf("%s: %d %.80s", url, status, text)
		}
	}
}

func TestTheDocumentNamesEveryCategoryOfActivity(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../testdata/golden/openapi.json")
	must(t, err)
	var document struct {
		Components struct {
			Parameters struct {
				ActivityCategory struct {
					Schema struct{ Items struct{ Enum []string } }
				}
			}
		}
	}
	must(t, json.Unmarshal(text, &document))
	if named := document.Components.Parameters.ActivityCategory.Schema.Items.Enum; !slices.Equal(named, event.Categories()) {
		t.Errorf("the document names %v, events have %v", named, event.Categories())
	}
}

func TestEveryErrorOfTheDocumentsHasAGoldenAnswer(t *testing.T) {
	t.Parallel()
	for document, prefix := range map[string]string{
		"openapi.json": "error_", "export_openapi.json": "export_error_", "gateway_openapi.json": "gateway_error_",
	} {
		text, err := os.ReadFile(filepath.Join(goldenFolder, document))
		must(t, err)
		var read struct {
			Components struct {
				Schemas struct {
					Error struct {
						Properties struct{ Code struct{ Enum []string } }
					}
				}
			}
		}
		must(t, json.Unmarshal(text, &read))
		codes := read.Components.Schemas.Error.Properties.Code.Enum
		if len(codes) == 0 {
			t.Errorf("%s lists no codes", document)
		}
		var missing []string
		for _, code := range codes {
			if !exists(t, filepath.Join(goldenFolder, prefix+code+".json")) {
				missing = append(missing, code)
			}
		}
		if diff := cmp.Diff([]string(nil), missing); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
}
