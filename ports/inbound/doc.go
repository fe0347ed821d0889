// Package inbound holds the ports through which driving adapters (REST, command line, ...) use the application: one
// interface per capability. Errors are faults; any other error is Internal.
package inbound
