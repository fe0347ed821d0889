package access

import (
	"slices"
	"time"

	"holdco/domain/fault"
	"holdco/domain/instant"
)

// MostGrace bounds how long a rotation may keep the old value valid.
const MostGrace = 30 * 24 * time.Hour

// Credential is what a token and the key of a partner have in common: a value, stored as a hash, and when it ends.
type Credential struct {
	Hint      string // Value.Hint
	Hash      string // Value.Hash
	OldHash   string // of the value before the last rotation; empty: none is valid
	OldUntil  time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
}

// NewCredential returns a credential that never expires.
func NewCredential(value Value) Credential { return Credential{Hint: value.Hint(), Hash: value.Hash()} }

// Expiry truncates the expiry that was sent for a credential to milliseconds, and returns what is wrong with it: it
// must be in the future.
func Expiry(sent, at time.Time) (expiresAt time.Time, wrong []fault.Field) {
	expiresAt = instant.Cut(sent)
	if !expiresAt.After(at) {
		wrong = []fault.Field{fault.Fieldf("expiresAt", fault.OutOfRange, "expiresAt must be in the future")}
	}
	return expiresAt, wrong
}

// Accepts reports whether a value with this hash authenticates its bearer at the given instant.
func (c Credential) Accepts(hash string, at time.Time) bool {
	if c.Ended(at) != "" {
		return false
	}
	return hash == c.Hash || hash == c.OldHash && at.Before(c.OldUntil)
}

// Unauthorized is the fault for a value that authenticates nobody. It does not say why. Noun is what the value is called.
func Unauthorized(noun string) error {
	return fault.New(fault.Unauthorized, "The %s is missing, mistyped, unknown, expired or revoked.", noun)
}

// EndsAt is when a value with this hash, which the credential accepts, ends by itself; zero: never. A value that was rotated ends with its
// grace.
func (c Credential) EndsAt(hash string) time.Time {
	if hash != c.Hash && hash == c.OldHash && (c.ExpiresAt.IsZero() || c.OldUntil.Before(c.ExpiresAt)) {
		return c.OldUntil
	}
	return c.ExpiresAt
}

// How a credential has ended.
const (
	Expired = "expired"
	Revoked = "revoked"
)

// Ended returns how the credential has ended: Revoked, Expired, or "" while it is live.
func (c Credential) Ended(at time.Time) string {
	switch {
	case !c.RevokedAt.IsZero():
		return Revoked
	case !c.ExpiresAt.IsZero() && !at.Before(c.ExpiresAt):
		return Expired
	}
	return ""
}

// Kind is what a credential is: its noun in messages, and the default grace of its rotations.
type Kind struct {
	Noun       string
	UsualGrace time.Duration
}

// Rotation is what was sent to rotate a credential. Problems are errors of its form.
type Rotation struct {
	Grace    *time.Duration // how long the old value stays valid, 0 to MostGrace; nil: absent
	Problems fault.Problems
}

// Rotate gives the credential a new value. The old one stays valid for the grace of the rotation; a value older than that
// ends now. It fails with fault.ValidationFailed, which lists every invalid field, and when the credential has ended with
// fault.InvalidTransition.
func (c Credential) Rotate(kind Kind, value Value, sent Rotation, at time.Time) (Credential, error) {
	grace := kind.UsualGrace
	if sent.Grace != nil {
		grace = *sent.Grace
	}
	problems := slices.Clone(sent.Problems)
	if grace < 0 || grace > MostGrace {
		problems.Add(fault.Fieldf("graceSeconds", fault.OutOfRange,
			"graceSeconds must be from 0 to %d seconds (%d days)", int(MostGrace.Seconds()), int(MostGrace.Hours())/24))
	}
	if len(problems) > 0 {
		return c, fault.Validation(problems)
	}
	if how := c.Ended(at); how != "" {
		return c, fault.Transition(how, "rotate", "A %s that is %s cannot be rotated.", kind.Noun, how)
	}
	c.OldHash, c.OldUntil = "", time.Time{}
	if grace > 0 {
		c.OldHash, c.OldUntil = c.Hash, at.Add(grace)
	}
	c.Hash, c.Hint = value.Hash(), value.Hint()
	return c, nil
}

// Revoke ends the credential for good, and reports whether it was not revoked before.
func (c Credential) Revoke(at time.Time) (revoked Credential, changed bool) {
	if !c.RevokedAt.IsZero() {
		return c, false
	}
	c.RevokedAt = at
	return c, true
}
