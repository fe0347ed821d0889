package precondition

import (
	"slices"

	"holdco/domain/fault"
)

// Match is what a client demands of the version that it changes (If-Match of RFC 9110). The zero value demands nothing.
type Match struct {
	Versions []int64 // the versions that will do
	Demanded bool    // false: any version will do
}

// Any demands that there be a version, whichever it is.
func Any() Match { return Match{} }

// OneOf demands one of the given versions; none of them means that no version will do.
func OneOf(versions ...int64) Match { return Match{Versions: versions, Demanded: true} }

// Check fails with fault.PreconditionFailed unless version will do.
func (m Match) Check(version int64) error {
	if !m.Demanded || slices.Contains(m.Versions, version) {
		return nil
	}
	return fault.New(fault.PreconditionFailed, "The resource has changed since; read it again and decide anew.")
}
