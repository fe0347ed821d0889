// Package fault is the kind of error that Holdco shows to its clients.
//
// Domain and application packages refuse requests with an *Error, which has a Code. Adapters map codes to HTTP statuses
// or exit codes. Any other error is Internal: logged, never shown.
package fault
