package wiring_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/fault"
)

const me = "/gateway/v1/me"

// agent returns a client of the gateway that has a token.
func (s *instance) agent(t *testing.T, token string) *resttest.Client {
	t.Helper()
	return resttest.NewBy(t, s.gatewayURL, "/gateway/openapi.json", token)
}

// strange fails the test unless a token authenticates nobody, whatever was cached.
func (s *instance) strange(t *testing.T, token string) {
	t.Helper()
	if caller, err := s.agents.Authenticate(t.Context(), token); fault.CodeOf(err) != fault.Unauthorized {
		t.Errorf("the token authenticates %v, %v", caller, err)
	}
}

// employ hires an agent into a team of its own in a new company.
func (s *instance) employ(t *testing.T, slug string) (in company, hired apiAgent) {
	t.Helper()
	in = s.create(t, named(slug))
	return in, s.hire(t, s.found(t, in, `{"name":"Sales","headcount":1}`), "")
}

func TestAnAgentLearnsWhoItIs(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		sales := s.found(t, acme, `{"name":"Field Sales","headcount":2,"budget":{"usd":5}}`)
		ada := s.hire(t, sales, `,"adapterConfig":{"command":["claude"]},"budget":{"perTaskUsd":2.5}`)
		s.hire(t, sales, "")
		s.Patch(acme.path(), `{"workPaused":true}`).Is(t, 200, "")
		answer := s.agent(t, ada.Token).Get(me)
		answer.Is(t, 200, "")
		var got struct {
			Agent, Team json.RawMessage
			Company     map[string]any
		}
		must(t, json.Unmarshal(answer.Data, &got))
		for _, c := range []struct {
			path string
			got  json.RawMessage
		}{{ada.path(), got.Agent}, {sales.path(), got.Team}} {
			want, got := plainJSON(t, s.Get(c.path).Data).(map[string]any), plainJSON(t, c.got).(map[string]any)
			delete(want, "stats") // the call itself may be in it by now
			delete(got, "stats")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", c.path, diff)
			}
		}
		if diff := cmp.Diff(map[string]any{"id": acme.ID, "name": acme.Name, "workPaused": true}, got.Company); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(string(answer.Data), "hca_") || !strings.Contains(s.log.String(), "agent="+ada.ID) {
			t.Error("the answer shows the token, or the log does not name the agent")
		}
	})
}

func TestOnlyTokensOfAgentsOpenTheGateway(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		_, ada := s.employ(t, "acme")
		key := s.admit(t).Key
		client := s.agent(t, ada.Token)
		client.Get(me).Is(t, 200, "")
		for _, wrong := range []string{
			"", "hca_", string(rootToken), key, "hca_" + string(rootToken[4:]), ada.Token + "0", ada.Token[:52] + "!", ada.ID,
			"hca_0000000000000000000000000000000000000000000" + ada.Token[47:],
		} {
			refused := client.As(wrong).Get(me)
			refused.Is(t, 401, "unauthorized")
			if refused.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%v", refused.Header)
			}
		}
		s.As(ada.Token).Get("/v1/whoami").Is(t, 401, "unauthorized")
		s.readerWith(t, ada.Token).Get("leads").Is(t, 401, "unauthorized")
	})
}

func TestATokenOfAnAgentEndsAtOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		post := func(path string) apiAgent {
			t.Helper()
			answer := s.Post(path, "")
			answer.Is(t, 200, "")
			return resttest.Data[apiAgent](t, answer)
		}
		first := s.agent(t, ada.Token)
		first.Get(me).Is(t, 200, "")
		token := post(ada.path() + "/rotate-token").Token
		s.strange(t, ada.Token)
		second := first.As(token)
		first.Get(me).Is(t, 401, "unauthorized")
		for _, lives := range []string{ada.path() + "/pause", acme.path() + "/archive", acme.path() + "/restore", ada.path() + "/resume"} {
			post(lives)
			second.Get(me).Is(t, 200, "")
		}
		post(ada.path() + "/retire")
		s.strange(t, token)
		second.Get(me).Is(t, 401, "unauthorized")
		first.Get(me).Is(t, 401, "unauthorized")
	})
}

func TestAgentsOfADeletedCompanyAreStrangers(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		_, other := s.employ(t, "other")
		unblock := s.obstruct(t)
		agent, bystander := s.agent(t, ada.Token), s.agent(t, other.Token)
		agent.Get(me).Is(t, 200, "")
		deleted := make(chan int, 1)
		go func() { deleted <- s.Delete(acme.path()).Status }()
		await(t, "the mark", func() bool { return s.Get(acme.path()).Status == 404 || s.see(t, acme).Status == "deleting" })
		await(t, "the end of what is cached", func() bool {
			_, err := s.agents.Authenticate(t.Context(), ada.Token)
			return fault.CodeOf(err) == fault.Unauthorized
		})
		agent.Get(me).Is(t, 401, "unauthorized")
		bystander.Get(me).Is(t, 200, "")
		unblock()
		await(t, "the deletion", func() bool { return s.Get(acme.path()).Status == 404 })
		<-deleted
		agent.Get(me).Is(t, 401, "unauthorized")
		bystander.Get(me).Is(t, 200, "")
	})
}

func TestATokenOfAnAgentEndsOnOtherServersOnPostgres(t *testing.T) {
	t.Parallel()
	clock := newClock()
	environ := []string{dataDir + t.TempDir(), databaseURL + postgrestest.URL(t), "HOLDCO_KEY_FILE=" + filepath.Join(t.TempDir(), "key")}
	here, elsewhere := start(t, clock, environ...), start(t, clock, environ...)
	for slug, end := range map[string]func(in company, hired apiAgent) resttest.Answer{
		"retired": func(_ company, hired apiAgent) resttest.Answer { return here.Post(hired.path()+"/retire", "") },
		"rotated": func(_ company, hired apiAgent) resttest.Answer { return here.Post(hired.path()+"/rotate-token", "") },
		"deleted": func(in company, _ apiAgent) resttest.Answer { return here.Delete(in.path()) },
	} {
		in, hired := here.employ(t, slug)
		agent := elsewhere.agent(t, hired.Token)
		agent.Get(me).Is(t, 200, "")
		end(in, hired)
		clock.advance(500 * time.Millisecond)
		elsewhere.strange(t, hired.Token)
		agent.Get(me).Is(t, 401, "unauthorized")
	}
}

func TestAnAgentHasItsLimit(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_GATEWAY=3", "HOLDCO_RATE_READ=off", "HOLDCO_RATE_WRITE=off")
	acme := s.create(t, draft(t, ""))
	sales := s.found(t, acme, `{"name":"Sales","headcount":2}`)
	ada, eve := s.hire(t, sales, ""), s.agent(t, s.hire(t, sales, "").Token)
	one := s.agent(t, ada.Token)
	stands(t, one.Get(me), 3, 2, 60)
	stands(t, send(one, "HEAD", me, ""), 3, 1, 60)
	refused := send(one, "GET", me+"?color=red", "")
	refused.Is(t, 400, "invalid_parameter")
	stands(t, refused, 3, 0, 60)
	s.clock.advance(time.Second)
	refused = one.Get(me)
	refused.Is(t, 429, "rate_limited")
	if refused.Header.Get("Retry-After") != "59" {
		t.Errorf("%v", refused.Header)
	}
	// The limit is the agent's, whatever its token is.
	one.As(resttest.Data[apiAgent](t, s.Post(ada.path()+"/rotate-token", "")).Token).Get(me).Is(t, 429, "rate_limited")
	stands(t, eve.Get(me), 3, 2, 60)
	s.Get("/v1/whoami").Is(t, 200, "")
	s.clock.advance(59 * time.Second)
	eve.As(ada.Token).Get(me).Is(t, 401, "unauthorized")
	stands(t, eve.Get(me), 3, 1, 1)
}

func TestTokensOfAgentsCannotBeGuessedAtSpeed(t *testing.T) {
	t.Parallel()
	s := limited(t)
	_, ada := s.employ(t, "acme")
	agent := s.agent(t, ada.Token)
	for range 60 {
		agent.As("hca_guess").Get(me).Is(t, 401, "unauthorized")
	}
	agent.As("hca_guess").Get(me).Is(t, 429, "rate_limited")
	agent.Get(me).Is(t, 200, "")
}

func TestTheGatewayIsAsStrictAsTheOtherAPIs(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		_, ada := s.employ(t, "acme")
		agent := s.agent(t, ada.Token)
		nobody := agent.As("")
		for _, path := range []string{
			"/", "/gateway", "/gateway/v1", me + "/", "/gateway/v1//me", "//gateway/v1/me", "/Gateway/v1/me", "/gateway/v1/ME",
			"/v1/whoami", "/openapi.json", "/gateway/v1/leases/", "/healthz/", "/metrics",
		} {
			for _, method := range []string{"GET", "POST", "OPTIONS"} {
				send(nobody, method, path, "").Is(t, 404, "not_found")
			}
		}
		send(s.Client, "GET", me, "").Is(t, 404, "not_found")
		for path, allow := range map[string]string{me: "GET, HEAD, OPTIONS", "/healthz": "GET, HEAD, OPTIONS"} {
			for method, status := range map[string]int{"POST": 405, "PUT": 405, "DELETE": 405, "BREW": 405, "OPTIONS": 204} {
				answer := send(nobody, method, path, "", "Origin", "https://app.acme.example")
				if answer.Status != status || answer.Header.Get("Allow") != allow ||
					answer.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s: %d %v", method, path, answer.Status, answer.Header)
				}
			}
		}
		for _, path := range []string{"/healthz", "/readyz", "/gateway/openapi.json"} {
			nobody.Get(path).Is(t, 200, "")
		}
		get, head := agent.Get(me), send(agent, "HEAD", me, "")
		if head.Status != 200 || len(head.Body) != 0 || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("HEAD: %d %v", head.Status, head.Header)
		}

		// Of several faults the first is answered.
		large, wrongType := strings.Repeat("[", 1<<20+1), []string{"Content-Type", "text/plain"}
		from := []string{"Origin", "https://app.acme.example"}
		send(nobody, "GET", me+"?color=red", large, from...).Is(t, 401, "unauthorized")
		send(agent, "GET", me+"?color=red", large, from...).Is(t, 403, "origin_not_allowed")
		send(agent, "GET", me, "", "Origin", "null").Is(t, 403, "origin_not_allowed")
		send(agent, "GET", me+"?color=red", large, wrongType...).Is(t, 413, "payload_too_large")
		send(agent, "GET", me+"?color=red", "[", wrongType...).Is(t, 415, "unsupported_media_type")
		send(agent, "GET", me+"?color=red", "[").Is(t, 400, "invalid_json")
		for _, query := range []string{"?color=red", "?color=red&color=blue", "?=", "?a"} {
			send(agent, "GET", me+query, "{}").Is(t, 400, "invalid_parameter")
		}
		send(agent, "GET", me, "{}").Is(t, 200, "")
	})
}

func TestTheLastCallOfAnAgentIsWrittenDownWithoutAChange(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, ada := s.employ(t, "acme")
		before, events := s.Get(ada.path()), len(s.events(t, acme.ID))
		for n, want := range []string{"2026-04-11T12:00:02.000Z", "2026-04-11T12:00:04.000Z"} {
			agent := s.agent(t, ada.Token)
			for range 2 {
				s.clock.advance(time.Second)
				agent.Get(me).Is(t, 200, "")
			}
			s.clock.advance(time.Second)
			agent.As("hca_guess").Get(me).Is(t, 401, "unauthorized")
			s.clock.advance(-time.Second)
			s = s.again(t) // writes the last call down
			answer := s.Get(ada.path())
			got := resttest.Data[apiAgent](t, answer)
			if at := got.Stats.LastActiveAt; at == nil || *at != want {
				t.Errorf("after round %d: %s", n, answer.Data)
			}
			if answer.Header.Get("ETag") != before.Header.Get("ETag") || got.UpdatedAt != ada.UpdatedAt {
				t.Errorf("the call changed the agent: %v %s", answer.Header, answer.Data)
			}
		}
		s.Patch(ada.path(), `{"role":"Lead"}`).Is(t, 200, "")
		kept := resttest.Data[apiAgent](t, s.Post(ada.path()+"/retire", "")).Stats.LastActiveAt
		if kept == nil || *kept != "2026-04-11T12:00:04.000Z" {
			t.Errorf("a change of the agent leaves %v", kept)
		}
		if got := len(s.events(t, acme.ID)); got != events+2 {
			t.Errorf("%d events became %d", events, got)
		}
	})
}

func TestTheGatewayIsCountedByRoute(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_GATEWAY=100")
	_, ada := s.employ(t, "acme")
	agent := s.agent(t, ada.Token)
	before := scrape(t, s.url)
	agent.Get(me).Is(t, 200, "")
	agent.As("nobody").Get(me).Is(t, 401, "unauthorized")
	want := figures{`holdco_limiter_verdicts_total{class="gateway",outcome="admitted"}`: 1}
	for _, status := range []string{"200", "401"} {
		want[fmt.Sprintf(`%s{method="GET",route=%q,status=%q}`, requests, me, status)] = 1
	}
	await(t, "the count", func() bool {
		since := scrape(t, s.url).since(before, requests, "holdco_limiter_verdicts_total")
		for series, value := range want {
			if since[series] != value {
				return false
			}
		}
		return true
	})
}

func TestTheGatewaySaysWhereItIs(t *testing.T) {
	t.Parallel()
	off := limited(t, "HOLDCO_GATEWAY_ADDR=")
	if off.gatewayURL != "" {
		t.Errorf("it listens on %s", off.gatewayURL)
	}
	_, ada := off.employ(t, "acme")
	off.Get(ada.path()).Is(t, 200, "")

	for _, c := range []struct{ address, url, want string }{
		{"127.0.0.1:0", "", "(reference: HERE/gateway/docs)"},
		{"127.0.0.1:0", "https://agents.example.com", "(reference: HERE/gateway/docs); it is reached at https://agents.example.com"},
		{"0.0.0.0:0", "", "(reference: HERE/gateway/docs); it is reached at http://localhost:PORT"},
	} {
		s := limited(t, "HOLDCO_GATEWAY_ADDR="+c.address, "HOLDCO_GATEWAY_URL="+c.url)
		port := s.gatewayURL[strings.LastIndexByte(s.gatewayURL, ':')+1:]
		if want := strings.NewReplacer("HERE", s.gatewayURL, "PORT", port).Replace(c.want); s.gateway != want {
			t.Errorf("%+v: %q, want %q", c, s.gateway, want)
		}
		response, err := http.Get("http://127.0.0.1:" + port + "/readyz")
		must(t, err)
		must(t, response.Body.Close())
		if response.StatusCode != http.StatusOK {
			t.Errorf("%+v: %s", c, response.Status)
		}
		must(t, s.stop())
		if after, err := http.Get("http://127.0.0.1:" + port + "/readyz"); err == nil {
			must(t, after.Body.Close())
			t.Errorf("%+v: it listens on after its end", c)
		}
	}
}
