package access

import (
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// When what signs people in ends.
const (
	SessionIdle   = 12 * time.Hour     // without a request or an open stream, which a page that is seen has
	SessionLength = 7 * 24 * time.Hour // in all
	CodeLength    = 15 * time.Minute
)

// SessionStep is how far LastSeenAt lags at most: it is written when it would be further behind.
const SessionStep = time.Minute

// BrowserLength bounds the name of a browser, in bytes.
const BrowserLength = 200

// Session is a token in use by a person in a browser: what the token may, the person may. Its cookie is stored as a hash.
type Session struct {
	ID         id.Session
	Hash       string // Value.Hash of what the cookie holds
	Token      id.Token
	TokenHash  string // Credential.Hash of the token when the person signed in; once it differs, the token was rotated
	Browser    string // what the browser calls itself, at most BrowserLength bytes; may be empty
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time // at the latest, be it used or not; never after the token
}

// NewSession signs a person in as a token, which has to be live.
func NewSession(newID id.Session, value Value, as Token, browser string, at time.Time) (Session, event.Event) {
	s := Session{
		ID: newID, Hash: value.Hash(), Token: as.ID, TokenHash: as.Hash, Browser: browserName(browser),
		CreatedAt: at, LastSeenAt: at, ExpiresAt: at.Add(SessionLength),
	}
	if !as.ExpiresAt.IsZero() && as.ExpiresAt.Before(s.ExpiresAt) {
		s.ExpiresAt = as.ExpiresAt
	}
	return s, s.event(event.TokenSignedIn)
}

// browserName keeps what can be shown of a header.
func browserName(sent string) string {
	if len(sent) > BrowserLength {
		sent = sent[:BrowserLength]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, sent)
}

// Accepts reports whether the session, which is of this token, lets its bearer in at an instant.
func (s Session) Accepts(of Token, at time.Time) bool {
	return at.Before(s.Ends()) && of.ID == s.Token && of.Hash == s.TokenHash && of.Ended(at) == ""
}

// Ends is when the session ends, unless it is used before.
func (s Session) Ends() time.Time {
	if idle := s.LastSeenAt.Add(SessionIdle); idle.Before(s.ExpiresAt) {
		return idle
	}
	return s.ExpiresAt
}

// SignedOut is the event of its end by a person.
func (s Session) SignedOut() event.Event { return s.event(event.TokenSignedOut) }

// Fields returns the session as the API shows it.
func (s Session) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(s.ID)),
		event.F("tokenId", string(s.Token)),
		event.F("browser", s.Browser),
		event.F("createdAt", instant.Format(s.CreatedAt)),
		event.F("lastSeenAt", instant.Format(s.LastSeenAt)),
		event.F("expiresAt", instant.Format(s.Ends())),
	}
}

func (s Session) event(what event.Type) event.Event { return ofToken(what, s.Token, s.Fields()) }

func ofToken(what event.Type, token id.Token, data event.Fields) event.Event {
	return event.Event{Type: what, Subject: event.Subject{Type: "token", ID: string(token)}, Data: data}
}

// LoginCode signs a person in once, as a token. Its value is stored nowhere; the id is made from it.
type LoginCode struct {
	ID        id.LoginCode // see CodeID
	Token     id.Token
	TokenHash string // as of Session
	CreatedAt time.Time
	ExpiresAt time.Time
}

// CodeID is the id of the code that has this value.
func CodeID(value Value) id.LoginCode { return id.Derive[id.LoginCode](value.Hash()) }

// NewCode makes a code that signs in as a token. It fails with fault.InvalidTransition when the token has ended.
func NewCode(value Value, as Token, at time.Time) (LoginCode, event.Event, error) {
	if how := as.Ended(at); how != "" {
		return LoginCode{}, event.Event{}, fault.Transition(how, "login", "A token that is %s signs nobody in.", how)
	}
	c := LoginCode{ID: CodeID(value), Token: as.ID, TokenHash: as.Hash, CreatedAt: at, ExpiresAt: at.Add(CodeLength)}
	return c, ofToken(event.TokenLoginLink, as.ID, event.Fields{
		event.F("tokenId", string(as.ID)),
		event.F("expiresAt", instant.Format(c.ExpiresAt)),
	}), nil
}

// Accepts reports whether the code, which is for this token, signs in at an instant.
func (c LoginCode) Accepts(of Token, at time.Time) bool {
	return at.Before(c.ExpiresAt) && of.ID == c.Token && of.Hash == c.TokenHash && of.Ended(at) == ""
}

// UnauthorizedCode is the fault for a code that signs nobody in. It does not say why.
func UnauthorizedCode() error {
	return fault.New(fault.Unauthorized,
		"The link is mistyped or has expired, or it was used before. The command \"holdco login\" prints a new one.")
}

// NoSession is the fault for a request without a live session.
func NoSession() error { return fault.New(fault.Unauthorized, "You are not signed in, or no longer.") }
