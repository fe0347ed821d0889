package wiring_test

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/limits/redislimit/redistest"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite/sqlitetest"
)

// limited starts a server with limits, on the embedded store unless the variables say otherwise.
func limited(t *testing.T, environ ...string) *instance {
	t.Helper()
	return start(t, newClock(), append([]string{dataDir + sqlitetest.Dir(t)}, environ...)...)
}

// stands fails the test unless an answer reports a limit, what is left of it, and the seconds until it is whole again.
func stands(t *testing.T, answer resttest.Answer, limit, remaining, reset int) {
	t.Helper()
	for name, want := range map[string]int{"RateLimit-Limit": limit, "RateLimit-Remaining": remaining, "RateLimit-Reset": reset} {
		if got := answer.Header.Get(name); got != strconv.Itoa(want) {
			t.Errorf("%d answer: %s is %q, want %d", answer.Status, name, got, want)
		}
	}
}

func TestEveryClassHasAWindowOfItsOwn(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_READ=3", "HOLDCO_RATE_WRITE=2")
	for _, remaining := range []int{2, 1, 0} {
		stands(t, s.Get("/v1/whoami"), 3, remaining, 60)
	}
	s.clock.advance(59*time.Second + 400*time.Millisecond)
	refused := s.Get("/v1/companies")
	refused.Is(t, http.StatusTooManyRequests, "rate_limited")
	stands(t, refused, 3, 0, 1)
	if got := refused.Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After is %q", got)
	}

	acme := s.create(t, draft(t, ""))
	stands(t, s.Patch(acme.path(), `{"name":"Next"}`), 2, 0, 60)
	s.Patch(acme.path(), `{"name":"Too many"}`).Is(t, http.StatusTooManyRequests, "rate_limited")

	s.clock.advance(600 * time.Millisecond)
	again := s.Get(acme.path())
	stands(t, again, 3, 2, 60)
	if name := resttest.Data[company](t, again).Name; name != "Next" {
		t.Errorf("a refused write changed the name to %q", name)
	}
}

func TestEveryAnswerToATokenReportsItsLimit(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_READ=100")
	acme := s.create(t, draft(t, ""))
	remaining := 100
	for _, c := range []struct {
		method, path string
		header       map[string]string
		status       int
	}{
		{"GET", acme.path(), nil, 200},
		{"HEAD", acme.path(), nil, 200},
		{"GET", acme.path(), map[string]string{"If-None-Match": "*"}, 304},
		{"GET", "/v1/companies?limit=0", nil, 400},
		{"GET", "/v1/companies?cursor=x", nil, 400},
		{"GET", "/v1/companies/cmp_x", nil, 404},
		{"GET", "/v1/whoami", nil, 200},
	} {
		answer := s.Send(resttest.Request{Method: c.method, Path: c.path, Header: c.header, Wrong: true})
		if answer.Status != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, answer.Status, c.status)
		}
		remaining--
		stands(t, answer, 100, remaining, 60)
	}
	forbidden := s.with(t, "write").Get("/v1/companies")
	forbidden.Is(t, http.StatusForbidden, "insufficient_scope")
	stands(t, forbidden, 100, 99, 60)

	for _, free := range []resttest.Answer{s.Get("/healthz"), s.As("").Get("/v1/whoami"), s.Post(acme.path()+"/archive", "")} {
		if free.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("%v reports a limit", free.Header)
		}
	}
}

// storm sends many requests, 32 at a time, spread over clients of the same token, and counts their answers by status.
func storm(requests int, clients ...*resttest.Client) map[int]int {
	var next atomic.Int64
	var mutex sync.Mutex
	statuses := map[int]int{}
	var everybody sync.WaitGroup
	for range 32 {
		everybody.Go(func() {
			for n := next.Add(1); n <= int64(requests); n = next.Add(1) {
				answer := clients[n%int64(len(clients))].Get("/v1/whoami")
				mutex.Lock()
				statuses[answer.Status]++
				mutex.Unlock()
			}
		})
	}
	everybody.Wait()
	return statuses
}

func TestNotOneRequestMoreThanTheLimitIsAdmitted(t *testing.T) {
	t.Parallel()
	s := limited(t, "HOLDCO_RATE_READ=100")
	other := s.with(t, "read")
	for range 3 {
		for _, client := range []*resttest.Client{s.Client, other} {
			if got := storm(300, client); got[http.StatusOK] != 100 || got[http.StatusTooManyRequests] != 200 {
				t.Errorf("the answers were %v", got)
			}
		}
		s.clock.advance(time.Minute)
	}
}

func TestServersOnOneRedisCountTogether(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	environ := []string{
		databaseURL + postgrestest.URL(t), "HOLDCO_KEY_FILE=" + filepath.Join(t.TempDir(), "key"),
		"HOLDCO_REDIS_URL=" + redis.URL(), "HOLDCO_RATE_READ=100",
	}
	one, other := limited(t, environ...), limited(t, environ...)
	for range 2 {
		if got := storm(300, one.Client, other.Client); got[http.StatusOK] != 100 || got[http.StatusTooManyRequests] != 200 {
			t.Errorf("the answers were %v", got)
		}
		redis.Age(t, time.Minute)
	}
}

// countedTokens returns how many tokens have a count in Redis.
func countedTokens(t *testing.T, redis *redistest.Server) (tokens int) {
	t.Helper()
	for name := range redis.Keys(t) {
		if strings.Contains(name, ":tok_") {
			tokens++
		}
	}
	return tokens
}

const lostRedis, foundRedis = "Redis does not answer", "Redis answers again"

func TestTheLossOfRedisIsNoError(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	s := limited(t, "HOLDCO_REDIS_URL="+redis.URL(), "HOLDCO_RATE_READ=1000000000")
	load := func() {
		t.Helper()
		if got := storm(300, s.Client); got[http.StatusOK] != 300 {
			t.Errorf("the answers were %v", got)
		}
	}
	var clients sync.WaitGroup
	var stop atomic.Bool
	clients.Go(func() {
		for !stop.Load() {
			load()
		}
	})
	await(t, "counting in Redis", func() bool { return countedTokens(t, redis) > 0 })
	redis.Kill(t)
	await(t, "the loss", func() bool { return strings.Contains(s.log.String(), lostRedis) })
	load()
	redis.Start(t)
	await(t, "the return", func() bool { return strings.Contains(s.log.String(), foundRedis) })
	await(t, "counting in Redis again", func() bool { return countedTokens(t, redis) > 0 })
	redis.Pause(t)
	load()
	stop.Store(true)
	clients.Wait()
	if lost := strings.Count(s.log.String(), lostRedis); lost != 2 {
		t.Errorf("two losses were logged %d times", lost)
	}
}

func TestRedisMayComeLater(t *testing.T) {
	t.Parallel()
	redis := redistest.Prepare(t)
	s := limited(t, "HOLDCO_REDIS_URL="+redis.URL(), "HOLDCO_RATE_READ=2")
	if got := storm(10, s.Client); got[http.StatusOK] != 2 || got[http.StatusTooManyRequests] != 8 {
		t.Errorf("the answers were %v", got)
	}
	redis.Start(t)
	await(t, "the return", func() bool { return strings.Contains(s.log.String(), foundRedis) })
	s.with(t, "read").Get("/v1/whoami").Is(t, http.StatusOK, "")
	if countedTokens(t, redis) != 1 || strings.Count(s.log.String(), lostRedis) != 1 {
		t.Errorf("%v\n%s", redis.Keys(t), s.log)
	}
}

func TestTokensCannotBeGuessedAtSpeed(t *testing.T) {
	t.Parallel()
	s := limited(t)
	guess := s.As("hco_guess")
	for range 60 {
		guess.Get("/v1/whoami").Is(t, http.StatusUnauthorized, "unauthorized")
	}
	s.clock.advance(20 * time.Second)
	refused := guess.Get("/v1/whoami")
	refused.Is(t, http.StatusTooManyRequests, "rate_limited")
	if got := refused.Header.Get("Retry-After"); got != "40" {
		t.Errorf("Retry-After is %q", got)
	}
	s.Get("/v1/whoami").Is(t, http.StatusOK, "")
	s.clock.advance(40 * time.Second)
	guess.Get("/v1/whoami").Is(t, http.StatusUnauthorized, "unauthorized")
}

func TestOnlyTrustedProxiesSayWhoTheClientIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trusted string
		apart   bool
	}{{"127.0.0.1", true}, {"", false}, {"192.0.2.0/24", false}} {
		s := limited(t, "HOLDCO_TRUSTED_PROXIES="+c.trusted)
		guessFrom := func(address string) resttest.Answer {
			return s.As("hco_guess").Send(resttest.Request{
				Method: http.MethodGet, Path: "/v1/whoami", Header: map[string]string{"X-Forwarded-For": "203.0.113.1, " + address},
			})
		}
		for range 60 {
			guessFrom("198.51.100.1")
		}
		guessFrom("198.51.100.1").Is(t, http.StatusTooManyRequests, "rate_limited")
		if other := guessFrom("198.51.100.2"); (other.Status == http.StatusUnauthorized) != c.apart {
			t.Errorf("%q: another address is answered %d", c.trusted, other.Status)
		}
		if strings.Contains(s.log.String(), "remote=198.51.100.2") != c.apart || strings.Contains(s.log.String(), "remote=203.0.113.1") {
			t.Errorf("%q: logged %s", c.trusted, s.log)
		}
	}
}
