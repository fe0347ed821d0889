package docs_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdco/adapters/http/docs"
)

func TestEveryPageIsStrictAboutWhatItLoads(t *testing.T) {
	t.Parallel()
	for path := range docs.Pages("") {
		answer := ask(t, http.MethodGet, path, nil)
		policy := answer.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy: %s", path, policy)
		}
		if got := answer.Header().Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options: %q", path, got)
		}
	}
}

func TestPagesAreKeptByBrowsersAndAskedForAgain(t *testing.T) {
	t.Parallel()
	for path := range docs.Pages("") {
		for _, coding := range []string{"gzip", "identity"} {
			first := ask(t, http.MethodGet, path, http.Header{"Accept-Encoding": {coding}})
			tag := first.Header().Get("ETag")
			again := ask(t, http.MethodGet, path, http.Header{"Accept-Encoding": {coding}, "If-None-Match": {tag}})
			if tag == "" || again.Code != http.StatusNotModified {
				t.Errorf("%s (%s): ETag %q, then status %d", path, coding, tag, again.Code)
			}
		}
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	for path := range docs.Pages("") {
		answer := ask(t, http.MethodHead, path, nil)
		if body := read(t, answer.Body); answer.Code != http.StatusOK || body != "" {
			t.Errorf("%s: status %d, %d bytes", path, answer.Code, len(body))
		}
	}
}

func TestCompressionIsTheClientsChoice(t *testing.T) {
	t.Parallel()
	const path = "/docs/swagger-ui-bundle.js"
	plain := read(t, ask(t, http.MethodGet, path, nil).Body)
	if !strings.Contains(plain, "SwaggerUIBundle") {
		t.Fatal("the script does not define SwaggerUIBundle")
	}
	for accepted, compressed := range map[string]bool{
		"gzip":                    true,
		"GZIP":                    true,
		"deflate, gzip;q=0.5, br": true,
		"br, gzip; q=1":           true,
		"gzip;q=0":                false,
		"gzip; q=0.000":           false,
		"br, zstd":                false,
		"":                        false,
	} {
		answer := ask(t, http.MethodGet, path, http.Header{"Accept-Encoding": {accepted}})
		if got := answer.Header().Get("Content-Encoding") == "gzip"; got != compressed {
			t.Errorf("Accept-Encoding %q: compressed: %v", accepted, got)
			continue
		}
		body := io.Reader(answer.Body)
		if compressed {
			var err error
			if body, err = gzip.NewReader(answer.Body); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, body) != plain || answer.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: another script, or no Vary", accepted)
		}
	}
}

func TestTheLicensesOfSwaggerUIComeWithIt(t *testing.T) {
	t.Parallel()
	text := read(t, ask(t, http.MethodGet, "/docs/swagger-ui-bundle.js.LICENSE.txt", nil).Body)
	for _, part := range []string{"SmartBear", "Apache License", "MIT License"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in the licenses", part)
		}
	}
}

func ask(t *testing.T, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(method, path, nil)
	request.Header = header
	if header == nil {
		request.Header = http.Header{}
	}
	recorder := httptest.NewRecorder()
	docs.Pages("")[path].ServeHTTP(recorder, request)
	return recorder
}

func read(t *testing.T, from io.Reader) string {
	t.Helper()
	body, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
