package httpkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
	"holdco/domain/ratelimit"
	"holdco/ports/inbound"
)

// MostBody is how large a body can be, in bytes.
const MostBody = 1 << 20

const (
	onceHeader     = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	jsonType       = "application/json"
	mergePatchType = "application/merge-patch+json"
)

// Gate lets a request with a token through to its handler when every check passes that needs no resource. Unknown paths
// and methods were answered before it.
//
// A request whose context knows who calls shows no token: see WithCaller.
func (t Table) Gate(auth inbound.Authenticator, limits Limits) gin.HandlerFunc {
	return t.gate(func(c *gin.Context, op operation) error {
		caller, err := callerOf(c.Request, auth)
		if err != nil {
			return limits.orFailedTooOften(c, err)
		}
		of(c).caller = caller
		of(c).permits = func() (ended, changed bool) {
			_, err := callerOf(c.Request, auth)
			return fault.CodeOf(err) == fault.Unauthorized, false
		}
		if err := limits.admit(c, ratelimit.ByToken(caller.Token, op.class)); err != nil {
			return err
		}
		return op.permits(caller)
	})
}

// PartnerGate is Gate for an API that the keys of partners open, all of its operations to all of them; what these show is for the view
// of PartnerOf. What a page sends must come from an origin that is registered with the key.
func (t Table) PartnerGate(auth inbound.PartnerAuthenticator, limits Limits) gin.HandlerFunc {
	return t.gate(func(c *gin.Context, op operation) error {
		sent := credentials(c.Request)
		partner, err := auth.Authenticate(c.Request.Context(), sent)
		if err != nil {
			return limits.orFailedTooOften(c, err)
		}
		key, _ := access.ParsePartnerKey(sent)
		of(c).partner, of(c).endsAt = partner, partner.EndsAt(key.Hash())
		of(c).permits = func() (ended, changed bool) {
			now, err := auth.Authenticate(c.Request.Context(), sent)
			return fault.CodeOf(err) == fault.Unauthorized, err == nil && !now.View.Equal(partner.View)
		}
		if err := limits.admit(c, ratelimit.ByPartner(partner.ID, op.class)); err != nil {
			return err
		}
		err = checkOrigin(c, partner.AllowsOrigin, "The request comes from a page of an origin that is not registered with this key.")
		if err == nil {
			auth.Used(partner.ID, 1, 0)
		}
		return err
	})
}

// AgentGate is Gate for an API that the tokens of agents open, all of it to all of them. Allows reports whether a page of an origin may
// send a request; nil: none may.
func (t Table) AgentGate(
	auth inbound.AgentAuthenticator, limits Limits, allows func(r *http.Request, origin string) bool,
) gin.HandlerFunc {
	return t.gate(func(c *gin.Context, op operation) error {
		caller, err := auth.Authenticate(c.Request.Context(), credentials(c.Request))
		if err != nil {
			return limits.orFailedTooOften(c, err)
		}
		of(c).agent = caller
		if err := limits.admit(c, ratelimit.ByAgent(caller.ID, op.class)); err != nil {
			return err
		}
		isAllowed := func(origin string) bool { return allows != nil && allows(c.Request, origin) }
		return checkOrigin(c, isAllowed, "The request comes from a page of an origin that is not allowed; this API is for agents.")
	})
}

// InnerAgentGate is AgentGate for requests within the process, whose context says which agent calls: see Within. They are
// counted where they came from.
func (t Table) InnerAgentGate() gin.HandlerFunc {
	return t.gate(func(c *gin.Context, _ operation) error {
		caller, ok := AgentIn(c.Request.Context())
		if !ok {
			return errors.New("a request within the process has no agent")
		}
		of(c).agent = caller
		return nil
	})
}

// inner is what a request within the process has from the one that it is made for.
type inner struct {
	agent  agent.Caller
	client netip.Addr
}

type innerKey struct{}

// known tells who calls, as the part of the program knows that passes the request on.
type known func() (access.Caller, error)

type knownKey struct{}

// WithCaller makes a context for a request of a caller whom authenticate knows, or refuses: it takes the place of the token. While the
// answer is a stream it is asked again and again.
func WithCaller(ctx context.Context, authenticate func() (access.Caller, error)) context.Context {
	return context.WithValue(ctx, knownKey{}, known(authenticate))
}

// callerOf is who sends a request.
func callerOf(r *http.Request, auth inbound.Authenticator) (access.Caller, error) {
	if before, isKnown := r.Context().Value(knownKey{}).(known); isKnown {
		return before()
	}
	return auth.Authenticate(r.Context(), credentials(r))
}

// Within makes the context for requests within the process that are made for a request of an agent.
func Within(c *gin.Context) context.Context {
	return context.WithValue(c.Request.Context(), innerKey{}, inner{of(c).agent, of(c).client})
}

// AgentIn returns the agent of a context that Within made, and whether it has one.
func AgentIn(ctx context.Context) (agent.Caller, bool) {
	from, ok := ctx.Value(innerKey{}).(inner)
	return from.agent, ok
}

// gate makes the checks in the order of the public APIs: of several faults the first is answered. Who may enter an
// operation that is not public is for enter to say.
func (t Table) gate(enter func(c *gin.Context, op operation) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		op, ok := t.operationOf(c)
		if op.outdated != nil && op.outdated.whole != nil {
			announce(c, *op.outdated.whole) // whatever the answer is
		}
		switch {
		case !ok:
			Fail(c, errors.New("the OpenAPI document does not describe this route"))
		case !op.public:
			err := enter(c, op)
			if err == nil && op.writes {
				err = HasRoom(c)
			}
			if err == nil {
				err = op.inspect(c)
			}
			if err != nil {
				Fail(c, err)
			}
		}
	}
}

// HasRoom fails while there is no room for what is written: see Options.
func HasRoom(c *gin.Context) error {
	if room := of(c).options.Room; room != nil {
		return room()
	}
	return nil
}

// inspect looks at what was sent, and notes it.
func (op operation) inspect(c *gin.Context) (err error) {
	if err := op.inspectBody(c); err != nil {
		return err
	}
	r := of(c)
	if r.query, err = readQuery(c.Request.URL.RawQuery, op.query); err != nil {
		return err
	}
	if r.once, err = op.checkHeaders(c.Request.Header); err != nil {
		return err
	}
	if op.outdated != nil {
		op.outdated.announceUsed(c)
	}
	return nil
}

func (op operation) inspectBody(c *gin.Context) (err error) {
	r := of(c)
	if op.streamed {
		return op.inspectUpload(c.Request, r.options.MostUpload)
	}
	if c.Request.ContentLength > MostBody {
		return errTooLarge // without a read, so that a client that waits for 100 Continue sends nothing
	}
	if r.body, err = readBody(c.Request.Body); err != nil {
		return err
	}
	if err := op.body.takes(c.Request.Header, r.body); err != nil {
		return err
	}
	r.body, err = op.body.check(r.body)
	return err
}

func (t Table) operationOf(c *gin.Context) (operation, bool) {
	method := c.Request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op, ok := t[route{method, c.FullPath()}]
	return op, ok
}

// credentials are the token or the key that a request shows; empty: none.
func credentials(r *http.Request) string {
	if sent := r.Header.Values("Authorization"); len(sent) == 1 {
		scheme, value, _ := strings.Cut(sent[0], " ")
		if strings.EqualFold(scheme, "Bearer") {
			return strings.Trim(value, " ")
		}
	}
	return ""
}

func (op operation) permits(caller access.Caller) error {
	switch {
	case op.scope == "":
		return nil
	case op.instanceWide:
		return caller.NeedsEverywhere(op.scope)
	}
	return caller.Needs(op.scope)
}

var errTooLarge = fault.New(fault.PayloadTooLarge, "The body has more than %d bytes.", MostBody)

// readBody reads all of a body, be it wanted or not. One that does not arrive in full, because the client was too slow
// or went away, counts as truncated.
func readBody(from io.Reader) ([]byte, error) {
	if from == http.NoBody {
		return nil, nil
	}
	sent, err := io.ReadAll(io.LimitReader(from, MostBody+1))
	if len(sent) > MostBody {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, fault.New(fault.InvalidJSON, "The body did not arrive in full.").Because(err)
	}
	return sent, nil
}

// takes refuses a body by how it was sent.
func (b bodyRule) takes(header http.Header, sent []byte) error {
	if len(sent) == 0 {
		return nil
	}
	if coding := header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return fault.New(fault.UnsupportedMediaType, "The body must not be compressed.")
	}
	return b.hasType(header)
}

// hasType refuses a body of another media type.
func (b bodyRule) hasType(header http.Header) error {
	allowed := b.mediaTypes
	if allowed == nil {
		allowed = []string{jsonType}
	}
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, charsetSent := parameters["charset"]
	if err != nil || !slices.Contains(allowed, mediaType) || charsetSent && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.UnsupportedMediaType, "The body must have the Content-Type %s, in UTF-8.", strings.Join(allowed, " or "))
	}
	return nil
}

// check refuses a body that is not one JSON object, or is missing. It returns nil where there is nothing to read.
func (b bodyRule) check(sent []byte) ([]byte, error) {
	if len(sent) == 0 {
		if b.required {
			return nil, fault.New(fault.InvalidJSON, "The body is missing; it must be one JSON object.")
		}
		return nil, nil
	}
	empty, err := checkJSON(sent)
	if err != nil || b.mediaTypes != nil {
		return sent, err
	}
	if !empty {
		return nil, fault.New(fault.UnsupportedMediaType, "The operation takes no body, or {}.")
	}
	return nil, nil
}

// checkHeaders refuses the headers of the operation that are given twice or empty, and returns the idempotency key.
func (op operation) checkHeaders(header http.Header) (once string, err error) {
	for _, name := range op.headers {
		sent := header.Values(name)
		switch {
		case len(sent) == 0:
			continue
		case len(sent) > 1:
			return "", InvalidParameter(name, "is given twice")
		case sent[0] == "":
			return "", InvalidParameter(name, "is empty")
		case name == onceHeader:
			var ok bool
			if once, ok = idempotency.ParseKey(sent[0]); !ok {
				return "", InvalidParameter(name, fmt.Sprintf("must be 1 to %d visible ASCII characters", idempotency.KeyLength))
			}
		}
	}
	return once, nil
}
