package httpkit_test

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"holdco/domain/fault"
)

func TestTokensAreReadFromOneAuthorizationHeader(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for header, status := range map[string]int{
		"Bearer all":     200,
		"bearer all":     200,
		"BEARER  all ":   200,
		"Basic all":      401,
		"all":            401,
		"Bearer":         401,
		"Bearer all all": 401,
		"Bearerall":      401,
		"":               401,
	} {
		answer := k.ask("GET", "/things", "", "Authorization", header)
		if answer.status != status || status == 401 && answer.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %d %s %v", header, answer.status, answer.text, answer.header)
		}
	}
	request := httptest.NewRequestWithContext(t.Context(), "GET", "/things", nil)
	request.Header["Authorization"] = []string{"Bearer all", "Bearer all"}
	k.send(request).is(t, "two headers", 401, fault.Unauthorized)
}

func TestScopesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, c := range []struct {
		token, method, path, body string
		status                    int
	}{
		{"read", "GET", "/things", "", 200},
		{"read", "HEAD", "/things", "", 200},
		{"write", "GET", "/things", "", 403},
		{"write", "HEAD", "/things", "", 403},
		{"write", "POST", "/things", "{}", 200},
		{"read", "POST", "/things", "{}", 403},
		{"read", "POST", "/things/1/act", "", 200},
		{"nobody", "POST", "/things/1/act", "", 401},
		{"nobody", "GET", "/public?any=thing", "", 200},
	} {
		answer := k.ask(c.method, c.path, c.body, "Authorization", "Bearer "+c.token)
		if answer.status != c.status {
			t.Errorf("%+v: %d %s", c, answer.status, answer.text)
		}
	}
}

func TestBodiesHaveAMediaTypeOfTheOperation(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	const jsonType, mergeType = "application/json", "application/merge-patch+json"
	for _, c := range []struct {
		method, path, body, mediaType string
		status                        int
	}{
		{"POST", "/things", "{}", jsonType, 200},
		{"POST", "/things", "{}", "Application/JSON; charset=UTF-8", 200},
		{"POST", "/things", "{}", "application/json; charset=latin1", 415},
		{"POST", "/things", "{}", mergeType, 415},
		{"POST", "/things", "{}", "text/plain", 415},
		{"POST", "/things", "{}", "application/json;;", 415},
		{"POST", "/things", "{}", "", 415},
		{"POST", "/things", "", "text/plain", 400}, // no body, so no media type; but one is needed
		{"PATCH", "/things", "{}", mergeType, 200},
		{"PATCH", "/things", "", "", 200},
		{"POST", "/things/1/act", "", "application/x-www-form-urlencoded", 200},
		{"POST", "/things/1/act", "{ }", jsonType, 200},
		{"POST", "/things/1/act", `{"a":1}`, jsonType, 415},
		{"POST", "/things/1/act", `{"a":1`, jsonType, 400},
		{"POST", "/things/1/act", "{}", "text/plain", 415},
		{"GET", "/things", "{}", jsonType, 200},
		{"GET", "/things", "[]", jsonType, 400},
		{"GET", "/things", "x", "text/plain", 415},
	} {
		if answer := k.ask(c.method, c.path, c.body, "Content-Type", c.mediaType); answer.status != c.status {
			t.Errorf("%+v: %d %s", c, answer.status, answer.text)
		}
	}
	k.ask("POST", "/things", "{}", "Content-Encoding", "gzip").is(t, "compressed", 415, fault.UnsupportedMediaType)
	k.ask("POST", "/things", "{}", "Content-Encoding", "identity").is(t, "identity", 200, "")
}

func TestBodiesEndAtOneMebibyte(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	padded := func(size int) string { return "{}" + strings.Repeat(" ", size-2) }
	k.ask("POST", "/things", padded(1<<20)).is(t, "1 MiB", 200, "")
	k.ask("POST", "/things", padded(1<<20+1)).is(t, "1 MiB and a byte", 413, fault.PayloadTooLarge)
	k.ask("POST", "/things/1/act", padded(1<<20+1)).is(t, "where there should be none", 413, fault.PayloadTooLarge)
}

func TestABodyThatBreaksOffIsTruncated(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	broken := io.MultiReader(strings.NewReader(`{"name":`), iotestErr{errors.New("i/o timeout")})
	request := httptest.NewRequestWithContext(t.Context(), "POST", "/things", broken)
	request.Header.Set("Authorization", "Bearer all")
	request.Header.Set("Content-Type", "application/json")
	k.send(request).is(t, "broken off", 400, fault.InvalidJSON)
}

type iotestErr struct{ err error }

func (r iotestErr) Read([]byte) (int, error) { return 0, r.err }

func TestABodyIsOneJSONObject(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nested := func(depth int) string {
		return `{"x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	for name, body := range map[string]string{
		"array":                     `[]`,
		"string":                    `"x"`,
		"number":                    `1`,
		"null":                      `null`,
		"nothing but blanks":        " \n",
		"truncated":                 `{"name":"x"`,
		"truncated string":          `{"name":"x`,
		"truncated literal":         `{"wanted":tr`,
		"no JSON":                   `name=x`,
		"single quotes":             `{'name':'x'}`,
		"trailing comma":            `{"name":"x",}`,
		"comment":                   `{"name":"x"} // y`,
		"trailing data":             `{} {}`,
		"trailing bracket":          `{}}`,
		"byte order mark":           "\ufeff{}",
		"duplicate":                 `{"name":"a","name":"b"}`,
		"duplicate, spelled apart":  `{"name":"a","n\u0061me":"b"}`,
		"duplicate within":          `{"part":{"a":1,"a":1}}`,
		"not UTF-8":                 "{\"name\":\"\xff\"}",
		"not UTF-8 in a name":       "{\"\xff\":1}",
		"UTF-16":                    "\xfe\xff\x00{\x00}",
		"lone surrogate":            `{"name":"\ud800"}`,
		"surrogates in wrong order": `{"name":"\udc00\ud800"}`,
		"control character":         "{\"name\":\"a\nb\"}",
		"NaN":                       `{"price":NaN}`,
		"leading zero":              `{"price":01}`,
		"plus":                      `{"price":+1}`,
		"hexadecimal":               `{"price":0x1}`,
		"too deep":                  nested(33),
		"far too deep":              strings.Repeat(`{"x":`, 100_000),
	} {
		answer := k.ask("POST", "/things", body)
		answer.is(t, name, 400, fault.InvalidJSON)
		if len(answer.text) > 400 {
			t.Errorf("%s: an answer of %d bytes", name, len(answer.text))
		}
	}
	for name, body := range map[string]string{
		"blanks around": " \r\n\t{ } \n",
		"deep":          nested(32),
		"surrogate":     `{"name":"\ud83d\ude00"}`,
		"NUL escape":    `{"name":"\u0000"}`,
	} {
		if answer := k.ask("POST", "/things", body); answer.status != 200 && answer.status != 422 {
			t.Errorf("%s: %d %s", name, answer.status, answer.text)
		}
	}
}

func TestQueriesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, c := range []struct{ query, parameter string }{
		{"x=1", "x"},
		{"Kind=big", "Kind"},
		{"=1", ""},
		{"kind", "kind"},
		{"kind=", "kind"},
		{"kind=huge", "kind"},
		{"kind=BIG", "kind"},
		{"kind=big&kind=big", "kind"},
		{"kind=big&%6bind=small", "kind"},
		{"limit=0", "limit"},
		{"limit=201", "limit"},
		{"limit=-1", "limit"},
		{"limit=1.0", "limit"},
		{"limit=%2B1", "limit"},
		{"limit=+1", "limit"},
		{"limit=01", "limit"},
		{"limit=1e1", "limit"},
		{"limit=99999999999999999999", "limit"},
		{"parts=head,", "parts"},
		{"parts=head,head", "parts"},
		{"parts=nose", "parts"},
		{"parts=head&parts=tail", "parts"},
		{"text=a;kind=big", "text"},
		{"text=%zz", "text"},
		{"text=%ff", "text"},
		{"%zz=1", "%zz"},
		{"x=1&limit=0", "x"},
		{"limit=0&x=1", "limit"},
	} {
		answer := k.ask("GET", "/things?"+c.query, "")
		answer.is(t, c.query, 400, fault.InvalidParameter)
		if answer.Error.Details.Parameter != c.parameter {
			t.Errorf("%s: blames %q, want %q", c.query, answer.Error.Details.Parameter, c.parameter)
		}
	}
	for query, data := range map[string]string{
		"":                        `{}`,
		"&":                       `{}`,
		"kind=big&limit=200":      `{"kind":"big","limit":"200"}`,
		"parts=tail,head":         `{"parts":"tail,head"}`,
		"parts=tail%2Chead":       `{"parts":"tail,head"}`,
		"text=a%3Bb%26c+d%C3%A4=": `{"text":"a;b&c dä="}`,
	} {
		answer := k.ask("GET", "/things?"+query, "")
		answer.is(t, query, 200, "")
		if string(answer.Data) != data {
			t.Errorf("%s: the handler got %s", query, answer.Data)
		}
	}
}

func TestHeadersOfTheDocumentAreGivenOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for name, values := range map[string][]string{"Idempotency-Key": {"a", "b"}, "If-None-Match": {`"1"`, `"2"`}} {
		for _, sent := range [][]string{values, {""}} {
			method, path := "POST", "/things/1/act"
			if name == "If-None-Match" {
				method, path = "GET", "/things"
			}
			request := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			request.Header.Set("Authorization", "Bearer all")
			request.Header[name] = sent
			answer := k.send(request)
			answer.is(t, name, 400, fault.InvalidParameter)
			if answer.Error.Details.Parameter != name {
				t.Errorf("blames %q", answer.Error.Details.Parameter)
			}
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, query := range []string{"kind=big&limit=3", "parts=head,tail", "text=%E4", "a;b=c", "=&==&%"} {
		f.Add(query)
	}
	k := newKit(f)
	f.Fuzz(func(t *testing.T, query string) {
		answer := k.ask("GET", "/things?"+query, "")
		switch {
		case answer.status == 400 && answer.Error.Code == string(fault.InvalidParameter):
		case answer.status != 200:
			t.Errorf("%q: %d %s", query, answer.status, answer.text)
		}
	})
}
