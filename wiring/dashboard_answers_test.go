package wiring_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// glance looks at a part of the dashboard of a company, of which the server does not keep an answer any more.
func glance[T any](t *testing.T, s *instance, in company, part string) T {
	t.Helper()
	s.clock.advance(time.Second)
	answer := s.In(t).Get(in.path() + "/dashboard/" + part)
	answer.Is(t, 200, "")
	return resttest.Data[T](t, answer)
}

type apiGlance struct {
	Today, ThisPeriod, Budget, Remaining, ForecastEndOfPeriod json.Number

	ByTeam, ByAgent []apiPart
}

func TestTheDashboardShowsWhatACompanyCosts(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		got := glance[apiGlance](t, s, p.company, "cost")
		report := s.costsOf(t, p.company, "")
		forecast := resttest.Data[struct{ ExpectedUsd json.Number }](t, s.Get(p.path()+"/costs/forecast"))
		if got.Today != "4.5" || got.ThisPeriod != report.Total.Usd || got.Budget != "90" || got.Remaining == "" ||
			fmt.Sprint(got.ByTeam) != fmt.Sprint(report.ByTeam) || len(got.ByAgent) != len(p.by) ||
			!within(t, got.ForecastEndOfPeriod, forecast.ExpectedUsd) {
			t.Errorf("%+v, the report is %+v, the forecast %+v", got, report, forecast)
		}
		empty := s.create(t, named("empty"))
		if got := glance[apiGlance](t, s, empty, "cost"); got.Today != "0" || got.ThisPeriod != "0" ||
			len(got.ByTeam)+len(got.ByAgent) > 0 {
			t.Errorf("%+v", got)
		}
	})
}

// within reports whether two forecasts are of nearly the same moment.
func within(t *testing.T, a, b json.Number) bool {
	t.Helper()
	first, err := a.Float64()
	must(t, err)
	second, err := b.Float64()
	must(t, err)
	return first >= second && first <= second*1.1
}

type apiOrg struct {
	Teams []struct {
		ID, Name, Slug        string
		ManagerAgentID        *string
		Headcount, EmptySlots int
		Agents                []struct{ ID, Name, Role, Status string }
	}
	Truncated bool
}

func TestTheDashboardShowsWhoWorksForACompany(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		if got := glance[apiOrg](t, s, acme, "org"); len(got.Teams) != 0 || got.Truncated {
			t.Errorf("%+v", got)
		}
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		s.clock.advance(time.Second)
		s.found(t, acme, `{"name":"None","headcount":0}`)
		ada := s.hire(t, sales, "")
		s.Patch(sales.path(), `{"managerAgentId":"`+ada.ID+`"}`).Is(t, 200, "")
		got := glance[apiOrg](t, s, acme, "org")
		if len(got.Teams) != 2 || got.Truncated || got.Teams[0].Slug != "sales" || got.Teams[0].EmptySlots != 1 ||
			*got.Teams[0].ManagerAgentID != ada.ID || len(got.Teams[0].Agents) != 1 || got.Teams[0].Agents[0].Status != "active" ||
			got.Teams[0].Agents[0].Name != "Ada" || got.Teams[1].ManagerAgentID != nil || got.Teams[1].EmptySlots != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestTheDashboardIsKeptForASecond(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		path := acme.path() + "/dashboard/org"
		read := func() (int, string) {
			answer := s.In(t).Get(path)
			answer.Is(t, 200, "")
			var envelope struct{ Meta struct{ GeneratedAt string } }
			must(t, json.Unmarshal(answer.Body, &envelope))
			if _, err := time.Parse("2006-01-02T15:04:05.000Z", envelope.Meta.GeneratedAt); err != nil {
				t.Error(err)
			}
			return len(resttest.Data[apiOrg](t, answer).Teams), envelope.Meta.GeneratedAt
		}
		_, before := read()
		s.found(t, acme, `{"name":"Sales","headcount":1}`)
		if teams, at := read(); teams != 0 || at != before {
			t.Errorf("%d teams at %s, first at %s", teams, at, before)
		}
		s.clock.advance(time.Second)
		if teams, _ := read(); teams != 1 {
			t.Errorf("%d teams", teams)
		}
	})
}

func TestTheDashboardIsForThoseWhoMayReadTheCompany(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, ``)), s.create(t, named("other"))
		for _, part := range []string{"overview", "inbox", "health", "cost", "org", "activity"} {
			path := acme.path() + "/dashboard/" + part
			s.In(t).Get(path).Is(t, 200, "")
			s.with(t, "read").Get(path).Is(t, 200, "")
			s.with(t, "company:"+acme.ID+":read").Get(path).Is(t, 200, "")
			s.with(t, "company:"+other.ID+":read").Get(path).Is(t, 404, "not_found")
			s.with(t, "write").Get(path).Is(t, 403, "insufficient_scope")
			send(s.In(t), "GET", path+"?since=today", "").Is(t, 400, "invalid_parameter")
			send(s.In(t), "POST", path, "{}").Is(t, 405, "method_not_allowed")
			s.Get("/v1/companies/cmp_00000000000000000000000000/dashboard/"+part).Is(t, 404, "not_found")
			send(s.In(t), "GET", "/v1/companies/x/dashboard/"+part, "").Is(t, 404, "not_found")
		}
	})
}
