package httpkit

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/domain/precondition"
	"holdco/ports/outbound"
)

// request is the state of a request that Gin does not keep.
type request struct {
	options Options
	id      string
	client  netip.Addr      // who sent it
	caller  access.Caller   // set by Gate
	permits permission      // set by Gate and PartnerGate
	partner partner.Partner // set by PartnerGate
	endsAt  time.Time       // of the key of a partner; zero: never
	agent   agent.Caller    // set by AgentGate
	body    []byte          // set by the gate: nil, or one JSON object
	query   Query           // set by the gate
	once    string          // set by the gate: the idempotency key, empty when there is none
	upload  []byte          // a hash of the file that Upload has read

	deprecated bool // it uses what is deprecated
}

// permission reports whether the token or the key of a request has ended since it came, and whether what the key may see has changed.
type permission func() (ended, changed bool)

const requestKey = "holdco.request"

func of(c *gin.Context) *request { return c.MustGet(requestKey).(*request) }

// Request is a request that has passed the gate.
type Request struct{ c *gin.Context }

// Context ends when the client goes away.
func (r Request) Context() context.Context { return r.c.Request.Context() }

// Caller is the token that the request carries.
func (r Request) Caller() access.Caller { return of(r.c).caller }

// IsRefused reports whether the token would be refused now: it was revoked or rotated, or has expired, since the request came.
func (r Request) IsRefused() bool {
	ended, _ := of(r.c).permits()
	return ended
}

// PartnerOf is the partner whose key a request carries.
func PartnerOf(c *gin.Context) partner.Partner { return of(c).partner }

// KeyEndsAt is when the key of a partner ends that a request carries; zero: never.
func KeyEndsAt(c *gin.Context) time.Time { return of(c).endsAt }

// Header is a header of the request; empty: it was not sent.
func (r Request) Header(name string) string { return r.c.GetHeader(name) }

// Agent is the agent whose token the request carries.
func (r Request) Agent() agent.Caller { return of(r.c).agent }

// Query holds the query parameters.
func (r Request) Query() Query { return of(r.c).query }

// Match holds the versions that If-Match allows to be changed.
func (r Request) Match() precondition.Match { return matchOf(r.c) }

// PathID reads an id from the path. Anything else gives the empty id, which no resource has.
func PathID[I id.ID](r Request, parameter string) I {
	parsed, _ := id.Parse[I](r.c.Param(parameter))
	return parsed
}

// Path is a parameter of the path as it was sent.
func (r Request) Path(parameter string) string { return r.c.Param(parameter) }

// Body decodes the body as Decode does.
func Body[T any](r Request) (T, fault.Problems) { return Decode[T](of(r.c).body) }

// page reads the parameters cursor and limit.
func (r Request) page(query string) (after page.Position, size int, err error) {
	size = page.DefaultSize
	if limit, sent := r.Query()["limit"]; sent {
		size, _ = strconv.Atoi(limit) // the gate has checked it
	}
	if cursor, sent := r.Query()["cursor"]; sent {
		after, err = page.ParseCursor(query, cursor)
	}
	return after, size, err
}

// QueryOf returns the query parameters of a request that has passed the gate.
func QueryOf(c *gin.Context) Query { return of(c).query }

// BodyOf returns the body of a request that has passed the gate.
func BodyOf(c *gin.Context) io.ReadCloser { return io.NopCloser(bytes.NewReader(of(c).body)) }

// SentTo is the body of a request as far as the gate has read it, whether it has passed or not.
func SentTo(c *gin.Context) []byte { return of(c).body }

// TakeBody reads the body of a request outside any OpenAPI document as the gate would: one JSON object, which must be there.
func TakeBody[T any](c *gin.Context) (T, fault.Problems, error) {
	var none T
	body := bodyRule{required: true, mediaTypes: []string{jsonType}}
	sent, err := readBody(c.Request.Body)
	if err == nil {
		err = body.takes(c.Request.Header, sent)
	}
	if err == nil {
		sent, err = body.check(sent)
	}
	if err != nil {
		return none, nil, err
	}
	value, problems := Decode[T](sent)
	return value, problems, nil
}

// begin gives a request its id, and its answer the headers that all answers have.
func begin(options Options) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := &request{options: options, id: requestID(c.GetHeader("X-Request-Id"), options.IDs)}
		if from, isInner := c.Request.Context().Value(innerKey{}).(inner); isInner {
			r.client = from.client
		} else {
			r.client = options.Proxies.clientOf(c.Request)
		}
		c.Set(requestKey, r)
		c.Header("X-Request-Id", r.id)
		c.Header("X-Content-Type-Options", "nosniff")
		if c.Request.TransferEncoding != nil {
			// A request that also has a Content-Length must be the last of its connection (RFC 9112, section 6.1), because
			// a proxy may see another end of it. Package net/http drops that header before a handler can see it.
			c.Header("Connection", "close")
		}
	}
}

// requestID keeps the id that a client sent when it is harmless.
func requestID(sent string, ids outbound.IDs) string {
	const longest = 128
	if sent == "" || len(sent) > longest || strings.ContainsFunc(sent, notOfRequestID) {
		return string(id.New[id.Request](ids.UUIDv7()))
	}
	return sent
}

func notOfRequestID(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
}

// attributes are what the log has of a request: never query values, headers or bodies.
func attributes(c *gin.Context) []slog.Attr {
	r := of(c)
	attrs := make([]slog.Attr, 0, 8) // its callers add to it
	attrs = append(attrs,
		slog.String("requestId", r.id),
		slog.String("method", c.Request.Method),
		slog.String("route", c.FullPath()),
		slog.String("remote", r.client.String()),
	)
	if r.caller.Token != "" {
		attrs = append(attrs, slog.String("token", string(r.caller.Token)))
	}
	if r.partner.ID != "" {
		attrs = append(attrs, slog.String("partner", string(r.partner.ID)))
	}
	if r.agent.ID != "" {
		attrs = append(attrs, slog.String("agent", string(r.agent.ID)))
	}
	if r.deprecated {
		attrs = append(attrs, slog.Bool("deprecated", true))
	}
	return attrs
}

func logFailure(c *gin.Context, level slog.Level, message string, cause error, more ...slog.Attr) {
	attrs := append(append(attributes(c), slog.String("error", cause.Error())), more...)
	of(c).options.Log.LogAttrs(c.Request.Context(), level, message, attrs...)
}
