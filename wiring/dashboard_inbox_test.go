package wiring_test

import (
	"testing"
	"time"
)

func TestPeopleDecideInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, _, all := s.workers(t, 2)
	ada, eve := all[0], all[1]
	tab := s.enter(t, string(rootToken), "/c/acme/inbox")
	tab.See("Nothing waits for you")
	tab.Look("inbox_empty")
	s.file(t, acme, "")
	on := ada.claim(t, "")
	ada.state(t, on, "checkpoint", `"note":"Half of the shop is built.","data":{"pages":3}`)
	asked := ada.asks(t, on, `,"reasoning":"The prices were agreed on Monday.","cost":{"usd":1.5},`+
		`"sideEffects":["The shop is away for a minute."],"ifDenied":"The old prices stay.","expiresIn":3600`)
	s.clock.advance(time.Second)
	s.file(t, acme, `,"requiresReview":true`)
	done := eve.claim(t, "")
	eve.ends(t, done, "complete", `"result":{"words":300}`)

	tab.Go("/inbox")
	tab.See("The prices were agreed on Monday.")
	tab.See("The old prices stay.")
	tab.See("Half of the shop is built.")
	tab.Look("inbox")
	tab.Push("Deny")
	tab.Fill("Note", "Not today.")
	tab.Push("Deny")
	await(t, "the decision", func() bool { return s.reads(t, asked).Status == "denied" })
	tab.See("\"words\": 300")
	tab.Push("Accept")
	tab.Push("Accept")
	tab.See("Nothing waits for you")
	if got := s.look(t, done.Issue); got.Status != "done" {
		t.Errorf("%+v", got)
	}

	tab.Go("/c/acme")
	tab.See("Nothing waits for you.")
	tab.See("1 issue in flight")
	tab.Look("overview")
}

// What is costly is said again, in the dialog that also shows what somebody changed meanwhile, and keeps the note.
func TestPeopleApproveOnlyWhatTheyHaveSeenInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, _, all := s.workers(t, 1)
	ada := all[0]
	s.file(t, acme, "")
	asked := ada.asks(t, ada.claim(t, ""), `,"cost":{"usd":25},"expiresIn":3600`)
	tab := s.enter(t, string(rootToken), "/c/acme/approvals?open="+asked.ID)
	tab.See("Side effects")
	tab.Push("Approve")
	tab.See("It is expected to cost $25.00.")
	tab.Fill("Note", "Within the budget.")
	s.decided(t, asked, "comment", `{"body":"Which shop?"}`)
	tab.Expect(412)
	tab.Push("Approve")
	tab.See("This changed meanwhile")
	tab.See("asked_question")
	tab.See("It is expected to cost $25.00.")
	tab.Look("approval_conflict")
	if now := s.reads(t, asked); now.Status != "asked_question" {
		t.Errorf("before it was seen it is %+v", now)
	}
	tab.Push("Approve")
	await(t, "the decision", func() bool { return s.reads(t, asked).Status == "approved" })
	if now := s.reads(t, asked); now.Note != "Within the budget." {
		t.Errorf("%+v", now)
	}
}

func TestPeopleMakeRulesInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme, _, all := s.workers(t, 1)
	ada := all[0]
	tab := s.enter(t, string(rootToken), "/c/acme/approvals")
	tab.See("No approvals yet")
	tab.Look("approvals_empty")
	s.file(t, acme, "")
	on := ada.claim(t, "")
	first := ada.asks(t, on, `,"cost":{"usd":1.5},"expiresIn":3600`)
	tab.See(first.Action)
	tab.Push(first.Action)
	tab.See("Always approve this")
	tab.Push("Always approve this")
	tab.See("makes a rule that approves the same")
	tab.Look("always_approve")
	tab.Push("Approve, and make the rule")
	await(t, "the decision", func() bool { return s.reads(t, first).Status == "approved" })
	second := ada.asks(t, on, `,"cost":{"usd":1.25}`)
	if second.Status != "approved" {
		t.Errorf("the rule left %+v", second)
	}
	tab.Go("/c/acme/approvals")
	tab.See("Rule deploy.shop")
	tab.Look("approvals")
	tab.Go("/c/acme/approvals?status=denied")
	tab.See("Nothing matches")
	tab.Go("/c/acme/approvals?open=" + second.ID)
	tab.See("Side effects")
	tab.Look("approval")

	tab.Go("/c/acme/approvals?view=rules")
	tab.See("deploy.shop")
	tab.Push("New rule")
	tab.Fill("Action", "mail.*")
	tab.Fill("US dollars at most", "-1")
	tab.Expect(422)
	tab.Push("New rule")
	tab.See("maxUsd must")
	tab.Look("new_rule")
	tab.Fill("US dollars at most", "\b\b2")
	tab.Push("New rule")
	tab.See("mail.*")
	tab.Look("rules")
	tab.Push("Actions for deploy.shop")
	tab.Wait(`document.activeElement.matches("[role=menuitem][data-highlighted]")`)
	tab.Press("\r")
	tab.See("Delete the rule deploy.shop?")
	tab.Push("Delete rule")
	tab.Wait(`!document.body.innerText.includes("deploy.shop")`)
	if third := ada.asks(t, on, `,"cost":{"usd":1}`); third.Status != "pending" {
		t.Errorf("after the rule: %+v", third)
	}
}
