package wiring_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/access"
)

// visitor is a browser at the dashboard, as far as a request shows one.
type visitor struct {
	url    string
	cookie *http.Cookie
	header map[string]string
}

// pageAnswer is an answer of the dashboard's listener.
type pageAnswer struct {
	*http.Response
	text string
}

func (v visitor) send(t *testing.T, method, path, body string) pageAnswer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, v.url+path, strings.NewReader(body))
	must(t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if v.cookie != nil {
		request.AddCookie(&http.Cookie{Name: v.cookie.Name, Value: v.cookie.Value})
	}
	for name, value := range v.header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return pageAnswer{response, string(text)}
}

func (v visitor) with(header ...string) visitor {
	all := map[string]string{}
	for name, value := range v.header {
		all[name] = value
	}
	for i := 0; i < len(header); i += 2 {
		all[header[i]] = header[i+1]
	}
	v.header = all
	return v
}

// is compares the status and the code of an error.
func (a pageAnswer) is(t *testing.T, status int, code string) {
	t.Helper()
	if a.StatusCode != status || code != "" && !strings.Contains(a.text, `"code":"`+code+`"`) {
		t.Errorf("%s %s got %d %.300s; want %d %s", a.Request.Method, a.Request.URL.Path, a.StatusCode, a.text, status, code)
	}
}

// signIn signs a person in.
func signIn(t *testing.T, s *instance, with, value string) visitor {
	t.Helper()
	v := visitor{url: s.pagesURL}
	answer := v.send(t, "POST", "/session", `{"`+with+`":"`+value+`"}`)
	answer.is(t, 204, "")
	if len(answer.Cookies()) != 1 {
		t.Fatalf("%d cookies", len(answer.Cookies()))
	}
	v.cookie = answer.Cookies()[0]
	return v
}

type apiSession struct{ ID, TokenID, Browser, CreatedAt, LastSeenAt, ExpiresAt string }

func TestASessionMayWhatItsTokenMay(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		reader := s.issue(t, "read")
		v := signIn(t, s, "token", reader.Token).with("User-Agent", "Test/1.0")
		if c := v.cookie; c.Name != "holdco_session" || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteStrictMode ||
			c.Path != "/" || c.Domain != "" || len(c.Value) < 43 {
			t.Errorf("%+v", c)
		}
		v.send(t, "GET", "/v1/companies", "").is(t, 200, "")
		v.send(t, "POST", "/v1/companies", draft(t, "")).is(t, 403, "insufficient_scope")
		v.send(t, "GET", "/v1/tokens", "").is(t, 403, "insufficient_scope")
		shown := v.send(t, "GET", "/session", "")
		shown.is(t, 200, "")
		for _, part := range []string{
			`"tokenId":"` + reader.ID + `"`, `"scopes":["read"]`, `"hint":"` + reader.Hint + `"`,
			`"expiresAt":"2026-04-12T00:00:00.000Z"`, `"version":"v0.0.0-test"`,
		} {
			if !strings.Contains(shown.text, part) {
				t.Errorf("%s is not in %s", part, shown.text)
			}
		}
		list := resttest.Data[[]apiSession](t, s.Get("/v1/sessions"))
		if len(list) != 1 || list[0].TokenID != reader.ID || list[0].CreatedAt != "2026-04-11T12:00:00.000Z" {
			t.Fatalf("%+v", list)
		}
		s.As(reader.Token).In(t).Get("/v1/sessions").Is(t, 403, "insufficient_scope")

		v.send(t, "DELETE", "/session", "").is(t, 204, "")
		v.send(t, "GET", "/session", "").is(t, 401, "unauthorized")
		v.send(t, "GET", "/v1/companies", "").
			is(t, 401, "unauthorized")
		v.send(t, "DELETE", "/session", "").is(t, 204, "")
		var types []string
		for _, e := range s.events(t, "") {
			if strings.HasPrefix(string(e.Type), "token.signed") {
				types = append(types, string(e.Type)+" "+string(e.Actor)+" "+e.Subject.ID)
			}
		}
		by := " token:" + reader.ID + " " + reader.ID
		if !slices.Equal(types, []string{"token.signed_in" + by, "token.signed_out" + by}) {
			t.Errorf("%v", types)
		}
	})
}

func TestASessionEndsAtOnceWithItsToken(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for how, end := range map[string]func(token apiToken, v visitor){
			"revoked": func(token apiToken, _ visitor) { s.Delete("/v1/tokens/"+token.ID).Is(t, 200, "") },
			"rotated": func(token apiToken, _ visitor) {
				s.Post("/v1/tokens/"+token.ID+"/rotate", `{"graceSeconds":3600}`).Is(t, 200, "")
			},
			"ended by an admin": func(token apiToken, _ visitor) {
				for _, one := range resttest.Data[[]apiSession](t, s.Get("/v1/sessions")) {
					if one.TokenID == token.ID {
						s.Delete("/v1/sessions/"+one.ID).Is(t, 200, "")
						s.Delete("/v1/sessions/"+one.ID).Is(t, 404, "not_found")
					}
				}
			},
		} {
			token := s.issue(t, "read")
			v := signIn(t, s, "token", token.Token)
			v.send(t, "GET", "/v1/companies", "").is(t, 200, "")
			end(token, v)
			if got := v.send(t, "GET", "/v1/companies", ""); got.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: %d", how, got.StatusCode)
			}
		}
		send(s.Client, "DELETE", "/v1/sessions/ses_none", "").Is(t, 404, "not_found")
		if left := resttest.Data[[]apiSession](t, s.Get("/v1/sessions")); len(left) != 0 {
			t.Errorf("%+v", left)
		}
	})
}

func TestASessionEndsWithoutUseAndAfterAWeek(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		idle, used := signIn(t, s, "token", string(rootToken)), signIn(t, s, "token", string(rootToken))
		for range 15 {
			s.clock.advance(11 * time.Hour)
			used.send(t, "GET", "/session", "").is(t, 200, "")
		}
		idle.send(t, "GET", "/session", "").is(t, 401, "unauthorized")
		s.clock.advance(3*time.Hour - time.Millisecond)
		used.send(t, "GET", "/session", "").is(t, 200, "")
		s.clock.advance(time.Millisecond)
		used.send(t, "GET", "/session", "").is(t, 401, "unauthorized")
	})
}

func TestAWrongSignInIsRefusedAndMakesNoSession(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		v := visitor{url: s.pagesURL}
		code := string(access.NewLoginCode([32]byte{1}))
		for body, want := range map[string]string{
			``: "400 invalid_json", `x`: "400 invalid_json", `[]`: "400 invalid_json", `{}`: "422 validation_failed",
			`{"token":null}`:                                 "422 validation_failed",
			`{"token":5}`:                                    "422 validation_failed",
			`{"token":"a","code":"b"}`:                       "422 validation_failed",
			`{"token":"a","user":"b"}`:                       "422 validation_failed",
			`{"token":""}`:                                   "401 unauthorized",
			`{"code":""}`:                                    "401 unauthorized",
			`{"code":"` + code + `"}`:                        "401 unauthorized",
			`{"token":"` + code + `"}`:                       "401 unauthorized",
			`{"code":"` + string(rootToken) + `"}`:           "401 unauthorized",
			`{"token":"` + strings.Repeat("x", 2<<20) + `"}`: "413 payload_too_large",
		} {
			got := v.send(t, "POST", "/session", body)
			status, wrong, _ := strings.Cut(want, " ")
			if fmt.Sprint(got.StatusCode) != status || !strings.Contains(got.text, `"`+wrong+`"`) || len(got.Cookies()) != 0 {
				t.Errorf("%.60s got %d %.200s", body, got.StatusCode, got.text)
			}
		}
		both := v.send(t, "POST", "/session", `{"token":"a","code":"b"}`)
		if !strings.Contains(both.text, `"field":"code","code":"too_many"`) ||
			!strings.Contains(both.text, "must not be sent beside token") {
			t.Errorf("%s", both.text)
		}
		v.with("Content-Type", "text/plain").send(t, "POST", "/session", `{"token":"`+string(rootToken)+`"}`).
			is(t, 415, "unsupported_media_type")
		if left := resttest.Data[[]apiSession](t, s.Get("/v1/sessions")); len(left) != 0 {
			t.Errorf("%+v", left)
		}
		for range 60 {
			v.send(t, "POST", "/session", `{"token":"wrong"}`)
		}
		late := v.send(t, "POST", "/session", `{"token":"wrong"}`)
		late.is(t, 429, "rate_limited")
		if late.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	})
}

func TestOtherPagesCannotUseASession(t *testing.T) {
	t.Parallel()
	s := start(t, newClock(), dataDir+t.TempDir())
	v := signIn(t, s, "token", string(rootToken))
	body := `{"token":"` + string(rootToken) + `"}`
	for _, from := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://127.0.0.1:1"},
		{"Origin", "https://elsewhere.example"}, {"Origin", "null"},
	} {
		page := v.with(from...)
		page.send(t, "POST", "/v1/companies", draft(t, "")).is(t, 403, "origin_not_allowed")
		page.send(t, "POST", "/session", body).is(t, 403, "origin_not_allowed")
		page.send(t, "DELETE", "/session", "").is(t, 403, "origin_not_allowed")
		if from[0] == "Sec-Fetch-Site" {
			page.send(t, "GET", "/v1/companies", "").is(t, 403, "origin_not_allowed")
		}
	}
	for _, from := range [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}, {"Origin", s.pagesURL}} {
		v.with(from...).send(t, "GET", "/v1/companies", "").is(t, 200, "")
		v.with(from...).send(t, "POST", "/v1/companies", "{}").is(t, 422, "validation_failed")
	}
	v.with("Authorization", "Bearer "+string(rootToken)).send(t, "GET", "/v1/companies", "").
		is(t, 401, "unauthorized")
	visitor{url: s.pagesURL}.with("Authorization", "Bearer "+string(rootToken)).send(t, "GET", "/v1/companies", "").
		is(t, 401, "unauthorized")
	if companies := resttest.Data[[]json.RawMessage](t, s.Get("/v1/companies")); len(companies) != 0 {
		t.Error("a refused request founded a company")
	}
}

func TestBehindAProxyThatEndsTLSTheCookieIsSecure(t *testing.T) {
	t.Parallel()
	s := start(t, newClock(), dataDir+t.TempDir(), "HOLDCO_TRUSTED_PROXIES=127.0.0.1")
	v := visitor{url: s.pagesURL}.with("X-Forwarded-Proto", "https")
	answer := v.send(t, "POST", "/session", `{"token":"`+string(rootToken)+`"}`)
	answer.is(t, 204, "")
	v.cookie = answer.Cookies()[0]
	if v.cookie.Name != "__Host-holdco_session" || !v.cookie.Secure {
		t.Errorf("%+v", v.cookie)
	}
	v.send(t, "GET", "/session", "").is(t, 200, "")
	stranger := start(t, newClock(), dataDir+t.TempDir())
	v.url = stranger.pagesURL
	if got := v.send(t, "POST", "/session", `{"token":"`+string(rootToken)+`"}`).Cookies(); got[0].Secure {
		t.Error("anybody is believed")
	}
}

func TestALinkSignsInOnceAndForAWhile(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), slices.Concat(environ, []string{"HOLDCO_ADMIN_TOKEN="})...)
		_, link, found := strings.Cut(s.said, s.pagesURL+"/start#code=")
		code, _, ended := strings.Cut(link, "\n")
		if !found || !ended {
			t.Fatalf("it said %s", s.said)
		}
		v := signIn(t, s, "code", code)
		v.send(t, "GET", "/v1/tokens", "").is(t, 200, "")
		v.send(t, "POST", "/session", `{"code":"`+code+`"}`).is(t, 401, "unauthorized")

		again := s.again(t)
		if strings.Contains(again.said, "code=") {
			t.Errorf("it said %s", again.said)
		}
		v.url = again.pagesURL
		v.send(t, "GET", "/session", "").is(t, 200, "")
	})
}

func TestTheCommandLoginPrintsALinkForARunningServer(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		s := start(t, newClock(), environ...)
		s.clock.ms.Store(time.Now().UnixMilli()) // the command has the clock of the machine
		link := func(args ...string) (printed string, ok bool) {
			t.Helper()
			command := exec.Command("holdco", append([]string{"login"}, args...)...)
			command.Env = slices.Concat(os.Environ(), environ)
			out, err := command.CombinedOutput()
			return strings.TrimSpace(string(out)), err == nil
		}
		printed, ok := link("--url", "https://holdco.example.com/")
		at, code, found := strings.Cut(printed, "/start#code=")
		if !ok || !found || at != "https://holdco.example.com" {
			t.Fatal(printed)
		}
		signIn(t, s, "code", code).send(t, "GET", "/v1/tokens", "").is(t, 200, "")

		reader := s.issue(t, "read")
		printed, ok = link("--token", reader.ID)
		at, code, _ = strings.Cut(printed, "/start#code=")
		if !ok || at != "http://127.0.0.1:3101" {
			t.Fatal(printed)
		}
		signIn(t, s, "code", code).send(t, "GET", "/v1/tokens", "").is(t, 403, "insufficient_scope")

		late, _ := link()
		_, code, _ = strings.Cut(late, "/start#code=")
		s.clock.advance(access.CodeLength + time.Minute)
		visitor{url: s.pagesURL}.send(t, "POST", "/session", `{"code":"`+code+`"}`).is(t, 401, "unauthorized")
		for _, wrong := range [][]string{{"--token", "x"}, {"--token", "tok_01jqvb2k3e8m0t9c5x7a4n6p1r"}, {"--url", "ftp://x"}, {"x"}} {
			if printed, ok := link(wrong...); ok {
				t.Errorf("%v printed %s", wrong, printed)
			}
		}
	})
}

func TestTheDashboardIsServedToAnybodyUnderItsPolicy(t *testing.T) {
	t.Parallel()
	s := start(t, newClock(), dataDir+t.TempDir())
	v := visitor{url: s.pagesURL}
	for _, path := range []string{"/", "/login", "/c/acme/issues/42"} {
		page := v.send(t, "GET", path, "")
		page.is(t, 200, "")
		if !strings.HasPrefix(page.text, "<!doctype html>") || page.Header.Get("Cache-Control") != "no-cache" ||
			page.Header.Get("ETag") == "" {
			t.Errorf("%s: %v", path, page.Header)
		}
		for name, part := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Permissions-Policy": "camera=()",
		} {
			if !strings.Contains(page.Header.Get(name), part) {
				t.Errorf("%s: %s is %q", path, name, page.Header.Get(name))
			}
		}
		v.with("If-None-Match", page.Header.Get("ETag")).send(t, "GET", path, "").is(t, 304, "")
	}
	if csp := v.send(t, "GET", "/v1/companies", "").Header.Get("Content-Security-Policy"); csp == "" {
		t.Error("answers of the API have no policy")
	}
	v.send(t, "GET", "/assets/none.js", "").is(t, 404, "not_found")
	v.send(t, "GET", "/sources.sum", "").is(t, 404, "not_found")
	v.send(t, "POST", "/login", "").is(t, 404, "not_found")
	v.send(t, "GET", "/healthz", "").is(t, 200, "")
	v.send(t, "GET", "/readyz", "").is(t, 200, "")
	off := start(t, newClock(), dataDir+t.TempDir(), "HOLDCO_DASHBOARD_ADDR=")
	if off.pagesURL != "" || os.Getenv("HOLDCO_DASHBOARD_ADDR") != "" {
		t.Errorf("it listens on %s", off.pagesURL)
	}
}
