// Package browsertest gives tests a tab that is at the dashboard, and that fails them on anything a page of it must not do: complain,
// break its policy, ask another origin, or ask what no program could.
package browsertest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // axe-core
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	browser "holdco/adapters/http/browsertest"
)

//go:embed axe.min.js.gz
var axe []byte // axe-core 4.14.1, see axe.LICENSE.txt

// Site is where a tab is, and what it must be like.
type Site struct {
	Origin   string    // the URL of the dashboard
	Document string    // the file with the OpenAPI document of its API
	Now      time.Time // what the clock of the browser says when the tab is opened; zero: what it is
	Looks    string    // the folder with the pictures of pages, which Look compares
	Update   bool      // Look keeps the pictures of pages that look otherwise
}

// Tab is a tab of a headless browser.
type Tab struct {
	t        *testing.T
	ctx      context.Context
	at       Site
	isInAPI  func(method, path string) bool
	mutex    sync.Mutex
	problems []string
	expected map[int64]bool // statuses of answers that the test causes
	sent     []string       // requests for the API since they were last looked at, but for streams
}

// Open starts a browser for the dashboard at a site.
func Open(t *testing.T, at Site) *Tab {
	t.Helper()
	tab := &Tab{t: t, ctx: browser.Open(t), at: at, isInAPI: operations(t, at.Document), expected: map[int64]bool{}}
	tab.check(chromedp.Listen(tab.ctx, tab.listen))
	_, err := chromedp.Call(tab.ctx, log.Enable, cdp.Empty{})
	tab.check(err)
	_, err = chromedp.Call(tab.ctx, network.Enable, network.EnableParams{})
	tab.check(err)
	tab.check(chromedp.Do(tab.ctx, chromedp.EmulateViewport(1280, 800)))
	if !at.Now.IsZero() {
		tab.before(fmt.Sprintf(`Date = class extends Date {
			static ahead = %d
			constructor(...of) { of.length ? super(...of) : super(Date.now()) }
			static now() { return super.now() + Date.ahead }
		}`, time.Until(at.Now).Milliseconds()))
	}
	t.Cleanup(func() {
		tab.mutex.Lock()
		defer tab.mutex.Unlock()
		for _, problem := range tab.problems {
			t.Error(problem)
		}
	})
	return tab
}

// operations reports whether the API has an operation.
func operations(t *testing.T, document string) func(method, path string) bool {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	known := map[*regexp.Regexp]map[string]json.RawMessage{}
	for path, item := range described.Paths {
		known[regexp.MustCompile("^"+regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "[^/]+")+"$")] = item
	}
	return func(method, path string) bool {
		for pattern, item := range known {
			if pattern.MatchString(path) && item[strings.ToLower(method)] != nil {
				return true
			}
		}
		return false
	}
}

// Expect lets the API refuse what the page asks, with a status.
func (tab *Tab) Expect(status int64) {
	tab.mutex.Lock()
	defer tab.mutex.Unlock()
	tab.expected[status] = true
}

func (tab *Tab) listen(happened any) {
	tab.mutex.Lock()
	defer tab.mutex.Unlock()
	problem := ""
	switch e := happened.(type) {
	case *network.EventRequestWillBeSent:
		problem = tab.refuse(e.Request.Method, e.Request.URL)
		if e.Type != network.ResourceTypeEventSource {
			tab.sent = append(tab.sent, e.Request.Method+" "+strings.TrimPrefix(e.Request.URL, tab.at.Origin))
		}
	case *network.EventResponseReceived:
		if status := e.Response.Status; status >= 400 && !tab.expected[status] {
			problem = fmt.Sprintf("%s was answered with %d", e.Response.URL, status)
		}
	case *log.EventEntryAdded:
		if e.Entry.Source != "network" { // the status is looked at above
			problem = fmt.Sprintf("the browser logged (%s, %s): %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			problem = "the page complained:"
			for _, arg := range e.Args {
				problem += fmt.Sprintf(" %s %s", arg.Description, arg.Value)
			}
		}
	case *runtime.EventExceptionThrown:
		problem = fmt.Sprintf("the page threw: %s", e.ExceptionDetails.Text)
	}
	if problem != "" {
		tab.problems = append(tab.problems, problem)
	}
}

// Sent returns what was asked of the server since it was last called, but for streams.
func (tab *Tab) Sent() []string {
	tab.mutex.Lock()
	defer tab.mutex.Unlock()
	sent := tab.sent
	tab.sent = nil
	return sent
}

// Hurry makes timers of a second or more, of pages that are opened from now on, run so many times as fast.
func (tab *Tab) Hurry(times int) {
	tab.t.Helper()
	tab.before(fmt.Sprintf(`for (const name of ["setTimeout", "setInterval"]) {
		const slow = window[name]
		window[name] = (what, after, ...more) => slow(what, after >= 1000 ? after / %d : after, ...more)
	}`, times))
}

// before runs a script in pages that are opened from now on, before their own.
func (tab *Tab) before(script string) {
	tab.t.Helper()
	_, err := chromedp.Call(tab.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	tab.check(err)
}

// refuse says what is wrong with a request.
func (tab *Tab) refuse(method, sent string) string {
	at, err := url.Parse(sent)
	switch {
	case err != nil:
		return err.Error()
	case at.Scheme == "data" || at.Scheme == "about":
		return ""
	case at.Scheme+"://"+at.Host != tab.at.Origin:
		return "the page asked another origin: " + sent
	case strings.HasPrefix(at.Path, "/v1/"):
		if !tab.isInAPI(method, at.Path) {
			return "the page asked what the API does not have: " + method + " " + at.Path
		}
	case method != "GET" && at.Path != "/session":
		return "the page sent " + method + " " + at.Path
	}
	return ""
}

// Go opens a page by its path.
func (tab *Tab) Go(path string) {
	tab.t.Helper()
	tab.check(chromedp.Do(tab.ctx, chromedp.Navigate(tab.at.Origin+path)))
}

// Wait waits until an expression of JavaScript is true. The time is taken here: the page's own timers may hurry.
func (tab *Tab) Wait(format string, args ...any) {
	tab.t.Helper()
	expression := fmt.Sprintf(format, args...)
	ctx, cancel := context.WithTimeout(tab.ctx, time.Minute)
	defer cancel()
	poll := chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(0))
	err := chromedp.Do(ctx, poll)
	for tries := 0; err != nil && tries < 3 && strings.Contains(err.Error(), "Cannot find context"); tries++ {
		err = chromedp.Do(ctx, poll) // the page was left while it was asked
	}
	if err != nil {
		text, _ := chromedp.Run(tab.ctx, chromedp.Evaluate[string]("location.href + ' ' + document.body.innerText"))
		tab.t.Fatalf("%s: %v; the page is %s", expression, err, text)
	}
}

// See waits until the page shows a text.
func (tab *Tab) See(text string) {
	tab.t.Helper()
	tab.Wait("document.body.innerText.includes(%q)", text)
}

// Press presses keys, as a person without a mouse does. The character comes with the key that is pressed: chromedp.KeyEvent sends it by
// itself, also when the page has prevented it, and then to what has the focus by now.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		press, release := *events[0], *events[len(events)-1]
		if len(events) > 2 { //nolint:mnd // with one for the character
			press.Type, press.Text, press.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, events[1].Text, events[1].UnmodifiedText
		}
		for _, event := range []input.DispatchKeyEventParams{press, release} {
			_, err := chromedp.Call(tab.ctx, input.DispatchKeyEvent, event)
			tab.check(err)
		}
	}
}

// Focus puts the focus on the control with a name, and checks that it is seen there.
func (tab *Tab) Focus(name string) {
	tab.t.Helper()
	tab.Wait(`(() => {
		const named = (e) => (e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText || "").trim() === %q
		const all = [...document.querySelectorAll("[role=dialog], dialog[open], body")].slice(-1)[0]
		const found = [...all.querySelectorAll("button, a, input, textarea, select, [role^=menuitem]")].
			find((e) => named(e) && e.checkVisibility())
		found?.focus()
		return !!found && document.activeElement === found
	})()`, name)
}

// Push presses Enter on the control with a name.
func (tab *Tab) Push(name string) {
	tab.t.Helper()
	tab.Focus(name)
	tab.Press("\r")
}

// Fill types into the field with a name.
func (tab *Tab) Fill(name, text string) {
	tab.t.Helper()
	tab.Focus(name)
	tab.Press(text)
}

// Evaluate is the value of an expression, a string.
func (tab *Tab) Evaluate(expression string) string {
	tab.t.Helper()
	value, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	tab.check(err)
	return value
}

// Fits checks that nothing sticks out of the page on a phone 320 and 360 pixels wide, and with all text twice as large on a desktop. What
// scrolls by itself may hold more. Pictures go to the folder of the test's artifacts.
func (tab *Tab) Fits(name string) {
	tab.t.Helper()
	for _, how := range []struct {
		name          string
		width, height int64
		enlarge       string // the text
	}{{"320", 320, 640, "1"}, {"360", 360, 740, "1"}, {"large", 1280, 800, "2"}} {
		tab.check(chromedp.Do(tab.ctx, chromedp.EmulateViewport(how.width, how.height)))
		tab.Wait("innerWidth === %d && document.getAnimations().length === 0", how.width)
		found := tab.Evaluate(fmt.Sprintf(tooWide, how.enlarge))
		tab.shoot(filepath.Join(tab.t.ArtifactDir(), name+"_"+how.name+".png"))
		if found != "" {
			tab.t.Errorf("%s, %s: %s", name, how.name, found)
		}
	}
	tab.check(chromedp.Do(tab.ctx, chromedp.EmulateViewport(1280, 800)))
	tab.Evaluate(`(document.querySelectorAll("[data-enlarged]").forEach((e) => {
		e.style.fontSize = e.style.lineHeight = ""
		delete e.dataset.enlarged
	}), "")`)
}

// tooWide enlarges text, and lists what is beyond the right edge of the window.
const tooWide = `(async () => {
	const all = [...document.querySelectorAll("body *")]
	if (%[1]s > 1) {
		const sizes = all.map((e) => [e, parseFloat(getComputedStyle(e).fontSize), parseFloat(getComputedStyle(e).lineHeight)])
		for (const [e, size, line] of sizes) {
			e.style.fontSize = size * %[1]s + "px"
			if (line) e.style.lineHeight = line * %[1]s + "px"
			e.dataset.enlarged = ""
		}
	}
	await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
	const scrolls = (e) => {
		for (; e && e !== document.body; e = e.parentElement)
			if (getComputedStyle(e).overflowX !== "visible") return true
		return false
	}
	const wide = document.documentElement.scrollWidth
	const beyond = all.filter((e) => {
		const box = e.getBoundingClientRect()
		return e.checkVisibility() && box.width > 1 && (box.right > innerWidth + 1 || box.left < -1) && !scrolls(e.parentElement)
	})
	return (wide > innerWidth ? "the page is " + wide + " wide; " : "") +
		beyond.slice(0, 3).map((e) => e.outerHTML.slice(0, 200)).join(" | ")
})()`

// Shoot takes a picture of the page, in light at 1280 by 800, into a file.
func (tab *Tab) Shoot(file string) {
	tab.t.Helper()
	tab.check(chromedp.Do(tab.ctx, chromedp.EmulateViewport(1280, 800)))
	tab.check(os.MkdirAll(filepath.Dir(file), 0o750))
	tab.shoot(file)
}

// shoot takes a picture of what is shown, into a file.
func (tab *Tab) shoot(file string) image.Image {
	tab.t.Helper()
	text, err := chromedp.Run(tab.ctx, chromedp.CaptureScreenshot())
	tab.check(err)
	tab.check(os.WriteFile(file, text, 0o600))
	picture, err := png.Decode(bytes.NewReader(text))
	tab.check(err)
	return picture
}

// axe returns the violations that axe-core finds.
func (tab *Tab) axe() string {
	tab.t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(axe))
	tab.check(err)
	script, err := io.ReadAll(reader)
	tab.check(err)
	tab.check(chromedp.Do(tab.ctx, chromedp.Evaluate[chromedp.Void](string(script)+";0")))
	// The guards of menus and dialogs pass the focus on at once: they hide from readers of screens, yet take it.
	return tab.Evaluate(`axe.run({exclude: ["[data-base-ui-focus-guard]"]},
		{runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then((r) =>
		r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")).join("\n"))`)
}

func (tab *Tab) check(err error) {
	tab.t.Helper()
	if err != nil {
		tab.t.Fatal(err)
	}
}
