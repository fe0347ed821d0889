package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/retention"
)

// Retention are the use cases that remove what is old enough.
type Retention interface {
	// Prune needs Admin. It removes what is old enough now, beside whatever works on the store, and returns what that was, a result for
	// each kind. It fails with fault.ValidationFailed if there is no such kind, or if it is to keep a kind for less than its least time.
	Prune(ctx context.Context, caller access.Caller, wanted Pruning) ([]retention.Result, error)
}

// Pruning says what to remove.
type Pruning struct {
	Only   []string // the kinds; nil: all
	DryRun bool     // remove nothing, but count

	// OlderThan takes the place of how long the kinds are kept that are named, or else those that are not kept for ever. Off: nothing does.
	OlderThan retention.Period
}
