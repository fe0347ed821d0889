// Package fault is the one kind of error that Holdco shows to whoever called it.
//
// Domain and application packages refuse by returning an *Error with a Code. An adapter decides how a code looks from
// outside (an HTTP status, an exit code). Any other error is Internal: logged, never shown.
package fault
