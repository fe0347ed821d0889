package precondition

import (
	"slices"

	"holdco/domain/fault"
)

// Match is a condition on the version to be changed (If-Match of RFC 9110). The zero value always holds.
type Match struct {
	Versions []int64 // that are accepted
	Demanded bool    // false: any version is accepted
}

// Any accepts every version.
func Any() Match { return Match{} }

// OneOf accepts the given versions; without any, none is accepted.
func OneOf(versions ...int64) Match { return Match{Versions: versions, Demanded: true} }

// Check fails with fault.PreconditionFailed unless version is accepted.
func (m Match) Check(version int64) error {
	if !m.Demanded || slices.Contains(m.Versions, version) {
		return nil
	}
	return fault.New(fault.PreconditionFailed, "The resource has changed since you read it; read it again, then retry.")
}
