package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"go.yaml.in/yaml/v3"

	"holdco/adapters/http/browsertest"
	"holdco/adapters/http/docs"
)

// api is where an API has its page, and the document that it serves.
type api struct{ under, document string }

var (
	orchestration = api{"", "../../../testdata/golden/openapi.json"}
	export        = api{"/api/external", "../../../testdata/golden/export_openapi.json"}
	gateway       = api{"/gateway", "../../../testdata/golden/gateway_openapi.json"}
)

func TestThePageShowsEveryOperationInABrowser(t *testing.T) {
	t.Parallel()
	for _, of := range []api{orchestration, export, gateway} {
		t.Run(filepath.Base(of.document), func(t *testing.T) {
			tab, _ := openPage(t, of)
			operations := summaries(t, of.document)
			expected, err := json.Marshal(operations)
			tab.check(err)
			// Of a long document the page has only what is in view, so each look scrolls half a window on, and from the end to the top.
			const look = `(window.seen ??= new Set(),
				document.querySelectorAll('.opblock-summary-description').forEach(shown => seen.add(shown.textContent)),
				scrollTo(0, scrollY + innerHeight >= document.documentElement.scrollHeight - 2 ? 0 : scrollY + innerHeight / 2),
				%s.every(summary => seen.has(summary)))`
			tab.wait(look, expected)
			tab.wait("(scrollTo(0, 0), scrollY === 0)")
			// What is in view is opened: all operations would take minutes, and a gigabyte of memory.
			tab.wait(`(first => first !== null && (first.ariaExpanded === 'false' && first.click(),
				document.querySelector('.opblock .responses-table') !== null))(document.querySelector('.opblock-summary-control'))`)
		})
	}
}

func TestATokenTypedIntoABrowserGoesToItsOriginAlone(t *testing.T) {
	t.Parallel()
	tab, tokens := openPage(t, orchestration)
	tab.click(".btn.authorize")
	tab.do(chromedp.SendKeys(chromedp.CSS(".auth-container input"), "a-token"))
	tab.click(".auth-btn-wrapper .authorize")
	tab.click(".auth-btn-wrapper .btn-done")
	tab.click(".opblock-get .opblock-summary-control")
	tab.click(".try-out__btn")
	tab.click(".btn.execute")
	tab.do(chromedp.WaitVisible(chromedp.CSS(".live-responses-table")))
	if got := <-tokens; got != "Bearer a-token" {
		t.Errorf("the API was sent Authorization: %q", got)
	}
}

// openPage serves the page beside an API that reports the Authorization of what it is asked, and opens it in a browser.
// The test fails when the page asks for anything from elsewhere, breaks its policy, or complains in any other way.
func openPage(t *testing.T, of api) (*tab, <-chan string) {
	t.Helper()
	document, err := os.ReadFile(of.document)
	if err != nil {
		t.Fatal(err)
	}
	tokens := make(chan string, 10)
	site := http.NewServeMux()
	for path, page := range docs.Pages(of.under) {
		site.Handle("GET "+path, page)
	}
	site.HandleFunc("GET "+of.under+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(document) })
	site.HandleFunc("GET /v1/", func(w http.ResponseWriter, r *http.Request) {
		tokens <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data": []}`))
	})
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)

	tab := openTab(t, server.URL)
	tab.do(chromedp.Navigate(server.URL + of.under + "/docs"))
	tab.do(chromedp.WaitVisible(chromedp.CSS(".opblock")))
	return tab, tokens
}

// tab is a tab of a headless browser.
type tab struct {
	t          *testing.T
	ctx        context.Context
	origin     string
	mutex      sync.Mutex
	complaints []string
}

func openTab(t *testing.T, origin string) *tab {
	t.Helper()
	ctx := browsertest.Open(t)
	tab := &tab{t: t, ctx: ctx, origin: origin}
	tab.check(chromedp.Listen(ctx, tab.listen))
	_, err := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	tab.check(err)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	tab.check(err)

	t.Cleanup(func() {
		tab.mutex.Lock()
		defer tab.mutex.Unlock()
		for _, complaint := range tab.complaints {
			t.Error(complaint)
		}
	})
	return tab
}

// listen notes what must not happen. A breach of the policy is an entry of the log.
func (tab *tab) listen(happened any) {
	var complaint string
	switch e := happened.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, tab.origin+"/") && !strings.HasPrefix(url, "data:") {
			complaint = "the page asked for " + url
		}
	case *log.EventEntryAdded:
		complaint = fmt.Sprintf("the browser logged (%s, %s): %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *runtime.EventExceptionThrown:
		complaint = fmt.Sprintf("the page threw: %s %s", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
	}
	if complaint != "" {
		tab.mutex.Lock()
		defer tab.mutex.Unlock()
		tab.complaints = append(tab.complaints, complaint)
	}
}

func (tab *tab) do(step chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	tab.check(chromedp.Do(tab.ctx, step))
}

// wait waits until an expression of JavaScript is true.
func (tab *tab) wait(format string, args ...any) {
	tab.t.Helper()
	expression := fmt.Sprintf(format, args...)
	if err := chromedp.Do(tab.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(2*time.Minute))); err != nil {
		tab.t.Fatalf("%s: %v", expression, err)
	}
}

// click clicks the first element that a selector finds, as soon as there is one.
func (tab *tab) click(selector string) {
	tab.t.Helper()
	tab.wait("(element => element && (element.click(), true))(document.querySelector(%q))", selector)
}

func (tab *tab) check(err error) {
	tab.t.Helper()
	if err != nil {
		tab.t.Fatal(err)
	}
}

// summaries are those of all operations in the document.
func summaries(t *testing.T, document string) []string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]yaml.Node
	}
	if err := yaml.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, item := range described.Paths {
		for method, node := range item {
			if method == "parameters" {
				continue
			}
			var operation struct{ Summary string }
			if err := node.Decode(&operation); err != nil {
				t.Fatal(err)
			}
			found = append(found, operation.Summary)
		}
	}
	if len(found) == 0 {
		t.Fatal("the document has no operations")
	}
	return found
}
