// Package ahead reads a stream ahead of who takes it, so that the store and the client work at the same time. Exports use it; how an
// import checks lines ahead of the store is in app/imports/check_ahead.go, and does not wait for its reader.
package ahead

import (
	"context"

	"holdco/domain/fault"
)

// Read calls take with the portions that read hands on, one after the other. It reads in a goroutine, which is over when Read returns:
// while one portion is taken, the next is read, so that at most two are in memory.
//
// It fails as read or take does. When take fails or ctx is done, hand fails, and read is to return that error.
func Read[T any](
	ctx context.Context, read func(ctx context.Context, hand func(portion T) error) error, take func(portion T) error,
) error {
	ctx, stop := context.WithCancel(ctx)
	portions, ended := make(chan T), make(chan error, 1)
	go func() {
		defer close(portions)
		// Nothing else recovers panics of this goroutine.
		ended <- fault.Contain(func() error {
			return read(ctx, func(portion T) error {
				select {
				case portions <- portion:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		})
	}()
	defer func() {
		stop()
		for range portions { // until the reader has ended
		}
	}()
	for portion := range portions {
		if err := take(portion); err != nil {
			return err
		}
	}
	if err := <-ended; err != nil {
		return err
	}
	return context.Cause(ctx)
}
