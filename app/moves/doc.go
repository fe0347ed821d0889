// Package moves moves the store to another one: it copies the rows, compares both stores, and marks them so that nobody uses the one that
// is not complete, nor the one that was moved.
//
// The order of the marks is what makes it safe to end it anywhere. The target is marked first, then the source, with the same id; no row is
// copied before. When both were compared, the source is marked as moved, and only then does the target lose its mark: there is no instant
// at which both can be opened, unless the source is to be kept.
package moves
