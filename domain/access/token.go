package access

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// Bounds of a token.
const (
	TokenNameLength = 200
	MostScopes      = 100
)

// Token authenticates a program that calls the API. Its value is shown once and stored as a hash.
type Token struct {
	Credential // its value

	ID         id.Token
	Name       string // 1 to TokenNameLength characters
	Scopes     Scopes // at least one
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never; about ten seconds late
	Version    int64     // grows by one with every change but of LastUsedAt; the ETag of the API
}

// TokenDraft is what was sent to make a token; nil fields were absent. Problems are errors of its form.
type TokenDraft struct {
	Name      *string
	Scopes    []string
	ExpiresAt *time.Time
	Problems  fault.Problems
}

// NewToken makes a token with the given value. It fails with fault.ValidationFailed, which lists every invalid field,
// or with an error of resolve.
func NewToken(newID id.Token, draft TokenDraft, value Value, resolve company.Resolve, at time.Time) (Token, event.Event, error) {
	token := Token{ID: newID, Credential: NewCredential(value), CreatedAt: at, Version: 1}
	problems := slices.Clone(draft.Problems)

	if draft.Name == nil {
		problems.Add(fault.Fieldf("name", fault.Required, "name is required"))
	} else {
		name, wrong := text.Name("name", *draft.Name, TokenNameLength)
		token.Name = name
		problems.Add(wrong...)
	}

	switch {
	case len(draft.Scopes) == 0:
		problems.Add(fault.Fieldf("scopes", fault.Required, "scopes must name at least one scope"))
	case len(draft.Scopes) > MostScopes:
		problems.Add(fault.Fieldf("scopes", fault.TooMany, "scopes has %d items; at most %d are allowed", len(draft.Scopes), MostScopes))
	default:
		for i, text := range draft.Scopes {
			scope, field, err := resolved(fmt.Sprintf("scopes.%d", i), text, resolve)
			if err != nil {
				return Token{}, event.Event{}, err
			}
			if field != nil {
				problems.Add(*field)
			} else if !slices.Contains(token.Scopes, scope) {
				token.Scopes = append(token.Scopes, scope)
			}
		}
	}

	if draft.ExpiresAt != nil {
		expiresAt, wrong := Expiry(*draft.ExpiresAt, at)
		token.ExpiresAt = expiresAt
		problems.Add(wrong...)
	}

	if len(problems) > 0 {
		return Token{}, event.Event{}, fault.Validation(problems)
	}
	return token, token.event(event.TokenCreated), nil
}

func resolved(path, text string, resolve company.Resolve) (Scope, *fault.Field, error) {
	reference, ok := ParseReference(text)
	if !ok {
		field := fault.Fieldf(path, fault.UnknownValue,
			"%s must be read, write, admin, company:<id or slug>:read or company:<id or slug>:write", path)
		return Scope{}, &field, nil
	}
	if reference.Company == "" {
		return Scope{Permission: reference.Permission}, nil, nil
	}
	which, found, err := resolve(reference.Company)
	if err == nil && !found {
		field := fault.Fieldf(path, fault.UnknownValue, "%s names a company that does not exist", path)
		return Scope{}, &field, nil
	}
	return Scope{Permission: reference.Permission, Company: which}, nil, err
}

// Rotate gives the token a new value: see Credential.Rotate. The old one ends now, unless the rotation says otherwise.
func (t Token) Rotate(value Value, sent Rotation, at time.Time) (Token, event.Event, error) {
	rotated, err := t.Credential.Rotate(Kind{Noun: "token"}, value, sent, at)
	if err != nil {
		return t, event.Event{}, err
	}
	t.Credential = rotated
	t.Version++
	return t, t.event(event.TokenRotated), nil
}

// Revoke ends the token for good. If it is revoked already, it is returned unchanged, without an event.
func (t Token) Revoke(at time.Time) (Token, *event.Event) {
	revoked, changed := t.Credential.Revoke(at)
	if !changed {
		return t, nil
	}
	t.Credential = revoked
	t.Version++
	happened := t.event(event.TokenRevoked)
	return t, &happened
}

// Caller returns the caller that the token authenticates.
func (t Token) Caller() Caller {
	return Caller{
		Token:     t.ID,
		Name:      t.Name,
		Scopes:    t.Scopes,
		Actor:     event.Actor("token:" + string(t.ID)),
		CreatedAt: t.CreatedAt,
		ExpiresAt: t.ExpiresAt,
	}
}

// CurrentVersion returns Version, for generic code.
func (t Token) CurrentVersion() int64 { return t.Version }

// Fields returns the token as the API shows it, without its value.
func (t Token) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(t.ID)),
		event.F("name", t.Name),
		event.F("scopes", t.Scopes.Strings()),
		event.F("hint", t.Hint),
		event.F("createdAt", instant.Format(t.CreatedAt)),
		event.F("expiresAt", instant.Optional(t.ExpiresAt)),
		event.F("lastUsedAt", instant.Optional(t.LastUsedAt)),
		event.F("revokedAt", instant.Optional(t.RevokedAt)),
	}
}

func (t Token) event(what event.Type) event.Event {
	return event.Event{Type: what, Subject: event.Subject{Type: "token", ID: string(t.ID)}, Data: t.Fields()}
}
