// Package work has what use cases of several kinds do to issues in a unit of work: it stores their moves with all that follows
// from them, and finishes what is too much for one unit.
package work
