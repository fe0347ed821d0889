package ratelimit

import (
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// Window is the length of a window, which starts with its first request.
const Window = time.Minute

// Limit is how many requests a window admits: 1 to MostLimit, or Off.
type Limit int64

// Bounds of a limit.
const (
	Off       Limit = 0 // not limited
	MostLimit Limit = 1_000_000_000
)

// FailedAuthentications limits the failed authentications of one client.
const FailedAuthentications Limit = 60

// Class is a kind of request, which is counted separately.
type Class string

// The classes of requests.
const (
	Read           Class = "read"
	Write          Class = "write"
	Costly         Class = "costly"  // exports, audit pulls, backups; no operation has this class yet
	Partner        Class = "partner" // requests with the key of a partner
	Gateway        Class = "gateway" // requests of an agent
	authentication Class = "authentication"
)

// Limits are the limits of one token, of the key of one partner, or of one agent, by class. The zero value is all Off.
type Limits struct{ Read, Write, Costly, Partner, Gateway Limit }

// Of returns the limit of a class of requests.
func (l Limits) Of(class Class) Limit {
	switch class {
	case Read:
		return l.Read
	case Write:
		return l.Write
	case Partner:
		return l.Partner
	case Gateway:
		return l.Gateway
	}
	return l.Costly
}

// Key identifies a counter.
type Key struct {
	Class   Class
	Subject string // the id of a token, a partner or an agent, or the address of a client
}

// ByToken counts the requests of one class that a token makes.
func ByToken(token id.Token, class Class) Key { return Key{class, string(token)} }

// ByPartner counts the requests of one class that are made with the key of a partner.
func ByPartner(partner id.Partner, class Class) Key { return Key{class, string(partner)} }

// ByAgent counts the requests of one class that an agent makes.
func ByAgent(agent id.Agent, class Class) Key { return Key{class, string(agent)} }

// ByClient counts the failed authentications of the client at an address.
func ByClient(address string) Key { return Key{authentication, address} }

// Count is the number of requests admitted in one window. The zero value is no window.
type Count struct {
	Since    time.Time
	Admitted int64
}

// Take asks for one more request.
func (c Count) Take(limit Limit, at time.Time) (Count, Verdict) {
	switch {
	case !at.Before(c.Since.Add(Window)):
		c = Count{Since: at}
	case at.Before(c.Since): // the clock was set back, which must not make the window longer
		c.Since = at
	}
	verdict := Verdict{Limit: limit, Admitted: c.Admitted < int64(limit), Reset: c.Since.Add(Window).Sub(at)}
	if verdict.Admitted {
		c.Admitted++
	}
	verdict.Remaining = max(0, int64(limit)-c.Admitted)
	return c, verdict
}

// Verdict says whether a request is within its limit.
type Verdict struct {
	Limit     Limit
	Admitted  bool
	Remaining int64         // how many more the window admits
	Reset     time.Duration // when the window ends: more than 0, at most Window
}

// Refusal is fault.RateLimited for a request that was not admitted, else nil.
func (v Verdict) Refusal(key Key) error {
	if v.Admitted {
		return nil
	}
	message := "The token has made its %d " + string(key.Class) + " requests of this minute; wait until it is over."
	switch key.Class {
	case Partner:
		message = "The key has made its %d requests of this minute; wait until it is over."
	case Gateway:
		message = "The agent has made its %d requests of this minute; wait until it is over."
	case authentication:
		message = "%d authentications from this address have failed within a minute; wait until it is over."
	}
	return fault.New(fault.RateLimited, message, v.Limit).After(v.Reset)
}
