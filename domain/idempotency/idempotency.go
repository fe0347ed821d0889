package idempotency

import (
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
)

// Lifetime is how long an answer is kept.
const Lifetime = 24 * time.Hour

// KeyLength is the greatest length of a key: 1 to 255 visible ASCII characters.
const KeyLength = 255

// Key names one request of one token.
type Key struct {
	Token id.Token
	Value string // empty: the client sent none, so nothing is kept
}

// ParseKey reads the key that a client sent, and reports whether it is one.
func ParseKey(text string) (string, bool) {
	if text == "" || len(text) > KeyLength || strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' }) {
		return "", false
	}
	return text, true
}

// Request is a request that carries a key, or one that could have.
type Request struct {
	Key         Key
	Fingerprint string                           // tells requests apart: a hash of method, path and body
	Answer      func(result any) ([]byte, error) // how the result of the use case is answered; secrets left out
}

// Receipt is a kept answer.
type Receipt struct {
	Key         Key
	Fingerprint string
	Company     id.Company // the company whose data the answer holds; empty: none
	Answer      []byte     // nil once the company was deleted
	CreatedAt   time.Time
}

// Expired reports whether the key may be used anew.
func (r Receipt) Expired(at time.Time) bool { return !at.Before(r.CreatedAt.Add(Lifetime)) }

// Replay returns, as an error that is no fault, the answer to give again; or fault.IdempotencyConflict when the request
// is another one, or its answer went with the deletion of its company.
func (r Receipt) Replay(request Request) error {
	switch {
	case r.Fingerprint != request.Fingerprint:
		return fault.New(fault.IdempotencyConflict, "The idempotency key was used for another request.")
	case r.Answer == nil:
		return fault.New(fault.IdempotencyConflict, "The company that the request with this idempotency key concerned was deleted.")
	}
	return &Replay{Answer: r.Answer}
}

// Replay stops a use case that was already done: its answer is given again, with no second effect.
type Replay struct{ Answer []byte }

func (*Replay) Error() string { return "answered before under the same idempotency key" }
