package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

type tokens struct{ port inbound.Tokens }

// Tokens handles the operations on tokens.
func Tokens(port inbound.Tokens) httpkit.Handlers {
	h := tokens{port}
	return httpkit.Handlers{
		"listTokens":  h.list,
		"createToken": h.create,
		"getToken":    h.get,
		"rotateToken": h.rotate,
		"revokeToken": h.revoke,
		"whoami":      whoami,
	}
}

func (h tokens) list(r httpkit.Request) (httpkit.Answer, error) {
	return httpkit.List(r, "tokens", func(after page.Position, size int) (page.Page[access.Token], error) {
		return h.port.List(r.Context(), r.Caller(), after, size)
	})
}

func (h tokens) create(r httpkit.Request) (httpkit.Answer, error) {
	once := httpkit.Once(r, func(t access.Token) httpkit.Answer { return newTokenAnswer(t) })
	issued, err := h.port.Create(r.Context(), r.Caller(), tokenDraft(r), once)
	return newTokenAnswer(issued.Token, event.F("token", string(issued.Value))), err
}

func (h tokens) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), httpkit.PathID[id.Token](r, "id"))
	return tokenAnswer(found), err
}

func (h tokens) rotate(r httpkit.Request) (httpkit.Answer, error) {
	which := httpkit.PathID[id.Token](r, "id")
	sent, problems := httpkit.Body[TokenRotation](r)
	rotation := access.Rotation{Grace: seconds(sent.GraceSeconds), Problems: problems}
	once := httpkit.Once(r, func(t access.Token) httpkit.Answer { return tokenAnswer(t) })
	issued, err := h.port.Rotate(r.Context(), r.Caller(), which, rotation, r.Match(), once)
	return tokenAnswer(issued.Token, event.F("token", string(issued.Value))), err
}

func (h tokens) revoke(r httpkit.Request) (httpkit.Answer, error) {
	revoked, err := h.port.Revoke(r.Context(), r.Caller(), httpkit.PathID[id.Token](r, "id"), r.Match())
	return tokenAnswer(revoked), err
}

func whoami(r httpkit.Request) (httpkit.Answer, error) {
	caller := r.Caller()
	return httpkit.Answer{Data: event.Fields{
		event.F("tokenId", string(caller.Token)),
		event.F("name", caller.Name),
		event.F("scopes", caller.Scopes.Strings()),
		event.F("createdAt", instant.Format(caller.CreatedAt)),
		event.F("expiresAt", instant.Optional(caller.ExpiresAt)),
	}}, nil
}

func tokenDraft(r httpkit.Request) access.TokenDraft {
	sent, problems := httpkit.Body[TokenDraft](r)
	expiresAt := instantOf("expiresAt", sent.ExpiresAt, &problems)
	return access.TokenDraft{Name: sent.Name, Scopes: sent.Scopes, ExpiresAt: expiresAt, Problems: problems}
}

func tokenAnswer(t access.Token, secret ...event.Field) httpkit.Answer {
	return httpkit.Answer{Data: append(t.Fields(), secret...), ETag: httpkit.VersionTag(t.Version)}
}

func newTokenAnswer(t access.Token, secret ...event.Field) httpkit.Answer {
	return tokenAnswer(t, secret...).At("/v1/tokens/" + string(t.ID))
}
