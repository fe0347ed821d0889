package rest

import (
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/ports/inbound"
)

// tokens answers the operations on tokens.
type tokens struct{ port inbound.Tokens }

// ListTokens answers GET /v1/tokens.
func (h tokens) ListTokens(c *gin.Context, params ListTokensParams) {
	const query = "tokens"
	after, size, err := pageAfter(query, params.Cursor, params.Limit)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	found, err := h.port.List(c.Request.Context(), httpkit.CallerOf(c), after, size)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, listAnswer(query, size, found, tokenView))
}

// CreateToken answers POST /v1/tokens.
func (h tokens) CreateToken(c *gin.Context, _ CreateTokenParams) {
	once := httpkit.Once(c, func(shown access.Token) httpkit.Answer { return createdAnswer(inbound.IssuedToken{Token: shown}) })
	issued, err := h.port.Create(c.Request.Context(), httpkit.CallerOf(c), tokenDraftOf(c), once)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, createdAnswer(issued))
}

// GetToken answers GET /v1/tokens/{id}.
func (h tokens) GetToken(c *gin.Context, which TokenID, _ GetTokenParams) {
	tokenID, _ := id.Parse[id.Token](which)
	found, err := h.port.Get(c.Request.Context(), httpkit.CallerOf(c), tokenID)
	h.answer(c, found, err)
}

// RotateToken answers POST /v1/tokens/{id}/rotate.
func (h tokens) RotateToken(c *gin.Context, which TokenID, _ RotateTokenParams) {
	tokenID, _ := id.Parse[id.Token](which)
	sent, problems := httpkit.Decode[TokenRotation](httpkit.BodyOf(c))
	if problems != nil {
		httpkit.Fail(c, h.invalid(c, tokenID, problems))
		return
	}
	once := httpkit.Once(c, func(shown access.Token) httpkit.Answer { return issuedAnswer(inbound.IssuedToken{Token: shown}) })
	issued, err := h.port.Rotate(c.Request.Context(), httpkit.CallerOf(c), tokenID, graceOf(sent.GraceSeconds, 0), once)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, issuedAnswer(issued))
}

// RevokeToken answers DELETE /v1/tokens/{id}.
func (h tokens) RevokeToken(c *gin.Context, which TokenID) {
	tokenID, _ := id.Parse[id.Token](which)
	revoked, err := h.port.Revoke(c.Request.Context(), httpkit.CallerOf(c), tokenID)
	h.answer(c, revoked, err)
}

// Whoami answers GET /v1/whoami.
func (h tokens) Whoami(c *gin.Context) {
	caller := httpkit.CallerOf(c)
	httpkit.Write(c, httpkit.Answer{Data: Whoami{
		TokenID:   string(caller.Token),
		Name:      caller.Name,
		Scopes:    caller.Scopes.Strings(),
		CreatedAt: instant.Format(caller.CreatedAt),
		ExpiresAt: instant.Optional(caller.ExpiresAt),
	}})
}

// invalid refuses a body, unless there is no such token: that goes first.
func (h tokens) invalid(c *gin.Context, which id.Token, problems fault.Problems) error {
	if _, err := h.port.Get(c.Request.Context(), httpkit.CallerOf(c), which); err != nil {
		return err
	}
	return fault.Validation(problems)
}

// answer shows one token, or why not.
func (h tokens) answer(c *gin.Context, shown access.Token, err error) {
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	view := tokenView(shown)
	httpkit.Write(c, httpkit.Answer{Data: view, ETag: httpkit.VersionTag(shown.Version)})
}

func tokenDraftOf(c *gin.Context) access.TokenDraft {
	sent, problems := httpkit.Decode[TokenDraft](httpkit.BodyOf(c))
	expiresAt := expiryOf(sent.ExpiresAt, &problems)
	return access.TokenDraft{Name: sent.Name, Scopes: sent.Scopes, ExpiresAt: expiresAt, Problems: problems}
}

// expiryOf reads when something is to expire, if that was sent, and notes what is wrong with its form.
func expiryOf(sent *string, problems *fault.Problems) *time.Time {
	if sent == nil {
		return nil
	}
	expiresAt, err := time.Parse(time.RFC3339, *sent)
	if err != nil {
		problems.Add(fault.Fieldf("expiresAt", fault.InvalidFormat,
			"expiresAt must be an instant of RFC 3339, such as 2027-04-11T00:00:00Z"))
		return nil
	}
	return &expiresAt
}

// graceOf cuts a grace that no time.Duration holds to one that is out of range all the same.
func graceOf(seconds *int64, usual time.Duration) time.Duration {
	if seconds == nil {
		return usual
	}
	const beyond = int64(access.MostGrace/time.Second) + 1
	return time.Duration(max(-1, min(*seconds, beyond))) * time.Second
}

func createdAnswer(issued inbound.IssuedToken) httpkit.Answer {
	answer := issuedAnswer(issued)
	answer.Status, answer.Location = httpkit.Created, "/v1/tokens/"+string(issued.Token.ID)
	return answer
}

// issuedAnswer shows a token with its value, unless that is left out.
func issuedAnswer(issued inbound.IssuedToken) httpkit.Answer {
	view := tokenView(issued.Token)
	if value := string(issued.Value); value != "" {
		view.Token = &value
	}
	return httpkit.Answer{Data: view}
}

func tokenView(t access.Token) Token {
	return Token{
		ID:         string(t.ID),
		Name:       t.Name,
		Scopes:     t.Scopes.Strings(),
		Hint:       t.Hint,
		CreatedAt:  instant.Format(t.CreatedAt),
		ExpiresAt:  instant.Optional(t.ExpiresAt),
		LastUsedAt: instant.Optional(t.LastUsedAt),
		RevokedAt:  instant.Optional(t.RevokedAt),
	}
}
