package wiring_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"holdco/adapters/http/browsertest"
	"holdco/adapters/http/rest/resttest"
)

// site serves an empty page, whose origin is that of the returned URL.
func site(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>A page</title>"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// fetchFrom lets a page fetch a URL with a key, and returns what its script saw: the status, two headers and how the body
// begins, or the error.
func fetchFrom(browser context.Context, t *testing.T, page, url, key string) (saw string) {
	t.Helper()
	must(t, chromedp.Do(browser, chromedp.Navigate(page)))
	saw, err := chromedp.Run(browser, chromedp.Evaluate[string](fmt.Sprintf(`
		fetch(%q, {headers: {Authorization: "Bearer " + %q}}).then(
			async (answer) => [
				answer.status, answer.headers.get("RateLimit-Limit"), answer.headers.has("ETag"), (await answer.text()).slice(0, 8),
			].join(" "),
			(error) => String(error),
		)`, url, key), chromedp.EvalAwaitPromise))
	must(t, err)
	return saw
}

func TestABrowserLetsPagesOfRegisteredOriginsReadTheExport(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_PARTNER=600")
	home, elsewhere := site(t), site(t)
	made := s.Post("/v1/partners", `{"name":"Acme Data","origins":["`+home+`"]}`)
	made.Is(t, 201, "")
	key := resttest.Data[apiPartner](t, made).Key
	browser := browsertest.Open(t)
	for _, path := range []string{"/api/external/leads", "/api/external/taxonomy"} {
		if saw := fetchFrom(browser, t, home, s.exportURL+path, key); saw != `200 600 true {"data":` {
			t.Errorf("%s: the page of a registered origin saw %s", path, saw)
		}
		if saw := fetchFrom(browser, t, elsewhere, s.exportURL+path, key); !strings.Contains(saw, "Failed to fetch") {
			t.Errorf("%s: a page of another origin saw %s", path, saw)
		}
	}
	if saw := fetchFrom(browser, t, home, s.exportURL+"/api/external/leads", "hcp_wrong"); !strings.HasPrefix(saw, "401 ") {
		t.Errorf("a page with a wrong key saw %s", saw)
	}
}
