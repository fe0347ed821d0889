// Package aside makes calls in goroutines of their own, for callers that wait for long afterwards.
//
// A goroutine keeps the stack that its deepest call needed until the garbage collector finds three quarters of it unused. A use case
// with its queries needs 32 KiB, and a request that waits 8.
package aside

import (
	"context"

	"holdco/domain/fault"
)

// Calls makes calls, so many at once at most.
type Calls struct{ slots chan struct{} }

// New returns Calls that make so many at once.
func New(most int) Calls { return Calls{make(chan struct{}, most)} }

// Make makes a call, when fewer than the most are under way, and waits until it has returned. A panic in it is returned as an error. It
// fails when ctx ends before the call has begun.
func (c Calls) Make(ctx context.Context, call func() error) error {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	returned := make(chan error, 1)
	go func() {
		err := fault.Contain(call)
		<-c.slots
		returned <- err
	}()
	return <-returned
}
