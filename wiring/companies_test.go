package wiring_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

func TestAMinimalCompanyHasDefaults(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		answer := s.Post("/v1/companies", `{"name":"Acme","slug":"acme"}`)
		answer.Is(t, 201, "")
		acme := resttest.Data[company](t, answer)
		want := company{
			ID: acme.ID, Slug: "acme", Name: "Acme", DefaultAdapter: "process", FiscalPeriod: "monthly", Status: "active",
			CreatedAt: "2026-04-11T12:00:00.000Z", UpdatedAt: "2026-04-11T12:00:00.000Z",
		}
		want.Budget.USD, want.Budget.ReservePercent, want.Budget.Period = []byte("0"), []byte("0"), []byte(`"monthly"`)
		if diff := cmp.Diff(want, acme); diff != "" {
			t.Error(diff)
		}
		if answer.Header.Get("Location") != acme.path() || answer.Header.Get("ETag") == "" {
			t.Errorf("%v", answer.Header)
		}
		read := s.Get(answer.Header.Get("Location"))
		if string(read.Data) != string(answer.Data) || read.Header.Get("ETag") != answer.Header.Get("ETag") {
			t.Errorf("created %s, read %s", answer.Data, read.Data)
		}
		if !exists(t, s.workspace(acme)) {
			t.Error("there is no workspace")
		}
	})
}

func TestAFullCompanyIsKeptAsItWasSent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		answer := s.Post("/v1/companies", `{"name":"  Café 東京 \ud83d\ude80 ","slug":"a-1","description":" two\nlines\t",
			"defaultAdapter":"http","fiscalPeriod":"quarterly","budget":{"usd":12.50,"period":"daily","reservePercent":33.33},
			"startingTeams":[{"name":"Sales & Ops","headcount":2},{"name":"!","headcount":0},
				{"name":"?","headcount":1},{"name":"Ünïtéd","headcount":0}]}`)
		answer.Is(t, 201, "")
		if answer.Header.Get("ETag") != "" {
			t.Error("an answer with embedded resources has a tag")
		}
		acme := resttest.Data[company](t, answer)
		teams, slots := acme.Teams, acme.AgentSlots
		acme.Teams, acme.AgentSlots = nil, nil
		want := company{
			ID: acme.ID, Slug: "a-1", Name: "Café 東京 🚀", Description: " two\nlines\t", DefaultAdapter: "http", FiscalPeriod: "quarterly",
			Status: "active", TeamCount: 4, CreatedAt: acme.CreatedAt, UpdatedAt: acme.CreatedAt,
		}
		want.Budget.USD, want.Budget.ReservePercent, want.Budget.Period = []byte("12.5"), []byte("33.33"), []byte(`"daily"`)
		if diff := cmp.Diff(want, acme); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, s.see(t, acme)); diff != "" {
			t.Error(diff)
		}

		wantTeams := []team{
			{Name: "Sales & Ops", Slug: "sales-ops", Headcount: 2}, {Name: "!", Slug: "team"}, {Name: "?", Slug: "team-2", Headcount: 1},
			{Name: "Ünïtéd", Slug: "united"},
		}
		for i := range wantTeams {
			wantTeams[i].ID, wantTeams[i].CompanyID = teams[i].ID, acme.ID
			wantTeams[i].CreatedAt, wantTeams[i].UpdatedAt = acme.CreatedAt, acme.CreatedAt
		}
		if diff := cmp.Diff(wantTeams, teams); diff != "" {
			t.Error(diff)
		}
		counts := map[string]int{}
		for _, slot := range slots {
			if slot.Status != "empty" || slot.AgentID != nil || slot.CompanyID != acme.ID || !strings.HasPrefix(slot.ID, "slt_") {
				t.Errorf("%+v", slot)
			}
			counts[slot.TeamID]++
		}
		if want := map[string]int{teams[0].ID: 2, teams[2].ID: 1}; !maps.Equal(counts, want) {
			t.Errorf("slots by team: %v", counts)
		}
		if included := resttest.Data[company](t, s.Get(acme.path()+"?include=teams")); cmp.Diff(teams, included.Teams) != "" {
			t.Errorf("%+v", included.Teams)
		}
		if none := s.Post("/v1/companies", draft(t, `"startingTeams":[]`)); !strings.Contains(string(none.Data),
			`"teams":[],"agentSlots":[]`) {
			t.Errorf("%s", none.Data)
		}
	})
}

func TestAPatchKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"description":"d","defaultAdapter":"http","budget":{"usd":10,"period":"weekly","reservePercent":5}`))
		for _, c := range []struct {
			patch  string
			change func(c *company)
		}{
			{`{"name":"New"}`, func(c *company) { c.Name = "New" }},
			{`{"description":""}`, func(c *company) { c.Description = "" }},
			{`{"defaultAdapter":"process"}`, func(c *company) { c.DefaultAdapter = "process" }},
			{`{"fiscalPeriod":"daily"}`, func(c *company) { c.FiscalPeriod = "daily" }},
			{`{"budget":{"usd":0.25}}`, func(c *company) { c.Budget.USD = []byte("0.25") }},
			{`{"budget":{"period":"quarterly"}}`, func(c *company) { c.Budget.Period = []byte(`"quarterly"`) }},
			{`{"budget":{"reservePercent":7.5}}`, func(c *company) { c.Budget.ReservePercent = []byte("7.5") }},
			{`{"workPaused":true}`, func(c *company) { c.WorkPaused = true }},
			{`{"name":"Newer","budget":{"usd":1,"reservePercent":0}}`, func(c *company) {
				c.Name, c.Budget.USD, c.Budget.ReservePercent = "Newer", []byte("1"), []byte("0")
			}},
		} {
			s.clock.advance(time.Second)
			before := s.Get(acme.path())
			answer := s.Patch(acme.path(), c.patch)
			answer.Is(t, 200, "")
			c.change(&acme)
			acme.UpdatedAt = s.clock.Now().Format("2006-01-02T15:04:05.000Z")
			if diff := cmp.Diff(acme, resttest.Data[company](t, answer)) + cmp.Diff(acme, s.see(t, acme)); diff != "" {
				t.Errorf("%s: %s", c.patch, diff)
			}
			if answer.Header.Get("ETag") == before.Header.Get("ETag") {
				t.Errorf("%s: the tag stays %s", c.patch, answer.Header.Get("ETag"))
			}
		}
	})
}

func TestAPatchThatChangesNothingLeavesNoTrace(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"name":"Café","budget":{"usd":12.5}`))
		before := s.Get(acme.path())
		s.clock.advance(time.Hour)
		for _, patch := range []string{
			`{}`, `{"name":"Café"}`, `{"name":" Cafe\u0301 "}`, `{"budget":{}}`,
			`{"budget":{"usd":12.500}}`, `{"budget":{"usd":1250e-2,"period":"monthly"}}`,
			`{"description":"","defaultAdapter":"process","fiscalPeriod":"monthly"}`, `{"workPaused":false}`,
		} {
			answer := s.Patch(acme.path(), patch)
			answer.Is(t, 200, "")
			if string(answer.Data) != string(before.Data) || answer.Header.Get("ETag") != before.Header.Get("ETag") {
				t.Errorf("%s: %s %s", patch, answer.Header.Get("ETag"), answer.Data)
			}
		}
		if events := s.events(t, acme.ID); len(events) != 1 {
			t.Errorf("there are %d events", len(events))
		}
	})
}

func TestAPauseOfItsWorkIsAnOrdinaryChangeOfACompany(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"Sales","headcount":1}]`))
		for _, paused := range []string{"true", "true", "false"} {
			s.clock.advance(time.Second)
			s.Patch(acme.path(), `{"workPaused":`+paused+`}`).Is(t, 200, "")
		}
		var told []string
		for _, e := range s.events(t, acme.ID)[1:] {
			data, err := e.Data.MarshalJSON()
			must(t, err)
			previous, err := e.Previous.MarshalJSON()
			must(t, err)
			told = append(told, fmt.Sprintf("%s %s %s", e.Type, object(t, data)["workPaused"], previous))
		}
		want := []string{
			`company.updated true {"updatedAt":"2026-04-11T12:00:00.000Z","workPaused":false}`,
			`company.updated false {"updatedAt":"2026-04-11T12:00:01.000Z","workPaused":true}`,
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}

		s.Patch(acme.path(), `{"workPaused":true}`).Is(t, 200, "")
		s.with(t, "read").Patch(acme.path(), `{"workPaused":false}`).Is(t, 403, "insufficient_scope")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.Patch(acme.path(), `{"workPaused":false}`).Is(t, 409, "company_archived")
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		if got := s.see(t, acme); !got.WorkPaused || len(slugs(t, s.Get("/v1/companies"))) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestWhatIsPermanentCannotBePatched(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for _, field := range []string{
			"id", "slug", "createdAt", "updatedAt", "teamCount", "agentCount", "status", "startingTeams", "archivedAt", "restorableUntil",
		} {
			for _, value := range []string{`"acme"`, "null", "1", "[]"} {
				answer := send(s.Client, "PATCH", acme.path(), `{"`+field+`":`+value+`,"name":"","x":1,"budget":{"usd":-1}}`)
				answer.Is(t, 422, "immutable_field")
				if want := []string{field + " immutable"}; !slices.Equal(wrong(answer), want) {
					t.Errorf("%s: %v", field, wrong(answer))
				}
			}
		}
		answer := send(s.Client, "PATCH", acme.path(), `{"slug":"x","id":"y"}`)
		if want := []string{"id immutable", "slug immutable"}; !slices.Equal(wrong(answer), want) {
			t.Errorf("%v", wrong(answer))
		}
		if diff := cmp.Diff(acme, s.see(t, acme)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestIncludeEmbedsLists(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"A","headcount":1}]`))
		plain := object(t, s.Get(acme.path()).Data)
		for _, include := range []string{"teams", "agents", "workflows", "budgets", "budgets,teams", "teams,agents,workflows,budgets"} {
			answer := s.Get(acme.path() + "?include=" + include)
			shown := object(t, answer.Data)
			for name := range strings.SplitSeq(include, ",") {
				has := name == "teams" || name == "budgets"
				if list, _ := shown[name].(string); list != "[]" && !has || list == "" || has && len(list) < 100 {
					t.Errorf("%s: %s is %s", include, name, list)
				}
				delete(shown, name)
			}
			if diff := cmp.Diff(plain, shown); diff != "" || answer.Header.Get("ETag") != "" {
				t.Errorf("%s: %s, tag %s", include, diff, answer.Header.Get("ETag"))
			}
		}
		for _, query := range []string{
			"include=foo", "include=", "include=teams,", "include=,teams", "include=teams,foo", "include=Teams", "include=teams,teams",
			"include=teams&include=agents", "include=teams;x", "include", "include=%zz",
			"x=1", "include=teams&x=1", "=1", "include=%20teams", "limit=1",
		} {
			answer := send(s.Client, http.MethodGet, acme.path()+"?"+query, "")
			answer.Is(t, 400, "invalid_parameter")
		}
		s.Get(acme.path()+"?include=teams%2Cagents").Is(t, 200, "")
	})
}
