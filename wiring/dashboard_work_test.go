package wiring_test

import (
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

func TestPeopleFileAndMoveIssuesByKeyboardInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	s.create(t, draft(t, ""))
	tab := s.enter(t, string(rootToken), "/c/acme/issues")
	tab.See("No issues yet")
	tab.Look("issues_empty")
	tab.Push("New issue")
	tab.Fill("Title", "Write the newsletter")
	tab.Fill("Description", "About **anvils**.")
	tab.Look("issue_new")
	tab.Push("File the issue")
	tab.See("Send the comment")
}

func TestWorkIsLiveInABrowser(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		first := s.file(t, acme, "")
		long := resttest.Data[apiIssue](t, s.Post(acme.path()+"/issues",
			`{"title":"`+strings.Repeat("long ", 40)+`","description":"# Head\n\n<b>x</b> [y](javascript:1) `+
				`![p](https://example.com/p.png)"}`))
		tab := s.enter(t, string(rootToken), "/c/acme/issues")
		tab.See("long long")
		s.file(t, acme, "")
		tab.See("1 new")
		s.moved(t, first, "cancel", "")
		tab.See("Cancelled")
		tab.Look("issues")
		tab.Go("/c/acme/issues?view=board")
		tab.Wait(`document.querySelectorAll("[draggable=true]").length === 3`)
		tab.Look("board")
		tab.Wait("document.title === %q", "Issues · "+acme.Name+" · Holdco")
		tab.Go("/c/acme/activity")
		tab.See("issue.cancelled")
		tab.Look("activity")
		tab.Go("/c/acme/issues/2")
		tab.See("Send the comment")
		tab.Fill("Comment", "Mention the rockets.")
		tab.Push("Send the comment")
		tab.Wait(`document.querySelector("li p + div")?.innerText.includes("rockets")`)
		s.Post(long.path()+"/comments", `{"body":"From elsewhere."}`).Is(t, 200, "")
		tab.See("From elsewhere.")
		tab.Look("issue")
	})
}
