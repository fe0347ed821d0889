// Package imports holds the use cases that import leads, campaigns and the taxonomy, and remove leads.
//
// Lines are read and checked in a goroutine (ahead.go), while units of work store them batch by batch (batches.go). The
// size of a batch adapts to the time that its unit takes, so that other requests are not delayed. A batch that changes
// nothing writes nothing.
package imports
