package httpkit_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/ratelimit"
)

// document is a small API: things are listed and made, one thing is acted upon.
const document = `
paths:
  /things:
    get:
      operationId: list
      x-scope: read
      x-class: read
      parameters:
        - {name: kind, in: query, schema: {type: string, enum: [big, small]}}
        - {name: text, in: query, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 200}}
        - {name: cursor, in: query, schema: {type: string}}
        - {name: parts, in: query, schema: {type: array, items: {type: string, enum: [head, tail]}}}
        - {name: If-None-Match, in: header, schema: {type: string}}
    post:
      operationId: create
      x-scope: write
      x-class: write
      parameters: [{$ref: "#/components/parameters/Key"}]
      requestBody: {required: true, content: {application/json: {}}}
    patch:
      operationId: update
      x-scope: write
      x-class: write
      requestBody: {required: false, content: {application/json: {}, application/merge-patch+json: {}}}
  /things/{id}/act:
    post:
      operationId: act
      x-scope: any
      x-class: costly
      parameters: [{$ref: "#/components/parameters/Key"}]
  /public:
    get: {operationId: public, security: []}
components:
  parameters:
    Key: {name: Idempotency-Key, in: header, schema: {type: string}}
`

// thing is a body with a field of every kind.
type thing struct {
	Name   *string       `json:"name"`
	Count  *int64        `json:"count,omitempty"`
	Price  *money.Number `json:"price,omitempty"`
	Until  *string       `json:"until,omitempty" nullable:"true"`
	End    **string      `json:"end,omitempty" nullable:"true"`
	Wanted *bool         `json:"wanted,omitempty"`
	Part   *part         `json:"part,omitempty"`
	Parts  *[]part       `json:"parts,omitempty"`
	Tags   []string      `json:"tags"`
	Any    httpkit.Value `json:"any,omitempty" nullable:"true"`
}

type part struct {
	Name *string `json:"name"`
	Sub  *part   `json:"sub,omitempty"`
}

// kit is an API over the document whose handlers answer with what they got, unless the test brings another one for the
// list.
type kit struct {
	router   *gin.Engine
	log      *syncBuffer
	limiter  *fakeLimiter
	stopping *httpkit.Stopping
}

func newKit(t testing.TB, list ...httpkit.Handler) kit {
	t.Helper()
	table := tableOf(t, document)
	log, limiter := &syncBuffer{}, &fakeLimiter{taken: map[ratelimit.Key]ratelimit.Limit{}}
	clock, stopping := fixed{}, httpkit.NewStopping()
	router := httpkit.New(httpkit.Options{
		Clock: clock, IDs: clock, Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Proxies:  httpkit.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
		Stopping: stopping,
	})
	limits := httpkit.Limits{Limiter: limiter, ByClass: ratelimit.Limits{Read: 600, Costly: 10}}
	decode := func(r httpkit.Request) (httpkit.Answer, error) {
		value, problems := httpkit.Body[thing](r)
		if problems != nil {
			return httpkit.Answer{}, fault.Validation(problems)
		}
		return httpkit.Answer{Data: value}, nil
	}
	handlers := httpkit.Handlers{
		"list": func(r httpkit.Request) (httpkit.Answer, error) {
			return httpkit.Answer{Data: r.Query(), ETag: `"1"`}, nil
		},
		"create": decode,
		"update": decode,
		"act": func(r httpkit.Request) (httpkit.Answer, error) {
			return httpkit.Answer{Data: r.Caller().Name + " " + string(httpkit.PathID[id.Company](r, "id"))}, nil
		},
	}
	if list != nil {
		handlers["list"] = list[0]
	}
	if err := table.Serve(router.Group("", table.Gate(names{}, limits)), handlers, httpkit.Writers{"public": httpkit.Health}); err != nil {
		t.Fatal(err)
	}
	return kit{router, log, limiter, stopping}
}

// tableOf reads the table of a document of one file.
func tableOf(t testing.TB, text string) httpkit.Table {
	t.Helper()
	assembled, err := httpkit.Assemble(fstest.MapFS{"common.yaml": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := assembled.Table()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// ask sends one request with the token "all", unless the header says otherwise.
func (k kit) ask(method, target, body string, header ...string) answer {
	request := httptest.NewRequestWithContext(context.Background(), method, "/", strings.NewReader(body))
	request.URL.Path, request.URL.RawQuery, _ = strings.Cut(target, "?")
	request.Header.Set("Authorization", "Bearer all")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Del(header[i])
		if header[i+1] != "" {
			request.Header.Set(header[i], header[i+1])
		}
	}
	return k.send(request)
}

func (k kit) send(request *http.Request) answer {
	recorder := httptest.NewRecorder()
	k.router.ServeHTTP(recorder, request)
	return read(recorder.Code, recorder.Header(), recorder.Body.Bytes())
}

type answer struct {
	status int
	header http.Header
	text   string
	Data   json.RawMessage
	Error  struct {
		Code    string
		Message string
		Details struct {
			Parameter string
			Fields    []struct{ Field, Code string }
		}
	}
	Meta struct {
		RequestID, Timestamp string
		Page                 struct {
			Size   int
			Cursor *string
		}
	}
}

func read(status int, header http.Header, body []byte) answer {
	a := answer{status: status, header: header, text: string(body)}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &a); err != nil {
			a.Error.Code = "no JSON: " + err.Error()
		}
	}
	return a
}

// is fails the test unless the answer has a status and, when it is an error, a code.
func (a answer) is(t testing.TB, what string, status int, code fault.Code) {
	t.Helper()
	if a.status != status || a.Error.Code != string(code) {
		t.Errorf("%s: answered %d %s, want %d %s\n%s", what, a.status, a.Error.Code, status, code, a.text)
	}
}

// names authenticates by name: each scope, and "all".
type names struct{}

func (names) Authenticate(_ context.Context, value string) (access.Caller, error) {
	caller := access.Caller{Token: "tok_" + id.Token(value), Name: value}
	switch value {
	case "all":
		caller.Scopes = access.Scopes{{Permission: access.Admin}}
	case "read", "write":
		caller.Scopes = access.Scopes{{Permission: access.Permission(value)}}
	default:
		return access.Caller{}, fault.New(fault.Unauthorized, "No such token.")
	}
	return caller, nil
}

// fakeLimiter remembers what was asked. It admits everything unless it is full.
type fakeLimiter struct {
	mutex sync.Mutex
	taken map[ratelimit.Key]ratelimit.Limit
	full  bool
}

func (l *fakeLimiter) Take(_ context.Context, key ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.taken[key] = limit
	if l.full {
		return ratelimit.Verdict{Limit: limit, Reset: 41*time.Second + time.Millisecond}
	}
	return ratelimit.Verdict{Limit: limit, Admitted: true, Remaining: int64(limit) - 1, Reset: time.Minute}
}

// fixed is a clock that stands still and a source of one id.
type fixed struct{}

func (fixed) Now() time.Time { return time.Date(2026, 4, 11, 10, 42, 17, 0, time.UTC) }

func (fixed) UUIDv7() [16]byte {
	return [16]byte(binary.BigEndian.AppendUint64([]byte{1, 0x9d, 7, 0, 0, 0, 0x70, 0}, 7))
}

const fixedID = "req_01km3g0000e000000000000007"

// syncBuffer is a log that several goroutines write to.
type syncBuffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}
