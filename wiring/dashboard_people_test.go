package wiring_test

import (
	"strings"
	"testing"

	pages "holdco/adapters/dashboard/browsertest"
	"holdco/adapters/http/rest/resttest"
)

// browse opens a browser for the dashboard of the server, whose clock it has, at an origin.
func (s *instance) browse(t *testing.T, origin string) *pages.Tab {
	t.Helper()
	return pages.Open(t, pages.Site{
		Origin: origin, Document: "../testdata/golden/openapi.json", Now: s.clock.Now(), Looks: "../testdata/dashboard/looks",
		Update: *update,
	})
}

// enter opens a page of the dashboard for who signs in with a token.
func (s *instance) enter(t *testing.T, token, page string) *pages.Tab {
	t.Helper()
	tab := s.browse(t, s.pagesURL)
	tab.Expect(401)
	tab.Go(page)
	tab.See("API token")
	tab.Fill("API token", token)
	tab.Press("\r")
	tab.Wait(`location.pathname !== "/login"`)
	return tab
}

// pick opens the menu of something with an arrow key, and takes one of its actions by its place, the first of which is 0. It presses no
// Enter: of that a slow page gets the half that comes later in what has just opened.
func pick(tab *pages.Tab, of string, place int) {
	tab.Wait(`!document.querySelector(".dialog")`)
	tab.Focus("Actions for " + of)
	tab.Press(arrowDown)
	for at := range place + 1 {
		if at > 0 {
			tab.Press(arrowDown)
		}
		tab.Wait(`[...document.querySelectorAll("[role=menuitem]")].indexOf(document.activeElement) === %d`, at)
	}
	tab.Evaluate(`document.activeElement.click() ?? ""`)
}

const arrowDown = "\u0301" // as chromedp names the key

// retype replaces what the field with a name holds.
func retype(tab *pages.Tab, name, text string) {
	tab.Focus(name)
	tab.Evaluate(`document.activeElement.select() ?? ""`)
	tab.Press(text)
}

func TestPeopleHireAndChangeAgentsByKeyboardInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, ""))
	tab := s.enter(t, string(rootToken), "/c/acme/agents")
	tab.See("No teams yet")
	tab.Push("New team")
	tab.Fill("Name", "Research")
	retype(tab, "Places", "two")
	tab.Press("\r")
	tab.See("This is not a number.")
	retype(tab, "Places", "2")
	tab.Press("\r")
	tab.See("No agents yet")
	tab.Look("agents_empty")

	tab.Push("Hire an agent")
	tab.Press("Ada")
	tab.Fill("Role", "Engineer")
	tab.Fill("Model", "claude-sonnet-4-5")
	tab.Fill("US dollars a day", "20")
	tab.Look("hire")
	tab.Push("Hire an agent")
	tab.See("Copy the agent's token now")
	token := tab.Evaluate(`document.querySelector(".once input").value`)
	s.agent(t, token).In(t).Get("/gateway/v1/me").Is(t, 200, "")
	tab.Push("Close")
	tab.See("claude-sonnet-4-5")
	tab.Look("agents")
	hired := resttest.Data[[]apiAgent](t, s.Get(acme.path()+"/agents"))
	if len(hired) != 1 || hired[0].Name != "Ada" {
		t.Fatalf("%+v", hired)
	}
	ada := hired[0]

	tab.Go("/c/acme/agents?status=retired")
	tab.See("Nothing matches")
	tab.Push("Clear filters")
	tab.See("Ada")
	tab.Push("Organisation")
	tab.See("1 of 2 places filled")
	tab.See("1 empty place")
	tab.Look("organisation")

	tab.Push("Ada")
	tab.See("It works on nothing right now.")
	tab.See("Spend per day, last 30 days")
	tab.Push("Pause")
	tab.See("Pause Ada?")
	tab.Push("Pause")
	tab.See("It is paused and gets no new work.")
	tab.Go("/c/acme/agents/" + ada.ID + "?tab=settings")
	tab.Focus("Adapter settings")
	tab.Evaluate(`document.activeElement.select() ?? ""`)
	tab.Press("{")
	tab.Push("Save")
	tab.See("This is not JSON")
	retype(tab, "Adapter settings", `{"command": 5}`)
	tab.Expect(422)
	tab.Push("Save")
	tab.See("adapterConfig.command")
	retype(tab, "Instructions", "Be *brief*. Run the tests first.")
	tab.Look("agent_instructions")
	retype(tab, "Adapter settings", `{"env": {"KEY": {"secret": "anthropic"}}}`)
	tab.Push("Save")
	tab.See("Saved")
	tab.Look("agent_settings")

	// Somebody else is quicker: what was typed stays, both versions are shown, and mine can be saved over theirs.
	retype(tab, "Role", "Editor")
	s.Patch(ada.path(), `{"role":"Writer"}`).Is(t, 200, "")
	tab.See("Writer")
	tab.Expect(412)
	tab.Push("Save")
	tab.See("Somebody else changed this meanwhile")
	tab.Look("conflict")
	tab.Push("Save mine")
	tab.See("Saved")
	now := resttest.Data[apiAgent](t, s.Get(ada.path()))
	if now.Role != "Editor" || now.Status != "paused" || !strings.Contains(string(now.AdapterConfig), `"anthropic"`) ||
		now.Instructions != "Be *brief*. Run the tests first." {
		t.Errorf("%+v", now)
	}

	tab.Go("/c/acme/agents/" + ada.ID)
	tab.See("It has asked for nothing.")
	tab.Wait("document.title.startsWith('Ada · ')")
	tab.Look("agent")
	pick(tab, "Ada", 1)
	tab.See("Retire Ada for good?")
	tab.Push("Retire")
	tab.See("Retired")

	tab.Expect(404)
	tab.Go("/c/acme/agents/agt_01j5ze2c4rfkvadq1c7w3n5x8t")
	tab.See("There is no such agent")
}

func TestPeopleSeeWhatACompanyCostsInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	p := s.pays(t)
	s.Patch(p.team.path(), `{"budget":{"usd":50}}`).Is(t, 200, "")
	tab := s.enter(t, string(rootToken), "/c/acme/costs")
	tab.See("Expected at the end")
	tab.See("$4.50 of $90.00")
	tab.See("Spend per day")
	tab.Look("costs")

	pick(tab, "Sales", 0)
	tab.See("Top up Sales")
	tab.Fill("US dollars", "1000")
	tab.Expect(422)
	tab.Press("\r")
	tab.See("reserve_exhausted")
	retype(tab, "US dollars", "5")
	tab.Press("\r")
	tab.See("$4.50 of $55.00")

	pick(tab, "Sales", 1)
	tab.See("Budget of Sales")
	retype(tab, "US dollars, a month", "40")
	tab.Look("budget")
	tab.Push("Save")
	tab.See("$4.50 of $45.00")

	tab.Go("/c/acme/costs?by=entries&since=today")
	tab.See("Tools")
	tab.Look("entries")

	tab.Go("/c/acme/issues/1?tab=costs")
	tab.See("Models · tools · services")
	tab.Look("issue_costs")
	tab.Go("/c/acme/costs?by=entries&since=today")
	tab.See("Tools")
	entry := s.entries(t, p.company, "&kind=llm")[0]
	pick(tab, entry.ID, 0)
	tab.See("Adjust this entry")
	tab.Fill("US dollars to add; less than 0 takes away", "-0.5")
	tab.Fill("Reason", "Credit")
	tab.Press("\r")
	tab.See("Correction")
	if total := s.costsOf(t, p.company, "").Total.Usd; total != "4" {
		t.Errorf("%s", total)
	}
	tab.Push("Agent")
	tab.Wait(`document.querySelectorAll("section:last-of-type .table tbody tr").length === 2`)
	const csv = `fetch([...document.links].find((a) => a.innerText === "CSV").href).then((r) => r.text())`
	if to := tab.Evaluate(csv); !strings.Contains(to, "Credit") {
		t.Errorf("%s", to)
	}
}

func TestPeoplePlanByKeyboardInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, ""))
	s.found(t, acme, `{"name":"Sales","headcount":1}`)
	tab := s.enter(t, string(rootToken), "/c/acme/goals")
	tab.See("No goals yet")
	tab.Look("goals_empty")
	tab.Push("New goal")
	tab.Press("Win the market")
	tab.Fill("Budget in US dollars, for all time", "500")
	tab.Press("\r")
	tab.See("$0.00 of $500.00")
	goal := resttest.Data[[]apiGoal](t, s.Get(acme.path()+"/goals"))[0]

	tab.Go("/c/acme/projects")
	tab.See("No projects yet")
	tab.Push("New project")
	tab.Press("Launch")
	tab.Press("\r")
	tab.See("No issues yet")
	project := resttest.Data[[]apiProject](t, s.Get(acme.path()+"/projects"))[0]
	s.Patch(project.path(), `{"goalId":"`+goal.ID+`"}`).Is(t, 200, "")
	s.file(t, acme, inProject(project))
	tab.Go("/c/acme/projects")
	tab.See("0 done, 0 in flight, 1 queued")
	tab.Look("projects")
	tab.Push("Launch")
	tab.Wait(`!!document.querySelector("[role=dialog] .table tbody tr")`)
	tab.Look("project")
	pick(tab, "Launch", 1)
	tab.See("It has 1 open issue.")
	tab.Expect(409)
	tab.Push("Archive")
	tab.See("project_not_empty")
	tab.Focus("Cancel its open issues, with all below them")
	tab.Press(" ")
	tab.Push("Archive")
	tab.Wait(`document.querySelector("[role=dialog] .pill")?.innerText === "Archived"`)

	tab.Go("/c/acme/goals?open=" + goal.ID)
	tab.See("Launch")
	tab.Look("goal")
	pick(tab, "Win the market", 0)
	retype(tab, "Description", "All of it")
	tab.Push("Save")
	tab.Wait(`document.querySelector("[role=dialog]").innerText.includes("All of it") && !document.querySelector("[role=dialog] form")`)
	pick(tab, "Win the market", 1)
	tab.See("Close this goal as achieved?")
	tab.Push("Close as achieved")
	tab.Wait(`document.querySelector("[role=dialog] .pill")?.innerText === "Achieved"`)
}

func TestPeopleDesignWorkflowsByKeyboardInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, ""))
	tab := s.enter(t, string(rootToken), "/c/acme/workflows")
	tab.See("No workflows yet")
	tab.Push("New workflow")
	tab.Press("Newsletter")
	tab.Wait(`document.querySelectorAll("[role=dialog] ol > li").length === 1`)
	tab.Evaluate(`document.querySelector("[name='steps.0.title']").focus() ?? ""`)
	tab.Press("Write")
	tab.Push("Add a step")
	tab.Evaluate(`document.querySelector("[name='steps.1.title']").focus() ?? ""`)
	tab.Press("Send")
	tab.Push("Move step 2 up")
	tab.Look("new_workflow")
	tab.Push("New workflow")
	tab.Wait(`document.querySelector(".table")?.innerText.includes("Newsletter")`)
	flow := resttest.Data[[]apiWorkflow](t, s.Get(acme.path()+"/workflows"))[0]
	if len(flow.Steps) != 2 || flow.Steps[0].Title != "Send" || flow.Steps[1].Title != "Write" {
		t.Fatalf("%+v", flow)
	}
	tab.Push("Newsletter")
	tab.See("No issue runs it.")
	pick(tab, "Newsletter", 0)
	tab.See("Start an issue with Newsletter")
	tab.Fill("Title", "Edition of May")
	tab.Press("\r")
	tab.See("1. Send")
	tab.Look("workflow")
	pick(tab, "Newsletter", 1)
	tab.See("What you change becomes version 2.")
	tab.Push("Remove step 2")
	tab.Wait(`document.activeElement.innerText === "Add a step"`) // the focus is not lost with the button
	tab.Push("Save")
	tab.Wait(`!document.querySelector("[role=dialog] form")`)
	if now := resttest.Data[[]apiWorkflow](t, s.Get(acme.path()+"/workflows"))[0]; now.Version != 2 || len(now.Steps) != 1 {
		t.Errorf("%+v", now)
	}
	tab.Expect(409)
	pick(tab, "Newsletter", 2)
	tab.Push("Delete")
	tab.See("workflow_in_use")

	tab.Go("/c/acme/secrets")
	tab.See("No secrets yet")
	tab.Look("secrets_empty")
	s.keeps(t, acme, "anthropic", "value of one")
	of := s.found(t, acme, `{"name":"Sales","headcount":1}`)
	s.hire(t, of, `,"adapter":"process","adapterConfig":{"command":["true"],"env":{"KEY":{"secret":"anthropic"}}}`)
	tab.Go("/c/acme/secrets")
	tab.See("Ada")
	tab.Look("secrets")
	pick(tab, "anthropic", 0)
	tab.Wait(`document.querySelector("[role=dialog] .once input")?.value === "holdco secret rotate acme anthropic"`)
}

func TestPeopleMakeTokensOfOneCompanyInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, ""))
	tab := s.enter(t, string(rootToken), "/instance/tokens")
	tab.Push("New token")
	tab.Fill("Name", "reader")
	tab.Fill("Or only in one company", acme.Name[:1])
	tab.Focus("read Read everything in it")
	tab.Press(" ")
	tab.Look("new_token_of_company")
	tab.Push("New token")
	tab.See("Copy it now")
	value := tab.Evaluate(`document.querySelector(".once input").value`)
	s.As(value).In(t).Get(acme.path()).Is(t, 200, "")
	s.As(value).In(t).Get("/v1/tokens").Is(t, 403, "insufficient_scope")
	tab.Push("Close")
	tab.See("read in " + acme.Name)
	tab.Wait("document.title === %q", "API tokens · Holdco")
}

// Who may only read is shown no action, in no page; what fails says why, and can be tried again.
func TestPeopleAreShownOnlyWhatTheyMayDoInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	p := s.pays(t)
	goal := s.aims(t, p.company, "Win")
	s.designs(t, p.company, "", "none")
	tab := s.enter(t, s.issue(t, "read").Token, "/c/acme/agents?view=org")
	for page, shown := range map[string]string{
		"/agents?view=org": "2 of 2 places filled", "/agents": "process", "/agents/" + p.by[0].ID: "Last runs",
		"/agents/" + p.by[0].ID + "?tab=settings": "Adapter settings",
		"/costs": "$4.50 of $90.00", "/settings": "Your token may read this",
		"/goals?open=" + goal.ID: "No project serves it yet.", "/projects": "No projects yet", "/workflows": "Newsletter",
	} {
		tab.Go("/c/acme" + page)
		tab.See(shown)
		if found := tab.Evaluate(`[...document.querySelectorAll("main button, [role=dialog] button")].
				map((b) => b.ariaLabel || b.innerText).filter((b) => !/^(Close|Clear filters|Show all .*)$/.test(b)).join()`); found != "" {
			t.Errorf("%s has %s", page, found)
		}
	}
	tab.Go("/")
	tab.See("$4.50 of $90.00 a month")
	tab.Expect(403)
	for page, shown := range map[string]string{
		"tokens": "Tokens let programs", "webhooks": "Holdco sends every event", "partners": "A partner reads leads",
	} {
		tab.Go("/instance/" + page)
		tab.See(shown)
		tab.See("Your token does not have the scope admin.")
		if found := tab.Evaluate(`String(document.querySelectorAll("main .button.primary").length)`); found != "0" {
			t.Errorf("%s offers something", page)
		}
	}
	tab.Go("/c/acme/costs?since=nonsense&by=entries")
	tab.See("$4.50 of $90.00")
	tab.Evaluate(`(window.asks = fetch, window.fetch = () => Promise.reject(new TypeError("cut")), "")`)
	tab.Push("Goals")
	tab.See("The server does not answer.")
	tab.See("unreachable")
	tab.Evaluate(`(window.fetch = window.asks, "")`)
	tab.Push("Try again")
	tab.See("Win")
}

func TestPeopleReleaseTheHoldOfAnAgentInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, _, all := s.workers(t, 1)
	ada := all[0]
	s.file(t, acme, "")
	ada.ends(t, ada.claim(t, ""), "release", `"error":{"code":"authentication_failed","message":"The key has expired."}`)
	tab := s.enter(t, string(rootToken), "/c/"+acme.Slug)
	tab.See("is on hold after failures")
	tab.Go("/c/" + acme.Slug + "/agents")
	tab.See("On hold")
	tab.Look("agents_held")
	tab.Go("/c/" + acme.Slug + "/agents/" + ada.ID)
	tab.See("Its credentials are missing or invalid.")
	tab.See("The key has expired.")
	tab.See("Its next run is a trial")
	tab.Look("agent_held")
	tab.Push("Release hold")
	tab.Wait(`!document.querySelector("[aria-label='On hold']")`)
	if held := ada.hold(t).Hold; held != nil {
		t.Errorf("%+v", held)
	}
	ada.claim(t, "")
}

func TestPeopleSeeThatAModelHasNoPriceInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, _, all := s.workers(t, 1)
	ada := all[0]
	s.file(t, acme, "")
	lease := ada.claim(t, "")
	ada.state(t, lease, "costs", `"costs":[{"key":"a","kind":"llm","model":"unknown","tokens":{"output":20000}}]`)
	ada.ends(t, lease, "complete", "")
	tab := s.enter(t, string(rootToken), "/c/"+acme.Slug)
	tab.See("used a model without a price today")
	tab.Go("/c/" + acme.Slug + "/issues/1?tab=runs")
	tab.See("unknown: charged at the fallback price")
}
