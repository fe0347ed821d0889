package httpkit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
)

// failing answers GET /fail with an error.
func failing(t *testing.T, err error) kit {
	t.Helper()
	k := newKit(t)
	k.router.GET("/fail", func(c *gin.Context) { httpkit.Fail(c, err) })
	return k
}

func TestAnAnswerWithoutContentHasNoBody(t *testing.T) {
	t.Parallel()
	k := newKit(t, func(httpkit.Request) (httpkit.Answer, error) {
		return httpkit.Answer{Status: httpkit.NoContent, Data: "x", IsReplayed: true}, nil
	})
	got := k.ask("GET", "/things", "")
	if got.status != http.StatusNoContent || got.text != "" || got.header.Get("Cache-Control") != "no-store" ||
		got.header.Get("Idempotency-Replayed") != "true" || got.header.Get("Content-Type") != "" {
		t.Errorf("%+v", got)
	}
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	for code, status := range map[fault.Code]int{
		fault.InvalidJSON: 400, fault.InvalidParameter: 400, fault.InvalidCursor: 400, fault.Unauthorized: 401,
		fault.InsufficientScope: 403, fault.NotFound: 404, fault.MethodNotAllowed: 405, fault.SlugInUse: 409,
		fault.InvalidTransition: 409, fault.RestoreWindowExpired: 409, fault.CompanyArchived: 409,
		fault.IdempotencyConflict: 409, fault.PreconditionFailed: 412, fault.PayloadTooLarge: 413,
		fault.UnsupportedMediaType: 415, fault.ValidationFailed: 422, fault.ImmutableField: 422, fault.BudgetInvalid: 422,
		fault.AdapterNotInstalled: 422, fault.RateLimited: 429, fault.Internal: 500, fault.Unavailable: 503,
	} {
		refusal := fault.New(code, "Why.").With("from", "here").Because(errors.New("SELECT secret"))
		answer := failing(t, fmt.Errorf("within: %w", refusal)).ask("GET", "/fail", "")
		answer.is(t, string(code), status, code)
		if strings.Contains(answer.text, "secret") || answer.header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %v %s", code, answer.header, answer.text)
		}
		if waits := answer.header.Get("Retry-After") != ""; waits != (status == 503) {
			t.Errorf("%s: Retry-After %q", code, answer.header.Get("Retry-After"))
		}
	}
}

func TestWhatIsNoRefusalIsInternalAndLogged(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"error":        errors.New("disk I/O error"),
		"unknown code": fault.New("no_such_code", "disk I/O error"),
		"cancellation": fmt.Errorf("disk I/O error: %w", context.Canceled), // not by the client
	} {
		k := failing(t, err)
		answer := k.ask("GET", "/fail", "")
		answer.is(t, name, 500, fault.Internal)
		log := k.log.String()
		if strings.Contains(answer.text, "disk") || !strings.Contains(log, "disk I/O error") || !strings.Contains(log, fixedID) {
			t.Errorf("%s: %s, logged %s", name, answer.text, log)
		}
	}
}

func TestRetryAfterIsInWholeSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code fault.Code
		wait time.Duration
		want string
	}{
		{fault.RateLimited, time.Millisecond, "1"},
		{fault.RateLimited, 41*time.Second + time.Millisecond, "42"},
		{fault.RateLimited, time.Minute, "60"},
		{fault.Unavailable, 0, "2"},
		{fault.Unavailable, 5 * time.Second, "5"},
	} {
		answer := failing(t, fault.New(c.code, "Later.").After(c.wait)).ask("GET", "/fail", "")
		if got := answer.header.Get("Retry-After"); got != c.want {
			t.Errorf("%s, %s: Retry-After %q, want %q", c.code, c.wait, got, c.want)
		}
	}
}

func TestTheLogTellsOnceOfRequestsThatCannotBeServedForOneCause(t *testing.T) {
	t.Parallel()
	k := failing(t, fault.New(fault.Unavailable, "Later.").Because(errors.New("the store is away")))
	for range 20 {
		k.ask("GET", "/fail", "").is(t, "fail", 503, fault.Unavailable)
	}
	if got := strings.Count(k.log.String(), "could not be served"); got < 1 || got > 10 { // which takes less than ten seconds
		t.Errorf("there are %d lines: %s", got, k.log)
	}
}

func TestNobodyIsAnsweredWhenTheClientIsGone(t *testing.T) {
	t.Parallel()
	k := failing(t, fmt.Errorf("query: %w", context.Canceled))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	answer := k.send(httptest.NewRequestWithContext(gone, "GET", "/fail", nil))
	if answer.text != "" || strings.Contains(k.log.String(), "ERROR") {
		t.Errorf("%s, logged %s", answer.text, k.log)
	}
}

func TestAPanicIsInternal(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.router.GET("/panic", func(*gin.Context) { panic("a secret") })
	answer := k.ask("GET", "/panic", "")
	answer.is(t, "panic", 500, fault.Internal)
	if log := k.log.String(); strings.Contains(answer.text, "secret") || !strings.Contains(log, "a secret") ||
		!strings.Contains(log, "answer_test.go") || !strings.Contains(log, `"status":500`) {
		t.Errorf("%s, logged %s", answer.text, log)
	}
}

func TestWhatWasKeptIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	kept := `{"status":201,"etag":"\"3\"","location":"/things/1","data":{"a":"<b>"}}`
	answer := failing(t, &idempotency.Replay{Answer: []byte(kept)}).ask("GET", "/fail", "")
	answer.is(t, "replay", 201, "")
	header := answer.header
	if string(answer.Data) != `{"a":"<b>"}` || header.Get("ETag") != `"3"` || header.Get("Location") != "/things/1" ||
		header.Get("Idempotency-Replayed") != "true" || answer.Meta.RequestID != fixedID {
		t.Errorf("%v %s", header, answer.text)
	}
	failing(t, &idempotency.Replay{Answer: []byte("x")}).ask("GET", "/fail", "").is(t, "spoiled", 500, fault.Internal)
}

func TestRequestIDsOfClientsAreKeptWhenHarmless(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	long := strings.Repeat("x", 128)
	for sent, want := range map[string]string{
		"":           fixedID,
		"a.B_9-":     "a.B_9-",
		long:         long,
		long + "x":   fixedID,
		"a b":        fixedID,
		"a\"b":       fixedID,
		"ä":          fixedID,
		"a/../b":     fixedID,
		"x\x00":      fixedID,
		"req_golden": "req_golden",
	} {
		answer := k.ask("GET", "/nothing", "", "X-Request-Id", sent)
		if answer.header.Get("X-Request-Id") != want || answer.Meta.RequestID != want {
			t.Errorf("%q became %q", sent, answer.Meta.RequestID)
		}
	}
}

func TestTheLogReportsWhoAskedWhatAndNoSecrets(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.ask("POST", "/things?hidden=1", `{"name":"hidden"}`, "Idempotency-Key", "hidden", "X-Request-Id", "req-1")
	k.ask("POST", "/things/hidden/act", "", "Authorization", "Bearer write")
	k.ask("GET", "/hidden", "", "Authorization", "Bearer hidden")
	log := k.log.String()
	for _, want := range []string{
		`"requestId":"req-1","method":"POST","route":"/things","remote":"192.0.2.1","token":"tok_all","status":400,"ms":`,
		`"route":"/things/:id/act","remote":"192.0.2.1","token":"tok_write","status":200`,
		`"route":"","remote":"192.0.2.1","status":404`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, "hidden") || strings.Contains(log, "Bearer") {
		t.Errorf("the log reveals too much:\n%s", log)
	}
}
