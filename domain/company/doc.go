// Package company holds the company: its fields, the rules they obey, and the moves between its states.
//
// Start with Company and the moves below it; draft.go has the rules of what clients send.
package company
