// Package store is the port to everything that Holdco keeps. This package's comments are the contract that each store
// obeys; ports/storetest holds a store against them.
//
// Rows come and go as values of the domain. Every error is a fault where the comment of a method names one;
// fault.Unavailable when the store cannot be reached, has no room, or is busy past its time limit; and otherwise a
// defect, which callers show as fault.Internal. A canceled context gives the context's error.
package store
