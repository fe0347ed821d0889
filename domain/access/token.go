package access

import (
	"fmt"
	"slices"
	"time"

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
	MostGrace       = 30 * 24 * time.Hour // how long a rotation may keep the old value alive
)

// Token lets a program call the API. Its value is shown once and kept as a hash.
type Token struct {
	ID         id.Token
	Name       string // 1 to TokenNameLength characters
	Scopes     Scopes // at least one
	Hint       string // Value.Hint
	Hash       string // Value.Hash
	OldHash    string // of the value before the last rotation; empty: none is alive
	OldUntil   time.Time
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never; up to a minute late
	RevokedAt  time.Time // zero: not revoked
}

// TokenDraft is what was sent to make a token: nil where nothing was. Problems are what is wrong with its form.
type TokenDraft struct {
	Name      *string
	Scopes    []string
	ExpiresAt *time.Time
	Problems  fault.Problems
}

// Resolve looks up the company that a scope names by id or slug, and reports whether there is one.
type Resolve func(company string) (id.Company, bool, error)

// NewToken makes a token with the given value. It fails with fault.ValidationFailed, every field at fault at once, or
// with an error of resolve.
func NewToken(newID id.Token, draft TokenDraft, value Value, resolve Resolve, at time.Time) (Token, event.Event, error) {
	token := Token{ID: newID, Hint: value.Hint(), Hash: value.Hash(), CreatedAt: at}
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
		token.ExpiresAt = instant.Cut(*draft.ExpiresAt)
		if !token.ExpiresAt.After(at) {
			problems.Add(fault.Fieldf("expiresAt", fault.OutOfRange, "expiresAt must be in the future"))
		}
	}

	if len(problems) > 0 {
		return Token{}, event.Event{}, fault.Validation(problems)
	}
	return token, token.event(event.TokenCreated), nil
}

func resolved(path, text string, resolve Resolve) (Scope, *fault.Field, error) {
	reference, ok := ParseReference(text)
	if !ok {
		field := fault.Fieldf(path, fault.UnknownValue,
			"%s must be read, write, admin, company:<id or slug>:read or company:<id or slug>:write", path)
		return Scope{}, &field, nil
	}
	if reference.Company == "" {
		return Scope{Permission: reference.Permission}, nil, nil
	}
	company, found, err := resolve(reference.Company)
	if err == nil && !found {
		field := fault.Fieldf(path, fault.UnknownValue, "%s names a company that does not exist", path)
		return Scope{}, &field, nil
	}
	return Scope{Permission: reference.Permission, Company: company}, nil, err
}

// Accepts reports whether a value with this hash lets its bearer in at the given instant.
func (t Token) Accepts(hash string, at time.Time) bool {
	if !t.IsLive(at) {
		return false
	}
	return hash == t.Hash || hash == t.OldHash && at.Before(t.OldUntil)
}

// IsLive reports whether the token is neither revoked nor expired.
func (t Token) IsLive(at time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || at.Before(t.ExpiresAt))
}

// Rotate gives the token a new value. The old one goes on for grace, 0 to MostGrace; a value older than that ends now.
// A token that is revoked or expired cannot be rotated: fault.InvalidTransition.
func (t Token) Rotate(value Value, grace time.Duration, at time.Time) (Token, event.Event, error) {
	if grace < 0 || grace > MostGrace {
		return t, event.Event{}, fault.Validation([]fault.Field{fault.Fieldf("graceSeconds", fault.OutOfRange,
			"graceSeconds must be from 0 to %d", int(MostGrace.Seconds()))})
	}
	if !t.IsLive(at) {
		from := "expired"
		if !t.RevokedAt.IsZero() {
			from = "revoked"
		}
		return t, event.Event{}, fault.New(fault.InvalidTransition, "A token that is %s cannot be rotated.", from).
			With("from", from).With("action", "rotate")
	}
	t.OldHash, t.OldUntil = "", time.Time{}
	if grace > 0 {
		t.OldHash, t.OldUntil = t.Hash, at.Add(grace)
	}
	t.Hash, t.Hint = value.Hash(), value.Hint()
	return t, t.event(event.TokenRotated), nil
}

// Revoke ends the token for good. One that is revoked stays as it is, without an event.
func (t Token) Revoke(at time.Time) (Token, *event.Event) {
	if !t.RevokedAt.IsZero() {
		return t, nil
	}
	t.RevokedAt = at
	revoked := t.event(event.TokenRevoked)
	return t, &revoked
}

// Caller is who the token's bearer is.
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

// Fields shows the token as the API does, without its value.
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
