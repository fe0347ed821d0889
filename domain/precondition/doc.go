// Package precondition guards a change against lost updates: it goes through only on a version that the client has seen.
package precondition
