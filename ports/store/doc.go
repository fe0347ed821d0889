// Package store is the port to everything that Holdco stores. Its comments are the contract of every store; ports/storetest
// tests a store against them.
//
// Rows are read and written as values of the domain. An error is a fault where the comment of a method names one;
// fault.Unavailable if the store cannot be reached, is full, or is busy until a timeout; and otherwise a defect, which callers
// report as fault.Internal. If the context is canceled, the error is the context's.
package store
