package wiring_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/sqlite/sqlitetest"
)

// scrolling goes down to the last of 10,000 rows, a window and a half at a time, and tells what it saw. It gives up after ten minutes.
const scrolling = `(async () => {
	let rows = 0, slowest = 0, longest = 0, last = performance.now()
	const watch = new PerformanceObserver((list) => {
		for (const task of list.getEntries()) longest = Math.max(longest, task.duration)
	})
	watch.observe({ entryTypes: ["longtask"] })
	const until = last + 600000
	while (!document.querySelector("[data-index='9999']") && last < until) {
		scrollBy(0, 1200)
		const now = await new Promise(requestAnimationFrame)
		slowest = Math.max(slowest, now - last)
		last = now
		rows = Math.max(rows, document.querySelectorAll("[data-index]").length)
	}
	const at = [...document.querySelectorAll("[data-index]")].at(-1)?.dataset.index
	const place = { at: Number(at), onLine: navigator.onLine, top: scrollY, high: document.body.scrollHeight }
	return JSON.stringify({ rows, slowest, longest, ...place })
})()`

// opening presses a button, or does so until it has an effect, and tells after how many milliseconds a page shows so many of something.
const opening = `(async () => {
	const began = performance.now()
	const shown = () => document.querySelectorAll(%[2]q).length
	const press = () => [...document.querySelectorAll("button, a")].find((e) => e.innerText === %[1]q && !e.disabled)?.click()
	for (press(); shown() < %[3]d; await new Promise(requestAnimationFrame)) if (%[4]t) press()
	await new Promise(requestAnimationFrame)
	return String(performance.now() - began)
})()`

func TestMuchWorkIsShownInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, ""))
	first := s.file(t, acme, "")
	s.copies(t, first, 9_999)
	for n := range 500 {
		s.Post(first.path()+"/comments", fmt.Sprintf(`{"body":"Said %d."}`, n)).Is(t, 200, "")
	}
	tab := s.enter(t, string(rootToken), "/c/acme/issues")
	tab.See("Hay")
	tab.Evaluate(`(dispatchEvent(new Event("offline")), "")`) // the internet is away, not the server
	var saw struct {
		Rows, Slowest, Longest, At, Top, High float64
		OnLine                                bool
	}
	must(t, json.Unmarshal([]byte(tab.Evaluate(scrolling)), &saw))
	t.Logf("a list of 10,000 issues: %.0f rows in the document, slowest frame %.0f ms, longest task %.0f ms",
		saw.Rows, saw.Slowest, saw.Longest)
	if saw.At != 9_999 || saw.Rows > 60 {
		t.Errorf("%+v", saw)
	}

	// Cards in all columns; the store keeps no rows of these states by themselves, but shows them.
	_, err := s.database(t).ExecContext(t.Context(), `UPDATE issues SET status = CASE number % 8 WHEN 0 THEN 'queued' WHEN 1 THEN 'assigned'
		WHEN 2 THEN 'running' WHEN 3 THEN 'review' WHEN 4 THEN 'handoff' WHEN 5 THEN 'done' WHEN 6 THEN 'failed' ELSE 'cancelled' END`)
	must(t, err)
	tab.Evaluate(`(scrollTo(0, 0), "")`)
	board := tab.Evaluate(fmt.Sprintf(opening, "Board", "[draggable=true]", 1000, false))
	tab.Go("/c/acme/goals")
	tab.See("No goals yet")
	tab.Go("/c/acme/issues/1")
	tab.See("Said 499")
	thread := tab.Evaluate(`String(performance.now())`)
	all := tab.Evaluate(fmt.Sprintf(opening, "Show more", "main ul > li", 501, true))
	for what, ms := range map[string]string{"a board of 1,000 cards": board, "a thread": thread, "its 500 comments": all} {
		took, err := time.ParseDuration(ms + "ms")
		must(t, err)
		t.Logf("%s took %v", what, took.Round(time.Millisecond))
	}
}

func TestAnIdlePageIsLiveAndAsksNothingInABrowser(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		clock := newClock()
		clock.streamPace = rest.StreamPace{Quiet: time.Nanosecond, Patience: time.Minute} // a comment every second
		s := start(t, clock, environ...)
		others := []*instance{s}
		if len(environ) > 1 { // the store may have more servers
			others = append(others, start(t, clock, environ...))
		}
		acme := s.create(t, draft(t, ""))
		of := s.file(t, acme, "")
		tab := s.enter(t, string(rootToken), "/c/acme")
		tab.See("Nothing waits for you")
		tab.Hurry(30) // two seconds are a minute
		for page, shown := range map[string]string{"": "Nothing waits for you", "/issues": "Write",
			"/issues/1": "Send the comment", "/activity": "issue.created"} {
			tab.Go("/c/acme" + page)
			tab.See(shown)
			quiet := func() bool { time.Sleep(500 * time.Millisecond); return len(tab.Sent()) == 0 }
			await(t, "an end of requests", quiet)
			time.Sleep(2 * time.Second)
			if sent := tab.Sent(); len(sent) > 0 {
				t.Errorf("the idle page %s asked %v", page, sent)
			}
		}
		tab.Go("/c/acme/issues/1")
		tab.See("issue.created")
		for n, from := range others {
			began := time.Now()
			from.Post(of.path()+"/comments", fmt.Sprintf(`{"body":"Said at server %d."}`, n)).Is(t, 200, "")
			tab.See(fmt.Sprintf("Said at server %d.", n))
			t.Logf("a comment made at server %d is on the page after %v", n, time.Since(began).Round(time.Millisecond))
		}
	})
}

// line is the way from a browser to the dashboard of a server, at an address that stays when the server is another one.
type line struct {
	url string

	to     atomic.Pointer[url.URL]
	refuse atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool] // answers in the place of the server
	lose   atomic.Bool                                                       // the next answer to a POST
}

func newLine(t *testing.T) *line {
	t.Helper()
	l := &line{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(l.to.Load())
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(answer *http.Response) error {
			if answer.Request.Method == http.MethodPost && l.lose.CompareAndSwap(true, false) {
				return http.ErrAbortHandler
			}
			return nil
		},
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse := l.refuse.Load(); refuse == nil || !(*refuse)(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	l.url = server.URL
	return l
}

func (l *line) leadsTo(t *testing.T, s *instance) {
	t.Helper()
	to, err := url.Parse(s.pagesURL)
	must(t, err)
	l.to.Store(to)
}

// turnsAway answers the next requests of a method with a status, so many times.
func (l *line) turnsAway(method string, status int, times int64, body string) {
	var count atomic.Int64
	refuse := func(w http.ResponseWriter, r *http.Request) bool {
		isMeant := r.Method == method && strings.HasPrefix(r.URL.Path, "/v1/") && !strings.HasSuffix(r.URL.Path, "/stream")
		if !isMeant || count.Add(1) > times {
			return false
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
		return true
	}
	l.refuse.Store(&refuse)
}

// Whatever the server or the way to it does while people work: what they typed is there, and is done once.
func TestPeopleLoseNothingOnBadDaysInABrowser(t *testing.T) {
	t.Parallel()
	clock := newClock()
	clock.streamPace = rest.StreamPace{Quiet: time.Nanosecond, Patience: time.Minute}
	s := start(t, clock, dataDir+sqlitetest.Dir(t))
	acme := s.create(t, draft(t, ""))
	of := s.file(t, acme, "")
	l := newLine(t)
	l.leadsTo(t, s)
	tab := s.browse(t, l.url)
	for _, status := range []int64{401, 412, 429, 502, 503} {
		tab.Expect(status)
	}
	tab.Go("/c/acme/issues/1")
	tab.Fill("API token", string(rootToken))
	tab.Press("\r")
	const again = "It is sent again by itself."
	said := func(text string) {
		t.Helper()
		tab.Wait(`[...document.querySelectorAll("li")].some((e) => e.innerText.includes(%q)) && !document.querySelector("textarea").value`,
			text)
		all := resttest.Data[[]apiComment](t, s.Get(of.path()+"/comments?limit=100"))
		if n := len(slices.DeleteFunc(all, func(c apiComment) bool { return c.Body != text })); n != 1 {
			t.Errorf("%q was said %d times", text, n)
		}
	}

	tab.Fill("Comment", "While the server was away.")
	must(t, s.stop())
	tab.Push("Send the comment")
	tab.See(again)
	tab.See("Not live, trying again")
	tab.Look("server_away")
	s = s.again(t)
	l.leadsTo(t, s)
	said("While the server was away.")
	tab.Wait(`!document.body.innerText.includes("Not live")`)

	tab.Fill("Comment", "The answer was lost.")
	l.lose.Store(true)
	tab.Push("Send the comment")
	said("The answer was lost.")

	for status, body := range map[int]string{
		429: `{"error":{"code":"rate_limited","message":"Too many requests."}}`, 503: `<h1>Busy</h1>`,
	} {
		text := fmt.Sprintf("It was turned away with %d.", status)
		tab.Fill("Comment", text)
		l.turnsAway(http.MethodPost, status, 2, body)
		tab.Push("Send the comment")
		tab.See(again)
		said(text)
		l.turnsAway(http.MethodGet, status, 3, body)
		tab.Go("/c/acme/issues/1")
		tab.See(text)
	}

	// A page that was never opened comes when the server does, and what was typed on the one before is still there.
	tab.Fill("Comment", "Kept.")
	must(t, s.stop())
	tab.Push("Goals")
	tab.See("Not live, trying again")
	s = s.again(t)
	l.leadsTo(t, s)
	tab.See("No goals yet")
	tab.Evaluate(`history.back() ?? ""`)
	tab.Wait(`document.querySelector("textarea")?.value === "Kept."`)
	tab.Push("Send the comment")
	said("Kept.")

	// Somebody else changes what a move is about.
	tab.Push("Cancel issue")
	tab.Fill("Reason (may be left out)", "Nobody reads it.")
	s.Patch(of.path(), `{"title":"Write about rockets"}`).Is(t, 200, "")
	tab.Push("Cancel issue")
	tab.See("This changed meanwhile")
	tab.See("Write about rockets")
	tab.Look("move_conflict")
	tab.Wait(`document.querySelector("[role=dialog] textarea").value === "Nobody reads it."`)
	tab.Push("Cancel issue")
	tab.Wait(`!document.querySelector("[role=dialog]")`)
	if got := s.look(t, of); got.Status != "cancelled" {
		t.Errorf("%+v", got)
	}
	said("Nobody reads it.")
}

// The token with which somebody signed in ends while a page is open.
func TestPeopleWhoseTokensEndLoseNothingInABrowser(t *testing.T) {
	t.Parallel()
	clock := newClock()
	clock.streamPace = rest.StreamPace{Quiet: time.Nanosecond, Patience: time.Minute}
	s := start(t, clock, dataDir+sqlitetest.Dir(t))
	acme := s.create(t, draft(t, ""))
	of := s.file(t, acme, "")
	revoked, rotated := s.issue(t, "read", "write"), s.issue(t, "read", "write")
	ends := clock.Now().Add(time.Hour).Format(time.RFC3339)
	expires := resttest.Data[apiToken](t, s.Post("/v1/tokens", `{"name":"short","scopes":["read","write"],"expiresAt":"`+ends+`"}`))
	tab := s.enter(t, revoked.Token, "/c/acme/issues/1")
	again := func(token string) {
		t.Helper()
		tab.See("You are signed out")
		tab.Fill("API token", token)
		tab.Press("\r")
		tab.Wait(`!document.querySelector("dialog")`)
	}

	tab.Fill("Comment", "Typed before.")
	s.Delete("/v1/tokens/"+revoked.ID).Is(t, 200, "")
	tab.See("You are signed out")
	tab.Look("signed_out")
	again(rotated.Token)
	tab.Wait(`document.querySelector("textarea").value === "Typed before."`)

	// A dialog stays open too, and Escape reaches it only when it is in front.
	tab.Push("Cancel issue")
	tab.Fill("Reason (may be left out)", "Nobody reads it.")
	value := resttest.Data[apiToken](t, s.Post("/v1/tokens/"+rotated.ID+"/rotate", "")).Token
	tab.See("You are signed out")
	tab.Press("\u001b")
	again(value)
	tab.Wait(`document.querySelector("[role=dialog] textarea").value === "Nobody reads it."`)
	tab.Focus("Cancel")
	tab.Press("\r")
	tab.Wait(`!document.querySelector("[role=dialog]")`)

	s.Post("/v1/tokens/"+rotated.ID+"/rotate", "").Is(t, 200, "")
	again(expires.Token)
	clock.advance(2 * time.Hour)
	again(string(rootToken))
	s.Post(of.path()+"/comments", `{"body":"It is live again."}`).Is(t, 200, "")
	tab.See("It is live again.")
	tab.Push("Send the comment")
	tab.Wait(`[...document.querySelectorAll("li")].some((e) => e.innerText.includes("Typed before."))`)

	// A stranger who signs in is not shown what was there.
	stranger := s.with(t, "admin")
	other := resttest.Data[company](t, stranger.Post("/v1/companies", named("other")))
	limited := s.issue(t, "company:"+other.ID+":read")
	tab.Push("Account")
	tab.Wait(`document.activeElement.closest("[role=menu]") && !!document.querySelector("[role^=menuitem][data-highlighted]")`)
	tab.Push("Sign out")
	tab.See("Paste a token")
	tab.Fill("API token", limited.Token)
	tab.Press("\r")
	tab.Expect(404)
	tab.Go("/c/acme/issues/1")
	tab.See("There is no such page")
}

// What strangers write is shown, and does nothing.
func TestHostileTextsAreOnlyShownInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, of, all := s.workers(t, 1)
	ada := all[0]
	const tag = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>`
	const link = ` [y](javascript:window.hurt=1) ![p](https://example.com/p.png) [z](//example.com) <javascript:window.hurt=1>`
	const override = "\u202eright to left\u202c"
	const letters = "\u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f692\U0001f1e9\U0001f1ea Z\u0351\u036b\u0343"
	body := func(members map[string]any) string {
		text, err := json.Marshal(members)
		must(t, err)
		return string(text)
	}
	title := tag + letters + strings.Repeat("W", 60)
	texts := []string{tag + link + letters + override, strings.Repeat("word ", 20_000)[:50_000], strings.Repeat("x", 10_000),
		strings.Repeat(">", 10_000), strings.Repeat("**a_b_", 1_600), strings.Repeat("[a](", 2_500), strings.Repeat("- ", 5_000)}
	made := s.In(t).Post(acme.path()+"/issues", body(map[string]any{"title": title, "description": texts[0], "labels": []string{letters}}))
	made.Is(t, 201, "")
	issue := resttest.Data[apiIssue](t, made)
	for _, text := range texts {
		s.Post(issue.path()+"/comments", body(map[string]any{"body": text[:min(len(text), 10_000)]})).Is(t, 200, "")
	}
	s.Patch(ada.path(), body(map[string]any{"name": title, "role": tag})).Is(t, 200, "")
	s.Post(acme.path()+"/goals", body(map[string]any{"title": title, "description": texts[0]})).Is(t, 201, "")
	s.Patch(of.path(), body(map[string]any{"name": tag + strings.Repeat("W", 60)})).Is(t, 200, "")
	on := ada.claim(t, "")
	wide := "[" + strings.Repeat("1,", 32_000) + "2]"
	deep := strings.Repeat("[", 30) + strings.Repeat("]", 30)
	ada.state(t, on, "checkpoint", `"note":"Wide","data":`+wide)
	ada.state(t, on, "checkpoint", `"note":"Deep","data":`+deep)
	s.clock.advance(time.Second)
	ada.asks(t, on, `,"reasoning":`+string(mustJSON(t, texts[0]))+`,"expiresIn":3600`)

	tab := s.enter(t, string(rootToken), "/c/acme/issues")
	for _, page := range []struct{ name, path, shown string }{
		{"issues", "/issues", "onerror"}, {"issue", "/issues/1", "onerror"}, {"runs", "/issues/1?tab=runs", "Attempt 1"},
		{"activity", "/activity", "issue.commented"}, {"inbox", "/inbox", "onerror"}, {"agents", "/agents", "onerror"},
		{"organisation", "/agents?view=org", "onerror"}, {"agent", "/agents/" + ada.ID, "onerror"}, {"goals", "/goals", "onerror"},
	} {
		tab.Go("/c/acme" + page.path)
		tab.See(page.shown)
		if page.name == "runs" {
			tab.Push("Checkpoints (2)")
			tab.See("Wide")
		}
		tab.Wait(`!window.hurt && ![...document.images].some((e) => !e.src.endsWith("/icon.svg")) &&
			![...document.links].some((e) => !/^https?:$/.test(e.protocol))`)
		tab.Fits("hostile_" + page.name)
	}
	tab.Go("/c/acme/issues/1")
	tab.See("onerror")
	tab.Look("hostile_issue")
}

func mustJSON(t *testing.T, of any) []byte {
	t.Helper()
	text, err := json.Marshal(of)
	must(t, err)
	return text
}

// A company with more people, longer names and more work than anybody looks at.
func TestACrowdedCompanyFitsAnyWindowInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, `"name":"`+strings.Repeat("Company ", 12)+`"`))
	long := func(word string) string { return strings.TrimSpace(strings.Repeat(word+" ", 200/(len(word)+1))) }
	whole := strings.Repeat("W", 200)
	var hired []apiAgent
	for n := range 4 {
		of := s.found(t, acme, fmt.Sprintf(`{"name":"%s %d","headcount":20}`, whole[:90], n))
		for m := range 15 {
			name := long("Ada")
			if m%2 == 0 {
				name = whole
			}
			answer := s.In(t).Post(acme.path()+"/agents", fmt.Sprintf(`{"teamId":%q,"name":%q,"role":%q,"model":%q}`,
				of.ID, name, whole[:90], whole[:90]))
			answer.Is(t, 201, "")
			hired = append(hired, resttest.Data[apiAgent](t, answer))
		}
	}
	goal := resttest.Data[apiGoal](t, s.Post(acme.path()+"/goals", `{"title":"`+whole+`","description":"`+whole+
		`","budget":{"usd":1000000}}`))
	project := s.plans(t, acme, `,"description":"`+whole+`","goalId":"`+goal.ID+`"`)
	flow := s.designs(t, acme, "", "none", "none")
	s.keeps(t, acme, strings.Repeat("secret-", 8)+"x", "value of one")
	s.issue(t, "read")
	first := resttest.Data[apiIssue](t, s.Post(acme.path()+"/issues", `{"title":"`+whole+`","description":"`+whole+
		`","labels":["`+whole[:50]+`"],"assignedAgentId":"`+hired[0].ID+`","projectId":"`+project.ID+`"}`))
	s.copies(t, first, 1_999)
	s.file(t, acme, `,"description":"`+whole+`","requiresReview":true,"assignedAgentId":"`+hired[1].ID+`"`)
	eve := worker{s.agent(t, hired[1].Token), hired[1], s}
	eve.ends(t, eve.claim(t, ""), "complete", `"result":{"said":"`+whole+`"}`)
	rejects := importsFile(t, s.Client, "kind=leads&name="+url.QueryEscape(whole[:190]), csvFile, "name,website\n,"+whole+"\n")
	tab := s.enter(t, string(rootToken), "/")
	for _, page := range []struct{ name, path, shown string }{
		{"companies", "/", "Company Company"}, {"inboxes", "/inbox", "#"}, {"tokens", "/instance/tokens", "test"},
		{"webhooks", "/instance/webhooks", "No webhooks"}, {"partners", "/instance/partners", "No partners"},
		{"leads", "/instance/leads", "WWW"},
		{"import", "/instance/leads?open=" + rejects.ID, "Line 2"},
		{"inbox", "/c/acme/inbox", "#"}, {"overview", "/c/acme", "in flight"}, {"issues", "/c/acme/issues", "WWW"},
		{"selected", "/c/acme/issues?status=assigned", "Hay"},
		{"board", "/c/acme/issues?view=board", "Hay"}, {"issue", fmt.Sprintf("/c/acme/issues/%d", first.Number), "issue.created"},
		{"agents", "/c/acme/agents", "WWW"}, {"organisation", "/c/acme/agents?view=org", "WWW"},
		{"agent", "/c/acme/agents/" + hired[0].ID, "Last runs"},
		{"agent_settings", "/c/acme/agents/" + hired[0].ID + "?tab=settings", "Adapter settings"},
		{"costs", "/c/acme/costs", "$0.00"}, {"goals", "/c/acme/goals", "WWW"}, {"goal", "/c/acme/goals?open=" + goal.ID, "WWW"},
		{"projects", "/c/acme/projects", "0 done"}, {"project", "/c/acme/projects?open=" + project.ID, "WWW"},
		{"workflow", "/c/acme/workflows?open=" + flow.ID, "No issue runs it."}, {"secrets", "/c/acme/secrets", "secret-"},
		{"activity", "/c/acme/activity", "issue.created"}, {"settings", "/c/acme/settings", "Company settings"},
		{"new_issue", "/c/acme/issues?new=yes", "File the issue"},
	} {
		tab.Go(page.path)
		tab.See(page.shown)
		if page.name == "board" {
			tab.Wait(`[...document.querySelectorAll("section section")].every((column) => column.offsetWidth === 256)`)
		}
		tab.Fits("crowded_" + page.name)
	}
}

func TestKeysAndSearchLeadToWhatIsMeantInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, ""))
	of := s.found(t, acme, `{"name":"Sales","headcount":250}`)
	for range 220 { // more than a page of the API has
		s.hire(t, of, "")
		s.clock.advance(time.Second)
	}
	last := s.hire(t, of, "")
	s.Patch(last.path(), `{"name":"Zora"}`).Is(t, 200, "")
	s.file(t, acme, "")
	tab := s.enter(t, string(rootToken), "/c/acme/issues/1")
	tab.See("Send the comment")
	tab.Press("e")
	tab.Wait(`document.querySelector("[role=dialog]")?.innerText.includes("Blocked by")`)
	tab.Press("\u001b")
	tab.Wait(`!document.querySelector("[role=dialog]")`)
	tab.Push("Search")
	tab.Wait(`document.activeElement.matches("[cmdk-input]")`)
	tab.Press("zor")
	tab.See("Zora")
	tab.Press("\r")
	tab.Wait("location.pathname.endsWith(%q)", "/agents/"+last.ID)

	// What arrives above other matches has the mark, until the person moves it.
	const marked = `document.querySelector("[cmdk-item][data-selected=true]")?.innerText.trim()`
	s.Patch(last.path(), `{"name":"Adaline Marsh"}`).Is(t, 200, "")
	search := func(text string) {
		t.Helper()
		tab.Go("/c/acme/issues/1")
		tab.See("Send the comment")
		tab.Push("Search")
		tab.Wait(`document.activeElement.matches("[cmdk-input]")`)
		tab.Press(text)
	}
	search("adal")
	tab.Wait(marked+" === %q", "Adaline Marsh Agents")
	search("se") // what is known here by its beginning comes first
	tab.Wait(marked+" === %q", "Secrets")
	tab.Press(arrowDown)
	tab.Wait(marked+" === %q", "Settings")
	search("ad")
	tab.Wait(`document.querySelectorAll("[cmdk-item]").length > 10`) // the agents have come, above Leads
	tab.Wait(marked + `.endsWith("Agents")`)
	tab.Press("\r")
	tab.Wait(`location.pathname.includes("/agents/")`)
}
