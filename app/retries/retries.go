// Package retries tries again what failed because the store was unavailable.
package retries

import (
	"context"
	"errors"
	"time"

	"holdco/domain/fault"
)

// shortest and longest are the first pause and the one at which they stop to double.
const shortest, longest = 50 * time.Millisecond, time.Second

// WhileUnavailable calls do until that does not fail with fault.Unavailable, or another pause is too long for isPatient, or ctx ends. What
// failed may have been committed all the same, so do is to have the same effect when it is done twice. The error is that of do; it wraps
// that of ctx too if this ended a pause.
func WhileUnavailable(ctx context.Context, isPatient func(pause time.Duration) bool, do func() error) error {
	for pause := shortest; ; pause = min(2*pause, longest) {
		err := do()
		if fault.CodeOf(err) != fault.Unavailable || !isPatient(pause) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// For is the patience for pauses of so long together.
func For(most time.Duration) (isPatient func(pause time.Duration) bool) {
	return func(pause time.Duration) bool {
		most -= pause
		return most >= 0
	}
}
