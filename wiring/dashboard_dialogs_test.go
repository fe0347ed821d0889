package wiring_test

import (
	"testing"
)

// What opens above pages and is looked at in no other test.
func TestWhatOpensAbovePagesInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	p := s.pays(t)
	s.Patch(p.team.path(), `{"budget":{"usd":50}}`).Is(t, 200, "")
	goal := s.aims(t, p.company, "Win")
	s.plans(t, p.company, `,"goalId":"`+goal.ID+`"`)
	s.keeps(t, p.company, "anthropic", "value of one")
	s.file(t, p.company, "")
	tab := s.enter(t, string(rootToken), "/c/acme")
	tab.See("What happened last")
	const menu = `!!document.querySelector("[role^=menuitem][data-highlighted]")`
	const dialog = `!!document.querySelector("[role=dialog], dialog[open]")`
	const dialogs = `document.querySelectorAll("[role=dialog]").length > 1`
	ada := "/agents/" + p.by[0].ID
	for _, on := range []struct {
		name, page, shown string
		open              func()
		is                string // true when it is open
	}{
		{"account", "", "What happened last", func() { tab.Push("Account") }, menu},
		{"palette", "", "What happened last", func() {
			tab.Push("Search")
			tab.Wait(`document.activeElement.matches("[cmdk-input]")`)
			tab.Press("wri")
		}, `document.querySelector("[cmdk-item]")?.innerText.includes("Write")`},
		{"shortcuts", "", "What happened last", func() { tab.Press("?") }, dialog},
		{"new_team", "/agents?view=org", "Sales", func() { tab.Push("New team") }, dialog},
		{"agent_menu", ada, "Last runs", func() { tab.Push("Actions for " + p.by[0].Name) }, menu},
		{"rotate_agent", ada, "Last runs", func() { pick(tab, p.by[0].Name, 0) }, dialog},
		{"new_goal", "/goals", "Win", func() { tab.Push("New goal") }, dialog},
		{"close_goal", "/goals?open=" + goal.ID, "Win", func() { pick(tab, "Win", 1) }, dialogs},
		{"new_project", "/projects", "No issues yet", func() { tab.Push("New project") }, dialog},
		{"edit_issue", "/issues/1", "Send the comment", func() { tab.Press("e") }, dialog},
		{"cancel_issue", "/issues/1", "Send the comment", func() { tab.Push("Cancel issue") }, dialog},
		{"secret", "/secrets", "anthropic", func() { pick(tab, "anthropic", 0) }, dialog},
		{"top_up", "/costs", "Expected at the end", func() { pick(tab, "Sales", 0) }, dialog},
	} {
		tab.Go("/c/acme" + on.page)
		tab.See(on.shown)
		on.open()
		tab.Wait("%s", on.is)
		tab.Look(on.name)
	}
}
