// Package wiring joins everything: what an operator sets (config.go), what is made of what (wire.go, assemble.go), and
// how it starts and stops (serve.go).
//
// The tests here check the promises of the whole program, over HTTP and as a process, on both stores.
package wiring

//go:generate go tool wire gen .
