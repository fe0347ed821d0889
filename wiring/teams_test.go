package wiring_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
)

// found makes a team of a body that is valid.
func (s *instance) found(t *testing.T, in company, body string) team {
	t.Helper()
	answer := s.In(t).Post(in.path()+"/teams", body)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[team](t, answer)
}

// slots reads all slots of a team, oldest first.
func (s *instance) slots(t *testing.T, of team) []slot {
	t.Helper()
	answer := s.In(t).Get(of.path() + "/slots?limit=200")
	answer.Is(t, http.StatusOK, "")
	all := resttest.Data[[]slot](t, answer)
	slices.Reverse(all)
	return all
}

func TestATeamHasItsSlotsAndIsCounted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"Field Sales","headcount":1}]`))
		s.clock.advance(time.Second)
		answer := s.Post(acme.path()+"/teams",
			`{"name":" Field  Sales! ","headcount":3,"description":"Sells.\nA lot.","budget":{"usd":12.5}}`)
		answer.Is(t, 201, "")
		made := resttest.Data[team](t, answer)
		want := team{
			ID: made.ID, CompanyID: acme.ID, Name: "Field  Sales!", Slug: "field-sales-2", Description: "Sells.\nA lot.", Headcount: 3,
			Budget:    &struct{ USD json.Number }{"12.5"},
			CreatedAt: "2026-04-11T12:00:01.000Z", UpdatedAt: "2026-04-11T12:00:01.000Z",
		}
		if diff := cmp.Diff(want, made); diff != "" || answer.Header.Get("Location") != made.path() || answer.Header.Get("ETag") != `"1"` {
			t.Errorf("%v %s", answer.Header, diff)
		}
		for _, path := range []string{made.path(), acme.path() + "/teams/field-sales-2"} {
			read := s.Get(path)
			if string(read.Data) != string(answer.Data) || read.Header.Get("ETag") != `"1"` {
				t.Errorf("%s: %s", path, read.Body)
			}
		}
		listed := resttest.Data[[]team](t, s.Get(acme.path()+"/teams"))
		if len(listed) != 2 || listed[0].ID != made.ID || listed[1].Slug != "field-sales" {
			t.Errorf("%+v", listed)
		}
		included := resttest.Data[company](t, s.Get(acme.path()+"?include=teams")).Teams
		slices.Reverse(included)
		if diff := cmp.Diff(listed, included); diff != "" {
			t.Error(diff)
		}
		for _, slot := range s.slots(t, made) {
			if slot.Status != "empty" || slot.AgentID != nil || slot.TeamID != made.ID || slot.CompanyID != acme.ID {
				t.Errorf("%+v", slot)
			}
		}
		if got := len(s.slots(t, made)); got != 3 {
			t.Errorf("%d slots", got)
		}
		seen := s.see(t, acme)
		if seen.TeamCount != 2 || seen.UpdatedAt != acme.UpdatedAt {
			t.Errorf("%+v", seen)
		}
	})
}

func TestSlotsFollowTheHeadcount(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.found(t, s.create(t, draft(t, ``)), `{"name":"Sales","headcount":3}`)
		first := s.slots(t, made)
		for _, want := range []int{1, 5, 0} {
			s.clock.advance(time.Second)
			answer := s.Patch(made.path(), fmt.Sprintf(`{"headcount":%d}`, want))
			answer.Is(t, 200, "")
			got := s.slots(t, made)
			if len(got) != want || resttest.Data[team](t, answer).Headcount != want {
				t.Errorf("%d slots, want %d", len(got), want)
			}
			if want > 0 && got[0] != first[0] {
				t.Errorf("the oldest slot is %+v, and was %+v", got[0], first[0])
			}
		}
		s.found(t, company{ID: made.CompanyID}, `{"name":"Many","headcount":1000}`)
	})
}

func TestAPatchOfATeamChangesWhatItNames(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		made := s.found(t, acme, `{"name":"Sales","headcount":1,"description":"d","budget":{"usd":1}}`)
		s.found(t, acme, `{"name":"Ops","headcount":0}`)
		for _, c := range []struct {
			body, etag string
			change     func(to *team)
		}{
			{`{}`, `"1"`, func(*team) {}},
			{`{"name":"SALES"}`, `"2"`, func(to *team) { to.Name = "SALES" }},
			{`{"description":""}`, `"3"`, func(to *team) { to.Description = "" }},
			{`{"budget":{"usd":0.25}}`, `"4"`, func(to *team) { to.Budget.USD = "0.25" }},
			{`{"budget":null,"managerAgentId":null}`, `"5"`, func(to *team) { to.Budget = nil }},
			{`{"budget":null}`, `"5"`, func(*team) {}},
		} {
			answer := s.Patch(made.path(), c.body)
			answer.Is(t, 200, "")
			c.change(&made)
			if diff := cmp.Diff(made, resttest.Data[team](t, answer)); diff != "" || answer.Header.Get("ETag") != c.etag {
				t.Errorf("%s: %s %s", c.body, answer.Header.Get("ETag"), diff)
			}
		}
		before := s.Get(made.path())
		for body, want := range map[string]string{
			`{"slug":"other"}`:                           "immutable_field slug immutable",
			`{"agentCount":3,"name":null}`:               "immutable_field agentCount immutable",
			`{"name":"ops"}`:                             "validation_failed name duplicate",
			`{"name":" "}`:                               "validation_failed name required",
			`{"headcount":-1}`:                           "validation_failed headcount out_of_range",
			`{"headcount":1001}`:                         "validation_failed headcount out_of_range",
			`{"headcount":1.5}`:                          "validation_failed headcount wrong_type",
			`{"managerAgentId":"agt_nobody"}`:            "validation_failed managerAgentId unknown_value",
			`{"budget":{}}`:                              "validation_failed budget.usd required",
			`{"budget":{"usd":-1}}`:                      "validation_failed budget.usd out_of_range",
			`{"budget":{"usd":1,"period":"daily"}}`:      "validation_failed budget.period unknown_field",
			`{"headcount":null,"color":1,"budget":1000}`: "validation_failed budget wrong_type,color unknown_field,headcount not_null",
		} {
			answer := send(s.Client, "PATCH", made.path(), body)
			if got := answer.Error.Code + " " + strings.Join(wrong(answer), ","); got != want || answer.Status != 422 {
				t.Errorf("%s: %s", body, got)
			}
		}
		send(s.Client, "PATCH", made.path(), `{"name":"New"}`, "If-Match", `"1"`).Is(t, 412, "precondition_failed")
		send(s.Client, "DELETE", made.path(), "", "If-Match", `"1"`).Is(t, 412, "precondition_failed")
		if after := s.Get(made.path()); string(after.Data) != string(before.Data) {
			t.Errorf("%s, was %s", after.Data, before.Data)
		}
	})
}

func TestWrongTeamsAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"Straße","headcount":0}]`))
		before := s.Get(acme.path())
		for body, want := range map[string]string{
			`{}`:                               "headcount required,name required",
			`{"name":"STRASSE","headcount":1}`: "name duplicate",
			`{"name":"A","headcount":"1"}`:     "headcount wrong_type",
			`{"name":"A","headcount":1001,"managerAgentId":"","budget":{"usd":"1"}}`: "budget.usd wrong_type,headcount out_of_range," +
				"managerAgentId unknown_value",
			`{"name":"` + strings.Repeat("x", 201) + `","headcount":1}`: "name too_long",
			`{"name":"A","headcount":1,"slug":"a"}`:                     "slug unknown_field",
		} {
			answer := send(s.Client, "POST", acme.path()+"/teams", body)
			answer.Is(t, 422, "validation_failed")
			if got := strings.Join(wrong(answer), ","); got != want {
				t.Errorf("%s: %s", body, got)
			}
		}
		if after := s.Get(acme.path()); string(after.Data) != string(before.Data) {
			t.Errorf("%s, was %s", after.Data, before.Data)
		}
		if listed := resttest.Data[[]team](t, s.Get(acme.path()+"/teams")); len(listed) != 1 {
			t.Errorf("%+v", listed)
		}
	})
}

func TestATeamIsDeletedWithItsSlots(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		made := s.found(t, acme, `{"name":"Sales","headcount":3}`)
		answer := s.Delete(made.path())
		answer.Is(t, 200, "")
		if diff := cmp.Diff(made, resttest.Data[team](t, answer)); diff != "" {
			t.Error(diff)
		}
		for _, path := range []string{made.path(), made.path() + "/slots"} {
			s.Get(path).Is(t, 404, "not_found")
		}
		send(s.Client, "DELETE", made.path(), "").Is(t, 404, "not_found")
		if got := s.see(t, acme).TeamCount; got != 0 {
			t.Errorf("%d teams", got)
		}
		if again := s.found(t, acme, `{"name":"Sales","headcount":1}`); again.Slug != "sales" || again.ID == made.ID {
			t.Errorf("%+v", again)
		}
	})
}

func TestTeamsAreRecordedAndSent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		made := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		s.Patch(made.path(), `{}`).Is(t, 200, "")
		s.Patch(made.path(), `{"headcount":2}`).Is(t, 200, "")
		s.Delete(made.path()).Is(t, 200, "")
		var got []string
		for _, e := range s.events(t, acme.ID) {
			got = append(got, fmt.Sprintf("%s %s %s", e.Type, e.Subject.Type, e.Previous.Append(nil)))
		}
		want := []string{"company.created company {}", "team.created team {}", `team.updated team {"headcount":1}`, "team.deleted team {}"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTeamsOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, ``)), s.create(t, draft(t, `"slug":"other"`))
		made := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		for _, path := range []string{
			other.path() + "/teams/" + made.ID, other.path() + "/teams/sales", acme.path() + "/teams/nobody", acme.path() + "/teams/tm_1",
			"/v1/companies/cmp_01h455vb4pex5vsknk084sn02q/teams/sales",
		} {
			s.Get(path).Is(t, 404, "not_found")
			s.Get(path+"/slots").Is(t, 404, "not_found")
			send(s.Client, "PATCH", path, `{"name":" "}`).Is(t, 404, "not_found")
			send(s.Client, "DELETE", path, "").Is(t, 404, "not_found")
		}
		s.Get("/v1/companies/cmp_01h455vb4pex5vsknk084sn02q/teams").Is(t, 404, "not_found")
		send(s.Client, "POST", "/v1/companies/cmp_01h455vb4pex5vsknk084sn02q/teams", `{}`).Is(t, 404, "not_found")

		limited := s.with(t, "company:"+acme.ID+":read")
		limited.Get(made.path()).Is(t, 200, "")
		limited.Get(other.path()+"/teams").Is(t, 404, "not_found")
		send(limited, "POST", acme.path()+"/teams", `{"name":"A","headcount":1}`).Is(t, 403, "insufficient_scope")
		send(limited, "PATCH", made.path(), `{"name":"A"}`).Is(t, 403, "insufficient_scope")
		send(limited, "DELETE", made.path(), "").Is(t, 403, "insufficient_scope")
		writing := s.with(t, "company:"+acme.ID+":write")
		send(writing, "POST", acme.path()+"/teams", `{"name":"A","headcount":1}`).Is(t, 201, "")
		send(writing, "POST", other.path()+"/teams", `{"name":"A","headcount":1}`).Is(t, 404, "not_found")
	})
}

func TestAnArchivedCompanyKeepsItsTeams(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		made := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.Get(made.path()).Is(t, 200, "")
		send(s.Client, "POST", acme.path()+"/teams", `{}`).Is(t, 409, "company_archived")
		send(s.Client, "PATCH", made.path(), `{"slug":"x"}`).Is(t, 409, "company_archived")
		send(s.Client, "DELETE", made.path(), "").Is(t, 409, "company_archived")
		send(s.Client, "PATCH", made.path(), `{}`, "If-Match", `"7"`).Is(t, 412, "precondition_failed")
		send(s.Client, "PATCH", acme.path()+"/teams/nobody", `{}`).Is(t, 404, "not_found")
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		s.Patch(made.path(), `{"headcount":0}`).Is(t, 200, "")
	})
}

// Sixteen clients create teams of one name, and of names of their own, while others change headcounts.
func TestTeamsMadeAtOnceAreCountedExactly(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const each = 4
		acme := s.create(t, draft(t, ``))
		shared := s.found(t, acme, `{"name":"Shared","headcount":0}`)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range each {
					own := fmt.Sprintf(`{"name":"Team %d-%d!","headcount":%d}`, i, n, n)
					send(s.Client, "POST", acme.path()+"/teams", own).Is(t, 201, "")
					wanted := send(s.Client, "POST", acme.path()+"/teams", fmt.Sprintf(`{"name":"wanted %d","headcount":1}`, n))
					if wanted.Status != 201 {
						wanted.Is(t, 422, "validation_failed")
					}
					send(s.Client, "PATCH", shared.path(), fmt.Sprintf(`{"headcount":%d}`, i+n)).Is(t, 200, "")
				}
			})
		}
		all.Wait()
		listed := resttest.Data[[]team](t, s.Get(acme.path()+"/teams?limit=200"))
		slugs := map[string]bool{}
		for _, one := range listed {
			slugs[one.Slug] = true
			if got := len(s.slots(t, one)); got != one.Headcount {
				t.Errorf("%s has %d slots and a headcount of %d", one.Name, got, one.Headcount)
			}
		}
		if want := 8*each + each + 1; len(listed) != want || len(slugs) != want || s.see(t, acme).TeamCount != want {
			t.Errorf("%d teams with %d slugs, counted as %d; want %d", len(listed), len(slugs), s.see(t, acme).TeamCount, want)
		}
		var recorded int
		for _, e := range s.events(t, acme.ID) {
			if e.Type == event.TeamCreated {
				recorded++
			}
		}
		if recorded != len(listed) {
			t.Errorf("%d teams, %d events", len(listed), recorded)
		}
	})
}

func TestARepeatedTeamIsMadeOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		first := send(s.Client, "POST", acme.path()+"/teams", `{"name":"Sales","headcount":2}`, "Idempotency-Key", "k")
		first.Is(t, 201, "")
		again := send(s.Client, "POST", acme.path()+"/teams", `{"name":"Sales","headcount":2}`, "Idempotency-Key", "k")
		again.Is(t, 201, "")
		if string(again.Data) != string(first.Data) || again.Header.Get("Idempotency-Replayed") != "true" ||
			again.Header.Get("Location") != first.Header.Get("Location") {
			t.Errorf("%v %s", again.Header, again.Body)
		}
		if got := s.see(t, acme).TeamCount; got != 1 {
			t.Errorf("%d teams", got)
		}
	})
}
