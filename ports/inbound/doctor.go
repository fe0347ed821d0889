package inbound

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/doctor"
)

// Doctor are the use cases that check a store.
type Doctor interface {
	// Examine needs Admin. It runs checks one after the other, beside whatever works on the store, and repairs what they find if that
	// is asked for. It fails with fault.ValidationFailed if there is no such check; what a check finds, that it fails or takes too long,
	// is in its result.
	Examine(ctx context.Context, caller access.Caller, wanted Examination) (doctor.Report, error)
}

// Examination says what to check.
type Examination struct {
	Only    []string      // the names of checks; nil: all
	Fix     bool          // repair what can be repaired
	Full    bool          // look at all leads, rather than at some, and verify the chains of the activity log
	Timeout time.Duration // of each check
}
