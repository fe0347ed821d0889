// Package precondition prevents lost updates: a change applies only to a version that the client has seen.
package precondition
