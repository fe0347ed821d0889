// Package cli is the command line of Holdco. It reads arguments, asks the application through its ports, and prints;
// what it needs from the wiring comes in as a Program.
//
// Start with Run; each command has a file of its own, and webhook a second one, delivery.go. What imports leads and campaigns
// is in import.go, on input.go, rejects.go and progress.go. The commands on teams and agents ask a running server over its
// REST API instead of the ports: see remote.go.
package cli
