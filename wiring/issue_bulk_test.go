package wiring_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// apiOutcome is what came of one issue of many.
type apiOutcome struct {
	ID    string
	OK    bool
	Issue *apiIssue
	Error *struct {
		Code    string
		Details struct {
			Fields       []resttest.Field
			From, Action string
		}
	}
}

func (o apiOutcome) String() string {
	switch {
	case o.OK && o.Issue != nil && o.Error == nil:
		return o.Issue.Status
	case !o.OK && o.Issue == nil && o.Error != nil:
		text := o.Error.Code
		for _, field := range o.Error.Details.Fields {
			text += " " + field.Field + " " + field.Code
		}
		return strings.TrimSpace(text + " " + o.Error.Details.From)
	}
	return fmt.Sprintf("neither: %+v", o.Issue)
}

func TestManyIssuesAreMovedEachByItself(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, draft(t, `"slug":"other"`))
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		one, two, theirs := s.file(t, acme, ""), s.file(t, acme, ""), s.file(t, other, "")
		ids := []string{one.ID, "x", theirs.ID, two.ID}
		for _, c := range []struct{ members, want string }{
			{`"action":"assign","agentId":"` + ada.ID + `"`, "assigned,not_found,not_found,assigned"},
			{`"action":"assign","agentId":"ada"`, "validation_failed agentId unknown_value,not_found,not_found," +
				"validation_failed agentId unknown_value"},
			{`"action":"assign"`, "validation_failed agentId required,not_found,not_found,validation_failed agentId required"},
			{`"action":"handoff"`, "validation_failed note required,not_found,not_found,validation_failed note required"},
			{`"action":"accept"`, "invalid_transition assigned,not_found,not_found,invalid_transition assigned"},
			{`"action":"reject","note":"No."`, "invalid_transition assigned,not_found,not_found,invalid_transition assigned"},
			{`"action":"handoff","note":"Well?"`, "handoff,not_found,not_found,handoff"},
			{`"action":"unassign"`, "invalid_transition handoff,not_found,not_found,invalid_transition handoff"},
			{`"action":"retry"`, "invalid_transition handoff,not_found,not_found,invalid_transition handoff"},
			{`"action":"cancel","reason":"No."`, "cancelled,not_found,not_found,cancelled"},
			{`"action":"retry"`, "assigned,not_found,not_found,assigned"},
		} {
			answer := s.Post(acme.path()+"/issues/bulk", `{"ids":["`+strings.Join(ids, `","`)+`"],`+c.members+`}`)
			answer.Is(t, 200, "")
			var got []string
			for n, outcome := range resttest.Data[[]apiOutcome](t, answer) {
				got = append(got, outcome.String())
				if outcome.ID != ids[n] {
					t.Errorf("%s: the outcome %d is of %s", c.members, n, outcome.ID)
				}
			}
			if strings.Join(got, ",") != c.want {
				t.Errorf("%s: %q", c.members, got)
			}
		}
		if got := s.happened(t, acme, one.ID); !slices.Equal(got, []string{"created", "assigned", "handed_off", "cancelled"}) {
			t.Errorf("%q", got)
		}
		if said := resttest.Data[[]apiComment](t, s.Get(two.path()+"/comments")); len(said) != 2 || said[0].Body != "No." {
			t.Errorf("%+v", said)
		}
		if got := s.look(t, theirs); got.Status != "queued" {
			t.Errorf("%+v", got)
		}

		many := strings.Repeat(`"x",`, 100)
		for body, want := range map[string]string{
			`{}`:                               "action required,ids required",
			`{"action":"finish","ids":[]}`:     "action unknown_value,ids required",
			`{"action":null,"ids":null,"x":1}`: "action not_null,ids not_null,x unknown_field",
			`{"action":7,"ids":"x"}`:           "action wrong_type,ids wrong_type",
			`{"action":"accept","ids":["` + one.ID + `",7]}`:          "ids.1 wrong_type",
			`{"action":"accept","ids":["x","y","x"]}`:                 "ids.2 duplicate",
			`{"action":"accept","ids":[` + many + `"x"]}`:             "ids too_many",
			`{"action":"accept","ids":["x"],"note":"x","reason":"x"}`: "note unknown_field,reason unknown_field",
			`{"action":"cancel","ids":["x"],"note":"x","agentId":7}`:  "agentId wrong_type,note unknown_field",
			`{"action":"assign","ids":["x"],"agentId":null}`:          "agentId not_null",
		} {
			answer := send(s.Client, "POST", acme.path()+"/issues/bulk", body)
			answer.Is(t, 422, "validation_failed")
			if got := strings.Join(wrong(answer), ","); got != want {
				t.Errorf("%.100s: %s, want %s", body, got, want)
			}
		}
	})
}

func TestRepeatedRequestsAboutIssuesHaveOneEffect(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		twice := func(key, path, body string) resttest.Answer {
			t.Helper()
			first, again := once(s.Client, key, path, body), once(s.Client, key, path, body)
			if first.Status/100 != 2 {
				t.Errorf("%s: %d %s", path, first.Status, first.Body)
			}
			repeats(t, first, again)
			return first
		}
		filed := twice("k1", acme.path()+"/issues", `{"title":"Write","labels":["<&>"],"budget":{"perTaskUsd":1.50}}`)
		made := resttest.Data[apiIssue](t, filed)
		twice("k2", made.path()+"/assign", `{"agentId":"`+ada.ID+`"}`)
		twice("k3", made.path()+"/comments", `{"body":"Well."}`)
		twice("k4", made.path()+"/handoff", `{"note":"Well?"}`)
		twice("k5", made.path()+"/cancel", "")
		retried := twice("k6", made.path()+"/retry", "")
		again := resttest.Data[apiIssue](t, retried)
		if retried.Status != 201 || retried.Header.Get("Location") != again.path() || again.Number != 2 {
			t.Errorf("%d %v %s", retried.Status, retried.Header, retried.Data)
		}
		bulk := `{"action":"cancel","reason":"No.","ids":["` + again.ID + `","x"]}`
		cancelled := twice("k7", acme.path()+"/issues/bulk", bulk)
		twice("k8", acme.path()+"/issues/bulk", `{"action":"retry","ids":["`+again.ID+`","`+made.ID+`"]}`)
		once(s.Client, "k8", acme.path()+"/issues/bulk", `{"action":"retry","ids":["`+again.ID+`"]}`).Is(t, 409, "idempotency_conflict")
		once(s.Client, "k2", made.path()+"/unassign", "").Is(t, 409, "idempotency_conflict")

		counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts"))
		said := resttest.Data[[]apiComment](t, s.Get(made.path()+"/comments"))
		if counts.Total != 4 || len(said) != 2 {
			t.Errorf("%+v, %d comments", counts, len(said))
		}
		if got := s.happened(t, acme, made.ID); !slices.Equal(got,
			[]string{"created", "assigned", "commented", "handed_off", "cancelled"}) {
			t.Errorf("%q", got)
		}
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		repeats(t, filed, once(s.Client, "k1", acme.path()+"/issues", `{"title":"Write","labels":["<&>"],"budget":{"perTaskUsd":1.50}}`))
		repeats(t, cancelled, once(s.Client, "k7", acme.path()+"/issues/bulk", bulk))
	})
}

// Clients that send one request about many issues at once, as after a lost answer, share its effect.
func TestARequestAboutManyIssuesThatIsSentAtOnceHasOneEffect(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		var ids []string
		for range 20 {
			ids = append(ids, s.moved(t, s.file(t, acme, ""), "cancel", "").ID)
		}
		body := `{"action":"retry","ids":["` + strings.Join(ids, `","`) + `"]}`
		answers := make([]resttest.Answer, 4)
		var all sync.WaitGroup
		for n := range answers {
			all.Go(func() { answers[n] = once(s.Client, "k", acme.path()+"/issues/bulk", body) })
		}
		all.Wait()
		for _, answer := range answers {
			if answer.Is(t, 200, ""); string(answer.Data) != string(answers[0].Data) {
				t.Errorf("%s\n%s", answer.Data, answers[0].Data)
			}
		}
		counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts"))
		if counts.ByStatus["queued"] != 20 || counts.Total != 40 {
			t.Errorf("%+v", counts)
		}
	})
}

// Of several who move one issue at once, one after the other finds what the one before has left.
func TestIssuesFiledAndMovedAtOnceAreNumberedAndCountedExactly(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		s.hire(t, sales, "")
		contested := s.file(t, acme, "")
		var all sync.WaitGroup
		var mutex sync.Mutex
		cancelled := 0
		for n := range 8 {
			all.Go(func() {
				for i := range 5 {
					made := s.file(t, acme, `,"assignedTeamId":"`+sales.ID+`"`)
					if (n+i)%2 == 0 {
						s.moved(t, made, "cancel", "")
					}
				}
				answer := send(s.Client, "POST", contested.path()+"/cancel", "")
				if answer.Status == 200 {
					mutex.Lock()
					cancelled++
					mutex.Unlock()
					return
				}
				answer.Is(t, 409, "invalid_transition")
			})
		}
		all.Wait()
		numbers := map[int]bool{}
		open := 0
		for _, one := range resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues?limit=200")) {
			numbers[one.Number] = true
			if one.Status != "cancelled" {
				open++
			}
		}
		counts := resttest.Data[apiCounts](t, s.Get(acme.path()+"/issues/counts?team=sales"))
		if len(numbers) != 41 || !numbers[1] || !numbers[41] || cancelled != 1 || counts.Total != 40 ||
			counts.ByStatus["assigned"] != open {
			t.Errorf("%d numbers, %d cancelled it, %d open, %+v", len(numbers), cancelled, open, counts)
		}
	})
}
