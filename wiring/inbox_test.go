package wiring_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

type apiItem struct {
	Kind, Since string
	Company     struct{ ID, Slug, Name string }
	Subject     struct{ Type, ID string }
	Issue       struct{ ID, Title, Status string }
	Agent       *struct{ ID, Name string }
	Action      *string
	Deadline    *string
}

func (i apiItem) String() string { return i.Kind + " " + i.Subject.ID }

type apiInboxCounts struct{ Approvals, Handoffs, Questions, Reviews, Blocked, Waiting, Total int }

type apiInbox struct {
	apiInboxCounts

	Items     []apiItem
	Truncated bool
}

type apiOverview struct {
	Teams []struct {
		ID, Name                  string
		AgentCount, TasksInFlight int
	}
	Inbox apiInboxCounts
	Tasks struct{ Queued, Assigned, Running, Review, Handoff, CompletedToday, FailedToday int }
	Cost  struct{ Today, ThisPeriod, Remaining json.Number }

	Health struct {
		ActiveAgents, PausedAgents, FailingAgents, RunningLeases, SilentAgents, AbsentAgents, UncostedRuns int
	}
	Days []struct {
		Day          string
		Done, Failed int
		Usd          json.Number
	}
	RecentActivity []apiEntry
}

// inbox reads the inboxes page by page.
func (s *instance) inbox(t *testing.T, client *resttest.Client, query string) (all []string) {
	t.Helper()
	for cursor := ""; ; {
		answer := client.In(t).Get("/v1/inbox?limit=2" + query + cursor)
		answer.Is(t, 200, "")
		for _, one := range resttest.Data[[]apiItem](t, answer) {
			all = append(all, one.String())
		}
		var envelope struct {
			Meta struct{ Page struct{ Cursor *string } }
		}
		must(t, json.Unmarshal(answer.Body, &envelope))
		if envelope.Meta.Page.Cursor == nil {
			return all
		}
		cursor = "&cursor=" + *envelope.Meta.Page.Cursor
	}
}

func TestTheInboxHasWhatWaitsForAPerson(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 2)
		ada, eve := all[0], all[1]
		if got := glance[apiInbox](t, s, acme, "inbox"); got.Total != 0 || len(got.Items) != 0 || got.Truncated {
			t.Errorf("%+v", got)
		}
		next := func() { s.clock.advance(time.Second) }
		var want []string
		says := func(kind, which string) { want = append(want, kind+" "+which) }

		s.file(t, acme, "")
		asks := ada.claim(t, "")
		asked := ada.asks(t, asks, `,"expiresIn":3600`)
		says("approval", asked.ID)
		next()
		owes := ada.asks(t, asks, `,"expiresIn":3600`)
		s.decided(t, owes, "comment", `{"body":"Why?"}`)
		says("question", owes.ID)
		next()
		s.file(t, acme, "")
		helpless := eve.claim(t, "")
		eve.ends(t, helpless, "handoff", `"note":"What now?"`)
		says("handoff", helpless.Issue.ID)
		next()
		s.file(t, acme, `,"requiresReview":true`)
		done := eve.claim(t, "")
		eve.ends(t, done, "complete", "")
		says("review", done.Issue.ID)
		next()
		fails := s.file(t, acme, `,"maxAttempts":1`)
		cancelled := s.file(t, acme, `,"priority":"low"`)
		blocked := s.file(t, acme, `,"blockedBy":["`+fails.ID+`","`+cancelled.ID+`"]`)
		if got := s.inbox(t, s.Client, ""); !slices.Equal(got, want) {
			t.Errorf("%s", cmp.Diff(want, got))
		}
		failed := eve.claim(t, "")
		eve.ends(t, failed, "fail", `"error":{"code":"x","message":"Why"}`)
		s.Post(cancelled.path()+"/cancel", `{}`).Is(t, 200, "")
		says("blocked", blocked.ID)
		next()
		says("approval", ada.asks(t, asks, `,"park":true`).ID)
		got := s.inbox(t, s.Client, "")
		if !slices.Equal(got, want) {
			t.Errorf("%s", cmp.Diff(want, got))
		}
		if only := s.inbox(t, s.Client, "&company="+acme.ID); !slices.Equal(only, want) {
			t.Errorf("%s", cmp.Diff(want, only))
		}
		list := glance[apiInbox](t, s, acme, "inbox")
		if list.apiInboxCounts != (apiInboxCounts{Approvals: 2, Handoffs: 1, Questions: 1, Reviews: 1, Blocked: 1, Total: 6}) ||
			fmt.Sprint(list.Items) != fmt.Sprint(want) {
			t.Errorf("%+v", list)
		}
		for _, one := range list.Items {
			if one.Company.ID != acme.ID || one.Company.Slug != acme.Slug || (one.Subject.Type == "approval") != (one.Action != nil) ||
				(one.Subject.Type == "approval") != (one.Deadline != nil) || (one.Kind == "blocked") != (one.Agent == nil) {
				t.Errorf("%+v", one)
			}
		}
		o := glance[apiOverview](t, s, acme, "overview")
		if o.Inbox != list.apiInboxCounts || o.Tasks.Handoff != 2 || o.Tasks.Review != 1 || o.Tasks.FailedToday != 1 || len(o.Days) != 14 ||
			o.Days[13].Failed != 1 || len(o.RecentActivity) != 10 || o.Health.ActiveAgents != 2 || o.Health.UncostedRuns != 4 ||
			len(o.Teams) != 1 || o.Teams[0].ID != sales.ID || o.Teams[0].TasksInFlight != 3 {
			t.Errorf("%+v", o)
		}
		if e := glance[struct{ Entries []apiEntry }](t, s, acme, "activity").Entries; len(e) < 20 || e[0].ID != o.RecentActivity[0].ID {
			t.Errorf("%+v", e)
		}

		// A retry takes the place of what failed, and an issue without failed blockers waits for no person.
		s.Post(fails.path()+"/retry", `{}`).Is(t, 201, "")
		if got := s.look(t, blocked); got.FailedBlockers != 1 || got.OpenBlockers != 2 {
			t.Errorf("%+v", got)
		}
		s.Post(cancelled.path()+"/retry", `{}`).Is(t, 201, "")
		want = slices.DeleteFunc(want, func(one string) bool { return strings.HasPrefix(one, "blocked") })
		if got := s.inbox(t, s.Client, ""); !slices.Equal(got, want) {
			t.Errorf("%s", cmp.Diff(want, got))
		}

		// A token sees what its scopes say, and the list of all has active companies alone.
		other := s.create(t, named("other"))
		if got := s.inbox(t, s.with(t, "company:"+acme.ID+":read", "company:"+other.ID+":read"), ""); !slices.Equal(got, want) {
			t.Errorf("%s", cmp.Diff(want, got))
		}
		if got := s.inbox(t, s.with(t, "company:"+other.ID+":read"), ""); len(got) > 0 {
			t.Errorf("%v", got)
		}
		s.with(t, "company:"+other.ID+":read").In(t).Get("/v1/inbox?company="+acme.ID).Is(t, 404, "not_found")
		s.with(t, "write").In(t).Get("/v1/inbox").Is(t, 403, "insufficient_scope")
		send(s.In(t), "GET", "/v1/inbox?company=x", "").Is(t, 400, "invalid_parameter")
		send(s.In(t), "GET", "/v1/inbox?cursor=x", "").Is(t, 400, "invalid_cursor")
		s.Post(acme.path()+"/archive", `{}`).Is(t, 200, "")
		if got := s.inbox(t, s.Client, ""); len(got) > 0 {
			t.Errorf("%v", got)
		}
		glance[apiOverview](t, s, acme, "overview")
	})
}

func TestAgentsInTroubleAreSeen(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 3)
		ada, eve, away := all[0], all[1], all[2]
		for range 3 {
			s.file(t, acme, `,"maxAttempts":1,"assignedAgentId":"`+ada.ID+`"`)
			ada.ends(t, ada.claim(t, ""), "fail", `"error":{"code":"x","message":"Why"}`)
		}
		named := s.file(t, acme, `,"assignedAgentId":"`+away.ID+`"`)
		s.file(t, acme, `,"assignedAgentId":"`+away.ID+`","blockedBy":["`+named.ID+`"]`)
		s.clock.advance(14*time.Minute + 50*time.Second)
		s.file(t, acme, `,"assignedAgentId":"`+eve.ID+`"`)
		eve.claim(t, `{"leaseSeconds":60}`)
		type health struct {
			FailingAgents, SilentAgents, AbsentAgents, RunningLeases int

			Agents []struct{ ID, Name, Reason string }
		}
		got := glance[health](t, s, acme, "health")
		if got.FailingAgents != 1 || got.SilentAgents != 0 || got.AbsentAgents != 0 || got.RunningLeases != 1 {
			t.Errorf("%+v", got)
		}
		s.clock.advance(30 * time.Second)
		got = glance[health](t, s, acme, "health")
		want := fmt.Sprintf("[{%s Ada failing} {%s Ada silent} {%s Ada absent}]", ada.ID, eve.ID, away.ID)
		if got.FailingAgents != 1 || got.SilentAgents != 1 || got.AbsentAgents != 1 || fmt.Sprint(got.Agents) != want {
			t.Errorf("%+v, want %s", got, want)
		}
		if items := s.inbox(t, s.Client, ""); fmt.Sprint(items) != "[waiting "+named.ID+"]" {
			t.Errorf("%v", items)
		}
		if list := glance[apiInbox](t, s, acme, "inbox"); list.Waiting != 1 || list.Total != 1 {
			t.Errorf("%+v", list)
		}

		// Who succeeds is not failing any more, and who takes its issue is there again.
		s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`)
		ada.ends(t, ada.claim(t, ""), "complete", "")
		away.claim(t, "")
		if got := glance[health](t, s, acme, "health"); got.FailingAgents+got.AbsentAgents != 0 {
			t.Errorf("%+v", got)
		}
	})
}
