// Package client calls the REST API and the gateway of a running server, for commands that work from any machine.
//
// Start with Client.Do and Client.List. Each resource has a file, which declares the operations on it, all that is sent to
// them, and what is read from their answers; gateway.go has those of the gateway, for the work of an agent. A test of wiring
// holds these against the OpenAPI documents.
package client
