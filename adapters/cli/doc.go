// Package cli is the command line of Holdco. It reads arguments, asks the application through its ports, and prints;
// what it needs from the wiring comes in as a Program.
//
// Start with Run; each command has a file of its own, and webhook a second one, delivery.go. What imports leads and campaigns
// is in import.go, on input.go, rejects.go and progress.go.
//
// The commands of the operator (tokens, webhooks, partners, prices, imports, doctor) drive the use cases on the store, beside the server,
// and need no token. Those on the work of companies (teams, agents, issues) ask a running server, on any machine, through package
// client: see remote.go. The command work runs package app/runner without a store: it calls the gateway through that client.
package cli
