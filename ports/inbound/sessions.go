package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/page"
)

// Sessions are the use cases of people who are signed in at the dashboard.
type Sessions interface {
	SessionAuthenticator

	// SignIn starts a session with the value of a token, browser being what the browser calls itself. Its fault is
	// fault.Unauthorized.
	SignIn(ctx context.Context, token, browser string) (access.Value, error)

	// SignInOnce is SignIn with a code, which is used up. Its fault is fault.Unauthorized.
	SignInOnce(ctx context.Context, code, browser string) (access.Value, error)

	// SignOut ends the session that has a value. There may be none.
	SignOut(ctx context.Context, value string) error

	// Link makes a code that signs in as a token; "": as the newest live one that is Admin. It needs Admin. The faults are
	// fault.NotFound, also when there is no such token, and those of access.NewCode.
	Link(ctx context.Context, caller access.Caller, as id.Token) (access.Value, error)

	// List returns the sessions that have not ended. It needs Admin.
	List(ctx context.Context, caller access.Caller, after page.Position, size int) (page.Page[access.Session], error)

	// End ends a session. It needs Admin. Its fault is fault.NotFound.
	End(ctx context.Context, caller access.Caller, which id.Session) (access.Session, error)
}

// SessionAuthenticator authenticates people by what their cookie holds.
type SessionAuthenticator interface {
	// Authenticate returns who is signed in, or fault.Unauthorized.
	Authenticate(ctx context.Context, value string) (SignedIn, error)
}

// SignedIn is a person in a session.
type SignedIn struct {
	Session access.Session
	Token   access.Token
}
