// Package client calls the REST API of a running server, for commands that work from any machine.
//
// Start with Client.Do and Client.List. Each resource has a file, which declares the operations on it, all that is sent to
// them, and what is read from their answers. A test of wiring holds these against the OpenAPI document.
package client
