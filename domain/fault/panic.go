package fault

import (
	"fmt"
	"runtime/debug"
)

// Contain runs work. It returns a panic as an error, so that the panic does not end the process.
func Contain(work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = OfPanic(cause)
		}
	}()
	return work()
}

// OfPanic is the error of a panic that was just recovered, with its stack.
func OfPanic(cause any) error { return fmt.Errorf("panic: %v\n%s", cause, debug.Stack()) }
