package wiring_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// moved sends a move that succeeds, and returns the issue of the answer.
func (s *instance) moved(t *testing.T, of apiIssue, action, body string) apiIssue {
	t.Helper()
	answer := s.In(t).Post(of.path()+"/"+action, body)
	if status := answer.Status; status != 200 && (status != 201 || action != "retry") {
		t.Errorf("%s: %d %s", action, status, answer.Body)
	}
	return resttest.Data[apiIssue](t, answer)
}

// happened lists the events about one subject, or about all issues of a company: oldest first, with their reasons.
func (s *instance) happened(t *testing.T, in company, subject string) (types []string) {
	t.Helper()
	for _, e := range s.events(t, in.ID) {
		if subject != "" && e.Subject.ID != subject || e.Subject.Type != "issue" {
			continue
		}
		name := strings.TrimPrefix(string(e.Type), "issue.")
		if reason, _ := object(t, e.Data.Append(nil))["reason"].(string); reason != "" {
			name += " " + strings.Trim(reason, `"`)
		}
		types = append(types, name)
	}
	return types
}

// Every action in every state that people can bring an issue to.
func TestAnIssueMovesAsItsStateAllows(t *testing.T) {
	t.Parallel()
	const refused = ""
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		empty := s.found(t, acme, `{"name":"Empty","headcount":0}`)
		ada := s.hire(t, sales, "")
		toAda, toSales, toEmpty := `{"agentId":"`+ada.ID+`"}`, `{"teamId":"`+sales.ID+`"}`, `{"teamId":"`+empty.ID+`"}`
		in := map[string]func() apiIssue{
			"queued":      func() apiIssue { return s.file(t, acme, "") },
			"queued team": func() apiIssue { return s.file(t, acme, `,"assignedTeamId":"`+empty.ID+`"`) },
			"assigned":    func() apiIssue { return s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`) },
			"handoff": func() apiIssue {
				return s.moved(t, s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`), "handoff", `{"note":"Well?"}`)
			},
			"cancelled": func() apiIssue { return s.moved(t, s.file(t, acme, ""), "cancel", "") },
		}
		for _, c := range []struct {
			action, body string
			to           map[string]string // by where it comes from: the state and who has it, "" where it is refused
		}{
			{"assign", toAda, map[string]string{
				"queued": "assigned ada", "queued team": "assigned ada", "assigned": "assigned ada", "handoff": "assigned ada",
			}},
			{"assign", toSales, map[string]string{
				"queued": "assigned ada sales", "queued team": "assigned ada sales", "assigned": "assigned ada sales",
				"handoff": "assigned ada sales",
			}},
			{"assign", toEmpty, map[string]string{
				"queued": "queued empty", "queued team": "queued empty", "assigned": "queued empty", "handoff": "queued empty",
			}},
			{"unassign", "", map[string]string{"queued team": "queued", "assigned": "queued"}},
			{"cancel", "", map[string]string{
				"queued": "cancelled", "queued team": "cancelled empty", "assigned": "cancelled ada", "handoff": "cancelled ada",
			}},
			{"accept", "", nil},
			{"reject", `{"note":"No."}`, nil},
			{"handoff", `{"note":"Well?"}`, map[string]string{"assigned": "handoff ada"}},
			{"retry", "", map[string]string{"cancelled": "queued"}},
		} {
			for from, make := range in {
				want, made := c.to[from], make()
				before := len(s.happened(t, acme, ""))
				answer := send(s.Client, "POST", made.path()+"/"+c.action, c.body)
				if want == refused {
					answer.Is(t, 409, "invalid_transition")
					if got := details(t, answer); got["from"] != made.Status || got["action"] != c.action {
						t.Errorf("%s from %s: %v", c.action, from, got)
					}
					if diff := cmp.Diff(made, s.look(t, made)); diff != "" || len(s.happened(t, acme, "")) != before {
						t.Errorf("%s from %s: %s", c.action, from, diff)
					}
					continue
				}
				next := resttest.Data[apiIssue](t, answer)
				names := map[string]string{ada.ID: " ada", sales.ID: " sales", empty.ID: " empty"}
				got := next.Status + names[or(next.AssignedAgentID)] + names[or(next.AssignedTeamID)]
				if got != want || (next.FinishedAt != nil) != (next.Status == "cancelled") || next.Attempt != 1 {
					t.Errorf("%s %s from %s: %s, want %s: %+v", c.action, c.body, from, got, want, next)
				}
			}
		}
		for from, make := range in {
			made := make()
			send(s.Client, "POST", made.path()+"/comments", `{"body":"So so."}`).Is(t, 200, "")
			patched := send(s.Client, "PATCH", made.path(), `{"title":"Print"}`)
			if from == "cancelled" {
				patched.Is(t, 409, "invalid_transition")
				if got := details(t, patched); got["from"] != "cancelled" || got["action"] != "update" {
					t.Errorf("%v", got)
				}
				send(s.Client, "PATCH", made.path(), `{}`).Is(t, 409, "invalid_transition")
				continue
			}
			patched.Is(t, 200, "")
		}
	})
}

func TestEveryMoveOfAnIssueIsRecordedAndSent(t *testing.T) {
	t.Parallel()
	eachSending(t, func(t *testing.T, s *instance) {
		to := listen(t)
		hook := s.subscribe(t, to, `,"events":["issue.*"]`)
		acme := s.create(t, draft(t, ""))
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		made := s.file(t, acme, "")
		s.Patch(made.path(), `{}`).Is(t, 200, "")
		s.Patch(made.path(), `{"title":"Print"}`).Is(t, 200, "")
		s.moved(t, made, "assign", `{"agentId":"`+ada.ID+`"}`)
		s.moved(t, made, "unassign", "")
		s.moved(t, made, "assign", `{"agentId":"`+ada.ID+`"}`)
		s.moved(t, made, "handoff", `{"note":"Well?"}`)
		s.Post(made.path()+"/comments", `{"body":"Well!"}`).Is(t, 200, "")
		s.moved(t, made, "cancel", `{"reason":"No."}`)
		cancelled := s.Get(made.path())
		again := s.moved(t, made, "retry", "")
		s.moved(t, again, "cancel", "{}")
		want := []string{"issue.created", "issue.updated", "issue.assigned", "issue.requeued", "issue.assigned", "issue.handed_off",
			"issue.commented", "issue.cancelled", "issue.created", "issue.cancelled"}
		await(t, "the arrival of all", func() bool { return len(to.receipts()) >= len(want) })
		sent := to.receipts()
		slices.SortFunc(sent, func(a, b receipt) int { return int(a.Sequence - b.Sequence) })
		var got []string
		for _, one := range sent {
			got = append(got, one.Type)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		for n, want := range map[int]map[string]any{
			0: {"title": "Write", "status": "queued"}, 1: {"title": "Print", "previous.title": "Write"},
			2: {"status": "assigned", "assignedAgentId": ada.ID}, 3: {"status": "queued", "reason": "unassigned", "assignedAgentId": nil},
			5: {"status": "handoff", "comment.body": "Well?"}, 6: {"status": "handoff", "comment.body": "Well!"},
			7: {"status": "cancelled", "comment.body": "No.", "comment.issueId": made.ID}, 8: {"id": again.ID, "retryOf": made.ID},
			9: {"status": "cancelled", "comment.body": nil},
		} {
			sent[n].verify(t, hook.Secret)
			for path, value := range want {
				of, name, nested := strings.Cut(path, ".")
				data := sent[n].Data
				if nested {
					data, _ = data[of].(map[string]any)
				} else {
					name = of
				}
				if data[name] != value {
					t.Errorf("%s: %s is %v, want %v", sent[n].Type, path, data[name], value)
				}
			}
			if sent[n].Data["companyId"] != acme.ID || !strings.HasPrefix(sent[n].Data["actor"].(string), "token:tok_") {
				t.Errorf("%s", sent[n].body)
			}
		}
		shown := resttest.Data[map[string]any](t, cancelled)
		delete(sent[7].Data, "actor")
		delete(sent[7].Data, "comment")
		if diff := cmp.Diff(shown, sent[7].Data); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFaultyMovesAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, draft(t, `"slug":"other"`))
		theirTeam := s.found(t, other, `{"name":"Sales","headcount":1}`)
		theirs := s.hire(t, theirTeam, "")
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		ada, gone := s.hire(t, sales, ""), s.hire(t, sales, "")
		s.Post(gone.path()+"/retire", "").Is(t, 200, "")
		made := s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`)
		long := strings.Repeat("x", 20_001)
		for _, c := range []struct{ action, body, want string }{
			{"assign", `{}`, "agentId required"},
			{"assign", `{"agentId":null}`, "agentId not_null"},
			{"assign", `{"agentId":7,"x":1}`, "agentId wrong_type,x unknown_field"},
			{"assign", `{"agentId":"ada"}`, "agentId unknown_value"},
			{"assign", `{"agentId":"` + theirs.ID + `"}`, "agentId unknown_value"},
			{"assign", `{"agentId":"` + gone.ID + `"}`, "agentId unknown_value"},
			{"assign", `{"agentId":"` + sales.ID + `"}`, "agentId unknown_value"},
			{"assign", `{"teamId":"sales"}`, "teamId unknown_value"},
			{"assign", `{"teamId":"` + theirTeam.ID + `"}`, "teamId unknown_value"},
			{"assign", `{"teamId":"` + sales.ID + `","agentId":"` + ada.ID + `"}`, "teamId duplicate"},
			{"reject", `{}`, "note required"},
			{"reject", `{"note":null}`, "note not_null"},
			{"reject", `{"note":" \n"}`, "note required"},
			{"handoff", `{"note":7}`, "note wrong_type"},
			{"handoff", `{"note":"a\u0000b","reason":"x"}`, "note invalid_characters,reason unknown_field"},
			{"handoff", `{"note":"` + long + `"}`, "note too_long"},
			{"cancel", `{"reason":null}`, "reason not_null"},
			{"cancel", `{"reason":""}`, "reason required"},
			{"cancel", `{"reason":"` + long + `"}`, "reason too_long"},
			{"cancel", `{"note":"No."}`, "note unknown_field"},
			{"comments", `{}`, "body required"},
			{"comments", `{"body":[]}`, "body wrong_type"},
			{"comments", `{"body":"\u200b"}`, "body required"},
			{"comments", `{"body":"` + long + `","author":"me"}`, "author unknown_field,body too_long"},
		} {
			answer := send(s.Client, "POST", made.path()+"/"+c.action, c.body)
			answer.Is(t, 422, "validation_failed")
			if got := strings.Join(wrong(answer), ","); got != c.want {
				t.Errorf("%s %.100s: %s, want %s", c.action, c.body, got, c.want)
			}
		}
		for _, action := range []string{"assign", "reject", "handoff", "comments"} {
			send(s.Client, "POST", made.path()+"/"+action, "").Is(t, 400, "invalid_json")
		}
		for _, action := range []string{"unassign", "accept", "retry"} {
			send(s.Client, "POST", made.path()+"/"+action, `{"note":"x"}`).Is(t, 415, "unsupported_media_type")
		}
		for action, body := range map[string]string{
			"assign": `{}`, "unassign": "", "cancel": `{"reason":7}`, "accept": "", "reject": `{}`, "handoff": `{}`, "retry": "",
		} {
			send(s.Client, "POST", made.path()+"/"+action, body, "If-Match", `"7"`).Is(t, 412, "precondition_failed")
		}
		if diff := cmp.Diff(made, s.look(t, made)); diff != "" || len(s.happened(t, acme, "")) != 1 {
			t.Error(diff)
		}
		if got := s.Get(made.path() + "/comments"); string(got.Data) != "[]" {
			t.Errorf("%s", got.Data)
		}
		send(s.Client, "POST", made.path()+"/unassign", "", "If-Match", `"1"`).Is(t, 200, "")
	})
}

func TestATeamPicksItsIdleAgentWithTheFewestOpenIssues(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":3}`)
		ops := s.found(t, acme, `{"name":"Ops","headcount":1}`)
		toTeam := `,"assignedTeamId":"` + sales.ID + `"`
		picked := func(want *apiAgent, of apiIssue) apiIssue {
			t.Helper()
			status, who := "queued", ""
			if want != nil {
				status, who = "assigned", want.ID
			}
			if of.Status != status || or(of.AssignedAgentID) != who || or(of.AssignedTeamID) != sales.ID {
				t.Errorf("%s, %s of %s; want %s of %s", of.Status, or(of.AssignedAgentID), or(of.AssignedTeamID), who, sales.ID)
			}
			return of
		}
		picked(nil, s.file(t, acme, toTeam))
		ada, eve, bob := s.hire(t, sales, ""), s.hire(t, sales, ""), s.hire(t, ops, "")
		first := picked(&ada, s.file(t, acme, toTeam)) // the oldest
		picked(&eve, s.file(t, acme, toTeam))          // the one with none
		picked(&ada, s.file(t, acme, toTeam))
		s.file(t, acme, `,"assignedAgentId":"`+eve.ID+`"`) // what a person named counts too
		s.moved(t, first, "cancel", "")
		third := picked(&ada, s.file(t, acme, toTeam))
		s.Post(ada.path()+"/pause", "").Is(t, 200, "")
		picked(&eve, s.file(t, acme, toTeam))
		picked(&eve, s.moved(t, third, "assign", `{"teamId":"`+sales.ID+`"}`))
		s.Post(eve.path()+"/pause", "").Is(t, 200, "")
		picked(nil, s.moved(t, third, "assign", `{"teamId":"`+sales.ID+`"}`))
		s.Post(ada.path()+"/resume", "").Is(t, 200, "")
		picked(&ada, s.file(t, acme, toTeam))

		// A person may name anybody, paused or of another team: the issue then leaves the team.
		within := s.moved(t, third, "assign", `{"agentId":"`+eve.ID+`"}`)
		beyond := s.moved(t, third, "assign", `{"agentId":"`+bob.ID+`"}`)
		if or(within.AssignedTeamID) != sales.ID || beyond.AssignedTeamID != nil || or(beyond.AssignedAgentID) != bob.ID {
			t.Errorf("%+v, then %+v", within, beyond)
		}
	})
}

func TestIssuesOfARetiredAgentGoBackToTheQueue(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		ada, eve := s.hire(t, sales, ""), s.hire(t, sales, "")
		named := s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`)
		picked := s.file(t, acme, `,"assignedTeamId":"`+sales.ID+`"`)
		s.moved(t, picked, "assign", `{"agentId":"`+ada.ID+`"}`)
		handed := s.moved(t, s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`), "handoff", `{"note":"Well?"}`)
		ended := s.moved(t, s.file(t, acme, `,"assignedAgentId":"`+ada.ID+`"`), "cancel", "")
		others := s.file(t, acme, `,"assignedAgentId":"`+eve.ID+`"`)
		s.Post(ada.path()+"/retire", "").Is(t, 200, "")
		for of, want := range map[*apiIssue]string{
			&named: "queued of ", &picked: "queued of " + sales.ID, &handed: "handoff " + ada.ID + "of ", &ended: "cancelled " + ada.ID +
				"of ", &others: "assigned " + eve.ID + "of ",
		} {
			now := s.look(t, *of)
			if got := now.Status + " " + or(now.AssignedAgentID) + "of " + or(now.AssignedTeamID); got != want || now.Attempt != 1 {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if got := s.happened(t, acme, named.ID); !slices.Equal(got, []string{"created", "requeued agent_retired"}) {
			t.Errorf("%q", got)
		}
		events := s.events(t, acme.ID)
		if last := events[len(events)-1]; last.Actor != events[0].Actor {
			t.Errorf("%s has done it, not %s", last.Actor, events[0].Actor)
		}
		// A retry names nobody who has retired.
		if again := s.moved(t, ended, "retry", ""); again.Status != "queued" || again.AssignedAgentID != nil {
			t.Errorf("%+v", again)
		}
	})
}

func TestATeamWithOpenIssuesIsNotDeleted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		ada := s.hire(t, sales, "")
		one, two := s.file(t, acme, `,"assignedTeamId":"`+sales.ID+`"`), s.file(t, acme, `,"assignedTeamId":"`+sales.ID+`"`)
		s.Post(ada.path()+"/retire", "").Is(t, 200, "")
		for open := 2; open > 0; open-- {
			refused := send(s.Client, "DELETE", sales.path(), "")
			refused.Is(t, 409, "team_not_empty")
			if got := details(t, refused); fmt.Sprint(got["openIssues"]) != fmt.Sprint(open) || got["agentCount"] != nil {
				t.Errorf("%v", got)
			}
			if open == 2 {
				s.moved(t, one, "cancel", "")
			}
		}
		s.moved(t, two, "unassign", "")
		s.Delete(sales.path()).Is(t, 200, "")
		if got := s.look(t, one); or(got.AssignedTeamID) != sales.ID {
			t.Errorf("%+v", got)
		}
		if again := s.moved(t, one, "retry", ""); again.Status != "queued" || again.AssignedTeamID != nil {
			t.Errorf("%+v", again)
		}
		s.Get(acme.path()+"/issues?team="+sales.ID).Is(t, 404, "not_found")
	})
}

func TestWhatBlocksAnIssueIsCounted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		first, second := s.file(t, acme, ""), s.file(t, acme, "")
		last := s.file(t, acme, `,"blockedBy":["`+first.ID+`","`+second.ID+`"]`)
		if last.OpenBlockers != 2 {
			t.Errorf("%+v", last)
		}
		s.moved(t, first, "cancel", "")
		if got := s.look(t, last); got.OpenBlockers != 2 || !slices.Equal(got.BlockedBy, last.BlockedBy) {
			t.Errorf("what is cancelled blocks no more: %+v", got)
		}
		again := s.moved(t, first, "retry", "")
		got := s.look(t, last)
		if got.OpenBlockers != 2 || !slices.Equal(got.BlockedBy, []string{again.ID, second.ID}) || or(again.RetryOf) != first.ID {
			t.Errorf("a retry does not take the place of the old issue: %+v", got)
		}
		if happened := s.happened(t, acme, last.ID); !slices.Equal(happened, []string{"created", "updated"}) {
			t.Errorf("%q", happened)
		}
		third := s.moved(t, first, "retry", "") // once more: it has no place to take
		if got := s.look(t, last); !slices.Equal(got.BlockedBy, []string{again.ID, second.ID}) || third.Number != again.Number+1 {
			t.Errorf("%+v", got)
		}
		// Another retry takes the place of the old issue alone.
		both := s.file(t, acme, `,"blockedBy":["`+first.ID+`"]`)
		s.Patch(both.path(), `{"blockedBy":["`+first.ID+`","`+again.ID+`"]}`).Is(t, 200, "")
		fourth := s.moved(t, first, "retry", "")
		if got := s.look(t, both); !slices.Equal(got.BlockedBy, []string{fourth.ID, again.ID}) || got.OpenBlockers != 2 {
			t.Errorf("%+v", got)
		}
		patched := resttest.Data[apiIssue](t, s.Patch(last.path(), `{"blockedBy":[]}`))
		if patched.OpenBlockers != 0 || len(patched.BlockedBy) != 0 {
			t.Errorf("%+v", patched)
		}
	})
}

func TestIssuesThatWouldDependOnThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		levels := []apiIssue{s.file(t, acme, "")}
		for len(levels) < 8 {
			levels = append(levels, s.file(t, acme, `,"parentId":"`+levels[len(levels)-1].ID+`"`))
		}
		root, child, leaf := levels[0], levels[1], levels[7]
		refuse := func(answer resttest.Answer, reason string) {
			t.Helper()
			answer.Is(t, 422, "dependency_cycle")
			if got := details(t, answer)["reason"]; got != reason {
				t.Errorf("%v, want %s", got, reason)
			}
		}
		refuse(send(s.Client, "POST", acme.path()+"/issues", `{"title":"Ninth","parentId":"`+leaf.ID+`"}`), "too_deep")
		refuse(send(s.Client, "PATCH", root.path(), `{"parentId":"`+root.ID+`"}`), "cycle")
		refuse(send(s.Client, "PATCH", root.path(), `{"parentId":"`+leaf.ID+`"}`), "cycle")
		top := s.file(t, acme, "")
		refuse(send(s.Client, "PATCH", root.path(), `{"parentId":"`+top.ID+`"}`), "too_deep")
		s.Patch(child.path(), `{"parentId":"`+top.ID+`"}`).Is(t, 200, "")
		s.Patch(child.path(), `{"parentId":null}`).Is(t, 200, "")
		s.Patch(top.path(), `{"parentId":"`+root.ID+`"}`).Is(t, 200, "")

		a := s.file(t, acme, "")
		b := s.file(t, acme, `,"blockedBy":["`+a.ID+`"]`)
		c := s.file(t, acme, `,"blockedBy":["`+b.ID+`","`+root.ID+`"]`)
		for _, blocker := range []apiIssue{a, b, c} {
			refuse(send(s.Client, "PATCH", a.path(), `{"blockedBy":["`+blocker.ID+`"]}`), "cycle")
		}
		s.Patch(b.path(), `{"blockedBy":[]}`).Is(t, 200, "")
		s.Patch(a.path(), `{"blockedBy":["`+c.ID+`"]}`).Is(t, 200, "")
		if got := s.look(t, root); got.ParentID != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestAnIssueStopsWaitingWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		wait := time.Second
		waiting := s.file(t, acme, `,"notBefore":"`+s.ahead(t, wait)+`"`)
		for or(waiting.NotBefore) <= waiting.CreatedAt { // a slow machine has filed it too late
			wait *= 2
			waiting = s.file(t, acme, `,"notBefore":"`+s.ahead(t, wait)+`"`)
		}
		later := s.file(t, acme, `,"notBefore":"`+s.ahead(t, time.Hour)+`"`)
		past := s.file(t, acme, `,"notBefore":"2020-01-01T00:00:00Z"`)
		s.clock.advance(wait)
		await(t, "the end of the wait", func() bool { return s.Get(waiting.path()).Header.Get("ETag") == `"2"` })
		if diff := cmp.Diff(waiting, s.look(t, waiting)); diff != "" {
			t.Error(diff)
		}
		for _, other := range []apiIssue{later, past} {
			if tag := s.Get(other.path()).Header.Get("ETag"); tag != `"1"` {
				t.Errorf("%s has the tag %s", or(other.NotBefore), tag)
			}
		}
	})
}

// Cancelling an issue cancels all that is open below it, also what is too much for one unit of work.
func TestWhatIsBelowACancelledIssueIsCancelled(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		root := s.file(t, acme, "")
		child, done := s.file(t, acme, `,"parentId":"`+root.ID+`"`), s.file(t, acme, `,"parentId":"`+root.ID+`"`)
		done = s.moved(t, done, "cancel", "")
		s.file(t, acme, `,"parentId":"`+child.ID+`"`)
		apart := s.file(t, acme, `,"blockedBy":["`+child.ID+`"]`)
		s.moved(t, root, "cancel", `{"reason":"No."}`)
		for _, query := range []string{"parent=" + root.ID, "parent=" + child.ID} {
			for _, below := range resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?"+query)) {
				if below.Status != "cancelled" || below.FinishedAt == nil {
					t.Errorf("%+v", below)
				}
				if got := string(s.Get(below.path() + "/comments").Data); got != "[]" {
					t.Errorf("the reason is kept for %s: %s", below.ID, got)
				}
			}
		}
		if diff := cmp.Diff(done, s.look(t, done)); diff != "" {
			t.Errorf("what was cancelled before: %s", diff)
		}
		if got := s.look(t, apart); got.Status != "queued" || got.OpenBlockers != 1 {
			t.Errorf("%+v", got)
		}
		again := s.moved(t, child, "retry", "")
		if again.ParentID != nil || or(again.RetryOf) != child.ID {
			t.Errorf("a retry is below what is cancelled: %+v", again)
		}

		many := s.file(t, acme, "")
		var filing sync.WaitGroup
		for range 4 {
			filing.Go(func() {
				for range 60 {
					s.file(t, acme, `,"parentId":"`+many.ID+`"`)
				}
			})
		}
		filing.Wait()
		s.moved(t, many, "cancel", "")
		send(s.Client, "POST", acme.path()+"/issues", `{"title":"Late","parentId":"`+many.ID+`"}`).Is(t, 422, "validation_failed")
		await(t, "the end of all below", func() bool {
			counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts?parent="+many.ID))
			return counts.ByStatus["cancelled"] == 240 && counts.Total == 240
		})
	})
}
