package wiring_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
)

// apiAgent is an agent as the API shows it.
type apiAgent struct {
	ID, CompanyID, TeamID, Name, Role, Adapter, Model, Status, CreatedAt, UpdatedAt, Token, Instructions string

	SlotID         *string
	AdapterConfig  json.RawMessage
	MemoryScopes   []string
	Budget         struct{ PerTaskUsd, DailyUsd *json.Number }
	ApprovalPolicy struct{ Requires []string }
	Stats          struct {
		TasksCompleted, TasksFailed, AdapterFailures int
		AverageTaskUsd                               *json.Number
		LastActiveAt                                 *string
	}
}

func (a apiAgent) path() string { return "/v1/companies/" + a.CompanyID + "/agents/" + a.ID }

// hire makes an agent in a team.
func (s *instance) hire(t *testing.T, in team, members string) apiAgent {
	t.Helper()
	answer := s.In(t).Post("/v1/companies/"+in.CompanyID+"/agents", `{"teamId":"`+in.ID+`","name":"Ada","role":"Engineer"`+members+`}`)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[apiAgent](t, answer)
}

func TestAHiredAgentFillsASlotAndIsCounted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"defaultAdapter":"http"`))
		sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
		s.clock.advance(time.Second)
		answer := s.Post(acme.path()+"/agents", `{"teamId":"`+sales.ID+`","name":" Ada ","role":"Engineer","model":"claude",
			"adapterConfig":{"url":"https://example.com", "n" : 1e3},"memoryScopes":["project","agent","project"],
			"budget":{"perTaskUsd":2.50,"dailyUsd":null},"approvalPolicy":{"requires":["issue.create","deploy.*","issue.create"]}}`)
		answer.Is(t, 201, "")
		ada := resttest.Data[apiAgent](t, answer)
		slots := s.slots(t, sales)
		want := apiAgent{
			ID: ada.ID, CompanyID: acme.ID, TeamID: sales.ID, Name: "Ada", Role: "Engineer", Adapter: "http", Model: "claude",
			Status: "active", SlotID: &slots[0].ID, AdapterConfig: []byte(`{"url":"https://example.com","n":1e3}`),
			MemoryScopes: []string{"project", "agent"}, Token: ada.Token,
			CreatedAt: "2026-04-11T12:00:01.000Z", UpdatedAt: "2026-04-11T12:00:01.000Z",
		}
		want.Budget.PerTaskUsd, want.ApprovalPolicy.Requires = new(json.Number("2.5")), []string{"issue.create", "deploy.*"}
		if diff := cmp.Diff(want, ada); diff != "" || !regexp.MustCompile(`^hca_[0-9A-Za-z]{49}$`).MatchString(ada.Token) {
			t.Error(ada.Token, diff)
		}
		if answer.Header.Get("Location") != ada.path() || answer.Header.Get("ETag") != `"1"` {
			t.Errorf("%v", answer.Header)
		}
		want.Token = ""
		for _, shown := range []apiAgent{
			resttest.Data[apiAgent](t, s.Get(ada.path())), resttest.Data[[]apiAgent](t, s.Get(acme.path()+"/agents"))[0],
		} {
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Error(diff)
			}
		}
		if slots[0].Status != "filled" || slots[0].AgentID == nil || *slots[0].AgentID != ada.ID || slots[1].Status != "empty" {
			t.Errorf("%+v", slots)
		}
		included := s.Get(acme.path() + "?include=agents,teams")
		if seen := resttest.Data[company](t, included); seen.AgentCount != 1 || seen.Teams[0].AgentCount != 1 ||
			!strings.Contains(string(included.Data), `"agents":[{"id":"`+ada.ID) {
			t.Errorf("%s", included.Data)
		}

		bob := s.hire(t, sales, "")
		if *bob.SlotID != slots[1].ID || string(bob.AdapterConfig) != "{}" || len(bob.MemoryScopes) != 0 {
			t.Errorf("%+v", bob)
		}
		full := send(s.Client, "POST", acme.path()+"/agents", `{"teamId":"`+sales.ID+`","name":"Eve","role":"Engineer"}`)
		full.Is(t, 409, "headcount_limit")
		send(s.Client, "PATCH", sales.path(), `{"headcount":1}`).Is(t, 409, "headcount_limit")
		send(s.Client, "DELETE", sales.path(), "").Is(t, 409, "team_not_empty")
		s.Patch(sales.path(), `{"headcount":3,"managerAgentId":"`+ada.ID+`"}`).Is(t, 200, "")
		s.hire(t, sales, "")
	})
}

func TestInstructionsOfAnAgentAreShownWithItAloneAndInEventsThatChangeThem(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		long := strings.Repeat("ä", 65_536)
		ada := s.hire(t, sales, `,"instructions":"`+long+`"`)
		is := func(want string) {
			t.Helper()
			if got := resttest.Data[apiAgent](t, s.Get(ada.path())); got.Instructions != want {
				t.Errorf("%d bytes, not %d", len(got.Instructions), len(want))
			}
		}
		is(long)
		for _, path := range []string{"/agents", "/agents?q=ada", "?include=agents"} {
			list := s.Get(acme.path() + path)
			list.Is(t, 200, "")
			if strings.Contains(string(list.Data), "instructions") {
				t.Errorf("%.200s", list.Data)
			}
		}
		for _, refused := range []string{`"` + long + `x"`, `7`, `"a\u0000b"`} {
			send(s.Client, "PATCH", ada.path(), `{"instructions":`+refused+`}`).Is(t, 422, "validation_failed")
		}
		is(long)
		again := send(s.Client, "PATCH", ada.path(), `{"instructions":"`+long+`"}`)
		if again.Is(t, 200, ""); again.Header.Get("ETag") != `"1"` {
			t.Error("a patch that changes nothing made a new version")
		}
		s.Patch(ada.path(), `{"instructions":"# How\n\nBriefly."}`).Is(t, 200, "")
		is("# How\n\nBriefly.")
		s.Patch(ada.path(), `{"role":"Lead"}`).Is(t, 200, "")
		for _, none := range []string{`null`, `" \n"`} {
			s.Patch(ada.path(), `{"instructions":"Any."}`).Is(t, 200, "")
			s.Patch(ada.path(), `{"instructions":`+none+`}`).Is(t, 200, "")
			is("")
		}
		var said []string // by events about the agent: what its instructions are, and "-" where they are left out
		for _, e := range s.events(t, acme.ID) {
			if e.Subject.ID != ada.ID {
				continue
			}
			text, isSaid := object(t, e.Data.Append(nil))["instructions"].(string)
			switch {
			case !isSaid:
				text = "-"
			case text == `"`+long+`"`:
				text = "long"
			}
			said = append(said, text)
		}
		if diff := cmp.Diff([]string{"long", `"# How\n\nBriefly."`, "-", `"Any."`, `""`, `"Any."`, `""`}, said); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnAgentIsPausedResumedAndRetired(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		ada := s.hire(t, sales, "")
		for _, step := range []struct{ action, status, from string }{
			{"resume", "", "active"}, {"pause", "paused", ""}, {"pause", "", "paused"}, {"resume", "active", ""}, {"pause", "paused", ""},
			{"retire", "retired", ""}, {"retire", "", "retired"}, {"pause", "", "retired"}, {"resume", "", "retired"},
			{"rotate-token", "", "retired"},
		} {
			answer := send(s.Client, "POST", ada.path()+"/"+step.action, "")
			if step.from == "" {
				answer.Is(t, 200, "")
				if got := resttest.Data[apiAgent](t, answer).Status; got != step.status {
					t.Errorf("%s: %s", step.action, got)
				}
				continue
			}
			answer.Is(t, 409, "invalid_transition")
			if got := details(t, answer); got["from"] != step.from || got["action"] != step.action {
				t.Errorf("%s: %v", step.action, got)
			}
		}
		send(s.Client, "PATCH", ada.path(), `{"role":"Ghost"}`).Is(t, 409, "invalid_transition")
		gone := resttest.Data[apiAgent](t, s.Get(ada.path()))
		if gone.SlotID != nil || gone.TeamID != sales.ID || s.slots(t, sales)[0].Status != "empty" || s.see(t, acme).AgentCount != 0 {
			t.Errorf("%+v", gone)
		}
		send(s.Client, "PATCH", sales.path(), `{"managerAgentId":"`+ada.ID+`"}`).Is(t, 422, "validation_failed")
		s.hire(t, sales, "")
		if got := s.see(t, acme).AgentCount; got != 1 {
			t.Errorf("%d agents", got)
		}
		var types []string
		for _, e := range s.events(t, acme.ID) {
			types = append(types, string(e.Type))
		}
		want := "company.created team.created agent.hired agent.paused agent.resumed agent.paused agent.retired agent.hired"
		if got := strings.Join(types, " "); got != want {
			t.Errorf("%s", got)
		}
	})
}

func TestATeamThatHasOnlyRetiredAgentsIsDeleted(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		ada := s.hire(t, sales, "")
		s.Patch(sales.path(), `{"managerAgentId":"`+ada.ID+`"}`).Is(t, 200, "")
		s.Post(ada.path()+"/retire", "").Is(t, 200, "")
		kept := resttest.Data[team](t, s.Patch(sales.path(), `{"name":"Sellers","managerAgentId":"`+ada.ID+`"}`))
		if kept.Name != "Sellers" || kept.ManagerAgentID == nil || *kept.ManagerAgentID != ada.ID {
			t.Errorf("%+v", kept)
		}
		s.Delete(sales.path()).Is(t, 200, "")
		if got := resttest.Data[apiAgent](t, s.Get(ada.path())); got.TeamID != sales.ID || got.Status != "retired" {
			t.Errorf("%+v", got)
		}
		s.Delete(acme.path())
		await(t, "the deletion", func() bool { return s.Get(acme.path()).Status == 404 })
		s.Get(ada.path()).Is(t, 404, "not_found")
	})
}

func TestANewTokenOfAnAgentIsShownOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		rotated := send(s.Client, "POST", ada.path()+"/rotate-token", "", "Idempotency-Key", "k")
		rotated.Is(t, 200, "")
		if token := resttest.Data[apiAgent](t, rotated).Token; token == ada.Token || !strings.HasPrefix(token, "hca_") {
			t.Errorf("%q", token)
		}
		again := send(s.Client, "POST", ada.path()+"/rotate-token", "", "Idempotency-Key", "k")
		if again.Header.Get("Idempotency-Replayed") != "true" || resttest.Data[apiAgent](t, again).Token != "" {
			t.Errorf("%s", again.Data)
		}
		for _, token := range []string{ada.Token, resttest.Data[apiAgent](t, rotated).Token} {
			s.As(token).In(t).Get("/v1/whoami").Is(t, 401, "unauthorized") // it opens the gateway, not this API
		}
		for _, e := range s.events(t, acme.ID) {
			if strings.Contains(string(e.Data.Append(nil)), "hca_") {
				t.Errorf("%s holds a token", e.Type)
			}
		}
	})
}

func TestAgentsAreFiltered(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		sales, ops := s.found(t, acme, `{"name":"Sales","headcount":5}`), s.found(t, acme, `{"name":"Ops","headcount":5}`)
		one, two := s.hire(t, sales, ""), s.hire(t, sales, `,"adapter":"http"`)
		three, four := s.hire(t, ops, ""), s.hire(t, ops, "")
		s.Post(two.path()+"/pause", "").Is(t, 200, "")
		s.Post(four.path()+"/retire", "").Is(t, 200, "")
		for query, want := range map[string][]apiAgent{
			"":                                     {four, three, two, one},
			"?team=sales":                          {two, one},
			"?team=" + ops.ID:                      {four, three},
			"?status=active":                       {three, one},
			"?status=paused,retired":               {four, two},
			"?adapter=http":                        {two},
			"?team=sales&status=active":            {one},
			"?adapter=nothing":                     {},
			"?status=active&limit=1":               {three},
			"?team=ops&status=active&adapter=http": {},
		} {
			var got, ids []string
			for _, a := range resttest.Data[[]apiAgent](t, s.Get(acme.path()+"/agents"+query)) {
				got = append(got, a.ID)
			}
			for _, a := range want {
				ids = append(ids, a.ID)
			}
			if diff := cmp.Diff(ids, got); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
		s.Get(acme.path()+"/agents?team=nobody").Is(t, 404, "not_found")
		for _, query := range []string{"?status=idle", "?status=active,active", "?status=", "?team=", "?color=red", "?limit=201"} {
			s.Send(resttest.Request{Method: "GET", Path: acme.path() + "/agents" + query, Wrong: true}).Is(t, 400, "invalid_parameter")
		}
	})
}

func TestWrongAgentsAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, ``)), s.create(t, draft(t, `"slug":"other"`))
		sales, theirs := s.found(t, acme, `{"name":"Sales","headcount":1}`), s.found(t, other, `{"name":"Sales","headcount":1}`)
		before := s.Get(acme.path())
		long, many := strings.Repeat("x", 16<<10), strings.Repeat(`,"x"`, 50)
		valid := `"teamId":"` + sales.ID + `","name":"Ada","role":"Engineer"`
		for body, want := range map[string]string{
			`{}`: "name required,role required,teamId required",
			`{"teamId":"` + theirs.ID + `","name":"Ada","role":"Engineer"}`:       "teamId unknown_value",
			`{"teamId":"sales","name":"Ada","role":" "}`:                          "role required,teamId unknown_value",
			`{` + valid + `,"adapterConfig":[]}`:                                  "adapterConfig wrong_type",
			`{` + valid + `,"adapterConfig":{"env":{"KEY":[{"secret":"name"}]}}}`: "adapterConfig.env wrong_type",
			`{` + valid + `,"adapterConfig":{"x":"` + long + `"}}`:                "adapterConfig too_long",
			`{` + valid + `,"memoryScopes":["agent","world"]}`:                    "memoryScopes.1 unknown_value",
			`{` + valid + `,"budget":{"perTaskUsd":-1,"dailyUsd":0.0000001}}`: "budget.dailyUsd too_precise," +
				"budget.perTaskUsd out_of_range",
			`{` + valid + `,"budget":null}`:                                   "budget not_null",
			`{` + valid + `,"approvalPolicy":{"requires":["ok"," "]}}`:        "approvalPolicy.requires.1 required",
			`{` + valid + `,"approvalPolicy":{"requires":["x"` + many + `]}}`: "approvalPolicy.requires too_many",
			`{` + valid + `,"model":"` + long[:201] + `","status":"active"}`:  "model too_long,status unknown_field",
		} {
			answer := send(s.Client, "POST", acme.path()+"/agents", body)
			answer.Is(t, 422, "validation_failed")
			if got := strings.Join(wrong(answer), ","); got != want {
				t.Errorf("%.200s: %s, want %s", body, got, want)
			}
		}
		send(s.Client, "POST", acme.path()+"/agents", `{`+valid+`,"adapter":"telepathy"}`).Is(t, 422, "adapter_not_installed")
		if after := s.Get(acme.path()); string(after.Data) != string(before.Data) {
			t.Errorf("%s, was %s", after.Data, before.Data)
		}
		if got := s.slots(t, sales); got[0].Status != "empty" {
			t.Errorf("%+v", got)
		}
	})
}

func TestAPatchOfAnAgentChangesWhatItNames(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`),
			`,"adapter":"http","adapterConfig":{"url":"https://a.example","headers":{"a":"1","b":"2"}},`+
				`"budget":{"perTaskUsd":1,"dailyUsd":10}`)
		ada.Token = ""
		for _, c := range []struct {
			body, etag string
			change     func(to *apiAgent)
		}{
			{`{}`, `"1"`, func(*apiAgent) {}},
			{`{"name":"Eve","role":"Lead"}`, `"2"`, func(to *apiAgent) { to.Name, to.Role = "Eve", "Lead" }},
			{`{"adapterConfig":{"headers":{"b":null,"c":"3"}}}`, `"3"`, func(to *apiAgent) {
				to.AdapterConfig = []byte(`{"headers":{"a":"1","c":"3"},"url":"https://a.example"}`)
			}},
			{`{"budget":{"dailyUsd":null}}`, `"4"`, func(to *apiAgent) { to.Budget.DailyUsd = nil }},
			{`{"memoryScopes":["client"],"approvalPolicy":{"requires":["x"]},"model":"m"}`, `"5"`, func(to *apiAgent) {
				to.MemoryScopes, to.ApprovalPolicy.Requires, to.Model = []string{"client"}, []string{"x"}, "m"
			}},
			{`{"model":"","approvalPolicy":{}}`, `"6"`, func(to *apiAgent) { to.Model = "" }},
			{`{"adapterConfig":{}}`, `"6"`, func(*apiAgent) {}},
		} {
			answer := s.Patch(ada.path(), c.body)
			answer.Is(t, 200, "")
			c.change(&ada)
			got := resttest.Data[apiAgent](t, answer)
			if diff := cmp.Diff(plainJSON(t, ada.AdapterConfig), plainJSON(t, got.AdapterConfig)); diff != "" {
				t.Errorf("%s: %s", c.body, diff)
			}
			got.AdapterConfig = ada.AdapterConfig
			if diff := cmp.Diff(ada, got); diff != "" || answer.Header.Get("ETag") != c.etag {
				t.Errorf("%s: %s %s", c.body, answer.Header.Get("ETag"), diff)
			}
		}
		for body, want := range map[string]string{
			`{"teamId":"tm_1","status":"paused"}`: "422 immutable_field status immutable,teamId immutable",
			`{"stats":{}}`:                        "422 immutable_field stats immutable",
			`{"name":null,"adapterConfig":null}`:  "422 validation_failed adapterConfig not_null,name not_null",
			`{"adapter":"telepathy"}`:             "422 adapter_not_installed ",
		} {
			answer := send(s.Client, "PATCH", ada.path(), body)
			if got := fmt.Sprintf("%d %s %s", answer.Status, answer.Error.Code, strings.Join(wrong(answer), ",")); got != want {
				t.Errorf("%s: %s, want %s", body, got, want)
			}
		}
		send(s.Client, "PATCH", ada.path(), `{"name":"X"}`, "If-Match", `"1"`).Is(t, 412, "precondition_failed")
		send(s.Client, "POST", ada.path()+"/retire", "", "If-Match", `"1"`).Is(t, 412, "precondition_failed")
	})
}

func plainJSON(t *testing.T, text []byte) (value any) {
	t.Helper()
	must(t, json.Unmarshal(text, &value))
	return value
}

// The adapter process runs programs on the host of Holdco.
func TestOnlyAdminsSayWhichProgramsAgentsRun(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		sales := s.found(t, acme, `{"name":"Sales","headcount":9}`)
		writer := s.with(t, "read", "write")
		body := func(members string) string {
			return `{"teamId":"` + sales.ID + `","name":"Ada","role":"Engineer"` + members + `}`
		}
		const program = `"adapterConfig":{"command":["true"]}`
		send(writer, "POST", acme.path()+"/agents", body(","+program)).Is(t, 403, "insufficient_scope")
		plain := resttest.Data[apiAgent](t, send(writer, "POST", acme.path()+"/agents", body("")))
		send(writer, "PATCH", plain.path(), `{`+program+`}`).Is(t, 403, "insufficient_scope")
		web := resttest.Data[apiAgent](t, send(writer, "POST", acme.path()+"/agents", body(`,"adapter":"http",`+program)))
		send(writer, "PATCH", web.path(), `{"adapter":"process"}`).Is(t, 403, "insufficient_scope")
		send(writer, "PATCH", web.path(), `{"adapterConfig":{"command":null}}`).Is(t, 200, "")
		send(writer, "PATCH", web.path(), `{"adapter":"process"}`).Is(t, 200, "")

		s.Patch(plain.path(), `{`+program+`}`).Is(t, 200, "")
		send(writer, "PATCH", plain.path(), `{"role":"Lead",`+program+`}`).Is(t, 200, "")
		send(writer, "PATCH", plain.path(), `{"adapterConfig":{"x":1}}`).Is(t, 403, "insufficient_scope")
		send(writer, "PATCH", plain.path(), `{"adapterConfig":{"command":null}}`).Is(t, 200, "")
	})
}

func TestAgentsOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, ``)), s.create(t, draft(t, `"slug":"other"`))
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		for _, path := range []string{other.path() + "/agents/" + ada.ID, acme.path() + "/agents/agt_01h455vb4pex5vsknk084sn02q"} {
			s.Get(path).Is(t, 404, "not_found")
			send(s.Client, "PATCH", path, `{"name":" "}`).Is(t, 404, "not_found")
			for _, action := range []string{"pause", "resume", "retire", "rotate-token"} {
				send(s.Client, "POST", path+"/"+action, "").Is(t, 404, "not_found")
			}
		}
		limited := s.with(t, "company:"+other.ID+":write", "company:"+other.ID+":read")
		send(limited, "GET", ada.path(), "").Is(t, 404, "not_found")
		send(limited, "POST", ada.path()+"/retire", "").Is(t, 404, "not_found")
		reader := s.with(t, "read")
		send(reader, "POST", ada.path()+"/pause", "").Is(t, 403, "insufficient_scope")

		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		s.Get(ada.path()).Is(t, 200, "")
		send(s.Client, "POST", ada.path()+"/pause", "").Is(t, 409, "company_archived")
		send(s.Client, "PATCH", ada.path(), `{"teamId":"x"}`).Is(t, 409, "company_archived")
		send(s.Client, "POST", acme.path()+"/agents", `{}`).Is(t, 409, "company_archived")
	})
}

// Clients hire more than there is room for, retire, and change the headcount, all at once.
func TestNoTeamEverHasMoreAgentsThanSlots(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		sales := s.found(t, acme, `{"name":"Sales","headcount":4}`)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range 6 {
					hired := send(s.Client, "POST", acme.path()+"/agents", `{"teamId":"`+sales.ID+`","name":"Ada","role":"Engineer"}`)
					switch {
					case hired.Status == 201 && n%2 == 0:
						send(s.Client, "POST", resttest.Data[apiAgent](t, hired).path()+"/retire", "").Is(t, 200, "")
					case hired.Status != 201:
						hired.Is(t, 409, "headcount_limit")
					}
					if i == 0 {
						send(s.Client, "PATCH", sales.path(), fmt.Sprintf(`{"headcount":%d}`, 3+n))
					}
				}
			})
		}
		all.Wait()
		working := resttest.Data[[]apiAgent](t, s.Get(acme.path()+"/agents?status=active&limit=200"))
		live, filled, in := len(working), 0, map[string]string{}
		seen, slots := resttest.Data[team](t, s.Get(sales.path())), s.slots(t, sales)
		for _, slot := range slots {
			if slot.Status == "filled" {
				filled++
				in[slot.ID] = *slot.AgentID
			}
		}
		for _, a := range working {
			if a.SlotID == nil || in[*a.SlotID] != a.ID {
				t.Errorf("%+v is not in its slot: %v", a, in)
			}
		}
		counted := s.see(t, acme).AgentCount
		if live > seen.Headcount || live != filled || live != seen.AgentCount || live != counted || len(slots) != seen.Headcount {
			t.Errorf("%d agents in %d of %d slots; team %+v, company %d", live, filled, len(slots), seen, counted)
		}
	})
}

func TestARepeatedHireIsNotMadeAgainAndItsAnswerGoesWithTheCompany(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		body := `{"teamId":"` + s.found(t, acme, `{"name":"Sales","headcount":2}`).ID + `","name":"Ada","role":"Engineer"}`
		hire := func() resttest.Answer {
			return send(s.Client, "POST", acme.path()+"/agents", body, "Idempotency-Key", "k")
		}
		first, again := hire(), hire()
		first.Is(t, 201, "")
		again.Is(t, 201, "")
		one, other := resttest.Data[apiAgent](t, first), resttest.Data[apiAgent](t, again)
		if one.ID != other.ID || one.Token == "" || other.Token != "" || s.see(t, acme).AgentCount != 1 {
			t.Errorf("%s, then %s", first.Data, again.Data)
		}
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		hire().Is(t, 201, "")
		s.Delete(acme.path())
		await(t, "the deletion", func() bool { return s.Get(acme.path()).Status == 404 })
		hire().Is(t, 409, "idempotency_conflict")
	})
}

// A stream of hires must not keep the company from being archived, which changes the row that each hire changes.
func TestACompanyIsArchivedWhileAgentsAreHired(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ``))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1000}`)
		var hiring sync.WaitGroup
		var hired atomic.Int64
		for range 8 {
			hiring.Go(func() {
				for {
					answer := send(s.Client, "POST", acme.path()+"/agents", `{"teamId":"`+sales.ID+`","name":"Ada","role":"Engineer"}`)
					if answer.Status != 201 {
						answer.Is(t, 409, "company_archived")
						return
					}
					hired.Add(1)
				}
			})
		}
		await(t, "hires", func() bool { return hired.Load() > 20 })
		s.Patch(acme.path(), `{"description":"beside hires"}`).Is(t, 200, "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		hiring.Wait()
		if seen := s.see(t, acme); int64(seen.AgentCount) != hired.Load() || seen.Description != "beside hires" {
			t.Errorf("%d agents were hired: %+v", hired.Load(), seen)
		}
	})
}
