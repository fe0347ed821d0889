// Package move has the terms of moving a store to another one, on the same engine or on the other: the rows as they go from one to the
// other and how they are compared, and the mark by which a store says that it is being moved.
package move
