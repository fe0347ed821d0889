package wiring_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// send is a request that may break the document's rules.
func send(client *resttest.Client, method, path, body string, header ...string) resttest.Answer {
	request := resttest.Request{Method: method, Path: path, Body: body, Header: map[string]string{}, Wrong: true}
	for i := 0; i < len(header); i += 2 {
		request.Header[header[i]] = header[i+1]
	}
	return client.Send(request)
}

func TestPathsAreExact(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for _, path := range []string{
			"/", "/v1", "/v1/", "/v2/companies", "/v1/companies/", "//v1/companies", "/v1//companies", "/V1/companies", "/v1/Companies",
			"/v1/companies//", acme.path() + "/", "/" + acme.path(), acme.path() + "//archive", "/v1/companies//archive",
			acme.path() + "/archive/", acme.path() + "/Archive", "/v1%2Fcompanies", "/v1/./companies",
			"/v1/tokens/../companies", acme.path() + "/../" + acme.ID, "/v1/companies;x=1", "/v1/companies%20", "/healthz/", "/Healthz",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions} {
				answer := send(s.Client, method, path, "")
				answer.Is(t, http.StatusNotFound, "not_found")
				if answer.Header.Get("Location") != "" {
					t.Errorf("%s %s redirects", method, path)
				}
			}
		}
		for _, name := range []string{
			"acme", strings.ToUpper(acme.ID), "cmp_", "cmp_" + strings.Repeat("0", 25), acme.ID + "0", "tok_" + acme.ID[4:],
			"cmp_" + strings.Repeat("8", 26), "cmp_" + strings.Repeat("0", 26), acme.ID + "%00", "%20" + acme.ID, "%FF", "*", "null",
			strings.Repeat("x", 5000), "cmp_" + strings.Repeat("u", 26), acme.ID + "%2Farchive", "'%20OR%20''='",
		} {
			for _, c := range []struct{ method, suffix, body string }{
				{"GET", "", ""}, {"HEAD", "", ""}, {"PATCH", "", `{"name":"x"}`}, {"POST", "/archive", ""}, {"POST", "/restore",
					""}, {"DELETE", "", ""},
			} {
				answer := send(s.Client, c.method, "/v1/companies/"+name+c.suffix, c.body)
				if answer.Status != http.StatusNotFound {
					t.Errorf("%s %s%s: %d", c.method, name, c.suffix, answer.Status)
				}
			}
		}
		if now := s.see(t, acme); now.Status != "active" {
			t.Errorf("the company became %s", now.Status)
		}
	})
}

func TestUnknownPathsAndMethodsNeedNoToken(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		nobody := s.As("")
		send(nobody, "GET", "/v1/nothing", "").Is(t, 404, "not_found")
		for _, c := range []struct{ method, path string }{
			{"PUT", "/v1/companies"}, {"PATCH", "/v1/companies"}, {"DELETE", "/v1/companies"}, {"POST", "/v1/companies/x"},
			{"GET", "/v1/companies/x/archive"}, {"HEAD", "/v1/companies/x/archive"}, {"POST", "/healthz"}, {"BREW",
				"/v1/whoami"}, {"TRACE", "/v1/tokens"},
		} {
			answer := send(nobody, c.method, c.path, "")
			if answer.Status != 405 || !strings.Contains(answer.Header.Get("Allow"), "OPTIONS") {
				t.Errorf("%s %s: %d, Allow: %s", c.method, c.path, answer.Status, answer.Header.Get("Allow"))
			}
			if options := send(nobody, "OPTIONS", c.path, ""); options.Header.Get("Allow") != answer.Header.Get("Allow") {
				t.Errorf("OPTIONS %s: %d, Allow: %s", c.path, options.Status, options.Header.Get("Allow"))
			}
		}
		for path, allow := range map[string]string{
			"/v1/companies": "GET, HEAD, POST, OPTIONS", "/v1/companies/x": "GET, HEAD, PATCH, DELETE, OPTIONS",
			"/v1/companies/x/archive": "POST, OPTIONS", "/openapi.json": "GET, HEAD, OPTIONS",
		} {
			if got := send(nobody, "BREW", path, "").Header.Get("Allow"); got != allow {
				t.Errorf("%s allows %s, want %s", path, got, allow)
			}
		}
		send(nobody, "GET", "/v1/companies", "").Is(t, 401, "unauthorized")
		nobody.Get("/healthz").Is(t, 200, "")
		nobody.Get("/readyz").Is(t, 200, "")
	})
}

func TestHeadIsGetWithoutItsBody(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for _, path := range []string{
			acme.path(), acme.path() + "?include=teams",
			"/v1/companies", "/v1/tokens", "/v1/whoami", "/healthz", "/openapi.json",
		} {
			get, head := s.Get(path), send(s.Client, "HEAD", path, "")
			if head.Status != 200 || len(head.Body) != 0 || head.Header.Get("ETag") != get.Header.Get("ETag") ||
				head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
				t.Errorf("HEAD %s: %d %v", path, head.Status, head.Header)
			}
		}
		if head := send(s.Client, "HEAD", "/v1/companies/x", ""); head.Status != 404 || len(head.Body) != 0 {
			t.Errorf("HEAD of nothing: %d", head.Status)
		}
	})
}

func TestABodyIsOneJSONObject(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string { // the body itself is the first level
		return `{"x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	long := func(size int) string {
		const start, end = `{"name":"A","slug":"a","description":"`, `"}`
		return start + strings.Repeat("x", size-len(start)-len(end)) + end
	}
	eachStore(t, func(t *testing.T, s *instance) {
		for _, c := range []struct {
			name, body string
			status     int
			code       string
		}{
			{"nothing", "", 400, "invalid_json"},
			{"blanks", " \n", 400, "invalid_json"},
			{"a list", "[]", 400, "invalid_json"},
			{"null", "null", 400, "invalid_json"},
			{"a string", `"x"`, 400, "invalid_json"},
			{"truncated", `{"name":"A","slug":"a"`, 400, "invalid_json"},
			{"two objects", `{"name":"A","slug":"a"} {}`, 400, "invalid_json"},
			{"trailing text", `{"name":"A","slug":"a"}x`, 400, "invalid_json"},
			{"trailing NUL", "{\"name\":\"A\",\"slug\":\"a\"}\x00", 400, "invalid_json"},
			{"a duplicate key", `{"name":"A","slug":"a","name":"B"}`, 400, "invalid_json"},
			{"a duplicate key in disguise", `{"name":"A","slug":"a","n\u0061me":"B"}`, 400, "invalid_json"},
			{"a duplicate key within", `{"name":"A","slug":"a","budget":{"usd":1,"usd":2}}`, 400, "invalid_json"},
			{"not UTF-8", "{\"name\":\"\xff\",\"slug\":\"a\"}", 400, "invalid_json"},
			{"Latin-1", "{\"name\":\"caf\xe9\",\"slug\":\"a\"}", 400, "invalid_json"},
			{"half a surrogate pair", `{"name":"\ud800","slug":"a"}`, 400, "invalid_json"},
			{"byte order mark", "\ufeff" + named("a"), 400, "invalid_json"},
			{"leading zero", `{"name":"A","slug":"a","budget":{"usd":01}}`, 400, "invalid_json"},
			{"not a number", `{"name":"A","slug":"a","budget":{"usd":NaN}}`, 400, "invalid_json"},
			{"a comment", `{"name":"A","slug":"a"/**/}`, 400, "invalid_json"},
			{"trailing comma", `{"name":"A","slug":"a",}`, 400, "invalid_json"},
			{"single quotes", `{'name':'A'}`, 400, "invalid_json"},
			{"a raw line break", "{\"name\":\"A\nB\",\"slug\":\"a\"}", 400, "invalid_json"},
			{"33 levels", nested(33), 400, "invalid_json"},
			{"very many levels", nested(500_000), 400, "invalid_json"},
			{"32 levels", nested(32), 422, "validation_failed"},
			{"1 MiB", long(1 << 20), 422, "validation_failed"},
			{"1 MiB and a byte", long(1<<20 + 1), 413, "payload_too_large"},
		} {
			t.Run(c.name, func(t *testing.T) {
				send(s.In(t), "POST", "/v1/companies", c.body).Is(t, c.status, c.code)
			})
		}
		if body := s.Get("/v1/companies"); string(body.Data) != "[]" || len(s.events(t, "")) != 1 {
			t.Errorf("a refused body left something behind: %s", body.Data)
		}
		s.create(t, "\t\r\n "+named("blanks")+" \n")
	})
}

func TestABodyOfUnknownLengthEndsAtOneMebibyteToo(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		endless := io.MultiReader(strings.NewReader(`{"name":"`), strings.NewReader(strings.Repeat("x", 3<<20)))
		request, err := http.NewRequest(http.MethodPost, s.url+"/v1/companies", endless)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+string(rootToken))
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		defer response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("answered %d", response.StatusCode)
		}
	})
}

func TestBodiesHaveTheMediaTypeOfTheirOperation(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for i, c := range []struct {
			contentType   string
			create, patch int
		}{
			{"application/json", 201, 200},
			{"APPLICATION/Json ; Charset=\"UTF-8\"", 201, 200},
			{"application/json; charset=utf-8", 201, 200},
			{"application/merge-patch+json", 415, 200},
			{"application/json; charset=iso-8859-1", 415, 415},
			{"application/json-patch+json", 415, 415},
			{"application/json, text/plain", 415, 415},
			{"application/x-www-form-urlencoded", 415, 415},
			{"text/plain", 415, 415},
			{"json", 415, 415},
			{"", 415, 415},
		} {
			code := map[int]string{415: "unsupported_media_type"}
			body := named(fmt.Sprintf("number-%d", i))
			send(s.Client, "POST", "/v1/companies", body, "Content-Type", c.contentType).Is(t, c.create, code[c.create])
			send(s.Client, "PATCH", acme.path(), `{"name":"B"}`, "Content-Type", c.contentType).Is(t, c.patch, code[c.patch])
		}

		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, err := io.WriteString(writer, named("packed"))
		must(t, err)
		must(t, writer.Close())
		send(s.Client, "POST", "/v1/companies", packed.String(), "Content-Encoding", "gzip").Is(t, 415, "unsupported_media_type")
		send(s.Client, "POST", "/v1/companies", named("zst"), "Content-Encoding", "zstd").Is(t, 415, "unsupported_media_type")
		send(s.Client, "POST", "/v1/companies", named("plain"), "Content-Encoding", "identity").Is(t, 201, "")

		archive := acme.path() + "/archive"
		send(s.Client, "POST", archive, `{"a":1}`).Is(t, 415, "unsupported_media_type")
		send(s.Client, "POST", archive, `x`, "Content-Type", "text/plain").Is(t, 415, "unsupported_media_type")
		send(s.Client, "POST", archive, `{`).Is(t, 400, "invalid_json")
		send(s.Client, "POST", archive, `{}`).Is(t, 200, "")
		send(s.Client, "POST", acme.path()+"/restore", "").Is(t, 200, "")
	})
}

func TestAnswersAreCompressedWhenAskedForAndKeepTheirTag(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"description":"`+strings.Repeat("x", 4000)+`"`))
		plain := s.Get(acme.path())
		for accepted, want := range map[string]string{
			"": "", "identity": "", "br": "", "gzip;q=0": "",
			"gzip": "gzip", "zstd": "zstd", "br, gzip;q=0.5": "gzip", "gzip, deflate, br, zstd": "zstd",
		} {
			answer := send(s.Client, "GET", acme.path(), "", "Accept-Encoding", accepted)
			if got := answer.Header.Get("Content-Encoding"); got != want || answer.Header.Get("ETag") != plain.Header.Get("ETag") {
				t.Errorf("%q is answered with %q and the tag %s", accepted, got, answer.Header.Get("ETag"))
			}
			if want != "" && (len(answer.Body) > 1000 || !strings.Contains(answer.Header.Get("Vary"), "Accept-Encoding")) {
				t.Errorf("%q: %d bytes, Vary: %s", accepted, len(answer.Body), answer.Header.Get("Vary"))
			}
			if want == "gzip" {
				reader, err := gzip.NewReader(bytes.NewReader(answer.Body))
				must(t, err)
				text, err := io.ReadAll(reader)
				must(t, err)
				if !bytes.HasPrefix(text, plain.Body[:4000]) {
					t.Errorf("%s", text)
				}
			}
		}
		send(s.Client, "GET", acme.path(), "", "Accept-Encoding", "gzip", "If-None-Match", plain.Header.Get("ETag")).Is(t, 304, "")
	})
}

func TestRequestIDsOfClientsAreKeptWhenTheyAreHarmless(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		longest := strings.Repeat("x", 128)
		for sent, kept := range map[string]bool{
			"a": true, "ci.Run_7-x": true, longest: true, longest + "x": false,
			"a b": false, "a/b": false, "é": false, `"`: false, "": false,
		} {
			for _, path := range []string{"/v1/whoami", "/nothing"} {
				answer := send(s.Client, "GET", path, "", "X-Request-Id", sent)
				if got := answer.Meta.RequestID; (got == sent) != kept || !kept && !strings.HasPrefix(got, "req_") {
					t.Errorf("%q became %q", sent, got)
				}
			}
		}
		send(s.Client, "GET", "/v1/whoami", "", "X-Request-Id", "find-me-in-the-log")
		if !strings.Contains(s.log.String(), "find-me-in-the-log") {
			t.Error("the log has no request ids")
		}
	})
}
