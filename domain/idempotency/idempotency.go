package idempotency

import (
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// Lifetime is how long an answer is stored.
const Lifetime = 24 * time.Hour

// KeyLength is the greatest length of a key: 1 to 255 visible ASCII characters.
const KeyLength = 255

// Key identifies one request of one caller.
type Key struct {
	Caller string // the id of a token, of an agent, or of the lease of a run that has a token
	Value  string // empty: the client sent none, and nothing is stored
}

// ParseKey parses the key that a client sent, and reports whether it is valid.
func ParseKey(text string) (string, bool) {
	if text == "" || len(text) > KeyLength || strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' }) {
		return "", false
	}
	return text, true
}

// Request is a request that may have an idempotency key.
type Request struct {
	Key         Key
	Fingerprint string                           // a hash of method, path and body
	Answer      func(result any) ([]byte, error) // encodes the result of the use case, without secrets
}

// Receipt is a stored answer.
type Receipt struct {
	Key         Key
	Fingerprint string
	Company     id.Company // the company whose data the answer contains; empty: none
	Answer      []byte     // nil once the company was deleted
	CreatedAt   time.Time
}

// Expired reports whether the key can be used again.
func (r Receipt) Expired(at time.Time) bool { return !at.Before(r.CreatedAt.Add(Lifetime)) }

// Replay returns the stored answer as a *Replay error, which is no fault; or fault.IdempotencyConflict when the request
// is a different one, or the answer was removed with its company.
func (r Receipt) Replay(request Request) error {
	switch {
	case r.Fingerprint != request.Fingerprint:
		return fault.New(fault.IdempotencyConflict, "The idempotency key was used for another request.")
	case r.Answer == nil:
		return fault.New(fault.IdempotencyConflict, "The company that the request with this idempotency key concerned was deleted.")
	}
	return &Replay{Answer: r.Answer}
}

// Replay stops a use case whose request was answered before: the answer is sent again, and nothing else happens.
type Replay struct{ Answer []byte }

func (*Replay) Error() string { return "answered before under the same idempotency key" }
