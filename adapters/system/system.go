package system

import (
	"crypto/rand"
	"time"

	"github.com/google/uuid"

	"holdco/domain/instant"
	"holdco/ports/outbound"
)

// Clock is the clock of the machine: UTC, cut to whole milliseconds.
type Clock struct{}

// Now returns the current instant.
func (Clock) Now() time.Time { return instant.Cut(time.Now()) }

// IDs makes UUIDv7s (RFC 9562, section 5.7).
type IDs struct{}

// UUIDv7 returns the bytes of a new id. Within one process each is greater than the one before, even when the clock of
// the machine is set back.
func (IDs) UUIDv7() [16]byte { return uuid.Must(uuid.NewV7()) }

// Entropy draws from the random source of the operating system.
type Entropy struct{}

// Bits256 returns random bits that are fit for secrets.
func (Entropy) Bits256() [32]byte {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // it never fails: crypto/rand ends the process instead
	return bits
}

// Disk is the disk of the machine.
type Disk struct{}

var (
	_ outbound.Disk    = Disk{}
	_ outbound.Clock   = Clock{}
	_ outbound.IDs     = IDs{}
	_ outbound.Entropy = Entropy{}
)
