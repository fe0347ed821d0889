package wiring_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/instant"
)

// apiIssue is an issue as the API shows it.
type apiIssue struct {
	ID, CompanyID, Title, Description, Status, Priority, CreatedBy, CreatedAt, UpdatedAt string

	Number, Attempt, MaxAttempts, OpenBlockers, FailedBlockers int

	ParentID, ProjectID, GoalID, AssignedAgentID, AssignedTeamID, RetryOf, WorkflowID *string

	WorkflowVersion *int
	Step            *apiStep

	BlockedBy, Labels []string

	Budget struct {
		PerTaskUsd *json.Number
		SpentUsd   json.Number
	}
	RequiresReview                          bool
	Result, Error                           json.RawMessage
	DueAt, NotBefore, StartedAt, FinishedAt *string
}

func (i apiIssue) path() string { return "/v1/companies/" + i.CompanyID + "/issues/" + i.ID }

// apiStep is which step an issue is.
type apiStep struct {
	Key, Gate string
	Number    int
}

// apiComment is a comment as the API shows it.
type apiComment struct{ ID, CompanyID, IssueID, Author, Body, CreatedAt string }

// file makes an issue of a company.
func (s *instance) file(t *testing.T, in company, members string) apiIssue {
	t.Helper()
	answer := s.In(t).Post(in.path()+"/issues", `{"title":"Write"`+members+`}`)
	answer.Is(t, http.StatusCreated, "")
	return resttest.Data[apiIssue](t, answer)
}

// look reads an issue.
func (s *instance) look(t *testing.T, at apiIssue) apiIssue {
	t.Helper()
	answer := s.In(t).Get(at.path())
	answer.Is(t, http.StatusOK, "")
	return resttest.Data[apiIssue](t, answer)
}

// ahead is an instant by the clock of the store, on which issues go.
func (s *instance) ahead(t *testing.T, of time.Duration) string {
	t.Helper()
	now, err := s.store.StoreNow(t.Context())
	must(t, err)
	return instant.Format(now.Add(of))
}

func or(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func TestAFiledIssueIsShownAsItWasSent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		ada := s.hire(t, sales, "")
		token := resttest.Data[struct{ TokenID string }](t, s.Get("/v1/whoami")).TokenID
		plain := s.file(t, acme, "")
		want := apiIssue{
			ID: plain.ID, CompanyID: acme.ID, Title: "Write", Status: "queued", Priority: "normal", CreatedBy: "token:" + token, Number: 1,
			Attempt: 1, MaxAttempts: 3, RequiresReview: true, BlockedBy: []string{}, Labels: []string{}, Result: []byte("null"),
			Error: []byte("null"), CreatedAt: plain.CreatedAt, UpdatedAt: plain.CreatedAt,
		}
		want.Budget.SpentUsd = "0"
		if diff := cmp.Diff(want, plain); diff != "" {
			t.Error(diff)
		}

		later := s.ahead(t, time.Hour)
		answer := s.Post(acme.path()+"/issues", `{"title":" Cafe\u0301 ","description":"# Menu\n\n*Hot*","priority":"urgent","parentId":"`+
			plain.ID+`","assignedAgentId":"`+ada.ID+`","blockedBy":["`+plain.ID+`","`+plain.ID+`"],"labels":["a","Ä b","a"],
			"budget":{"perTaskUsd":2.50},"maxAttempts":20,"requiresReview":false,"dueAt":"2026-04-11T12:00:00.1239+02:00","notBefore":"`+
			later+`"}`)
		answer.Is(t, 201, "")
		full := resttest.Data[apiIssue](t, answer)
		want = apiIssue{
			ID: full.ID, CompanyID: acme.ID, Title: "Caf\u00e9", Description: "# Menu\n\n*Hot*", Status: "assigned", Priority: "urgent",
			CreatedBy: "token:" + token, Number: 2, Attempt: 1, MaxAttempts: 20, OpenBlockers: 1, ParentID: &plain.ID,
			AssignedAgentID: &ada.ID, BlockedBy: []string{plain.ID}, Labels: []string{"a", "Ä b"}, Result: []byte("null"),
			Error: []byte("null"), DueAt: new("2026-04-11T10:00:00.123Z"), NotBefore: &later, CreatedAt: full.CreatedAt,
			UpdatedAt: full.CreatedAt,
		}
		want.Budget.SpentUsd, want.Budget.PerTaskUsd = "0", new(json.Number("2.5"))
		if diff := cmp.Diff(want, full); diff != "" {
			t.Error(diff)
		}
		if answer.Header.Get("Location") != full.path() || answer.Header.Get("ETag") != `"1"` {
			t.Errorf("%v", answer.Header)
		}
		for _, shown := range []apiIssue{s.look(t, full), resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues"))[0]} {
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Error(diff)
			}
		}
		if got := send(s.Client, "GET", full.path(), "", "If-None-Match", `"1"`).Status; got != 304 {
			t.Errorf("an issue that was seen is answered %d", got)
		}

		other := s.create(t, draft(t, `"slug":"other"`))
		absent := s.file(t, other, `,"parentId":null,"dueAt":null,"notBefore":null,"budget":{"perTaskUsd":null},"blockedBy":[],"labels":[]`)
		if absent.Number != 1 || absent.ParentID != nil || absent.DueAt != nil || absent.Budget.PerTaskUsd != nil {
			t.Errorf("%+v", absent)
		}
		if third := s.file(t, acme, ""); third.Number != 3 {
			t.Errorf("the third issue has the number %d", third.Number)
		}
	})
}

// faultyIssues are faulty members of an issue that is otherwise all right, and the fields at fault: "path code".
var faultyIssues = map[string]string{
	`"title":null`:      "title not_null",
	`"title":7`:         "title wrong_type",
	`"title":" \u200b"`: "title required",
	`"title":"a\nb"`:    "title invalid_characters",
	`"title":"` + strings.Repeat("x", 501) + `"`:  "title too_long",
	`"description":null`:                          "description not_null",
	`"description":{}`:                            "description wrong_type",
	`"description":"a\u0000b"`:                    "description invalid_characters",
	`"priority":null`:                             "priority not_null",
	`"priority":"Urgent"`:                         "priority unknown_value",
	`"priority":3`:                                "priority wrong_type",
	`"parentId":7`:                                "parentId wrong_type",
	`"parentId":""`:                               "parentId unknown_value",
	`"parentId":"null"`:                           "parentId unknown_value",
	`"parentId":"iss_01h455vb4pex5vsknk084sn02q"`: "parentId unknown_value",
	`"blockedBy":null`:                            "blockedBy not_null",
	`"blockedBy":"iss_1"`:                         "blockedBy wrong_type",
	`"blockedBy":[7,"x","iss_01h455vb4pex5vsknk084sn02q"]`: "blockedBy.0 wrong_type,blockedBy.1 unknown_value," +
		"blockedBy.2 unknown_value",
	`"blockedBy":["x"` + strings.Repeat(`,"x"`, 50) + `]`: "blockedBy too_many",
	`"labels":null`: "labels not_null",
	`"labels":{}`:   "labels wrong_type",
	`"labels":["ok",null," ","` + strings.Repeat("x", 51) + `"]`: "labels.1 not_null,labels.2 required,labels.3 too_long",
	`"labels":["x"` + strings.Repeat(`,"x"`, 20) + `]`:           "labels too_many",
	`"budget":null`:                             "budget not_null",
	`"budget":5`:                                "budget wrong_type",
	`"budget":{"perTaskUsd":"5"}`:               "budget.perTaskUsd wrong_type",
	`"budget":{"perTaskUsd":-1}`:                "budget.perTaskUsd out_of_range",
	`"budget":{"perTaskUsd":0.0000001,"usd":1}`: "budget.perTaskUsd too_precise,budget.usd unknown_field",
	`"budget":{"perTaskUsd":1000000000.000001}`: "budget.perTaskUsd out_of_range",
	`"budget":{"spentUsd":0}`:                   "budget.spentUsd unknown_field",
	`"maxAttempts":null`:                        "maxAttempts not_null",
	`"maxAttempts":0`:                           "maxAttempts out_of_range",
	`"maxAttempts":21`:                          "maxAttempts out_of_range",
	`"maxAttempts":1e30`:                        "maxAttempts out_of_range",
	`"maxAttempts":1.5`:                         "maxAttempts wrong_type",
	`"requiresReview":null`:                     "requiresReview not_null",
	`"requiresReview":"yes"`:                    "requiresReview wrong_type",
	`"dueAt":7`:                                 "dueAt wrong_type",
	`"dueAt":"tomorrow"`:                        "dueAt invalid_format",
	`"dueAt":"2026-04-11"`:                      "dueAt invalid_format",
	`"dueAt":"2026-02-29T00:00:00Z"`:            "dueAt invalid_format",
	`"dueAt":"0001-01-01T00:00:00Z"`:            "dueAt out_of_range",
	`"dueAt":"9999-12-31T23:59:59-01:00"`:       "dueAt out_of_range",
	`"notBefore":"soon"`:                        "notBefore invalid_format",
	`"notBefore":"1969-12-31T23:59:59Z"`:        "notBefore out_of_range",
	`"notBefore":"2999-01-01T00:00:00Z"`:        "notBefore out_of_range",
	`"Title":"x","runId":null,"":1`:             " unknown_field,Title unknown_field,runId unknown_field",
	`"priority":"x","labels":[""],"maxAttempts":99,"dueAt":"never"`: "dueAt invalid_format,labels.0 required,maxAttempts out_of_range," +
		"priority unknown_value",
}

// faultyFilings are the same for members that belong to a new issue alone.
var faultyFilings = map[string]string{
	`"assignedAgentId":null`:                             "assignedAgentId not_null",
	`"assignedAgentId":7`:                                "assignedAgentId wrong_type",
	`"assignedAgentId":"agt_01h455vb4pex5vsknk084sn02q"`: "assignedAgentId unknown_value",
	`"assignedTeamId":"sales"`:                           "assignedTeamId unknown_value",
	`"assignedTeamId":"x","assignedAgentId":"y"`:         "assignedTeamId duplicate",
	`"id":"x","number":7,"status":"done","attempt":1`: "attempt unknown_field,id unknown_field,number unknown_field," +
		"status unknown_field",
}

func TestFaultyFieldsOfIssuesAreAllToldAndNothingIsKept(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, draft(t, `"slug":"other"`))
		theirTeam := s.found(t, other, `{"name":"Sales","headcount":1}`)
		theirAgent, theirIssue := s.hire(t, theirTeam, ""), s.file(t, other, "")
		sales := s.found(t, acme, `{"name":"Sales","headcount":1}`)
		gone := s.hire(t, sales, "")
		s.Post(gone.path()+"/retire", "").Is(t, 200, "")
		called := s.file(t, acme, "")
		below := s.file(t, acme, `,"parentId":"`+called.ID+`"`)
		s.Post(called.path()+"/cancel", "").Is(t, 200, "")
		faulty, filings := maps.Clone(faultyIssues), maps.Clone(faultyFilings)
		faulty[`"parentId":"`+theirIssue.ID+`","blockedBy":["`+theirIssue.ID+`"]`] = "blockedBy.0 unknown_value,parentId unknown_value"
		faulty[`"parentId":"`+called.ID+`"`] = "parentId unknown_value" // it is cancelled
		faulty[`"parentId":"`+below.ID+`"`] = "parentId unknown_value"
		faulty[`"description":"`+strings.Repeat("x", 100_001)+`"`] = "description too_long"
		filings[`"assignedAgentId":"`+theirAgent.ID+`"`] = "assignedAgentId unknown_value"
		filings[`"assignedAgentId":"`+gone.ID+`"`] = "assignedAgentId unknown_value"
		filings[`"assignedTeamId":"`+theirTeam.ID+`"`] = "assignedTeamId unknown_value"
		maps.Copy(filings, faulty)
		filings[``] = "title required"

		made := s.file(t, acme, "")
		before, count := s.Get(made.path()), len(s.events(t, acme.ID))
		refuse := func(method, path, body, want string) {
			t.Helper()
			answer := send(s.Client, method, path, body)
			answer.Is(t, 422, "validation_failed")
			if got := strings.Join(wrong(answer), ","); got != want {
				t.Errorf("%s %.200s: %s, want %s", method, body, got, want)
			}
		}
		for members, want := range filings {
			body := `{"title":"Write",` + members + `}`
			if members == "" || strings.HasPrefix(members, `"title"`) {
				body = `{` + members + `}`
			}
			refuse("POST", acme.path()+"/issues", body, want)
		}
		for members, want := range faulty {
			refuse("PATCH", made.path(), `{`+members+`}`, want)
		}
		if after := s.Get(made.path()); string(after.Data) != string(before.Data) || len(s.events(t, acme.ID)) != count {
			t.Errorf("%s, was %s", after.Data, before.Data)
		}
		if next := s.file(t, acme, ""); next.Number != made.Number+1 {
			t.Errorf("refused issues have used up numbers: %d follows %d", next.Number, made.Number)
		}
	})
}

func TestTheLongestTextsOfIssuesAreTaken(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		title, description, label := strings.Repeat("🚀", 500), strings.Repeat("𝄞", 100_000), strings.Repeat("é", 50)
		labels := []string{label}
		for n := range 19 {
			labels = append(labels, fmt.Sprintf("l %d", n))
		}
		made := s.file(t, acme, `,"labels":["`+strings.Join(labels, `","`)+`"]`)
		patched := resttest.Data[apiIssue](t, s.Patch(made.path(), `{"title":"`+title+`","description":"`+description+`"}`))
		if seen := s.look(t, made); seen.Title != title || seen.Description != description || !slices.Equal(seen.Labels, labels) {
			t.Errorf("%d of title, %d of description, labels %q", len(seen.Title), len(seen.Description), seen.Labels)
		}
		if patched.Title != title {
			t.Errorf("%q", patched.Title)
		}
		body := strings.Repeat("ß", 20_000)
		said := resttest.Data[apiComment](t, s.Post(made.path()+"/comments", `{"body":"`+body+`"}`))
		if said.Body != body {
			t.Errorf("%d", len(said.Body))
		}
	})
}

func TestAPatchOfAnIssueChangesWhatItNames(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		parent, blocker := s.file(t, acme, ""), s.file(t, acme, "")
		later := s.ahead(t, time.Hour)
		made := s.file(t, acme, `,"dueAt":"2026-05-01T00:00:00Z","budget":{"perTaskUsd":1},"labels":["a"]`)
		for _, c := range []struct {
			body, etag string
			change     func(to *apiIssue)
		}{
			{`{}`, `"1"`, func(*apiIssue) {}},
			{`{"title":"Write","labels":["a","a"],"budget":{},"dueAt":"2026-05-01T02:00:00+02:00","parentId":null}`, `"1"`,
				func(*apiIssue) {}},
			{`{"title":"Print","description":"Twice.","priority":"low"}`, `"2"`, func(to *apiIssue) {
				to.Title, to.Description, to.Priority = "Print", "Twice.", "low"
			}},
			{`{"parentId":"` + parent.ID + `","blockedBy":["` + blocker.ID + `"]}`, `"3"`, func(to *apiIssue) {
				to.ParentID, to.BlockedBy, to.OpenBlockers = &parent.ID, []string{blocker.ID}, 1
			}},
			{`{"labels":["b","c"],"maxAttempts":1,"requiresReview":false}`, `"4"`, func(to *apiIssue) {
				to.Labels, to.MaxAttempts, to.RequiresReview = []string{"b", "c"}, 1, false
			}},
			{`{"dueAt":null,"notBefore":"` + later + `","budget":{"perTaskUsd":null}}`, `"5"`, func(to *apiIssue) {
				to.DueAt, to.NotBefore, to.Budget.PerTaskUsd = nil, &later, nil
			}},
			{`{"parentId":null,"blockedBy":[],"notBefore":null,"labels":[],"budget":{"perTaskUsd":0}}`, `"6"`, func(to *apiIssue) {
				to.ParentID, to.BlockedBy, to.OpenBlockers, to.NotBefore, to.Labels = nil, []string{}, 0, nil, []string{}
				to.Budget.PerTaskUsd = new(json.Number("0"))
			}},
		} {
			s.clock.advance(time.Minute)
			answer := s.Patch(made.path(), c.body)
			answer.Is(t, 200, "")
			got := resttest.Data[apiIssue](t, answer)
			c.change(&made)
			if answer.Header.Get("ETag") != c.etag || (got.UpdatedAt == made.UpdatedAt) != (c.etag == `"1"`) {
				t.Errorf("%s: %s, updated at %s, before at %s", c.body, answer.Header.Get("ETag"), got.UpdatedAt, made.UpdatedAt)
			}
			made.UpdatedAt = got.UpdatedAt
			if diff := cmp.Diff(made, got) + cmp.Diff(made, s.look(t, made)); diff != "" {
				t.Errorf("%s: %s", c.body, diff)
			}
		}
		for body, want := range map[string]string{
			`{"id":"x","number":1,"companyId":"","status":"done","title":" "}`: "companyId immutable,id immutable,number immutable," +
				"status immutable",
			`{"assignedAgentId":null,"assignedTeamId":null}`: "assignedAgentId immutable,assignedTeamId immutable",
			`{"attempt":2,"result":{},"error":1,"openBlockers":0}`: "attempt immutable,error immutable,openBlockers immutable," +
				"result immutable",
			`{"startedAt":null,"finishedAt":null,"retryOf":null}`:     "finishedAt immutable,retryOf immutable,startedAt immutable",
			`{"createdBy":"me","createdAt":"","updatedAt":"","x":{}}`: "createdAt immutable,createdBy immutable,updatedAt immutable",
		} {
			answer := send(s.Client, "PATCH", made.path(), body)
			answer.Is(t, 422, "immutable_field")
			if got := strings.Join(wrong(answer), ","); got != want {
				t.Errorf("%s: %s, want %s", body, got, want)
			}
		}
		send(s.Client, "PATCH", made.path(), `{"status":"done"}`, "If-Match", `"1"`).Is(t, 412, "precondition_failed")
		s.tick(t)
		send(s.Client, "PATCH", made.path(), `{"title":"Again"}`, "If-Match", `"6"`).Is(t, 200, "")
		events := s.events(t, acme.ID)
		last := events[len(events)-1]
		got := last.Previous.Append(nil)
		if want := `{"title":"Print","updatedAt":"` + made.UpdatedAt + `"}`; string(got) != want || last.Type != "issue.updated" {
			t.Errorf("%s %s, want %s", last.Type, got, want)
		}
	})
}

func TestIssuesOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, draft(t, `"slug":"other"`))
		made := s.file(t, acme, "")
		const unknown = "/v1/companies/cmp_01h455vb4pex5vsknk084sn02q"
		actions := []string{"assign", "unassign", "cancel", "accept", "reject", "handoff", "retry", "comments"}
		for _, path := range []string{
			other.path() + "/issues/" + made.ID, acme.path() + "/issues/iss_01h455vb4pex5vsknk084sn02q", acme.path() + "/issues/" + acme.ID,
			acme.path() + "/issues/1", acme.path() + "/issues/" + strings.ToUpper(made.ID), unknown + "/issues/" + made.ID,
			acme.path() + "/issues/%00",
		} {
			send(s.Client, "GET", path, "").Is(t, 404, "not_found")
			send(s.Client, "GET", path+"/comments", "").Is(t, 404, "not_found")
			send(s.Client, "PATCH", path, `{"title":" "}`).Is(t, 404, "not_found")
			for _, action := range actions {
				body := `{"x":1}`
				if slices.Contains([]string{"unassign", "accept", "retry"}, action) {
					body = ""
				}
				send(s.Client, "POST", path+"/"+action, body).Is(t, 404, "not_found")
			}
		}
		for _, path := range []string{"/issues", "/issues/counts"} {
			s.Get(unknown+path).Is(t, 404, "not_found")
		}
		send(s.Client, "POST", unknown+"/issues", `{}`).Is(t, 404, "not_found")
		send(s.Client, "POST", unknown+"/issues/bulk", `{}`).Is(t, 404, "not_found")
		// The paths beside those of single issues take no other methods for them.
		send(s.Client, "PATCH", acme.path()+"/issues/counts", `{}`).Is(t, 404, "not_found")
		send(s.Client, "GET", acme.path()+"/issues/bulk", "").Is(t, 404, "not_found")
		send(s.Client, "DELETE", made.path(), "").Is(t, 405, "method_not_allowed")
		send(s.Client, "PUT", acme.path()+"/issues", "{}").Is(t, 405, "method_not_allowed")

		stranger := s.with(t, "company:"+other.ID+":write", "company:"+other.ID+":read")
		reader, writer := s.with(t, "company:"+acme.ID+":read"), s.with(t, "company:"+acme.ID+":write")
		for _, path := range []string{made.path(), made.path() + "/comments", acme.path() + "/issues", acme.path() + "/issues/counts"} {
			send(stranger, "GET", path, "").Is(t, 404, "not_found")
			send(writer, "GET", path, "").Is(t, 403, "insufficient_scope")
			send(reader, "GET", path, "").Is(t, 200, "")
		}
		for _, c := range []struct{ method, path, body string }{
			{"POST", acme.path() + "/issues", `{"title":"Write"}`}, {"PATCH", made.path(), `{"title":"Print"}`},
			{"POST", made.path() + "/comments", `{"body":"x"}`}, {"POST", made.path() + "/cancel", ""},
			{"POST", made.path() + "/retry", ""},
			{"POST", acme.path() + "/issues/bulk", `{"action":"accept","ids":["x"]}`},
		} {
			send(stranger, c.method, c.path, c.body).Is(t, 404, "not_found")
			send(reader, c.method, c.path, c.body).Is(t, 403, "insufficient_scope")
			if answer := send(writer, c.method, c.path, c.body); answer.Status/100 != 2 {
				t.Errorf("%s %s: %d %s", c.method, c.path, answer.Status, answer.Body)
			}
		}
	})
}

func TestAnArchivedCompanyKeepsItsIssuesAsTheyAre(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		made := s.file(t, acme, "")
		key := func() resttest.Answer { return once(s.Client, "k", acme.path()+"/issues", `{"title":"Once"}`) }
		first := key()
		first.Is(t, 201, "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		before := s.Get(made.path())
		send(s.Client, "POST", acme.path()+"/issues", `{}`).Is(t, 409, "company_archived")
		send(s.Client, "PATCH", made.path(), `{"number":7}`).Is(t, 409, "company_archived")
		send(s.Client, "PATCH", made.path(), `{}`, "If-Match", `"7"`).Is(t, 412, "precondition_failed")
		for _, action := range []string{"assign", "cancel", "reject", "handoff", "comments"} {
			send(s.Client, "POST", made.path()+"/"+action, `{"x":1}`).Is(t, 409, "company_archived")
		}
		for _, action := range []string{"unassign", "accept", "retry"} {
			send(s.Client, "POST", made.path()+"/"+action, "").Is(t, 409, "company_archived")
		}
		send(s.Client, "POST", acme.path()+"/issues/bulk", `{}`).Is(t, 409, "company_archived")
		send(s.Client, "PATCH", acme.path()+"/issues/x", `{}`).Is(t, 404, "not_found")
		repeats(t, first, key())
		if after := s.Get(made.path()); string(after.Data) != string(before.Data) {
			t.Errorf("%s, was %s", after.Data, before.Data)
		}
		s.Get(acme.path()+"/issues/counts").Is(t, 200, "")
		s.Post(acme.path()+"/restore", "").Is(t, 200, "")
		s.Post(made.path()+"/cancel", "").Is(t, 200, "")
	})
}

func TestACompanyThatIsBeingDeletedTakesNoIssues(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		unblock := s.obstruct(t)
		defer unblock()
		s.abandonedDelete(t, acme)
		send(s.Client, "POST", acme.path()+"/issues", `{}`).Is(t, 409, "invalid_transition")
		refused := send(s.Client, "POST", acme.path()+"/issues", `{"title":"Write"}`)
		refused.Is(t, 409, "invalid_transition")
		send(s.Client, "POST", acme.path()+"/issues/bulk", `{"action":"accept","ids":["x"]}`).Is(t, 409, "invalid_transition")
		if got := details(t, refused); got["from"] != "deleting" {
			t.Errorf("%v", got)
		}
	})
}

func TestACompanyIsDeletedWithItsIssues(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, other := s.create(t, draft(t, "")), s.create(t, draft(t, `"slug":"other"`))
		kept := s.file(t, other, `,"labels":["kept"]`)
		ada := s.hire(t, s.found(t, acme, `{"name":"Sales","headcount":1}`), "")
		parent := s.file(t, acme, `,"labels":["a"],"assignedAgentId":"`+ada.ID+`"`)
		below := s.file(t, acme, `,"parentId":"`+parent.ID+`","blockedBy":["`+parent.ID+`"],"notBefore":"`+s.ahead(t, time.Hour)+`"`)
		s.Post(below.path()+"/comments", `{"body":"Well."}`).Is(t, 200, "")
		retry := func() resttest.Answer { return once(s.Client, "k", parent.path()+"/retry", "") }
		s.Post(parent.path()+"/cancel", `{"reason":"No."}`).Is(t, 200, "")
		retry().Is(t, 201, "")
		s.Delete(acme.path())
		await(t, "the deletion", func() bool { return s.Get(acme.path()).Status == 404 })
		s.Get(parent.path()).Is(t, 404, "not_found")
		retry().Is(t, 409, "idempotency_conflict")
		db := s.database(t)
		await(t, "the end of what was left", func() bool {
			s.clock.advance(time.Hour)
			return len(remains(t, db, []string{acme.ID, parent.ID, below.ID, ada.ID})) == 0
		})
		if got := s.look(t, kept); got.Number != 1 || len(resttest.Data[[]apiIssue](t, s.Get(other.path()+"/issues?label=kept"))) != 1 {
			t.Errorf("%+v", got)
		}
	})
}
