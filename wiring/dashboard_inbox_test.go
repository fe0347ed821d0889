package wiring_test

import (
	"testing"
	"time"
)

func TestPeopleDecideInABrowser(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 2)
		ada, eve := all[0], all[1]
		tab := s.enter(t, string(rootToken), "/c/acme/inbox")
		tab.See("Nothing waits for you")
		tab.Look("inbox_empty")
		s.file(t, acme, "")
		on := ada.claim(t, "")
		asked := ada.asks(t, on, `,"reasoning":"The prices were agreed on Monday.","cost":{"usd":1.5},`+
			`"sideEffects":["The shop is away for a minute."],"ifDenied":"The old prices stay.","expiresIn":3600`)
		s.clock.advance(time.Second)
		s.file(t, acme, `,"requiresReview":true`)
		done := eve.claim(t, "")
		eve.ends(t, done, "complete", `"result":{"words":300}`)

		tab.Go("/inbox")
		tab.See("The prices were agreed on Monday.")
		tab.See("The old prices stay.")
		tab.Look("inbox")
		tab.Push("Deny")
		tab.Fill("Note", "Not today.")
		tab.Push("Deny")
		await(t, time.Minute, "the decision", func() bool { return s.reads(t, asked).Status == "denied" })
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
	})
}
