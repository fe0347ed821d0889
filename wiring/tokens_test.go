package wiring_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/access"
	"holdco/domain/event"
)

func TestATokenShowsItsValueOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		answer := s.Post("/v1/tokens", `{"name":" ci ",
			"scopes":["read","company:acme:write","read","company:`+acme.ID+`:write"],"expiresAt":"2027-04-11T02:00:00.1239+02:00"}`)
		answer.Is(t, 201, "")
		made := resttest.Data[apiToken](t, answer)
		want := apiToken{
			ID: made.ID, Name: "ci", Scopes: []string{"read", "company:" + acme.ID + ":write"}, Token: made.Token,
			Hint: "hco_..." + made.Token[len(made.Token)-4:], CreatedAt: "2026-04-11T12:00:00.000Z",
			ExpiresAt: new("2027-04-11T00:00:00.123Z"),
		}
		if diff := cmp.Diff(want, made); diff != "" {
			t.Error(diff)
		}
		if !regexp.MustCompile(`^hco_[0-9A-Za-z]{49}$`).MatchString(made.Token) || answer.Header.Get("Location") != made.path() {
			t.Errorf("%s at %s", made.Token, answer.Header.Get("Location"))
		}
		want.Token = ""
		read := s.Get(made.path())
		if diff := cmp.Diff(want, resttest.Data[apiToken](t, read)); diff != "" {
			t.Error(diff)
		}
		if list := resttest.Data[[]apiToken](t, s.Get("/v1/tokens")); len(list) != 2 || cmp.Diff(want, list[0]) != "" ||
			list[1].Name != "admin" {
			t.Errorf("%+v", list)
		}
		send(s.Client, "GET", made.path(), "", "If-None-Match", read.Header.Get("ETag")).Is(t, 304, "")

		whoami := s.As(made.Token).Get("/v1/whoami")
		whoami.Is(t, 200, "")
		self := fmt.Sprintf(`{"tokenId":%q,"name":"ci","scopes":["read","company:%s:write"],"createdAt":%q,"expiresAt":%q}`,
			made.ID, acme.ID, made.CreatedAt, *made.ExpiresAt)
		if string(whoami.Data) != self {
			t.Errorf("%s", whoami.Data)
		}
	})
}

func TestWrongTokensAreRefusedWithEveryFieldAtFault(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		s.create(t, draft(t, ""))
		for body, fields := range map[string][]string{
			`{}`: {"name required", "scopes required"},
			`{"name":"","scopes":[],"expiresAt":"x","id":1}`: {
				"expiresAt invalid_format", "id unknown_field", "name required", "scopes required",
			},
			`{"name":null,"scopes":null}`:                 {"name not_null", "scopes not_null"},
			`{"name":5,"scopes":"read","expiresAt":5}`:    {"expiresAt wrong_type", "name wrong_type", "scopes wrong_type"},
			`{"name":"a\u0000","scopes":["read",5,null]}`: {"name invalid_characters", "scopes.1 wrong_type", "scopes.2 not_null"},
			`{"name":"\ufeff","scopes":["read"]}`:         {"name required"},
			`{"name":"x","scopes":["root","READ",""," read"]}`: {
				"scopes.0 unknown_value", "scopes.1 unknown_value", "scopes.2 unknown_value", "scopes.3 unknown_value",
			},
			`{"name":"x","scopes":["company:acme:admin","company:acme","acme:read"]}`: {
				"scopes.0 unknown_value", "scopes.1 unknown_value", "scopes.2 unknown_value",
			},
			`{"name":"x","scopes":["company:nobody:read","company::read","company:cmp_01jqvb2k3e8m0t9c5x7a4n6p1r:read"]}`: {
				"scopes.0 unknown_value", "scopes.1 unknown_value", "scopes.2 unknown_value",
			},
			`{"name":"x","scopes":["company:ACME:read"]}`:                                 {"scopes.0 unknown_value"},
			`{"name":"` + strings.Repeat("x", 201) + `","scopes":["read"]}`:               {"name too_long"},
			`{"name":"x","scopes":["read"` + strings.Repeat(`,"read"`, 100) + `]}`:        {"scopes too_many"},
			`{"name":"x","scopes":["read"],"expiresAt":"2026-04-11T12:00:00Z"}`:           {"expiresAt out_of_range"},
			`{"name":"x","scopes":["read"],"expiresAt":"2026-04-11T14:00:00.0005+02:00"}`: {"expiresAt out_of_range"},
			`{"name":"x","scopes":["read"],"expiresAt":"2027-04-11"}`:                     {"expiresAt invalid_format"},
			`{"name":"x","scopes":["read"],"expiresAt":"2027-04-11 00:00:00Z"}`:           {"expiresAt invalid_format"},
			`{"name":"x","scopes":["read"],"expiresAt":"2027-02-30T00:00:00Z"}`:           {"expiresAt invalid_format"},
		} {
			answer := send(s.Client, "POST", "/v1/tokens", body)
			answer.Is(t, 422, "validation_failed")
			if diff := cmp.Diff(fields, wrong(answer)); diff != "" {
				t.Errorf("%.100s: %s", body, diff)
			}
		}
		if list := resttest.Data[[]apiToken](t, s.Get("/v1/tokens")); len(list) != 1 {
			t.Errorf("%+v", list)
		}
		s.Post("/v1/tokens", `{"name":"x","scopes":["read"],"expiresAt":null}`).Is(t, 201, "")
	})
}

func TestATokenEndsWhenItExpires(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		answer := s.Post("/v1/tokens", `{"name":"x","scopes":["read"],"expiresAt":"2026-04-11T12:00:01Z"}`)
		made := resttest.Data[apiToken](t, answer)
		client := s.As(made.Token)
		s.clock.advance(999 * time.Millisecond)
		client.Get("/v1/whoami").Is(t, 200, "")
		s.clock.advance(time.Millisecond)
		client.Get("/v1/whoami").Is(t, 401, "unauthorized")
		refused := s.Post(made.path()+"/rotate", "")
		refused.Is(t, 409, "invalid_transition")
		if want := map[string]any{"from": "expired", "action": "rotate"}; cmp.Diff(want, details(t, refused)) != "" {
			t.Errorf("%v", details(t, refused))
		}
		s.Get(made.path()).Is(t, 200, "")
	})
}

func TestARotatedValueStaysValidForItsGrace(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.issue(t, "read")
		rotate := func(body string) apiToken {
			answer := s.Post(made.path()+"/rotate", body)
			answer.Is(t, 200, "")
			return resttest.Data[apiToken](t, answer)
		}
		status := func(values ...string) (statuses []int) {
			for _, value := range values {
				statuses = append(statuses, s.As(value).Get("/v1/whoami").Status)
			}
			return statuses
		}
		expect := func(want []int, values ...string) {
			t.Helper()
			if got := status(values...); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		second := rotate(`{"graceSeconds":10}`)
		if second.ID != made.ID || second.Token == made.Token || second.Hint == made.Hint || second.CreatedAt != made.CreatedAt {
			t.Errorf("%+v", second)
		}
		expect([]int{200, 200}, made.Token, second.Token)
		s.clock.advance(10*time.Second - time.Millisecond)
		expect([]int{200, 200}, made.Token, second.Token)
		s.clock.advance(time.Millisecond)
		expect([]int{401, 200}, made.Token, second.Token)
		third := rotate(`{"graceSeconds":2592000}`)
		fourth := rotate(`{"graceSeconds":60}`)
		expect([]int{401, 200, 200}, second.Token, third.Token, fourth.Token)
		fifth := rotate(`{}`)
		sixth := rotate("")
		expect([]int{401, 401, 401, 200}, third.Token, fourth.Token, fifth.Token, sixth.Token)

		for body, fields := range map[string][]string{
			`{"graceSeconds":-1}`: {"graceSeconds out_of_range"}, `{"graceSeconds":2592001}`: {"graceSeconds out_of_range"},
			`{"graceSeconds":1e30}`: {"graceSeconds out_of_range"}, `{"graceSeconds":1.5}`: {"graceSeconds wrong_type"},
			`{"graceSeconds":"1"}`: {"graceSeconds wrong_type"}, `{"graceSeconds":null}`: {"graceSeconds not_null"},
			`{"grace":1}`: {"grace unknown_field"},
		} {
			answer := send(s.Client, "POST", made.path()+"/rotate", body)
			answer.Is(t, 422, "validation_failed")
			if !slices.Equal(wrong(answer), fields) {
				t.Errorf("%s: %v", body, wrong(answer))
			}
			send(s.Client, "POST", "/v1/tokens/tok_"+strings.Repeat("0", 26)+"/rotate", body).Is(t, 404, "not_found")
		}
		expect([]int{200}, sixth.Token)
	})
}

func TestARevokedTokenEndsAtOnceAndForGood(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		made := s.issue(t, "read")
		answer := s.Delete(made.path())
		answer.Is(t, 200, "")
		if revoked := resttest.Data[apiToken](t, answer); revoked.RevokedAt == nil || *revoked.RevokedAt != "2026-04-11T12:00:00.000Z" {
			t.Errorf("%+v", revoked)
		}
		s.As(made.Token).Get("/v1/whoami").Is(t, 401, "unauthorized")
		s.clock.advance(time.Hour)
		if again := s.Delete(made.path()); string(again.Data) != string(answer.Data) {
			t.Errorf("%s", again.Data)
		}
		refused := s.Post(made.path()+"/rotate", "")
		refused.Is(t, 409, "invalid_transition")
		if from := details(t, refused)["from"]; from != "revoked" {
			t.Errorf("from %v", from)
		}
		s.Delete("/v1/tokens/tok_"+strings.Repeat("0", 26)).Is(t, 404, "not_found")
		send(s.Client, "DELETE", "/v1/tokens/cmp_"+strings.Repeat("0", 26), "").Is(t, 404, "not_found")
		if list := resttest.Data[[]apiToken](t, s.Get("/v1/tokens")); len(list) != 2 {
			t.Errorf("%+v", list)
		}
	})
}

func TestWithoutALiveAdminTheNextStartMakesOne(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		root := resttest.Data[struct{ TokenID string }](t, s.Get("/v1/whoami"))
		s.Delete("/v1/tokens/"+root.TokenID).Is(t, 200, "")
		s.Get("/v1/whoami").Is(t, 401, "unauthorized")
		s = s.again(t)
		value := regexp.MustCompile(`hco_[0-9A-Za-z]{49}`).FindString(s.said)
		admin := s.As(value)
		admin.Get("/v1/tokens").Is(t, 200, "")
		s.Get("/v1/whoami").Is(t, 401, "unauthorized") // what was revoked stays so, whatever the settings say
		if s = s.again(t); s.said != "" {
			t.Errorf("the next start says %q", s.said)
		}
	})
}

func TestCredentialsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		value := string(rootToken)
		last := value[len(value)-1]
		for header, status := range map[string]int{
			"Bearer " + value: 200, "bearer " + value: 200, "BEARER " + value: 200, "bEaReR  " + value: 200,
			"": 401, "Bearer": 401, "Bearer ": 401, value: 401, "Basic " + value: 401, "Token " + value: 401, "Bearer\t" + value: 401,
			"Bearer " + value[:len(value)-1]: 401, "Bearer " + value + "0": 401,
			"Bearer " + value + " " + value: 401, "Bearer " + value + ",": 401,
			"Bearer " + value[:len(value)-1] + string(last^1): 401, "Bearer hcp_" + value[4:]: 401, "Bearer " + strings.ToUpper(value): 401,
			"Bearer " + string(access.NewAPIToken([32]byte{1})): 401, "Bearer " + value[:10] + "x" + value[11:]: 401,
			"Bearer " + strings.Repeat("x", 10_000): 401, "Bearer \u00e9": 401, "Bearer ' OR ''='": 401,
		} {
			answer := send(s.As(""), "GET", "/v1/whoami", "", "Authorization", header)
			if answer.Status != status || status == 401 && answer.Error.Code != "unauthorized" {
				t.Errorf("%.80q: %d %s", header, answer.Status, answer.Body)
			}
		}
		request, err := http.NewRequest(http.MethodGet, s.url+"/v1/whoami", http.NoBody)
		must(t, err)
		request.Header["Authorization"] = []string{"Bearer " + value, "Bearer " + value}
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		defer response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("two headers are answered %d", response.StatusCode)
		}
		if head := send(s.As(""), "HEAD", "/v1/whoami", ""); head.Status != 401 || head.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%d %v", head.Status, head.Header)
		}
	})
}

func TestScopesAllowWhatTheySay(t *testing.T) {
	t.Parallel()
	stale := []string{"If-Match", `"99"`} // who may is answered 412, and nothing happens
	operations := []struct {
		name, method, path, body string
		header                   []string
		allowed                  int    // how who may is answered
		required                 string // the scope that a refusal names
	}{
		{"whoami", "GET", "/v1/whoami", "", nil, 200, ""},
		{"list", "GET", "/v1/companies", "", nil, 200, "read"},
		{"head", "HEAD", "/v1/companies/{a}", "", nil, 200, ""},
		{"get", "GET", "/v1/companies/{a}", "", nil, 200, "read"},
		{"create", "POST", "/v1/companies", "{}", nil, 422, "write"},
		{"patch", "PATCH", "/v1/companies/{a}", "{}", stale, 412, "write"},
		{"archive", "POST", "/v1/companies/{a}/archive", "", stale, 412, "write"},
		{"restore", "POST", "/v1/companies/{a}/restore", "", stale, 412, "write"},
		{"delete", "DELETE", "/v1/companies/{a}", "", stale, 412, "admin"},
		{"tokens", "GET", "/v1/tokens", "", nil, 200, "admin"},
		{"token", "GET", "/v1/tokens/{none}", "", nil, 404, "admin"},
		{"issue", "POST", "/v1/tokens", "{}", nil, 422, "admin"},
		{"rotate", "POST", "/v1/tokens/{none}/rotate", "{}", nil, 404, "admin"},
		{"revoke", "DELETE", "/v1/tokens/{none}", "", nil, 404, "admin"},
	}
	const read, write, move = "list head get", "create patch archive restore", "patch archive restore"
	eachStore(t, func(t *testing.T, s *instance) {
		a, b := s.create(t, named("a")), s.create(t, named("b"))
		fill := strings.NewReplacer("{a}", a.ID, "{none}", "tok_"+strings.Repeat("0", 26))
		for _, c := range []struct{ scopes, may, unseen string }{ // unseen: 404, as for a company that does not exist
			{"read", read, ""},
			{"write", write, ""},
			{"read,write", read + " " + write, ""},
			{"admin", read + " " + write + " delete tokens token issue rotate revoke", ""},
			{"company:a:read", read, ""},
			{"company:a:write", move, ""},
			{"company:a:read,company:a:write", read + " " + move, ""},
			{"company:b:read", "list", "head get"},
			{"company:b:write", "", move},
			{"company:b:read,company:b:write", "list", "head get " + move},
			{"company:b:write,company:a:read", read, ""},
			{"read,company:b:write", read, ""},
			{"write,company:b:read", "list " + write, ""},
		} {
			client := s.with(t, strings.Split(c.scopes, ",")...)
			for _, op := range operations {
				answer := send(client, op.method, fill.Replace(op.path), op.body, op.header...)
				want := 403
				switch {
				case op.name == "whoami", slices.Contains(strings.Fields(c.may), op.name):
					want = op.allowed
				case slices.Contains(strings.Fields(c.unseen), op.name):
					want = 404
				}
				if answer.Status != want || want == 403 && answer.Error.Details.Required != op.required {
					t.Errorf("%s, %s: %d %s, want %d", c.scopes, op.name, answer.Status, answer.Body, want)
				}
			}
		}
		if now := s.see(t, a); cmp.Diff(a, now) != "" {
			t.Errorf("%+v", now)
		}

		limited := s.with(t, "company:"+b.ID+":read")
		for query, want := range map[string][]string{"": {"b"}, "?slug=a": {}, "?slug=b": {"b"}, "?status=archived": {}} {
			if got := slugs(t, limited.Get("/v1/companies"+query)); !slices.Equal(got, want) {
				t.Errorf("%s: %v", query, got)
			}
		}
		unseen, missing := limited.Get(a.path()), limited.Get("/v1/companies/cmp_"+strings.Repeat("0", 26))
		if unseen.Error.Message != missing.Error.Message || unseen.Status != missing.Status {
			t.Errorf("%s and %s distinguish what is hidden and what is not there", unseen.Body, missing.Body)
		}
	})
}

func TestTheLastUseIsWrittenDownAtTheEnd(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		used, unused := s.issue(t, "read"), s.issue(t, "read")
		s.clock.advance(time.Minute)
		s.As(used.Token).Get("/v1/whoami").Is(t, 200, "")
		s = s.again(t)
		if now := resttest.Data[apiToken](t, s.Get(used.path())); now.LastUsedAt == nil || *now.LastUsedAt != "2026-04-11T12:01:00.000Z" {
			t.Errorf("%+v", now)
		}
		if now := resttest.Data[apiToken](t, s.Get(unused.path())); now.LastUsedAt != nil {
			t.Errorf("%+v", now)
		}
	})
}

func TestTheLastUseShowsSoonAndReadsCostNoWrite(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, newClock(), dataDir+folder)
	used := s.issue(t, "read")
	logged := func() int64 {
		log, err := os.Stat(folder + "/holdco.db-wal")
		must(t, err)
		return log.Size()
	}
	const reads, page = 100, 4096
	before := logged()
	for range reads {
		s.As(used.Token).Get("/v1/companies").Is(t, 200, "")
	}
	if grown := logged() - before; grown >= reads*page { // one page is the least that a write costs
		t.Errorf("%d reads wrote %d bytes", reads, grown)
	}
	await(t, "the last use", func() bool {
		return resttest.Data[apiToken](t, s.Get(used.path())).LastUsedAt != nil
	})
}

func TestEveryChangeOfATokenIsInTheActivityLog(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		root := resttest.Data[struct{ TokenID string }](t, s.Get("/v1/whoami"))
		made := s.issue(t, "read")
		created := s.Get(made.path())
		rotated := s.Post(made.path()+"/rotate", "")
		revoked := s.Delete(made.path())
		events := s.events(t, "")
		if len(events) != 4 || events[0].Actor != "system:start" || events[0].Subject.ID != root.TokenID {
			t.Fatalf("%+v", events)
		}
		want := []event.Type{event.TokenCreated, event.TokenRotated, event.TokenRevoked}
		for i, answer := range []resttest.Answer{created, rotated, revoked} {
			shown, e := object(t, answer.Data), events[i+1]
			delete(shown, "token")
			data, err := json.Marshal(e.Data)
			must(t, err)
			if diff := cmp.Diff(shown, object(t, data)); diff != "" || e.Type != want[i] ||
				e.Actor != event.Actor("token:"+root.TokenID) || e.Previous != nil {
				t.Errorf("%+v %s", e, diff)
			}
		}
	})
}
