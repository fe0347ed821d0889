// Package company is a company: its fields, their rules, and its state machine.
//
// Start with Company and its methods; draft.go has the rules of what clients send.
package company
